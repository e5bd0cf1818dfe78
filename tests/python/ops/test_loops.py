"""Loops, arrays in loops, and their gradients."""
import numpy as np
import pytest

import penstock.v1 as tf


@pytest.fixture(autouse=True)
def _graph():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def run(fetches, feed=None):
    return tf.get_default_session().run(fetches, feed)


def test_counts_and_bounds():
    n = tf.placeholder(tf.int32, [])
    i, total = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a + i), (0, 0))
    assert run([i, total], {n: 5}) == [5, 10]
    assert run([i, total], {n: 0}) == [0, 0]
    assert run(tf.while_loop(lambda i: i < 100, lambda i: i + 1, [0], maximum_iterations=7)) == 7


def test_bad_loops():
    with pytest.raises(TypeError, match="cond must be callable"):
        tf.while_loop(1, lambda i: i, [0])
    with pytest.raises(ValueError, match="No loop variables"):
        tf.while_loop(lambda: True, lambda: None, [])
    with pytest.raises(ValueError, match="has shape .* after one iteration"):
        tf.while_loop(lambda a: True, lambda a: tf.concat([a, a], 0), [tf.ones([2])])
    with pytest.raises(ValueError, match="not compatible with the initial shape"):
        tf.while_loop(lambda a: True, lambda a: a, [tf.ones([2])], shape_invariants=[tf.TensorShape([3])])
    with pytest.raises(ValueError, match="same structure|number of elements"):
        tf.while_loop(lambda i: i < 3, lambda i: (i, i), [0])
    inside = []
    tf.while_loop(lambda i: i < 3, lambda i: inside.append(i + 1) or inside[0], [0])
    with pytest.raises(ValueError, match="is in a while loop"):
        tf.identity(inside[0])


def test_gradient_of_a_power():
    x = tf.placeholder(tf.float64, [])
    n = tf.placeholder(tf.int32, [])
    y = tf.while_loop(lambda i, a: i < n, lambda i, a: (i + 1, a * x), (0, tf.constant(1.0, tf.float64)))[1]
    first = tf.gradients(y, x)[0]
    second = tf.gradients(first, x)[0]
    third = tf.gradients(second, x)[0]
    for k in range(5):
        got = run([y, first, second, third], {x: 1.5, n: k})
        powers = [np.prod([k - j for j in range(order)] or [1]) * 1.5 ** (k - order) for order in range(4)]
        np.testing.assert_allclose(got, powers, rtol=1e-12)


def test_gradient_is_none_without_back_prop():
    x = tf.constant(2.0)
    y = tf.while_loop(lambda a: a < 10.0, lambda a: a * x, [x], back_prop=False)
    assert tf.gradients(y, x) == [None]


def test_gradients_inside_a_body():
    w = tf.constant(3.0)

    def body(i, a):
        f = a * a * w
        return i + 1, a - 0.1 * tf.gradients(f, a)[0] + tf.gradients(f, w)[0]

    _, a = tf.while_loop(lambda i, a: i < 2, body, (0, tf.constant(0.5)))
    expected = 0.5
    for _ in range(2):
        expected = expected - 0.1 * 2 * expected * 3.0 + expected ** 2
    np.testing.assert_allclose(run(a), expected, rtol=1e-6)
    x = tf.constant(1.0)
    with pytest.raises(ValueError, match="initial value of a loop variable"):
        tf.while_loop(lambda a: a < 2.0, lambda a: a + tf.gradients(a * a, x)[0], [x])


def test_gradient_of_rows_of_a_variable():
    table = tf.get_variable("table", initializer=np.arange(8.0).reshape(4, 2))
    y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a + tf.nn.embedding_lookup(table, [i, 3])[0]),
                      (0, tf.zeros([2], tf.float64)))[1]
    gradient = tf.gradients(y, table)[0]
    assert isinstance(gradient, tf.IndexedSlices)
    run(tf.global_variables_initializer())
    np.testing.assert_array_equal(run(tf.convert_to_tensor(gradient)), [[1, 1], [1, 1], [1, 1], [0, 0]])


@pytest.mark.parametrize("use_resource", [False, True])
def test_training_through_a_loop(use_resource):
    w = tf.get_variable("w", initializer=0.5, use_resource=use_resource)
    y = tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * w), (0, tf.constant(1.0)))[1]
    train = tf.train.GradientDescentOptimizer(0.1).minimize(tf.square(y - 0.027))
    run(tf.global_variables_initializer())
    for _ in range(300):
        run(train)
    np.testing.assert_allclose(run(w), 0.3, rtol=2e-2)


def test_custom_gradient_in_a_loop():
    @tf.custom_gradient
    def triple(x):
        return x * x, lambda dy: dy * x * 3.0

    x = tf.constant(1.5, tf.float64)
    y = tf.while_loop(lambda i, a: i < 2, lambda i, a: (i + 1, triple(a)), (0, x))[1]
    np.testing.assert_allclose(run(tf.gradients(y, x)[0]), 3 * 1.5 * 3 * 1.5 ** 2)


