"""tf.types.experimental: what programs annotate with, and ask isinstance of."""
import abc
import typing

import numpy as np

from penstock._src.function.atomic_function import AtomicFunction
from penstock._src.tf_function.def_function import Function
from penstock._src.tf_function.function import ConcreteFunction
from penstock._src.function.function_type import FunctionType
from penstock._src.function.trace_type import SupportsTracingProtocol, TraceType
from penstock._src.graph import tensor
from penstock._src.graph.types import AnyTensor as Tensor

TensorLike = typing.Union[tensor.Tensor, int, float, bool, str, bytes, complex, tuple, list, np.ndarray, np.generic]
GenericFunction = PolymorphicFunction = Function

__all__ = ["AtomicFunction", "Callable", "ConcreteFunction", "FunctionType", "GenericFunction", "PolymorphicFunction",
           "SupportsTracingProtocol", "Tensor", "TensorLike", "TraceType"]


class Callable(abc.ABC):
    """Functions that run as graphs: those that are traced when they are called, and their traces."""


Callable.register(Function)
Callable.register(ConcreteFunction)
Callable.register(AtomicFunction)
