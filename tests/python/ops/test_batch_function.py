"""Functions that run once for several calls."""
import threading

import pytest

import penstock as tf
from penstock._src.graph import context

pytestmark = pytest.mark.usefixtures("version_two")


def batched(seen, **settings):
    settings = {"num_batch_threads": 2, "max_batch_size": 6, "batch_timeout_micros": 1000, **settings}

    @tf.nondifferentiable_batch_function(**settings)
    def computed(x, y):
        seen.append(0)
        rows = tf.py_function(lambda x: seen.append(len(x.numpy())) or x, [x], tf.float32)
        return rows * 2 + y, tf.reduce_sum(x, 1)

    return computed


def ones(rows):
    return tf.ones([rows, 2]), tf.ones([rows, 2])


def test_one_call_is_padded():
    seen = []
    call = batched(seen, allowed_batch_sizes=[3, 6])
    twice, sums = tf.function(call)(*ones(1))
    assert twice.numpy().tolist() == [[3, 3]] and sums.numpy().tolist() == [2] and 3 in seen
    twice, sums = call(*ones(4))
    assert twice.shape == (4, 2) and sums.shape == (4,) and seen[-1] == 6
    assert [part.shape for part in call(*ones(0))] == [(0,), (0,)]


def test_calls_that_come_together():
    seen, results = [], {}
    call = tf.function(batched(seen, batch_timeout_micros=5_000_000, max_batch_size=4))
    call.get_concrete_function(*ones(1))

    def run(i):
        with context.eager_mode():
            results[i] = call(tf.fill([1, 2], float(i)), tf.zeros([1, 2]))[0].numpy().tolist()

    threads = [threading.Thread(target=run, args=(i,)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {i: [[2 * i, 2 * i]] for i in range(4)}
    assert [n for n in seen if n] == [4]  # full, so it did not wait for the time


def test_a_call_in_parts():
    seen = []
    call = batched(seen, allowed_batch_sizes=[2, 4])
    x = tf.reshape(tf.range(12.), [6, 2])
    twice, sums = call(x, tf.zeros([6, 2]))
    assert twice.numpy().tolist() == (x * 2).numpy().tolist() and sums.numpy().tolist() == [1, 5, 9, 13, 17, 21]
    assert sorted(n for n in seen if n) == [2, 4]


def test_captured_values():
    weight = tf.Variable(3.)

    @tf.nondifferentiable_batch_function(1, 6, 1000)
    def computed(x):
        return {"y": x * weight + tf.constant(2.) * weight}

    assert computed(tf.ones([2, 2]))["y"].numpy().tolist() == [[9, 9], [9, 9]]
    node = [op for op in tf.function(lambda: computed(tf.ones([2, 2]))).get_concrete_function().graph.get_operations()
            if op.type == "BatchFunction"][0]
    assert node.name == "batch/BatchFunction" and node.get_attr("shared_name") == b"batch/"


def test_errors():
    def run(**settings):
        return lambda: batched([], **settings)(*ones(1))

    def returning(fn):
        return lambda: tf.nondifferentiable_batch_function(1, 6, 1000)(fn)(tf.ones([2, 2]))

    invalid, precondition = tf.errors.InvalidArgumentError, tf.errors.FailedPreconditionError
    for error, message, call in (
            (invalid, "Task size 8 is larger than maximum input batch size 6", lambda: batched([])(*ones(8))),
            (invalid, "must have equal 0th-dimension size",
             lambda: tf.nondifferentiable_batch_function(1, 6, 10)(lambda x, y: x)(tf.ones([2, 2]), tf.ones([1, 2]))),
            (invalid, "must be monotonically increasing", run(allowed_batch_sizes=[6, 3])),
            (invalid, "final entry in allowed_batch_sizes must equal max_batch_size",
             run(allowed_batch_sizes=[3, 5], enable_large_batch_splitting=False)),
            (precondition, "Batched output tensor has 0 dimensions", returning(tf.reduce_sum)),
            (precondition, "0th dimension does not equal .* size: 5", returning(lambda x: tf.ones([5]))),
            (invalid, "oops", returning(lambda x: tf.debugging.check_numerics(x / 0., "oops"))),
            (ValueError, "supposed to be Tensors; found 3", lambda: batched([])(3))):
        with pytest.raises(error, match=message):
            call()
