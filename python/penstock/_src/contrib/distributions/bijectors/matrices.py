"""Bijectors of matrices, and those that multiply vectors by one."""
import numpy as np

from penstock._src.graph import constant_op, dtypes, gen, ops, tensor_shape
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import check_ops, control_flow_ops
from penstock._src.ops.linalg import linalg_ops
from penstock._src.ops.distributions import bijector, util
from penstock._src.contrib.distributions import scales
from penstock._src.contrib.distributions.bijectors import composite, elementwise

__all__ = ["Affine", "AffineLinearOperator", "CholeskyOuterProduct", "FillTriangular", "MatrixInverseTriL", "ScaleTriL",
           "TransformDiagonal"]


class AffineLinearOperator(bijector.Bijector):
    """y = scale @ x + shift for vectors x, the scale a LinearOperator; either may be left out.

    TypeError if the scale is none, or of another type than the shift; ValueError if `validate_args` meets an operator
    that is not known to have an inverse.
    """

    def __init__(self, shift=None, scale=None, validate_args=False, name="affine_linear_operator"):
        from penstock._src.ops.linear_operators import base
        with ops.name_scope(name), ops.name_scope("init", values=[shift]):
            dtype, parents = dtypes.float32, []
            if shift is not None:
                shift = ops.convert_to_tensor(shift, name="shift")
                dtype, parents = shift.dtype.base_dtype, [shift]
            if scale is not None:
                if shift is not None and shift.dtype.base_dtype != scale.dtype.base_dtype:
                    raise TypeError("shift.dtype(%s) is incompatible with scale.dtype(%s)." %
                                    (shift.dtype, scale.dtype))
                if not isinstance(scale, base.LinearOperator):
                    raise TypeError("scale is not an instance of tf.LinearOperator")
                if validate_args and not scale.is_non_singular:
                    raise ValueError("Scale matrix must be non-singular.")
                dtype, parents = scale.dtype.base_dtype, parents + list(scale.graph_parents)
            self._shift, self._scale = shift, scale
        super().__init__(graph_parents=parents, forward_min_event_ndims=1, is_constant_jacobian=True, dtype=dtype,
                         validate_args=validate_args, name=name)

    @property
    def shift(self):
        """What is added."""
        return self._shift

    @property
    def scale(self):
        """What is multiplied by."""
        return self._scale

    def _checks(self):
        try:
            return [self.scale.assert_non_singular()] if self.validate_args else []
        except NotImplementedError:
            return []

    def _forward(self, x):
        if self.scale is not None:
            with ops.control_dependencies(self._checks()):
                x = self.scale.matvec(x)
        return x if self.shift is None else x + self.shift

    def _inverse(self, y):
        x = y if self.shift is None else y - self.shift
        return x if self.scale is None else self.scale.solvevec(x)

    def _forward_log_det_jacobian(self, x):
        if self.scale is None:
            return constant_op.constant(0., dtype=x.dtype.base_dtype)
        with ops.control_dependencies(self._checks()):
            return self.scale.log_abs_determinant()


