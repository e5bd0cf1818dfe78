"""Operators that a Fourier transform makes diagonal: circulant ones, nested or not, and Toeplitz matrices in them."""
import numpy as np

from penstock._src.graph import dtypes, gen, ops, tensor_shape
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import check_ops
from penstock._src.ops.linalg import linalg_ops
from penstock._src.ops.linear_operators import linear_operator_util as util
from penstock._src.ops.linear_operators.base import LinearOperator, make_composite_tensor

__all__ = ["LinearOperatorCirculant", "LinearOperatorCirculant2D", "LinearOperatorCirculant3D",
           "LinearOperatorToeplitz"]
_TRANSFORMS = {1: "fft", 2: "fft2d", 3: "fft3d"}


def _to_complex(x):
    wide = x.dtype.base_dtype in (dtypes.float64, dtypes.complex128)
    return math_ops.cast(x, dtypes.complex128 if wide else dtypes.complex64)


class _Circulant(LinearOperator):
    """F^-1 diag(spectrum) F, with F the Fourier transform along the last `block_depth` dimensions of the spectrum."""

    block_depth = 1

    def __init__(self, spectrum, input_output_dtype, is_non_singular, is_self_adjoint, is_positive_definite, is_square,
                 name):
        with ops.name_scope(name, values=[spectrum]):
            self._spectrum = ops.convert_to_tensor(spectrum, name="spectrum")
            if self._spectrum.shape.ndims is not None and self._spectrum.shape.ndims < self.block_depth:
                raise ValueError(f"Argument spectrum must have at least {self.block_depth} dimensions.  "
                                 f"Found: {self._spectrum}")
            if not self._spectrum.dtype.is_complex:
                if is_self_adjoint is False:
                    raise ValueError("A real spectrum always corresponds to a self-adjoint operator.")
                is_self_adjoint = True
            if is_square is False:
                raise ValueError("A [[nested] block] circulant operator is always square.")
            super().__init__(dtype=input_output_dtype, graph_parents=[self._spectrum], is_non_singular=is_non_singular,
                             is_self_adjoint=is_self_adjoint, is_positive_definite=is_positive_definite,
                             is_square=True, name=name)

    @property
    def spectrum(self):
        return self._spectrum

    @property
    def block_shape(self):
        return self._spectrum.shape[-self.block_depth:]

    def block_shape_tensor(self):
        """The shape of the spectrum's last `block_depth` dimensions."""
        return array_ops.shape(self._spectrum)[-self.block_depth:]

    def _shape(self):
        if self._spectrum.shape.ndims is None:
            return tensor_shape.TensorShape(None)
        n = self.block_shape.num_elements()
        return self._spectrum.shape[:-self.block_depth].concatenate([n, n])

    def _shape_tensor(self):
        n = math_ops.reduce_prod(self.block_shape_tensor())
        return array_ops.concat((array_ops.shape(self._spectrum)[:-self.block_depth], [n, n]), 0)

    def convolution_kernel(self, name="convolution_kernel"):
        """The kernel of which the spectrum is the Fourier transform: the first column, as a grid."""
        with self._name_scope(name):
            return math_ops.cast(self._transform_back(_to_complex(self._spectrum)), self.dtype)

    def _transform(self, x):
        return getattr(gen, _TRANSFORMS[self.block_depth])(x)

    def _transform_back(self, x):
        return getattr(gen, "i" + _TRANSFORMS[self.block_depth])(x)

    def assert_hermitian_spectrum(self, name="assert_hermitian_spectrum"):
        """An op that fails if the matrix is not real."""
        eps = np.finfo(self.dtype.real_dtype.as_numpy_dtype).eps
        with self._name_scope(name):
            greatest = eps * math_ops.cast(self.domain_dimension_tensor(), self.dtype.real_dtype)
            return check_ops.assert_less(math_ops.abs(math_ops.imag(self.convolution_kernel())), greatest,
                                         message="Spectrum was not Hermitian")

    def _assert_non_singular(self):
        return util.assert_no_entries_with_modulus_zero(
            self._spectrum, message="Singular operator:  Spectrum contained zero values.")

    def _assert_positive_definite(self):
        return check_ops.assert_positive(
            math_ops.real(self._spectrum),
            message="Not positive definite:  Real part of spectrum was not all positive.")

    def _assert_self_adjoint(self):
        return util.assert_zero_imag_part(
            self._spectrum, message="Not self-adjoint:  The spectrum contained non-zero imaginary part.")

    def _between_transforms(self, x, adjoint, adjoint_arg, combine):
        """combine(transform of x's columns, spectrum), transformed back."""
        rows = _to_complex(math_ops.conj(x) if adjoint_arg else array_ops.matrix_transpose(x))  # what were columns
        spectrum = _to_complex(self._spectrum)
        spectrum = array_ops.expand_dims(math_ops.conj(spectrum) if adjoint else spectrum, -1 - self.block_depth)
        grid = array_ops.reshape(rows, array_ops.concat([array_ops.shape(rows)[:-1], self.block_shape_tensor()], 0))
        result = self._transform_back(combine(self._transform(math_ops.cast(grid, spectrum.dtype)), spectrum))
        shape = array_ops.concat([array_ops.shape(result)[:-self.block_depth], array_ops.shape(rows)[-1:]], 0)
        result = math_ops.cast(array_ops.matrix_transpose(array_ops.reshape(result, shape)), self.dtype)
        if rows.shape.ndims is not None and self.shape.ndims is not None:
            batch = array_ops.broadcast_static_shape(rows.shape[:-2], self.batch_shape)
            result.set_shape(batch.concatenate([rows.shape[-1], rows.shape[-2]]))
        return result

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._between_transforms(x, adjoint, adjoint_arg, lambda a, b: a * b)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._between_transforms(rhs, adjoint, adjoint_arg, lambda a, b: a / b)

    def _over_blocks(self, reduce, values):
        return math_ops.cast(reduce(values, axis=list(range(-self.block_depth, 0))), self.dtype)

    def _determinant(self):
        return self._over_blocks(math_ops.reduce_prod, self._spectrum)

    def _log_abs_determinant(self):
        return self._over_blocks(math_ops.reduce_sum, gen.log(math_ops.abs(self._spectrum)))

    def _trace(self):
        return self._over_blocks(math_ops.reduce_sum, self._spectrum)

    def _diag_part(self):
        mean = self.trace() / math_ops.cast(self.domain_dimension_tensor(), self.dtype)  # all elements are the same
        ones = array_ops.ones(self.shape_tensor()[:-1], dtype=self.dtype)
        ones.set_shape(self.shape[:-1])
        return mean[..., array_ops.newaxis] * ones

    def _eigvals(self):
        return self._spectrum

    def _with_spectrum(self, spectrum):
        return type(self)(spectrum, input_output_dtype=self.dtype, **self.hints())

    def _adjoint(self):
        return self._with_spectrum(math_ops.conj(self._spectrum))

    def _inverse(self):
        return self._with_spectrum(1.0 / self._spectrum)


