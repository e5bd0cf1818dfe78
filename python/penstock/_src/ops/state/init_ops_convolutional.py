"""Initializers that make a convolution preserve the norm of what it is applied to (Xiao et al., 2018)."""
import itertools

from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.core_ops import array_ops
from penstock._src.core_ops import linalg_ops_impl
from penstock._src.core_ops import math_ops
from penstock._src.ops.random import random_ops
from penstock._src.ops.state.init_ops import Initializer, _assert_float_dtype, random_orthogonal


def _check_filters(shape):
    if shape[-2] > shape[-1]:
        raise ValueError("In_filters cannot be greater than out_filters.")


class ConvolutionDeltaOrthogonal(Initializer):
    """Zero but at the centre of the kernel, where an orthogonal matrix stands."""
    _config = ("gain", "seed", "dtype")

    def __init__(self, gain=1.0, seed=None, dtype=dtypes.float32):
        self.gain = gain
        self.dtype = _assert_float_dtype(dtype)
        self.seed = seed

    def __call__(self, shape, dtype=None, partition_info=None):
        if dtype is None:
            dtype = self.dtype
        if len(shape) < 3 or len(shape) > 5:
            raise ValueError("The tensor to initialize must be at least three-dimensional and at most five-dimensional")
        _check_filters(shape)
        q = random_orthogonal([shape[-1]] * 2, dtype, self.seed)[:shape[-2], :]
        q *= math_ops.cast(self.gain, dtype=dtype)
        centre = [(size - 1) // 2 for size in shape[:-2]]
        return gen.scatter_nd([centre], array_ops.expand_dims(q, 0), shape)


class ConvolutionOrthogonal(Initializer):
    """An orthogonal kernel in `_dimensions` spatial dimensions: a product of kernels of size 2 made of projections."""
    _config = ("gain", "seed", "dtype")
    _dimensions = None
    _words = {1: "three", 2: "four", 3: "five"}

    def __init__(self, gain=1.0, seed=None, dtype=dtypes.float32):
        self.gain = gain
        self.dtype = _assert_float_dtype(dtype)
        self.seed = seed

    def __call__(self, shape, dtype=None, partition_info=None):
        if self._dimensions is None:
            raise NotImplementedError
        if dtype is None:
            dtype = self.dtype
        if len(shape) != self._dimensions + 2:
            raise ValueError("The tensor to initialize must be %s-dimensional" % self._words[self._dimensions])
        _check_filters(shape)
        if len(set(shape[:-2])) > 1:
            raise ValueError("Kernel sizes must be equal.")
        kernel = self._orthogonal_kernel(shape[0], shape[-2], shape[-1])
        return kernel * math_ops.cast(self.gain, dtype=dtype)

    def _next_seed(self):
        if self.seed:
            self.seed += 1

    def _orthogonal_matrix(self, n):
        q = random_orthogonal([n, n], self.dtype, self.seed)
        self._next_seed()
        return q

    def _symmetric_projection(self, n):
        q = self._orthogonal_matrix(n)
        kept = math_ops.cast(random_ops.random_normal([n], seed=self.seed) > 0, self.dtype)
        self._next_seed()
        columns = math_ops.multiply(q, kept)
        return math_ops.matmul(columns, array_ops.matrix_transpose(columns))

    def _kernel_of_two(self, n):
        """{position: matrix}: at each position the product of p or 1 - p over the axes."""
        projections = [self._symmetric_projection(n) for _ in range(self._dimensions)]
        eye = linalg_ops_impl.eye(n, dtype=self.dtype)
        itself = 1 if self._dimensions == 3 else 0  # the index that stands for p, by convention
        kernel = {}
        for position in itertools.product((0, 1), repeat=self._dimensions):
            factors = [p if i == itself else eye - p for i, p in zip(position, projections)]
            product = factors[0]
            for factor in factors[1:]:
                product = math_ops.matmul(product, factor)
            kernel[position] = product
        return kernel

    def _convolved(self, a, b, n):
        """The kernel that applies `b` and then `a`."""
        out = {}
        for (i, x), (j, y) in itertools.product(sorted(a.items(), key=lambda e: e[0]),
                                                sorted(b.items(), key=lambda e: e[0])):
            at = tuple(p + q for p, q in zip(i, j))
            product = math_ops.matmul(x, y)
            out[at] = out[at] + product if at in out else product
        return out

    def _orthogonal_kernel(self, size, channels_in, channels_out):
        rows = self._orthogonal_matrix(channels_out)[0:channels_in, :]
        if size == 1:
            for _ in range(self._dimensions):
                rows = array_ops.expand_dims(rows, 0)
            return rows
        kernel = self._kernel_of_two(channels_out)
        for _ in range(size - 2):
            kernel = self._convolved(kernel, self._kernel_of_two(channels_out), channels_out)
        kernel = {at: math_ops.matmul(rows, matrix) for at, matrix in kernel.items()}
        return self._stacked(kernel, size, ())

    def _stacked(self, kernel, size, at):
        if len(at) == self._dimensions:
            return kernel[at]
        return array_ops.stack([self._stacked(kernel, size, at + (i,)) for i in range(size)])


class ConvolutionOrthogonal1D(ConvolutionOrthogonal):
    """Filters [width, inputs, outputs] of an orthogonal convolution."""
    _dimensions = 1


class ConvolutionOrthogonal2D(ConvolutionOrthogonal):
    """Filters [height, width, inputs, outputs] of an orthogonal convolution."""
    _dimensions = 2


class ConvolutionOrthogonal3D(ConvolutionOrthogonal):
    """Filters [depth, height, width, inputs, outputs] of an orthogonal convolution."""
    _dimensions = 3
