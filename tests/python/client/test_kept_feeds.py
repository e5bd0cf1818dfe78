"""What outlives a step is no borrowed memory: an array that was fed may be changed after it."""
import os
import subprocess
import sys
import textwrap

import numpy as np
import pytest

from penstock import v1 as tf
from penstock._src.ops.queues import data_flow_ops

N = 30000
CASES = {}


def case(build):
    """Of a graph: what keeps the fed vector, and a function that reads it in a later step."""
    CASES[build.__name__.strip("_")] = build
    return build


def _through_queue(value, read):
    """A variant that waits in a queue."""
    queue = tf.FIFOQueue(10, [tf.variant], [[]])
    taken = read(queue.dequeue())
    return queue.enqueue(value), lambda s, _: s.run(taken)


@case
def _fifo_queue(x):
    queue = tf.FIFOQueue(10, [tf.float32], [[N]])
    taken = queue.dequeue()
    return queue.enqueue(tf.identity(x)), lambda s, _: s.run(taken)


@case
def _enqueue_many(x):
    queue = tf.FIFOQueue(N, [tf.float32], [[]])
    taken = queue.dequeue_many(N)
    return queue.enqueue_many(x), lambda s, _: s.run(taken)


@case
def _priority_queue(x):
    queue = tf.PriorityQueue(10, [tf.float32], [[N]])
    taken = queue.dequeue()
    return queue.enqueue((tf.constant(1, tf.int64), x)), lambda s, _: s.run(taken)[1]


@case
def _in_a_branch(x):
    queue = tf.FIFOQueue(10, [tf.float32], [[N]])
    taken = queue.dequeue()
    return tf.cond(tf.constant(True), lambda: queue.enqueue(tf.reshape(x, [N])), tf.no_op), lambda s, _: s.run(taken)


@case
def _dataset_slices(x):
    iterator = tf.data.make_initializable_iterator(tf.data.Dataset.from_tensor_slices(x).batch(N))
    value = iterator.get_next()
    return iterator.initializer, lambda s, _: s.run(value)


@case
def _dataset_tensor(x):
    iterator = tf.data.make_initializable_iterator(tf.data.Dataset.from_tensors(tf.reshape(x, [N])).repeat())
    value = iterator.get_next()
    return iterator.initializer, lambda s, _: s.run(value)


@case
def _captured_by_map(x):
    dataset = tf.data.Dataset.range(3).map(lambda i: x + 0 * tf.cast(i, tf.float32))
    iterator = tf.data.make_initializable_iterator(dataset)
    value = iterator.get_next()
    return iterator.initializer, lambda s, _: s.run(value)


@case
def _session_handle(x):
    def read(s, handle):
        holder, value = tf.get_session_tensor(handle.handle, tf.float32)
        return s.run(value, {holder: handle.handle})
    return tf.get_session_handle(tf.identity(x)), read


@case
def _staging_area(x):
    put = tf.raw_ops.Stage(values=[x], shared_name="s")
    taken = tf.raw_ops.Unstage(dtypes=[tf.float32], shared_name="s")
    return put, lambda s, _: s.run(taken)[0]


@case
def _map_staging_area(x):
    put = tf.raw_ops.MapStage(key=np.int64(1), indices=[0], values=[x], dtypes=[tf.float32], shared_name="m")
    taken = tf.raw_ops.MapUnstage(key=np.int64(1), indices=[0], dtypes=[tf.float32], shared_name="m")
    return put, lambda s, _: s.run(taken)[0]


@case
def _resource_variable(x):
    variable = tf.get_variable("v", [N], use_resource=True)
    return variable.assign(x).op, lambda s, _: s.run(variable)


@case
def _reference_variable(x):
    variable = tf.get_variable("v", [N], use_resource=False)
    return variable.assign(x).op, lambda s, _: s.run(variable)


@case
def _accumulator(x):
    accumulator = tf.ConditionalAccumulator(tf.float32, [N])
    taken = accumulator.take_grad(1)
    return accumulator.apply_grad(x), lambda s, _: s.run(taken)


