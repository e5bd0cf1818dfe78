"""Trackable: an object with named parts, each trackable itself, and with values to be saved."""
import collections
import contextlib
import functools
import weakref

from penstock._src.graph import context
from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.base import tf_logging as logging
from penstock._src.ops.state import saveable_object
from penstock._src.ops.state import registration

# The attribute of a variable that is its value.
VARIABLE_VALUE_KEY = "VARIABLE_VALUE"
# Stands for all values of an object that gives them by `_serialize_to_tensors`.
SERIALIZE_TO_TENSORS_NAME = ".TENSORS"
OBJECT_CONFIG_JSON_KEY = "OBJECT_CONFIG_JSON"
# Where a checkpoint holds the graph of its objects.
OBJECT_GRAPH_PROTO_KEY = "_CHECKPOINTABLE_OBJECT_GRAPH"

TrackableReference = collections.namedtuple("TrackableReference", ["name", "ref"])


def is_function(value):
    """Whether this is a tf.function or one of its traces: SavedModels have those as parts of objects."""
    return getattr(type(value), "_is_part_of_saved_models", False)


class WeakTrackableReference:
    """A reference to a part that does not keep it alive."""

    def __init__(self, name, part):
        self.name = name
        self._reference = part if isinstance(part, weakref.ref) else weakref.ref(part)

    @property
    def ref(self):
        """The part."""
        return self._reference()


# A slot variable whose optimizer, or whose variable, does not exist yet.
_SlotVariableRestoration = collections.namedtuple("_SlotVariableRestoration",
                                                  ["optimizer_id", "slot_variable_id", "slot_name"])
_DeferredSlotVariableRestoration = collections.namedtuple("_DeferredSlotVariableRestoration",
                                                          ["original_variable", "slot_variable_id", "slot_name"])


def _no_op():
    from penstock._src.control_flow import control_flow_ops
    return control_flow_ops.no_op()


class NoRestoreSaveable(saveable_object.SaveableObject):
    """A tensor that is saved and never restored."""

    def __init__(self, tensor, name, dtype=None, device=None):
        spec = saveable_object.SaveSpec(tensor, "", name, dtype=dtype, device=device)
        super().__init__(tensor, [spec], name)

    def restore(self, restored_tensors, restored_shapes):
        return _no_op()


class PythonStateSaveable(saveable_object.SaveableObject):
    """State that is Python's: fed when it is saved, and read without the graph."""

    def feed_dict_additions(self):
        """What to feed when saving."""
        raise NotImplementedError

    def freeze(self):
        """A saveable of the state as it is now."""
        raise NotImplementedError


class PythonStringStateSaveable(PythonStateSaveable):
    """State that a function gives as a string and another one takes back."""

    def __init__(self, name, state_callback, restore_callback=None):
        self._has_trivial_state_callback = restore_callback is None
        self._state_callback = state_callback
        self._restore_callback = restore_callback
        with ops.device("/cpu:0"):
            self._save_string = constant_op.constant("", dtype=dtypes.string)
        spec = saveable_object.SaveSpec(self._save_string, "", name, dtype=dtypes.string)
        super().__init__(self._save_string, [spec], name)

    @property
    def optional_restore(self):
        return self._has_trivial_state_callback

    def _state(self):
        with ops.init_scope():
            return self._state_callback()

    def feed_dict_additions(self):
        return {self._save_string: self._state()}

    def freeze(self):
        return NoRestoreSaveable(tensor=lambda: constant_op.constant(self._state(), dtype=dtypes.string),
                                 dtype=dtypes.string, name=self.name, device="cpu:0")

    def python_restore(self, restored_strings):
        """Gives the state back."""
        if self._restore_callback:
            restored, = restored_strings
            self._restore_callback(restored)

    def restore(self, restored_tensors, restored_shapes):
        return _no_op()


