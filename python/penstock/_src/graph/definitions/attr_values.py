"""Attribute values: from what people write to the form in which the runtime takes them, and from AttrValue messages."""
from penstock import _core
from penstock._src.graph import defaults
from penstock._src.graph import dtypes
from penstock._src.graph import errors
from penstock._src.graph import tensor_shape
from penstock._src.base import compat

# Kinds of attributes, as the C API numbers them.
(TF_ATTR_STRING, TF_ATTR_INT, TF_ATTR_FLOAT, TF_ATTR_BOOL, TF_ATTR_TYPE, TF_ATTR_SHAPE, TF_ATTR_TENSOR,
 TF_ATTR_PLACEHOLDER, TF_ATTR_FUNC) = range(9)


def make_float(value, name):
    """The value as a float. TypeError naming the argument."""
    if not isinstance(value, compat.real_types):
        raise TypeError(f"Expected float for argument '{name}' not {value!r}.")
    return float(value)


def make_int(value, name):
    """The value as an int. TypeError naming the argument; one beyond 64 bits is an OverflowError when eager, else a
    ValueError."""
    if isinstance(value, (str, bytes)):
        raise TypeError(f"Expected int for argument '{name}' not {value!r}.")
    try:
        value = int(value)
    except (ValueError, TypeError):
        raise TypeError(f"Expected int for argument '{name}' not {value!r}.") from None
    if not -2**63 <= value < 2**63:
        if defaults.get_default_graph()._eager:
            raise OverflowError("int too big to convert")
        raise ValueError(f"Value out of range: {value}")
    return value


def make_str(value, name):
    """The value as bytes. TypeError naming the argument."""
    if not isinstance(value, (str, bytes)):
        raise TypeError(f"Expected string for argument '{name}' not {value!r}.")
    return compat.as_bytes(value)


def make_bool(value, name):
    """The value, which must be a bool. TypeError naming the argument."""
    if not isinstance(value, bool):
        raise TypeError(f"Expected bool for argument '{name}' not {value!r}.")
    return value


def make_type(value, name):
    """The number of a base type. TypeError naming the argument."""
    try:
        return dtypes.as_dtype(value)._base
    except TypeError:
        raise TypeError(f"Expected DataType for argument '{name}' not {value!r}.") from None


def make_shape(value, name):
    """A shape in the runtime's form. TypeError, ValueError naming the argument."""
    try:
        return tensor_shape.as_shape(value)._to_core()
    except (TypeError, ValueError) as e:
        raise type(e)(f"Error converting {name} to a TensorShape: {e}") from None


def make_tensor(value, name):
    """A runtime tensor of a TensorProto or an array. TypeError naming the argument."""
    if isinstance(value, _core.Tensor):
        return value
    if hasattr(value, "tensor_shape") and hasattr(value, "SerializeToString"):
        return _core.tensor_from_proto(value.SerializeToString())
    raise TypeError(f"Don't know how to convert {value!r} to a TensorProto for argument '{name}'")


def make_func(value, name):
    """A function reference of a name, a NameAttrList, or a function object, which is added to the default graph."""
    if isinstance(value, _core.Func):
        return value
    if isinstance(value, (str, bytes)):
        return _core.Func(compat.as_str(value))
    if hasattr(value, "add_to_graph"):
        value.add_to_graph(defaults.get_default_graph())
        return _core.Func(compat.as_str(value.name))
    if hasattr(value, "attr") and hasattr(value, "SerializeToString"):
        return _core.Func(value.name, {k: v.SerializeToString() for k, v in value.attr.items()})
    raise TypeError(f"Don't know how to convert {value} to a func for argument {name}")


_MAKERS = {"int": make_int, "float": make_float, "bool": make_bool, "string": make_str, "type": make_type,
           "shape": make_shape, "tensor": make_tensor, "func": make_func}


