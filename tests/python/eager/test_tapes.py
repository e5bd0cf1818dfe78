"""What tapes watch and record, as TensorFlow 2.21 does."""
import numpy as np
import pytest

import penstock as tf
from penstock._src.gradient import backprop, backprop_util, record
from penstock._src.graph import context
from penstock._src.graph import errors, indexed_slices
from penstock._src.base import tf2
from penstock._src.testing import test_util


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


def test_a_function_differentiates_by_a_tensor_that_it_captures():
    x = tf.constant([1.0, 2.0])

    @tf.function
    def inner():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.sin(x)
        return tape.gradient(y, x)

    np.testing.assert_allclose(inner().numpy(), np.cos([1, 2]), rtol=1e-6)
    with tf.GradientTape(persistent=True) as outer:
        outer.watch(x)

        @tf.function
        def uses_outer():
            return outer.gradient(tf.sin(x), x)

        np.testing.assert_allclose(uses_outer().numpy(), np.cos([1, 2]), rtol=1e-6)


def test_a_function_has_the_tangents_of_what_it_captures():
    x, tangents = tf.constant([1.0, 2.0]), tf.constant([[1.0, 0.0], [2.0, 3.0]])

    def along(tangent):
        with tf.autodiff.ForwardAccumulator(x, tangent) as acc:
            y = tf.sin(x)
        return acc.jvp(y)

    expected = np.cos([1, 2]) * tangents.numpy()
    np.testing.assert_allclose(tf.function(along)(tangents[1]).numpy(), expected[1], rtol=1e-6)
    np.testing.assert_allclose(tf.vectorized_map(along, tangents).numpy(), expected, rtol=1e-6)


def test_what_was_computed_before_the_tape_recorded_is_no_way_to_a_source():
    @tf.function
    def f(x):
        before = tf.identity(x)
        scaled = x * 2.0
        with tf.GradientTape() as tape:
            tape.watch([x, before, scaled])
            y = 2.0 * x + 3.0 * before + 5.0 * scaled
        return tape.gradient(y, [x, before, scaled])

    assert [g.numpy() for g in f(tf.constant(10.0))] == [2, 3, 5]


def test_gradients_of_composite_values():
    ragged = tf.ragged.constant([[1.0], [2.0, 3.0]])
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(ragged)
        y = ragged * ragged
        total = tf.reduce_sum(y)
        other = tf.constant(1.0) * 2.0
    assert tape.gradient(total, ragged).to_list() == [[2], [4, 6]]
    assert tape.gradient(y, {"x": ragged})["x"].to_list() == [[2], [4, 6]]
    assert tape.gradient(y, ragged, output_gradients=ragged).to_list() == [[2], [8, 18]]
    assert tape.gradient(other, ragged) is None
    values = tf.constant([1.0, 2.0])
    with tf.GradientTape(persistent=True) as tape:
        sparse = tf.SparseTensor([[0, 0], [1, 2]], values, [3, 4])
        tape.watch(sparse)
        y = 3.0 * tf.sparse.reduce_sum(sparse)
    assert tape.gradient(y, values).numpy().tolist() == [3, 3]
    with pytest.raises(ValueError, match="Type SparseTensor is not supported as a gradient source"):
        tape.gradient(y, sparse)


def test_one_variable_as_several_arguments():
    v = tf.Variable(1.0)
    seen = []

    def f(x, y):
        seen.append((x, y))
        return x * y

    assert [g.numpy() for g in backprop.gradients_function(f)(v, v)] == [1, 1]
    assert all(isinstance(x, tf.Tensor) for x in seen[0])


def test_assignments_are_watched():
    v = tf.Variable(1.0)
    for change in (v.assign, v.assign_add, v.assign_sub):
        with tf.GradientTape() as tape, record.VariableWatcher() as watcher:
            change(2.0)
        assert tape.watched_variables() == watcher.watched_variables() == (v,)
    with record.VariableWatcher() as watcher:
        tf.Variable(1.0, trainable=False).assign(2.0)
        v.shape  # noqa: B018
    assert watcher.watched_variables() == ()


def test_used_twice(monkeypatch):
    monkeypatch.setattr(tf2, "enabled", lambda: True)
    x = tf.constant(3.0)
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = x * x
        with pytest.raises(ValueError, match="Tape is still recording"):
            tape.__enter__()
    tape.jacobian(y, x)
    for method in (tape.gradient, tape.jacobian):
        with pytest.raises(RuntimeError, match="A non-persistent GradientTape can only be used to compute one set"):
            method(y, x)


def test_gradients_in_functions_have_the_scope_of_what_they_differentiate():
    @tf.function
    def f(x):
        with tf.name_scope("outer"), tf.GradientTape() as tape:
            tape.watch(x)
            with tf.name_scope("inner"):
                y = tf.cos(x)
            return tape.gradient(y, x)

    operations = f.get_concrete_function(tf.TensorSpec([])).graph.get_operations()
    assert [op.name.startswith("gradient_tape/outer/inner/") for op in operations if op.type == "Sin"] == [True]


