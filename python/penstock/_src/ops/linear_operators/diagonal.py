"""Diagonal operators, and multiples of the identity."""
import numpy as np

from penstock._src.graph import dtypes, errors, gen, ops, tensor_shape, tensor_util
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import check_ops, control_flow_ops
from penstock._src.ops.linalg import linalg_ops
from penstock._src.ops.linear_operators import linear_operator_util as util
from penstock._src.ops.linear_operators.base import LinearOperator, make_composite_tensor

__all__ = ["LinearOperatorDiag", "LinearOperatorIdentity", "LinearOperatorScaledIdentity", "LinearOperatorZeros"]


@make_composite_tensor
class LinearOperatorDiag(LinearOperator):
    """A matrix of which the diagonal is given, and the rest is 0."""

    _composite_tensor_fields = ("diag",)

    _experimental_parameter_ndims_to_matrix_ndims = {"diag": 1}

    def __init__(self, diag, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None, is_square=None,
                 name="LinearOperatorDiag"):
        with ops.name_scope(name, values=[diag]):
            self._diag = util.convert_nonref_to_tensor(diag, name="diag")
            if self._diag.shape.ndims is not None and self._diag.shape.ndims < 1:
                raise ValueError(f"Argument diag must have at least 1 dimension.  Found: {self._diag}")
            if not self._diag.dtype.is_complex:
                if is_self_adjoint is False:
                    raise ValueError("A real diagonal operator is always self adjoint.")
                is_self_adjoint = True
            if is_square is False:
                raise ValueError("Only square diagonal operators currently supported.")
            super().__init__(dtype=self._diag.dtype, graph_parents=[self._diag], is_non_singular=is_non_singular,
                             is_self_adjoint=is_self_adjoint, is_positive_definite=is_positive_definite,
                             is_square=True, name=name)

    @property
    def diag(self):
        return self._diag

    def _shape(self):
        return self._diag.shape.concatenate(self._diag.shape[-1:])

    def _shape_tensor(self):
        shape = array_ops.shape(self._diag)
        return array_ops.concat((shape, [shape[-1]]), 0)

    def _assert_non_singular(self):
        return util.assert_no_entries_with_modulus_zero(
            self._diag, message="Singular operator:  Diagonal contained zero values.")

    def _assert_positive_definite(self):
        if self.dtype.is_complex:
            message = ("Diagonal operator had diagonal entries with non-positive real part, thus was not positive "
                       "definite.")
        else:
            message = "Real diagonal operator had non-positive diagonal entries, thus was not positive definite."
        return check_ops.assert_positive(math_ops.real(self._diag), message=message)

    def _assert_self_adjoint(self):
        return util.assert_zero_imag_part(
            self._diag, message="This diagonal operator contained non-zero imaginary values.   Thus it was not "
                                "self-adjoint.")

    def _factor(self, adjoint):
        return math_ops.conj(self._diag) if adjoint else self._diag

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = linalg_ops.adjoint(x) if adjoint_arg else x
        return array_ops.expand_dims(self._factor(adjoint), -1) * x

    def _matvec(self, x, adjoint=False):
        return self._factor(adjoint) * x

    def _determinant(self):
        return math_ops.reduce_prod(self._diag, axis=[-1])

    def _log_abs_determinant(self):
        log = math_ops.reduce_sum(gen.log(math_ops.abs(self._diag)), axis=[-1])
        return math_ops.cast(log, dtype=self.dtype) if self.dtype.is_complex else log

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        rhs = linalg_ops.adjoint(rhs) if adjoint_arg else rhs
        return rhs * array_ops.expand_dims(1.0 / self._factor(adjoint), -1)

    def _to_dense(self):
        return array_ops.matrix_diag(self._diag)

    def _diag_part(self):
        return self.diag

    def _add_to_tensor(self, x):
        return array_ops.matrix_set_diag(x, self._diag + array_ops.matrix_diag_part(x))

    def _eigvals(self):
        return ops.convert_to_tensor(self.diag)

    def _adjoint(self):
        return LinearOperatorDiag(math_ops.conj(self.diag), **self.hints())

    def _inverse(self):
        return LinearOperatorDiag(1.0 / self.diag, **self.hints())

    def _cholesky(self):
        return LinearOperatorDiag(math_ops.sqrt(self.diag), is_non_singular=True, is_self_adjoint=True,
                                  is_positive_definite=True, is_square=True)


