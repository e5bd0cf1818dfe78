"""Many records in little memory; threads that end with their iterators; exceptions at the right element."""
import gc
import os
import subprocess
import sys
import time

import pytest

import penstock as tf
from penstock._src.graph import context

Dataset = tf.data.Dataset


@pytest.fixture(autouse=True)
def eagerly():
    with context.eager_mode():
        yield


def resident_megabytes():
    with open("/proc/self/statm") as f:
        return int(f.read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20


def records(path, n):
    with tf.io.TFRecordWriter(str(path)) as writer:
        for i in range(n):
            writer.write(b"%08d" % i + bytes(92))
    return str(path)


def pipeline(path, rounds):
    dataset = Dataset.from_tensor_slices([path]).repeat(rounds).interleave(
        tf.data.TFRecordDataset, cycle_length=2, num_parallel_calls=2)
    dataset = dataset.shuffle(1000, seed=1).map(tf.strings.length, num_parallel_calls=2)
    return dataset.batch(5000).prefetch(2)


@pytest.mark.slow
def test_ten_million_records_in_flat_memory(tmp_path):
    path = records(tmp_path / "records", 100_000)
    seen, early = 0, None
    for batch in pipeline(path, 100):
        seen += batch.shape[0]
        if seen == 1_000_000:
            early = resident_megabytes()
    assert seen == 10_000_000
    assert resident_megabytes() < early + 30


def threads():
    return len(os.listdir("/proc/self/task"))


def test_threads_end_with_their_iterators(tmp_path):
    path = records(tmp_path / "records", 100)
    for _ in pipeline(path, 1):
        pass
    before = threads()
    begun = [iter(pipeline(path, 1000)) for _ in range(10)]
    for iterator in begun:
        next(iterator)
    assert threads() >= before + 20
    del begun, iterator
    gc.collect()
    deadline = time.monotonic() + 20
    while threads() > before + 12 and time.monotonic() < deadline:  # whoever ended them may wait for more to do
        time.sleep(0.05)
    assert threads() <= before + 12


def outcomes(dataset, most=12):
    found, iterator = [], iter(dataset)
    while len(found) < most:
        try:
            found.append(next(iterator).numpy())
        except StopIteration:
            break
        except tf.errors.OpError as e:
            found.append(type(e).__name__)
    return found


def test_a_map_goes_on_with_the_threads_that_the_system_gives():
    """In an address space with room for some of the 1000 threads."""
    program = """
import resource
import penstock.v2 as tf

def slow(x):
    square = tf.fill([160, 160], tf.cast(x, tf.float32))
    return x + tf.cast(0 * tf.reduce_sum(tf.linalg.matmul(square, square)), tf.int64)

def total(n, calls):
    return sum(int(x) for x in tf.data.Dataset.range(n).map(slow, calls))

assert total(40, 20) == 780  # all other threads are there
with open("/proc/self/statm") as f:
    used = int(f.read().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + (3 << 30), resource.getrlimit(resource.RLIMIT_AS)[1]))
assert total(400, 1000) == 79800
"""
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=100)
    assert done.returncode == 0, done.stderr


def test_a_damaged_file_is_told_and_the_next_one_read(tmp_path):
    first, second = records(tmp_path / "a", 3), records(tmp_path / "b", 2)
    with open(first, "r+b") as f:
        f.seek(120)
        f.write(b"damage")
    lengths = tf.data.TFRecordDataset([first, second]).map(tf.strings.length)
    assert outcomes(lengths) == [100, "DataLossError", 100, 100]
    assert outcomes(lengths.ignore_errors()) == [100, 100, 100]


@pytest.mark.parametrize("ahead", [False, True])
def test_a_file_that_vanishes(ahead, tmp_path):
    names = [records(tmp_path / name, 2) for name in "abc"]
    dataset = Dataset.from_tensor_slices(names).interleave(
        tf.data.TFRecordDataset, cycle_length=1, num_parallel_calls=1 if ahead else None)
    dataset = dataset.map(lambda record: tf.strings.to_number(tf.strings.substr(record, 0, 8), tf.int64))
    os.remove(names[1])
    assert outcomes(dataset) == [0, 1, "NotFoundError", 0, 1]


def test_a_generator_that_raises_begins_anew():
    rounds = []

    def generator():
        rounds.append(0)
        yield 1
        if len(rounds) == 1:
            raise ValueError("in the first round")
        yield 2
    dataset = Dataset.from_generator(generator, output_signature=tf.TensorSpec([], tf.int32))
    assert outcomes(dataset, 2) == [1, "InvalidArgumentError"]
    assert outcomes(dataset) == [1, 2]


def test_a_map_that_fails_in_a_parallel_pipeline_fails_once():
    dataset = Dataset.range(6).map(lambda x: 12 // (x - 3), num_parallel_calls=3).prefetch(2)
    assert outcomes(dataset) == [-4, -6, -12, "InvalidArgumentError", 12, 6]


@pytest.mark.slow
@pytest.mark.parametrize("compression", ["GZIP", "ZLIB", "SNAPPY"])
def test_a_record_of_more_than_four_gigabytes(tmp_path, compression):
    path, size = str(tmp_path / "large"), 2**32 + 5
    record = bytes(size)  # zeros that take no memory
    with tf.io.TFRecordWriter(path, compression) as writer:
        writer.write(record)
        writer.write(b"behind it")
    del record
    records = iter(tf.compat.v1.python_io.tf_record_iterator(path, tf.io.TFRecordOptions(compression)))
    read = next(records)
    assert len(read) == size and read.count(0) == size
    assert next(records) == b"behind it"