def test_operations_of_the_callers_own():
    x = tf.constant(2.0)
    with tf.GradientTape(persistent=True) as tape:
        tape.watch(x)
        assert record.could_possibly_record()
        with record.stop_recording():
            assert not record.could_possibly_record()
            y, z = x * 3.0, x * 4.0
        record.record_operation("Mine", [y], [x], lambda dy: [10.0 * dy])
        record.record_operation("Wrong", [z], [x], lambda dz: [])
        twice = y * 2.0
    assert tape.gradient(twice, x).numpy() == 20
    with pytest.raises(errors.InternalError, match="Wrong.*too few gradients"):
        tape.gradient(z, x)
    assert backprop_util.IsTrainable(x) and not backprop_util.IsTrainable(tf.int32)


def test_a_dict_of_references_is_flattened():
    v, w = tf.Variable([1.0, 2.0]), tf.Variable(1.0)

    @tf.recompute_grad
    def f(values):
        return {key: x + 1 for key, x in values.items()}

    result = f({v.ref(): v, w.ref(): w})
    assert result[v.ref()].numpy().tolist() == [2, 3] and result[w.ref()].numpy() == 2


def test_attributes_and_accumulators():
    assert backprop.make_attr(0, "a") == b"a" and backprop.make_attr([0], ["a"]) == [b"a"]
    x = tf.constant(1.0)
    with pytest.raises(ValueError, match="specified as a primal multiple times"):
        tf.autodiff.ForwardAccumulator([x, x], [x, x])
    assert tf.autodiff.ForwardAccumulator(x, 2.0 * x).jvp(x).numpy() == 2
    grads = [indexed_slices.IndexedSlices(tf.constant([1.0]), tf.constant([0]), tf.constant([2])), None]
    assert backprop_util.AggregateIndexedSlicesGradients(grads) is grads[0]


def test_eager_values_are_compared_whatever_session_there_is():
    class Case(test_util.TensorFlowTestCase):
        def test(self):
            value = tf.constant([1.0, 2.0])
            with tf.Graph().as_default(), self.cached_session():
                self.assertAllClose([1, 2], value)
                self.assertAllClose([[1, 2]], tf.constant([[1.0, 2.0]]))

    result = Case("test").run()
    assert not result.errors and not result.failures


class _Model:
    @tf.custom_gradient
    def product(self, a, b):
        return a * b, lambda dy: (2 * dy * a, 3 * dy * b)

    @tf.grad_pass_through
    def square(self, a):
        return a * a


@pytest.mark.parametrize("called", [lambda f: f, tf.function], ids=["eager", "function"])
def test_custom_gradients_of_methods(called):
    model, a, b = _Model(), tf.constant(3.0), tf.constant(5.0)
    for method, expected in ((model.product, [6, 15]), (lambda a, b: model.square(a) + b, [1, 1])):
        with tf.GradientTape() as tape:
            tape.watch([a, b])
            y = called(method)(a, b)
        assert [g.numpy() for g in tape.gradient(y, [a, b])] == expected
    with tf.Graph().as_default(), tf.compat.v1.Session() as session:
        x, y = tf.constant(3.0), tf.constant(5.0)
        assert session.run(tf.compat.v1.gradients(model.product(x, y), [x, y])) == [6, 15]
    assert model.product.__name__ == "product" and backprop.gradients_function(model.product)(a, b)[0].numpy() == 6


@pytest.mark.parametrize("called", [lambda f: f, tf.function], ids=["eager", "function"])
def test_custom_gradients_of_ragged_values(called):
    @tf.custom_gradient
    def f(x, y):
        return (x * x, 2 * y), lambda *dys: (3 * dys[0], 4 * dys[1])

    x, y = tf.ragged.constant([[1.0, 2.0], [3.0]]), tf.ragged.constant([[4.0], [5.0, 6.0]])

    def gradients():
        with tf.GradientTape() as tape:
            tape.watch((x, y))
            results = f(x, y)
        return results, tape.gradient(results, (x, y))

    results, (dx, dy) = called(gradients)()
    assert results[0].to_list() == [[1, 4], [9]] and results[1].to_list() == [[8], [10, 12]]
    assert dx.to_list() == [[3, 3], [3]] and dy.to_list() == [[4], [4, 4]]


def test_the_second_derivative_of_a_linear_function_is_zero():
    """As TensorFlow has it where a function is called: what its gradient reads, a constant too, is a result of it."""
    twice = tf.function(lambda x: x * 2.0)
    w = tf.constant(4.0)
    captured = tf.function(lambda x: x * w)

    def derivatives(f):
        x = tf.constant(3.0)
        with tf.GradientTape() as outer:
            outer.watch(x)
            with tf.GradientTape() as tape:
                tape.watch(x)
                y = f(x)
            first = tape.gradient(y, x)
        second = outer.gradient(first, x)
        return [float(first), None if second is None else float(second)]

    nested = tf.function(lambda x: twice(x))
    assert derivatives(twice) == derivatives(nested) == [2.0, 0.0]
    assert derivatives(captured) == [4.0, 0.0] and derivatives(lambda x: x * 2.0) == [2.0, None]
    assert derivatives(tf.function(lambda x: x * x * 2.0)) == [12.0, 4.0]


def test_a_used_up_tape_says_so_before_it_looks_at_what_is_asked():
    x = tf.constant([[3.0]])
    for function in ("batch_jacobian", "jacobian"):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x * x
        assert getattr(tape, function)(y, x).numpy().ravel().tolist() == [6.0]
        for target, source in ((y, [x]), ([y], x)):
            with pytest.raises(RuntimeError, match="only "):
                getattr(tape, function)(target, source)
        with pytest.raises(RuntimeError, match="only "):
            getattr(tape, function)(y, x, experimental_use_pfor=False)
