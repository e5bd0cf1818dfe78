"""What a restore gives back: to run its operations, and to check what matched."""
import abc

from penstock._src.graph import context
from penstock._src.graph import ops
from penstock._src.ops.state import data_structures
from penstock._src.checkpoint import restore as restore_lib
from penstock._src.base import object_identity


_session_provider = None


def register_session_provider(provider):
    """Makes `provider()` give the session where there is no default one."""
    global _session_provider
    _session_provider = provider


def get_session():
    """The default session, or what the session provider gives. ValueError if there is none."""
    session = ops.get_default_session()
    if session is None and _session_provider is not None:
        session = _session_provider()
    if session is None:
        raise ValueError("A session is needed: pass one, or make one the default by `with session.as_default()`.")
    return session


class _LoadStatus(abc.ABC):
    """Checks raise AssertionError and give the status back."""

    @abc.abstractmethod
    def assert_consumed(self):
        """All of the checkpoint and all objects of the program have matched."""

    @abc.abstractmethod
    def assert_existing_objects_matched(self):
        """All objects of the program have matched."""

    @abc.abstractmethod
    def assert_nontrivial_match(self):
        """Something besides the root has matched."""

    @abc.abstractmethod
    def run_restore_ops(self, session=None):
        """Runs what restores, in a graph."""

    @abc.abstractmethod
    def initialize_or_restore(self, session=None):
        """The same, and initializes variables that the checkpoint does not have."""

    def expect_partial(self):
        """No warning for what is never used."""
        return self


class CheckpointLoadStatus(_LoadStatus):
    """Of a checkpoint that goes by objects."""

    def __init__(self, checkpoint, feed_dict, graph_view):
        self._checkpoint = checkpoint
        self._feed_dict = feed_dict
        self._graph_view = graph_view
        self._root = graph_view.root  # kept alive

    def assert_consumed(self):
        names = restore_lib.node_names(self._checkpoint.object_graph_proto)
        skipped = self._checkpoint.skipped_proto_ids or ()
        self.assert_existing_objects_matched()
        for node, proto in enumerate(self._checkpoint.object_graph_proto.nodes):
            # What had no value when it was saved, as a function, need not be there.
            if proto.attributes and node not in skipped and self._checkpoint.object_by_proto_id.get(node) is None:
                raise AssertionError("Unresolved object in checkpoint {}: {}".format(names[node], proto))
        if self._checkpoint.slot_restorations:
            raise AssertionError("Unresolved slot restorations: %s" % (self._checkpoint.slot_restorations,))
        if self._checkpoint.unused_attributes:
            lines = ["{} ({}): {}".format(names[node], self._checkpoint.object_by_proto_id[node], attribute)
                     for node, attribute in self._checkpoint.unused_attributes.items()]
            raise AssertionError("Unused attributes in these objects (the attributes exist in the checkpoint but were "
                                 "not restored):\n{}".format("\n".join(lines)))
        return self

    def _unmatched(self):
        matched = object_identity.ObjectIdentitySet(self._checkpoint.object_by_proto_id.values())
        # What has no values of its own, as a list, misses nothing.
        return [obj for obj in self._checkpoint.all_python_objects
                if obj not in matched and obj._gather_saveables_for_checkpoint()]

    def assert_existing_objects_matched(self):
        for node, proto in enumerate(self._checkpoint.object_graph_proto.nodes):
            obj = self._checkpoint.object_by_proto_id.get(node, None)
            if obj is not None and obj._update_uid < self._checkpoint.restore_uid:
                raise AssertionError("Object not assigned a value from checkpoint: %s" % (proto,))
        for obj in self._graph_view.list_objects(with_slots=self._checkpoint.skipped_proto_ids is None):
            # An empty list has nothing to be restored.
            if not isinstance(obj, data_structures.TrackableDataStructure) or obj._checkpoint_dependencies:
                self._checkpoint.all_python_objects.add(obj)
        unmatched = self._unmatched()
        if unmatched:
            raise AssertionError("Some Python objects were not bound to checkpointed values, likely due to changes in "
                                 "the Python program: %s" % (unmatched,))
        return self

    def assert_nontrivial_match(self):
        for obj in self._graph_view.list_objects():
            self._checkpoint.all_python_objects.add(obj)
        if len(self._checkpoint.object_by_proto_id) > 1:
            return self
        unmatched = self._unmatched()
        if unmatched:
            raise AssertionError("Nothing except the root object matched a checkpointed value. Typically this means "
                                 "that the checkpoint does not match the Python program. The following objects have no "
                                 "matching checkpointed value: %s" % (unmatched,))
        raise AssertionError("Nothing to load. No dependencies have been added to %s yet." % (self._graph_view.root,))

    def run_restore_ops(self, session=None):
        if not context.executing_eagerly():
            (session or get_session()).run(self._checkpoint.restore_ops, feed_dict=self._feed_dict)

    def initialize_or_restore(self, session=None):
        if context.executing_eagerly():
            return
        session = session or get_session()
        restored = object_identity.ObjectIdentitySet(self._checkpoint.object_by_proto_id.values())
        uid = self._checkpoint.restore_uid
        initializers = [obj.initializer for obj in self._graph_view.list_objects()
                        if hasattr(obj, "initializer") and obj not in restored and
                        getattr(obj, "_update_uid", uid - 1) < uid]
        self.run_restore_ops(session=session)
        session.run(initializers)

    def expect_partial(self):
        self._checkpoint.expect_partial = True
        return self


