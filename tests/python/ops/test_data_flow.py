"""Barriers, accumulators, staging areas, readers."""
import threading

import numpy as np
import pytest

import penstock.v1 as tf
from penstock import _core
from penstock._src.ops.queues import data_flow_ops


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def in_thread(function):
    """Runs a function beside the test; its result in a list."""
    result = []
    thread = threading.Thread(target=lambda: result.append(function()))
    thread.start()
    return thread, result


def test_barrier():
    b = data_flow_ops.Barrier((tf.float32, tf.float32), shapes=((), (2,)), name="b")
    first = b.insert_many(0, ["a", "b", "c"], [1.0, 2.0, 3.0])
    second = b.insert_many(1, ["c", "a"], [[1.0, 1.0], [2.0, 2.0]])
    third = b.insert_many(1, ["b"], [[3.0, 3.0]])
    two, rest = b.take_many(2), b.take_many(9, allow_small_batch=True)
    new = b.insert_many(0, ["z"], [0.0])
    assert two[2][1].shape == [2, 2]
    with tf.Session() as sess:
        sess.run(first)
        assert sess.run([b.ready_size(), b.incomplete_size()]) == [0, 3]
        message = "Key a already has a value for component 0 in barrier b"
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            sess.run(first)
        thread, taken = in_thread(lambda: sess.run(two))
        sess.run(second)
        thread.join(10)
        indices, keys, values = taken[0]
        assert keys.tolist() == [b"c", b"a"] or sorted(keys.tolist()) == [b"a", b"c"]
        assert indices.tolist() == [-2**63, -2**63]
        sess.run(b.close())
        with pytest.raises(tf.errors.CancelledError, match="is closed, but attempted to insert a brand new key: z"):
            sess.run(new)
        sess.run(third)
        _, keys, values = sess.run(rest)
        assert keys.tolist() == [b"b"] and values[0].tolist() == [2.0] and values[1].tolist() == [[3.0, 3.0]]
        with pytest.raises(tf.errors.OutOfRangeError, match="is closed and has insufficient elements"):
            sess.run(rest)
        with pytest.raises(tf.errors.CancelledError, match="is already closed"):
            sess.run(b.close())


@pytest.mark.parametrize("reduction, expected", [("MEAN", [2.0, 4.0]), ("SUM", [4.0, 8.0])])
def test_accumulator(reduction, expected):
    q = tf.ConditionalAccumulator(tf.float32, shape=[2], reduction_type=reduction)
    g = tf.placeholder(tf.float32)
    step = tf.placeholder(tf.int64)
    apply, take = q.apply_grad(g, local_step=step), q.take_grad(2)
    with tf.Session() as sess:
        sess.run(apply, {g: [1.0, 2.0], step: 0})
        thread, taken = in_thread(lambda: sess.run(take))
        sess.run(apply, {g: [3.0, 6.0], step: 0})
        thread.join(10)
        np.testing.assert_allclose(taken[0], expected)
        sess.run(apply, {g: [3.0, 6.0], step: 0})  # too old now
        assert sess.run(q.num_accumulated()) == 0
        sess.run(q.set_global_step(7))
        sess.run(apply, {g: [3.0, 6.0], step: 7})
        assert sess.run(q.num_accumulated()) == 1
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Shape mismatch: expected \[2\], got \[3\]"):
            sess.run(apply, {g: [1.0] * 3, step: 9})
        with pytest.raises(tf.errors.InvalidArgumentError, match="num_required must be positive, but was 0"):
            sess.run(q.take_grad(0))


