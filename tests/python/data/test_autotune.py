"""Parallelism and buffer sizes that are left to choose follow measured times, within what options allow."""
import threading
import time

import numpy as np
import pytest

import penstock as tf
from penstock._src.data.experimental.ops import random_access
from penstock._src.data.ops import dataset_ops

Dataset = dataset_ops.DatasetV2
AUTOTUNE = dataset_ops.AUTOTUNE

pytestmark = pytest.mark.usefixtures("version_two")


class Waiting:
    """A function of elements that waits; counts how many calls there are at the same time."""

    def __init__(self, seconds=0.002):
        self.seconds, self.now, self.most, self.calls, self.lock = seconds, 0, 0, 0, threading.Lock()

    def __call__(self, x):
        return tf.numpy_function(self.wait, [x], tf.int64)

    def wait(self, x):
        with self.lock:
            self.now, self.calls = self.now + 1, self.calls + 1
            self.most = max(self.most, self.now)
        time.sleep(self.seconds)
        with self.lock:
            self.now -= 1
        return x


def options(**of_autotune):
    made = tf.data.Options()
    for name, value in of_autotune.items():
        setattr(made.autotune, name, value)
    return made


def mapped(f):
    return Dataset.range(150).map(f, num_parallel_calls=AUTOTUNE)


def interleaved(f):
    return Dataset.range(30).interleave(lambda x: Dataset.range(5 * x, 5 * x + 5).map(f), cycle_length=8,
                                        num_parallel_calls=AUTOTUNE)


@pytest.mark.parametrize("pipeline", [mapped, interleaved])
@pytest.mark.parametrize("of_autotune, least, most", [
    (dict(cpu_budget=1), 2, 8), (dict(cpu_budget=1, enabled=False), 1, 1), (dict(cpu_budget=1, min_parallelism=3,
                                                                                 enabled=False), 3, 3)])
def test_functions_that_wait_get_more_threads_than_cores(pipeline, of_autotune, least, most):
    f = Waiting()
    found = [int(x) for x in pipeline(f).with_options(options(**of_autotune))]
    assert sorted(found) == list(range(150)) and f.calls == 150
    assert least <= f.most <= most


def test_threads_begin_as_many_as_asked_for():
    f = Waiting(0.05)
    iterator = iter(mapped(f).with_options(options(cpu_budget=1, initial_parallelism=5)))
    next(iterator)
    deadline = time.monotonic() + 10
    while f.most < 5 and time.monotonic() < deadline:
        time.sleep(0.01)
    assert f.most >= 5


@pytest.mark.parametrize("ram_budget, at_most", [(1, 6), (1 << 30, 600)])
def test_buffers_grow_as_far_as_memory_goes(ram_budget, at_most):
    f, ahead = Waiting(0), 0
    iterator = iter(Dataset.range(2000).map(f).map(lambda x: tf.fill([1000], x)).prefetch(AUTOTUNE).with_options(
        options(ram_budget=ram_budget)))
    for taken in range(25, 500, 25):  # bursts, between which the buffer fills up
        for _ in range(25):
            next(iterator)
        time.sleep(0.01)
        ahead = max(ahead, f.calls - taken)
    assert ahead <= at_most
    assert at_most < 10 or ahead > 10


def test_interleaved_elements_that_are_large_are_not_made_in_hundreds():
    f = Waiting(0)
    inner = Dataset.range(100).map(f).map(lambda x: tf.fill([100_000], x))
    iterator = iter(Dataset.range(4).interleave(lambda _: inner, cycle_length=4, num_parallel_calls=2))
    next(iterator)
    time.sleep(0.2)
    assert f.calls <= 40


def test_batches_are_joined_by_several_threads_in_order():
    rows = np.arange(10_000).reshape(1000, 10)
    dataset = Dataset.from_tensor_slices((rows, rows.astype(str)))
    for calls in (1, 3, AUTOTUNE):
        for drop in (False, True):
            batches = list(dataset.batch(7, drop_remainder=drop, num_parallel_calls=calls))
            assert len(batches) == (142 if drop else 143)
            numbers, words = (np.concatenate([b[i].numpy() for b in batches]) for i in (0, 1))
            np.testing.assert_array_equal(numbers, rows[:len(numbers)])
            np.testing.assert_array_equal(words.astype(str), rows[:len(numbers)].astype(str))


def test_a_parallel_batch_whose_rows_do_not_fit_fails_alone():
    dataset = Dataset.range(1, 9).map(lambda x: tf.fill([2 if x != 3 else 1], x)).batch(2, num_parallel_calls=2)
    iterator, found = iter(dataset), []
    for _ in range(4):
        try:
            found.append(next(iterator).numpy()[:, 0].tolist())
        except tf.errors.InvalidArgumentError as e:
            assert "Cannot batch tensors with different shapes in component 0" in str(e)
            found.append("error")
    assert found == [[1, 2], "error", [5, 6], [7, 8]]
    assert next(iterator, None) is None


def test_the_state_of_a_parallel_batch(tmp_path):
    def batches():
        return iter(Dataset.range(100).batch(3, num_parallel_calls=2))

    iterator = batches()
    for _ in range(5):
        next(iterator)
    path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "saved"))
    rest = [b.numpy().tolist() for b in iterator]
    iterator = batches()
    tf.train.Checkpoint(iterator=iterator).restore(path)
    assert [b.numpy().tolist() for b in iterator] == rest
    assert rest[0] == [15, 16, 17] and rest[-1] == [99]


def test_parallel_batches_by_their_places():
    dataset = Dataset.range(10).batch(4, num_parallel_calls=2)
    assert [random_access.at(dataset, i).numpy().tolist() for i in (2, 0)] == [[8, 9], [0, 1, 2, 3]]
    assert len(dataset) == 3


def test_iterators_that_start_warm_make_elements_before_they_are_asked():
    for pipeline in (mapped, interleaved, lambda f: Dataset.range(9).map(f).prefetch(2)):
        f, warm = Waiting(0), options()
        warm.experimental_warm_start = True
        iterator = iter(pipeline(f).with_options(warm))
        deadline = time.monotonic() + 10
        while not f.calls and time.monotonic() < deadline:
            time.sleep(0.01)
        assert f.calls > 0
        assert int(next(iterator)) == 0


@pytest.mark.parametrize("work", [2000, 5000, 10000, 15000, 20000, 30000])
def test_a_buffer_that_grows_while_it_is_emptied_is_filled_again(work):
    # Elements that take about as long as a thread works before it hands over: the reader waits for each of them.
    made = Dataset.range(1).interleave(
        lambda _: Dataset.range(300).map(lambda x: tf.reduce_sum(tf.exp(tf.zeros([work]) + tf.cast(x, tf.float32)))),
        cycle_length=2, num_parallel_calls=AUTOTUNE)
    assert len(list(made)) == 300
