"""vectorized_map, pfor, for_loop and Jacobians: all iterations at once give what one after the other gives."""
import numpy as np
import pytest

import penstock.v1 as v1  # first: beside it the tests of this process are version 1's
import penstock as tf
from penstock._src.graph import context
from penstock._src import parallel_for


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


X = np.random.RandomState(0).rand(4, 3, 5).astype(np.float32) + 0.5
M = np.random.RandomState(1).rand(5, 2).astype(np.float32)
V = np.random.RandomState(2).rand(5).astype(np.float32)


def slope(f, x):
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = f(x)
    return tape.gradient(y, x)


CASES = {
    "elementwise": lambda x: tf.exp(x) * 2.0 - tf.sqrt(x),
    "broadcast_vector": lambda x: x * V + tf.reduce_sum(x, axis=1, keepdims=True),
    "broadcast_rank": lambda x: x[0] * x,
    "wider_constant": lambda x: x[0, 0] * tf.ones([2, 2]),
    "matmul": lambda x: tf.matmul(x, M),
    "matmul_turned": lambda x: tf.matmul(x, x, transpose_a=True),
    "matmul_stacked_right": lambda x: tf.matmul(M, x, transpose_a=True, transpose_b=True),
    "reductions": lambda x: (tf.reduce_sum(x), tf.reduce_max(x, axis=-1), tf.reduce_mean(x, axis=[0, 1])),
    "any": lambda x: tf.reduce_any(x > 1.0, axis=0),
    "argmax": lambda x: tf.argmax(x, axis=1),
    "reshape": lambda x: tf.reshape(x, [-1]),
    "reshape_dynamic": lambda x: tf.reshape(x, tf.reverse(tf.shape(x), [0])),
    "transpose": lambda x: tf.transpose(x),
    "expand_squeeze": lambda x: tf.squeeze(tf.expand_dims(x, 1)) + tf.squeeze(tf.expand_dims(x, -1), axis=-1),
    "slices": lambda x: (x[1], x[:, 1:3], x[..., -1], x[tf.newaxis, ::-1]),
    "concat": lambda x: tf.concat([x, tf.zeros([1, 5])], axis=0),
    "stack": lambda x: tf.stack([x, tf.ones([3, 5])], axis=1),
    "unstack": lambda x: tf.unstack(x, axis=1)[2],
    "split": lambda x: tf.split(x, [2, 3], axis=1)[1],
    "tile": lambda x: tf.tile(x, [2, 1]),
    "gather": lambda x: tf.gather(x, [2, 0], axis=1),
    "gather_by_element": lambda x: tf.gather(V, tf.cast(x[0] * 3.0, tf.int32)),
    "gather_both": lambda x: tf.gather(x, tf.cast(x[0] * 2.0, tf.int32) % 3),
    "where": lambda x: tf.where(x > 1.0, x, 0.0),
    "fill": lambda x: tf.fill([2, 2], x[0, 0]),
    "broadcast_to": lambda x: tf.broadcast_to(x[0], [2, 5]),
    "cumsum": lambda x: tf.cumsum(x, axis=1, reverse=True),
    "softmax": lambda x: tf.nn.softmax(x),
    "shapes": lambda x: tf.cast(tf.shape(x)[0] + tf.rank(x) + tf.size(x), tf.float32) * x,
    "no_dependence": lambda x: tf.constant([1.0, 2.0]),
    "without_converter": lambda x: tf.nn.local_response_normalization(x[tf.newaxis, :, :, tf.newaxis]),
    "top_k": lambda x: tf.nn.top_k(x, 2),
    "one_hot": lambda x: (tf.one_hot(tf.cast(x[0], tf.int32), 3), tf.one_hot(tf.cast(x[0], tf.int32), 3, axis=0)),
    "pad": lambda x: (tf.pad(x, [[1, 0], [0, 2]]), tf.pad(x, [[1, 0], [0, 2]], constant_values=3.0),
                      tf.pad(x, [[1, 1], [1, 2]], "REFLECT")),
    "reverse_roll": lambda x: (tf.reverse(x, [0, -1]), tf.roll(x, [1, 2], [0, 1])),
    "segments": lambda x: (tf.math.unsorted_segment_sum(x, [1, 0, 1], 2),
                           tf.math.unsorted_segment_max(x[0], tf.cast(x[0] * 2.0, tf.int32) - 1, 3)),
    "gather_nd": lambda x: (tf.gather_nd(x, [[0, 1], [2, 2]]), tf.gather_nd(M, tf.cast(x[:2, :2], tf.int32)),
                            tf.gather_nd(x, tf.cast(x[:, :1], tf.int32))),
    "matrices": lambda x: (tf.linalg.band_part(x, 1, 0), tf.linalg.diag(x[0], k=1), tf.linalg.diag_part(x, k=0),
                           tf.linalg.set_diag(x, x[:, 0]), tf.linalg.tensor_diag(x[0]),
                           tf.linalg.solve(x[:, :3] + 3.0 * tf.eye(3), x),
                           tf.linalg.triangular_solve(x[:, :3], M[:3])),
    "fourier": lambda x: (tf.abs(tf.signal.rfft(x)), tf.math.real(tf.signal.fft(tf.cast(x, tf.complex64)))),
    "cross": lambda x: tf.linalg.cross(x[:, :3], M[:3, :1] * tf.ones([3, 3])),
    "clip": lambda x: tf.clip_by_value(x, 0.7, 1.1),
    "ensure_shape": lambda x: tf.ensure_shape(x, [None, 5]),
    "losses": lambda x: (tf.nn.softmax_cross_entropy_with_logits(tf.nn.softmax(x), x),
                         tf.nn.sparse_softmax_cross_entropy_with_logits([1, 0, 4], x)),
    "images": lambda x: (tf.nn.depthwise_conv2d(x[tf.newaxis, :, :, tf.newaxis], tf.ones([2, 2, 1, 2]), [1] * 4,
                                                "SAME"),
                         tf.nn.space_to_depth(x[tf.newaxis, :2, :4, tf.newaxis], 2)),
    "gradients": lambda t: slope(lambda x: tf.nn.avg_pool2d(tf.nn.max_pool2d(tf.nn.bias_add(tf.nn.conv2d(
        x[tf.newaxis, :, :, tf.newaxis], tf.reshape(M[:2], [2, 2, 1, 1]), 1, "SAME"), x[0, :1]), 2, 1, "SAME"),
        2, 1, "VALID") * x[0, 1], t),
    "gradient_of_slices": lambda t: slope(lambda x: x[1:, ::2] * 2.0 + x[0, 0], t),
    "conditional": lambda x: tf.cond(x[0, 0] > 1.0, lambda: x * 2.0, lambda: x),
    "loop": lambda x: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a * x), (0, x))[1],
    "function": lambda x: tf.function(lambda y: y * y + V)(x),
    "conditional_of_all": lambda x: tf.cond(tf.constant(X)[0, 0, 0] > 1.0, lambda: x * 2.0, lambda: tf.ones([3, 5])),
    "case": lambda x: tf.switch_case(tf.cast(x[0, 0] * 2.0, tf.int32) % 4, [lambda: x, lambda: x * 2.0, lambda: V * x]),
    "loop_of_own_length": lambda x: tf.while_loop(
        lambda i, a, b: i < tf.cast(x[0, 0] * 10.0, tf.int32), lambda i, a, b: (i + 1, a * x, b), (0, x, V)),
    "loop_that_stacks": lambda x: tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, x[0]), (0, V)),
    "conditional_in_loop": lambda x: tf.while_loop(
        lambda i, a: i < 3, lambda i, a: (i + 1, tf.cond(a[0, 0] > 1.0, lambda: a / 2.0, lambda: a + x)), (0, x))[1],
    "functions_of_functions": lambda x: tf.function(lambda y: tf.function(lambda z: z + V)(y) * tf.constant(2.0))(x),
    "einsum": lambda x: (tf.einsum("ij,jk->ki", x, M), tf.einsum("a...,a->...", x, x[:, 0])),
    "conjugate_transpose": lambda x: tf.transpose(tf.complex(x, x), [1, 0], conjugate=True),
    "slice_from": lambda x: (tf.slice(x, [tf.cast(x[0, 0], tf.int32), 1], [2, 3]),
                             tf.slice(M, [tf.cast(x[0, 0] * 2.0, tf.int32), 0], [2, 1])),
    "scatter": lambda x: (tf.tensor_scatter_nd_update(x, [[0], [2]], x[1:]),
                          tf.tensor_scatter_nd_add(V, tf.cast(x[0, :2, tf.newaxis] * 2.0, tf.int32), x[1, :2])),
    "searchsorted": lambda x: (tf.searchsorted(tf.sort(x), x), tf.searchsorted(tf.sort(x), x, side="right")),
    "image_colors": lambda x: (tf.image.adjust_contrast(x[:, tf.newaxis, :3], 0.5),
                               tf.image.adjust_hue(x[:, tf.newaxis, :3] - 0.5, 0.2),
                               tf.image.adjust_saturation(x[:, tf.newaxis, :3] - 0.5, 0.5)),
    "space_and_batch": lambda x: (
        tf.space_to_batch(x[:, :4, tf.newaxis], [2], [[0, 0]]),
        tf.batch_to_space(tf.reshape(x[:2, :4], [4, 2, 1]), [2], [[1, 0]])),
    "convolution": lambda x: tf.nn.conv2d(x[tf.newaxis, :, :, tf.newaxis], tf.ones([2, 2, 1, 3]), 1, "SAME"),
}