class InitializationOnlyStatus(_LoadStatus):
    """Of a restore without a checkpoint."""

    def __init__(self, graph_view, restore_uid):
        self._restore_uid = restore_uid
        self._graph_view = graph_view
        self._root = graph_view.root

    def assert_consumed(self):
        raise AssertionError("No checkpoint specified (save_path=None); nothing is being restored.")

    assert_existing_objects_matched = assert_nontrivial_match = assert_consumed

    def run_restore_ops(self, session=None):
        raise AssertionError("No checkpoint specified, so no restore ops are available (save_path=None to "
                             "Saver.restore).")

    def initialize_or_restore(self, session=None):
        if context.executing_eagerly():
            return
        initializers = [obj.initializer for obj in self._graph_view.list_objects()
                        if getattr(obj, "initializer", None) is not None and
                        getattr(obj, "_update_uid", self._restore_uid - 1) < self._restore_uid]
        (session or get_session()).run(initializers)


class NameBasedSaverStatus(_LoadStatus):
    """Of a checkpoint of a tf.train.Saver."""

    def __init__(self, checkpoint, graph_view):
        self._checkpoint = checkpoint
        self._graph_view = graph_view
        self._root = graph_view.root
        self._optional = object_identity.ObjectIdentitySet()

    def add_to_optionally_restored(self, var):
        """A variable that the checkpoint need not have."""
        self._optional.add(var)

    def assert_consumed(self):
        unused = list(self._checkpoint.unused_attributes.items())
        if unused:
            raise AssertionError("Some objects had attributes which were not restored:{}".format(
                "".join("\n    {}: {}".format(obj, attributes) for obj, attributes in unused)))
        for obj in self._graph_view.list_objects():
            obj._maybe_initialize_trackable()
            if obj._update_uid < self._checkpoint.restore_uid:
                raise AssertionError("Object not restored: %s" % (obj,))
        return self

    assert_existing_objects_matched = assert_nontrivial_match = assert_consumed

    def run_restore_ops(self, session=None):
        if context.executing_eagerly():
            return
        from penstock._src.checkpoint import saver
        saveables = []
        for obj in self._graph_view.list_objects():
            obj._maybe_initialize_trackable()
            if obj._update_uid < self._checkpoint.restore_uid:
                obj._update_uid = self._checkpoint.restore_uid
                found = list(self._checkpoint.globally_named_object_attributes(obj))
                if obj in self._optional:
                    found = [s for s in found if all(spec.name in self._checkpoint.dtype_map for spec in s.specs)]
                saveables.extend(found)
        with ops.device("/cpu:0"):
            saver.Saver(saveables).restore(sess=session or get_session(), save_path=self._checkpoint.save_path)

    def initialize_or_restore(self, session=None):
        self.run_restore_ops(session=session)
