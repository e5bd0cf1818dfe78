"""Saves and restores saveable objects under a prefix that is a tensor."""
import uuid

from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock.proto import saver_pb2
from penstock._src.ops.state import registered_saveable
from penstock._src.checkpoint import saveable_object_util
from penstock._src.checkpoint import sharding


def _write(file_prefix, rows):
    """An operation that writes (name, slice, tensor) rows."""
    names, slices, tensors = zip(*rows)
    with ops.device("cpu:0"):
        return gen.save_v2(file_prefix, constant_op.constant(names, dtypes.string),
                           constant_op.constant(slices, dtypes.string), list(tensors))


def _write_shards(file_prefix, shards, registered=()):
    """The same, each list of rows to a file of its own: parts in a directory that nobody else uses, which are then
    merged by renaming, and with them what registered savers write first."""
    with ops.device("cpu:0"):
        theirs = [prefix for saveable in registered for prefix in saveable.save_shards(file_prefix)]
        temporary = gen.string_join([file_prefix, f"_temp_{uuid.uuid4().hex}/part"])
        prefixes = [gen.sharded_filename(temporary, i, len(shards)) for i in range(len(shards))]
        saves = [_write(prefix, rows) for prefix, rows in zip(prefixes, shards)]
        with ops.control_dependencies([save for save in saves if save is not None]):
            return gen.merge_v2_checkpoints(array_ops.stack(theirs + prefixes), file_prefix, delete_old_dirs=True)


class MultiDeviceSaver:
    """Writes one file, whatever the devices of the tensors are, or those that a ShardingCallback asks for."""

    def __init__(self, saveable_objects, sharding_callback=None):
        saveables = list(saveable_objects)
        self._registered = [s for s in saveables if isinstance(s, registered_saveable.RegisteredSaveable)]
        self._saveables = [s for s in saveables if not isinstance(s, registered_saveable.RegisteredSaveable)]
        self._sharding = sharding_callback

    def save(self, file_prefix):
        """An operation that writes the checkpoint."""
        return self.snapshot()(file_prefix)

    def snapshot(self):
        """A function from a prefix to what writes the values that there are now."""
        specs = [(spec, spec.tensor) for saveable in self._saveables for spec in saveable.specs]
        specs = [(spec, tensor) for spec, tensor in specs if tensor is not None]  # what is to be saved at this moment
        if self._sharding is None:
            rows = [(spec.name, spec.slice_spec, tensor) for spec, tensor in specs]
            if self._registered:
                return lambda file_prefix: _write_shards(file_prefix, [rows], self._registered)
            return lambda file_prefix: _write(file_prefix, rows)
        shards = [[(name, spec, tensor) for name, slices in shard.items() for spec, tensor in slices.items()]
                  for shard in sharding.shards_of(self._sharding, specs)]
        return lambda file_prefix: _write_shards(file_prefix, shards, self._registered)

    def to_proto(self):
        """Builds the operations of a tf.train.Saver; gives the SaverDef that names them."""
        filename = array_ops.placeholder(dtypes.string, [], name="saver_filename")
        with ops.control_dependencies([self.save(filename)]):
            saved = array_ops.identity(filename)
        with ops.control_dependencies(list(self.restore(filename).values())):
            restored = array_ops.identity(filename)
        return saver_pb2.SaverDef(
            filename_tensor_name=filename.name, save_tensor_name=saved.name, restore_op_name=restored.op.name,
            version=saver_pb2.SaverDef.V2)

    def restore(self, file_prefix):
        """{name of a saveable: operation that restores it}; restored at once when executing eagerly."""
        restored = {}
        for saveable in self._saveables:
            device = saveable_object_util.set_cpu0(saveable.device) if saveable.device else "cpu:0"
            with ops.device(device):
                specs = saveable.specs
                tensors = gen.restore_v2(file_prefix, constant_op.constant([s.name for s in specs], dtypes.string),
                                         constant_op.constant([s.slice_spec for s in specs], dtypes.string),
                                         dtypes=[dtypes.as_dtype(s.dtype).base_dtype for s in specs])
                tensors = [array_ops.identity(t) for t in tensors]
            restored[saveable.name] = saveable.restore(tensors, None)
        waited = [] if ops.executing_eagerly() else [op for op in restored.values() if op is not None]
        with ops.control_dependencies(waited):
            for saveable in self._registered:
                for i, op in enumerate(saveable.restore_shards(file_prefix)):
                    restored[f"{saveable.name} {i}"] = op
        return restored