class Affine(AffineLinearOperator):
    """y = scale @ x + shift for vectors x.

    The scale is `scale_identity_multiplier` times the identity, plus diag(scale_diag), plus the triangle `scale_tril`,
    plus scale_perturb_factor @ diag(scale_perturb_diag) @ transpose(scale_perturb_factor), of those that are given.
    """

    def __init__(self, shift=None, scale_identity_multiplier=None, scale_diag=None, scale_tril=None,
                 scale_perturb_factor=None, scale_perturb_diag=None, validate_args=False, name="affine"):
        if scale_perturb_diag is not None and scale_perturb_factor is None:
            raise ValueError("When scale_perturb_diag is specified, scale_perturb_factor must be specified.")
        multiplier = None
        with ops.name_scope(name), ops.name_scope("init", values=[
                shift, scale_identity_multiplier, scale_diag, scale_tril, scale_perturb_diag, scale_perturb_factor]):
            if shift is not None:
                shift = ops.convert_to_tensor(shift, name="shift")
            if scale_tril is None and scale_diag is None and scale_perturb_factor is None:
                # Only here may vectors have any length.
                if scale_identity_multiplier is None:
                    scale_identity_multiplier = constant_op.constant(
                        1., dtypes.float32 if shift is None else shift.dtype.base_dtype)
                multiplier = ops.convert_to_tensor(scale_identity_multiplier, name="identity_multiplier")
                if validate_args:
                    check = check_ops.assert_none_equal(multiplier, array_ops.zeros([], multiplier.dtype),
                                                        ["identity_multiplier should be non-zero."])
                    multiplier = control_flow_ops.with_dependencies([check], multiplier)
                scale = None
            else:
                scale = scales.low_rank(
                    shift, scale_tril, scale_diag, scale_identity_multiplier, scale_perturb_factor, scale_perturb_diag,
                    validate_args)
        super().__init__(shift, scale, validate_args, name)
        self._multiplier = multiplier
        if multiplier is not None:
            self._dtype = multiplier.dtype.base_dtype
            self._graph_parents = [multiplier] + self._graph_parents

    @property
    def scale(self):
        """What is multiplied by: a LinearOperator, or a tensor if it is only a multiple of the identity."""
        return self._scale if self._multiplier is None else self._multiplier

    def _forward(self, x):
        if self._multiplier is None:
            return super()._forward(x)
        x = x * self._multiplier
        return x if self.shift is None else x + self.shift

    def _inverse(self, y):
        if self._multiplier is None:
            return super()._inverse(y)
        return (y if self.shift is None else y - self.shift) / self._multiplier

    def _forward_log_det_jacobian(self, x):
        if self._multiplier is None:
            return super()._forward_log_det_jacobian(x)
        size = math_ops.cast(array_ops.shape(x)[-1], self._multiplier.dtype)
        return gen.log(math_ops.abs(self._multiplier)) * size


class CholeskyOuterProduct(bijector.Bijector):
    """y = x @ transpose(x) for lower triangular matrices with a positive diagonal."""

    def __init__(self, validate_args=False, name="cholesky_outer_product"):
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _squares(self, x):
        shape = array_ops.shape(x)
        return [check_ops.assert_rank_at_least(x, 2, message="Input must be a (batch of) matrix."),
                check_ops.assert_equal(shape[-2], shape[-1], message="Input must be a (batch of) square matrix.")]

    def _forward(self, x):
        if self.validate_args:
            x = control_flow_ops.with_dependencies(self._squares(x), x)
        x = gen.matrix_band_part(x, -1, 0)
        return math_ops.matmul(x, x, adjoint_b=True)

    def _inverse(self, y):
        return gen.cholesky(y)

    def _forward_log_det_jacobian(self, x):
        diag = array_ops.matrix_diag_part(x)
        if self.validate_args:
            positive = check_ops.assert_positive(diag, message="Input must be positive definite.")
            diag = control_flow_ops.with_dependencies(self._squares(x) + [positive], diag)
        size = array_ops.shape(x)[-1]
        exponents = math_ops.cast(size - math_ops.range(size), x.dtype)
        return (math_ops.cast(size, x.dtype) * np.log(2.) +
                math_ops.reduce_sum(gen.log(diag) * exponents, axis=-1))


