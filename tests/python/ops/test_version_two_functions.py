"""Functions and arguments of version 2: seeds, losses, eigenvalues, quantization. The values are TensorFlow 2.21's."""
import inspect
import re

import numpy as np
import pytest

import penstock as tf
from penstock._src.graph import context


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


def test_seeds_from_seeds():
    np.testing.assert_array_equal(tf.random.split([1, 2], 2), [[1105988140, 1738052849], [-335576002, 370444179]])
    np.testing.assert_array_equal(tf.random.fold_in([1, 2], 5), [1105988140, 5])
    np.testing.assert_array_equal(tf.random.experimental.stateless_shuffle(tf.range(10), [1, 2]),
                                  [0, 3, 8, 1, 5, 4, 9, 7, 6, 2])
    same = [tf.random.stateless_uniform([1], [1, 2], alg=alg) for alg in ("philox", tf.random.Algorithm.PHILOX, 1)]
    np.testing.assert_allclose(same, [[0.84406]] * 3, atol=1e-5)
    with pytest.raises(tf.errors.InvalidArgumentError):
        tf.random.stateless_uniform([1], [1, 2], alg="threefry")
    with pytest.raises(ValueError, match="alg"):
        tf.random.stateless_normal([1], [1, 2], alg="unheard")


@pytest.mark.parametrize("name, arguments, mean", [
    ("brightness", (0.3, [1, 2]), 0.70535), ("contrast", (0.3, 0.9, [1, 2]), 0.49891),
    ("hue", (0.3, [1, 2]), 0.49845), ("saturation", (0.3, 0.9, [1, 2]), 0.54656),
    ("crop", ([4, 5, 3], [1, 2]), 0.52311),
    ("jpeg_quality", (30, 80, [1, 2]), 0.49657), ("flip_left_right", ([1, 2],), 0.49891)])
def test_images_by_seeds(name, arguments, mean):
    image = tf.random.stateless_uniform([2, 16, 16, 3], [1, 2])[0]
    changed = getattr(tf.image, "stateless_random_" + name)(image, *arguments)
    np.testing.assert_allclose(tf.reduce_mean(changed), mean, atol=2e-5)


def test_flips_of_a_batch_by_seeds():
    images = tf.random.stateless_uniform([2, 16, 16, 3], [1, 2])
    np.testing.assert_allclose(tf.image.stateless_random_flip_left_right(images, [5, 6])[:, 0, 0, 0], [0.4481, 0.29621],
                               atol=1e-5)


def test_losses_of_replicas():
    assert tf.nn.compute_average_loss([1.0, 2, 3], [0.5, 0.5, 1]).numpy() == 1.5
    assert tf.nn.compute_average_loss([1.0, 2, 3], global_batch_size=6).numpy() == 1.0
    assert tf.nn.scale_regularization_loss([1.0, 2]).numpy() == 3.0
    with pytest.raises(ValueError, match="rank 1"):
        tf.nn.compute_average_loss(1.0)


def test_isotonic_regression():
    x = tf.constant([[3.0, 1, 2], [1, 2, 3], [5, 4, 4]])
    values, blocks = tf.nn.isotonic_regression(x)
    np.testing.assert_array_equal(values, [[3, 1.5, 1.5], [2, 2, 2], [5, 4, 4]])
    np.testing.assert_array_equal(blocks, [[0, 1, 1], [0, 0, 0], [0, 1, 2]])
    np.testing.assert_array_equal(tf.nn.isotonic_regression(x, decreasing=False, axis=0)[0],
                                  [[2, 1, 2], [2, 2, 3], [5, 4, 4]])
    assert tf.nn.isotonic_regression([1, 2])[0].dtype == tf.float64
    with tf.GradientTape() as tape:
        tape.watch(x)
        y = tf.nn.isotonic_regression(x[:2])[0] * [[1.0, 2, 3], [4, 5, 7]]
    np.testing.assert_allclose(tape.gradient(y, x)[:2], [[1, 2.5, 2.5], [16 / 3] * 3], rtol=1e-6)


