"""Distributions of matrices that are sums of outer products of normal vectors."""
import math

from penstock._src.graph import dtypes, gen, ops, tensor_util
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import check_ops, control_flow_ops
from penstock._src.ops.random import random_ops
from penstock._src.ops.distributions import distribution, util

__all__ = ["WishartCholesky", "WishartFull"]


class _Wishart(distribution.Distribution):
    """The matrices are L @ A @ transpose(L @ A), with triangles A of normal numbers and roots of gamma ones."""

    def __init__(self, df, scale_tril, cholesky_input_output_matrices, validate_args, allow_nan_stats, parameters,
                 name):
        from penstock._src.ops.linear_operators import dense
        with ops.name_scope(name) as name, ops.name_scope("init", values=[df, scale_tril]):
            self._scale_operator = dense.LinearOperatorLowerTriangular(
                scale_tril, is_non_singular=True, is_positive_definite=True, is_square=True)
            dtype = self._scale_operator.dtype
            if not dtype.is_floating:
                raise TypeError("scale_operator.dtype=%s is not a floating-point type" % dtype)
            self._df = ops.convert_to_tensor(df, dtype=dtype, name="df")
            self._dimension = math_ops.cast(self._scale_operator.domain_dimension_tensor(), dtype, name="dimension")
            known, size = map(tensor_util.constant_value, (self._df, self._dimension))
            message = "Degrees of freedom (df = %s) cannot be less than dimension of scale matrix (%s)"
            if known is not None and size is not None:
                if (known < size).any():
                    raise ValueError(message % (known, size))
            elif validate_args:
                check = check_ops.assert_less_equal(self._dimension, self._df,
                                                    message=message % (self._df, self._dimension))
                self._df = control_flow_ops.with_dependencies([check], self._df)
        self._cholesky = cholesky_input_output_matrices
        super().__init__(dtype, distribution.FULLY_REPARAMETERIZED, validate_args, allow_nan_stats, parameters,
                         [self._df, self._dimension, scale_tril], name)
        self._parameters = parameters

    @property
    def df(self):
        """The degrees of freedom: how many outer products are added up."""
        return self._df

    @property
    def scale_operator(self):
        """The triangle whose outer product is the scale, as a linear operator."""
        return self._scale_operator

    @property
    def cholesky_input_output_matrices(self):
        """Whether draws and values are the lower triangles of the matrices."""
        return self._cholesky

    @property
    def dimension(self):
        """How many rows a matrix has, as a float."""
        return self._dimension

    def _square(self):
        return self.scale_operator.matmul(self.scale_operator.to_dense(), adjoint_arg=True)

    def scale(self):
        """The scale: the matrix or, as draws, its triangle."""
        return self.scale_operator.to_dense() if self._cholesky else self._square()

    def _event_shape_tensor(self):
        size = self.scale_operator.domain_dimension_tensor()
        return array_ops.stack([size, size])

    def _event_shape(self):
        return self.scale_operator.shape[-2:]

    def _batch_shape_tensor(self):
        return self.scale_operator.batch_shape_tensor()

    def _batch_shape(self):
        return self.scale_operator.batch_shape

    def _sample_n(self, n, seed=None):
        shape = array_ops.concat([[n], self.batch_shape_tensor(), self.event_shape_tensor()], 0)
        x = random_ops.random_normal(shape, dtype=self.dtype, seed=seed)
        df = self.df * array_ops.ones(self.batch_shape_tensor(), self.dtype)
        squares = random_ops.random_gamma([n], alpha=self._sequence(0.5 * df), beta=0.5, dtype=self.dtype,
                                          seed=util.gen_new_seed(seed, "wishart"))
        x = array_ops.matrix_set_diag(gen.matrix_band_part(x, -1, 0), math_ops.sqrt(squares))
        x = self.scale_operator.matmul(x)
        return x if self._cholesky else math_ops.matmul(x, x, adjoint_b=True)

    def _log_prob(self, x):
        root = x if self._cholesky else gen.cholesky(x)
        trace = math_ops.reduce_sum(math_ops.square(self.scale_operator.solve(root)), axis=[-2, -1])
        half_log_det = math_ops.reduce_sum(gen.log(array_ops.matrix_diag_part(root)), axis=-1)
        return (self.df - self.dimension - 1.) * half_log_det - 0.5 * trace - self.log_normalization()

    def _prob(self, x):
        return gen.exp(self._log_prob(x))

    def _entropy(self):
        half, half_df = 0.5 * self.dimension + 0.5, 0.5 * self.df
        log_det = self.scale_operator.log_abs_determinant()
        return (self.dimension * (half_df + half * math.log(2.)) + 2 * half * log_det +
                self._multi_lgamma(half_df) + (half - half_df) * self._multi_digamma(half_df))

    def _mean(self):
        if self._cholesky:
            return math_ops.sqrt(self.df) * self.scale_operator.to_dense()
        return self.df * self._square()

    def _variance(self):
        x = math_ops.sqrt(self.df) * self._square()
        d = array_ops.matrix_diag_part(x)[..., None]
        variance = math_ops.square(x) + math_ops.matmul(d, d, adjoint_b=True)
        return gen.cholesky(variance) if self._cholesky else variance

    def _stddev(self):
        if self._cholesky:
            raise ValueError("Computing std. dev. when is cholesky_input_output_matrices=True does not make sense.")
        return gen.cholesky(self.variance())

    def _mode(self):
        s = self.df - self.dimension - 1.
        s = array_ops.where_v2(s < 0., util.nan([], self.dtype), s)
        return math_ops.sqrt(s) * self.scale_operator.to_dense() if self._cholesky else s * self._square()

    def mean_log_det(self, name="mean_log_det"):
        """The expected logarithm of the determinant."""
        with self._name_scope(name):
            return (self._multi_digamma(0.5 * self.df) + self.dimension * math.log(2.) +
                    2 * self.scale_operator.log_abs_determinant())

    def log_normalization(self, name="log_normalization"):
        """The logarithm of what the density is divided by."""
        with self._name_scope(name):
            return (self.df * self.scale_operator.log_abs_determinant() +
                    0.5 * self.df * self.dimension * math.log(2.) + self._multi_lgamma(0.5 * self.df))

    def _sequence(self, a):
        """a, a - 1/2, a - 1, ... for each row of a matrix, along a new last axis."""
        steps = math_ops.range(math_ops.cast(self.dimension, dtypes.int32))
        return a[..., None] - 0.5 * math_ops.cast(steps, self.dtype)

    def _multi_lgamma(self, a):
        p = self.dimension
        return 0.25 * p * (p - 1.) * math.log(math.pi) + math_ops.reduce_sum(gen.lgamma(self._sequence(a)), -1)

    def _multi_digamma(self, a):
        return math_ops.reduce_sum(gen.digamma(self._sequence(a)), -1)


