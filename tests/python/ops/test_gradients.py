"""tf.gradients and what programs put in its place."""
import numpy as np
import pytest

import penstock.v1 as tf


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as opened:
        yield opened


def test_gradients(session):
    x, y = tf.constant(3.0), tf.constant([1.0, 2.0])
    z = x * x * y
    assert session.run(tf.gradients(z, x)) == [18.0]
    np.testing.assert_array_equal(session.run(tf.gradients(z, [x, y], grad_ys=[[1.0, 10.0]]))[0], 6 * 1 + 6 * 20)
    np.testing.assert_array_equal(session.run(tf.gradients(z, y))[0], [9, 9])
    first = tf.gradients(x ** 3, x)[0]
    assert session.run(tf.gradients(first, x)) == [18.0]


def test_unconnected_and_stopped(session):
    x, y = tf.constant(3.0), tf.constant([1.0, 2.0])
    assert tf.gradients(x * x, y) == [None]
    np.testing.assert_array_equal(
        session.run(tf.gradients(x * x, y, unconnected_gradients=tf.UnconnectedGradients.ZERO))[0], [0, 0])
    a = x * 2
    b = a * a + x
    assert session.run(tf.gradients(b, x, stop_gradients=[a])) == [1.0]
    assert session.run(tf.gradients(tf.stop_gradient(a) * x, x)) == [6.0]
    with pytest.raises(ValueError, match="unconnected_gradients"):
        tf.gradients(b, x, unconnected_gradients="other")


def test_indexed_slices(session):
    table = tf.constant(np.ones([5, 2], np.float32))
    gradient = tf.gradients(tf.gather(table, [1, 1, 3]), table)[0]
    assert isinstance(gradient, tf.IndexedSlices)
    np.testing.assert_array_equal(session.run(tf.convert_to_tensor(gradient))[:, 0], [0, 2, 0, 1, 0])


def test_bad_arguments():
    with tf.Graph().as_default():
        x = tf.constant(1.0)
        with pytest.raises(ValueError, match="grad_ys"):
            tf.gradients([x * 2], [x], grad_ys=[x, x])
        with pytest.raises(TypeError, match="complex"):
            tf.gradients(tf.constant(1j), x)
        with pytest.raises(ValueError, match="aggregation_method"):
            tf.gradients(x * 2, x, aggregation_method=9)


def test_gradient_by_a_name_of_its_own(session):
    @tf.RegisterGradient("TripledSquare")
    def _tripled(op, grad):
        return 3.0 * 2.0 * op.inputs[0] * grad

    x = tf.constant(5.0)
    with tf.get_default_graph().gradient_override_map({"Square": "TripledSquare"}):
        y = tf.square(x)
    assert session.run(tf.gradients([y + tf.square(x)], x)) == [40.0]


def test_custom_gradient(session):
    @tf.custom_gradient
    def log1pexp(x):
        e = tf.exp(x)
        return tf.log(1 + e), lambda dy: dy * (1 - 1 / (1 + e))

    x = tf.constant(100.0)
    assert session.run(tf.gradients(log1pexp(x), x)) == [1.0]


def test_custom_gradient_of_several(session):
    @tf.custom_gradient
    def f(x, y):
        return (x + y, x * y), lambda da, db: (10 * da, 100 * db)

    x, y = tf.constant(2.0), tf.constant(3.0)
    a, b = f(x, y)
    assert session.run([a, b]) == [5.0, 6.0]
    assert session.run(tf.gradients([a, b], [x, y])) == [10.0, 100.0]


def test_swish_and_pass_through(session):
    x = tf.constant([-1.0, 0.5])
    s = 1 / (1 + np.exp(-np.array([-1.0, 0.5])))
    np.testing.assert_allclose(session.run(tf.gradients(tf.nn.swish(x), x))[0],
                               s + np.array([-1.0, 0.5]) * s * (1 - s), rtol=1e-5)
    np.testing.assert_array_equal(session.run(tf.gradients(tf.grad_pass_through(tf.round)(x), x))[0], [1, 1])


def test_hessians(session):
    x = tf.constant([1.0, 2.0])
    y = x[0] * x[0] * x[1]
    np.testing.assert_array_equal(session.run(tf.hessians(y, x))[0], [[4, 2], [2, 0]])


