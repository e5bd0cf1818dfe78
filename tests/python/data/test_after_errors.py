"""What a pipeline gives behind an element that failed, with which error, and what a checkpoint of it holds."""
import os

import numpy as np
import pytest

import penstock as tf2
import penstock.v1 as tf
from penstock._src.data.experimental.ops import optimization
from penstock._src.graph import context

Dataset = tf.data.Dataset


@pytest.fixture(autouse=True)
def eagerly():
    with context.eager_mode():
        yield


def elements(dataset, most=30):
    """The elements; errors by their names."""
    found, iterator = [], iter(dataset)
    while len(found) < most:
        try:
            found.append(np.asarray(next(iterator)).tolist())
        except StopIteration:
            return found
        except tf.errors.OpError as e:
            found.append(type(e).__name__)
    return found


def of_sizes(*sizes):
    return Dataset.from_tensor_slices(list(sizes)).map(lambda n: tf.fill([n], n))


def test_a_batch_whose_rows_do_not_fit_takes_all_of_them_with_it():
    assert elements(of_sizes(1, 2, 1, 3, 3, 3, 1).batch(3)) == ["InvalidArgumentError", [[3, 3, 3]] * 3, [[1]]]
    assert elements(of_sizes(3, 3, 1, 2).batch(3, drop_remainder=True)) == ["InvalidArgumentError"]
    fused = of_sizes(1, 2, 1, 3).apply(tf.data.experimental.map_and_batch(lambda x: x, 3))
    assert elements(fused) == ["InvalidArgumentError", [[3, 3, 3]]]
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"\[tensor\]: \[2\], \[batch\]: \[1\]"):
        next(iter(fused))


