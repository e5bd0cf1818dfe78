"""The tracing protocol: what a program's own objects say of themselves when a tf.function is called with them."""
import abc
import typing

from penstock._src.graph import dtypes
from penstock._src.graph import tensor_shape
from penstock._src.graph import type_spec


class TraceType(abc.ABC):
    """What a tf.function knows of an argument of a program's own type: which arguments may share a trace. It has to be
    hashable and comparable."""

    @abc.abstractmethod
    def is_subtype_of(self, other):
        """Whether a trace for `other` serves this one."""

    @abc.abstractmethod
    def most_specific_common_supertype(self, others):
        """The most specific type that all are cases of, or None."""

    @abc.abstractmethod
    def placeholder_value(self, placeholder_context=None):
        """What stands for the argument while the function is traced."""

    @abc.abstractmethod
    def __hash__(self):
        """That of types which are equal."""

    @abc.abstractmethod
    def __eq__(self, other):
        """Whether two types are one."""


for _type in (type_spec.TypeSpec, tensor_shape.TensorShape, dtypes.DType):
    TraceType.register(_type)


@typing.runtime_checkable
class SupportsTracingProtocol(typing.Protocol):
    """Objects that say which of them share a trace."""

    @abc.abstractmethod
    def __tf_tracing_type__(self, context):
        """The TraceType of the object. context: of the call, for what the object is made of."""


class TracingContext:
    """What `__tf_tracing_type__` is given."""


class PlaceholderContext:
    """What `placeholder_value` is given."""


def of(value):
    """The TraceType that a value is, or says that it has; None if it says nothing. TypeError: it says another thing."""
    kind = type(value)
    ask = getattr(kind, "__tf_tracing_type__", None)
    if ask is None:
        return value if TraceType in kind.__mro__ else None
    found = ask(value, TracingContext())
    if not isinstance(found, TraceType):
        raise TypeError(f"Expected an instance of TraceType for Tracing Protocol call to {value} but got {found}")
    return found


def placeholder(value):
    """What a function is traced with for an argument."""
    found = of(value)
    return value if found is None else found.placeholder_value(PlaceholderContext())
