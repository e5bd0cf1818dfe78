"""tf.train.Checkpoint: saves and restores along the attributes of objects."""
import os
import weakref

from penstock._src.graph import context
from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.graph import errors
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.base.mode import mode
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import variable_scope
from penstock._src.ops.state import variables
from penstock._src.files import gfile
from penstock.proto import trackable_object_graph_pb2
from penstock._src.checkpoint import checkpoint_management
from penstock._src.checkpoint import py_checkpoint_reader
from penstock._src.checkpoint import functional_saver
from penstock._src.ops.state import base
from penstock._src.ops.state import data_structures
from penstock._src.checkpoint import graph_view as graph_view_lib
from penstock._src.checkpoint import restore as restore_lib
from penstock._src.ops.state import tracking
from penstock._src.checkpoint.load_status import (
    CheckpointLoadStatus, InitializationOnlyStatus, NameBasedSaverStatus, get_session)
from penstock._src.base import compat
from penstock._src.base import object_identity


def _default_getter(name, shape, dtype, initializer=None, partition_info=None, **kwargs):
    """A resource variable that is in no collection of names."""
    dtype = dtypes.as_dtype(dtype)
    shape_object = tensor_shape.as_shape(shape)
    with ops.init_scope():
        if initializer is None:
            initializer, from_value = variable_scope._get_default_variable_store()._get_default_initializer(
                name=name, shape=shape_object, dtype=dtype)
        else:
            from_value = not callable(initializer)
        if from_value:
            if shape is not None:
                raise ValueError("If initializer is a constant, do not specify shape.")
            initial_value = initializer
        else:
            if isinstance(initializer, type):
                initializer = initializer(dtype=dtype)

            def initial_value():
                return initializer(shape_object.as_list(), dtype=dtype)

        return variables.VariableV1(initial_value=initial_value, name=name, dtype=dtype.base_dtype, use_resource=True,
                                    **kwargs)


def add_variable(trackable, name, shape=None, dtype=dtypes.float32, initializer=None, trainable=True):
    """Makes a variable that is a part of an object."""
    return trackable._add_variable_with_custom_getter(
        name=name, shape=shape, dtype=dtype, initializer=initializer, getter=_default_getter, trainable=trainable)


def object_graph(reader, save_path):
    """The TrackableObjectGraph that a reader finds. NotFoundError: there is none; DataLossError: it is damaged."""
    serialized = reader.get_tensor(base.OBJECT_GRAPH_PROTO_KEY)
    if not isinstance(serialized, bytes):
        raise errors.DataLossError(None, None, "\"%s\" in the checkpoint %s is no string but of type %s." % (
            base.OBJECT_GRAPH_PROTO_KEY, save_path, getattr(serialized, "dtype", type(serialized).__name__)))
    return trackable_object_graph_pb2.TrackableObjectGraph.FromString(serialized)


def object_metadata(save_path):
    """The TrackableObjectGraph of a checkpoint. ValueError if it goes by variables' names."""
    reader = py_checkpoint_reader.NewCheckpointReader(save_path)
    try:
        return object_graph(reader, save_path)
    except errors.NotFoundError:
        raise ValueError("The specified checkpoint \"%s\" does not appear to be object-based (it is missing the key "
                         "\"%s\"). Likely it was created with a name-based saver and does not contain an object "
                         "dependency graph." % (save_path, base.OBJECT_GRAPH_PROTO_KEY)) from None


def list_objects(root_trackable):
    """All objects that a checkpoint of `root_trackable` would hold."""
    return graph_view_lib.ObjectGraphView(root_trackable).list_objects()


def gather_initializers(root_trackable):
    """The initializers of all variables below an object."""
    return [obj.initializer for obj in list_objects(root_trackable) if getattr(obj, "initializer", None) is not None]