@case
def _barrier(x):
    barrier = data_flow_ops.Barrier(tf.float32, shapes=[[]])
    taken = barrier.take_many(N)[2][0]
    return barrier.insert_many(0, [str(i) for i in range(N)], x), lambda s, _: s.run(taken)


@case
def _table(x):
    table = tf.raw_ops.MutableHashTableOfTensorsV2(key_dtype=tf.int64, value_dtype=tf.float32, value_shape=[N])
    put = tf.raw_ops.LookupTableInsertV2(table_handle=table, keys=np.int64([1]), values=x[None])
    value = tf.raw_ops.LookupTableFindV2(table_handle=table, keys=np.int64([1]), default_value=tf.zeros([N]))
    return put, lambda s, _: s.run(value)


@case
def _tensor_list(x):
    scalar = tf.constant([], tf.int32)
    return _through_queue(tf.raw_ops.TensorListFromTensor(tensor=x, element_shape=scalar), lambda taken: (
        tf.raw_ops.TensorListStack(input_handle=taken, element_shape=scalar, element_dtype=tf.float32)))


@case
def _optional(x):
    return _through_queue(tf.raw_ops.OptionalFromValue(components=[x]), lambda taken: (
        tf.raw_ops.OptionalGetValue(optional=taken, output_types=[tf.float32], output_shapes=[[N]])[0]))


@case
def _tensor_map(x):
    filled = tf.raw_ops.TensorMapInsert(input_handle=tf.raw_ops.EmptyTensorMap(), key=tf.constant(1), value=x)
    return _through_queue(filled, lambda taken: (
        tf.raw_ops.TensorMapLookup(input_handle=taken, key=tf.constant(1), value_dtype=tf.float32)))


@case
def _python_function(x):
    seen = []

    def look(value):
        seen.append(value)
        return np.float32(0)
    return tf.py_func(look, [x], tf.float32), lambda s, _: seen[0]


def run_case(name):
    """What is read of the fed ones after the array was changed."""
    with tf.Graph().as_default():
        x = tf.placeholder(tf.float32, [N])
        keep, read = CASES[name](x)
        with tf.Session() as s:
            array = np.ones(N, np.float32)
            kept = s.run(keep, {x: array})
            array[:] = 7
            return np.ravel(read(s, kept))


@pytest.mark.parametrize("name", sorted(CASES))
def test_what_is_kept_is_a_copy(name):
    np.testing.assert_array_equal(run_case(name), np.ones(N, np.float32))


def test_partial_run_keeps_a_copy():
    with tf.Graph().as_default():
        x, factor = tf.placeholder(tf.float32, [N]), tf.placeholder(tf.float32, [])
        first, second = x + 0, x * factor
        with tf.Session() as s:
            handle = s.partial_run_setup([first, second], [x, factor])
            array = np.ones(N, np.float32)
            s.partial_run(handle, first, {x: array})
            array[:] = 7
            np.testing.assert_array_equal(s.partial_run(handle, second, {factor: 1.0}), np.ones(N))


def test_steps_end_without_borrowed_memory():
    script = textwrap.dedent("""
        import test_kept_feeds as t
        import numpy as np
        for name in sorted(t.CASES):
            assert (t.run_case(name) == 1).all(), name
        tf = t.tf
        x = tf.placeholder(tf.float32, [None, 64])
        cell = tf.nn.rnn_cell.BasicRNNCell(8)
        outputs, _ = tf.nn.dynamic_rnn(cell, tf.reshape(x, [4, -1, 64]), dtype=tf.float32)
        with tf.Session() as s:
            s.run(tf.global_variables_initializer())
            array = np.ones([40, 64], np.float32)
            s.run(outputs, {x: array})
            assert s.run([x + 1, tf.identity(x)], {x: array})[1].shape == (40, 64)
    """)
    done = subprocess.run([sys.executable, "-c", script], env=dict(
        os.environ, PENSTOCK_CHECK_FEEDS="1",
        PYTHONPATH=os.pathsep.join([os.path.dirname(__file__), os.environ.get("PYTHONPATH", "")])),
        capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stderr[-3000:]
