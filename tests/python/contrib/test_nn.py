"""tf.contrib.nn, tf.contrib.compiler and tf.contrib.tfprof, with TensorFlow 1.15.5's numbers."""
import numpy as np
import pytest

import penstock.v1 as tf


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        yield


def run(*fetches):
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return session.run(fetches)


def test_alpha_dropout():
    tf.set_random_seed(1)
    dropped = tf.contrib.nn.alpha_dropout(tf.constant([[1., -1., .5], [2., 0., -.5]]), .6)
    expected = [[-.91064197, -.91064197, -.91064197], [-.91064197, .6070946, .17545328]]
    np.testing.assert_allclose(run(dropped)[0], expected, rtol=1e-5)


def test_alpha_dropout_keeps_all_or_refuses():
    x = tf.constant([1.])
    assert tf.contrib.nn.alpha_dropout(x, 1.) is not None
    with pytest.raises(ValueError, match="range"):
        tf.contrib.nn.alpha_dropout(x, 0.)


@pytest.mark.parametrize("clip, expected", [
    (None, [[.06346402, .3465736, 2.0090749, 5.0000229], [.11920297, .5, .98201376, .99995458], 1.1490753]),
    (3., [[.06346402, .3465736, 2.0090749, 3.], [.11920297, .5, .98201376, 0.], 1.1485759]),
])
def test_scaled_softplus_and_its_gradients(clip, expected):
    x = tf.constant([-1., 0., 2., 5.])
    alpha = tf.constant(.5)
    y = tf.contrib.nn.scaled_softplus(x, alpha, clip)
    for found, wanted in zip(run(y, *tf.gradients(y, [x, alpha])), expected):
        np.testing.assert_allclose(found, wanted, rtol=1e-5)


def test_losses_with_flipped_arguments():
    logits, labels = tf.constant([[1., 2.], [3., 1.]]), tf.constant([[0., 1.], [1., 0.]])
    nn = tf.contrib.nn
    dense = nn.deprecated_flipped_softmax_cross_entropy_with_logits(logits, labels)
    sparse = nn.deprecated_flipped_sparse_softmax_cross_entropy_with_logits(logits, [1, 0])
    sigmoid = nn.deprecated_flipped_sigmoid_cross_entropy_with_logits(logits, labels)
    dense, sparse, sigmoid = run(dense, sparse, sigmoid)
    np.testing.assert_allclose(dense, [.31326166, .126928], rtol=1e-5)
    np.testing.assert_allclose(sparse, dense, rtol=1e-6)
    np.testing.assert_allclose(sigmoid, [[1.3132617, .126928], [.04858735, 1.3132617]], rtol=1e-5)


def test_streaming_recall_at_k():
    value, update = tf.contrib.metrics.streaming_recall_at_k([[.1, .5, .4], [.6, .3, .1]], [2, 2], 2)
    with tf.Session() as session:
        session.run(tf.local_variables_initializer())
        assert session.run(update) == .5
        assert session.run(value) == .5


def test_jit_scopes_mark_operations():
    jit_scope = tf.contrib.compiler.jit.experimental_jit_scope
    with jit_scope():
        a = tf.constant(1.)
        with jit_scope(compile_ops=lambda node: node.op == "Add", separate_compiled_gradients=True):
            b = tf.add(a, a)
            c = tf.identity(b)
    with tf.xla.experimental.jit_scope(compile_ops=False):
        d = tf.identity(c)

    def marks(x):
        return tuple(x.op.get_attr("_Xla" + name) for name in ("Compile", "SeparateCompiledGradients", "Scope"))

    assert marks(a) == (True, False, b"jit_scope_0")
    assert marks(b) == (True, True, b"jit_scope_0")
    assert marks(c) == (False, True, b"jit_scope_0")
    assert marks(d) == (False, False, b"jit_scope_1")


def test_xla_compile_builds_what_the_function_builds():
    def double(x):
        return x * tf.get_variable("two", initializer=2.), tf.no_op()

    outputs = tf.contrib.compiler.xla.compile(double, [tf.constant(3.)])
    assert len(outputs) == 1 and run(outputs)[0] == [6.]
    assert isinstance(tf.global_variables()[0], type(tf.get_variable("resource", initializer=1., use_resource=True)))
    assert isinstance(tf.xla.experimental.compile(lambda: None), tf.Operation)
    nested = tf.xla.experimental.compile(lambda x: {"a": (x + 1, x)}, [1])
    assert run(nested)[0] == {"a": (2, 1)}
    with pytest.raises(ValueError, match="followed by"):
        tf.xla.experimental.compile(lambda: (tf.no_op(), tf.constant(1)))


def test_analysis_under_its_old_name(capfd):
    tf.get_variable("w", [3, 4])
    analyzer = tf.contrib.tfprof.model_analyzer
    found = analyzer.print_model_analysis(tf.get_default_graph(),
                                          tfprof_options=analyzer.TRAINABLE_VARS_PARAMS_STAT_OPTIONS)
    assert found.total_parameters == 12
    assert "w (3x4, 12/12 params)" in capfd.readouterr().out