@make_composite_tensor
class LinearOperatorCirculant(_Circulant):
    """A matrix each row of which is the one above it, turned by one place, given by its first column's transform."""

    _composite_tensor_fields = ("spectrum", "input_output_dtype")

    _experimental_parameter_ndims_to_matrix_ndims = {"spectrum": 1}

    def __init__(self, spectrum, input_output_dtype=dtypes.complex64, is_non_singular=None, is_self_adjoint=None,
                 is_positive_definite=None, is_square=True, name="LinearOperatorCirculant"):
        super().__init__(spectrum, input_output_dtype, is_non_singular, is_self_adjoint, is_positive_definite,
                         is_square, name)


@make_composite_tensor
class LinearOperatorCirculant2D(_Circulant):
    """A matrix of circulant blocks that are themselves arranged as a circulant matrix."""

    _composite_tensor_fields = ("spectrum", "input_output_dtype")

    block_depth = 2

    _experimental_parameter_ndims_to_matrix_ndims = {"spectrum": 2}

    def __init__(self, spectrum, input_output_dtype=dtypes.complex64, is_non_singular=None, is_self_adjoint=None,
                 is_positive_definite=None, is_square=True, name="LinearOperatorCirculant2D"):
        super().__init__(spectrum, input_output_dtype, is_non_singular, is_self_adjoint, is_positive_definite,
                         is_square, name)