def capture_dependencies(template):
    """A context in which new variables below a template's scope become its parts."""
    prefix = template.variable_scope.name

    def creator(next_creator, name, initial_value, trackable_parent=None, **kwargs):

        def make(initializer, **inner_kwargs):
            inner_kwargs.pop("name")  # without the scope
            return next_creator(initial_value=initializer, name=name, **inner_kwargs)

        if name is not None and name.startswith(prefix):
            inner_name = name[len(prefix) + 1:]
            if not trackable_parent:
                return template._add_variable_with_custom_getter(
                    initializer=initial_value, name=inner_name, getter=make, overwrite=True,
                    trackable_parent=(template, prefix), **kwargs)
            # The variable belongs to an inner template, which is the part.
            parent, parent_prefix = trackable_parent
            template._track_trackable(parent, name=parent_prefix[len(prefix) + 1:], overwrite=True)
        return next_creator(name=name, initial_value=initial_value, trackable_parent=(template, prefix), **kwargs)

    return variable_scope.variable_creator_scope(creator)


def streaming_restore(status, session=None):
    """Restores what exists now, and later objects when they are made."""
    if context.executing_eagerly():
        return
    session = session or get_session()
    if isinstance(status, NameBasedSaverStatus):
        raise NotImplementedError("Streaming restore not supported from name-based checkpoints when graph building.")
    status.run_restore_ops(session=session)
    status._checkpoint.new_restore_ops_callback = lambda new_ops: session.run(new_ops, feed_dict=status._feed_dict)


