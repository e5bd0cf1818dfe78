"""Lists, tuples and dictionaries as trackable objects."""
import collections
import copy
import operator

from penstock._src.base.mode import mode
from penstock._src.ops.state import variables
from penstock._src.ops.state import revived_types
from penstock._src.ops.state import base


class NoDependency:
    """Marks a value that is assigned to an attribute as no part of the object."""

    __slots__ = ["value"]

    def __init__(self, value):
        self.value = value


def wrap_or_unwrap(value):
    """The value of a NoDependency; a list or dictionary wrapped; anything else as it is."""
    if isinstance(value, NoDependency):
        return value.value
    if isinstance(value, base.Trackable):
        return value
    if type(value) is collections.OrderedDict:
        return _OrderedDictWrapper(value)
    if type(value) is dict:
        return _DictWrapper(value)
    if type(value) is list:
        return ListWrapper(value)
    return value


def sticky_attribute_assignment(trackable, name, value):
    """What to store for an attribute; if it is trackable, it becomes a part of that name."""
    add_dependency = not isinstance(value, NoDependency)
    value = wrap_or_unwrap(value)
    if not add_dependency:
        from penstock._src.ops.state import tracking
        if hasattr(trackable, "_self_unconditional_dependency_names"):
            tracking.delete_tracking(trackable, name)
        return value
    value, part = _value_and_part(value)
    if part is not None:
        trackable._track_trackable(part, name=name, overwrite=True)
    return value


def _functions_among(named):
    """Those of (name, value) pairs that are functions: a SavedModel has them, a checkpoint does not."""
    return {name: value for name, value in named
            if isinstance(name, str) and base.is_function(value)}


def _value_and_part(value):
    """(what is stored, the trackable object that stands for it or None)."""
    if isinstance(value, tuple) and mode.tensor_shape_v2:  # version 1 does not look into tuples
        part = _TupleParts(value)
        return part.value, part if part._checkpoint_dependencies else None
    return value, value if isinstance(value, base.Trackable) else None


class _UntrackableError(ValueError):

    def __init__(self, value):
        super().__init__()
        self._value = value

    def __str__(self):
        return "Only trackable objects (such as Layers or Optimizers) may be stored in a List object. Got %s, which " \
               "does not inherit from Trackable." % (self._value,)


class TrackableDataStructure(base.Trackable):
    """What lists and dictionaries have in common with a layer: weights, losses, whether they are trained."""

    def __init__(self):
        self.trainable = True
        self._extra_variables = []

    def __setattr__(self, name, value):
        # Attributes of the wrapper itself are no elements.
        object.__setattr__(self, name, value)

    def _track_value(self, value, name):
        """An element, wrapped; it becomes a part. ValueError if it cannot."""
        value = sticky_attribute_assignment(trackable=self, value=value, name=name)
        if isinstance(value, variables.Variable):
            self._extra_variables.append(value)
        if not isinstance(value, base.Trackable):
            raise _UntrackableError(value)
        return value

    @property
    def _values(self):
        raise NotImplementedError("Abstract method")

    @property
    def _layers(self):
        """The layers among the elements, and inside lists among them."""
        found = []
        for value in self._values:
            if isinstance(value, TrackableDataStructure):
                found.extend(value._layers)
            elif hasattr(value, "weights") and hasattr(value, "call"):
                found.append(value)
        return found

    layers = _layers

    @property
    def trainable_weights(self):
        """Weights of the layers, and variables, that are trained."""
        return self._weights(True)

    @property
    def non_trainable_weights(self):
        """The others."""
        return self._weights(False)

    def _weights(self, trainable):
        found, own = [], []
        for value in self._values:
            if isinstance(value, variables.Variable):
                if (value.trainable and self.trainable) == trainable:
                    own.append(value)
            elif hasattr(value, "trainable_variables"):  # a layer, a module, a list of them
                if self.trainable:
                    found += value.trainable_variables if trainable else value.non_trainable_variables
                elif not trainable:
                    found += value.variables
        return found + own

    @property
    def weights(self):
        """All of them."""
        return self.trainable_weights + self.non_trainable_weights

    variables = weights
    trainable_variables = trainable_weights
    non_trainable_variables = non_trainable_weights

    @property
    def updates(self):
        """Updates of the layers."""
        return [update for layer in self._layers for update in getattr(layer, "updates", ())]

    @property
    def losses(self):
        """Losses of the layers."""
        return [loss for layer in self._layers for loss in getattr(layer, "losses", ())]

    def _list_functions_for_serialization(self, serialization_cache):
        elements = self._storage
        return _functions_among(elements.items() if isinstance(elements, dict) else
                                ((str(i), element) for i, element in enumerate(elements)))

    def __hash__(self):
        return id(self)