@make_composite_tensor
class LinearOperatorCirculant3D(_Circulant):
    """Circulant blocks within circulant blocks within a circulant matrix."""

    _composite_tensor_fields = ("spectrum", "input_output_dtype")

    block_depth = 3

    _experimental_parameter_ndims_to_matrix_ndims = {"spectrum": 3}

    def __init__(self, spectrum, input_output_dtype=dtypes.complex64, is_non_singular=None, is_self_adjoint=None,
                 is_positive_definite=None, is_square=True, name="LinearOperatorCirculant3D"):
        super().__init__(spectrum, input_output_dtype, is_non_singular, is_self_adjoint, is_positive_definite,
                         is_square, name)


@make_composite_tensor
class LinearOperatorToeplitz(LinearOperator):
    """A matrix with the same value all along each diagonal, given by its first column and first row."""

    _composite_tensor_fields = ("col", "row")

    _experimental_parameter_ndims_to_matrix_ndims = {"col": 1, "row": 1}

    def __init__(self, col, row, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
                 name="LinearOperatorToeplitz"):
        with ops.name_scope(name, values=[row, col]):
            self._row = ops.convert_to_tensor(row, name="row")
            self._col = ops.convert_to_tensor(col, name="col")
            for what, tensor in (("row", self._row), ("col", self._col)):
                if tensor.shape.ndims is not None and tensor.shape.ndims < 1:
                    raise ValueError(f"Argument {what} must have at least 1 dimension.  Found: {tensor}")
            if not tensor_shape.dimension_at_index(self._row.shape, -1).is_compatible_with(
                    tensor_shape.dimension_at_index(self._col.shape, -1)):
                raise ValueError("Expected square matrix, got row and col with mismatched dimensions.")
            if is_square is False:
                raise ValueError("Only square Toeplitz operators currently supported.")
            super().__init__(dtype=self._row.dtype, graph_parents=[self._row, self._col],
                             is_non_singular=is_non_singular, is_self_adjoint=is_self_adjoint,
                             is_positive_definite=is_positive_definite, is_square=True, name=name)
            # A circulant matrix twice as large, of which this is the upper left quarter.
            row, col = self._row + array_ops.zeros_like(self._col), self._col + array_ops.zeros_like(self._row)
            column = array_ops.concat([col, array_ops.zeros_like(col[..., :1]),
                                       array_ops.reverse(row[..., 1:], axis=[-1])], axis=-1)
            self._circulant = LinearOperatorCirculant(gen.fft(_to_complex(column)), input_output_dtype=self.dtype)

    @property
    def col(self):
        return self._col

    @property
    def row(self):
        return self._row

    def _shape(self):
        shape = array_ops.broadcast_static_shape(self._row.shape, self._col.shape)
        return shape.concatenate(shape[-1:])

    def _shape_tensor(self):
        shape = array_ops.broadcast_dynamic_shape(array_ops.shape(self._row), array_ops.shape(self._col))
        return array_ops.concat((shape, shape[-1:]), 0)

    def _assert_self_adjoint(self):
        return check_ops.assert_equal(self._row, self._col, message="row and col are not the same, and so this "
                                                                    "operator is not self-adjoint.")

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = linalg_ops.adjoint(x) if adjoint_arg else x
        longer = array_ops.concat([x, array_ops.zeros_like(x)], axis=-2)
        return self._circulant.matmul(longer, adjoint=adjoint)[..., :self.domain_dimension_tensor(), :]

    def _trace(self):
        return math_ops.reduce_sum(self.diag_part(), axis=-1)

    def _diag_part(self):
        return self._col[..., :1] * array_ops.ones(self.shape_tensor()[:-1], self.dtype)
