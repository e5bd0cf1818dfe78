"""Gradients of the math ops against central differences, in double."""
import numpy as np
import pytest

import penstock.v1 as tf

raw = tf.raw_ops
SORTED = np.array([0, 1, 1, 3], np.int32)
ANY_ORDER = [2, -1, 2, 2]

UNARY = """Abs Square Sqrt Rsqrt Reciprocal Exp Expm1 Log Log1p Sigmoid Tanh Sin Cos Tan Asin Acos Atan Sinh Cosh Asinh
Atanh Erf Erfc Erfinv Ndtri Lgamma Digamma Dawsn Expint FresnelCos FresnelSin Spence BesselI0 BesselI0e BesselI1
BesselI1e BesselK0 BesselK0e BesselK1 BesselK1e BesselJ0 BesselJ1 BesselY0 BesselY1""".split()

CASES = {
    "add": (lambda a, b: a + b, (2, 3), (3,)),
    "mul": (lambda a, b: a * b, (2, 1), (1, 3)),
    "div": (lambda a, b: a / b, (2, 3), ()),
    "pow": (tf.pow, (2, 3), (3,)),
    "maximum": (tf.maximum, (2, 3), (2, 1)),
    "squared_difference": (tf.squared_difference, (2, 3), (3,)),
    "floormod": (tf.floormod, (4,), (4,)),
    "atan2": (tf.atan2, (2, 3), (3,)),
    "xlogy": (tf.math.xlogy, (3,), (2, 3)),
    "xdivy": (tf.math.xdivy, (3,), (2, 3)),
    "div_no_nan": (tf.div_no_nan, (3,), (2, 3)),
    "acosh": (lambda a: tf.acosh(a + 1), (3,)),
    "igamma": (tf.math.igamma, (3,), (3,)),
    "igammac": (tf.math.igammac, (3,), (3,)),
    "zeta": (lambda q: tf.math.zeta(tf.constant([2.5, 3.], tf.float64), q), (2,)),
    "betainc": (lambda x: tf.math.betainc(np.array([1.5, 2.]), np.array([0.5, 3.]), x), (2,)),
    "softplus": (lambda a: raw.Softplus(features=a), (4,)),
    "softsign": (lambda a: raw.Softsign(features=a), (4,)),
    "softplus_grad": (lambda a, b: raw.SoftplusGrad(gradients=a, features=b), (3,), (3,)),
    "sum": (lambda a: tf.reduce_sum(a, 1), (2, 3)),
    "mean": (lambda a: tf.reduce_mean(a, [0, 2]), (2, 3, 2)),
    "prod": (lambda a: tf.reduce_prod(a, [0, 2]), (2, 3, 2)),
    "max": (lambda a: tf.reduce_max(a, 0), (4, 3)),
    "euclidean_norm": (lambda a: raw.EuclideanNorm(input=a, axis=[1]), (2, 3)),
    "cumsum": (lambda a: tf.cumsum(a, 1, exclusive=True), (2, 4)),
    "cumprod": (lambda a: tf.cumprod(a, 0, reverse=True), (4, 2)),
    "cumulative_logsumexp": (lambda a: raw.CumulativeLogsumexp(x=a, axis=0), (4, 2)),
    "matmul": (tf.matmul, (2, 3), (3, 4)),
    "matmul_ta": (lambda a, b: tf.matmul(a, b, transpose_a=True), (3, 2), (3, 4)),
    "matmul_tb": (lambda a, b: tf.matmul(a, b, transpose_b=True), (2, 3), (4, 3)),
    "matmul_tatb": (lambda a, b: tf.matmul(a, b, transpose_a=True, transpose_b=True), (3, 2), (4, 3)),
    "batch_matmul": (lambda a, b: raw.BatchMatMulV2(x=a, y=b, adj_x=True), (2, 1, 3, 2), (2, 3, 4)),
    "segment_sum": (lambda a: tf.math.segment_sum(a, SORTED), (4, 2)),
    "segment_mean": (lambda a: tf.math.segment_mean(a, SORTED), (4, 2)),
    "segment_max": (lambda a: tf.math.segment_max(a, SORTED), (4, 2)),
    "segment_prod": (lambda a: tf.math.segment_prod(a, SORTED), (4, 2)),
    "unsorted_segment_sum": (lambda a: tf.math.unsorted_segment_sum(a, ANY_ORDER, 3), (4, 2)),
    "unsorted_segment_max": (lambda a: tf.math.unsorted_segment_max(a, ANY_ORDER, 3)[2], (4, 2)),
    "unsorted_segment_prod": (lambda a: tf.math.unsorted_segment_prod(a, ANY_ORDER, 3), (4, 2)),
    "sparse_segment_sum": (lambda a: tf.sparse.segment_sum(a, [0, 2, 2], [0, 0, 1]), (4, 2)),
    "sparse_segment_mean": (lambda a: tf.sparse.segment_mean(a, [0, 2, 2], [0, 0, 1]), (4, 2)),
    "sparse_segment_sqrt_n": (lambda a: tf.sparse.segment_sqrt_n(a, [0, 2, 2], [0, 0, 1]), (4, 2)),
    "clip_by_value": (lambda a: tf.clip_by_value(a, 0.4, 0.6), (9,)),
    "where_v2": (lambda a, b: tf.where_v2(np.array([[True], [False]]), a, b), (2, 3), (3,)),
    "where": (lambda a, b: tf.where(np.array([True, False]), a, b), (2, 3), (2, 3)),
    "cross": (tf.linalg.cross, (2, 3), (2, 3)),
    "add_n": (lambda a, b: tf.add_n([a, b, a]), (2,), (2,)),
}
CASES.update({name: (lambda a, name=name: getattr(raw, name)(x=a), (4,)) for name in UNARY})
CASES.update({name: (lambda a, b, name=name: getattr(raw, name)(y=a, dy=b), (3,), (3,))
              for name in ("SigmoidGrad", "TanhGrad", "SqrtGrad", "RsqrtGrad", "ReciprocalGrad")})