def test_compute_gradient(session):
    x = tf.placeholder(tf.float64, [2, 3])
    y = tf.reduce_sum(tf.sin(x) * x, 1)
    with session.as_default():
        theoretical, numeric = tf.test.compute_gradient(x, [2, 3], y, [2])
        np.testing.assert_allclose(theoretical, numeric, atol=1e-5)
        assert theoretical.shape == (6, 2)
        assert tf.test.compute_gradient_error(x, [2, 3], y, [2]) < 1e-5


def test_compute_gradient_of_a_function(session):
    from penstock._src.parallel_for import gradient_checker_v2
    with session.as_default():
        x, y = np.array([[1.0, 2.0]]), np.array([[3.0], [4.0]])
        theoretical, numeric = gradient_checker_v2.compute_gradient(lambda a, b: tf.matmul(b, a), [x, y])
        assert [j.shape for j in theoretical] == [(4, 2), (4, 2)]
        assert gradient_checker_v2.max_error(theoretical, numeric) < 1e-6
        np.testing.assert_array_equal(theoretical[0], [[3, 0], [0, 3], [4, 0], [0, 4]])


def test_compute_gradient_of_a_transposed_array(session):
    from penstock._src.parallel_for import gradient_checker_v2
    with session.as_default():
        x = np.arange(6.0).reshape(2, 3).T
        column = np.array([[1.0], [2.0]])
        theoretical, numeric = gradient_checker_v2.compute_gradient(lambda a: tf.matmul(a, column), [x])
        np.testing.assert_allclose(theoretical[0], np.kron(np.eye(3), [[1, 2]]))
        np.testing.assert_allclose(numeric[0], theoretical[0], atol=1e-9)


def test_second_gradient_of_a_cross_entropy(session):
    logits = tf.constant([[0.1, 0.7, 0.3], [0.5, 0.2, 0.9]], tf.float64)
    loss = tf.nn.softmax_cross_entropy_with_logits_v2(labels=[[0.2, 0.5, 0.3], [1.0, 0.0, 0.0]], logits=logits)
    first = tf.gradients(loss, logits)[0]
    second = session.run(tf.gradients(first[:, 0], logits)[0])
    p = session.run(tf.nn.softmax(logits))
    np.testing.assert_allclose(second, p[:, :1] * (np.array([[1.0, 0, 0]]) - p), rtol=1e-6)
    assert "BatchMatMulV2" in [op.type for op in session.graph.get_operations()]


def test_an_integer_has_a_gradient_by_itself_only(session):
    x = tf.constant(3)
    assert session.run(tf.gradients(x, x)) == [1] and tf.gradients(x * 2, x) == [None]
    for value, name in (("a", "string"), (True, "bool")):
        with pytest.raises(TypeError, match=f"Expected {name}, got 1 of type 'int' instead"):
            tf.gradients(tf.constant(value), x)


def test_operations_know_what_they_are_the_gradient_of(session):
    w = tf.constant([[1.0]], name="w")
    y = tf.nn.bias_add(tf.matmul(tf.constant([[2.0]]), w, name="xw"), tf.constant([1.0]))
    gradient = tf.gradients(y, w)[0]
    assert gradient.op.type == "MatMul" and gradient.op._original_op.name == "xw"
    assert gradient.op.inputs[1].op._original_op is None or gradient.op.inputs[1].op._original_op is y.op


def test_the_first_gradient_needs_no_value(session):
    x = tf.placeholder(tf.float32, [2])
    f = tf.constant([3.0, 4.0])
    np.testing.assert_array_equal(session.run(tf.gradients(x * f, x)[0]), [3, 4])  # nothing is fed


def test_sums_lie_with_their_first_summand(session):
    with tf.device("/device:CPU:1"):
        w = tf.constant([[1.0]], name="w")
    a, b = tf.matmul(w, [[1.0]], name="a"), tf.matmul(w, [[2.0]], name="b")
    with_ops = tf.gradients(a + b, w, colocate_gradients_with_ops=True)[0]
    assert with_ops.op.type == "AddN" and with_ops.op.colocation_groups() == [b"loc:@a"]
    free = tf.gradients(a + b, w)[0]
    first = free.op.inputs[0].op
    assert first._original_op is a.op and free.op.colocation_groups() == first.colocation_groups() != [b"loc:@a"]