def test_sparse_accumulator():
    q = tf.SparseConditionalAccumulator(tf.float32, shape=(3, None))
    first = q.apply_grad([0, 2], [[0.0, 0.0], [3.0, 6.0]], [3, 2])
    second = q.apply_indexed_slices_grad(tf.IndexedSlices(tf.constant([[4.0, 2.0]]), tf.constant([2]), None))
    outside = q.apply_grad([3], [[1.0, 1.0]])
    with tf.Session() as sess:
        sess.run([first, second])
        taken = sess.run(q.take_indexed_slices_grad(1))
        assert taken.indices.tolist() == [0, 2]
        np.testing.assert_allclose(taken.values, [[0, 0], [3.5, 4]])
        assert taken.dense_shape.tolist() == [3, 2]
        with pytest.raises(tf.errors.InvalidArgumentError, match="index of slice 0 exceeded limits of shape"):
            sess.run(outside)


def test_cancelled_take():
    q = tf.ConditionalAccumulator(tf.float32)
    with tf.Session() as sess, pytest.raises(tf.errors.DeadlineExceededError):
        sess.run(q.take_grad(1), options=tf.RunOptions(timeout_in_ms=50))


def test_staging_area():
    area = data_flow_ops.StagingArea([tf.int32, tf.float32], shapes=[[], [2]], capacity=2, names=["i", "x"])
    i = tf.placeholder(tf.int32, [])
    put = area.put({"i": i, "x": tf.stack([tf.cast(i, tf.float32)] * 2)})
    get, peek = area.get(), area.peek(1)
    assert get["x"].shape == [2]
    with tf.Session() as sess:
        sess.run(put, {i: 1})
        sess.run(put, {i: 2})
        assert sess.run(area.size()) == 2 and sess.run(peek)["i"] == 2
        thread, _ = in_thread(lambda: sess.run(put, {i: 3}))  # waits: the area is full
        assert [sess.run(get)["i"] for _ in range(3)] == [1, 2, 3]
        thread.join(10)
        sess.run(put, {i: 4})
        sess.run(area.clear())
        assert sess.run(area.size()) == 0
    small = data_flow_ops.StagingArea([tf.float32], memory_limit=8)
    with tf.Session() as sess, pytest.raises(tf.errors.ResourceExhaustedError, match="memory limit of '8'"):
        sess.run(small.put([tf.zeros([3])]))


def test_map_staging_area():
    area = data_flow_ops.MapStagingArea([tf.int32, tf.int32], ordered=True)
    key = tf.placeholder(tf.int64, [])
    whole = area.put(key, [tf.cast(key, tf.int32), tf.constant(7)], [0, 1])
    half, other = area.put(key, [tf.constant(1)], [0]), area.put(key, [tf.constant(2)], [1])
    with tf.Session() as sess:
        sess.run(whole, {key: 5})
        sess.run(whole, {key: 3})
        sess.run(half, {key: 9})
        assert sess.run([area.size(), area.incomplete_size()]) == [2, 1]
        with pytest.raises(tf.errors.InvalidArgumentError, match="was already initialized"):
            sess.run(half, {key: 9})
        assert sess.run(area.get()) == (3, [3, 7])
        thread, got = in_thread(lambda: sess.run(area.get(key)[1], {key: 9}))
        sess.run(other, {key: 9})
        thread.join(10)
        assert got[0] == [1, 2]
        assert sess.run(area.get(key, indices=[1])[1], {key: 5}) == [7]
        with pytest.raises(tf.errors.InvalidArgumentError, match="has already been removed"):
            sess.run(area.get(key, indices=[1])[1], {key: 5})
        assert sess.run(area.peek(key, indices=[0]), {key: 5}) == [5]
    with pytest.raises(tf.errors.InvalidArgumentError, match="not strictly ordered"), tf.Session() as sess:
        sess.run(area.put(tf.constant(1, tf.int64), [tf.constant(1), tf.constant(2)], [1, 0]))


def read_all(reader, paths, many=0):
    queue = tf.FIFOQueue(99, [tf.string], shapes=())
    read = reader.read_up_to(queue, many) if many else reader.read(queue)
    with tf.Session() as sess:
        sess.run([queue.enqueue_many([paths])])
        sess.run(queue.close())
        found = []
        with pytest.raises(tf.errors.OutOfRangeError, match="is closed and has insufficient elements"):
            while True:
                found.append([part.tolist() if many else part for part in sess.run(read)])
        return found, sess.run([reader.num_records_produced(), reader.num_work_units_completed()])


