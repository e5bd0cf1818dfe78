"""tf.py_function and tf.numpy_function, as TensorFlow 2.21 has them."""
import numpy as np
import pytest

import penstock as tf
from penstock._src.graph import context


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


@pytest.fixture(params=["eager", "function"])
def called(request):
    return (lambda f: f()) if request.param == "eager" else lambda f: tf.function(f)()


def test_ragged_arguments_and_results(called):
    x = tf.ragged.constant([[1, 2, 3], [4], [5, 6]])
    spec = tf.RaggedTensorSpec.from_value(x)
    assert called(lambda: tf.py_function(tf.reduce_sum, [x], [tf.int32]))[0].numpy() == 21
    for result in (lambda v: [v], lambda v: (v,), lambda v: v):
        assert called(lambda: tf.py_function(result, [x], [spec]))[0].to_list() == x.to_list()  # noqa: B023
    assert called(lambda: x + tf.py_function(lambda v: 2 * v, [x], spec)).to_list() == [[3, 6, 9], [12], [15, 18]]
    rows = called(lambda: tf.py_function(tf.RaggedTensor.from_row_lengths, [[1, 2, 3], np.array([1, 2])],
                                         tf.RaggedTensorSpec([None, None], tf.int32)))
    assert rows.to_list() == [[1], [2, 3]]


def test_gradient_through_ragged_values(called):
    x = tf.ragged.constant([[1.0, 2.0], [3.0]])

    def gradient():
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.py_function(lambda v: v * v, [x], tf.RaggedTensorSpec.from_value(x))
        return tape.gradient(y, x)

    assert called(gradient).to_list() == [[2, 4], [6]]


@pytest.mark.parametrize("func, tout, error, match", [
    (lambda v: v + 3, tf.int32, tf.errors.InvalidArgumentError, "py_function: func=.* returned .* did not match Tout"),
    (lambda v: 1, tf.RaggedTensorSpec([None, None], tf.int32), tf.errors.InvalidArgumentError, "did not match Tout"),
    (lambda v: None, tf.int32, tf.errors.InvalidArgumentError, "returned 0 values, but expects to see 1 values"),
    (lambda v: 1 / 0, tf.int32, tf.errors.UnknownError, "ZeroDivisionError: division by zero"),
    (lambda v: tf.Variable(1), tf.int32, tf.errors.UnknownError, "Attempting to return a variable"),
    (lambda v: 1.5, tf.int32, tf.errors.InvalidArgumentError, "TypeError|ValueError")])
def test_errors_are_those_of_an_operation(called, func, tout, error, match):
    with pytest.raises(error, match=match):
        called(lambda: tf.py_function(func, [tf.ragged.constant([[1]])], tout))


def test_what_is_no_function():
    with pytest.raises(ValueError, match="Expected func to be callable"):
        tf.py_function(tf.constant(1), [1], tf.int32)


def test_the_shape_that_a_spec_says():
    @tf.function
    def f():
        y = tf.py_function(lambda: tf.constant([1.0, 2.0]), [], tf.TensorSpec([2], tf.float32))
        assert y.shape == [2]
        return y

    assert f().numpy().tolist() == [1, 2]


def test_numpy_function_without_a_result():
    assert tf.numpy_function(lambda x: None, [1.0], []) is None
    assert tf.numpy_function(lambda x: 1.5, [1.0], tf.float64).dtype == tf.float32  # whatever was announced


@pytest.mark.parametrize("function", [tf.py_function, tf.numpy_function])
def test_as_a_decorator(function):
    @function(Tout=tf.float32)
    def add(x, y):
        return x + y

    assert add(1.0, 2.0).numpy() == 3 and add.__name__ == "add"
    assert tf.function(lambda x: add(x, x))(tf.constant(4.0)).numpy() == 8
    with pytest.raises(TypeError, match="Missing required argument: 'Tout'"):
        function()
    with pytest.raises(TypeError, match="Missing argument `inp`"):
        function(add, Tout=tf.float32)
    with pytest.raises(TypeError, match="Don't set the `inp` argument"):
        function(inp=[], Tout=tf.float32)


def test_a_variables_handle_as_an_argument():
    from penstock._src.graph import context
    with context.eager_mode():
        v = tf.Variable([2.0, 3.0])

        def doubled(handle):
            return tf.raw_ops.ReadVariableOp(resource=handle, dtype=tf.float32) * 2.0

        f = tf.function(lambda handle: tf.py_function(doubled, [handle], tf.float32))
        assert f(v.handle).numpy().tolist() == [4.0, 6.0]