class CheckpointPosition:
    """One object of a checkpoint, on the way to an object of the program."""

    def __init__(self, checkpoint, proto_id):
        self._checkpoint = checkpoint
        self._proto_id = proto_id

    def restore(self, trackable):
        """Restores an object and all of its parts that exist; the rest when they come."""
        with ops.init_scope():
            if self.bind_object(trackable):
                restore_ops = trackable._restore_from_checkpoint_position(self)
                if restore_ops:
                    self._checkpoint.new_restore_ops(restore_ops)

    def bind_object(self, trackable):
        """Takes `trackable` for this object; true if none was taken for it before."""
        checkpoint = self.checkpoint
        checkpoint.all_python_objects.add(trackable)
        checkpoint.matched_proto_ids.add(self._proto_id)
        current = checkpoint.object_by_proto_id.get(self._proto_id, None)
        if current is not None:
            if current is not trackable:
                logging.warning("Inconsistent references when loading the checkpoint into this object graph: two "
                                "references of the checkpoint lead to different objects of the program (%s and %s).",
                                current, trackable)
            return False
        checkpoint.object_by_proto_id[self._proto_id] = trackable
        # This may be the optimizer that slots have waited for, or the variable of slots.
        for waiting in checkpoint.deferred_slot_restorations.pop(self._proto_id, ()):
            self._restore_slot(trackable, waiting.slot_variable_id, waiting.original_variable, waiting.slot_name)
        for slot in checkpoint.slot_restorations.pop(self._proto_id, ()):
            optimizer = checkpoint.object_by_proto_id.get(slot.optimizer_id, None)
            if optimizer is None:
                checkpoint.deferred_slot_restorations.setdefault(slot.optimizer_id, []).append(
                    _DeferredSlotVariableRestoration(trackable, slot.slot_variable_id, slot.slot_name))
            else:
                self._restore_slot(optimizer, slot.slot_variable_id, trackable, slot.slot_name)
        return True

    def _restore_slot(self, optimizer, slot_variable_id, variable, slot_name):
        optimizer._create_or_restore_slot_variable(
            slot_variable_position=CheckpointPosition(self._checkpoint, slot_variable_id), variable=variable,
            slot_name=slot_name)

    def is_simple_variable(self):
        """Whether it is a variable, as far as the checkpoint tells."""
        attributes = self.object_proto.attributes
        return len(attributes) == 1 and attributes[0].name == VARIABLE_VALUE_KEY and not self.object_proto.children

    def has_values(self):
        """Whether it, or what is below it, has anything to be restored, as far as the checkpoint tells."""
        proto = self.object_proto
        if proto.HasField("has_checkpoint_values"):
            return proto.has_checkpoint_values.value
        return bool(proto.children or proto.attributes or proto.slot_variables or proto.HasField("registered_saver"))

    def value_tensors(self):
        """{attribute: value}, read at once."""
        return {attribute.name: ops.convert_to_tensor(self._checkpoint.reader.get_tensor(attribute.checkpoint_key))
                for attribute in self.object_proto.attributes}

    def gather_ops_or_named_saveables(self):
        """Existing operations that restore its attributes, {key: saveable} of others, and Python's saveables."""
        registered = self._registered_saveables()
        if registered is not None:
            return [], {}, registered
        factories = self.trackable._gather_saveables_for_checkpoint()
        named, python, existing = {}, [], []
        if SERIALIZE_TO_TENSORS_NAME in factories:
            return self._gather_tensors(factories[SERIALIZE_TO_TENSORS_NAME])
        cache = self._checkpoint.graph_view.saveables_cache
        cached = {} if cache is None else cache.setdefault(self.trackable, {})
        for attribute in self.object_proto.attributes:
            key = attribute.checkpoint_key
            op = None if context.executing_eagerly() else self._checkpoint.restore_ops_by_name.get(key)
            if op is not None:
                existing.append(op)
                continue
            factory = factories.get(attribute.name)
            if factory is None:
                if not attribute.optional_restore:
                    self._checkpoint.unused_attributes.setdefault(self._proto_id, []).append(attribute.name)
                continue
            if len(cached.get(key, ())) == 1:
                saveable = cached[key][0]
            else:
                saveable = factory(name=key) if callable(factory) else factory
                if isinstance(saveable, saveable_object.SaveableObject):
                    cached[key] = (saveable,)
            if isinstance(saveable, PythonStateSaveable):
                python.append(saveable)
            else:
                named[key] = saveable
        return existing, named, python

    def get_registered_saver_name(self):
        """The saver that saved the object, or None. ValueError: it cannot restore `trackable`."""
        name = self.object_proto.registered_saver.name
        if not name:
            return None
        try:
            registration.validate_restore_function(self.trackable, name)
        except ValueError:
            if registration.get_strict_predicate_restore(name):
                raise
        return name

    def _registered_saveables(self):
        """What the object's registered saver restores, or None if it has none, neither here nor in the checkpoint."""
        recorded, proto = self.get_registered_saver_name(), self.object_proto
        if recorded is not None:
            if not registration.takes(recorded, self.trackable):
                return []  # left alone, as the saver allows
            saver, name = recorded, proto.registered_saver.object_name
        else:
            saver = registration.get_registered_saver_name(self.trackable)
            if saver is None or not proto.attributes:
                return None
            name = proto.attributes[0].checkpoint_key  # before there was such a saver
        from penstock._src.ops.state import registered_saveable
        return [registered_saveable.RegisteredSaveable(saver, {name: self.trackable})]

    def _gather_tensors(self, factory):
        """The same for an object that gives and takes its tensors all at once."""
        attributes = self.object_proto.attributes
        if not attributes:
            return [], {}, []
        key, name = attributes[0].checkpoint_key, attributes[0].name
        prefix = key[:len(key) - len(name)]
        op = None if context.executing_eagerly() else self._checkpoint.restore_ops_by_name.get(prefix)
        if op is not None:
            return [op], {}, []
        saveable = factory(name=prefix)
        missing = sorted({a.name for a in attributes} - set(saveable.local_names))
        if missing:
            self._checkpoint.unused_attributes.setdefault(self._proto_id, []).extend(missing)
        return [], {prefix: saveable}, []

    def restore_ops(self):
        """Operations that restore the attributes of this object alone."""
        existing, named, python = self.gather_ops_or_named_saveables()
        return existing + self._checkpoint.restore_saveables(named, python)

    @property
    def checkpoint(self):
        """What is restored."""
        return self._checkpoint

    @property
    def trackable(self):
        """The object of the program."""
        return self._checkpoint.object_by_proto_id[self._proto_id]

    @property
    def object_proto(self):
        """Its description in the checkpoint."""
        return self._checkpoint.object_graph_proto.nodes[self._proto_id]

    @property
    def restore_uid(self):
        """Grows with each restore."""
        return self._checkpoint.restore_uid

    def __repr__(self):
        return repr(self.object_proto)