def _check_size(tensor, name, rank, assert_proper_shapes):
    """A number of rows, or a batch shape: the tensor, with assertions if asked for; ValueError for what is known."""
    if assert_proper_shapes:
        tensor = control_flow_ops.with_dependencies(
            [check_ops.assert_rank(tensor, rank, message=f"Argument {name} must be a {rank}-D Tensor."),
             check_ops.assert_non_negative(tensor, message=f"Argument {name} must be non-negative.")], tensor)
    if not tensor.dtype.is_integer:
        raise TypeError(f"Argument {name} must be integer type.  Found: {tensor}")
    known = tensor_util.constant_value(tensor)
    if known is not None:
        if known.ndim != rank:
            raise ValueError(f"Argument {name} must be a {rank}-D Tensor.  Found: {known}")
        if np.any(known < 0):
            raise ValueError(f"Argument {name} must be non-negative.  Found: {known}")
    return tensor


def _not_a_variable(value, name):
    if util.is_ref(value):
        raise TypeError(f"Argument {name} cannot be reference type. Found: {type(value)}")


class _Sized(LinearOperator):
    """An operator that is given by its size, and perhaps the shape of its batch."""

    def _set_sizes(self, num_rows, num_columns, batch_shape, assert_proper_shapes):
        self._assert_proper_shapes = assert_proper_shapes
        for value, name in ((num_rows, "num_rows"), (num_columns, "num_columns"), (batch_shape, "batch_shape")):
            _not_a_variable(value, name)
        num_rows = util.shape_tensor(num_rows, name="num_rows")
        self._rows_known = tensor_util.constant_value(num_rows)
        self._num_rows = _check_size(num_rows, "num_rows", 0, assert_proper_shapes)
        if num_columns is None:
            self._num_columns, self._columns_known = self._num_rows, self._rows_known
        else:
            num_columns = util.shape_tensor(num_columns, name="num_columns")
            self._columns_known = tensor_util.constant_value(num_columns)
            self._num_columns = _check_size(num_columns, "num_columns", 0, assert_proper_shapes)
        self._batch = None
        if batch_shape is not None:
            self._batch = util.shape_tensor(batch_shape, name="batch_shape_arg")
            self._batch_known = tensor_util.constant_value(self._batch)
            self._batch = _check_size(self._batch, "batch_shape", 1, assert_proper_shapes)

    def _shape(self):
        matrix = tensor_shape.TensorShape([self._rows_known, self._columns_known])
        if self._batch is None:
            return matrix
        return tensor_shape.TensorShape(self._batch_known).concatenate(matrix)

    def _shape_tensor(self):
        matrix = array_ops.stack((self._num_rows, self._num_columns), axis=0)
        return matrix if self._batch is None else array_ops.concat((self._batch, matrix), 0)

    def _least_side(self):
        """The lesser of rows and columns, and whether it is known."""
        rows, columns = (tensor_shape.dimension_value(d) for d in (self.range_dimension, self.domain_dimension))
        if rows is not None and columns is not None:
            return min(rows, columns), True
        return math_ops.reduce_min(self.shape_tensor()[-2:]), False

    def _diagonal_shape(self):
        side, known = self._least_side()
        if known and self.batch_shape.is_fully_defined():
            return self.batch_shape.as_list() + [side]
        return array_ops.concat([self.batch_shape_tensor(), [side]], axis=0)

    def _over_batch(self, function):
        shape = self.batch_shape if self.batch_shape.is_fully_defined() else self.batch_shape_tensor()
        return function(shape=shape, dtype=self.dtype)

    def _checked(self, x, adjoint_arg):
        x = linalg_ops.adjoint(x) if adjoint_arg else x
        if self._assert_proper_shapes:
            x = control_flow_ops.with_dependencies([util.assert_compatible_matrix_dimensions(self, x)], x)
        return x

    def _stretched(self, x):
        """x with its batch stretched against this operator's."""
        if self._batch is None:
            return x
        known = self.batch_shape.concatenate([1, 1])
        if known.is_fully_defined():
            if array_ops.broadcast_static_shape(x.shape, known) == x.shape:
                return x
            return x + array_ops.zeros(shape=known, dtype=self.dtype)
        return x + array_ops.zeros(shape=array_ops.concat((self.batch_shape_tensor(), [1, 1]), 0), dtype=self.dtype)