@pytest.mark.parametrize("name", CASES)
def test_as_one_after_the_other(name):
    function = CASES[name]
    in_turn = name == "without_converter"
    together = tf.nest.flatten(tf.vectorized_map(function, tf.constant(X), fallback_to_while_loop=in_turn, warn=False))
    apart = [tf.nest.flatten(function(tf.constant(x))) for x in X]
    assert len(together) == len(apart[0])
    for place, made in enumerate(together):
        np.testing.assert_allclose(made, np.stack([row[place].numpy() for row in apart]), rtol=1e-5)


@pytest.mark.parametrize("name", ["matmul", "broadcast_rank", "slices", "gather", "conditional", "without_converter"])
def test_gradients(name):
    def slope(run):
        x = tf.constant(X)
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = sum(tf.reduce_sum(t * t) for t in tf.nest.flatten(run(x)))
        return tf.convert_to_tensor(tape.gradient(y, x))

    function = CASES[name]
    expected = slope(lambda x: [function(x[i]) for i in range(4)])
    np.testing.assert_allclose(slope(lambda x: tf.vectorized_map(function, x, warn=False)), expected, rtol=1e-5)


def test_structures_and_shared_elements():
    result = tf.vectorized_map(lambda e: {"sum": e[0] + e[1]["b"]}, (tf.range(3), {"b": tf.constant([10])}))
    assert result["sum"].numpy().tolist() == [10, 11, 12]
    with pytest.raises(ValueError):
        tf.vectorized_map(lambda e: e[0] + e[1], (tf.range(3), tf.range(2)))