class CheckpointInitialValueCallable:
    """An initializer of what a checkpoint holds for a variable that is not made yet."""

    def __init__(self, checkpoint_position):
        self._checkpoint_position = checkpoint_position

    @property
    def checkpoint_position(self):
        """Where in which checkpoint."""
        return self._checkpoint_position

    def __call__(self, shape=None, dtype=None, shard_info=None):
        return self._checkpoint_position.value_tensors()[VARIABLE_VALUE_KEY]


def no_automatic_dependency_tracking(method):
    """A decorator of methods: what they assign to attributes does not become a part."""

    @functools.wraps(method)
    def untracked(self, *args, **kwargs):
        with no_automatic_dependency_tracking_scope(self):
            return method(self, *args, **kwargs)

    return untracked


@contextlib.contextmanager
def no_automatic_dependency_tracking_scope(obj):
    """Inside, what is assigned to the object's attributes does not become a part."""
    before = getattr(obj, "_self_setattr_tracking", True)
    obj._self_setattr_tracking = False
    try:
        yield
    finally:
        obj._self_setattr_tracking = before


class Trackable:
    """Base of objects that checkpoints know: variables, optimizers, layers, lists of these.

    There is no constructor: attributes are made when first needed, by `_maybe_initialize_trackable`.
    """

    @property
    def _setattr_tracking(self):
        if not hasattr(self, "_self_setattr_tracking"):
            self._self_setattr_tracking = True
        return self._self_setattr_tracking

    @_setattr_tracking.setter
    def _setattr_tracking(self, value):
        self._self_setattr_tracking = value

    @property
    def _update_uid(self):
        return self._self_update_uid

    @_update_uid.setter
    def _update_uid(self, value):
        self._self_update_uid = value

    @property
    def _unconditional_checkpoint_dependencies(self):
        return self._self_unconditional_checkpoint_dependencies

    @property
    def _unconditional_dependency_names(self):
        return self._self_unconditional_dependency_names

    @property
    def _name_based_restores(self):
        return self._self_name_based_restores

    @no_automatic_dependency_tracking
    def _maybe_initialize_trackable(self):
        if hasattr(self, "_self_unconditional_checkpoint_dependencies"):
            return
        self._self_unconditional_checkpoint_dependencies = []   # TrackableReferences
        self._self_unconditional_dependency_names = {}          # name -> object
        self._self_unconditional_deferred_dependencies = {}     # name -> positions that wait for such a part
        if hasattr(self, "_self_update_uid"):
            raise AssertionError("Internal error: the object had an update UID set before its initialization code was "
                                 "run.")
        self._self_update_uid = -1                              # of the last restore that set the attributes
        self._self_name_based_restores = set()

    @property
    def _object_identifier(self):
        """What a SavedModel calls this kind of object."""
        return "_generic_user_object"

    def _no_dependency(self, value):
        """`value`, marked as not to become a part."""
        return value

    def _name_based_attribute_restore(self, checkpoint):
        """Restores the attributes from a checkpoint that goes by variables' names."""
        self._self_name_based_restores.add(checkpoint)
        if self._self_update_uid < checkpoint.restore_uid:
            checkpoint.eager_restore(self)
            self._self_update_uid = checkpoint.restore_uid

    @property
    def _checkpoint_dependencies(self):
        """TrackableReferences of all parts."""
        return self._self_unconditional_checkpoint_dependencies

    @property
    def _deferred_dependencies(self):
        return self._self_unconditional_deferred_dependencies

    def _lookup_dependency(self, name, cached_dependencies=None):
        """The part of that name, or None. `cached_dependencies`: what `_trackable_children` has given."""
        return (cached_dependencies or self._self_unconditional_dependency_names).get(name, None)

    def _add_variable_with_custom_getter(self, name, shape=None, dtype=dtypes.float32, initializer=None, getter=None,
                                         overwrite=False, **kwargs_for_getter):
        """Makes a variable by `getter`; it becomes a part, and is restored if a checkpoint waits for it."""
        self._maybe_initialize_trackable()
        variable = getter(name=name, shape=shape, dtype=dtype, initializer=initializer, **kwargs_for_getter)
        if overwrite and not isinstance(variable, Trackable):
            return variable
        return self._track_trackable(variable, name=name, overwrite=overwrite)

    def _track_trackable(self, trackable, name, overwrite=False):
        """Makes an object a part. ValueError if another one has the name, unless `overwrite`."""
        self._maybe_initialize_trackable()
        if not isinstance(trackable, Trackable):
            raise TypeError("Trackable._track_trackable() passed type %s, not a Trackable." % (type(trackable),))
        reference = TrackableReference(name=name, ref=trackable)
        current = self._lookup_dependency(name)
        if current is None:
            self._self_unconditional_checkpoint_dependencies.append(reference)
            self._handle_deferred_dependencies(name=name, trackable=trackable)
        elif current is not trackable:
            if not overwrite:
                raise ValueError("Called Trackable._track_trackable() with name='%s', but a Trackable with this name "
                                 "is already declared as a dependency. Names must be unique (or overwrite=True)." %
                                 (name,))
            parts = self._self_unconditional_checkpoint_dependencies
            parts[:] = [reference if part.name == name else part for part in parts]
        self._self_unconditional_dependency_names[name] = trackable
        return trackable

    def _handle_deferred_dependencies(self, name, trackable):
        """Restores a new part from checkpoints that were restored before it existed, the newest first."""
        self._maybe_initialize_trackable()
        trackable._maybe_initialize_trackable()
        for position in sorted(self._deferred_dependencies.pop(name, ()), key=lambda p: p.restore_uid, reverse=True):
            position.restore(trackable)
        for checkpoint in sorted(self._self_name_based_restores, key=lambda c: c.restore_uid, reverse=True):
            trackable._name_based_attribute_restore(checkpoint)

    def _restore_from_checkpoint_position(self, checkpoint_position):
        """Restores this object and all parts that exist, breadth first; gives operations to run."""
        todo = collections.deque([checkpoint_position])
        restore_ops, named, python = [], {}, []
        while todo:
            position = todo.popleft()
            existing, new_named, new_python = position.trackable._single_restoration_from_checkpoint_position(
                checkpoint_position=position, visit_queue=todo)
            restore_ops.extend(existing)
            named.update(new_named)
            python.extend(new_python)
        restore_ops.extend(checkpoint_position.checkpoint.restore_saveables(named, python))
        return restore_ops

    def _single_restoration_from_checkpoint_position(self, checkpoint_position, visit_queue):
        """What restores this object's attributes; puts its parts into the queue."""
        self._maybe_initialize_trackable()
        checkpoint = checkpoint_position.checkpoint
        found = (), {}, ()
        # A newer restore has set the attributes otherwise.
        if checkpoint.restore_uid > self._self_update_uid:
            found = checkpoint_position.gather_ops_or_named_saveables()
            self._self_update_uid = checkpoint.restore_uid
        parts = self._trackable_children()
        for child in checkpoint_position.object_proto.children:
            position = CheckpointPosition(checkpoint=checkpoint, proto_id=child.node_id)
            part = self._lookup_dependency(child.local_name, parts)
            if part is None:
                part = checkpoint.graph_view.attached(self, child.local_name)
            if part is None and position.has_values():
                self._deferred_dependencies.setdefault(child.local_name, []).append(position)
            elif part is not None and position.bind_object(trackable=part):
                visit_queue.append(position)
        return found

    def _gather_saveables_for_checkpoint(self):
        """{attribute: what to save}: a variable, a saveable object, or a function of its name that makes one."""
        functions = getattr(self, "_self_saveable_functions", None)  # of a loaded SavedModel
        if functions is None:
            if getattr(self._serialize_to_tensors, "__func__", None) is Trackable._serialize_to_tensors:
                return {}
            functions = {SERIALIZE_TO_TENSORS_NAME: (self._serialize_to_tensors, self._restore_from_tensors)}
        from penstock._src.ops.state import trackable_saveable
        return {attribute: trackable_saveable.factory(attribute, *pair) for attribute, pair in functions.items()}

    def _serialize_to_tensors(self):
        """{name: tensor} of what is to be saved of the object."""
        raise NotImplementedError

    def _restore_from_tensors(self, restored_tensors):
        """Takes back what `_serialize_to_tensors` gave."""
        raise NotImplementedError

    def _export_to_saved_model_graph(self, object_map, tensor_map, options):
        """Adds what stands for the object to the graph of a SavedModel (the default graph): to `object_map` the new
        object, to `tensor_map` {tensor that functions capture: new tensor}. Gives these tensors."""
        return []

    def _serialize_to_proto(self, object_proto=None, **kwargs):
        """A message that a SavedModel keeps for `_deserialize_from_proto` of a registered class, or None."""
        return None

    @classmethod
    def _deserialize_from_proto(cls, proto=None, dependencies=None, object_proto=None, export_dir=None,
                                asset_file_def=None, operation_attributes=None, **kwargs):
        """An object of a SavedModel, of a registered class; it is given its parts afterwards."""
        return cls()

    def _add_trackable_child(self, name, value):
        """Gives an object of a SavedModel a part."""
        self._track_trackable(value, name, overwrite=True)

    def _deserialization_dependencies(self, children):
        """{name: part} of what has to be loaded before the object is. `children`: all its parts."""
        return {}

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        """{name: part}; a SavedModel also has functions, and what only it needs."""
        self._maybe_initialize_trackable()
        children = {reference.name: reference.ref for reference in self._checkpoint_dependencies}
        if save_type == "savedmodel":
            cache = kwargs.get("cache")
            children.update(self._list_extra_dependencies_for_serialization(cache))
            children.update(self._list_functions_for_serialization(cache))
        return children

    def _list_extra_dependencies_for_serialization(self, serialization_cache):
        """{name: part} that only a SavedModel has."""
        return {}

    def _list_functions_for_serialization(self, serialization_cache):
        """{name: function} that a SavedModel has."""
        return {}