def test_a_function_with_a_gradient_in_python(session):
    from penstock._src.function.defun import Defun

    @Defun(tf.float32, python_grad_func=lambda op, dy: [3 * dy * op.inputs[0]])
    def square(x):
        return x * x

    x = tf.constant(2.0)
    assert session.run(tf.gradients(square(x), x)) == [6.0]


def test_dependent_variables():
    from penstock._src.gradient.custom_gradient import get_dependent_variables
    with tf.Graph().as_default():
        used, fixed, other = tf.Variable(1.0), tf.Variable(1.0, trainable=False), tf.Variable(1.0)
        x = other * 2.0
        y = used + fixed + x
        assert get_dependent_variables([x], [y]) == [used]
        assert get_dependent_variables([], {"y": [y]}) == [other, used] and get_dependent_variables([x], [x]) == []
        assert get_dependent_variables([], tf.cast(tf.cast(y, tf.int32) > 1, tf.int32)) == []


def test_gradients_inside_of_functions(session):
    from penstock._src.tf_function import function
    from penstock._src.function.defun import Defun
    x1, x2 = tf.constant(1.0), tf.constant(2.0)
    x3 = x1 * x2

    @function.defun
    def wrt_captured():
        return tf.gradients(x1 * x1 * 5.0, x1)[0], tf.gradients(x3 * x3, [x1, x2])

    first, (second, third) = wrt_captured()
    assert session.run([first, second, third]) == [10.0, 8.0, 4.0]  # x3 is captured and depends on both

    @function.defun
    def outer():
        middle = x1 * 3.0

        @function.defun
        def inner():
            return tf.gradients([middle * x3, x1], [x1, x2])
        return inner()
    assert session.run(outer()) == [13.0, 3.0]

    y = x1 * 7.0

    @Defun()
    def around():
        return tf.gradients(y, x1)[0]  # all of it lies outside
    assert session.run(around()) == 7.0

    noisy = tf.random_uniform([]) * 0.0 + x1

    @function.defun
    def through_randomness():
        return tf.gradients(noisy * 2.0, x1)[0]
    assert session.run(through_randomness()) == 2.0  # what does not depend on x1 is captured as it is


def test_error_of_a_scalar_with_an_initial_value():
    with tf.Session():
        x = tf.constant(0.3, tf.float64)
        assert tf.test.compute_gradient_error(x, [], tf.sin(x), [], x_init_value=np.asarray(0.3)) < 1e-6


@pytest.mark.parametrize("build, taken, other", [
    (lambda x, p: tf.cond(p, lambda: tf.cond(x[0] > 1.0, lambda: x * x * x, lambda: x), lambda: 3.0 * x),
     [12.0, 27.0], [3.0, 3.0]),
    (lambda x, p: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, tf.cond(p, lambda: y * x, lambda: y + x)),
                                (0, x))[1], [32.0, 108.0], [4.0, 4.0]),
    (lambda x, p: tf.cond(p, lambda: tf.while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * x), (0, x))[1],
                          lambda: x), [32.0, 108.0], [1.0, 1.0]),
], ids=["cond", "loop", "loop_in_cond"])
def test_in_a_function_through_control_flow_around_it(session, build, taken, other):
    """The control flow of version 1 lies outside of the function; values are formulas, and TensorFlow 1.15's."""
    x, p = tf.constant([2.0, 3.0]), tf.placeholder_with_default(True, [])
    y = build(x, p)
    derivative = tf.function(lambda a: tf.gradients(y * a, x)[0], autograph=False)(tf.constant(2.0))
    np.testing.assert_allclose(session.run(derivative), 2 * np.array(taken))
    np.testing.assert_allclose(session.run(derivative, {p: False}), 2 * np.array(other))


@pytest.mark.parametrize("taken", [True, False])
def test_gradients_of_one_side_of_a_switch_are_zero_where_the_other_is_taken(taken):
    with tf.Graph().as_default(), tf.Session() as sess:
        x, s = tf.constant([2.0, 3.0]), tf.placeholder(tf.bool, [])
        side = {}
        side[False], side[True] = tf.raw_ops.Switch(data=x, pred=s)
        for which in (True, False):
            for scale, given in ((1, None), (5, None), (1, [7.0, 8.0])):
                grad, = tf.gradients(side[which] * float(scale), x, grad_ys=given and [tf.constant(given)])
                expected = np.array(given or [scale, scale]) * (which == taken)
                assert sess.run(grad, {s: taken}).tolist() == expected.tolist()
