"""Distributions of what bijectors make of others: vectors with a scale, numbers in bounds or with heavy tails."""
import numpy as np

from penstock._src.graph import constant_op, gen, ops
from penstock._src.core_ops import array_ops, math_ops, special_math_ops
from penstock._src.control_flow import check_ops, control_flow_ops
from penstock._src.ops.distributions import (
    distribution as distribution_lib, exponential, kullback_leibler, laplace, normal, transformed_distribution, uniform)
from penstock._src.contrib.distributions import scales, vectors
from penstock._src.contrib.distributions.bijectors import composite, elementwise, matrices

__all__ = ["ConditionalDistribution", "ConditionalTransformedDistribution", "Kumaraswamy",
           "MultivariateNormalDiagPlusLowRank", "MultivariateNormalDiagWithSoftplusScale",
           "MultivariateNormalFullCovariance", "MultivariateNormalLinearOperator", "MultivariateNormalTriL",
           "SinhArcsinh", "VectorExponentialDiag", "VectorExponentialLinearOperator",
           "VectorLaplaceDiag", "VectorLaplaceLinearOperator", "VectorSinhArcsinhDiag"]


class ConditionalDistribution(distribution_lib.Distribution):
    """One whose draws and densities take further arguments by name."""

    def sample(self, sample_shape=(), seed=None, name="sample", **condition_kwargs):
        """Draws: a tensor of sample_shape + batch_shape + event_shape."""
        return self._call_sample_n(sample_shape, seed, name, **condition_kwargs)

    def log_prob(self, value, name="log_prob", **condition_kwargs):
        """The logarithm of the density, or mass, at `value`."""
        return self._call_log_prob(value, name, **condition_kwargs)

    def prob(self, value, name="prob", **condition_kwargs):
        """The density, or mass, at `value`."""
        return self._call_prob(value, name, **condition_kwargs)

    def log_cdf(self, value, name="log_cdf", **condition_kwargs):
        """The logarithm of P[X <= value]."""
        return self._call_log_cdf(value, name, **condition_kwargs)

    def cdf(self, value, name="cdf", **condition_kwargs):
        """P[X <= value]."""
        return self._call_cdf(value, name, **condition_kwargs)

    def log_survival_function(self, value, name="log_survival_function", **condition_kwargs):
        """The logarithm of P[X > value]."""
        return self._call_log_survival_function(value, name, **condition_kwargs)

    def survival_function(self, value, name="survival_function", **condition_kwargs):
        """P[X > value]."""
        return self._call_survival_function(value, name, **condition_kwargs)


class ConditionalTransformedDistribution(ConditionalDistribution, transformed_distribution.TransformedDistribution):
    """`TransformedDistribution` whose methods take `bijector_kwargs` and `distribution_kwargs`."""


class _Scaled(transformed_distribution.TransformedDistribution):
    """scale @ z + loc for vectors z of independent draws of `_base`; the scale is a LinearOperator."""

    _VARIANCE = 1.  # of a draw of the base

    def __init__(self, loc=None, scale=None, validate_args=False, allow_nan_stats=True, name=None):
        parameters = dict(locals())
        name = name or type(self).__name__
        if scale is None:
            raise ValueError("Missing required `scale` parameter.")
        if not scale.dtype.is_floating:
            raise TypeError("`scale` parameter must have floating-point dtype.")
        with ops.name_scope(name, values=[loc] + list(scale.graph_parents)) as name:
            loc = None if loc is None else ops.convert_to_tensor(loc, name="loc", dtype=scale.dtype)
            batch_shape, event_shape = _shapes(loc, scale)
            base = self._base(constant_op.constant(0., scale.dtype), constant_op.constant(1., scale.dtype))
        super().__init__(
            base, matrices.AffineLinearOperator(shift=loc, scale=scale, validate_args=validate_args),
            batch_shape=batch_shape, event_shape=event_shape, validate_args=validate_args, name=name)
        self._parameters = parameters
        self._allow_nan_stats = allow_nan_stats

    @property
    def loc(self):
        """What is added; None is 0."""
        return self.bijector.shift

    @property
    def scale(self):
        """The linear operator."""
        return self.bijector.scale

    def _zeros(self):
        return array_ops.zeros(array_ops.concat([self.batch_shape_tensor(), self.event_shape_tensor()], 0), self.dtype)

    def _mean(self):
        return self._zeros() if self.loc is None else array_ops.identity(self.loc) + self._zeros()

    def _mode(self):
        return self._mean()

    def _covariance(self):
        if _is_diagonal(self.scale):
            return self._VARIANCE * array_ops.matrix_diag(math_ops.square(self.scale.diag_part()))
        return self._VARIANCE * self.scale.matmul(self.scale.to_dense(), adjoint_arg=True)

    def _variance(self):
        if _is_diagonal(self.scale):
            return self._VARIANCE * math_ops.square(self.scale.diag_part())
        return array_ops.matrix_diag_part(self._covariance())

    def _stddev(self):
        return math_ops.sqrt(self._variance())