def test_array_gradients():
    x = tf.placeholder(tf.float64, [3, 2])
    source = tf.TensorArray(tf.float64, size=3, clear_after_read=False).unstack(x)
    target = tf.TensorArray(tf.float64, size=0, dynamic_size=True, element_shape=[2])

    def body(i, t):
        return i + 1, t.write(i, source.read(i % 3) * tf.cast(i + 1, tf.float64))

    _, target = tf.while_loop(lambda i, t: i < 4, body, (0, target))
    stacked = target.stack()
    gradient = tf.gradients(stacked, x, grad_ys=tf.constant([[1.0, 1], [2, 2], [3, 3], [4, 4]], tf.float64))[0]
    values = np.arange(6.0).reshape(3, 2)
    got, slope = run([stacked, gradient], {x: values})
    np.testing.assert_array_equal(got, values[[0, 1, 2, 0]] * [[1], [2], [3], [4]])
    np.testing.assert_array_equal(slope, [[1 + 16] * 2, [4] * 2, [9] * 2])


def test_split_and_concat_gradients():
    x = tf.placeholder(tf.float32, [5])
    array = tf.TensorArray(tf.float32, size=2, infer_shape=False).split(x * x, [2, 3])
    joined = array.concat()
    gradient = tf.gradients(joined, x)[0]
    np.testing.assert_array_equal(run(gradient, {x: [1, 2, 3, 4, 5]}), [2, 4, 6, 8, 10])


