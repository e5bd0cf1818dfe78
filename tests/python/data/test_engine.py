"""What goes wrong in a pipeline is told at the right element, and the rest still comes; threads, cancellation."""
import subprocess
import sys
import threading
import time

import numpy as np
import pytest

import penstock.v1 as tf
from penstock._src.graph import context

Dataset = tf.data.Dataset
HANGS = 100  # seconds after which something that is waited for will never come


def test_maps_of_version_one_keep_the_number_of_elements():
    count = tf.data.experimental.cardinality
    with context.eager_mode():
        dataset = Dataset.range(5)
        assert int(count(dataset.map(lambda x: x))) == int(count(dataset.map(lambda x: x, 2))) == 5
        assert int(count(dataset.apply(tf.data.experimental.map_and_batch(lambda x: x, 2)))) == 3


def test_functions_see_the_collections_of_their_graph():
    seen = []

    def see(x):
        seen.append((tf.global_variables(), tf.get_collection("mine")))
        tf.add_to_collection("mine", "inside")
        return x

    with tf.Graph().as_default():
        variable = tf.get_variable("v", [])
        tf.add_to_collection("mine", "outside")
        Dataset.range(3).map(see)
        assert seen == [([variable], ["outside"])] and tf.get_collection("mine") == ["outside"]


def elements(dataset, most=50):
    """The elements as a session gets them; errors by their names."""
    found = []
    next_element = tf.data.make_one_shot_iterator(dataset).get_next()
    with tf.Session() as session:
        while len(found) < most:
            try:
                found.append(np.asarray(session.run(next_element)).tolist())
            except tf.errors.OutOfRangeError:
                return found
            except tf.errors.OpError as e:
                found.append(type(e).__name__)
    return found


def eager_elements(dataset, most=50):
    found = []
    iterator = iter(dataset)
    while len(found) < most:
        try:
            found.append(np.asarray(next(iterator)).tolist())
        except StopIteration:
            return found
        except tf.errors.OpError as e:
            found.append(type(e).__name__)
    return found


def checked(x):
    return tf.debugging.check_numerics(1 / tf.cast(x - 2, tf.float32), "division") + tf.cast(x, tf.float32)


EXPECTED = [-0.5, 0.0, "InvalidArgumentError", 4.0, 4.5]


@pytest.mark.parametrize("parallel", [None, 1, 4, tf.data.experimental.AUTOTUNE])
@pytest.mark.parametrize("ahead", [False, True])
def test_a_function_fails_for_one_element(parallel, ahead):
    def pipeline():
        dataset = Dataset.range(5).map(checked, num_parallel_calls=parallel)
        return dataset.prefetch(2) if ahead else dataset
    with tf.Graph().as_default():
        assert elements(pipeline()) == EXPECTED
        assert elements(pipeline().apply(tf.data.experimental.ignore_errors())) == EXPECTED[:2] + EXPECTED[3:]
    with context.eager_mode():
        assert eager_elements(pipeline()) == EXPECTED


def test_the_message_names_the_transformation():
    with tf.Graph().as_default():
        next_element = tf.data.make_one_shot_iterator(Dataset.range(2, 5).map(checked)).get_next()
        with tf.Session() as session, pytest.raises(tf.errors.InvalidArgumentError) as raised:
            session.run(next_element)
    assert "Error in user-defined function passed to MapDataset" in str(raised.value)
    assert "iterator: Iterator::Root" in str(raised.value) and "division" in str(raised.value)


def test_a_generator_raises():
    def generator():
        yield 1
        yield 2
        raise ValueError("no more")
    with context.eager_mode():
        found = eager_elements(Dataset.from_generator(generator, tf.int32, []), most=4)
    assert found[:3] == [1, 2, "InvalidArgumentError"]


def test_python_functions_run_on_any_thread():
    with context.eager_mode():
        doubled = Dataset.range(40).map(lambda x: tf.py_function(lambda v: v * 2, [x], tf.int64), num_parallel_calls=4)
        assert eager_elements(doubled.prefetch(3)) == list(range(0, 80, 2))


@pytest.mark.parametrize("limit", ["option", "pool"])
def test_a_pool_limits_the_threads_of_a_stage(limit):
    at_work, most = [0], []

    def call(x):
        at_work[0] += 1
        most.append(at_work[0])
        time.sleep(0.002)
        at_work[0] -= 1
        return x

    with context.eager_mode():
        dataset = Dataset.range(40).map(lambda x: tf.py_function(call, [x], tf.int64), num_parallel_calls=16)
        if limit == "option":
            options = tf.data.Options()
            options.experimental_threading.private_threadpool_size = 2
            dataset = dataset.with_options(options)
        else:
            from penstock._src.data.experimental.ops import threadpool
            dataset = threadpool.override_threadpool(dataset, threadpool.PrivateThreadPool(2, display_name="two"))
        assert eager_elements(dataset) == list(range(40))
    assert max(most) <= 2