def test_greatest_along_a_dimension():
    values, indices = tf.math.approx_max_k([[1.0, 5, 3], [9, 7, 8]], 2)
    np.testing.assert_array_equal(values, [[5, 3], [9, 8]])
    np.testing.assert_array_equal(indices, [[1, 2], [0, 2]])
    np.testing.assert_array_equal(tf.nn.approx_min_k([[1.0, 5], [9, 7], [0, 8]], 1, 0)[1], [[2, 0]])
    assert tf.nn.top_k([1.0, 5, 3], 2, True, tf.int64)[1].dtype == tf.int64


def test_dropout_by_seed():
    np.testing.assert_array_equal(tf.nn.experimental.stateless_dropout(tf.ones([2, 4]), 0.5, [1, 2]),
                                  [[2, 0, 2, 0], [0, 2, 0, 0]])


def test_eigenvalues_and_systems():
    a = tf.constant([[2.0, 1, 0], [1, 3, 1], [0, 1, 4]])
    expected = [1.26795, 3.0, 4.73205]
    np.testing.assert_allclose(np.sort(np.real(tf.linalg.eigvals(a))), expected, atol=1e-5)
    np.testing.assert_allclose(tf.linalg.eigh_tridiagonal([2.0, 3, 4], [1.0, 1]), expected, atol=1e-5)
    np.testing.assert_allclose(tf.linalg.eigh_tridiagonal([2.0, 3, 4], [1.0, 1], select="v", select_range=(1.5, 3.5)),
                               expected[1:2], atol=1e-5)
    operator = tf.linalg.LinearOperatorFullMatrix(a, is_self_adjoint=True, is_positive_definite=True)
    state = tf.linalg.experimental.conjugate_gradient(operator, tf.constant([1.0, 2, 3]))
    assert state.i.numpy() == 2
    np.testing.assert_allclose(state.x, [1 / 3, 1 / 3, 2 / 3], rtol=1e-5)
    np.testing.assert_allclose(tf.linalg.banded_triangular_solve([[2.0, 3, 4], [0, 1, 1]], tf.ones([3, 1])),
                               [[0.5], [1 / 6], [5 / 24]], rtol=1e-5)


def test_even_distances():
    np.testing.assert_array_equal(tf.linspace([0.0, 1], [10.0, 19], 3), [[0, 1], [5, 10], [10, 19]])
    np.testing.assert_array_equal(tf.linspace([0.0, 1], [10.0, 19], 3, axis=-1), [[0, 5, 10], [1, 10, 19]])
    assert tf.linspace(0, 10, 5).dtype == tf.float64 and tf.linspace(0.0, 1.0, 0).shape == [0]
    shapes = []

    @tf.function(input_signature=[tf.TensorSpec([4, None]), tf.TensorSpec([None, 5])])
    def function(start, stop):
        shapes.extend(tf.linspace(start, stop, 10, axis=axis).shape.as_list() for axis in (0, 1, -1))
        return start

    function.get_concrete_function()
    assert shapes == [[10, 4, 5], [4, 10, 5], [4, 5, 10]]


def test_diagonals_are_aligned():
    x = tf.reshape(tf.range(12), [3, 4])
    np.testing.assert_array_equal(tf.linalg.diag_part(x, k=(-1, 1)), [[1, 6, 11], [0, 5, 10], [4, 9, 0]])
    np.testing.assert_array_equal(tf.linalg.diag_part(x, k=(-1, 2), align="LEFT_LEFT"),
                                  [[2, 7, 0], [1, 6, 11], [0, 5, 10], [4, 9, 0]])


def test_products_and_sigmoids_with_more_arguments():
    product = tf.matmul(tf.constant([[100, 100]], tf.int8), tf.constant([[2], [3]], tf.int8), output_type=tf.int32)
    assert product.dtype == tf.int32 and product.numpy() == 500
    np.testing.assert_allclose(tf.nn.silu([1.0, -2], beta=2.0), [0.8808, -0.036], atol=1e-4)
    assert tf.sparse.cross([tf.constant([["a"]]), tf.constant([["b"]])], separator="-").values[0].numpy() == b"a-b"