class WishartCholesky(_Wishart):
    """Wishart's matrices of a scale that is given by its lower triangle."""

    def __init__(self, df, scale, cholesky_input_output_matrices=False, validate_args=False, allow_nan_stats=True,
                 name="WishartCholesky"):
        parameters = dict(locals())
        scale = ops.convert_to_tensor(scale, name="scale")
        if validate_args:
            shape = array_ops.shape(scale)
            scale = control_flow_ops.with_dependencies([
                check_ops.assert_positive(array_ops.matrix_diag_part(scale), message="scale must be positive definite"),
                check_ops.assert_equal(shape[-1], shape[-2], message="scale must be square")], scale)
        super().__init__(df, scale, cholesky_input_output_matrices, validate_args, allow_nan_stats, parameters, name)


class WishartFull(_Wishart):
    """Wishart's matrices of a scale that is a symmetric matrix."""

    def __init__(self, df, scale, cholesky_input_output_matrices=False, validate_args=False, allow_nan_stats=True,
                 name="WishartFull"):
        parameters = dict(locals())
        scale = ops.convert_to_tensor(scale, name="scale")
        tril = gen.cholesky(util.assert_symmetric(scale) if validate_args else scale)
        if validate_args:
            check = check_ops.assert_positive(array_ops.matrix_diag_part(tril))
            tril = control_flow_ops.with_dependencies([check], tril)
        super().__init__(df, tril, cholesky_input_output_matrices, validate_args, allow_nan_stats, parameters, name)