def test_what_has_no_pool_is_refused():
    with context.eager_mode(), pytest.raises(tf.errors.InvalidArgumentError, match="greater than zero"):
        tf.raw_ops.ThreadPoolHandle(num_threads=0, display_name="none")


def test_mapped_rows_have_the_shape_that_is_stated():
    from penstock._src.data.experimental.ops import map_defun
    from penstock._src.tf_function import function
    with context.eager_mode():
        double = function.defun(lambda x: x * 2, input_signature=[tf.TensorSpec([2], tf.int32)])
        rows = tf.constant([[1, 2], [3, 4]])
        assert map_defun.map_defun(double, [rows], [tf.int32], [(2,)])[0].numpy().tolist() == [[2, 4], [6, 8]]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Mismatch in function retval shape"):
            map_defun.map_defun(double, [rows], [tf.int32], [(1,)])


def test_replicas_take_parts_of_batches_of_several_sizes():
    from penstock._src.data.experimental.ops.distribute import _RebatchDataset
    with context.eager_mode():
        zipped = Dataset.zip((Dataset.range(64).batch(16), Dataset.range(32).batch(8)))
        parts = [[t.tolist() for t in pair] for pair in _RebatchDataset(zipped, num_replicas=4).as_numpy_iterator()]
    assert parts == [[list(range(4 * i, 4 * i + 4)), [2 * i, 2 * i + 1]] for i in range(16)]


def test_batches_of_different_shapes():
    with tf.Graph().as_default():
        ragged = Dataset.range(1, 4).map(lambda x: tf.fill([x], x)).batch(2)
        assert elements(ragged) == ["InvalidArgumentError", [[3, 3, 3]]]


def test_iterators_of_one_dataset_are_independent():
    with context.eager_mode():
        dataset = Dataset.range(5).shuffle(5, seed=1).map(lambda x: x + 1, num_parallel_calls=2)
        first, second = iter(dataset), iter(dataset)
        merged = [int(next(first)), int(next(second))]
        merged += [int(x) for x in first] + [int(x) for x in second]
        assert sorted(merged) == sorted(2 * list(range(1, 6)))


def test_a_buffer_of_one_element_is_filled_again_and_again():
    with context.eager_mode():
        assert int(Dataset.range(20_000).prefetch(1).reduce(np.int64(0), lambda n, _: n + 1)) == 20_000


def test_parallel_stages_keep_all_elements_in_order():
    with context.eager_mode():
        n = 5000
        dataset = Dataset.range(n).map(lambda x: x + 1, num_parallel_calls=3).prefetch(7).batch(100)
        assert np.array_equal(np.concatenate([b.numpy() for b in dataset]), np.arange(1, n + 1))

        def inner(i):
            return Dataset.range(i * 1000, i * 1000 + 300)
        plain = Dataset.range(7).interleave(inner, cycle_length=3, block_length=2)
        parallel = Dataset.range(7).interleave(inner, cycle_length=3, block_length=2, num_parallel_calls=3)
        assert eager_elements(plain, 10000) == eager_elements(parallel, 10000)


@pytest.mark.parametrize("calls, message", [(None, "length must be greater than zero"), (2, "length` must be > 0")])
def test_an_interleave_needs_positive_lengths(calls, message):
    with context.eager_mode():
        for lengths in (0, 1), (2, 0):
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                Dataset.range(2).interleave(lambda x: Dataset.range(2), *lengths, num_parallel_calls=calls)


@pytest.mark.parametrize("parallelism", [1, 2, 4])
def test_batches_of_strings_keep_their_order(parallelism):
    """Wherever the iterator was saved, while threads read, hand over and work on what was read."""
    n, size, tail = 25, 40, "-of-more-bytes-than-a-string-holds-itself"
    expected = [[b"%d%s%s" % (i * size + j, tail.encode(), b"!") for j in range(size)] for i in range(n)]
    with context.eager_mode():
        dataset = Dataset.range(n * size).map(lambda x: tf.strings.as_string(x) + tail).batch(size)
        dataset = dataset.map(lambda batch: batch + "!", num_parallel_calls=parallelism).prefetch(1)
        assert [batch.numpy().tolist() for batch in dataset] == expected
        for taken in (0, 1, 2, 3, 11, n):
            iterator = iter(dataset)
            assert [next(iterator).numpy().tolist() for _ in range(taken)] == expected[:taken]
            state = tf.raw_ops.SerializeIterator(resource_handle=iterator._iterator_resource)
            restored = iter(dataset)
            tf.raw_ops.DeserializeIterator(resource_handle=restored._iterator_resource, serialized=state)
            assert [batch.numpy().tolist() for batch in restored] == expected[taken:]
            assert [batch.numpy().tolist() for batch in iterator] == expected[taken:]


