"""Attributes that a program gives to its functions."""
from google.protobuf import text_format

from penstock import proto
from penstock._src.base import compat

DISABLE_SUMMARIES_AT_RUNTIME = "disable_summaries_at_runtime"
IMPLEMENTS = "_implements"  # the name of what others may run instead of the function
# What tf.function(experimental_attributes=) takes.
POLYMORPHIC_FUNCTION_ALLOWLIST = frozenset((
    "api_implements", "api_preferred_device", "_disable_acd", DISABLE_SUMMARIES_AT_RUNTIME, "go_backwards",
    IMPLEMENTS, "experimental_ints_on_device", "_noinline", "function_runs_at_most_once",
    "runtime_constant_optimization", "_tf_data_function", "time_major", "_OutputsOnOpDevice"))


def messages(attributes):
    """AttrValue messages of attributes. ValueError: a value is none that an attribute can have."""
    return {name: _message(name, value) for name, value in (attributes or {}).items()}


def _field(value):
    """(name of the field of a message, value) or None."""
    for kind, name in ((bool, "b"), (int, "i"), (float, "f"), ((str, bytes), "s")):
        if isinstance(value, kind):
            return name, compat.as_bytes(value) if name == "s" else value
    return None


def _message(name, value):
    cls = proto.message("tensorflow.AttrValue")
    if isinstance(value, cls):
        return value
    if isinstance(value, list):
        message = cls()
        message.list.SetInParent()
        for one in value:
            field = _field(one)
            if field is None:
                raise ValueError(f"Attributes for {name} must be bool, int, float, or string. Got {type(one)}.")
            getattr(message.list, field[0]).append(field[1])
        return message
    field = _field(value)
    if field is None:
        raise ValueError(f"Attribute {name} must be bool, int, float, string, list, or AttrValue. Got {type(value)}.")
    return cls(**dict([field]))


def implements(text):
    """The attribute of a function that stands for another one: its name, or a NameAttrList in text form."""
    message = proto.message("tensorflow.AttrValue")()
    try:
        text_format.Parse(text, message.func)
    except text_format.ParseError:
        return {IMPLEMENTS: text}
    return {IMPLEMENTS: message}


def check(attributes):
    """ValueError: tf.function takes no such attribute."""
    for name in attributes:
        if name not in POLYMORPHIC_FUNCTION_ALLOWLIST:
            raise ValueError(f"`{name} is not supported by tf.function as an attribute.")