def test_a_gradient_is_that_of_the_call():
    """The function is called once, so a gradient knows what state it saw."""
    state = [1.0]

    def scaled(x):
        state[0] += 1
        return x * state[0]

    @tf.function
    def f(x):
        return tf.py_function(scaled, [x], tf.float32)

    @tf.function
    def derivative(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.py_function(scaled, [x], tf.float32)
        return y, tape.gradient(y, x)

    x = tf.constant(3.0)
    for factor in 2.0, 3.0:
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = f(x)
        assert (float(y), float(tape.gradient(y, x)), state[0]) == (3 * factor, factor, factor)
    assert [float(v) for v in derivative(x)] == [12.0, 4.0] and state[0] == 4.0
    assert [float(v) for v in derivative(tf.constant(1.0))] == [5.0, 5.0] and state[0] == 5.0


def test_gradients_of_several_calls():
    def cube(x):
        return x * x * x

    @tf.function
    def loop(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = x
            for _ in tf.range(2):
                y = tf.ensure_shape(tf.py_function(cube, [y], tf.float32), [2])
        return tape.gradient(y, x)

    f = tf.function(lambda x: tf.py_function(cube, [x], tf.float32))
    x = tf.constant([2.0, 1.0])
    with tf.GradientTape() as tape:
        tape.watch(x)
        first, second = f(x), f(2 * x)
        y = first + second
    assert loop(x).numpy().tolist() == [9 * 2.0 ** 8, 9.0]
    assert tape.gradient(y, x).numpy().tolist() == [3 * 4.0 + 6 * 16.0, 3 + 6 * 4.0]


def _calls_in_three_runs(build):
    calls = []

    def plus_one(x=np.float32(1)):
        calls.append(x)
        return np.float32(x + 1)

    with tf.Graph().as_default():
        result = build(lambda inputs, stateful: tf.compat.v1.py_func(plus_one, inputs, tf.float32, stateful))
        with tf.compat.v1.Session() as sess:
            assert sess.run(result) == sess.run(result) == sess.run(result)
    return len(calls)


@pytest.mark.parametrize("build, calls", [
    (lambda call: call([tf.constant(1.0)], False) + 1, 1), (lambda call: call([tf.constant(1.0)], True), 3),
    (lambda call: call([], False) + 1, 1),
    (lambda call: call([tf.constant(1.0)], False) + call([tf.constant(1.0)], False), 2),
    (lambda call: call([call([tf.constant(1.0)], False)], True), 3 + 1)],
    ids=["stateless", "stateful", "no inputs", "two", "chain"])
def test_a_function_without_state_of_constants_is_called_once(build, calls):
    assert _calls_in_three_runs(build) == calls


def test_a_function_without_state_that_fails_fails_when_it_runs():
    def fails(_):
        raise ValueError("bad")

    with tf.Graph().as_default(), tf.compat.v1.Session() as sess:
        result = tf.compat.v1.py_func(fails, [tf.constant(1.0)], tf.float32, False)
        with pytest.raises(tf.errors.InvalidArgumentError, match="bad"):
            sess.run(result)


@pytest.mark.parametrize("stateful", [True, False])
def test_numpy_functions_of_constants_are_called_once_without_state(stateful):
    calls = []

    def add_one(x):
        calls.append(x)
        return np.float32(x + 1)

    def count(build):
        del calls[:]
        graph = tf.Graph()
        with graph.as_default():
            fetches = build(tf.numpy_function(add_one, [np.float32(1)], tf.float32, stateful=stateful))
        with tf.compat.v1.Session(graph=graph) as sess:
            for _ in range(3):
                sess.run(fetches)
        return len(calls)

    counts = [count(lambda y: y), count(lambda y: y + 1), count(lambda y: [y, y * 2])]
    assert counts == ([3, 3, 3] if stateful else [1, 1, 1])
    assert count(lambda y: y.op) == 3  # Only its outputs can be folded.
    for f in (lambda: tf.numpy_function(add_one, [np.float32(1)], tf.float32, stateful=stateful),
              lambda: tf.numpy_function(add_one, [np.float32(1)], tf.float32, stateful=stateful) + 1):
        del calls[:]
        f = tf.function(f)
        assert [f().numpy() for _ in range(2)][0] >= 2
        assert len(calls) == (2 if stateful else 1)