@pytest.mark.parametrize("deterministic", [True, False])
def test_calls_may_wait_for_each_other(deterministic):
    """Each element is mapped by a call of its own, as in TensorFlow, however quick the calls before were."""
    events = [threading.Event() for _ in range(40)]
    order = list(range(30)) + [31, 30, 33, 32, 35, 34, 37, 36, 39, 38]

    def call(i):
        assert events[i].wait(HANGS)
        return i

    options = tf.data.Options()
    options.experimental_deterministic = deterministic
    with context.eager_mode():
        dataset = Dataset.range(40).map(lambda x: tf.numpy_function(call, [x], tf.int64), num_parallel_calls=4)
        iterator = iter(dataset.with_options(options))
        found = []
        for i in order:
            events[i].set()
            if not deterministic:
                found.append(int(next(iterator)))
        found += [int(x) for x in iterator]
    assert found == (sorted(order) if deterministic else order)


def test_a_thread_waits_while_others_run():
    """Whoever waits for an element holds neither Python's lock nor a thread of the step."""
    gate = threading.Event()

    def generator():
        yield 0
        gate.wait(HANGS)
        yield 1
    with tf.Graph().as_default():
        next_element = tf.data.make_one_shot_iterator(Dataset.from_generator(generator, tf.int32, [])).get_next()
        with tf.Session() as session:
            assert session.run(next_element) == 0
            got = []
            waiting = threading.Thread(target=lambda: got.append(session.run(next_element)))
            waiting.start()
            assert session.run(tf.constant(3) + 4) == 7
            gate.set()
            waiting.join(HANGS)
            assert got == [1]


def test_closing_a_session_ends_a_wait():
    asked = threading.Event()

    def generator():
        asked.set()
        yield 0
        time.sleep(0.5)
        yield 1
    with tf.Graph().as_default():
        slow = Dataset.from_generator(generator, tf.int32, []).repeat().filter(lambda x: x > 5)
        next_element = tf.data.make_one_shot_iterator(slow).get_next()
        session = tf.Session()
        errors = []

        def wait():
            try:
                session.run(next_element)
            except tf.errors.OpError as e:
                errors.append(type(e).__name__)
        waiting = threading.Thread(target=wait)
        waiting.start()
        assert asked.wait(HANGS)
        session.close()
        waiting.join(HANGS)
        assert errors == ["CancelledError"]


def test_the_process_ends_with_pipelines_at_work():
    program = """
import penstock.v1 as tf
tf.enable_eager_execution()
d = tf.data.Dataset.range(10 ** 9).map(lambda x: tf.py_function(lambda v: v + 1, [x], tf.int64), num_parallel_calls=2)
d = d.interleave(lambda x: tf.data.Dataset.from_tensors(x).repeat(3), 4, num_parallel_calls=2).prefetch(5)
it = iter(d)
print(int(next(it)), int(next(it)))
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
    assert done.stdout.split() == ["1", "2"] and done.returncode == 0, done.stderr



@pytest.mark.parametrize("pipeline", [
    lambda: Dataset.range(3).flat_map(lambda i: Dataset.range(4).shuffle(4, seed=2)).repeat(3),
    lambda: Dataset.range(5).shuffle(5, seed=2).map(lambda x: x + 1).repeat(4),
    lambda: Dataset.range(6).shuffle(6, seed=2).interleave(lambda i: Dataset.range(i, i + 2), 2).take(99).repeat(3),
    lambda: Dataset.range(6).shuffle(6, seed=2).interleave(lambda i: Dataset.range(i, i + 2), 2,
                                                           num_parallel_calls=2).repeat(3),
])
def test_a_restored_iterator_shuffles_later_rounds_as_it_would_have(pipeline, tmp_path):
    """Also where no iterator of the shuffle is there when it is saved: between two rounds, or near the end of one."""
    with context.eager_mode():
        for taken in range(0, 20, 3):
            iterator = iter(pipeline())
            for _ in range(taken):
                next(iterator)
            path = tf.train.Checkpoint(iterator=iterator).save(str(tmp_path / "state"))
            restored = iter(pipeline())
            tf.train.Checkpoint(iterator=restored).restore(path)
            assert [int(x) for x in restored] == [int(x) for x in iterator], taken