class List(TrackableDataStructure, collections.abc.Sequence):
    """A list that one can append to: its elements are parts named 0, 1, ...

        self.layers = List([layer]); self.layers.append(another)
    """

    def __init__(self, *args, **kwargs):
        super().__init__()
        self._storage = list(*args, **kwargs)
        for index, element in enumerate(self._storage):
            self._storage[index] = self._track_value(element, name=self._name_element(index))

    def _name_element(self, index):
        return "%d" % (index,)

    @property
    def _values(self):
        return self

    def append(self, value):
        """Adds an element."""
        self._storage.append(self._track_value(value, self._name_element(len(self._storage))))

    def extend(self, values):
        """Adds several."""
        for value in values:
            self.append(value)

    def __iadd__(self, values):
        self.extend(values)
        return self

    def __add__(self, other):
        return self._storage + (other._storage if isinstance(other, List) else list(other))

    def __radd__(self, other):
        return self + other if isinstance(other, List) else list(other) + self._storage

    def __getitem__(self, key):
        return self._storage[key]

    def __mul__(self, n):
        return self._storage * n

    __rmul__ = __mul__

    def __imul__(self, n):
        if n <= 0:
            raise ValueError("List only supports append, multiplying in place by %d removes elements." % n)
        self.extend(list(self._storage) * (n - 1))
        return self

    def copy(self):
        """A list of the same elements."""
        return type(self)(self._storage)

    __copy__ = copy

    def __len__(self):
        return len(self._storage)

    def __eq__(self, other):
        return self is other or list(self) == list(other) if isinstance(other, (list, List)) else False

    def __repr__(self):
        return "List(%s)" % (repr(self._storage),)

    __hash__ = TrackableDataStructure.__hash__


