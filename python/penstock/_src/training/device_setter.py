"""replica_device_setter: variables to the parameter servers, the rest to the worker."""
from penstock._src.graph import device as pydev
from penstock._src.base import tf_logging as logging
from penstock._src.session import server_lib

# The ops that hold state.
STANDARD_PS_OPS = ("Variable", "VariableV2", "AutoReloadVariable", "MutableHashTable", "MutableHashTableV2",
                   "MutableHashTableOfTensors", "MutableHashTableOfTensorsV2", "MutableDenseHashTable",
                   "MutableDenseHashTableV2", "VarHandleOp", "BoostedTreesEnsembleResourceHandleOp",
                   "BoostedTreesQuantileStreamResourceHandleOp", "ResourceConditionalAccumulator",
                   "DecisionTreeResource")


class _RoundRobinStrategy:
    """One parameter server after the other."""

    def __init__(self, num_tasks):
        self._num_tasks = num_tasks
        self._next_task = 0

    def __call__(self, op):
        task = self._next_task
        self._next_task = (task + 1) % self._num_tasks
        return task


class _ReplicaDeviceChooser:
    """Chooses the device of each operation."""

    def __init__(self, ps_device, worker_device, merge_devices, ps_ops, ps_strategy):
        self._ps_device = ps_device
        self._worker_device = worker_device
        self._merge_devices = merge_devices
        self._ps_ops = ps_ops
        self._ps_strategy = ps_strategy

    def device_function(self, op):
        """The device of an operation or NodeDef."""
        # Once a device is set it stays, unless the rest of it is to be filled in.
        if not self._merge_devices and op.device:
            return op.device
        current = pydev.DeviceSpec.from_string(op.device or "")
        kind = op.type if hasattr(op, "type") else op.op
        if self._ps_device and kind in self._ps_ops:
            ps = pydev.DeviceSpec.from_string(self._ps_device)
            if ps.job and (not current.job or current.job == ps.job):
                ps = ps.replace(task=self._ps_strategy(op))
            return ps.make_merged_spec(current).to_string()
        return pydev.DeviceSpec.from_string(self._worker_device or "").make_merged_spec(current).to_string()


def replica_device_setter(ps_tasks=0, ps_device="/job:ps", worker_device="/job:worker", merge_devices=True,
                          cluster=None, ps_ops=None, ps_strategy=None):
    """A device function for `tf.device`; None if there are no parameter servers."""
    if cluster is not None:
        spec = cluster if isinstance(cluster, server_lib.ClusterSpec) else server_lib.ClusterSpec(cluster)
        jobs = spec.as_dict()
        job = pydev.DeviceSpec.from_string(ps_device).job
        if jobs.get(job) is None:
            return None
        ps_tasks = len(jobs[job])
    if ps_tasks == 0:
        return None
    if not merge_devices:
        logging.warning("DEPRECATION: It is recommended to set merge_devices=true in replica_device_setter")
    if ps_strategy is None:
        ps_strategy = _RoundRobinStrategy(ps_tasks)
    if not callable(ps_strategy):
        raise TypeError("ps_strategy must be callable")
    return _ReplicaDeviceChooser(ps_device, worker_device, merge_devices,
                                 list(STANDARD_PS_OPS) if ps_ops is None else ps_ops, ps_strategy).device_function