def test_text_line_reader(tmp_path):
    (tmp_path / "a").write_bytes(b"h\none\r\n\ntwo")
    (tmp_path / "b").write_bytes(b"")
    paths = [str(tmp_path / name) for name in "bab"]
    found, counts = read_all(tf.TextLineReader(skip_header_lines=1), paths)
    a = paths[1].encode()
    assert found == [[a + b":2", b"one"], [a + b":3", b""], [a + b":4", b"two"]] and counts == [3, 3]
    found, _ = read_all(tf.TextLineReader(), paths, many=3)
    assert [len(keys) for keys, _ in found] == [3, 1]


def test_whole_file_and_identity_reader(tmp_path):
    (tmp_path / "a").write_bytes(b"\x00all")
    path = str(tmp_path / "a")
    assert read_all(tf.WholeFileReader(), [path]) == ([[path.encode(), b"\x00all"]], [1, 1])
    assert read_all(tf.IdentityReader(), ["x", "y"])[0] == [[b"x", b"x"], [b"y", b"y"]]
    queue = tf.FIFOQueue(9, [tf.string], shapes=())
    read = tf.WholeFileReader().read(queue)
    with tf.Session() as sess:
        sess.run(queue.enqueue([str(tmp_path / "absent")]))
        with pytest.raises(tf.errors.NotFoundError, match="No such file or directory"):
            sess.run(read)


def test_reader_state():
    reader, queue = tf.IdentityReader(), tf.FIFOQueue(9, [tf.string], shapes=())
    read, state = reader.read(queue), reader.serialize_state()
    x = tf.placeholder(tf.string, [])
    with tf.Session() as sess:
        sess.run(queue.enqueue_many([["X", "Y"]]))
        sess.run(read)
        saved = sess.run(state)
        sess.run(read)
        sess.run(reader.restore_state(x), {x: saved})
        assert sess.run(reader.num_records_produced()) == 1
        with pytest.raises(tf.errors.InvalidArgumentError, match="Could not parse state"):
            sess.run(reader.restore_state(x), {x: b"\xff"})
        sess.run(reader.reset())
        assert sess.run(reader.num_work_units_completed()) == 0


def test_fixed_length_reader(tmp_path):
    import gzip
    data = b"HEAD" + b"".join(b"%02d" % i for i in range(5)) + b"FOOT"
    (tmp_path / "a").write_bytes(data)
    path = str(tmp_path / "a")
    found, _ = read_all(tf.FixedLengthRecordReader(2, header_bytes=4, footer_bytes=4), [path])
    assert [value for _, value in found] == [b"00", b"01", b"02", b"03", b"04"]
    found, _ = read_all(tf.FixedLengthRecordReader(2, header_bytes=4, footer_bytes=4, hop_bytes=4), [path])
    assert [value for _, value in found] == [b"00", b"02", b"04"]
    (tmp_path / "a").write_bytes(gzip.compress(data))
    found, _ = read_all(tf.FixedLengthRecordReader(7, encoding="GZIP"), [path])
    assert [value for _, value in found] == [b"HEAD000", b"1020304"]


@pytest.mark.parametrize("compression", ["", "ZLIB", "GZIP"])
def test_records(tmp_path, compression):
    path = str(tmp_path / "a")
    records = [b"one", b"", b"x" * 300000, b"\x00"]
    options = tf.io.TFRecordOptions(compression or None)
    with tf.io.TFRecordWriter(path, options) as writer:
        for record in records:
            writer.write(record)
    assert list(tf.io.tf_record_iterator(path, options)) == records
    found, _ = read_all(tf.TFRecordReader(options=options), [path])
    assert [value for _, value in found] == records
    assert found[1][0] == path.encode() + b":19"