def _is_diagonal(scale):
    from penstock._src.ops.linear_operators import diagonal
    return isinstance(scale, (diagonal.LinearOperatorDiag, diagonal.LinearOperatorIdentity,
                              diagonal.LinearOperatorScaledIdentity))


def _shapes(loc, scale):
    """(batch shape, event shape) of vectors with a location and a scale: arrays where they are known."""
    event = scale.range_dimension_tensor()[None] if scale.shape.ndims is None else scale.shape[-1:]
    event = event.as_list() if not hasattr(event, "dtype") and event.is_fully_defined() else \
        scale.range_dimension_tensor()[None]
    known = scale.batch_shape
    if loc is not None:
        known = array_ops.broadcast_static_shape(known, loc.shape.with_rank_at_least(1)[:-1])
    if known.is_fully_defined():
        return np.array(known.as_list(), np.int32), event
    batch = scale.batch_shape_tensor()
    if loc is not None:
        batch = array_ops.broadcast_dynamic_shape(batch, array_ops.shape(loc)[:-1])
    return batch, event


class MultivariateNormalLinearOperator(_Scaled):
    """Normal vectors with mean `loc` and covariance scale @ transpose(scale).

    ValueError without a scale, TypeError for one of integers.
    """

    def __init__(self, loc=None, scale=None, validate_args=False, allow_nan_stats=True,
                 name="MultivariateNormalLinearOperator"):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    _base = staticmethod(normal.Normal)


class MultivariateNormalTriL(MultivariateNormalLinearOperator):
    """Normal vectors with mean `loc` and covariance scale_tril @ transpose(scale_tril); without a scale it is 1."""

    def __init__(self, loc=None, scale_tril=None, validate_args=False, allow_nan_stats=True,
                 name="MultivariateNormalTriL"):
        parameters = dict(locals())
        if loc is None and scale_tril is None:
            raise ValueError("Must specify one or both of `loc`, `scale_tril`.")
        from penstock._src.ops.linear_operators import dense
        with ops.name_scope(name) as name, ops.name_scope("init", values=[loc, scale_tril]):
            loc = None if loc is None else ops.convert_to_tensor(loc, name="loc")
            if scale_tril is None:
                scale = scales.make_diag_scale(loc, validate_args=validate_args)
            else:
                # What is above the diagonal is not looked at.
                scale = dense.LinearOperatorLowerTriangular(
                    ops.convert_to_tensor(scale_tril, name="scale_tril"), is_non_singular=True, is_self_adjoint=False,
                    is_positive_definite=False)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = parameters


class MultivariateNormalFullCovariance(MultivariateNormalTriL):
    """Normal vectors with mean `loc` and a covariance matrix; without one it is 1."""

    def __init__(self, loc=None, covariance_matrix=None, validate_args=False, allow_nan_stats=True,
                 name="MultivariateNormalFullCovariance"):
        parameters = dict(locals())
        with ops.name_scope(name) as name, ops.name_scope("init", values=[loc, covariance_matrix]):
            if covariance_matrix is not None:
                covariance_matrix = ops.convert_to_tensor(covariance_matrix, name="covariance_matrix")
                if validate_args:
                    check = check_ops.assert_near(covariance_matrix, array_ops.matrix_transpose(covariance_matrix),
                                                  message="Matrix was not symmetric")
                    covariance_matrix = control_flow_ops.with_dependencies([check], covariance_matrix)
                covariance_matrix = gen.cholesky(covariance_matrix)
        super().__init__(loc, covariance_matrix, validate_args, allow_nan_stats, name)
        self._parameters = parameters