@make_composite_tensor
class LinearOperatorIdentity(_Sized):
    """The identity."""

    _composite_tensor_fields = ("num_rows", "batch_shape", "dtype", "assert_proper_shapes")
    _composite_tensor_prefer_static_fields = ("num_rows", "batch_shape")

    def __init__(self, num_rows, batch_shape=None, dtype=None, is_non_singular=True, is_self_adjoint=True,
                 is_positive_definite=True, is_square=True, assert_proper_shapes=False,
                 name="LinearOperatorIdentity"):
        with ops.name_scope(name):
            if not is_self_adjoint:
                raise ValueError("An identity operator is always self adjoint.")
            if not is_non_singular:
                raise ValueError("An identity operator is always non-singular.")
            if not is_positive_definite:
                raise ValueError("An identity operator is always positive-definite.")
            if not is_square:
                raise ValueError("An identity operator is always square.")
            super().__init__(dtype=dtypes.as_dtype(dtype or dtypes.float32), is_non_singular=True,
                             is_self_adjoint=True, is_positive_definite=True, is_square=True, name=name)
            self._set_sizes(num_rows, None, batch_shape, assert_proper_shapes)

    def _assert_non_singular(self):
        return control_flow_ops.no_op("assert_non_singular")

    def _assert_positive_definite(self):
        return control_flow_ops.no_op("assert_positive_definite")

    def _assert_self_adjoint(self):
        return control_flow_ops.no_op("assert_self_adjoint")

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._stretched(self._checked(x, adjoint_arg))

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._matmul(rhs, adjoint_arg=adjoint_arg)

    def _determinant(self):
        return array_ops.ones(shape=self.batch_shape_tensor(), dtype=self.dtype)

    def _log_abs_determinant(self):
        return array_ops.zeros(shape=self.batch_shape_tensor(), dtype=self.dtype)

    def _trace(self):
        return math_ops.cast(self._least_side()[0], self.dtype) * self._over_batch(array_ops.ones)

    def _diag_part(self):
        return array_ops.ones(shape=self._diagonal_shape(), dtype=self.dtype)

    def _eigvals(self):
        return self._diag_part()

    add_to_tensor = LinearOperator._add_to_matrix

    def _add_to_tensor(self, x):
        return array_ops.matrix_set_diag(x, 1 + array_ops.matrix_diag_part(x))

    def _inverse(self):
        return self

    def _cholesky(self):
        return LinearOperatorIdentity(num_rows=self._num_rows, batch_shape=self._batch, dtype=self.dtype)


@make_composite_tensor
class LinearOperatorScaledIdentity(_Sized):
    """The identity times a number."""

    _composite_tensor_fields = ("num_rows", "multiplier", "assert_proper_shapes")
    _composite_tensor_prefer_static_fields = ("num_rows",)

    _experimental_parameter_ndims_to_matrix_ndims = {"multiplier": 0}

    def __init__(self, num_rows, multiplier, is_non_singular=None, is_self_adjoint=None, is_positive_definite=None,
                 is_square=True, assert_proper_shapes=False, name="LinearOperatorScaledIdentity"):
        with ops.name_scope(name, values=[multiplier, num_rows]):
            self._multiplier = util.convert_nonref_to_tensor(multiplier, name="multiplier")
            if not self._multiplier.dtype.is_complex:
                if is_self_adjoint is False:
                    raise ValueError("A real diagonal operator is always self adjoint.")
                is_self_adjoint = True
            if not is_square:
                raise ValueError("A ScaledIdentity operator is always square.")
            super().__init__(dtype=self._multiplier.dtype.base_dtype, is_non_singular=is_non_singular,
                             is_self_adjoint=is_self_adjoint, is_positive_definite=is_positive_definite,
                             is_square=is_square, name=name)
            self._set_sizes(num_rows, None, None, assert_proper_shapes)

    @property
    def multiplier(self):
        return self._multiplier

    def _shape(self):
        return self.multiplier.shape.concatenate([self._rows_known, self._rows_known])

    def _shape_tensor(self):
        matrix = array_ops.stack((self._num_rows, self._num_rows), axis=0)
        return array_ops.concat((array_ops.shape(self.multiplier), matrix), 0)

    def _assert_non_singular(self):
        return check_ops.assert_positive(math_ops.abs(self.multiplier), message="LinearOperator was singular")

    def _assert_positive_definite(self):
        return check_ops.assert_positive(math_ops.real(self.multiplier),
                                         message="LinearOperator was not positive definite.")

    def _assert_self_adjoint(self):
        imaginary = math_ops.imag(self.multiplier)
        return check_ops.assert_equal(array_ops.zeros_like(imaginary), imaginary,
                                      message="LinearOperator was not self-adjoint")

    def _factor(self, conjugate):
        factor = array_ops.expand_dims(array_ops.expand_dims(self.multiplier, -1), -1)
        return math_ops.conj(factor) if conjugate else factor

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        return self._checked(x, adjoint_arg) * self._factor(adjoint)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        return self._checked(rhs, adjoint_arg) / self._factor(adjoint)

    def _determinant(self):
        return self.multiplier ** math_ops.cast(self._num_rows, self.dtype)

    def _log_abs_determinant(self):
        rows = math_ops.cast(self._num_rows, self.dtype.real_dtype)
        return rows * gen.log(math_ops.abs(self.multiplier))

    def _trace(self):
        side = math_ops.cast(self._least_side()[0], self.dtype)
        return self.multiplier * side * self._over_batch(array_ops.ones)

    def _diag_part(self):
        ones = array_ops.ones(shape=self._diagonal_shape(), dtype=self.dtype)
        return ones * self.multiplier[..., array_ops.newaxis]

    def _eigvals(self):
        return self._diag_part()

    add_to_tensor = LinearOperator._add_to_matrix

    def _add_to_tensor(self, x):
        diagonal = array_ops.expand_dims(self.multiplier, -1) + array_ops.matrix_diag_part(x)
        return array_ops.matrix_set_diag(x, diagonal)

    def _adjoint(self):
        return LinearOperatorScaledIdentity(self._num_rows, math_ops.conj(self.multiplier), **self.hints())

    def _inverse(self):
        return LinearOperatorScaledIdentity(self._num_rows, 1.0 / self.multiplier, **self.hints())

    def _cholesky(self):
        return LinearOperatorScaledIdentity(self._num_rows, math_ops.sqrt(self.multiplier), is_non_singular=True,
                                            is_self_adjoint=True, is_positive_definite=True, is_square=True)