def test_each_iteration_draws_for_itself():
    drawn = tf.vectorized_map(lambda x: tf.random.uniform([3]), tf.range(50)).numpy()
    assert drawn.shape == (50, 3) and len(np.unique(drawn)) == 150
    gamma = tf.vectorized_map(lambda x: tf.random.gamma([3], [1.0, 2.0]), tf.range(50), fallback_to_while_loop=False)
    assert gamma.shape == (50, 3, 2) and len(np.unique(gamma)) == 300
    drawn = tf.vectorized_map(lambda x: tf.random.categorical(tf.zeros([2, 100]), 4), tf.range(50),
                              fallback_to_while_loop=False).numpy()
    assert drawn.shape == (50, 2, 4) and len(np.unique(drawn)) > 50


def test_effects_in_a_loop_of_their_own():
    v = tf.Variable(0.0)

    @tf.function
    def f():
        return tf.vectorized_map(lambda x: v.assign_add(x), tf.constant([1.0, 2.0, 3.0]), warn=False)

    f()
    assert float(v) == 6.0


def test_without_fallback():
    with pytest.raises(ValueError, match="No pfor vectorization defined for LRN"):
        tf.vectorized_map(CASES["without_converter"], tf.constant(X), fallback_to_while_loop=False)


@pytest.mark.parametrize("op, arguments", [
    ("PopulationCount", {"x": np.arange(24, dtype=np.int32).reshape(4, 6)}),
    ("NextAfter", {"x1": X[:, 0], "x2": V}),
    ("ApproximateEqual", {"x": X[:, 0], "y": X[1, 0]}),
    ("FakeQuantWithMinMaxArgs", {"inputs": X}),
    ("TanhGrad", {"y": X[:, 0], "dy": V}),
    ("Betainc", {"a": X[:, 0], "b": X[:, 1], "x": X[:, 2] / 2}),
    ("AddN", {"inputs": [X[:, 0], V]}),
])
def test_elementwise_ops_by_their_definitions(op, arguments):
    def call(**given):
        return getattr(tf.raw_ops, op)(**given)

    def one(i):
        return call(**{name: [tf.gather(v, i) if v.ndim > 1 else v for v in value] if isinstance(value, list)
                       else tf.gather(value, i) if value.ndim > 1 else value for name, value in arguments.items()})

    together = tf.vectorized_map(one, tf.range(4), fallback_to_while_loop=False)
    np.testing.assert_array_equal(together, tf.stack([one(i) for i in range(4)]))