class MultivariateNormalDiagPlusLowRank(MultivariateNormalLinearOperator):
    """Normal vectors with mean `loc`, whose scale is diag(scale_diag + scale_identity_multiplier) and
    scale_perturb_factor @ diag(scale_perturb_diag) @ transpose(scale_perturb_factor)."""

    def __init__(self, loc=None, scale_diag=None, scale_identity_multiplier=None, scale_perturb_factor=None,
                 scale_perturb_diag=None, validate_args=False, allow_nan_stats=True,
                 name="MultivariateNormalDiagPlusLowRank"):
        parameters = dict(locals())
        given = [loc, scale_diag, scale_identity_multiplier, scale_perturb_factor, scale_perturb_diag]
        with ops.name_scope(name) as name, ops.name_scope("init", values=given):
            loc = None if loc is None else ops.convert_to_tensor(loc, name="loc")
            scale = scales.low_rank(loc, None, scale_diag, scale_identity_multiplier, scale_perturb_factor,
                                    scale_perturb_diag, validate_args,
                                    assert_positive=scale_perturb_factor is not None)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = parameters


def _kl_normal_vectors(a, b, name=None):
    with ops.name_scope(name, "kl_mvn"):
        ratio = b.scale.solve(a.scale.to_dense())
        distance = b.scale.solvevec(b.mean() - a.mean())
        size = math_ops.cast(a.scale.domain_dimension_tensor(), a.dtype)
        return (b.scale.log_abs_determinant() - a.scale.log_abs_determinant() +
                0.5 * (math_ops.reduce_sum(math_ops.square(ratio), axis=[-2, -1]) - size +
                       math_ops.reduce_sum(math_ops.square(distance), axis=-1)))


for _pair in ((MultivariateNormalLinearOperator, MultivariateNormalLinearOperator),
              (MultivariateNormalLinearOperator, vectors.MultivariateNormalDiag),
              (vectors.MultivariateNormalDiag, MultivariateNormalLinearOperator)):
    kullback_leibler.RegisterKL(*_pair)(_kl_normal_vectors)


class VectorLaplaceLinearOperator(_Scaled):
    """scale @ z + loc for vectors z of Laplace's numbers."""

    _VARIANCE = 2.
    _base = staticmethod(laplace.Laplace)

    def __init__(self, loc=None, scale=None, validate_args=False, allow_nan_stats=True,
                 name="VectorLaplaceLinearOperator"):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)


class VectorExponentialLinearOperator(_Scaled):
    """scale @ z + loc for vectors z of exponential numbers."""

    def __init__(self, loc=None, scale=None, validate_args=False, allow_nan_stats=True,
                 name="VectorExponentialLinearOperator"):
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)

    @staticmethod
    def _base(loc, scale):
        return exponential.Exponential(rate=scale)

    def _mean(self):
        mean = self.scale.matvec(array_ops.ones_like(self._zeros()))
        return mean if self.loc is None else self.loc + mean

    def _mode(self):
        return self._zeros() if self.loc is None else self.loc + self._zeros()


def _diag_scale(loc, scale_diag, scale_identity_multiplier):
    with ops.name_scope("init", values=[loc, scale_diag, scale_identity_multiplier]):
        loc = None if loc is None else ops.convert_to_tensor(loc, name="loc")
        return loc, scales.make_diag_scale(loc, scale_diag, scale_identity_multiplier)


class VectorLaplaceDiag(VectorLaplaceLinearOperator):
    """Vectors of independent numbers of Laplace's distribution."""

    def __init__(self, loc=None, scale_diag=None, scale_identity_multiplier=None, validate_args=False,
                 allow_nan_stats=True, name="VectorLaplaceDiag"):
        parameters = dict(locals())
        with ops.name_scope(name) as name:
            loc, scale = _diag_scale(loc, scale_diag, scale_identity_multiplier)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = parameters


