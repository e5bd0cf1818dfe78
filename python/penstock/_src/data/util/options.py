"""Objects that hold options: each has a type and a default, two of them can be merged, and messages hold them too."""
import enum

from penstock._src.base import tf2
from penstock.proto import dataset_options_pb2


class OptionsBase:
    """Base class; the attributes are properties made by `create_option`."""

    def __init__(self):
        object.__setattr__(self, "_options", {})
        object.__setattr__(self, "_mutable", True)

    def __eq__(self, other):
        if not isinstance(other, self.__class__):
            return NotImplemented
        return all(getattr(self, name) == getattr(other, name) for name in set(self._options) | set(other._options))

    def __ne__(self, other):
        equal = self.__eq__(other)
        return equal if equal is NotImplemented else not equal

    __hash__ = None

    def __setattr__(self, name, value):
        if not self._mutable:
            raise ValueError("Mutating `tf.data.Options()` returned by `tf.data.Dataset.options()` has no effect. Use "
                             "`tf.data.Dataset.with_options(options)` to set or update dataset options.")
        if not hasattr(self, name):
            raise AttributeError(f"Cannot set the property {name} on {type(self).__name__}.")
        object.__setattr__(self, name, value)

    _fields = {}  # the option that a field of the message has, where their names differ

    def _to_proto(self):
        """The message of tensorflow.data that holds what is set."""
        message = getattr(dataset_options_pb2, type(self).__name__)()
        for field in message.DESCRIPTOR.fields:
            value = getattr(self, self._fields.get(field.name, field.name))
            if isinstance(value, OptionsBase):
                getattr(message, field.name).CopyFrom(value._to_proto())
            elif isinstance(value, list):
                getattr(message, field.name).extend(value)
            elif value is not None:
                setattr(message, field.name, value.value if isinstance(value, enum.Enum) else value)
        return message

    def _from_proto(self, message):
        """Sets what is set in such a message."""
        for field in message.DESCRIPTOR.fields:
            name, value = self._fields.get(field.name, field.name), getattr(message, field.name)
            kind, one_of = getattr(type(self), name).fget.ty, field.containing_oneof
            if field.message_type is not None:
                getattr(self, name)._from_proto(value)
            elif value if kind is list else one_of is None or message.WhichOneof(one_of.name) is not None:
                setattr(self, name, kind(value))

    def _set_mutable(self, mutable):
        """Whether it may be changed; also of the options that it holds."""
        object.__setattr__(self, "_mutable", mutable)
        for value in self._options.values():
            if isinstance(value, OptionsBase):
                value._set_mutable(mutable)


def create_option(name, ty, docstring, default_factory=lambda: None):
    """The property of an option: values of type `ty` (TypeError otherwise)."""
    def get(options):
        if name not in options._options:
            options._options[name] = default_factory()
        return options._options[name]

    def put(options, value):
        if not isinstance(value, ty):
            raise TypeError(f'Property "{name}" must be of type {ty}, got: {value!r} (type: {type(value)!r})')
        options._options[name] = value

    get.ty = ty
    return property(get, put, None, docstring)


def merge_options(*options_list):
    """All options in one; in version 2 what the later say counts. TypeError unless all are of one class. ValueError for
    none, and in version 1 for two values of one option."""
    if not options_list:
        raise ValueError("At least one options should be provided")
    kind = type(options_list[0])
    for options in options_list:
        if not isinstance(options, kind):
            raise TypeError(f"Could not merge incompatible options of type {type(options)} and {kind}.")
    if not isinstance(options_list[0], OptionsBase):
        raise TypeError("All options to be merged should inherit from `OptionsBase` but found option of type "
                        f"{kind} which does not.")
    plain, result = kind(), kind()
    for options in options_list:
        for name in options._options:
            this, that, default = getattr(result, name), getattr(options, name), getattr(plain, name)
            if that == default:
                continue
            if isinstance(this, OptionsBase) and this != default:
                that = merge_options(this, that)
            elif isinstance(this, list) and this != default:  # lists are added up
                that = this + that
            elif this != default and this != that and not tf2.enabled():
                raise ValueError(f"Cannot merge incompatible values ({this!r} and {that!r}) of option: {name}")
            setattr(result, name, that)
    return result
