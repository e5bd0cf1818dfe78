"""What a restore knows while objects of the program are matched with those of a checkpoint."""
import weakref

from penstock._src.graph import context
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.base import tf_logging as logging
from penstock._src.checkpoint import functional_saver
from penstock._src.ops.state import registered_saveable
from penstock._src.checkpoint import saveable_object_util
from penstock._src.ops.state import base
from penstock._src.base import object_identity


def node_names(object_graph_proto):
    """{node: the path to it}, for messages."""
    paths, todo = {0: ("(root)",)}, [0]
    for node in todo:
        for child in object_graph_proto.nodes[node].children:
            if child.node_id not in paths:
                paths[child.node_id] = paths[node] + (child.local_name,)
                todo.append(child.node_id)
    names = {node: ".".join(path) for node, path in paths.items()}
    for node, proto in enumerate(object_graph_proto.nodes):
        for slot in proto.slot_variables:
            names[slot.slot_variable_node_id] = "{}'s state '{}' for {}".format(
                names[node], slot.slot_name, names[slot.original_variable_node_id])
    return names


def _warn_of_the_rest(object_graph_proto, matched, unused, expectation):
    """At the end of a restore: tells which values of the checkpoint nothing has used."""
    if expectation["partial"]:
        return
    names = node_names(object_graph_proto)
    lines = ["Unresolved object in checkpoint: {}".format(names.get(node, node))
             for node, proto in enumerate(object_graph_proto.nodes) if proto.attributes and node not in matched]
    lines += ["Unused attribute in object {}: {}".format(names.get(node, node), attribute)
              for node, attribute in unused.items()]
    for line in lines:
        logging.warning(line)
    if lines:
        logging.warning("A checkpoint was restored (e.g. tf.train.Checkpoint.restore or tf.keras.Model.load_weights) "
                        "but not all checkpointed values were used. See above for specific issues. Use "
                        "expect_partial() on the load status object, e.g. "
                        "tf.train.Checkpoint.restore(...).expect_partial(), to silence these warnings, or use "
                        "assert_consumed() to make the check explicit.")


class CheckpointRestoreCoordinator:
    """A checkpoint that objects are restored from, now and when they come."""

    def __init__(self, object_graph_proto, reader, save_path_tensor, restore_op_cache, graph_view):
        self.object_graph_proto = object_graph_proto
        self.restore_uid = ops.uid()
        self.unused_attributes = {}                               # node -> attributes that the object does not have
        self.object_by_proto_id = weakref.WeakValueDictionary()
        self.matched_proto_ids = set()
        self.skipped_proto_ids = None                             # of slot variables, if they are not to be restored
        self.all_python_objects = object_identity.ObjectIdentityWeakSet()
        self.save_path_tensor = save_path_tensor
        self.reader = reader
        self.restore_ops = []
        self.restore_ops_by_name = restore_op_cache
        self.graph_view = graph_view
        self.new_restore_ops_callback = None
        # Slot variables wait for their variable, and then for their optimizer.
        self.slot_restorations = {}
        self.deferred_slot_restorations = {}
        for node, proto in enumerate(object_graph_proto.nodes):
            for slot in proto.slot_variables:
                self.slot_restorations.setdefault(slot.original_variable_node_id, []).append(
                    base._SlotVariableRestoration(optimizer_id=node, slot_variable_id=slot.slot_variable_node_id,
                                                  slot_name=slot.slot_name))
        self._expectation = {"partial": False}
        weakref.finalize(self, _warn_of_the_rest, object_graph_proto, self.matched_proto_ids, self.unused_attributes,
                         self._expectation)

    @property
    def expect_partial(self):
        """Whether no warning is wanted for what is not used."""
        return self._expectation["partial"]

    @expect_partial.setter
    def expect_partial(self, value):
        self._expectation["partial"] = value

    def new_restore_ops(self, new_ops):
        """Takes operations that are to be run."""
        self.restore_ops.extend(new_ops)
        if self.new_restore_ops_callback:
            self.new_restore_ops_callback(new_ops)

    def restore_saveables(self, named_saveables, python_saveables):
        """Restores at once what can be; gives operations for the rest."""
        registered = [s for s in python_saveables if isinstance(s, registered_saveable.RegisteredSaveable)]
        for saveable in python_saveables:
            if saveable not in registered:
                saveable.python_restore([self.reader.get_tensor(spec.name) for spec in saveable.specs])
        if not named_saveables and not registered:
            return []
        saveables = saveable_object_util.validate_and_slice_inputs(named_saveables)
        names = {saveable.name for saveable in saveables}
        if set(named_saveables) != names:
            raise AssertionError("Saveable keys changed when validating. Got back %s, was expecting %s" %
                                 (named_saveables.keys(), names))
        saveables += registered_saveable.together(registered)
        restored = functional_saver.MultiDeviceSaver(saveables).restore(self.save_path_tensor)
        if context.executing_eagerly():
            return []
        self.restore_ops_by_name.update(restored)
        return [op for _, op in sorted(restored.items())]


class NameBasedRestoreCoordinator:
    """A checkpoint of a tf.train.Saver: variables are found by their names in the graph."""

    def __init__(self, save_path, reader):
        self.save_path = save_path
        self.dtype_map = reader.get_variable_to_dtype_map()
        self.unused_attributes = object_identity.ObjectIdentityWeakKeyDictionary()
        self.restore_uid = ops.uid()

    def globally_named_object_attributes(self, trackable):
        """The saveable objects of one object, under the names that a Saver gives them."""
        for attribute, factory in trackable._gather_saveables_for_checkpoint().items():
            try:
                saveable = factory() if callable(factory) else factory
            except TypeError:
                # It has no name but the one that it is given.
                if not factory("").optional_restore:
                    self.unused_attributes.setdefault(trackable, []).append(attribute)
                continue
            named = saveable_object_util.op_list_to_dict([saveable], convert_variable_to_tensor=False)
            for name, op in named.items():
                yield from saveable_object_util.saveable_objects_for_op(op=op, name=name)

    def eager_restore(self, trackable):
        """Restores an object at once."""
        for saveable in self.globally_named_object_attributes(trackable):
            if any(spec.name not in self.dtype_map for spec in saveable.specs):
                self.unused_attributes.setdefault(trackable, []).append(saveable.name)
                continue
            with ops.device("cpu:0"):
                tensors = [array_ops.identity(gen.restore_v2(self.save_path, [spec.name], [""],
                                                             dtypes=[self.dtype_map[spec.name]])[0])
                           for spec in saveable.specs]
            saveable.restore(tensors, None)