class VectorExponentialDiag(VectorExponentialLinearOperator):
    """Vectors of independent exponential numbers, scaled and shifted."""

    def __init__(self, loc=None, scale_diag=None, scale_identity_multiplier=None, validate_args=False,
                 allow_nan_stats=True, name="VectorExponentialDiag"):
        parameters = dict(locals())
        with ops.name_scope(name) as name:
            loc, scale = _diag_scale(loc, scale_diag, scale_identity_multiplier)
        super().__init__(loc, scale, validate_args, allow_nan_stats, name)
        self._parameters = parameters


def _sinh_arcsinh(skewness, tailweight, scale, dtype):
    """(the bijector, the scale at which normal numbers without skewness keep what lies at 2), and the parameters."""
    has_skewness = skewness is not None
    skewness = ops.convert_to_tensor(skewness if has_skewness else 0., dtype=dtype, name="skewness")
    tailweight = ops.convert_to_tensor(1. if tailweight is None else tailweight, dtype=dtype, name="tailweight")
    bijector = elementwise.SinhArcsinh(skewness=skewness, tailweight=tailweight)
    symmetric = bijector if not has_skewness else elementwise.SinhArcsinh(
        skewness=constant_op.constant(0., dtype), tailweight=tailweight)
    return bijector, 2 * scale / symmetric.forward(constant_op.constant(2., dtype)), skewness, tailweight


class SinhArcsinh(transformed_distribution.TransformedDistribution):
    """loc + c * sinh((arcsinh(z) + skewness) * tailweight) for normal numbers z, or others; c makes its scale `scale`.
    """

    def __init__(self, loc, scale, skewness=None, tailweight=None, distribution=None, validate_args=False,
                 allow_nan_stats=True, name="SinhArcsinh"):
        parameters = dict(locals())
        with ops.name_scope(name, values=[loc, scale, skewness, tailweight]) as name:
            self._loc = ops.convert_to_tensor(loc, name="loc")
            dtype = self._loc.dtype
            self._scale = ops.convert_to_tensor(scale, name="scale", dtype=dtype)
            f, c, self._skewness, self._tailweight = _sinh_arcsinh(skewness, tailweight, self._scale, dtype)
            base = distribution or normal.Normal(constant_op.constant(0., dtype), constant_op.constant(1., dtype))
            affine = elementwise.AffineScalar(shift=self._loc, scale=c, validate_args=validate_args)
            shape = _broadcast(self._loc, self._scale, self._skewness, self._tailweight)
        super().__init__(base, composite.Chain([affine, f]), batch_shape=shape, validate_args=validate_args, name=name)
        self._parameters = parameters

    @property
    def loc(self):
        """What is added."""
        return self._loc

    @property
    def scale(self):
        """The scale."""
        return self._scale

    @property
    def skewness(self):
        """How far the sides differ."""
        return self._skewness

    @property
    def tailweight(self):
        """How far out the tails go."""
        return self._tailweight


def _broadcast(*tensors):
    shape = tensors[0].shape
    for tensor in tensors[1:]:
        shape = array_ops.broadcast_static_shape(shape, tensor.shape)
    if shape.is_fully_defined():
        return np.array(shape.as_list(), np.int32)
    shape = array_ops.shape(tensors[0])
    for tensor in tensors[1:]:
        shape = array_ops.broadcast_dynamic_shape(shape, array_ops.shape(tensor))
    return shape


