"""The affine map that cells of contrib share."""
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import init_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.nn import nn_activation
from penstock._src.ops.state import variable_scope as vs


class Linear:
    """`kernel` and, if wanted, `bias` in the current variable scope: args, side by side, times kernel plus bias, which
    is left out unless `add_bias`."""

    def __init__(self, args, output_size, build_bias=True, bias_initializer=None, kernel_initializer=None,
                 add_bias=True):
        args = args if isinstance(args, (list, tuple)) else [args]
        shapes = [a.shape for a in args]
        if any(shape.ndims != 2 for shape in shapes):
            raise ValueError(f"linear is expecting 2D arguments: {shapes}")
        depths = [shape.as_list()[1] for shape in shapes]
        for shape, depth in zip(shapes, depths):
            if depth is None:
                raise ValueError(f"linear expects shape[1] to be provided for shape {shape}, but saw {depth}")
        dtype = args[0].dtype
        with vs.variable_scope(vs.get_variable_scope()) as scope:
            self._kernel = vs.get_variable("kernel", [sum(depths), output_size], dtype=dtype,
                                           initializer=kernel_initializer)
            self._bias, self._adds_bias = None, add_bias
            if build_bias:
                with vs.variable_scope(scope) as inner:
                    inner.set_partitioner(None)
                    if bias_initializer is None:
                        bias_initializer = init_ops.constant_initializer(0.0, dtype=dtype)
                    self._bias = vs.get_variable("bias", [output_size], dtype=dtype, initializer=bias_initializer)

    def __call__(self, args):
        args = args if isinstance(args, (list, tuple)) else [args]
        joined = args[0] if len(args) == 1 else array_ops.concat(args, 1)
        product = math_ops.matmul(joined, self._kernel)
        return product if self._bias is None or not self._adds_bias else nn_activation.bias_add(product, self._bias)