def test_scalars_that_an_op_takes_with_any_shape_in_turn():
    def one(i):
        return tf.raw_ops.Betainc(a=tf.cast(i + 1, tf.float32), b=V, x=tf.constant(V / 2))

    np.testing.assert_array_equal(tf.vectorized_map(one, tf.range(4), warn=False), tf.stack([one(i) for i in range(4)]))


def test_the_iteration_number():
    x = tf.constant([1.0, 2.0])
    np.testing.assert_allclose(parallel_for.pfor(lambda i: tf.cast(i, tf.float32) * x, 3), [[0, 0], [1, 2], [2, 4]])
    np.testing.assert_allclose(parallel_for.for_loop(lambda i: tf.cast(i, tf.float32) * x, tf.float32, 3),
                               [[0, 0], [1, 2], [2, 4]])


@pytest.mark.parametrize("use_pfor", [True, False])
def test_jacobians(use_pfor):
    @tf.function
    def both(x):
        y = tf.tanh(tf.matmul(x, M))
        return y, parallel_for.jacobian(y, x, use_pfor=use_pfor), parallel_for.batch_jacobian(y, x, use_pfor=use_pfor)

    y, whole, batched = both(tf.constant(X[0]))
    expected = (1 - y.numpy()[:, :, None] ** 2) * M.T[None]
    np.testing.assert_allclose(batched, expected, rtol=1e-4)
    for i in range(3):
        for j in range(3):
            np.testing.assert_allclose(whole[i, :, j], expected[i] if i == j else np.zeros((2, 5)), rtol=1e-4)


def test_the_gradient_of_a_body_goes_through_what_a_loop_outside_gave():
    with v1.Graph().as_default(), v1.Session() as sess:
        x = v1.constant([2.0, 4.0])
        y = x * v1.while_loop(lambda i: i < 3, lambda i: i + 1, [0.0])

        @tf.function
        def gradient():
            return tf.gradients(2 * y, x)[0]

        np.testing.assert_array_equal(sess.run(gradient()), [6, 6])


def test_where_functions_are_run_eagerly():
    with context.eager_mode():
        tf.config.run_functions_eagerly(True)
        try:
            np.testing.assert_array_equal(tf.vectorized_map(lambda x: x * x, tf.range(4)), [0, 1, 4, 9])
            assert tf.config.functions_run_eagerly()
        finally:
            tf.config.run_functions_eagerly(False)