def test_what_lies_outside_is_nothing_where_it_is_ignored():
    x = tf.constant([[1.0, 2], [3, 4]])
    with tf.GradientTape() as tape:
        tape.watch(x)
        picked = tf.gather_nd(x, [[0, 5], [1, 1]], bad_indices_policy="IGNORE")
    np.testing.assert_array_equal(picked, [0, 4])
    np.testing.assert_array_equal(tape.gradient(picked, x), [[0, 0], [0, 1]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="does not index"):
        tf.gather_nd(x, [[0, 5], [1, 1]])


def test_quantized_values_are_plain_arrays():
    for dtype, plain in ((tf.qint8, np.int8), (tf.quint8, np.uint8), (tf.qint32, np.int32)):
        assert tf.quantization.quantize([1.0, 2], 0.0, 4.0, dtype)[0].numpy().dtype == plain


def test_boxes_of_several_images():
    boxes = tf.constant([[[0.0, 0, 1, 1], [0, 0.1, 1, 1.1], [0, -0.1, 1, 0.9], [0, 10, 1, 11]]] * 2)
    scores = tf.constant([[0.9, 0.75, 0.6, 0.95], [0.1, 0.75, 0.6, 0.5]])
    indices, counts = tf.image.non_max_suppression_padded(boxes, scores, 3, 0.5, pad_to_max_output_size=True)
    np.testing.assert_array_equal(indices, [[3, 0, 0], [1, 3, 0]])
    np.testing.assert_array_equal(counts, [2, 2])


def test_a_function_decorated_for_arrays():
    @tf.numpy_function(Tout=tf.float32)
    def doubled(x):
        return 2 * x

    assert doubled(tf.constant(3.0)).numpy() == 6.0


def test_packages_of_version_two():
    assert tf.feature_column.numeric_column("x").key == "x"
    assert "f" in inspect.signature(tf.test.compute_gradient).parameters
    assert tf.sysconfig.get_include()
    np.testing.assert_allclose(tf.math.erfcinv([0.1, 1.9]), [1.16309, -1.16309], atol=1e-5)
    np.testing.assert_array_equal(tf.sparse.map_values(tf.add, tf.sparse.from_dense([[1, 0]]), 5).values, [6])


def test_quotients_of_integers_and_python_numbers():
    whole = tf.constant([3, -8], tf.int64)
    for divide, other, expected in ((tf.math.truediv, -2, [-1.5, 4]), (tf.math.divide_no_nan, [2, 0], [1.5, 0])):
        quotient = divide(whole, other)
        assert quotient.dtype == tf.float64
        np.testing.assert_array_equal(quotient, expected)
    np.testing.assert_allclose(tf.math.angle([-2.0, 3.0]), [np.pi, 0])
    z = tf.constant([1 + 1j, 3 - 1j])
    np.testing.assert_allclose(tf.math.reduce_variance(z), np.var(z), rtol=1e-6)
    with pytest.raises(TypeError, match="integer"):
        tf.math.reduce_variance([1, 2])


def test_images_fitted_with_the_size_in_floats():
    image = tf.random.stateless_uniform([4, 4, 1], [1, 2])
    fitted = tf.image.resize_with_pad(image, 7, 9)  # 4 / (4 / 7) is a little less than 7 in float32
    np.testing.assert_array_equal(np.any(fitted.numpy()[:, :, 0] != 0, 0), [False] + [True] * 6 + [False] * 2)


def test_ragged_rows_stacked_split_and_summed():
    rows = tf.ragged.stack([[1, 2], [3, 4, 5]])
    assert rows.to_list() == [[1, 2], [3, 4, 5]] and tf.ragged.stack([[1], [2]]).ragged_rank == 1
    assert tf.cumsum(rows, axis=1).to_list() == [[1, 3], [3, 7, 12]]
    assert tf.cumsum(rows, axis=0).to_list() == [[1, 2], [4, 6, 5]]
    assert tf.cumsum(rows, axis=1, exclusive=True, reverse=True).to_list() == [[2, 0], [9, 5, 0]]
    assert [part.to_list() for part in tf.split(rows, 2)] == [[[1, 2]], [[3, 4, 5]]]
    with pytest.raises(ValueError, match="ragged dimension 1"):
        tf.split(rows, [1, 1], axis=1)
    np.testing.assert_allclose(tf.math.reduce_std(rows, axis=1), [0.5, np.std([3, 4, 5])])


def test_collections_of_functions():
    @tf.function
    def outer():
        graph = tf.compat.v1.get_default_graph()
        tf.compat.v1.add_to_collection("things", 1)

        @tf.function
        def inner():
            assert tf.compat.v1.get_collection("things") == [1]
            tf.compat.v1.add_to_collection("things", 2)
            return tf.constant(3)

        result = inner()
        assert graph.get_collection("things") == [1]
        return result

    assert outer().numpy() == 3


def test_gradients_of_batch_norm_over_nothing():
    empty, ones = tf.zeros([0, 2, 2, 3]), tf.ones([3])
    y = tf.raw_ops.FusedBatchNormV3(x=empty, scale=ones, offset=ones, mean=[], variance=[])
    grads = tf.raw_ops.FusedBatchNormGradV3(y_backprop=empty, x=empty, scale=ones, reserve_space_1=y.reserve_space_1,
                                            reserve_space_2=y.reserve_space_2, reserve_space_3=y.reserve_space_3)
    np.testing.assert_array_equal(grads.scale_backprop, [0, 0, 0])
    np.testing.assert_array_equal(grads.offset_backprop, [0, 0, 0])


@pytest.mark.parametrize("rank", [True, False])
def test_shapes_that_are_known_when_it_runs(rank):
    def traced(f, *values):
        values = [tf.constant(v) for v in values]
        spec = [tf.TensorSpec([None] * len(v.shape) if rank else None, v.dtype) for v in values]
        return tf.function(f, input_signature=spec)(*values).numpy()

    x = np.arange(10, dtype=np.float32).reshape(2, 5)
    np.testing.assert_array_equal(traced(tf.signal.fftshift, x), np.fft.fftshift(x))
    np.testing.assert_array_equal(traced(tf.signal.ifftshift, x), np.fft.ifftshift(x))
    np.testing.assert_array_equal(traced(lambda a: tf.signal.fftshift(a, axes=1), x), np.fft.fftshift(x, axes=1))
    np.testing.assert_array_equal(traced(lambda a, b: tf.einsum("ij,kj->ik", a, b), x, x), x @ x.T)
    np.testing.assert_array_equal(traced(lambda a: tf.math.unsorted_segment_mean(a, [1, 1], 3), x),
                                  [[0] * 5, x.mean(0), [0] * 5])


@pytest.mark.parametrize("turn, axes", [
    (tf.image.flip_up_down, lambda x: x[..., ::-1, :, :]), (tf.image.flip_left_right, lambda x: x[..., ::-1, :]),
    (tf.image.transpose, lambda x: np.swapaxes(x, -3, -2)),
    (tf.image.rot90, lambda x: np.swapaxes(x, -3, -2)[..., ::-1, :, :])])
def test_images_and_batches_of_unknown_rank(turn, axes, version_two):
    images = np.arange(2 * 3 * 4 * 3).reshape(2, 3, 4, 3)
    turned = tf.function(turn, input_signature=[tf.TensorSpec(None, tf.int64)])
    np.testing.assert_array_equal(turned(images), axes(images))
    np.testing.assert_array_equal(turned(images[0]), axes(images[0]))


def test_standardized_images_are_floats():
    image = np.arange(48, dtype=np.uint8).reshape(4, 4, 3)
    standard = tf.image.per_image_standardization(image)
    assert standard.dtype == tf.float32
    np.testing.assert_allclose(standard, (image - 23.5) / np.std(np.arange(48)), rtol=1e-5)


def test_moments_without_weights_are_zero(version_two):
    mean, variance = tf.nn.weighted_moments(tf.constant([[1., 2.], [3., 4.]]), [0], tf.constant([[0., 1.], [0., 1.]]))
    np.testing.assert_array_equal([mean, variance], [[0, 3], [0, 1]])


def test_isotonic_regression_of_unknown_rank():
    regress = tf.function(lambda x: tf.nn.isotonic_regression(x, axis=0), input_signature=[tf.TensorSpec(None)])
    x = np.random.default_rng(0).normal(size=[4, 3, 2]).astype(np.float32)
    for ours, known in zip(regress(x), tf.nn.isotonic_regression(x, axis=0)):
        np.testing.assert_array_equal(ours, known)


def test_grid_over_nothing():
    assert tf.meshgrid() == []


def test_division_gives_a_tensor(version_two):
    assert tf.is_tensor(tf.math.divide(1, 2)) and tf.math.divide(1, 2).dtype == tf.float64


def test_arrays_in_einsum_take_the_type_of_tensors():
    np.testing.assert_array_equal(tf.einsum("ij,kj->ik", np.ones((1, 2)), tf.constant([[3., 4.]])), [[7]])


@pytest.mark.parametrize("equation, shapes", [
    ("ii->i", [(3, 3)]), ("...ii->...", [(2, 3, 3)]), ("ij...,jk...->ik...", [(2, 3, 1, 1), (3, 4, 5)]),
    ("ba", [(2, 3)]), ("a b, b c -> a c", [(2, 3), (3, 4)]), ("ab,bc,cd,de->ae", [(2, 3), (3, 4), (4, 5), (5, 6)]),
    ("ab...,b...,c->ac...", [(2, 3, 7), (3, 7), (5,)]), ("ij,jk,ij->k", [(2, 3), (3, 4), (2, 3)])])
def test_einsum(equation, shapes):
    rng = np.random.default_rng(0)
    inputs = [rng.normal(size=shape) for shape in shapes]
    wanted = np.einsum(equation, *inputs)
    np.testing.assert_allclose(tf.einsum(equation, *inputs, optimize="optimal"), wanted, rtol=1e-10)
    unknown = tf.function(lambda *xs: tf.einsum(equation, *xs), input_signature=[
        tf.TensorSpec([None] * len(shape), tf.float64) for shape in shapes])
    np.testing.assert_allclose(unknown(*inputs), wanted, rtol=1e-10)


@pytest.mark.parametrize("equation, error, message", [
    ("ij,jk->iz", ValueError, "Output subscripts contain the label z not present in the input subscripts."),
    ("ij,jk->ii", ValueError, "Output subscripts contain a label appearing more than once: ij,jk->ii"),
    ("ij", ValueError, 'Got 2 inputs for equation "ij", expecting 1'),
    ("i.j,jk", ValueError, "Subscripts have incorrect format: i.j,jk"),
    ("ijk,jk->i", tf.errors.InvalidArgumentError, "Expected input 0 to have rank 3 but got: 2")])
def test_what_einsum_refuses(equation, error, message):
    with pytest.raises(error, match=re.escape(message)):
        tf.einsum(equation, tf.ones([2, 3]), tf.ones([3, 4]))
    with pytest.raises(TypeError, match="Invalid keyword arguments for einsum: how"):
        tf.einsum("ij->ji", tf.ones([2, 3]), how=1)


def test_range_of_tensors_of_another_type():
    assert tf.range(tf.constant(1), tf.constant(3), dtype=tf.int64).dtype == tf.int64
    np.testing.assert_array_equal(tf.range(tf.constant(1), 3, dtype=tf.float32), [1., 2.])


def test_identity_of_what_is_made_of_tensors():
    slices = tf.identity(tf.IndexedSlices(tf.ones([2, 3]), tf.constant([1, 1]), tf.constant([4, 3])))
    assert isinstance(slices, tf.IndexedSlices)
    np.testing.assert_array_equal(slices.indices, [1, 1])
    sparse = tf.identity(tf.SparseTensor([[0, 1]], [5.], [2, 2]))
    np.testing.assert_array_equal(tf.sparse.to_dense(sparse), [[0, 5], [0, 0]])


def test_numbers_and_ranks():
    numbers = [tf.float16, tf.qint8, tf.complex64, tf.uint8]
    assert all(t.is_numeric for t in numbers) and not any(t.is_numeric for t in (tf.bool, tf.string, tf.variant))
    ranks = []
    tf.function(lambda x: ranks.append(x.ndim), input_signature=[tf.TensorSpec([None, 2])])(tf.ones([1, 2]))
    tf.function(lambda x: ranks.append(x.ndim), input_signature=[tf.TensorSpec(None)])(1.)
    assert ranks == [2, -1]


@pytest.mark.parametrize("limits, length", [
    ((0.1, 1.1, 0.1), 10), ((0., 0.3, 0.1), 3), ((1., 2., 0.1), 10), ((0.3, 0.9, 0.2), 3)])
def test_lengths_of_ranges_of_floats(limits, length):
    assert tf.range(*limits).shape == [length]
    assert tf.function(lambda: tf.range(*limits))().shape == [length]


def test_endless_rates_give_endless_counts():
    assert tf.random.poisson([2], [np.inf]).numpy().tolist() == [[np.inf], [np.inf]]
    assert tf.random.stateless_poisson([2], [1, 2], np.inf, dtype=tf.float32).numpy().tolist() == [np.inf, np.inf]


def test_isotonic_regression_is_an_op_of_graphs():
    regress = tf.function(lambda x: tf.nn.isotonic_regression(x)[0], input_signature=[tf.TensorSpec([None, None])])
    assert "IsotonicRegression" in [op.type for op in regress.get_concrete_function().graph.get_operations()]
    np.testing.assert_array_equal(regress([[1.0, 2.0]]), [[1.5, 1.5]])


def test_points_that_fill_the_cube():
    np.testing.assert_array_equal(tf.math.sobol_sample(3, 4), [[.5, .5, .5], [.75, .25, .25], [.25, .75, .75],
                                                               [.375, .375, .625]])
    np.testing.assert_array_equal(tf.math.sobol_sample(2, 2, skip=2, dtype=tf.float64), [[.25, .75], [.375, .375]])
    with pytest.raises(tf.errors.InvalidArgumentError, match="dim must be at most 2056"):
        tf.math.sobol_sample(2057, 1)


def test_a_box_by_seed():  # recorded from 2.21
    begin, size, box = tf.image.stateless_sample_distorted_bounding_box([50, 60, 3], [[[0.1, 0.2, 0.5, 0.6]]], (1, 2),
                                                                        min_object_covered=0.3)
    assert begin.numpy().tolist() == [0, 4, 0] and size.numpy().tolist() == [44, 55, -1]
    np.testing.assert_allclose(box, [[[0, 4 / 60, 44 / 50, 59 / 60]]], rtol=1e-6)
    with pytest.raises(tf.errors.InvalidArgumentError, match="No bounding boxes"):
        tf.image.stateless_sample_distorted_bounding_box([50, 60, 3], tf.zeros([1, 0, 4]), (1, 2))


@pytest.mark.parametrize("scatter", ["scatter_nd", "tensor_scatter_nd_update", "tensor_scatter_nd_add",
                                     "tensor_scatter_nd_sub", "tensor_scatter_nd_max"])
def test_gradients_ignore_what_the_op_ignores(scatter):
    indices, updates = tf.constant([[1], [7], [-1]]), tf.constant([5.0, 6.0, 7.0])
    raw = {"scatter_nd": "ScatterNd", "tensor_scatter_nd_update": "TensorScatterUpdate"}.get(
        scatter, "TensorScatter" + scatter.rpartition("_")[2].title())
    with tf.GradientTape() as tape:
        tape.watch(updates)
        to = {"shape": [3]} if scatter == "scatter_nd" else {"tensor": tf.zeros([3])}
        y = getattr(tf.raw_ops, raw)(indices=indices, updates=updates, bad_indices_policy="IGNORE", **to)
    np.testing.assert_array_equal(tape.gradient(y, updates), [-1.0 if scatter.endswith("sub") else 1.0, 0, 0])
    np.testing.assert_array_equal(y, [0, -5.0 if scatter.endswith("sub") else 5.0, 0])


@pytest.mark.parametrize("axes, lengths", [(None, None), ([1, 2], None), ([0, 2], [5, 6]), ([1, 2], [2, 5]),
                                           ([-3], [4])])
@pytest.mark.parametrize("norm", [None, "ortho", "forward"])
def test_transforms_along_any_axes(axes, lengths, norm):
    random = np.random.RandomState(0)
    x = random.normal(size=[4, 3, 6]) + 1j * random.normal(size=[4, 3, 6])
    close = {"atol": 1e-12}
    np.testing.assert_allclose(tf.signal.fftnd(x, lengths, axes, norm), np.fft.fftn(x, lengths, axes, norm), **close)
    np.testing.assert_allclose(tf.signal.ifftnd(x, lengths, axes, norm), np.fft.ifftn(x, lengths, axes, norm), **close)
    np.testing.assert_allclose(tf.signal.rfftnd(x.real, lengths, axes, norm), np.fft.rfftn(x.real, lengths, axes, norm),
                               **close)
    half = np.fft.rfftn(x.real, lengths, axes, norm)
    np.testing.assert_allclose(tf.signal.irfftnd(half, lengths, axes, norm), np.fft.irfftn(half, lengths, axes, norm),
                               **close)


def test_bad_axes_of_transforms():
    x = np.ones([2, 3], np.complex64)
    for args in ([None, [2]], [None, [0, 0]], [[4], [0, 1]], [None, None, "none"]):
        with pytest.raises(ValueError, match="axes|norm"):
            tf.signal.fftnd(x, *args)


def test_parts_of_numbers(monkeypatch):
    monkeypatch.setattr("penstock._src.base.tf2.enabled", lambda: True)
    z = np.array([[3 + 4j, 0], [1j, -2]], np.complex64)
    np.testing.assert_allclose(tf.math.l2_normalize(z, 1), z / [[5], [np.sqrt(5)]], rtol=1e-6)
    np.testing.assert_allclose(tf.compat.v1.angle([-1.0, 2.0]), [np.pi, 0])
    with pytest.raises(TypeError, match="must be a numeric tensor"):
        tf.math.real(["a"])
    with pytest.raises(ValueError, match="coeffs must be list type"):
        tf.math.polyval((1.0, 2.0), 3.0)


def test_products_at_some_places():
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 3, 4)), rng.normal(size=(2, 4, 5))
    places, values = np.array([[[0, 1], [2, 4]], [[1, 0], [1, 3]]]), rng.normal(size=(2, 2))
    got = tf.sparse.sampled_addmm(places, values, [3, 5], a, b, beta=0.5, alpha=2.0, output_type=tf.float64)
    want = [[2 * (a[i] @ b[i])[tuple(place)] for place in places[i]] for i in range(2)] + 0.5 * values
    np.testing.assert_allclose(got[1], want)
    with pytest.raises(ValueError, match="does not match output shape"):
        tf.sparse.sampled_addmm(places, values, [4, 5], a, b)