class ListWrapper(TrackableDataStructure, list):
    """A list that was assigned to an attribute. It can be saved unless it was changed other than by appending."""

    _plain_kind = list

    def __init__(self, wrapped_list):
        list.__init__(self, wrapped_list)
        TrackableDataStructure.__init__(self)
        self._storage = wrapped_list
        self._non_append_mutation = False
        self._external_modification = False
        self._last_wrapped_list_snapshot = list(wrapped_list)
        for index, element in enumerate(self):
            list.__setitem__(self, index, self._track_element(element, index))
            self._storage[index] = list.__getitem__(self, index)
        self._last_wrapped_list_snapshot = list(self._storage)

    def _track_element(self, value, index):
        try:
            return self._track_value(value, name="%d" % index)
        except ValueError:
            # No trackable: the list is saved without it.
            return sticky_attribute_assignment(trackable=self, value=value, name="%d" % index)

    @property
    def _values(self):
        return list(self)

    def _check_external_modification(self):
        if self._storage != self._last_wrapped_list_snapshot:
            self._external_modification = True
            self._last_wrapped_list_snapshot = None

    @property
    def _checkpoint_dependencies(self):
        self._check_external_modification()
        if self._non_append_mutation:
            raise ValueError("Unable to save the object %s (a list wrapper constructed to track trackable TensorFlow "
                             "objects). A list element was replaced (__setitem__, __setslice__), deleted (__delitem__, "
                             "__delslice__), or moved (sort). In order to support restoration on object creation, "
                             "tracking is exclusively for append-only data structures.\n\nIf you don't need this list "
                             "checkpointed, wrap it in a tf.contrib.checkpoint.NoDependency object; it will be "
                             "automatically un-wrapped and subsequently ignored." % (self,))
        if self._external_modification:
            raise ValueError("Unable to save the object %s (a list wrapper constructed to track trackable TensorFlow "
                             "objects). The wrapped list was modified outside the wrapper (its final value was %s, its "
                             "value when a checkpoint dependency was added was %s), which breaks restoration on object "
                             "creation.\n\nIf you don't need this list checkpointed, wrap it in a "
                             "tf.contrib.checkpoint.NoDependency object; it will be automatically un-wrapped and "
                             "subsequently ignored." % (self, self._storage, self._last_wrapped_list_snapshot))
        return super()._checkpoint_dependencies

    def _appended(self, value):
        self._check_external_modification()
        value = self._track_element(value, len(self))
        list.append(self, value)
        self._storage.append(value)
        if self._last_wrapped_list_snapshot is not None:
            self._last_wrapped_list_snapshot.append(value)

    def append(self, value):
        self._appended(value)

    def extend(self, values):
        for value in values:
            self._appended(value)

    def __iadd__(self, values):
        self.extend(values)
        return self

    def __add__(self, other):
        return self._storage + getattr(other, "_storage", other)  # or what the other one makes of it

    def __radd__(self, other):
        return other + self._storage if isinstance(other, list) else NotImplemented

    def __imul__(self, y):
        if y <= 0:
            self._mutate(list.clear)
        else:
            self.extend(list(self._storage) * (y - 1))
        return self

    def _mutate(self, change, *args, **kwargs):
        """Changes the list other than by appending: with parts in it, and in version 1 always, it cannot be saved any
        more."""
        if not mode.tensor_shape_v2 or any(isinstance(value, base.Trackable) for value in self._storage):
            self._non_append_mutation = True
        return self._change(change, *args, **kwargs)

    def _change(self, change, *args, **kwargs):
        self._check_external_modification()
        result = change(self._storage, *args, **kwargs)
        list.__setitem__(self, slice(None), self._storage)  # for C code, which looks there
        self._last_wrapped_list_snapshot = list(self._storage)
        return result

    def __setitem__(self, key, value):
        if not isinstance(key, slice):
            if isinstance(self._storage[key], base.Trackable):
                self._non_append_mutation = True
            self._change(list.__setitem__, key, self._track_element(value, range(len(self._storage))[key]))
            return
        before = list(self._storage)
        self._mutate(list.__setitem__, key, value)
        for i, (old, new) in enumerate(zip(before + [None] * len(self._storage), list(self._storage))):
            if new is not None and new is not old:
                self._change(list.__setitem__, i, self._track_element(new, i))

    def __delitem__(self, key):
        self._mutate(list.__delitem__, key)

    def insert(self, index, value):
        if isinstance(value, base.Trackable):
            self._non_append_mutation = True
        self._mutate(list.insert, index, wrap_or_unwrap(value))

    def sort(self, *args, **kwargs):
        self._mutate(list.sort, *args, **kwargs)

    def reverse(self):
        self._mutate(list.reverse)

    def pop(self, *args):
        return self._mutate(list.pop, *args)

    def remove(self, value):
        self._mutate(list.remove, value)

    def clear(self):
        self._mutate(list.clear)

    def __copy__(self):
        copied = type(self)(copy.copy(list(self)))
        copied._non_append_mutation = self._non_append_mutation
        copied._external_modification = self._external_modification
        return copied

    def copy(self):
        return copy.copy(self)

    def __deepcopy__(self, memo):
        copied = type(self)(copy.deepcopy(list(self), memo))
        copied._non_append_mutation = self._non_append_mutation
        copied._external_modification = self._external_modification
        return copied

    def __reduce_ex__(self, protocol):
        return type(self), (list(self),)

    def __repr__(self):
        return "ListWrapper(%s)" % (repr(self._storage),)

    def __hash__(self):
        raise TypeError("unhashable type: 'ListWrapper'")  # it is compared as a list


class _TupleParts(base.Trackable):
    """The elements of a tuple as parts named 0, 1, ...; the attribute is the tuple itself, as tuples cannot be referred
    to weakly."""

    def __init__(self, value):
        self._maybe_initialize_trackable()
        elements, parts = [], []
        for element in value:
            depends = not isinstance(element, NoDependency)
            element = wrap_or_unwrap(element)
            element, part = _value_and_part(element) if depends else (element, None)
            elements.append(element)
            parts.append(part)
        # Those of a named tuple by their names too, and first, as in TensorFlow: the names are in a checkpoint's keys.
        names = [*getattr(value, "_fields", ()), *map(str, range(len(parts)))]
        for name, part in zip(names, parts * 2):
            if part is not None:
                self._track_trackable(part, name=name, overwrite=True)
        same = all(element is before for element, before in zip(elements, value))
        self.value = value if same else getattr(value, "_make", type(value))(elements)

    def _list_functions_for_serialization(self, serialization_cache):
        return _functions_among((str(i), element) for i, element in enumerate(self.value))


