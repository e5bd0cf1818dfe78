"""GradientTape."""
import functools

import numpy as np
import pytest

import penstock.v1 as tf
from penstock._src.gradient import backprop
from penstock._src.graph import context
from penstock._src.parallel_for import jacobians as jacobian


@pytest.fixture(autouse=True)
def _eager():
    with context.eager_mode():
        yield


def test_gradient():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.reduce_sum(x * x * x)
    np.testing.assert_allclose(tape.gradient(y, x).numpy(), [3, 12])
    with pytest.raises(RuntimeError, match="can only be called once on non-persistent tapes"):
        tape.gradient(y, x)


def test_structures_and_unconnected():
    x, z = tf.constant(3.0), tf.constant([1.0, 1.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch([x, z])
        y = x * x
    assert tape.gradient(y, {"x": x, "z": z})["z"] is None
    zeros = tape.gradient(y, [x, z], unconnected_gradients=tf.UnconnectedGradients.ZERO)
    assert zeros[0].numpy() == 6 and zeros[1].numpy().tolist() == [0, 0]
    assert tape.gradient(y, x, output_gradients=tf.constant(2.0)).numpy() == 12


def test_second_order():
    x = tf.constant(2.0)
    with tf.GradientTape() as outer:
        outer.watch(x)
        with tf.GradientTape() as inner:
            inner.watch(x)
            y = x * x * x
        dy = inner.gradient(y, x)
    assert dy.numpy() == 12 and outer.gradient(dy, x).numpy() == 12


def test_variables():
    v, fixed = tf.Variable(2.0), tf.Variable(3.0, trainable=False)
    with tf.GradientTape() as tape:
        y = v * v * fixed
    assert tape.watched_variables() == (v,)
    assert tape.gradient(y, [v])[0].numpy() == 12


def test_sparse_gradient():
    v = tf.Variable([[1.0, 2.0], [3.0, 4.0]])
    with tf.GradientTape() as tape:
        y = tf.reduce_sum(tf.gather(v, [1, 1]))
    grad = tape.gradient(y, v)
    assert isinstance(grad, tf.IndexedSlices)
    np.testing.assert_array_equal(tf.convert_to_tensor(grad).numpy(), [[0, 0], [2, 2]])


def test_stop_recording():
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        with tape.stop_recording():
            z = y * y
    assert tape.gradient(z, x) is None


def test_custom_gradient():
    @tf.custom_gradient
    def clipped(x):
        return x * x, lambda dy: dy * 100.0
    x = tf.constant(2.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = clipped(x) + x
    assert y.numpy() == 6 and tape.gradient(y, x).numpy() == 101


def test_functions_of_gradients():
    grad = backprop.gradients_function(lambda a, b: a * b)
    assert [g.numpy() for g in grad(2.0, 3.0)] == [3, 2]
    value, grads = backprop.val_and_grad_function(lambda a, b: a * b, [1])(2.0, 3.0)
    assert value.numpy() == 6 and grads[0].numpy() == 2
    v = tf.Variable(4.0)
    value, pairs = backprop.implicit_val_and_grad(lambda: v * v)()
    assert value.numpy() == 16 and pairs[0][0].numpy() == 8 and pairs[0][1] is v


def _jacobians(x, m, use_pfor):
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.tanh(x @ m)
    return (tape.jacobian(y, [x, m], experimental_use_pfor=use_pfor), tape.jacobian(tf.constant(1.0), x),
            tape.batch_jacobian(y, x, experimental_use_pfor=use_pfor))


@pytest.mark.parametrize("use_pfor", [True, False])
@pytest.mark.parametrize("kind", ["eager", "function", "unknown_size"])
def test_jacobians(kind, use_pfor):
    rng = np.random.RandomState(3)
    x, m = rng.rand(4, 3).astype("f"), tf.Variable(rng.rand(3, 2).astype("f"))
    run = functools.partial(_jacobians, m=m, use_pfor=use_pfor)
    if kind != "eager":
        run = tf.function(run, input_signature=[tf.TensorSpec([None if kind == "unknown_size" else 4, 3])])
    (by_x, by_m), nothing, batched = run(tf.constant(x))
    slope = 1 - np.tanh(x @ m.numpy()) ** 2
    np.testing.assert_allclose(batched, slope[:, :, None] * m.numpy().T, rtol=1e-5)
    np.testing.assert_allclose(by_x, np.einsum("bi,ki,bc->bick", slope, m, np.eye(4)), rtol=1e-5)
    np.testing.assert_allclose(by_m, np.einsum("bi,bk,ij->bikj", slope, x, np.eye(2)), rtol=1e-5)
    assert nothing is None


def test_jacobians_of_many_rows(monkeypatch):
    """One gradient is recorded and run for all rows; a tape around differentiates that too."""
    rng = np.random.RandomState(4)
    x, m = tf.constant(rng.rand(40, 3).astype("f")), tf.Variable(rng.rand(3, 4).astype("f"))

    def run():
        with tf.GradientTape() as around:
            with tf.GradientTape(persistent=True) as tape:
                tape.watch(x)
                y = tf.gather(tf.tanh(x @ m), tf.range(40)) * 2.0
                rows = tf.reduce_sum(y, 1)
            made = tape.jacobian(y, [x, m])
            total = tf.reduce_sum(made[0] ** 2)
        return [*made, tape.jacobian(rows, x), around.gradient(total, m)]

    apart = jacobian._apart
    monkeypatch.setattr(jacobian, "_apart", None)
    monkeypatch.setattr(jacobian, "_FEW", 30)
    together = run()
    monkeypatch.setattr(jacobian, "_FEW", 1000)
    monkeypatch.setattr(jacobian, "_apart", apart)
    for a, b in zip(together, run()):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_jacobians_of_many_rows_through_functions():
    x = tf.constant(np.linspace(-1.0, 1.0, 150, dtype="f"))
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.function(lambda x: x * x)(x)
    np.testing.assert_allclose(tape.jacobian(y, x), np.diag(2 * x.numpy()), rtol=1e-6)


def test_jacobians_of_nothing():
    x = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        y = tf.zeros([0]) * tf.reduce_sum(x)
    assert tape.jacobian(y, x).shape == (0, 2)
    with pytest.raises(ValueError, match="rank at least 2"):
        tape.batch_jacobian(x, x)


@pytest.mark.parametrize("branch", [lambda x: tf.cond(x[0] > 0.0, lambda: x * x, lambda: x),
                                    lambda x: tf.while_loop(lambda y: y[0] < 1.0, lambda y: y * y, [x])])
def test_a_tape_that_stays_differentiates_twice_through_control_flow(branch):
    @tf.function
    def f(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = branch(x) * 3.0
        return tape.gradient(y, x), tape.gradient(y, x), tape.jacobian(y, x)

    first, second, rows = f(tf.constant([2.0, 3.0]))
    np.testing.assert_allclose(second, first)
    np.testing.assert_allclose(np.diag(first), rows)


def test_a_variable_read_in_a_loop_before_the_tape_starts():
    found = []
    with tf.Graph().as_default():
        v = tf.Variable(1.0, use_resource=True)

        def body(_):
            _ = v + 1.0
            with tf.GradientTape() as tape:
                result = v * 2.0
            found.append(tape.gradient(result, v))
            return 1.0

        tf.while_loop(lambda i: False, body, [1.0])
    assert found[0] is not None


def test_a_variable_given_to_a_custom_gradient_is_an_argument():
    @tf.custom_gradient
    def square(x):
        return x * x, lambda dy: 2.0 * dy * x + 1.0

    v = tf.Variable(3.0)
    with tf.GradientTape() as tape:
        y = square(v)
    assert float(tape.gradient(y, v)) == 7.0


def test_attributes_are_made_as_the_op_has_them():
    from penstock.alias import pywrap_tensorflow as pywrap
    from penstock._src.gradient import backprop
    assert backprop.op_attr_type("Add", "T") == pywrap.TF_ATTR_TYPE == 4
    assert backprop.op_attr_type("MaxPool", "ksize") == [pywrap.TF_ATTR_INT]
    assert backprop.make_attr([pywrap.TF_ATTR_TYPE], [1, tf.int32]) == [tf.float32, tf.int32]
    assert backprop.make_attr(pywrap.TF_ATTR_SHAPE, [None, 2]) == tf.TensorShape([None, 2]).as_proto()
    assert backprop.make_attr(pywrap.TF_ATTR_INT, 3) == 3
    with pytest.raises(tf.errors.InvalidArgumentError, match="'x' does not exist"):
        backprop.op_attr_type("Add", "x")
    with pytest.raises(tf.errors.NotFoundError, match="Addition"):
        backprop.op_attr_type("Addition", "T")


@pytest.mark.parametrize("use_pfor", [True, False])
def test_batch_jacobian_of_empty_rows(use_pfor):
    def f(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x ** 2
        return tape.batch_jacobian(y, x, experimental_use_pfor=use_pfor)

    for function in (f, tf.function(f)):
        assert function(tf.zeros([1, 0])).shape == [1, 0, 0]


def test_gradients_are_asked_for_where_nothing_was_recorded():
    v = tf.Variable(2.0, use_resource=True)

    @tf.function
    def conditionally(x):
        with tf.GradientTape() as tape:
            loss = v * v * x
        if x > 0:
            v.assign_sub(0.1 * tape.gradient(loss, v))
        return v.read_value()

    assert abs(conditionally(tf.constant(1.0)).numpy() - 1.6) < 1e-6
    assert abs(conditionally(tf.constant(-1.0)).numpy() - 1.6) < 1e-6

    @tf.function
    def repeatedly(x):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x
        total = 0.0
        for i in tf.range(3):
            total += tape.gradient(y, x) * tf.cast(i, tf.float32)
        return total

    assert repeatedly(tf.constant(3.0)).numpy() == 18

    @tf.function
    def within(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.cond(x > 0, lambda: tf.gather(x * x * [1.0, 2.0], 1), lambda: x)

        @tf.function
        def inner():
            return tape.gradient(y, x)
        return tf.cond(x > 1, inner, lambda: -x)

    @tf.function
    def jacobians(x, wanted):
        with tf.GradientTape(persistent=True) as tape:
            tape.watch(x)
            y = x * x
        return tf.cond(wanted, lambda: (tape.jacobian(y, x)[:, 0, :, 0], tape.batch_jacobian(y, x)[:, 0, 0]),
                       lambda: (tf.zeros([2, 2]), tf.zeros([2])))

    whole, rows = jacobians(tf.constant([[2.0], [3.0]]), tf.constant(True))
    assert whole.numpy().tolist() == [[4, 0], [0, 6]] and rows.numpy().tolist() == [4, 6]
    assert within(tf.constant(3.0)).numpy() == 12 and within(tf.constant(-3.0)).numpy() == 3
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
    assert tf.function(lambda: tape.gradient(y, x))().numpy() == 6