def test_images_and_what_is_asked_of_them(monkeypatch):
    monkeypatch.setattr("penstock._src.base.tf2.enabled", lambda: True)
    image = np.arange(24.0, dtype=np.float32).reshape(4, 6, 1)
    crop = tf.function(lambda fraction: tf.image.central_crop(image, fraction), autograph=False)
    np.testing.assert_array_equal(crop(tf.constant(0.5)), image[1:3, 1:5])
    np.testing.assert_array_equal(crop(tf.constant(1.0)), image)
    with pytest.raises(ValueError, match="within"):
        tf.image.central_crop(image, tf.constant(0.0))
    with pytest.raises(ValueError, match=r"delta must be in the interval \[-1, 1\]"):
        tf.image.adjust_hue(np.ones([2, 2, 3], np.float32), 1.5)
    images = np.ones([1, 16, 16, 3], np.float32)
    np.testing.assert_allclose(tf.image.ssim(images, images, 1.0, return_index_map=True), np.ones([1, 6, 6]))


def test_initializers_make_parts():
    for make in (tf.zeros_initializer, tf.ones_initializer, tf.random_normal_initializer,
                 tf.random_uniform_initializer):
        assert make()([4, 2], tf.float32, partition_shape=[1, 2], partition_offset=[3, 0]).shape == [1, 2]
    from penstock._src.ops.state import init_ops_v2
    row = init_ops_v2.VarianceScaling(seed=1)([10000, 50], partition_shape=[1, 50])  # of a whole with 10000 inputs
    assert row.shape == [1, 50] and np.abs(row).max() < 0.03
    with pytest.raises(ValueError, match="Constant initializer doesn't support partition-related arguments"):
        tf.constant_initializer(1.0)([4], partition_shape=[1])
    with pytest.raises(TypeError, match="should be one of .* Received: dtpye"):
        tf.zeros_initializer()([4], dtpye=tf.float32)


