"""Datasets of files: lines, records, pieces, CSV; also compressed, damaged and missing ones; and records written."""
import gzip
import zlib

import numpy as np
import pytest

import penstock.v1 as tf
from penstock._src.graph import context


@pytest.fixture(autouse=True)
def eager():
    with context.eager_mode():
        yield


def _all(dataset):
    return [tuple(x.numpy() for x in e) if isinstance(e, tuple) else e.numpy() for e in dataset]


def _write(path, contents, compressed=False):
    path.write_bytes(gzip.compress(contents) if compressed else contents)
    return str(path)


@pytest.mark.parametrize("compressed", [False, True])
def test_lines(tmp_path, compressed):
    names = [_write(tmp_path / "a", b"one\r\ntwo\n\nthree", compressed), _write(tmp_path / "b", b"four\n", compressed)]
    dataset = tf.data.TextLineDataset(names, compression_type="GZIP" if compressed else None)
    assert _all(dataset) == [b"one", b"two", b"", b"three", b"four"]


def test_lines_of_several_files_in_turns(tmp_path):
    names = [_write(tmp_path / name, b"".join(b"%s%d\n" % (name.encode(), i) for i in range(3))) for name in "abc"]
    assert _all(tf.data.TextLineDataset(names, num_parallel_reads=2)) == [
        b"a0", b"b0", b"a1", b"b1", b"a2", b"b2", b"c0", b"c1", b"c2"]


def test_pieces(tmp_path):
    name = _write(tmp_path / "a", b"HH" + b"abcdefgh" + b"F")
    assert _all(tf.data.FixedLengthRecordDataset(name, 4, header_bytes=2, footer_bytes=1)) == [b"abcd", b"efgh"]
    packed = _write(tmp_path / "b", b"HH" + b"abcdefgh" + b"F", True)
    assert _all(tf.data.FixedLengthRecordDataset(packed, 4, 2, 1, compression_type="GZIP")) == [b"abcd", b"efgh"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="has body length 9 bytes, which is not an exact multiple "
                       r"of the record length \(4 bytes\)"):
        _all(tf.data.FixedLengthRecordDataset(name, 4, header_bytes=2))


def test_records_written_and_read(tmp_path):
    name = str(tmp_path / "r")
    tf.data.experimental.TFRecordWriter(name, "ZLIB").write(tf.data.Dataset.range(5).map(tf.as_string))
    assert list(tf.python_io.tf_record_iterator(name, "ZLIB")) == [b"0", b"1", b"2", b"3", b"4"]
    assert _all(tf.data.TFRecordDataset([name, name], compression_type="ZLIB")) == [b"0", b"1", b"2", b"3", b"4"] * 2


def test_a_damaged_file_ends_and_the_next_one_is_read(tmp_path):
    names = [str(tmp_path / "a"), str(tmp_path / "b")]
    for name in names:
        tf.data.experimental.TFRecordWriter(name).write(tf.data.Dataset.range(3).map(tf.as_string))
    damaged = bytearray(open(names[0], "rb").read())
    damaged[17 + 12] ^= 1  # in the second record's data
    open(names[0], "wb").write(damaged)
    iterator = iter(tf.data.TFRecordDataset(names))
    assert next(iterator).numpy() == b"0"
    with pytest.raises(tf.errors.DataLossError):
        next(iterator)
    assert [x.numpy() for x in iterator] == [b"0", b"1", b"2"]


def test_a_missing_file(tmp_path):
    with pytest.raises(tf.errors.NotFoundError):
        _all(tf.data.TextLineDataset(str(tmp_path / "absent")))


CSV = b'a,b,c\n1,2.5,x\n3,,"y ""z"", w"\n5,6,"two\nlines"\n'


def test_rows(tmp_path):
    name = _write(tmp_path / "a.csv", CSV)
    columns = [tf.int32, tf.constant([7.0]), tf.string]
    expected = [(1, 2.5, b"x"), (3, 7.0, b'y "z", w'), (5, 6.0, b"two\nlines")]
    assert _all(tf.data.experimental.CsvDataset(name, columns, header=True)) == expected
    packed = _write(tmp_path / "b.csv", CSV, True)
    assert _all(tf.data.experimental.CsvDataset(packed, columns, "GZIP", header=True)) == expected
    some = tf.data.experimental.CsvDataset(name, [tf.int32, tf.string], header=True, select_cols=[0, 2])
    assert _all(some) == [(a, c) for a, _, c in expected]


@pytest.mark.parametrize("contents, columns, message", [
    (b"1,2\n", [tf.int32], "Expect 1 fields but have more in record"),
    (b"1\n", [tf.int32, tf.int32], "Expect 2 fields but have 1 in record"),
    (b"a\n", [tf.int32], "Field 0 in record is not a valid int32: a"),
    (b"1,\n", [tf.int32, tf.int32], "Field 1 is required but missing in record!"),
    (b'a"b\n', [tf.string], "Unquoted fields cannot have quotes inside"),
    (b'"a"b\n', [tf.string], "Quote inside a string has to be escaped by another quote"),
    (b'"ab', [tf.string], "Reached end of file without closing quoted field in record")])
