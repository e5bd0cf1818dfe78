"""The part of the graph that saves and restores: the nodes below `save/`."""
import collections
import uuid

from penstock._src.graph import constant_op
from penstock._src.graph import device as pydev
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.state import partitioned_variable
from penstock.proto import saver_pb2
from penstock._src.ops.state import saveable_object
from penstock._src.checkpoint import saveable_object_util


class BaseSaverBuilder(object):
    """Adds the nodes and describes them in a SaverDef. Subclasses may override `save_op` and `restore_op`."""

    SaveSpec = saveable_object.SaveSpec
    SaveableObject = saveable_object.SaveableObject
    VariableSaveable = saveable_object_util.ReferenceVariableSaveable
    ResourceVariableSaveable = saveable_object_util.ResourceVariableSaveable

    def __init__(self, write_version=saver_pb2.SaverDef.V2):
        self._write_version = write_version

    def save_op(self, filename_tensor, saveables):
        """An operation that writes all tensors of `saveables` to one file."""
        specs = [spec for saveable in saveables for spec in saveable.specs]
        names = [spec.name for spec in specs]
        slices = [spec.slice_spec for spec in specs]
        tensors = [spec.tensor for spec in specs]
        if self._write_version == saver_pb2.SaverDef.V1:
            return gen.save_slices(filename=filename_tensor, tensor_names=names, shapes_and_slices=slices, data=tensors,
                                   name="save")
        if self._write_version == saver_pb2.SaverDef.V2:
            return gen.save_v2(filename_tensor, names, slices, tensors)
        raise RuntimeError("Unexpected write_version: " + str(self._write_version))

    def restore_op(self, filename_tensor, saveable, preferred_shard):
        """The tensors of one saveable object, read one by one."""
        return [gen.restore_v2(filename_tensor, [spec.name], [spec.slice_spec], [spec.dtype])[0]
                for spec in saveable.specs]

    def bulk_restore(self, filename_tensor, saveables, preferred_shard, restore_sequentially):
        """The tensors of all saveable objects, in order."""
        tensors = []
        for saveable in saveables:
            device = saveable_object_util.set_cpu0(saveable.device) if saveable.device else None
            with ops.device(device):
                tensors.extend(self.restore_op(filename_tensor, saveable, preferred_shard))
        return tensors

    def sharded_filename(self, filename_tensor, shard, num_shards):
        return gen.sharded_filename(filename_tensor, shard, num_shards)

    def _AddSaveOps(self, filename_tensor, saveables):
        return control_flow_ops.with_dependencies([self.save_op(filename_tensor, saveables)], filename_tensor)

    def _AddShardedSaveOpsForV2(self, checkpoint_prefix, per_device):
        # Each device writes a part into a directory that nobody else uses; then the parts are merged by renaming.
        temporary = "_temp_%s/part" % uuid.uuid4().hex
        temporary_prefix = gen.string_join([checkpoint_prefix, temporary])
        num_shards = constant_op.constant(len(per_device), name="num_shards")
        saves, prefixes = [], []
        device = None
        for shard, (device, saveables) in enumerate(per_device):
            with ops.device(saveable_object_util.set_cpu0(device)):
                filename = self.sharded_filename(temporary_prefix, shard, num_shards)
                prefixes.append(filename)
                saves.append(self._AddSaveOps(filename, saveables))
        with ops.control_dependencies([save.op for save in saves]):
            with ops.device(saveable_object_util.set_cpu0(device)):
                merged = gen.merge_v2_checkpoints(prefixes, checkpoint_prefix, delete_old_dirs=True)
                with ops.control_dependencies([merged]):
                    return array_ops.identity(checkpoint_prefix)

    def _AddShardedSaveOps(self, filename_tensor, per_device):
        if self._write_version == saver_pb2.SaverDef.V2:
            return self._AddShardedSaveOpsForV2(filename_tensor, per_device)
        num_shards = constant_op.constant(len(per_device), name="num_shards")
        saves = []
        for shard, (device, saveables) in enumerate(per_device):
            with ops.device(device):
                saves.append(self._AddSaveOps(self.sharded_filename(filename_tensor, shard, num_shards), saveables))
        with ops.control_dependencies([save.op for save in saves]):
            return gen.sharded_filespec(filename_tensor, num_shards)

    def _AddRestoreOps(self, filename_tensor, saveables, restore_sequentially, reshape, preferred_shard=-1,
                       name="restore_all"):
        tensors = self.bulk_restore(filename_tensor, saveables, preferred_shard, restore_sequentially)
        assigns = []
        first = 0
        for saveable in saveables:
            shapes = None
            if reshape:
                shapes = []
                for spec in saveable.specs:
                    value = spec.tensor
                    shape = value.get_shape()
                    shapes.append(shape if shape.is_fully_defined() else array_ops.shape(value))
            own = tensors[first:first + len(saveable.specs)]
            first += len(saveable.specs)
            assigns.append(saveable.restore(own, shapes))
        return control_flow_ops.group(*assigns, name=name)

    def _AddShardedRestoreOps(self, filename_tensor, per_device, restore_sequentially, reshape):
        restores = []
        for shard, (device, saveables) in enumerate(per_device):
            with ops.device(device):
                restores.append(self._AddRestoreOps(filename_tensor, saveables, restore_sequentially, reshape,
                                                    preferred_shard=shard, name="restore_shard"))
        return control_flow_ops.group(*restores, name="restore_all")

    def _GroupByDevices(self, saveables):
        per_device = collections.defaultdict(list)
        for saveable in saveables:
            devices = set(pydev.canonical_name(spec.tensor.device or spec.device) for spec in saveable.specs)
            if len(devices) != 1:
                raise ValueError("All tensors of a saveable object must be on the same device: %s" % saveable.name)
            per_device[devices.pop()].append(saveable)
        return sorted(per_device.items(), key=lambda item: item[0])

    def build(self, names_to_saveables, reshape=False, sharded=False, max_to_keep=5,
              keep_checkpoint_every_n_hours=10000.0, name=None, restore_sequentially=False, filename="model"):
        """Adds the nodes for a dictionary or list of variables and returns a SaverDef."""
        return self._build_internal(
            names_to_saveables, reshape=reshape, sharded=sharded, max_to_keep=max_to_keep,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours, name=name,
            restore_sequentially=restore_sequentially, filename=filename)

    def _build_internal(self, names_to_saveables, reshape=False, sharded=False, max_to_keep=5,
                        keep_checkpoint_every_n_hours=10000.0, name=None, restore_sequentially=False,
                        filename="model", build_save=True, build_restore=True):
        if not build_save or not build_restore:
            raise ValueError("save and restore operations need to be built together  when eager execution is not "
                             "enabled.")
        saveables = saveable_object_util.validate_and_slice_inputs(names_to_saveables)
        with ops.name_scope(name, "save", [saveable.op for saveable in saveables]) as name:
            filename_tensor = array_ops.placeholder_with_default(filename or "model", shape=(), name="filename")
            # Older programs feed a constant of this name.
            filename_tensor = array_ops.placeholder_with_default(filename_tensor, shape=(), name="Const")
            if sharded:
                per_device = self._GroupByDevices(saveables)
                save_tensor = self._AddShardedSaveOps(filename_tensor, per_device)
                restore_op = self._AddShardedRestoreOps(filename_tensor, per_device, restore_sequentially, reshape)
            else:
                save_tensor = self._AddSaveOps(filename_tensor, saveables)
                restore_op = self._AddRestoreOps(filename_tensor, saveables, restore_sequentially, reshape)
        _add_partitioned_tensors()
        return saver_pb2.SaverDef(
            filename_tensor_name=filename_tensor.name, save_tensor_name=save_tensor.name,
            restore_op_name=restore_op.name, max_to_keep=max_to_keep or 0, sharded=sharded,
            keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours, version=self._write_version)


def _add_partitioned_tensors():
    # Exporting a collection looks up the node that a partitioned variable is named after.
    graph = ops.get_default_graph()
    for key in graph.get_all_collection_keys():
        for element in graph.get_collection(key):
            if isinstance(element, partitioned_variable.PartitionedVariable):
                try:
                    graph.get_operation_by_name(element.name)
                except KeyError:
                    element.as_tensor()


class BulkSaverBuilder(BaseSaverBuilder):
    """Restores all tensors with one node."""

    def bulk_restore(self, filename_tensor, saveables, preferred_shard, restore_sequentially):
        specs = [(spec.name, spec.slice_spec, spec.dtype) for saveable in saveables for spec in saveable.specs]
        names, slices, types = zip(*specs)
        with ops.device("cpu:0"):
            return gen.restore_v2(filename_tensor, names, slices, types)