def test_what_a_writer_of_records_takes(tmp_path):
    class Counting(tf.io.TFRecordWriter):
        written = 0

        def write(self, record):
            self.written += 1
            super().write(record)

    path = str(tmp_path / "a")
    with Counting(path) as writer:
        for record in (b"bytes", "text \u00e9", bytearray(b"array"), np.bytes_(b"numpy")):
            writer.write(record)
        for other in (3, None, ["a"], 1.5):
            with pytest.raises(TypeError):
                writer.write(other)
        with pytest.raises(UnicodeEncodeError):
            writer.write("\ud800")
    assert writer.written == 9
    assert list(tf.io.tf_record_iterator(path)) == [b"bytes", "text \u00e9".encode(), b"array", b"numpy"]
    for use in (lambda: writer.write(b"a"), writer.flush):
        with pytest.raises(tf.errors.FailedPreconditionError, match="Writer is closed"):
            use()
    writer.close()


def test_damaged_records(tmp_path):
    path = str(tmp_path / "a")
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(b"record")
    whole = open(path, "rb").read()
    for damaged, message in ((whole[:-1], "truncated record at 0"),
                             (whole[:13] + b"?" + whole[14:], "corrupted record at 0"),
                             (b"\xff" * 8 + whole[8:], "corrupted record at 0"),
                             (whole + whole[:12], "truncated record at 22")):
        with open(path, "wb") as file:
            file.write(damaged)
        with pytest.raises(tf.errors.DataLossError, match=message):
            list(tf.io.tf_record_iterator(path))


def test_a_record_of_which_not_even_the_header_is_there_yet(tmp_path):
    """A file that is still written to may end so, which is its end for now."""
    path = str(tmp_path / "a")
    with tf.io.TFRecordWriter(path) as writer:
        writer.write(b"record")
    with open(path, "rb") as file:
        whole = file.read()
    for n in (1, 8, 11):
        with open(path, "wb") as file:
            file.write(whole + whole[:n])
        records = tf.io.tf_record_iterator(path)
        assert list(records) == [b"record"]
        with open(path, "ab") as file:
            file.write(whole[n:])
        assert next(records) == b"record"