for equation, *shapes in (("ij,jk->ik", (3, 4), (4, 5)), ("ii->i", (4, 4)), ("ii->", (4, 4)), ("i->ii", (3,)),
                          ("ij->", (3, 4)), ("...ij,...jk->...ik", (2, 1, 3, 4), (5, 4, 2)), ("i,j->ij", (3,), (4,)),
                          ("abc,cd->bd", (2, 3, 4), (4, 5)), ("ab...,b...c->c...a", (2, 3, 4), (3, 4, 5)),
                          ("ab...,bc->a...c", (2, 3, 4), (3, 5))):
    CASES["einsum " + equation] = (lambda *a, e=equation: raw.Einsum(inputs=list(a), equation=e), *shapes)


@pytest.mark.parametrize("known_shapes", [True, False])
@pytest.mark.parametrize("name", CASES)
def test_gradient_is_the_slope(name, known_shapes):
    function, *shapes = CASES[name]
    rng = np.random.RandomState(1)
    values = [rng.uniform(0.2, 0.9, shape) for shape in shapes]
    with tf.Graph().as_default(), tf.Session() as session:
        xs = [tf.placeholder(tf.float64, shape if known_shapes else None) for shape in shapes]
        y = function(*xs)
        weights = rng.uniform(-1, 1, session.run(tf.shape(y), dict(zip(xs, values))))
        loss = tf.reduce_sum(y * weights)
        gradients = session.run(tf.gradients(loss, xs), dict(zip(xs, values)))
        for i, gradient in enumerate(gradients):
            slope = np.zeros_like(values[i])
            for index in np.ndindex(*values[i].shape):
                ends = []
                for step in (1e-5, -1e-5):
                    moved = [v.copy() for v in values]
                    moved[i][index] += step
                    ends.append(session.run(loss, dict(zip(xs, moved))))
                slope[index] = (ends[0] - ends[1]) / 2e-5
            assert gradient.shape == slope.shape
            np.testing.assert_allclose(gradient, slope, rtol=1e-5, atol=1e-6)


def test_second_derivative_of_a_complex_size():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([2.0, 0.5], tf.float64)
        y = tf.abs(tf.complex(tf.cos(x), tf.ones_like(x)))
        first = tf.gradients(y, x)[0]
        second = tf.gradients(first, x)[0]
        v = np.array([2.0, 0.5])
        c, s = np.cos(v), np.sin(v)
        size = np.sqrt(c * c + 1)
        np.testing.assert_allclose(session.run(first), -c * s / size)
        np.testing.assert_allclose(session.run(second), (s * s - c * c) / size - (c * s) ** 2 / size**3)
        zero = tf.constant(0j, tf.complex128)
        assert session.run(tf.gradients(tf.abs(zero), zero)[0]) == 0


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.complex64])
def test_where_no_gradient_comes_none_goes(dtype):
    """Not even through a root of 0, whose slope is infinite: what `where` leaves out stays out."""
    with tf.Graph().as_default(), tf.Session() as session:
        for name, y in (("SqrtGrad", 0), ("RsqrtGrad", np.inf), ("ReciprocalGrad", np.inf)):
            slopes = session.run(getattr(raw, name)(y=np.full(40, y, dtype), dy=np.zeros(40, dtype)))
            np.testing.assert_array_equal(slopes, np.zeros(40, dtype))
        x = tf.constant(np.array([0, 4], dtype))
        y = tf.where(np.array([False, True]), tf.sqrt(x), x)
        np.testing.assert_array_equal(session.run(tf.gradients(y, x, grad_ys=tf.ones_like(y))[0]), [1, 0.25])