def test_functional_loops():
    x = tf.constant([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    np.testing.assert_array_equal(run(tf.map_fn(lambda a: a * a, x)), [[1, 4], [9, 16], [25, 36]])
    np.testing.assert_array_equal(run(tf.scan(lambda a, b: a + b, x)), [[1, 2], [4, 6], [9, 12]])
    np.testing.assert_array_equal(run(tf.scan(lambda a, b: a + b, x, reverse=True)), [[9, 12], [8, 10], [5, 6]])
    np.testing.assert_array_equal(run(tf.foldl(lambda a, b: a - b, x)), [-7, -8])
    np.testing.assert_array_equal(run(tf.foldr(lambda a, b: a - b, x, initializer=tf.zeros([2]))), [-9, -12])
    y = tf.scan(lambda a, b: a * b, x)
    np.testing.assert_allclose(run(tf.gradients(y[2], x)[0]), [[15, 24], [5, 12], [3, 8]])


def test_recurrent_networks_agree():
    """A loop over steps and an unrolled network with the same weights give the same, gradients too."""
    x = tf.constant(np.random.RandomState(1).randn(2, 4, 3))
    lengths = tf.constant([4, 2])
    cell = tf.nn.rnn_cell.LSTMCell(3, use_peepholes=True, num_proj=2)
    with tf.variable_scope("net"):
        looped, state = tf.nn.dynamic_rnn(cell, x, lengths, dtype=tf.float64)
    with tf.variable_scope("net", reuse=True):
        unrolled, last = tf.nn.static_rnn(cell, tf.unstack(x, axis=1), dtype=tf.float64, sequence_length=lengths)
    weights = tf.trainable_variables()
    pairs = [(looped, tf.stack(unrolled, 1)), (state.c, last.c), (state.h, last.h)]
    ours = tf.gradients(tf.reduce_sum(tf.sin(looped)) + tf.reduce_sum(state.c), weights + [x])
    theirs = tf.gradients(tf.reduce_sum(tf.sin(pairs[0][1])) + tf.reduce_sum(last.c), weights + [x])
    run(tf.global_variables_initializer())
    for a, b in pairs + list(zip(ours, theirs)):
        a, b = run([a, b])
        np.testing.assert_allclose(a, b, rtol=1e-10, atol=1e-12)


def test_imported_loops_can_be_differentiated():
    x = tf.placeholder(tf.float64, [], name="x")

    def body(i, a):
        return i + 1, tf.cond(a > 2.0, lambda: a * x, lambda: a + x)

    y = tf.while_loop(lambda i, a: i < 3, body, (0, x))[1]
    tf.identity(y, name="y")
    meta = tf.train.export_meta_graph()
    expected = run(tf.gradients(y, x)[0], {x: 1.5})
    for restore in ("meta", "graph"):
        with tf.Graph().as_default() as graph, tf.Session() as session:
            if restore == "meta":
                tf.train.import_meta_graph(meta, import_scope="again")
                assert [c.name for c in tf.get_collection("while_context")] == ["again/while/while_context"]
            else:
                tf.import_graph_def(meta.graph_def, name="again")
            x2, y2 = graph.get_tensor_by_name("again/x:0"), graph.get_tensor_by_name("again/y:0")
            np.testing.assert_allclose(session.run(tf.gradients(y2, x2)[0], {x2: 1.5}), expected)


def test_rows_of_a_sparse_tensor_grow():
    """What a shape says of a SparseTensor is its rank."""
    x = tf.SparseTensor(tf.constant([[0], [3]], tf.int64), tf.constant([2.0, 4.0]), tf.constant([10], tf.int64))

    def body(i, s):
        return i + 1, tf.SparseTensor(tf.concat([s.indices, [[9]]], 0), tf.concat([s.values, [1.0]], 0), s.dense_shape)

    _, y = tf.while_loop(lambda i, s: i < 2, body, [0, x], [tf.TensorShape([]), tf.TensorShape([1])])
    assert run(y).values.tolist() == [2.0, 4.0, 1.0, 1.0]
    with pytest.raises(ValueError, match="Expected a shape with 1 dimension"):
        tf.while_loop(lambda i, s: i < 2, body, [0, x], [tf.TensorShape([]), tf.TensorShape([1, 2])])


def test_a_conditional_passes_an_uninitialized_reference_by():
    v = tf.raw_ops.Variable(shape=[1], dtype=tf.float32)
    assert run(tf.cond(tf.constant(False), lambda: v, lambda: tf.constant([2.0]))).tolist() == [2.0]


def test_gradients_of_a_loop_under_control_dependencies():
    """The gradients wait, the loop that gives what they wait for does not."""
    with tf.Graph().as_default(), tf.Session() as session:
        count = tf.Variable(0.0)
        x = tf.constant(2.0)
        _, y = tf.while_loop(lambda i, x: i < 2, lambda i, x: (i + 1, x ** 2.0), [0, x])
        for before in (y.op, tf.assign_add(count, 1.0).op):
            with tf.control_dependencies([before]):
                gradient, = tf.gradients(y, x)
            session.run(tf.global_variables_initializer())
            assert session.run(gradient) == 32.0
        assert session.run(count) == 1.0


def test_gradient_of_a_value_that_a_body_returns_twice():
    with tf.Graph().as_default(), tf.Session() as session:
        k = tf.placeholder_with_default(1.0, [])

        def body(i, _, x):
            x = x * k
            return i + 1, x, x

        _, y, _ = tf.while_loop(lambda i, *_: i < 4, body, [0, tf.zeros([256]), tf.ones([256])])
        assert session.run(tf.gradients(tf.reduce_sum(y * y), k)) == [8 * 256]  # of 256 k^8


def test_gradients_in_a_function_of_a_loop_over_a_conditional():
    v = tf.Variable([1.0, 2.0, 3.0], use_resource=True)
    w = tf.Variable([4.0, 5.0], use_resource=True)

    @tf.function
    def times(x, variable):
        return x * tf.gather(variable, [1])[0]

    @tf.function
    def gradients():
        _, y = tf.while_loop(
            lambda i, _: i < 4,
            lambda i, x: (i + 1, tf.cond(tf.equal(i % 2, 0), lambda: times(x, v), lambda: times(x, w))), [0, 1.0])
        return [tf.convert_to_tensor(g) for g in tf.gradients(y, [v, w])]

    dv, dw = gradients()  # of 2 * 5 * 2 * 5
    run(tf.global_variables_initializer())
    assert run(dv).tolist() == [0.0, 100.0, 0.0] and run(dw).tolist() == [0.0, 40.0]


def test_the_gradient_reads_a_squeezed_value_as_it_was():
    """What Luong's attention does in a decoder: a scale times scores whose axis of 1 was squeezed."""
    x, w = tf.constant([[1., 2., 3.], [4., 5., 6.]]), tf.constant(2.)

    def body(i, x):
        scores = tf.squeeze(tf.matmul(tf.expand_dims(x, 1), tf.eye(3, batch_shape=[2])), [1])
        return i + 1, w * scores

    _, y = tf.while_loop(lambda i, x: i < 3, body, [0, x])
    dw, dx = run(tf.gradients(tf.reduce_sum(y), [w, x]))
    assert dw == 3 * 2. ** 2 * 21
    np.testing.assert_array_equal(dx, np.full((2, 3), 8.))


def test_gradients_in_a_loop_under_control_dependencies_from_outside_of_it():
    def outer(i, x):
        before = x + 1.0
        with tf.control_dependencies([before, tf.no_op()]):
            def inner(i, x):
                return i + 1, x + 0.1 * tf.gradients(-tf.reduce_sum(tf.square(x)), [x])[0]
            return i + 1, tf.while_loop(lambda i, x: i < 3, inner, [0, x])[1]

    _, y = tf.while_loop(lambda i, x: i < 2, outer, [0, tf.ones([2])])
    np.testing.assert_allclose(run(y), [0.8 ** 6] * 2, rtol=1e-6)
