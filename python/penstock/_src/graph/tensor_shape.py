"""Static shapes: TensorShape and, in version 1, Dimension."""
import operator
from typing import Any

from penstock._src.graph import dtypes
from penstock._src.base import tf2
from penstock._src.base.mode import mode


def enable_v2_tensorshape():
    """Makes the items of a TensorShape numbers."""
    mode.tensor_shape_v2 = True


def disable_v2_tensorshape():
    """Makes the items of a TensorShape Dimension objects."""
    mode.tensor_shape_v2 = False


def dimension_value(dimension):
    """The number of a Dimension; anything else unchanged."""
    return dimension._value if isinstance(dimension, Dimension) else dimension


def dimension_at_index(shape, index):
    """The Dimension at `index`; an unknown one if the rank is unknown."""
    assert isinstance(shape, TensorShape)
    return Dimension(None) if shape.rank is None else shape.dims[index]


def _number(value):
    """A dimension as an int or None. TypeError, ValueError if it cannot be one."""
    if value is None or type(value) is int and value >= 0:
        return value
    return Dimension(value)._value


def _item(value, dims):
    """_number of an item of something that is no list."""
    try:
        return _number(value)
    except TypeError as e:
        raise TypeError(f"Failed to convert '{dims!r}' to a shape: '{value!r}' could not be converted to a dimension. "
                        "A shape should either be single dimension (e.g. 10), or an iterable of dimensions (e.g. "
                        "[1, 10, None]).") from e


def _arithmetic(compute, swapped=False, strict=False):
    """A method that computes with two dimensions; unknown if either is."""
    def method(self, other):
        try:
            other = _number(other)
        except (TypeError, ValueError):
            if strict:
                raise
            return NotImplemented
        if self._value is None or other is None:
            return Dimension(None)
        return Dimension(compute(other, self._value) if swapped else compute(self._value, other))
    return method


def _comparison(compute):
    """A method that compares two dimensions; None if either is unknown."""
    def method(self, other):
        other = _number(other)
        return None if self._value is None or other is None else compute(self._value, other)
    return method


def _no_true_division(order):
    def method(self, other):
        names = ("Dimension", type(other).__name__) if order == "left" else (type(other).__name__, "Dimension")
        raise TypeError(f"unsupported operand type(s) for /: '{names[0]}' and '{names[1]}', please use // instead")
    return method


