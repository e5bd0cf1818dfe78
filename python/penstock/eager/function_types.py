"""tf.types.experimental: what programs annotate with, and ask isinstance of."""
import abc
import typing

import numpy as np

from penstock.eager.def_function import Function
from penstock.eager.function import ConcreteFunction
from penstock.eager.function_type import FunctionType
from penstock.framework import tensor
from penstock.framework.types import AnyTensor as Tensor

TensorLike = typing.Union[tensor.Tensor, int, float, bool, str, bytes, complex, tuple, list, np.ndarray, np.generic]
GenericFunction = PolymorphicFunction = Function

__all__ = ["Callable", "ConcreteFunction", "FunctionType", "GenericFunction", "PolymorphicFunction", "Tensor",
           "TensorLike", "TraceType"]


class Callable(abc.ABC):
    """Functions that run as graphs: those that are traced when they are called, and their traces."""


Callable.register(Function)
Callable.register(ConcreteFunction)


class TraceType(abc.ABC):
    """What a tf.function knows of an argument of a library's own type: which arguments may share a trace."""

    @abc.abstractmethod
    def is_subtype_of(self, other):
        """Whether a trace for `other` serves this one."""

    @abc.abstractmethod
    def most_specific_common_supertype(self, others):
        """The most specific type that all are cases of, or None."""

    @abc.abstractmethod
    def placeholder_value(self, placeholder_context=None):
        """What stands for the argument while the function is traced."""