class TrackableSaver:
    """Saves and restores the objects of an ObjectGraphView. In a graph, the nodes are made once."""

    def __init__(self, graph_view):
        self._graph_view = graph_view
        self._prefix_feed = None       # tensors that are fed with the path and the description of the objects
        self._object_graph_feed = None
        self._last_object_graph = self._last_sharding = None
        self._save_operation = None
        self._restore_prefix_feed = None
        self._restore_op_cache = {}

    def _gather_saveables(self, object_graph_tensor=None):
        saveables, graph_proto, feeds = self._graph_view.serialize_object_graph()
        if object_graph_tensor is None:
            with ops.device("/cpu:0"):
                object_graph_tensor = constant_op.constant(graph_proto.SerializeToString(), dtype=dtypes.string)
        else:
            feeds = {**(feeds or {}), object_graph_tensor: graph_proto.SerializeToString()}
        saveables.append(base.NoRestoreSaveable(tensor=object_graph_tensor, name=base.OBJECT_GRAPH_PROTO_KEY))
        return saveables, graph_proto, feeds

    def save(self, file_prefix, checkpoint_number=None, session=None, sharding=None):
        """Writes a checkpoint; gives its path (a tensor in eager mode and functions). sharding: a ShardingCallback."""
        if checkpoint_number:
            file_prefix = "%s-%d" % (file_prefix, checkpoint_number)
        if not isinstance(file_prefix, ops.Tensor):  # else who computes it sees to it that there is a directory
            directory = os.path.dirname(file_prefix)
            if directory:
                gfile.MakeDirs(directory)
        if context.executing_eagerly() or ops.inside_function():
            with ops.device("/cpu:0"):
                prefix = ops.convert_to_tensor(file_prefix, dtype=dtypes.string)
            saveables, _, _ = self._gather_saveables()
            return self._write(saveables, prefix, sharding)
        if self._prefix_feed is None:
            with ops.device("/cpu:0"):
                self._object_graph_feed = constant_op.constant("", dtype=dtypes.string)
                self._prefix_feed = constant_op.constant("", dtype=dtypes.string)
        saveables, graph_proto, feeds = self._gather_saveables(self._object_graph_feed)
        if self._last_object_graph != graph_proto or self._last_sharding is not sharding:
            self._save_operation = self._write(saveables, self._prefix_feed, sharding)
            self._last_object_graph, self._last_sharding = graph_proto, sharding
        feeds[self._prefix_feed] = file_prefix
        return (session or get_session()).run(self._save_operation, feed_dict=feeds)

    def snapshot(self, file_prefix, sharding=None):
        """A function that writes the values that there are now, when it is called."""
        saveables, _, _ = self._gather_saveables()
        save = functional_saver.MultiDeviceSaver(saveables, sharding).snapshot()

        def write():
            directory = os.path.dirname(file_prefix)
            if directory:
                gfile.MakeDirs(directory)
            save(file_prefix)

        return write

    @staticmethod
    def _write(saveables, prefix, sharding):
        written = functional_saver.MultiDeviceSaver(saveables, sharding).save(prefix)
        with ops.device("/cpu:0"), ops.control_dependencies([written] if written is not None else []):
            return array_ops.identity(prefix)

    def restore(self, save_path, skip_slots=False):
        """Restores a checkpoint: at once in eager mode, else when the status' operations are run."""
        if save_path is None:
            return InitializationOnlyStatus(self._graph_view, ops.uid())
        reader = py_checkpoint_reader.NewCheckpointReader(save_path)
        try:
            objects = object_graph(reader, save_path)
        except errors.NotFoundError:
            return self._restore_by_names(save_path, reader)
        if context.executing_eagerly():
            with ops.device("/cpu:0"):
                prefix, feeds = constant_op.constant(save_path), None
        else:
            if self._restore_prefix_feed is None:
                with ops.device("/cpu:0"):
                    self._restore_prefix_feed = constant_op.constant("model")
            prefix, feeds = self._restore_prefix_feed, {self._restore_prefix_feed: save_path}
        skipped = None
        if skip_slots:
            skipped = {slot.slot_variable_node_id for node in objects.nodes for slot in node.slot_variables}
            for node in objects.nodes:
                del node.slot_variables[:]
        checkpoint = restore_lib.CheckpointRestoreCoordinator(
            objects, reader, prefix,
            self._restore_op_cache, self._graph_view)
        checkpoint.skipped_proto_ids = skipped
        checkpoint.matched_proto_ids.update(skipped or ())
        base.CheckpointPosition(checkpoint=checkpoint, proto_id=0).restore(self._graph_view.root)
        return CheckpointLoadStatus(checkpoint, graph_view=self._graph_view, feed_dict=feeds)

    def _restore_by_names(self, save_path, reader):
        """From a checkpoint of a tf.train.Saver."""
        checkpoint = restore_lib.NameBasedRestoreCoordinator(save_path, reader)
        if context.executing_eagerly():
            for obj in self._graph_view.list_objects():
                obj._maybe_initialize_trackable()
                obj._name_based_attribute_restore(checkpoint)
        return NameBasedSaverStatus(checkpoint, graph_view=self._graph_view)


def frozen_saver(root_trackable):
    """A saver of what an object consists of now."""
    return functional_saver.MultiDeviceSaver(
        graph_view_lib.ObjectGraphView(root_trackable).frozen_saveable_objects())


def saver_with_op_caching(obj):
    """A TrackableSaver that does not keep `obj` alive."""
    cache = None if context.executing_eagerly() else object_identity.ObjectIdentityWeakKeyDictionary()
    return TrackableSaver(graph_view_lib.ObjectGraphView(weakref.ref(obj), saveables_cache=cache))


