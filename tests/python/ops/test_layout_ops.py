"""Dimensions and sizes in other layouts; comparisons in bits."""
import numpy as np
import pytest

import penstock.v1 as tf


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as opened:
        yield opened


@pytest.mark.parametrize("x, source, target, expected", [
    ([0, 1, 2, 3, -1, -4], "NHWC", "NCHW", [0, 2, 3, 1, 1, 0]),
    ([-5, 1, 4], "NDHWC", "DHWNC", [3, 0, 4]),
    ([0, 1, 2, 3], "qwer", "rewq", [3, 2, 1, 0]),
])
def test_dim_map(session, x, source, target, expected):
    assert list(session.run(tf.raw_ops.DataFormatDimMap(x=x, src_format=source, dst_format=target))) == expected


@pytest.mark.parametrize("x, source, target, expected", [
    ([7, 4, 9, 3], "NHWC", "NCHW", [7, 3, 4, 9]),
    ([7, 4, 9, 3], "NHWC", "HWNC", [4, 9, 7, 3]),
    ([[7, 4], [9, 3], [4, 5], [5, 1]], "NHWC", "NCHW", [[7, 4], [5, 1], [9, 3], [4, 5]]),
    ([7, 4], "NHWC", "NCWH", [4, 7]),
    ([1, 2, 3, 4, 5], "NDHWC", "NCDHW", [1, 5, 2, 3, 4]),
])
def test_vec_permute(session, x, source, target, expected):
    got = session.run(tf.raw_ops.DataFormatVecPermute(x=x, src_format=source, dst_format=target))
    np.testing.assert_array_equal(got, expected)


@pytest.mark.parametrize("x, source, target, message", [
    ([0, 1], "NHW", "NCHW", "Source format must be of length 4 or 5"),
    ([0, 1], "NHWW", "NCHW", "Destination and source format must determine a permutation, got NHWW and NCHW"),
    ([0, 1], "NHWC", "NCDHW", "must determine a permutation"),
    ([0, 1, 2], "NHWC", "NCHW", r"1D input must be of size 2 or 4, but got shape \[3\]"),
    ([[1, 2, 3]] * 4, "NHWC", "NCHW", "Second dimension of 2D input must be of size 2"),
    ([0, 1], "abcd", "dcba", "must contain H and W"),
])
def test_formats_that_do_not_fit(session, x, source, target, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        session.run(tf.raw_ops.DataFormatVecPermute(x=x, src_format=source, dst_format=target))


@pytest.mark.parametrize("dtype", [np.bool_, np.float16, np.float32, np.float64, np.int8, np.int16, np.int32, np.int64])
def test_compare_and_bitpack(session, dtype):
    x = np.random.RandomState(0).randint(-4, 4, [3, 2, 24]).astype(dtype)
    threshold = dtype(1)
    got = session.run(tf.raw_ops.CompareAndBitpack(input=x, threshold=threshold))
    np.testing.assert_array_equal(got, np.packbits(x if dtype == np.bool_ else x > threshold, axis=-1))


def test_compare_and_bitpack_refuses(session):
    with pytest.raises(ValueError, match="evenly divisible by 8"):
        tf.raw_ops.CompareAndBitpack(input=[1.0] * 7, threshold=1.0)
    fed = tf.placeholder(tf.float32)
    packed = tf.raw_ops.CompareAndBitpack(input=fed, threshold=1.0)
    with pytest.raises(tf.errors.InvalidArgumentError, match="should be divisible by 8, but saw shape: .7."):
        session.run(packed, {fed: [1.0] * 7})
    with pytest.raises(tf.errors.InvalidArgumentError, match="at least a vector"):
        session.run(packed, {fed: 1.0})
