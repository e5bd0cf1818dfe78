"""Draws that cannot succeed, and sizes that no memory holds, end with an error. TensorFlow 2.21 has the values and the
errors below, but for the samplers: there its process hangs."""
import numpy as np
import pytest

import penstock as tf
from penstock._src.graph import context


@pytest.fixture(autouse=True)
def eager(version_two):
    with context.eager_mode():
        yield


@pytest.mark.parametrize("weights", [[1.0, 0.0, 1.0], [1.0, 1e-44, 1.0], [1e38, 1e-8, 1e38]])
def test_more_different_classes_than_can_be_drawn(weights):
    true = tf.constant([[0]], tf.int64)
    with pytest.raises(tf.errors.InvalidArgumentError, match="3 different classes are wanted, but only 2"):
        tf.random.fixed_unigram_candidate_sampler(true, 1, 3, True, 3, unigrams=weights, seed=1)
    sampled = tf.random.fixed_unigram_candidate_sampler(true, 1, 2, True, 3, unigrams=weights, seed=1)[0]
    assert sorted(sampled.numpy()) == [0, 2]


@pytest.mark.parametrize("sampler", [
    tf.random.log_uniform_candidate_sampler, tf.random.learned_unigram_candidate_sampler,
    tf.random.uniform_candidate_sampler])
def test_all_classes_and_one_more(sampler):
    true = tf.constant([[0]], tf.int64)
    assert sorted(sampler(true, 1, 10, True, 10, seed=1)[0].numpy()) == list(range(10))
    with pytest.raises(tf.errors.InvalidArgumentError, match="Sampler's range is too small"):
        sampler(true, 1, 11, True, 10, seed=1)


@pytest.mark.parametrize("size, boxes, covered, expected", [
    ([10, 10, 3], [0.0, 0.0, 1.0, 1.0], 2.0, [10, 10, -1]), ([0, 10, 3], [0.0, 0.0, 1.0, 1.0], 0.1, [0, 10, -1]),
    ([10, 10, 3], [0.5, 0.5, 0.5, 0.5], 0.1, [10, 10, -1])])
def test_a_box_that_is_never_found(size, boxes, covered, expected):
    begin, extent, _ = tf.image.sample_distorted_bounding_box(
        size, [[boxes]], seed=1, min_object_covered=covered, max_attempts=2**31 - 1)
    np.testing.assert_array_equal(begin, [0, 0, 0])
    np.testing.assert_array_equal(extent, expected)


@pytest.mark.parametrize("rows, error", [
    (2**62, tf.errors.ResourceExhaustedError), (-1, tf.errors.InvalidArgumentError)])
@pytest.mark.parametrize("entries", [0, 1])
def test_more_empty_rows_than_memory(rows, error, entries):
    with pytest.raises(error):
        tf.raw_ops.SparseFillEmptyRows(
            indices=np.zeros([entries, 2], np.int64), values=np.ones(entries, np.float32),
            dense_shape=np.array([rows, 2], np.int64), default_value=0.0)