class FillTriangular(bijector.Bijector):
    """Vectors of n (n + 1) / 2 numbers as triangular matrices."""

    def __init__(self, upper=False, validate_args=False, name="fill_triangular"):
        self._upper = upper
        super().__init__(forward_min_event_ndims=1, inverse_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x):
        return util.fill_triangular(x, upper=self._upper)

    def _inverse(self, y):
        return util.fill_triangular_inverse(y, upper=self._upper)

    def _forward_log_det_jacobian(self, x):
        return array_ops.zeros_like(x[..., 0])

    def _inverse_log_det_jacobian(self, y):
        return array_ops.zeros_like(y[..., 0, 0])

    def _forward_event_shape(self, input_shape):
        size = tensor_shape.dimension_value(input_shape[-1])
        n = None
        if size is not None:
            n = round((np.sqrt(1 + 8 * size) - 1) / 2)
            if n * (n + 1) // 2 != size:
                raise ValueError("Vector length is not a triangular number.")
        return input_shape[:-1].concatenate([n, n])

    def _inverse_event_shape(self, output_shape):
        rows, columns = map(tensor_shape.dimension_value, output_shape[-2:])
        if None not in (rows, columns) and rows != columns:
            raise ValueError("Matrix must be square. (saw [%s, %s])" % (rows, columns))
        return output_shape[:-2].concatenate([None if None in (rows, columns) else rows * (rows + 1) // 2])

    def _forward_event_shape_tensor(self, input_shape_tensor):
        root = math_ops.sqrt(1. + 8. * math_ops.cast(input_shape_tensor[-1], dtypes.float32))
        n = math_ops.cast((root - 1.) / 2., input_shape_tensor.dtype)
        if self.validate_args:
            check = check_ops.assert_equal(n * (n + 1) // 2, input_shape_tensor[-1],
                                           message="Vector length is not a triangular number")
            n = control_flow_ops.with_dependencies([check], n)
        return array_ops.concat([input_shape_tensor[:-1], [n, n]], axis=0)

    def _inverse_event_shape_tensor(self, output_shape_tensor):
        n = output_shape_tensor[-1]
        if self.validate_args:
            check = check_ops.assert_equal(n, output_shape_tensor[-2], message="Matrix must be square.")
            n = control_flow_ops.with_dependencies([check], n)
        return array_ops.concat([output_shape_tensor[:-2], [n * (n + 1) // 2]], axis=0)


class MatrixInverseTriL(bijector.Bijector):
    """The inverse of lower triangular matrices. Its log |det J| is that for any matrices, as in TensorFlow."""

    def __init__(self, validate_args=False, name="matrix_inverse_tril"):
        super().__init__(forward_min_event_ndims=2, validate_args=validate_args, name=name)

    def _checks(self, x):
        if not self.validate_args:
            return []
        shape, diag = array_ops.shape(x), array_ops.matrix_diag_part(x)
        above = gen.matrix_band_part(array_ops.matrix_set_diag(x, array_ops.zeros_like(diag)), 0, -1)
        return [
            check_ops.assert_rank_at_least(x, 2, message="Input must have rank at least 2."),
            check_ops.assert_equal(shape[-2], shape[-1], message="Input must be a square matrix."),
            check_ops.assert_equal(above, array_ops.zeros_like(above), message="Input must be lower triangular."),
            check_ops.assert_none_equal(diag, array_ops.zeros_like(diag),
                                        message="Input must have all diagonal entries nonzero.")]

    def _forward(self, x):
        with ops.control_dependencies(self._checks(x)):
            shape = array_ops.shape(x)
            return gen.matrix_triangular_solve(
                x, linalg_ops.eye(shape[-1], batch_shape=shape[:-2], dtype=x.dtype), lower=True)

    def _inverse(self, y):
        return self._forward(y)

    def _forward_log_det_jacobian(self, x):
        with ops.control_dependencies(self._checks(x)):
            logs = gen.log(math_ops.abs(array_ops.matrix_diag_part(x)))
            return -2. * math_ops.cast(array_ops.shape(x)[-1], x.dtype) * math_ops.reduce_sum(logs, axis=-1)


class TransformDiagonal(bijector.Bijector):
    """Matrices with their diagonal put through a bijector."""

    def __init__(self, diag_bijector, validate_args=False, name="transform_diagonal"):
        self._diag_bijector = diag_bijector
        super().__init__(forward_min_event_ndims=2, inverse_min_event_ndims=2, validate_args=validate_args, name=name)

    def _forward(self, x):
        return array_ops.matrix_set_diag(x, self._diag_bijector.forward(array_ops.matrix_diag_part(x)))

    def _inverse(self, y):
        return array_ops.matrix_set_diag(y, self._diag_bijector.inverse(array_ops.matrix_diag_part(y)))

    def _forward_log_det_jacobian(self, x):
        return self._diag_bijector.forward_log_det_jacobian(array_ops.matrix_diag_part(x), event_ndims=1)

    def _inverse_log_det_jacobian(self, y):
        return self._diag_bijector.inverse_log_det_jacobian(array_ops.matrix_diag_part(y), event_ndims=1)


class ScaleTriL(composite.Chain):
    """Vectors as lower triangular matrices whose diagonal `diag_bijector` (softplus) and `diag_shift` make positive."""

    def __init__(self, diag_bijector=None, diag_shift=1e-5, validate_args=False, name="scale_tril"):
        diag_bijector = diag_bijector or elementwise.Softplus(validate_args=validate_args)
        if diag_shift is not None:
            diag_bijector = composite.Chain([elementwise.AffineScalar(shift=diag_shift), diag_bijector])
        super().__init__([TransformDiagonal(diag_bijector=diag_bijector), FillTriangular()],
                         validate_args=validate_args, name=name)