@make_composite_tensor
class LinearOperatorZeros(_Sized):
    """Zeros."""

    _composite_tensor_fields = ("num_rows", "num_columns", "batch_shape", "dtype", "assert_proper_shapes")
    _composite_tensor_prefer_static_fields = ("num_rows", "num_columns", "batch_shape")

    def __init__(self, num_rows, num_columns=None, batch_shape=None, dtype=None, is_non_singular=False,
                 is_self_adjoint=True, is_positive_definite=False, is_square=True, assert_proper_shapes=False,
                 name="LinearOperatorZeros"):
        with ops.name_scope(name):
            if not is_self_adjoint and is_square:
                raise ValueError("A zero operator is always self adjoint.")
            if is_non_singular:
                raise ValueError("A zero operator is always singular.")
            if is_positive_definite:
                raise ValueError("A zero operator is always not positive-definite.")
            super().__init__(dtype=dtypes.as_dtype(dtype or dtypes.float32), is_non_singular=is_non_singular,
                             is_self_adjoint=is_self_adjoint, is_positive_definite=is_positive_definite,
                             is_square=is_square, name=name)
            self._set_sizes(num_rows, num_columns, batch_shape, assert_proper_shapes)

    def _assert_non_singular(self):
        raise errors.InvalidArgumentError(None, None, "Zero operators are always non-invertible.")

    def _assert_positive_definite(self):
        raise errors.InvalidArgumentError(None, None, "Zero operators are always non-positive definite.")

    def _assert_self_adjoint(self):
        return control_flow_ops.no_op("assert_self_adjoint")

    def _matmul(self, x, adjoint=False, adjoint_arg=False):
        x = self._checked(x, adjoint_arg)
        if self.is_square:
            return self._stretched(array_ops.zeros_like(x))
        rows = self._num_columns if adjoint else self._num_rows
        shape = array_ops.concat([array_ops.shape(x)[:-2], [rows, array_ops.shape(x)[-1]]], axis=0)
        result = array_ops.zeros(shape=shape, dtype=x.dtype)
        known = self._columns_known if adjoint else self._rows_known
        if x.shape.ndims is not None:
            result.set_shape(x.shape[:-2].concatenate([known, x.shape[-1]]))
        return self._stretched(result)

    def _determinant(self):
        return self._over_batch(array_ops.zeros)

    def _trace(self):
        return self._over_batch(array_ops.zeros)

    def _diag_part(self):
        return array_ops.zeros(shape=self._diagonal_shape(), dtype=self.dtype)

    def _eigvals(self):
        return self._diag_part()

    def _to_dense(self):
        shape = self.shape.as_list() if self.shape.is_fully_defined() else self.shape_tensor()
        return array_ops.zeros(shape=shape, dtype=self.dtype)

    add_to_tensor = LinearOperator._add_to_matrix

    def _add_to_tensor(self, x):
        return self._stretched(x)

    def _solve(self, rhs, adjoint=False, adjoint_arg=False):
        raise NotImplementedError("Solve is not implemented for an operator of zeros.")