def _reading(name):

    def method(self, *args):
        return getattr(self._storage, name)(*args)

    method.__name__ = name
    return method


# The list that was wrapped may be changed by whoever else has it: what reads, reads that.
for _name in ("__contains__", "__eq__", "__ge__", "__getitem__", "__gt__", "__iter__", "__le__", "__len__",
              "__lt__", "__mul__", "__ne__", "__reversed__", "__rmul__", "__sizeof__", "count", "index"):
    setattr(ListWrapper, _name, _reading(_name))


_ListWrapper = ListWrapper


class Mapping(TrackableDataStructure, collections.abc.Mapping):
    """A dictionary that one can add to: its values are parts named by their keys, which are strings."""

    def __init__(self, *args, **kwargs):
        super().__init__()
        self._storage = dict(*args, **kwargs)
        self._storage.update({key: self._track_value(value, name=self._name_element(key))
                              for key, value in self._storage.items()})

    def _name_element(self, key):
        if not isinstance(key, str):
            raise TypeError("Mapping accepts only string keys, but got a key %s." % repr(key))
        return str(key)

    @property
    def _values(self):
        return [value for _, value in sorted(self.items(), key=lambda item: item[0])]

    def __setitem__(self, key, value):
        current = self._storage.setdefault(key, value)
        if current is not value:
            raise ValueError("Mappings are an append-only data structure. Tried to overwrite the key '%s' with value "
                             "%s, but it already contains %s" % (key, value, current))
        self._storage[key] = self._track_value(value, name=self._name_element(key))

    def update(self, *args, **kwargs):
        """Adds several."""
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __getitem__(self, key):
        return self._storage[key]

    def __len__(self):
        return len(self._storage)

    def __iter__(self):
        return iter(self._storage)

    def __repr__(self):
        return "Mapping(%s)" % (repr(self._storage),)

    __hash__ = TrackableDataStructure.__hash__


