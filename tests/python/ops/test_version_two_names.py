"""Functions that only version 2 names. The values are TensorFlow 2.21's, rounded."""
import numpy as np
import pytest

import penstock as tf
from penstock._src.graph import context

X, Y = [-2.0, -0.5, 0.0, 0.3, 0.9, 1.7], [0.1, 0.3, 0.5, 0.7, 0.9]


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


@pytest.mark.parametrize("made, expected", [
    (lambda: tf.nn.gelu(tf.constant(X)), [-0.0455, -0.1543, 0.0, 0.1854, 0.7343, 1.6242]),
    (lambda: tf.nn.gelu(tf.constant(X), approximate=True), [-0.0454, -0.1543, 0.0, 0.1854, 0.7342, 1.6241]),
    (lambda: tf.math.erfinv(tf.constant(X) / 2.0), [-np.inf, -0.2253, 0.0, 0.1337, 0.4227, 1.0179]),
    (lambda: tf.math.ndtri(tf.constant(Y)), [-1.2816, -0.5244, 0.0, 0.5244, 1.2816]),
    (lambda: tf.math.xlog1py(tf.constant(X), 0.1), [-0.1906, -0.0477, 0.0, 0.0286, 0.0858, 0.162])])
def test_functions(made, expected):
    np.testing.assert_allclose(made(), expected, atol=6e-5)


@pytest.mark.parametrize("name, expected", [
    ("bessel_j0", [0.9975, 0.9776, 0.9385, 0.8812, 0.8075]),
    ("bessel_j1", [0.0499, 0.1483, 0.2423, 0.329, 0.4059]),
    ("bessel_k0", [2.4271, 1.3725, 0.9244, 0.6605, 0.4867]),
    ("bessel_k0e", [2.6823, 1.8526, 1.5241, 1.3301, 1.1972]),
    ("bessel_k1", [9.8538, 3.056, 1.6564, 1.0503, 0.7165]),
    ("bessel_k1e", [10.8902, 4.1252, 2.731, 2.115, 1.7624]),
    ("bessel_y0", [-1.5342, -0.8073, -0.4445, -0.1907, 0.0056]),
    ("bessel_y1", [-6.459, -2.2931, -1.4715, -1.1032, -0.8731]),
    ("dawsn", [0.0993, 0.2826, 0.4244, 0.5105, 0.5407]),
    ("expint", [-1.6228, -0.3027, 0.4542, 1.0649, 1.6228]),
    ("fresnel_cos", [0.1, 0.2994, 0.4923, 0.6597, 0.7648]),
    ("fresnel_sin", [0.0005, 0.0141, 0.0647, 0.1721, 0.3398]),
    ("spence", [1.2997, 0.8894, 0.5822, 0.3261, 0.1026])])
def test_special_functions(name, expected):
    np.testing.assert_allclose(getattr(tf.math.special, name)(tf.constant(Y)), expected, atol=6e-5)


def test_gelu_is_of_floats():
    with pytest.raises(ValueError, match="floating point"):
        tf.nn.gelu(tf.constant(1))


def test_counts_and_scattering():
    assert tf.math.bincount([1, 2, 1], weights=[1.0, 2.0, 3.0], minlength=5).numpy().tolist() == [0, 4, 2, 0, 0]
    assert tf.tensor_scatter_nd_max([1, 2, 3], [[0]], [5]).numpy().tolist() == [5, 2, 3]
    assert tf.tensor_scatter_nd_min([1, 2, 3], [[1]], [0]).numpy().tolist() == [1, 0, 3]


def test_embeddings_of_sparse_ids():
    ids = tf.SparseTensor([[0, 1], [1, 0], [1, 2]], tf.constant([0, 1, 2], tf.int64), [2, 3])
    table = tf.reshape(tf.range(12.0), [4, 3])
    for function in (tf.nn.embedding_lookup_sparse, tf.nn.safe_embedding_lookup_sparse):
        assert function(table, ids, None, combiner="mean").numpy().tolist() == [[0, 1, 2], [4.5, 5.5, 6.5]]


def test_optionals_and_symbols():
    made = tf.experimental.Optional.from_value(tf.constant(X))
    assert made.has_value() and not tf.experimental.Optional.empty(tf.TensorSpec([])).has_value()
    assert isinstance(made._type_spec, tf.OptionalSpec)
    assert not tf.is_symbolic_tensor(made.get_value())
    assert tf.function(lambda x: tf.constant(tf.is_symbolic_tensor(x)))(1.0 * tf.constant(X)).numpy()
    assert issubclass(tf.errors.OperatorNotAllowedInGraphError, TypeError) and tf.test.TestCase
