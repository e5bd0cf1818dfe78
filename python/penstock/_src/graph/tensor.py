"""The output of a node, with Python's operators."""
from typing import TYPE_CHECKING, Any, Callable

from penstock._src.graph import defaults
from penstock._src.graph import dispatch
from penstock._src.graph import tensor_like
from penstock._src.graph import tensor_shape
from penstock._src.base import tf2
from penstock._src.graph import types
from penstock._src.graph.errors import OperatorNotAllowedInGraphError
from penstock._src.base.mode import disable_tensor_equality, enable_tensor_equality, mode  # noqa: F401
from penstock._src.base import hooks


def _not_allowed(beginning, use):
    """The error of an operator of Python that needs a value."""
    if not tf2.enabled():
        return OperatorNotAllowedInGraphError(
            f"{beginning} {'a ' if use else ''}`tf.Tensor`{use} is not allowed in Graph execution. Use Eager execution "
            "or decorate this function with @tf.function.")
    return OperatorNotAllowedInGraphError(
        f"{beginning.capitalize()} a symbolic `tf.Tensor`{use} is not allowed. You can attempt the following "
        "resolutions to the problem: If you are running in Graph mode, use Eager execution mode or decorate this "
        "function with @tf.function. If you are using AutoGraph, you can try decorating this function with "
        "@tf.function. If that does not work, then you may be using an unsupported feature or your source code may not "
        "be visible to AutoGraph.")


_generated, _operators = hooks.Hook("generated"), hooks.Hook("operators")


class _UseEquality:
    """Whether `==` compares elements, as programs read it of the class."""

    def __get__(self, instance, owner):
        return mode.tensor_equality


class _NumpyMember:
    """What NumPy's arrays have and tensors lack until experimental_enable_numpy_behavior puts it here."""

    def __set_name__(self, owner, name):
        self._name = name

    def __get__(self, instance, owner):
        raise AttributeError(f"{owner.__name__} object has no attribute '{self._name}'. If you are looking for "
                             "numpy-related methods, please run the following: "
                             "tf.experimental.numpy.experimental_enable_numpy_behavior()")


