"""What is known of a value before it is there."""
import numpy as np

from penstock.framework import dtypes
from penstock.framework.tensor import Tensor
from penstock.framework.tensor_spec import TensorSpec
from penstock.util import compat


def type_spec_from_value(value):
    """The TensorSpec of a tensor, a variable or a value that becomes a tensor. TypeError if there is none."""
    if isinstance(value, Tensor):
        return TensorSpec(value.shape, value.dtype)
    if isinstance(value, (np.ndarray, np.generic)):
        return TensorSpec(value.shape, dtypes.as_dtype(value.dtype))
    if isinstance(value, (bool, int, float, complex) + compat.bytes_or_text_types + (list, tuple)):
        from penstock.framework import tensor_values
        array, dtype, shape = tensor_values.to_array(value)
        return TensorSpec(shape, dtype)
    if hasattr(value, "dtype") and hasattr(value, "shape"):
        return TensorSpec(value.shape, value.dtype)
    raise TypeError(f"Could not build a TypeSpec for {value!r} with type {type(value).__name__}")