class Dimension:
    """The size of one dimension; `value` is None if it is unknown. Arithmetic with the unknown is unknown."""

    __slots__ = ("_value",)

    def __init__(self, value):
        if value is None:
            self._value = None
        elif isinstance(value, Dimension):
            self._value = value._value
        elif isinstance(value, dtypes.DType):
            raise TypeError(f"Cannot convert {value} to Dimension")
        else:
            try:
                self._value = operator.index(value) if tf2.enabled() else int(value)
            except TypeError:
                raise TypeError("Dimension value must be integer or None or have an __index__ method, got value "
                                f"'{value!r}' with type '{type(value)!r}'") from None
            if not isinstance(value, (bytes, str)) and self._value != value:
                raise ValueError(f"Ambiguous dimension: {value}")
            if self._value < 0:
                raise ValueError(f"Dimension {self._value} must be >= 0")

    def __repr__(self):
        return f"Dimension({self._value!r})"

    def __str__(self):
        return "?" if self._value is None else str(self._value)

    def __eq__(self, other):
        try:
            other = _number(other)
        except (TypeError, ValueError):
            return NotImplemented
        return None if self._value is None or other is None else self._value == other

    def __ne__(self, other):
        try:
            other = _number(other)
        except (TypeError, ValueError):
            return NotImplemented
        return None if self._value is None or other is None else self._value != other

    __hash__ = None  # type: ignore[assignment]

    def __bool__(self):
        return bool(self._value) if tf2.enabled() else True

    def __int__(self):
        return self._value

    def __index__(self):
        return self._value

    @property
    def value(self):
        """The size, or None."""
        return self._value

    def is_compatible_with(self, other):
        """Whether the two may be the same size."""
        other = _number(other)
        return self._value is None or other is None or self._value == other

    def assert_is_compatible_with(self, other):
        """ValueError unless the two may be the same size."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Dimensions {self} and {other} are not compatible")

    def merge_with(self, other):
        """What is known of a size that is both. ValueError if it cannot be."""
        other = as_dimension(other)
        self.assert_is_compatible_with(other)
        return Dimension(other._value if self._value is None else self._value)

    __add__ = __radd__ = _arithmetic(lambda x, y: x + y)
    __sub__ = _arithmetic(lambda x, y: x - y)
    __rsub__ = _arithmetic(lambda x, y: x - y, swapped=True, strict=True)
    __mul__ = __rmul__ = _arithmetic(lambda x, y: x * y)
    __floordiv__ = __div__ = _arithmetic(lambda x, y: x // y)
    __rfloordiv__ = _arithmetic(lambda x, y: x // y, swapped=True, strict=True)
    __mod__ = _arithmetic(lambda x, y: x % y, strict=True)
    __rmod__ = _arithmetic(lambda x, y: x % y, swapped=True, strict=True)
    __truediv__ = _no_true_division("left")
    __rtruediv__ = __rdiv__ = _no_true_division("right")
    __lt__ = _comparison(lambda x, y: x < y)
    __le__ = _comparison(lambda x, y: x <= y)
    __gt__ = _comparison(lambda x, y: x > y)
    __ge__ = _comparison(lambda x, y: x >= y)

    def __reduce__(self):
        return Dimension, (self._value,)


def as_dimension(value):
    """The value as a Dimension."""
    return value if isinstance(value, Dimension) else Dimension(value)


class TensorShape:
    """What is known of a tensor's shape: nothing, the rank, or the sizes of some or all dimensions. Immutable."""

    __slots__ = ("_values", "__weakref__")

    def __init__(self, dims):
        if dims is None:
            self._values: Any = None
        elif isinstance(dims, TensorShape):
            self._values = dims._values
        elif isinstance(dims, (bytes, str)):
            raise TypeError("A string has ambiguous TensorShape, please wrap in a list or convert to an int: "
                            f"{dims!s}")
        elif hasattr(dims, "unknown_rank"):
            self._values = None if dims.unknown_rank else tuple(_number(d.size if d.size != -1 else None)
                                                                for d in dims.dim)
        else:
            try:
                items = iter(dims)
            except TypeError:
                self._values = (_number(dims),)
            else:
                self._values = tuple([_number(d) for d in items] if isinstance(dims, (list, tuple)) else
                                     [_item(d, dims) for d in items])

    @classmethod
    def _from_core(cls, dims):
        """Of the runtime's form: None, or a list with -1 for unknown."""
        shape = cls.__new__(cls)
        shape._values = None if dims is None else tuple([None if d < 0 else d for d in dims])
        return shape

    def _to_core(self):
        """The runtime's form."""
        return None if self._values is None else [-1 if d is None else d for d in self._values]

    @property
    def _dims(self):
        return self.dims

    @property
    def _v2_behavior(self):
        return mode.tensor_shape_v2

    def __repr__(self):
        if self._values is None:
            return "TensorShape(None)"
        return f"TensorShape({list(self._values) if mode.tensor_shape_v2 else self.dims!r})"

    def __str__(self):
        if self._values is None:
            return "<unknown>"
        unknown = "None" if mode.tensor_shape_v2 else "?"
        inside = ", ".join(unknown if d is None else str(d) for d in self._values)
        return f"({inside},)" if len(self._values) == 1 else f"({inside})"

    @property
    def rank(self):
        """The number of dimensions, or None."""
        return None if self._values is None else len(self._values)

    ndims = rank

    @property
    def dims(self):
        """A list of Dimension, or None."""
        return None if self._values is None else [Dimension(d) for d in self._values]

    def __len__(self):
        if self._values is None:
            raise ValueError("Cannot take the length of shape with unknown rank.")
        return len(self._values)

    def __bool__(self):
        return self._values is not None

    def __iter__(self):
        if self._values is None:
            raise ValueError("Cannot iterate over a shape with unknown rank.")
        return iter(self._values if mode.tensor_shape_v2 else self.dims)

    def __getitem__(self, key):
        if self._values is not None:
            if isinstance(key, slice):
                return TensorShape(self._values[key])
            value = self._values[key]
            return value if mode.tensor_shape_v2 else Dimension(value)
        if not isinstance(key, slice):
            return None if mode.tensor_shape_v2 else Dimension(None)
        if key.step is not None:
            raise ValueError("Steps are not yet handled")
        start = 0 if key.start is None else key.start
        if key.stop is None or start < 0 or key.stop < 0:
            return unknown_shape()
        return unknown_shape(rank=key.stop - start)

    def num_elements(self):
        """The product of the sizes, or None."""
        if not self.is_fully_defined():
            return None
        size = 1
        for d in self._values:
            size *= d
        return size

    def merge_with(self, other):
        """What is known of a shape that is both. ValueError if there is none."""
        other = as_shape(other)
        if self._values is None:
            return other
        if other._values is None:
            return self
        if len(self._values) != len(other._values) or not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are not compatible")
        return TensorShape([y if x is None else x for x, y in zip(self._values, other._values)])

    def __add__(self, other):
        return self.concatenate(other)

    def __radd__(self, other):
        return as_shape(other).concatenate(self)

    def concatenate(self, other):
        """The dimensions of this shape and then of the other; unknown if either rank is."""
        other = as_shape(other)
        if self._values is None or other._values is None:
            return unknown_shape()
        return TensorShape(self._values + other._values)

    __concat__ = concatenate

    def assert_same_rank(self, other):
        """ValueError if the ranks are known to differ."""
        other = as_shape(other)
        if self.rank is not None and other.rank is not None and self.rank != other.rank:
            raise ValueError(f"Shapes {self} and {other} must have the same rank")

    def assert_has_rank(self, rank):
        """ValueError if the rank is known to be another."""
        if self.rank not in (None, rank):
            raise ValueError(f"Shape {self} must have rank {rank}")

    def with_rank(self, rank):
        """This shape, known to have `rank`. ValueError if it has another."""
        self.assert_has_rank(rank)
        return self if self._values is not None else unknown_shape(rank=rank)

    def with_rank_at_least(self, rank):
        """This shape. ValueError if the rank is known to be smaller."""
        if self.rank is not None and self.rank < rank:
            raise ValueError(f"Shape {self} must have rank at least {rank}")
        return self

    def with_rank_at_most(self, rank):
        """This shape. ValueError if the rank is known to be larger."""
        if self.rank is not None and self.rank > rank:
            raise ValueError(f"Shape {self} must have rank at most {rank}")
        return self

    def is_compatible_with(self, other):
        """Whether some fully defined shape fits both."""
        other = as_shape(other)
        x, y = self._values, other._values
        if x is None or y is None:
            return True
        return len(x) == len(y) and all(a is None or b is None or a == b for a, b in zip(x, y))

    def assert_is_compatible_with(self, other):
        """ValueError unless some fully defined shape fits both."""
        if not self.is_compatible_with(other):
            raise ValueError(f"Shapes {self} and {other} are incompatible")

    def most_specific_compatible_shape(self, other):
        """The most specific shape that both of these are cases of."""
        other = as_shape(other)
        if self._values is None or other._values is None or self.rank != other.rank:
            return unknown_shape()
        return TensorShape([x if x == y else None for x, y in zip(self._values, other._values)])

    def is_subtype_of(self, other):
        """Whether all shapes that are cases of this one are cases of another."""
        if not isinstance(other, TensorShape) or self._values is None:
            return isinstance(other, TensorShape) and other._values is None
        return other._values is None or len(self._values) == len(other._values) and all(
            y is None or x == y for x, y in zip(self._values, other._values))

    def most_specific_common_supertype(self, others):
        """The most specific shape that this one and others are cases of; None if one of them is no shape."""
        found = self
        for other in others:
            if not isinstance(other, TensorShape):
                return None
            found = found.most_specific_compatible_shape(other)
        return found

    def is_fully_defined(self):
        """Whether all sizes are known."""
        return self._values is not None and None not in self._values

    def assert_is_fully_defined(self):
        """ValueError unless all sizes are known."""
        if not self.is_fully_defined():
            raise ValueError(f"Shape {self} is not fully defined")

    def as_list(self):
        """A list of int and None. ValueError if the rank is unknown."""
        if self._values is None:
            raise ValueError("as_list() is not defined on an unknown TensorShape.")
        return list(self._values)

    def as_proto(self):
        """A TensorShapeProto."""
        from penstock import proto
        message = proto.message("tensorflow.TensorShapeProto")()
        if self._values is None:
            message.unknown_rank = True
        else:
            for d in self._values:
                message.dim.add().size = -1 if d is None else d
        return message

    def __eq__(self, other):
        try:
            other = as_shape(other)
        except TypeError:
            return NotImplemented
        if self._values is other._values:
            return True
        if mode.tensor_shape_v2:
            return self._values == other._values
        return self._values == other._values and None not in self._values

    def __ne__(self, other):
        try:
            other = as_shape(other)
        except TypeError:
            return NotImplemented
        if not tf2.enabled() and (self.rank is None or other.rank is None):
            raise ValueError("The inequality of unknown TensorShapes is undefined.")
        return not self == other

    def __hash__(self):
        return hash(self._values)

    def __reduce__(self):
        return TensorShape, (None if self._values is None else list(self._values),)


def as_shape(shape):
    """The value as a TensorShape. TypeError, ValueError if it cannot be one."""
    return shape if isinstance(shape, TensorShape) else TensorShape(shape)


def unknown_shape(rank=None, **kwargs):
    """A shape of which nothing, or only the rank, is known."""
    if rank is None:
        rank = kwargs.pop("ndims", None)
    if kwargs:
        raise TypeError(f"Unknown argument: {kwargs}")
    return TensorShape(None if rank is None else [None] * rank)


def scalar():
    """The shape of a scalar."""
    return TensorShape([])


def vector(length):
    """The shape of a vector."""
    return TensorShape([length])


def matrix(rows, cols):
    """The shape of a matrix."""
    return TensorShape([rows, cols])