def test_products_of_bytes_and_short_floats():
    x, y = np.array([[1, -2], [127, 3]], np.int8), tf.constant([[0.5, 2.0], [1.0, -4.0]], tf.bfloat16)
    np.testing.assert_array_equal(tf.matmul(x, y, output_type=tf.bfloat16), [[-1.5, 10], [66.5, 242]])
    np.testing.assert_array_equal(tf.matmul(y, np.uint8([[4], [255]]), output_type=tf.bfloat16), [[512], [-1016]])


def test_derivatives_of_truncated_normal_numbers():  # recorded from 2.21
    inputs = [tf.constant(x, tf.float64) for x in ([[0.0], [1.0]], [1.0, 2.0], -1.0, [2.0, 5.0])]
    for low, mean, deviation, by_low, by_high in (
            (-1.0, [[6], [6]], [0.699904855538938, 1.6667966498844784], 3.592860998735233,
             [1.3960973666428134, 0.3275970852382777]),
            (-np.inf, [[6], [6]], [0.5882789664349668, -0.20438831158561777], 0.0,
             [1.6222582097999243, 0.3817097298504257])):
        inputs[2] = tf.constant(low, tf.float64)
        with tf.GradientTape() as tape:
            tape.watch(inputs)
            y = tf.random.stateless_parameterized_truncated_normal([3, 2, 2], [1, 2], *inputs)
        for got, want in zip(tape.gradient(y, inputs), (mean, deviation, by_low, by_high)):
            np.testing.assert_allclose(got, want, rtol=1e-6)