class _DictBase(TrackableDataStructure):
    """A dictionary that was assigned to an attribute; values under string keys are parts. It is the dictionary itself
    that is read and written, which whoever else has it may change too; it cannot be saved then."""

    _plain_kind = dict

    def __init__(self, wrapped_dict=()):
        self._plain_kind.__init__(self)
        TrackableDataStructure.__init__(self)
        self._storage = wrapped_dict if type(wrapped_dict) is self._plain_kind else self._plain_kind(wrapped_dict)
        self._snapshot = self._plain_kind(self._storage)
        self._non_string_key = self._replaced = self._external_modification = False
        self.update(list(self._storage.items()))

    @property
    def _values(self):
        return [value for key, value in sorted(((k, v) for k, v in self.items() if isinstance(k, str)),
                                               key=lambda item: item[0])]

    def _check_external_modification(self):
        if self._storage.keys() != self._snapshot.keys() or any(
                value is not self._snapshot[key] for key, value in self._storage.items()):
            self._external_modification = True

    @property
    def _checkpoint_dependencies(self):
        self._check_external_modification()
        if self._non_string_key or self._replaced or self._external_modification:
            raise ValueError(f"Unable to save the object {self} (a dictionary wrapper constructed automatically on "
                             "attribute assignment). The wrapped dictionary was modified " +
                             (f"outside the wrapper (its final value was {self}, its value when a checkpoint "
                              f"dependency was added was {self._snapshot}), which breaks restoration on object "
                              "creation."
                              if self._external_modification else
                              "in a way that the checkpoint cannot hold: a trackable value stands under a key that is "
                              "no string, or was replaced or deleted.") +
                             "\n\nIf you don't need this dictionary checkpointed, wrap it in a "
                             "tf.contrib.checkpoint.NoDependency object; it will be automatically un-wrapped and "
                             "subsequently ignored.")
        return super()._checkpoint_dependencies

    def __setitem__(self, key, value):
        self._check_external_modification()
        self._maybe_initialize_trackable()
        no_dependency = isinstance(value, NoDependency)
        value = wrap_or_unwrap(value)
        old = self._storage.get(key)
        value, part = (value, None) if no_dependency else _value_and_part(value)
        tracked = self._lookup_dependency(key) if isinstance(old, (base.Trackable, tuple)) else None
        if old is not value and tracked is not None and (tracked is old or getattr(tracked, "value", None) is old):
            self._replaced = True
        elif part is not None:
            if isinstance(key, str):
                self._track_trackable(part, name=key, overwrite=True)
            else:
                self._non_string_key = True
        self._storage[key] = self._snapshot[key] = value
        self._plain_kind.__setitem__(self, key, value)  # for C code, which looks there

    def __delitem__(self, key):
        self._check_external_modification()
        self._maybe_initialize_trackable()
        if isinstance(self[key], base.Trackable):
            self._replaced = True
        del self._storage[key]
        self._snapshot.pop(key, None)
        if self._plain_kind.__contains__(self, key):
            self._plain_kind.__delitem__(self, key)

    def pop(self, key, *default):
        if key in self:
            value = self[key]
            del self[key]
            return value
        return self._storage.pop(key, *default)

    def popitem(self, last=True):
        key = next(reversed(self) if last else iter(self), None)
        return (key, self.pop(key)) if self else self._storage.popitem()

    def clear(self):
        for key in list(self):
            del self[key]

    def setdefault(self, key, default=None):
        if key not in self:
            self[key] = default
        return self[key]

    def update(self, *args, **kwargs):
        for key, value in self._plain_kind(*args, **kwargs).items():
            self[key] = value

    def __ior__(self, other):
        self.update(other)
        return self

    def _with_flags_of(self, other):
        other._check_external_modification()
        for flag in ("_non_string_key", "_replaced", "_external_modification"):
            setattr(self, flag, getattr(other, flag))
        return self

    def __copy__(self):
        return type(self)(copy.copy(self._storage))._with_flags_of(self)

    def copy(self):
        return copy.copy(self)

    def __deepcopy__(self, memo):
        return type(self)(copy.deepcopy(self._storage, memo))._with_flags_of(self)

    def __reduce_ex__(self, protocol):
        return type(self), (self._plain_kind(self),)

    def __repr__(self):
        return f"DictWrapper({self})"

    def __hash__(self):
        raise TypeError("unhashable type: 'DictWrapper'")

    def __str__(self):
        return str(dict(self))


for _name in ("__contains__", "__eq__", "__getitem__", "__iter__", "__len__", "__ne__", "__or__", "__reversed__",
              "__ror__", "get", "items", "keys", "values"):
    setattr(_DictBase, _name, _reading(_name))


class _DictWrapper(_DictBase, dict):
    """dict"""

    __hash__ = _DictBase.__hash__


class _OrderedDictWrapper(_DictBase, collections.OrderedDict):
    """collections.OrderedDict"""

    _plain_kind = collections.OrderedDict
    move_to_end = _reading("move_to_end")
    __hash__ = _DictBase.__hash__


# Lists and dictionaries of a SavedModel


def _set_list_item(made, name, value):
    if not name.isdigit():
        setattr(made, name, value)  # a function
        return
    while len(made) < int(name):
        made.append(None)  # no trackable: it was not saved
    made.append(value)


def _register_revived(identifier, kind, make, setter):
    revived_types.register_revived_type(identifier, lambda obj: isinstance(obj, kind), versions=[
        revived_types.VersionedTypeRegistration(object_factory=lambda proto: make(), version=1, min_producer_version=1,
                                                min_consumer_version=1, setter=setter)])


_register_revived("trackable_list_wrapper", (List, ListWrapper), lambda: ListWrapper([]), _set_list_item)
# What a tuple consists of is known only when all is loaded: it is loaded as a list.
_register_revived("trackable_tuple_wrapper", _TupleParts, lambda: ListWrapper([]), _set_list_item)
_register_revived("trackable_dict_wrapper", (_DictWrapper, _OrderedDictWrapper), lambda: _DictWrapper({}),
                  operator.setitem)