class Tensor(types.AnyTensor, tensor_like._TensorLike):
    """An output of an Operation: a value that each step computes anew."""

    OVERLOADABLE_OPERATORS = {
        "__add__", "__radd__", "__sub__", "__rsub__", "__mul__", "__rmul__", "__div__", "__rdiv__", "__truediv__",
        "__rtruediv__", "__floordiv__", "__rfloordiv__", "__mod__", "__rmod__", "__lt__", "__le__", "__gt__", "__ge__",
        "__ne__", "__eq__", "__and__", "__rand__", "__or__", "__ror__", "__xor__", "__rxor__", "__getitem__", "__pow__",
        "__rpow__", "__invert__", "__neg__", "__abs__", "__matmul__", "__rmatmul__"}

    if TYPE_CHECKING:  # of eager tensors
        _as_array: Callable[[], Any]
        _dims: tuple[int, ...]

    __array_priority__ = 100
    _is_eager = False
    _USE_EQUALITY = _UseEquality()

    def __init__(self, op, value_index, dtype):
        self._op = op
        self._value_index = value_index
        self._dtype = dtype
        try:
            self._key = (op._node, value_index)
        except AttributeError:
            raise TypeError(f"op needs to be an Operation: {op!r}") from None

    # Neither here nor in EagerTensor is there a __getattr__: it would make every hasattr of what tensors lack slow.
    T, astype, clip, data, ravel, reshape, size, tolist, transpose = (_NumpyMember() for _ in range(9))

    @property
    def op(self):
        """The operation that makes it."""
        return self._op

    @property
    def dtype(self):
        """The type of its elements."""
        return self._dtype

    @property
    def graph(self):
        """The graph that it is in."""
        return self._op._graph

    @property
    def name(self):
        """OPERATION:INDEX."""
        return f"{self._op._name}:{self._value_index}"

    @property
    def device(self):
        """The device asked for its operation; "" if none is."""
        return self._op.device

    @property
    def value_index(self):
        """Which output of its operation it is."""
        return self._value_index

    @property
    def shape(self):
        """The static shape."""
        return tensor_shape.TensorShape._from_core(self._op._graph._core.shape(*self._key))

    def get_shape(self):
        """The static shape."""
        return self.shape

    _shape = shape

    @property
    def ndim(self):
        """The rank, or -1 if it is not known."""
        rank = self.shape.ndims
        return -1 if rank is None else rank

    def set_shape(self, shape):
        """Adds what is known about the shape. ValueError if it contradicts what is known already."""
        from penstock._src.graph import errors
        try:
            self._op._graph._core.set_shape(*self._key, tensor_shape.as_shape(shape)._to_core())
        except errors.InvalidArgumentError:
            raise ValueError(self._contradiction(tensor_shape.as_shape(shape))) from None

    def _contradiction(self, given):
        """Why the shape cannot be `given` too."""
        known = self.shape
        if known.rank != given.rank:
            return f"Shapes must be equal rank, but are {known.rank} and {given.rank}"
        told = ["[" + ",".join("?" if n is None else str(n) for n in shape.as_list()) + "]" for shape in (known, given)]
        at, a, b = next((i, a, b) for i, (a, b) in enumerate(zip(known.as_list(), given.as_list()))
                        if None not in (a, b) and a != b)
        return f"Dimension {at} in both shapes must be equal, but are {a} and {b}. Shapes are {told[0]} and {told[1]}."

    def _shape_as_list(self):
        values = self.shape._values
        return None if values is None else list(values)

    def _shape_tuple(self):
        return self.shape._values

    def _rank(self):
        return self.shape.rank

    @property
    def _id(self):
        return id(self)

    def consumers(self):
        """The operations that take it as an input."""
        graph = self._op._graph
        return [graph._ops[node] for node in graph._core.consumers(*self._key)]

    def _as_node_def_input(self):
        return self._op._name if self._value_index == 0 else self.name

    def eval(self, feed_dict=None, session=None):
        """Its value in `session`, or the default session. ValueError if there is none or it has another graph."""
        return self.graph._session_for(self, session, "eval").run(self, feed_dict)

    def experimental_ref(self):
        """A hashable stand-in, equal only to itself."""
        from penstock._src.base import object_identity
        return object_identity.Reference(self)

    ref = experimental_ref

    def __str__(self):
        text = f'Tensor("{self.name}"'
        shape = self.shape
        if shape.rank is not None:
            text += f", shape={shape}"
        text += f", dtype={self._dtype.name}"
        if self.device:
            text += f", device={self.device}"
        return text + ")"

    def __repr__(self):
        return f"<tf.Tensor '{self.name}' shape={self.shape} dtype={self._dtype.name}>"

    def _compares_elements(self):
        """Whether == asks for each element: in version 2, unless it is a tensor of a graph for sessions."""
        if not mode.tensor_equality:
            return False
        return self._op._graph._building_function and defaults.executing_eagerly_outside_functions()

    def __hash__(self):
        if self._compares_elements():
            raise TypeError("Tensor is unhashable. Instead, use tensor.ref() as the key.")
        return id(self)

    def __eq__(self, other):
        if not isinstance(self, Tensor):
            return dispatch.of_borrowed("__operators__.eq", self, other)
        if other is not None and self._compares_elements():
            if mode.type_promotion != "off":
                self, other = _operators.get()._promoted(self, other)
            if not isinstance(other, Tensor) and hasattr(other, "row_splits"):
                return NotImplemented  # a ragged tensor compares itself
            return _generated.get().equal(self, other, incompatible_shape_error=False)
        return self is other

    def __ne__(self, other):
        if not isinstance(self, Tensor):
            return dispatch.of_borrowed("__operators__.ne", self, other)
        if other is not None and self._compares_elements():
            if mode.type_promotion != "off":
                self, other = _operators.get()._promoted(self, other)
            if not isinstance(other, Tensor) and hasattr(other, "row_splits"):
                return NotImplemented  # a ragged tensor compares itself
            return _generated.get().not_equal(self, other, incompatible_shape_error=False)
        return self is not other

    def __copy__(self):
        copy = Tensor.__new__(type(self))
        copy.__dict__.update(self.__dict__)
        return copy

    def __deepcopy__(self, memo):
        return self

    def __iter__(self):
        raise _not_allowed("iterating over", "")

    def __bool__(self):
        raise _not_allowed("using", " as a Python `bool`")

    __nonzero__ = __bool__  # Python 2's name, which some programs look for

    def __len__(self):
        tensor = f"a symbolic Tensor ({self.name})." if tf2.enabled() else f"symbolic Tensors. ({self.name})"
        raise TypeError(f"len is not well defined for {tensor} Please call `x.shape` rather than `len(x)` for shape "
                        "information.")

    def __array__(self, dtype=None, copy=None):
        if tf2.enabled():
            raise NotImplementedError(
                f"Cannot convert a symbolic tf.Tensor ({self.name}) to a numpy array. This error may indicate that "
                "you're trying to pass a Tensor to a NumPy call, which is not supported.")
        raise NotImplementedError(f"Cannot convert a symbolic Tensor ({self.name}) to a numpy array.")

    @staticmethod
    def _override_operator(operator, func):
        """Makes `func` the operator. ValueError if it is not one that may be overloaded."""
        if operator not in Tensor.OVERLOADABLE_OPERATORS:
            raise ValueError(f"Overriding {operator} is disallowed")
        if operator not in ("__eq__", "__ne__"):
            setattr(Tensor, operator, func)


def _late(operator):
    """An operator that loads the ops, which put their own in its place, and then calls that."""
    def first_use(self, *args):
        _operators.get()
        found = getattr(Tensor, operator)
        if found is first_use:
            raise NotImplementedError(f"no op stands for {operator} of a Tensor")
        return found(self, *args)
    first_use.__name__ = operator
    return first_use


for _operator in Tensor.OVERLOADABLE_OPERATORS - {"__eq__", "__ne__"}:
    setattr(Tensor, _operator, _late(_operator))


_tensor_like_types: tuple[type, ...] = (Tensor,)


def register_dense_tensor_like_type(tensor_type):
    """Makes objects of a type count as tensors; it must have properties `name` and `dtype`. TypeError if not."""
    global _tensor_like_types
    for field in ("name", "dtype"):
        if not isinstance(getattr(tensor_type, field, None), property):
            raise TypeError(f"Type {tensor_type.__name__} does not define a `{field}` property")
    _tensor_like_types += (tensor_type,)


def is_dense_tensor_like(value):
    """Whether `value` is a tensor or behaves like one (a variable)."""
    return isinstance(value, _tensor_like_types) or getattr(value, "_is_dense_tensor_like", False)