class Checkpoint(tracking.AutoTrackable):
    """Groups objects; saves and restores them along their attributes.

        checkpoint = Checkpoint(optimizer=optimizer, model=model)
        checkpoint.restore(latest_checkpoint(directory))
        ...
        checkpoint.save(prefix)

    Objects that do not exist yet are restored when they are made and assigned.
    """

    def __init__(self, **kwargs):
        super().__init__()
        self._maybe_initialize_trackable()
        for name, value in sorted(kwargs.items()):
            setattr(self, name, value)
            # In version 2, lists, dictionaries and tuples with parts become trackable objects when they are assigned.
            known = mode.tensor_shape_v2 and self._lookup_dependency(name) is not None
            if not (isinstance(value, base.Trackable) or getattr(value, "_is_traceable_function", False) or known):
                raise ValueError("`Checkpoint` was expecting a trackable object (an object derived from "
                                 "`TrackableBase`), got %s. If you believe this object should be trackable (i.e. it is "
                                 "part of the TensorFlow Python API and manages state), please open an issue." %
                                 (value,))
        self._save_counter = None  # made when first needed, so that it can be restored
        self._save_assign_op = None
        self._saver = saver_with_op_caching(self)

    def _maybe_create_save_counter(self):
        if self._save_counter is None:
            with ops.device("/cpu:0"):
                # Its name as a part is save_counter.
                self._save_counter = data_structures.NoDependency(
                    add_variable(self, name="save_counter", initializer=0, dtype=dtypes.int64, trainable=False))

    def write(self, file_prefix, session=None, options=None):
        """Writes a checkpoint of this very name; gives the path. `options` is version 2's: CheckpointOptions."""
        path = self._write_to(file_prefix, session, getattr(options, "experimental_sharding_callback", None))
        if options is not None:
            options.call_back(path)
        return path

    def _write_to(self, file_prefix, session, sharding=None):
        output = self._saver.save(file_prefix=file_prefix, session=session, sharding=sharding)
        if isinstance(output, ops.Tensor):
            return compat.as_str(output.numpy()) if context.executing_eagerly() else output
        return compat.as_str(output)

    @property
    def save_counter(self):
        """A variable that counts the saves; restored with the rest."""
        self._maybe_create_save_counter()
        return self._save_counter

    def save(self, file_prefix, session=None, options=None):
        """Writes the checkpoint PREFIX-NUMBER and notes it as the newest of its directory; gives the path."""
        number = self._next_number(session)
        path = self.write("%s-%d" % (file_prefix, number), session=session, options=options)
        checkpoint_management.update_checkpoint_state_internal(
            save_dir=os.path.dirname(file_prefix), model_checkpoint_path=path, all_model_checkpoint_paths=[path],
            save_relative_paths=True)
        return path

    def _next_number(self, session):
        """Counts one save more."""
        if not context.executing_eagerly():
            if ops.inside_function():
                raise NotImplementedError(
                    "Calling tf.train.Checkpoint.save() from a function is not supported, as save() modifies saving "
                    "metadata in ways not supported by TensorFlow Operations. Consider using "
                    "tf.train.Checkpoint.write(), a lower-level API which does not update metadata. "
                    "tf.train.latest_checkpoint and related APIs will not see this checkpoint.")
            session = session or get_session()
            if self._save_counter is None:
                session.run(self.save_counter.initializer)
            if self._save_assign_op is None:
                with ops.colocate_with(self.save_counter):
                    self._save_assign_op = data_structures.NoDependency(
                        self.save_counter.assign_add(1, read_value=True))
            return session.run(self._save_assign_op)
        return self.save_counter.assign_add(1, read_value=True).numpy()

    def read(self, save_path):
        """Restores what `write` wrote: `restore` without the counter of saves."""
        return self._saver.restore(save_path=save_path)

    def restore(self, save_path):
        """Restores a checkpoint; None: nothing. Gives a status, of which `assert_consumed()` checks that all matched.

        In a graph, `status.run_restore_ops()` or `initialize_or_restore()` is to be called.
        """
        status = self._saver.restore(save_path=save_path)
        # Its value is wanted, not that of a program that only restores.
        self._maybe_create_save_counter()
        if isinstance(status, NameBasedSaverStatus):
            status.add_to_optionally_restored(self._save_counter)
        return status

    def _frozen_saveable_objects(self):
        """For a tf.train.Saver that saves in this form."""
        return graph_view_lib.ObjectGraphView(self).frozen_saveable_objects()


CheckpointV1 = Checkpoint