def test_elements_of_size_one_whose_shape_is_not_known():
    @tf.function(input_signature=[tf.TensorSpec(None), tf.TensorSpec(None)])
    def add(a, b):
        return tf.vectorized_map(lambda elems: elems[0] + elems[1], (a, b))

    with context.eager_mode():
        for a, b in (([3.0], [-2.0, 6.0]), ([1.0, 2.0], [3.0, 4.0]), ([1.0], [2.0])):
            np.testing.assert_array_equal(add(tf.constant(a), tf.constant(b)), np.add(a, b))


def test_numbers_of_parallel_iterations():
    from penstock._src.parallel_for import control_flow_ops
    with pytest.raises(ValueError, match="Use `for_loop` instead"):
        control_flow_ops.pfor(lambda i: 1, 8, parallel_iterations=1)
    with pytest.raises(ValueError, match="positive integer"):
        control_flow_ops.pfor(lambda i: 1, 8, parallel_iterations=0)
    with pytest.raises(TypeError, match="positive integer"):
        control_flow_ops.for_loop(lambda i: 1, tf.int32, 8, parallel_iterations=0)


def test_reductions_over_iterations():
    x = tf.constant(X[:, 0])
    made = parallel_for.pfor(lambda i, pfor_config: (
        tf.gather(x, i) - pfor_config.reduce_mean(tf.gather(x, i)), pfor_config.reduce_sum(tf.gather(x, i)),
        pfor_config.reduce(lambda a, b: tf.reduce_max(a * b), tf.gather(x, i), x[0])), 4)
    np.testing.assert_allclose(made[0], X[:, 0] - X[:, 0].mean(0), atol=1e-6)
    np.testing.assert_allclose(made[1], np.tile(X[:, 0].sum(0), (4, 1)), rtol=1e-6)
    np.testing.assert_allclose(made[2], np.full(4, (X[:, 0] * X[0, 0]).max()), rtol=1e-6)
    with pytest.raises(ValueError, match="`parallel_iterations` currently unsupported"):
        parallel_for.pfor(lambda i, pfor_config: pfor_config.reduce_sum(i), 4, parallel_iterations=2)


def test_only_the_taken_branch_has_effects():
    taken = tf.Variable(0.0)

    def some(x):
        return tf.cond(x > 1.0, lambda: taken.assign_add(x) * 0.0, lambda: x)

    assert tf.vectorized_map(some, tf.constant([1.0, 2.0, 3.0]), warn=False).numpy().tolist() == [1.0, 0.0, 0.0]
    assert float(taken) == 5.0


def test_bodies_with_what_has_no_converter_run_whole():
    def squares(x):
        array = tf.TensorArray(tf.float32, 3)
        return tf.while_loop(lambda i, a: i < 3, lambda i, a: (i + 1, a.write(i, x * x)), (0, array))[1].stack()

    made = tf.vectorized_map(tf.function(squares), tf.constant([1.0, 2.0]), warn=False)
    np.testing.assert_allclose(made, [[1, 1, 1], [4, 4, 4]])
    assert tf.function(lambda: tf.vectorized_map(lambda x: x[0], tf.ones([4, 3]))).get_concrete_function().outputs[
        0].shape == [4]


class Pair(tf.experimental.BatchableExtensionType):
    first: tf.Tensor
    second: tf.Tensor


def test_elements_of_extension_types():
    """Sums by hand; 2.21 gives those of pairs, and fails where elements are ragged or sparse."""
    pairs = Pair(first=tf.constant([[1, 2], [3, 4], [5, 6]]), second=tf.constant([[10, 20], [30, 40], [50, 60]]))
    sums = tf.vectorized_map(lambda x: x[0].first + x[0].second * x[1], (pairs, tf.constant([1, 2, 3])))
    np.testing.assert_array_equal(sums, [[11, 22], [63, 84], [155, 186]])
    swapped = tf.vectorized_map(lambda x: Pair(first=x.second, second=x.first), pairs)
    np.testing.assert_array_equal(swapped.first, pairs.second)
    rows = tf.vectorized_map(tf.reduce_sum, tf.ragged.constant([[1, 2], [3]]))
    np.testing.assert_array_equal(rows, [3, 3])
    dense = tf.vectorized_map(tf.sparse.to_dense, tf.sparse.from_dense([[1, 0], [0, 2]]))
    np.testing.assert_array_equal(dense, [[1, 0], [0, 2]])


