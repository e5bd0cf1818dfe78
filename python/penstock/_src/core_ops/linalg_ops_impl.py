"""The identity matrix."""
import numpy as np

from penstock._src.graph import dtypes, gen, ops
from penstock._src.core_ops import array_ops

__all__ = ["eye"]


def eye(num_rows, num_columns=None, batch_shape=None, dtype=dtypes.float32, name=None):
    """Ones on the diagonal, or a batch of such matrices."""
    with ops.name_scope(name, default_name="eye", values=[num_rows, num_columns, batch_shape]):
        square = num_columns is None
        batch_shape = [] if batch_shape is None else batch_shape
        num_columns = num_rows if num_columns is None else num_columns
        if isinstance(num_rows, ops.Tensor) or isinstance(num_columns, ops.Tensor):
            size = gen.minimum(num_rows, num_columns)
        elif not all(isinstance(n, (int, np.integer)) for n in (num_rows, num_columns)):
            raise TypeError("num_rows and num_columns must be positive integer values.")
        else:
            square = num_rows == num_columns
            size = np.minimum(num_rows, num_columns)
        if isinstance(batch_shape, ops.Tensor) or isinstance(size, ops.Tensor):
            batch_shape = ops.convert_to_tensor(batch_shape, name="shape", dtype=dtypes.int32)
            diagonal = array_ops.concat((batch_shape, [size]), axis=0)
            full = None if square else array_ops.concat((batch_shape, [num_rows, num_columns]), axis=0)
        else:
            diagonal = list(batch_shape) + [size]
            full = list(batch_shape) + [num_rows, num_columns]
        ones = array_ops.ones(diagonal, dtype=dtype)
        if square:
            return array_ops.matrix_diag(ones)
        return array_ops.matrix_set_diag(array_ops.zeros(full, dtype=dtype), ones)