def test_random_ops_need_seeds_where_results_must_not_differ(monkeypatch):
    from penstock._src.graph import config
    monkeypatch.setattr(config, "_op_determinism", False)
    tf.config.experimental.enable_op_determinism()
    with tf.Graph().as_default():
        with pytest.raises(RuntimeError, match="require a seed to be set when determinism is enabled"):
            tf.random.uniform([2])
        tf.random.uniform([2], seed=1)
        tf.random.set_seed(1)
        tf.random.uniform([2])


def test_a_variable_in_a_function_is_told_without_its_value():
    told, v = [], tf.Variable([1.0], name="told")

    @tf.function
    def function():
        told.append(repr(v))
        return v + 1

    function()
    assert told == ["<tf.Variable 'told:0' shape=(1,) dtype=float32>"]


@pytest.mark.usefixtures("version_two")
def test_sums_are_of_all_integers_and_of_strings():
    for kind in (tf.uint16, tf.uint32, tf.uint64):
        assert tf.add(tf.constant(2, kind), 1).numpy() == 3
        assert tf.math.add(1, tf.constant(2, kind)).dtype == kind
    assert tf.add("a", tf.constant("b")).numpy() == b"ab"
    assert tf.add(tf.ragged.constant([[1], [2, 3]]), 1).to_list() == [[2], [3, 4]]
    with tf.Graph().as_default():
        sums = [tf.add(tf.constant(1.0), 2.0), tf.add(2.0, tf.Variable(1.0)), tf.add(tf.constant("a"), "b")]
        assert [(x.op.type, x.op.name) for x in sums] == [("AddV2", "Add"), ("AddV2", "Add_1"), ("Add", "Add_2")]
        assert tf.compat.v1.add(tf.constant(1.0), 2.0).op.type == "AddV2"