class VectorSinhArcsinhDiag(transformed_distribution.TransformedDistribution):
    """Vectors of independent numbers of `SinhArcsinh`."""

    def __init__(self, loc=None, scale_diag=None, scale_identity_multiplier=None, skewness=None, tailweight=None,
                 distribution=None, validate_args=False, allow_nan_stats=True,
                 name="MultivariateNormalLinearOperator"):
        parameters = dict(locals())
        given = [loc, scale_diag, scale_identity_multiplier, skewness, tailweight]
        with ops.name_scope(name, values=given) as name:
            self._loc, self._scale = _diag_scale(loc, scale_diag, scale_identity_multiplier)
            dtype = self._scale.dtype
            f, c, self._skewness, self._tailweight = _sinh_arcsinh(skewness, tailweight, self._scale.diag_part(), dtype)
            base = distribution or normal.Normal(constant_op.constant(0., dtype), constant_op.constant(1., dtype))
            affine = matrices.Affine(shift=self._loc, scale_diag=c, validate_args=validate_args)
            batch_shape, event_shape = _shapes(self._loc, self._scale)
        super().__init__(base, composite.Chain([affine, f]), batch_shape=batch_shape, event_shape=event_shape,
                         validate_args=validate_args, name=name)
        self._parameters = parameters

    loc = SinhArcsinh.loc
    scale = SinhArcsinh.scale
    skewness = SinhArcsinh.skewness
    tailweight = SinhArcsinh.tailweight


class Kumaraswamy(transformed_distribution.TransformedDistribution):
    """Numbers x between 0 and 1 with P[X <= x] = 1 - (1 - x ** concentration1) ** concentration0."""

    def __init__(self, concentration1=None, concentration0=None, validate_args=False, allow_nan_stats=True,
                 name="Kumaraswamy"):
        with ops.name_scope(name, values=[concentration1, concentration0]) as name:
            concentration1 = ops.convert_to_tensor(concentration1, name="concentration1")
            concentration0 = ops.convert_to_tensor(concentration0, name="concentration0")
            shape = _broadcast(concentration1, concentration0)
            base = uniform.Uniform(constant_op.constant(0., concentration1.dtype),
                                   constant_op.constant(1., concentration1.dtype), allow_nan_stats=allow_nan_stats)
        super().__init__(base, elementwise.Kumaraswamy(concentration1, concentration0, validate_args),
                         batch_shape=shape, name=name)
        self._reparameterization_type = distribution_lib.FULLY_REPARAMETERIZED

    @property
    def concentration1(self):
        """The power near 0."""
        return self.bijector.concentration1

    @property
    def concentration0(self):
        """The power near 1."""
        return self.bijector.concentration0

    def _entropy(self):
        a, b = self.concentration1, self.concentration0
        one = array_ops.ones([], b.dtype)
        harmonic = gen.digamma(b + 1.) - gen.digamma(one)
        # TensorFlow's formula: the signs of the logarithms are those of its documentation, not of the integral.
        return 1. - 1. / a + (1. - 1. / b) * harmonic + gen.log(a) + gen.log(b)

    def _moment(self, n):
        a, b = self.concentration1, self.concentration0
        like = array_ops.ones_like(a + b)
        return gen.exp(gen.log(b) + special_math_ops.lbeta(
            array_ops.stack([like * (1. + n / a), like * b], axis=-1)))

    def _mean(self):
        return self._moment(1)

    def _variance(self):
        return self._moment(2) - math_ops.square(self._moment(1))

    def _mode(self):
        a, b = self.concentration1, self.concentration0
        mode = ((a - 1.) / (a * b - 1.)) ** (1. / a)
        if self.allow_nan_stats:
            nan = array_ops.fill(self.batch_shape_tensor(), np.array(np.nan, self.dtype.as_numpy_dtype))
            return array_ops.where_v2(gen.logical_and(a > 1., b > 1.), mode, nan)
        one = array_ops.ones([], self.dtype)
        return control_flow_ops.with_dependencies(
            [check_ops.assert_less(one, a, message="Mode undefined for concentration1 <= 1."),
             check_ops.assert_less(one, b, message="Mode undefined for concentration0 <= 1.")], mode)


class MultivariateNormalDiagWithSoftplusScale(vectors.MultivariateNormalDiag):
    """`MultivariateNormalDiag` with the scale softplus(scale_diag)."""

    def __init__(self, loc, scale_diag, validate_args=False, allow_nan_stats=True,
                 name="MultivariateNormalDiagWithSoftplusScale"):
        parameters = dict(locals())
        with ops.name_scope(name, values=[scale_diag]) as name:
            super().__init__(loc=loc, scale_diag=gen.softplus(scale_diag), validate_args=validate_args,
                             allow_nan_stats=allow_nan_stats, name=name)
        self._parameters = parameters