def test_threads_share_a_record_file(tmp_path):
    path = str(tmp_path / "records")
    found = []
    with tf.python_io.TFRecordWriter(path) as writer:
        write = lambda i: [writer.write(b"%d" % i * 9) for _ in range(300)]
        threads = [threading.Thread(target=write, args=(i,)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    stream = _core.RecordStream(path, "")
    threads = [threading.Thread(target=lambda: found.extend(iter(stream.next, None))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(found) == sorted(b"%d" % i * 9 for i in range(4) for _ in range(300))


@pytest.mark.parametrize("second", [False, True])
def test_stacks_of_both_versions(second):
    with tf.Graph().as_default(), tf.Session() as sess:
        stack = tf.raw_ops.StackV2(max_size=-1, elem_type=tf.float32) if second else \
            tf.raw_ops.Stack(elem_type=tf.float32)
        push, pop, close = (getattr(tf.raw_ops, f"Stack{what}{'V2' if second else ''}")
                            for what in ("Push", "Pop", "Close"))
        pushed = push(handle=stack, elem=[1.0, 2.0])
        with tf.control_dependencies([pushed]):
            popped = pop(handle=stack, elem_type=tf.float32)
        assert sess.run(popped).tolist() == [1, 2]
        with pytest.raises(tf.errors.InvalidArgumentError, match="is empty"):
            sess.run(pop(handle=stack, elem_type=tf.float32))
        with tf.control_dependencies([close(handle=stack)]), \
                pytest.raises(tf.errors.InvalidArgumentError, match="already been closed"):
            sess.run(push(handle=stack, elem=1.0))


@pytest.mark.parametrize("gradients, indices, mean, total", [
    ([([2, 2], [1, 2])], [2, 2], [1, 2], [1, 2]),
    ([([2, 1], [1, 2]), ([1], [5])], [1, 2, 1], [5, 1, 2], [5, 1, 2]),
    ([([1, 3], [1, 2]), ([3, 3], [10, 20]), ([0, 3], [3, 3])], [0, 1, 3, 3], [3, 1, 5, 20], [3, 1, 15, 20]),
    ([([], []), ([4, 0], [1, 1]), ([0, 4], [2, 2])], [0, 4, 0], [2, 1.5, 1], [2, 3, 1])])
def test_sparse_gradients_with_rows_that_stand_twice(gradients, indices, mean, total):
    """Recorded from TensorFlow 1.15.5, whose merging takes all indices to be in order."""
    for kind, expected in (("MEAN", mean), ("SUM", total)):
        with tf.Graph().as_default(), tf.Session() as session:
            accumulator = tf.SparseConditionalAccumulator(tf.float32, shape=[5, 1], reduction_type=kind)
            for rows, values in gradients:
                session.run(accumulator.apply_grad(np.array(rows, np.int64),
                                                   np.array(values, np.float32).reshape([-1, 1])))
            taken = session.run(accumulator.take_indexed_slices_grad(1))
        assert (taken.indices.tolist(), taken.values.ravel().tolist()) == (indices, expected)


def test_readers_at_the_end_of_what_they_read(tmp_path):
    """Recorded from 1.15.5: a file shorter than its header is an error and passed over; none is asked for."""
    names = [str(tmp_path / name) for name in "ab"]
    for name, text in zip(names, ("x", "line20\nline21\nline22")):
        with open(name, "w") as f:
            f.write(text)
    queue = tf.FIFOQueue(5, [tf.string], shapes=[[]])
    reader = tf.FixedLengthRecordReader(4, header_bytes=2, footer_bytes=3)
    whole, other = tf.WholeFileReader(), tf.FIFOQueue(5, [tf.string], shapes=[[]])
    with tf.Session() as session:
        session.run(queue.enqueue_many([names]))
        assert [a.tolist() for a in session.run(reader.read_up_to(queue, 0))] == [[], []]
        assert session.run(queue.size()) == 2
        with pytest.raises(tf.errors.OutOfRangeError, match="reached end of file"):
            session.run(reader.read(queue))
        assert session.run(reader.num_work_units_completed()) == 0
        session.run(queue.close())
        assert session.run(reader.read_up_to(queue, 5)).values.tolist() == [b"ne20", b"\nlin", b"e21\n"]
        with pytest.raises(tf.errors.UnimplementedError):
            session.run(reader.restore_state(b""))
        assert session.run([reader.num_records_produced(), reader.num_work_units_completed()]) == [0, 0]
        with pytest.raises(tf.errors.OutOfRangeError, match="closed"):
            session.run(whole.read(queue))
        session.run(other.enqueue(names[0]))
        session.run([whole.read(other), other.close()])
        assert names[0].encode() in session.run(whole.serialize_state())
        with pytest.raises(tf.errors.OutOfRangeError, match="closed"):
            session.run(whole.read(other))
        assert session.run(whole.serialize_state()) == b"\x08\x01\x10\x01\x18\x01"


@pytest.mark.parametrize("op", ["MapPeek", "MapUnstage", "OrderedMapPeek", "OrderedMapUnstage", "MapUnstageNoKey",
                                "OrderedMapUnstageNoKey"])
def test_no_components_of_a_staged_tuple(op):  # tfsa-2021-145
    key = {} if op.endswith("NoKey") else {"key": tf.constant(1, tf.int64)}
    got = getattr(tf.raw_ops, op)(indices=tf.constant([], tf.int32), dtypes=[tf.int64], **key)
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match="Indices are empty"):
        sess.run(got, options=tf.RunOptions(timeout_in_ms=20000))