def check_allowed_type(number, allowed, name):
    """TypeError, naming the argument, if the type with this number is not among `allowed`."""
    if allowed is not None and number not in allowed:
        names = ", ".join(dtypes._TYPE_TO_STRING.get(x, str(x)) for x in allowed)
        raise TypeError(f"Value passed to parameter '{name}' has DataType {dtypes._TYPE_TO_STRING[number]} not in list "
                        f"of allowed values: {names}")


class Attr:
    """How one attribute of an op is made of what people write."""

    __slots__ = ("name", "op", "function", "kind", "is_list", "make", "allowed", "minimum", "has_default", "default")

    def __init__(self, definition, op, function):
        self.name = definition.name
        self.op = op
        self.function = function
        self.is_list = definition.type.startswith("list(")
        self.kind = definition.type[5:-1] if self.is_list else definition.type
        self.make = _MAKERS[self.kind]
        self.allowed = definition.allowed
        self.minimum = definition.minimum if definition.has_minimum else None
        self.has_default = definition.has_default
        self.default = definition.default if definition.has_default else None

    def __call__(self, value):
        """The value in the runtime's form, checked. TypeError, ValueError naming op and attribute; when eager,
        InvalidArgumentError instead of ValueError, as in TensorFlow, whose runtime does these checks then."""
        if self.is_list:
            if getattr(value, "_is_eager", False):
                value = value.numpy().tolist()
            if not isinstance(value, (list, tuple)):
                raise TypeError(f"Expected list for '{self.name}' argument to '{self.function}' Op, not {value!r}.")
            if self.minimum is not None and len(value) < self.minimum:
                self._refuse(f"passed list of length {len(value)} less than minimum {self.minimum}.",
                             f"Length for attr '{self.name}' of {len(value)} must be at least minimum {self.minimum}")
            return [self._checked(self.make(item, self.name)) for item in value]
        value = self._checked(self.make(value, self.name))
        if self.minimum is not None and value < self.minimum:
            self._refuse(f"passed {value} less than minimum {self.minimum}.",
                         f"Value for attr '{self.name}' of {value} must be at least minimum {self.minimum}")
        return value

    def _refuse(self, in_graphs, eager):
        if defaults.get_default_graph()._eager:
            raise errors.InvalidArgumentError(None, None, f"{eager} [Op:{self.op}]")
        raise ValueError(f"Attr '{self.name}' of '{self.op}' Op {in_graphs}")

    def _checked(self, value):
        if self.allowed is None:
            return value
        if self.kind == "type":
            check_allowed_type(value, self.allowed, self.name)
        elif value not in self.allowed:
            names = '", "'.join(map(compat.as_text, self.allowed))
            text = compat.as_text(value)
            self._refuse(
                f"passed string '{text}' not in: \"{names}\".",
                f"Value for attr '{self.name}' of \"{text}\" is not in the list of allowed values: \"{names}\"")
        return value


def from_message(value, kind):
    """An AttrValue message in the runtime's form, given the attribute's type in the definition."""
    if kind.startswith("list("):
        return [_item(kind[5:-1], item) for item in getattr(value.list, _FIELDS[kind[5:-1]])]
    return _item(kind, getattr(value, _FIELDS[kind]))


_FIELDS = {"int": "i", "float": "f", "bool": "b", "string": "s", "type": "type", "shape": "shape", "tensor": "tensor",
           "func": "func"}


def _item(kind, item):
    if kind == "shape":
        return None if item.unknown_rank else [d.size for d in item.dim]
    if kind in ("tensor", "func"):
        return _MAKERS[kind](item, "")
    return item


def split(graph, op_type, attrs):
    """(attributes in the runtime's form, AttrValue messages that have to be set on the node afterwards)."""
    plain, messages = {}, {}
    for name, value in attrs.items():
        if not hasattr(value, "WhichOneof"):
            plain[name] = value
            continue
        kind = graph._attr_type(op_type, name)
        if kind is not None:
            plain[name] = from_message(value, kind)
        else:
            messages[name] = value
    return plain, messages
