"""Calls of ops at the edge: empty parts, singular matrices, wrong ranks and attributes. Answers are TensorFlow 2.21's
unless said otherwise."""

import numpy as np
import pytest

import penstock as tf

pytestmark = pytest.mark.usefixtures("version_two")
R = tf.raw_ops
INVALID = tf.errors.InvalidArgumentError


def test_slices_beyond_the_end_take_any_value():
    v = tf.Variable([1.0, 2, 3])
    v[5:].assign([1.0, 2])
    v[5:].assign([[1.0, 2, 3, 4]])
    assert v.numpy().tolist() == [1, 2, 3]
    update = dict(begin=[5], end=[7], strides=[1], value=[1.0, 2])
    assert R.TensorStridedSliceUpdate(input=[1.0, 2, 3], **update).numpy().tolist() == [1, 2, 3]
    with pytest.raises(INVALID):
        v[1:2].assign([1.0, 2])


def test_the_gradient_of_a_slice_is_checked_before_room_is_made():
    # The result would be of 2 ** 51 elements.
    with pytest.raises(INVALID, match=r"shape of dy was \[1\] instead of"):
        R.StridedSliceGrad(shape=[8] * 17, begin=[0] * 17, end=[1] * 17, strides=[1] * 17, dy=[1.0])
    with pytest.raises(INVALID, match=r"shape of dy was \[2\] instead of \[1\]"):
        R.StridedSliceGrad(shape=[3], begin=[0], end=[1], strides=[1], dy=[1.0, 2])


def test_scalars_have_no_positions():
    for value in (True, False, 0, 2.5):
        with pytest.raises(INVALID, match="Unhandled input dimensions: 0"):
            tf.where(value)


def test_unknown_policies_for_bad_indices_are_refused():
    x = np.zeros(3, np.float32)
    for op in (R.TensorScatterUpdate, R.TensorScatterAdd, R.TensorScatterMin):
        for policy in ("", "DEFAULT", "ERROR", "IGNORE"):
            op(tensor=x, indices=[[0]], updates=x[:1], bad_indices_policy=policy)
        with pytest.raises(INVALID, match="Unknown bad indices handling attribute: other"):
            op(tensor=x, indices=[[0]], updates=x[:1], bad_indices_policy="other")
    with pytest.raises(INVALID):  # TensorFlow: NotFoundError
        R.GatherNd(params=x, indices=[[0]], bad_indices_policy="other")


def test_summaries_want_scalars():
    with pytest.raises(INVALID, match=r"tags and values not the same shape: \[\] != \[1\] \(tag 'a'\)"):
        R.ScalarSummary(tags="a", values=[1.0])
    with pytest.raises(INVALID, match="tags must be scalar"):
        R.HistogramSummary(tag=["h"], values=[1.0, 2])


def test_shapes_that_broadcast_are_vectors():
    with pytest.raises(INVALID, match=r"In\[1\] must be a vector"):
        R.BroadcastArgs(s0=[2, 1], s1=3)


def test_the_gradient_of_a_bias_for_vectors_of_channels():
    x, b = tf.constant([[1.0, 2, 3], [4, 5, 6]]), tf.constant([1.0, 2, 3])
    with tf.GradientTape() as tape:
        tape.watch(b)
        y = R.BiasAdd(value=x, bias=b, data_format="NCHW")
    assert tape.gradient(y, b).numpy().tolist() == [2, 2, 2]


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "float64"])
def test_gradients_of_convolutions_without_results_are_zero(dtype):
    x, f = tf.ones([2, 6, 5, 2], dtype), tf.zeros([3, 2, 2, 0], dtype)
    with tf.GradientTape() as tape:
        tape.watch([x, f])
        y = R.DepthwiseConv2dNative(input=x, filter=f, strides=[1, 1, 1, 1], padding="VALID")
    assert y.shape == [2, 4, 4, 0]
    dx, df = tape.gradient(y, [x, f])
    assert not tf.cast(dx, tf.float32).numpy().any() and dx.shape == x.shape and df.shape == f.shape


def test_the_gradient_of_a_projection_does_not_see_what_fills_the_rest():
    x = tf.constant(np.random.RandomState(0).randn(1, 5, 4, 1).astype(np.float32))
    gradients = []
    for fill in (0.0, 300.0):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = R.ImageProjectiveTransformV3(images=x, transforms=[[0.9, 0.2, -1.25, -0.1, 1.2, 0.5, 0, 0]],
                                             output_shape=[6, 7], fill_value=fill, interpolation="BILINEAR")
        gradients.append(tape.gradient(y, x).numpy())
    assert np.array_equal(*gradients) and abs(gradients[0]).max() < 2


@pytest.mark.parametrize("dtype", ["float32", "complex64", "complex128"])
def test_eigenvectors_of_zero_are_the_axes(dtype):
    values, vectors = tf.linalg.eig(tf.zeros([2, 3, 3], dtype))
    assert not values.numpy().any() and np.array_equal(vectors, np.stack([np.eye(3)] * 2))


def test_logarithms_of_singular_matrices_end():
    # In TensorFlow they do not.
    for x in (np.zeros([2, 2]), np.ones([3, 3]), np.diag([1, 0, 2])):
        assert np.isnan(R.MatrixLogarithm(input=x.astype(np.complex64)).numpy()).all()
    found = R.MatrixLogarithm(input=np.diag([1, 2, 4]).astype(np.complex128)).numpy()
    np.testing.assert_allclose(found, np.diag(np.log([1, 2, 4])), atol=1e-14)


def test_bits_of_quantized_numbers_are_limited():
    x = np.array([0.5, 1, 2], np.float32)
    for bits, signed in ((61, True), (62, False)):
        q = R.QuantizeAndDequantizeV3(input=x, input_min=0.0, input_max=2.0, num_bits=bits, signed_input=signed)
        np.testing.assert_allclose(q, x)
    for bits, signed in ((62, True), (63, False), (0, True)):
        with pytest.raises(INVALID, match="num_bits is out of range"):
            R.QuantizeAndDequantizeV3(input=x, input_min=0.0, input_max=2.0, num_bits=bits, signed_input=signed)


def test_windows_over_channels_are_not_implemented():
    x = tf.zeros([1, 4, 4, 3])
    with pytest.raises(tf.errors.UnimplementedError, match="depth dimension"):
        R.MaxPoolGradV2(orig_input=x, orig_output=x, grad=x, ksize=[1, 1, 1, 3], strides=[1, 1, 1, 1], padding="SAME")


def test_eager_ops_without_a_kernel_for_a_type_are_not_found():
    with pytest.raises(tf.errors.NotFoundError, match=r"Could not find device for node: .* Cholesky\[T=DT_HALF\]"):
        R.Cholesky(input=np.eye(2, dtype=np.float16))


def test_rows_of_a_ragged_tensor_of_unknown_shape_are_unknown():
    shapes = []

    @tf.function
    def dense(shape, splits, values):
        y = R.RaggedTensorToTensor(shape=shape, values=values, default_value=0.0, row_partition_tensors=[splits],
                                   row_partition_types=["ROW_SPLITS"])
        shapes.append(y.shape.as_list())
        return y

    splits = tf.constant([0, 2, 2, 3])
    assert dense(tf.constant([2, 1]), splits, tf.constant([1.0, 2, 3])).numpy().tolist() == [[1], [0]]
    assert dense([-1, -1], splits, tf.constant([1.0, 2, 3])).shape == [3, 2]
    assert shapes == [[None, None], [3, None]]  # TensorFlow knows nothing of the second either