def test_the_error_of_a_row_comes_before_that_of_the_batch():
    dataset = Dataset.range(3).map(lambda n: tf.fill([12 // (2 - n)], n)).batch(3)
    with pytest.raises(tf.errors.InvalidArgumentError, match="(?i)division by zero"):
        next(iter(dataset))


def test_rows_that_are_no_rows_of_a_sparse_batch_fail_one_by_one():
    assert elements(Dataset.range(3).apply(tf.data.experimental.dense_to_sparse_batch(2, [4]))) == [
        "InvalidArgumentError"] * 3


def test_what_lies_between_windows_may_fail():
    windows = Dataset.range(6).map(lambda x: 12 // (x - 1)).window(1, shift=3)
    assert elements(windows.flat_map(lambda window: window)) == [-12, 6]



def test_generators_of_version_two_give_the_type_they_announced():
    def build(module):
        return module.data.Dataset.from_generator(lambda: [1, 2.5, 3], tf.int32)
    assert elements(build(tf)) == [1, 2, 3]


def test_padded_shapes_have_sizes_or_none():
    with pytest.raises(ValueError, match="Dimension -5 must be >= 0"):
        Dataset.range(3).batch(1).padded_batch(2, tf.constant([5], tf.int64) * -1)


@pytest.mark.parametrize("ahead", [0, 1])
def test_the_legacy_interleave_goes_on_behind_empty_datasets_and_errors(ahead):
    def interleaved(numbers, make):
        return Dataset.from_tensor_slices(np.int64(numbers)).map(lambda x: x + 12 // (x - 5) * 0).apply(
            tf.data.experimental.parallel_interleave(make, 2, buffer_output_elements=1, prefetch_input_elements=ahead))

    def repeated(x):
        return Dataset.from_tensors(x).repeat(x)
    assert elements(interleaved([0, 0, 0, 0], repeated)) == []
    assert elements(interleaved([0, 3, 0, 2], repeated)) == [3, 3, 2, 3, 2]
    assert elements(interleaved([4, 5, 6], repeated)) == [4, "InvalidArgumentError", 4, 4, 6, 4] + 5 * [6]


def test_names_of_iterators_in_errors():
    fails = Dataset.range(3).map(lambda x: 1 // x)
    for dataset, names in ((fails.take(2).repeat(2), "FiniteRepeat::FiniteTake::Map"),
                           (fails.skip(0).cache(), "MemoryCacheImpl::FiniteSkip::Map"),
                           (fails.padded_batch(2, []), "PaddedBatchV2::Map")):
        options = tf.data.Options()
        options.experimental_optimization.apply_default_optimizations = False
        with pytest.raises(tf.errors.InvalidArgumentError, match=f"Iterator::Root::{names}: "):
            next(iter(dataset.with_options(options)))


# Checkpoints


def saved_and_resumed(dataset, position, directory):
    """The elements behind `position`, of the iterator itself and of another one that was restored."""
    iterator = iter(dataset)
    for _ in range(position):
        next(iterator)
    path = tf2.train.Checkpoint(it=iterator).save(os.path.join(directory, "at"))
    other = iter(dataset)
    tf2.train.Checkpoint(it=other).restore(path)
    return [np.asarray(x).tolist() for x in iterator], [np.asarray(x).tolist() for x in other]


def test_a_window_that_is_read_is_saved(tmp_path):
    dataset = Dataset.range(7).window(3).flat_map(lambda window: window)
    mine, restored = saved_and_resumed(dataset, 4, tmp_path)
    assert mine == restored == [4, 5, 6]


def test_optional_values_are_saved(tmp_path):
    optional = tf.data.experimental.Optional
    dataset = Dataset.range(5).map(lambda x: optional.from_value((x, x + 1))).shuffle(3, seed=2).map(
        lambda o: o.get_value()[1])
    mine, restored = saved_and_resumed(dataset, 2, tmp_path)
    assert mine == restored and len(mine) == 3


def test_functions_with_state_are_refused(tmp_path):
    dataset = tf.data.Dataset.range(3).map(lambda x: x + tf.random.uniform([], 0, 5, tf.int64))
    iterator = iter(dataset)
    with pytest.raises(tf.errors.FailedPreconditionError, match="RandomUniformInt is stateful."):
        tf2.train.Checkpoint(it=iterator).save(str(tmp_path / "at"))
    options = tf.data.Options()
    options.experimental_external_state_policy = tf2.data.experimental.ExternalStatePolicy.IGNORE
    tf2.train.Checkpoint(it=iter(dataset.with_options(options))).save(str(tmp_path / "at"))


def test_prints_and_lookups_are_no_state_to_save(tmp_path):
    """As in TensorFlow: what they read is not the iterator's."""
    table = tf.lookup.StaticHashTable(tf.lookup.KeyValueTensorInitializer([0, 1], [5, 6], tf.int64, tf.int64), -1)

    def function(x):
        tf.print("element", x, output_stream="file://" + str(tmp_path / "printed"))
        return table.lookup(x)

    iterator = iter(Dataset.range(3).map(function))
    assert int(next(iterator)) == 5
    path = tf2.train.Checkpoint(it=iterator).save(str(tmp_path / "at"))
    assert [int(x) for x in iterator] == [6, -1]
    tf2.train.Checkpoint(it=iterator).restore(path)
    assert [int(x) for x in iterator] == [6, -1]


@pytest.mark.parametrize("fused", [True, False])
def test_rows_that_do_not_fit_into_a_batch_that_is_dropped(fused):
    """As in TensorFlow: an error if the function and the batch run as one, else they are dropped with the batch."""
    dataset = Dataset.from_tensor_slices([2, 2, 3, 2, 4]).map(lambda n: tf.ones([n]))
    options = tf.data.Options()
    options.experimental_optimization.map_and_batch_fusion = fused
    iterator = iter(dataset.take(2).map(tf.identity).batch(2, drop_remainder=True)
                    .concatenate(dataset.map(tf.identity).batch(9, drop_remainder=True)).with_options(options))
    assert next(iterator).shape == [2, 2]
    if fused:
        with pytest.raises(tf.errors.InvalidArgumentError, match="number of elements does not match"):
            next(iterator)
    assert list(iterator) == []


def test_a_function_that_is_used_no_more_is_not_in_the_way(tmp_path):
    iterator = iter(Dataset.from_generator(lambda: [1, 2], tf.int32, []).prefetch(0))
    assert [int(x) for x in iterator] == [1, 2]
    tf2.train.Checkpoint(it=iterator).save(str(tmp_path / "at"))


# Rewriting


def test_the_faster_of_two_branches():
    dataset = optimization._ChooseFastestBranchDataset(
        Dataset.range(95), [lambda d: d.map(lambda x: -x).batch(10), lambda d: d.batch(10).map(lambda x: -x)],
        ratio_numerator=10, num_elements_per_branch=2)
    assert elements(dataset) == [[-x for x in range(at, min(95, at + 10))] for at in range(0, 95, 10)]
    again = optimization._ChooseFastestBranchDataset(Dataset.range(2), [lambda d: d.repeat(2)] * 2)
    assert elements(again)[-1] == "InvalidArgumentError"


@pytest.mark.parametrize("use_choose_fastest", [False, True])
def test_maps_of_whole_batches(use_choose_fastest):
    offset = tf.constant([1, 2], tf.int64)
    names = ["ChooseFastestBranch"] if use_choose_fastest else ["BatchV2", "Map"]
    dataset = Dataset.range(25).apply(optimization.assert_next(names)).map(
        lambda x: (x + offset, tf.as_string(x))).batch(10)
    options = tf.data.Options()
    options.experimental_optimization.apply_default_optimizations = False
    options.experimental_optimization.map_vectorization.enabled = True
    options.experimental_optimization.map_vectorization.use_choose_fastest = use_choose_fastest
    found = [(a.numpy().tolist(), b.numpy().tolist()) for a, b in dataset.with_options(options)]
    assert found == [([[x + 1, x + 2] for x in part], [b"%d" % x for x in part])
                     for part in (range(10), range(10, 20), range(20, 25))]


def test_what_runs_ahead_gets_a_buffer():
    dataset = Dataset.range(9).apply(optimization.assert_next(["ParallelMap", "Prefetch", "FiniteTake"])).map(
        lambda x: x + 1, num_parallel_calls=2).take(5)
    options = tf.data.Options()
    options.experimental_optimization.inject_prefetch = True
    assert elements(dataset.with_options(options)) == [1, 2, 3, 4, 5]