def test_bad_rows(tmp_path, contents, columns, message):
    name = _write(tmp_path / "a.csv", contents)
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        _all(tf.data.experimental.CsvDataset(name, columns))


def test_the_row_after_a_bad_one(tmp_path):
    name = _write(tmp_path / "a.csv", b"1\nx\n3\n")
    dataset = tf.data.experimental.CsvDataset(name, [tf.int32]).apply(tf.data.experimental.ignore_errors())
    assert _all(dataset) == [(1,), (3,)]


def test_csv_files_as_dicts_of_columns(tmp_path):
    name = _write(tmp_path / "a.csv", b"n,x,s\n1,2.5,a\n2,3.5,b\n3,4.5,c\n")
    dataset = tf.data.experimental.make_csv_dataset(name, 2, label_name="n", num_epochs=1, shuffle=False)
    (features, labels), (rest, last) = list(dataset)
    assert labels.numpy().tolist() == [1, 2] and last.numpy().tolist() == [3]
    assert {key: value.numpy().tolist() for key, value in features.items()} == {"x": [2.5, 3.5], "s": [b"a", b"b"]}
    assert features["x"].dtype == tf.float32 and list(rest) == ["x", "s"]


def test_names_of_files(tmp_path):
    for name in "cab":
        _write(tmp_path / (name + ".txt"), b"")
    found = _all(tf.data.Dataset.list_files(str(tmp_path / "*.txt"), shuffle=False))
    assert found == [str(tmp_path / (name + ".txt")).encode() for name in "abc"]
    with pytest.raises(tf.errors.InvalidArgumentError, match="No files matched pattern"):
        _all(tf.data.Dataset.list_files(str(tmp_path / "*.none")))


def test_an_iterator_goes_on_in_the_middle_of_a_file(tmp_path):
    names = [_write(tmp_path / name, b"".join(b"%d,%d\n" % (i, i * i) for i in range(4))) for name in "ab"]
    with tf.Graph().as_default():
        iterator = tf.data.make_initializable_iterator(tf.data.experimental.CsvDataset(names, [tf.int32, tf.int64]))
        element = iterator.get_next()
        state = tf.raw_ops.SerializeIterator(resource_handle=iterator._iterator_resource)
        restore = tf.raw_ops.DeserializeIterator(resource_handle=iterator._iterator_resource, serialized=state)
        with tf.Session() as sess:
            sess.run(iterator.initializer)
            before = [sess.run(element) for _ in range(6)]
            sess.run(restore)
            after = [sess.run(element) for _ in range(2)]
    assert [int(a) for a, _ in before + after] == [0, 1, 2, 3, 0, 1, 2, 3]
    assert all(b == np.int64(a) * a for a, b in before + after)


@pytest.mark.parametrize("compression", ["GZIP", "ZLIB"])
def test_compressed_records_are_in_the_file_when_they_are_flushed(tmp_path, compression):
    path = tmp_path / "records"
    with tf.io.TFRecordWriter(str(path), compression) as writer:
        for text in (b"first", b"second"):
            writer.write(text)
            writer.flush()
            assert text in zlib.decompressobj(wbits=47).decompress(path.read_bytes())  # 47: either format
    assert list(tf.io.tf_record_iterator(str(path), tf.io.TFRecordOptions(compression))) == [b"first", b"second"]


@pytest.mark.parametrize("compression", ["GZIP", "ZLIB"])
def test_flushed_records_can_be_read_before_the_file_is_closed(tmp_path, compression):
    name = str(tmp_path / "records")
    written = tf.data.TFRecordDataset(name, compression)
    with tf.io.TFRecordWriter(name, compression) as writer:
        assert _all(written) == []
        writer.write(b"a" * 10)
        writer.write(b"b" * 5)
        writer.flush()
        for _ in range(2):
            assert _all(written) == [b"a" * 10, b"b" * 5]
            assert list(tf.io.tf_record_iterator(name, tf.io.TFRecordOptions(compression))) == [b"a" * 10, b"b" * 5]
            writer.write(b"c")
        writer.flush()
        assert _all(written) == [b"a" * 10, b"b" * 5, b"c", b"c"]


@pytest.mark.parametrize("compression, sizes", [("GZIP", [(2266, 988, 7792), (4524, 2000, 16890)]),
                                                ("ZLIB", [(2266, 997, 7863), (4523, 1999, 16878)])])
def test_compressed_files_that_are_cut_off(tmp_path, compression, sizes):
    """TensorFlow 2.21's values: what there is of the file is read, without an error."""
    contents = b"".join(b"line%d\n" % i for i in range(2000))
    packed = gzip.compress(contents, mtime=0) if compression == "GZIP" else zlib.compress(contents)
    for size, lines, inflated in [(3, 0, 0), *sizes]:
        (tmp_path / "lines").write_bytes(packed[:size])
        read = _all(tf.data.TextLineDataset(str(tmp_path / "lines"), compression))
        assert len(read) == lines and b"\n".join(read) == contents[:inflated].removesuffix(b"\n")
        assert tf.io.decode_compressed(packed[:size], compression).numpy() == contents[:inflated]
    two = tf.io.decode_compressed(packed + packed, compression).numpy()
    assert two == contents * (2 if compression == "GZIP" else 1)  # TensorFlow reads one zlib stream, and all of gzip