@pytest.mark.usefixtures("version_two")
def test_names_of_scopes():
    with tf.Graph().as_default():
        for name in ("a>b", "0>0", "c\\d", "e>"):
            with tf.name_scope(name), tf.name_scope(">"):
                assert tf.constant(1, name="x").name == f"{name}/>/x:0"
        for name in ("a b", "_a", ">a", "/a", "-a"):
            with pytest.raises(ValueError, match="is not a valid scope name"), tf.name_scope(name):
                pass


@pytest.mark.parametrize("alg", ["auto_select", tf.random.Algorithm.AUTO_SELECT, 3])
def test_generators_may_leave_their_algorithm_open(alg):
    made = tf.random.Generator.from_seed(1, alg=alg)
    assert made.algorithm == 3 and made.state.shape == [3]
    np.testing.assert_array_equal(made.uniform([2]), tf.random.Generator.from_seed(1, alg="philox").uniform([2]))
    assert tf.random.Generator.from_state([1, 2, 3], alg=alg).normal([2]).numpy().tolist() == [
        np.float32(-0.26016375), np.float32(-1.220522)]
    np.testing.assert_array_equal(tf.random.create_rng_state(1, alg), [1, 0, 0])
    assert tf.random.Generator.from_non_deterministic_state(alg=alg).split(2)[0].algorithm == 3