def test_loops_that_never_run_have_shapes():
    assert parallel_for.for_loop(lambda i: tf.gather(tf.ones([3, 2]), i), tf.float32, 0).shape == [0, 2]


def test_eigenvalues_without_vectors():
    values = tf.vectorized_map(tf.linalg.eigvalsh, tf.constant([[[2.0, 0.0], [0.0, 1.0]], [[4.0, 0.0], [0.0, 3.0]]]))
    np.testing.assert_allclose(values, [[1, 2], [3, 4]])


def recurrent(x):
    states = tf.TensorArray(tf.float32, 3)
    step = lambda i, h, a: (i + 1, tf.tanh(h + x[i]), a.write(i, h * tf.cast(i, tf.float32)))  # noqa: E731
    _, h, states = tf.while_loop(lambda i, *_: i < 3, step, [0, x[0], states])
    return states.stack() * h


def growing(x):
    rows = tf.TensorArray(tf.float32, 0, dynamic_size=True, element_shape=[5])
    for i in range(3):
        rows = rows.write(i, x[i] * 2.0)
    return rows.gather([2, 0])


def by_element(x):
    rows = tf.TensorArray(tf.float32, 3).unstack(x)
    place = tf.cast(x[0, 0] * 2.0, tf.int32) % 3
    fixed = tf.TensorArray(tf.float32, 3, clear_after_read=False).unstack(tf.ones([3, 5]))
    return rows.read(place) + fixed.write(place, x[1]).read(1) + fixed.read(place)


def pushed(x):
    values = tf.raw_ops.EmptyTensorList(element_shape=[5], max_num_elements=-1, element_dtype=tf.float32)
    values = tf.raw_ops.TensorListPushBack(input_handle=values, tensor=x[0])
    values = tf.raw_ops.TensorListPushBack(input_handle=values, tensor=V)
    values, last = tf.raw_ops.TensorListPopBack(input_handle=values, element_shape=[5], element_dtype=tf.float32)
    return last + tf.raw_ops.TensorListGetItem(input_handle=values, index=0, element_shape=[5],
                                               element_dtype=tf.float32)


LISTS = {
    "map": lambda x: tf.map_fn(lambda row: row * tf.reduce_sum(row), x),
    "scan": lambda x: tf.scan(lambda a, row: tf.tanh(a * row), x),
    "fold": lambda x: tf.foldr(lambda a, row: a * 0.5 + row, x),
    "scatter": lambda x: tf.TensorArray(tf.float32, 4).scatter([3, 0, 1, 2], tf.concat([x, x[:1]], 0)).stack(),
    "concat": lambda x: tf.TensorArray(tf.float32, 3).unstack(x).concat(),
    "recurrent": recurrent, "growing": growing, "by_element": by_element, "pushed": pushed,
}


@pytest.mark.parametrize("name", sorted(LISTS))
def test_lists_of_all_iterations_are_one(name):
    f = LISTS[name]
    whole = tf.function(lambda x: tf.vectorized_map(f, x, fallback_to_while_loop=False))(tf.constant(X))
    single = tf.function(f)
    np.testing.assert_allclose(whole, [single(tf.constant(x)) for x in X], rtol=1e-5)


def test_a_body_that_differentiates_conditionals_and_loops():
    def f(x):
        y = tf.cond(tf.reduce_sum(x) > 15.0, lambda: x * x, lambda: x * 3.0)
        _, y = tf.while_loop(lambda i, _: i < 3, lambda i, y: (i + 1, y * tf.sin(y)), [0, y])
        return tf.reduce_sum(y * y)

    whole = tf.function(lambda x: tf.vectorized_map(lambda row: slope(f, row), x, warn=False))(tf.constant(X))
    np.testing.assert_allclose(whole, [slope(f, tf.constant(x)) for x in X], rtol=1e-4)
