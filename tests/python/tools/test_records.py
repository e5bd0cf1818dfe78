"""penstock records: counting, showing, converting and sharding files of records."""
import io
import json

import numpy as np
import pytest

import penstock.v1 as tf
from penstock._src.tools import records


def _run(*arguments):
    out = io.StringIO()
    assert records.main([str(a) for a in arguments], out) == 0
    return out.getvalue()


def _read(path, compression=""):
    return list(tf.python_io.tf_record_iterator(str(path), compression))


@pytest.fixture
def numbered(tmp_path):
    path = tmp_path / "numbers.tfrecord"
    with tf.python_io.TFRecordWriter(str(path)) as writer:
        for i in range(7):
            writer.write(b"%d" % i)
    return path


def test_count(numbered):
    assert _run("count", numbered) == f"{numbered}: 7 records, 7 bytes\n"
    assert _run("count", numbered, numbered).endswith("total: 14 records, 14 bytes\n")


def test_show(tmp_path, numbered):
    assert _run("show", numbered, "--skip", 2, "-n", 1) == "record 2: 1 bytes\n  b'2'\n"
    path = tmp_path / "e.tfrecord"
    with tf.python_io.TFRecordWriter(str(path)) as writer:
        writer.write(tf.train.Example(features=tf.train.Features(feature={
            "n": tf.train.Feature(int64_list=tf.train.Int64List(value=range(10))),
            "s": tf.train.Feature(bytes_list=tf.train.BytesList(value=[b"x" * 50]))})).SerializeToString())
    assert _run("show", path).splitlines()[1:] == [
        "  n (int64): [0, 1, 2, 3, 4, 5, 6, 7, ... 10 in all]",
        "  s (bytes): [b'%s...']" % ("x" * 40)]


def test_shards_take_turns(tmp_path, numbered):
    _run("shard", numbered, "--to", tmp_path / "s", "--shards", 3)
    names = [tmp_path / f"s-0000{i}-of-00003" for i in range(3)]
    assert [_read(name) for name in names] == [[b"0", b"3", b"6"], [b"1", b"4"], [b"2", b"5"]]


def test_shuffled_compressed_shards_hold_everything_once(tmp_path, numbered):
    _run("shard", numbered, "--to", tmp_path / "s.gz", "--shards", 2, "--shuffle", 5)
    found = [_read(tmp_path / f"s-0000{i}-of-00002.gz", "GZIP") for i in range(2)]
    assert sorted(found[0] + found[1]) == [b"%d" % i for i in range(7)]


def test_rows_become_examples_and_json(tmp_path):
    (tmp_path / "a.csv").write_text("n,x,s\n1,2.5,ab\n3,,cd\n")
    _run("convert", tmp_path / "a.csv", "--to", tmp_path / "a.tfrecord.gz")
    _run("convert", tmp_path / "a.tfrecord.gz", "--to", tmp_path / "a.jsonl")
    rows = [json.loads(line) for line in (tmp_path / "a.jsonl").read_text().splitlines()]
    assert rows == [{"n": [1], "x": [2.5], "s": ["ab"]}, {"n": [3], "s": ["cd"]}]
    _run("convert", tmp_path / "a.jsonl", "--to", tmp_path / "b.tfrecord")
    assert _read(tmp_path / "b.tfrecord") == _read(tmp_path / "a.tfrecord.gz", "GZIP")


def test_arrays_become_examples(tmp_path):
    images = np.arange(12, dtype=np.uint8).reshape(3, 2, 2)
    np.savez(tmp_path / "a.npz", image=images, label=np.array([4, 5, 6]))
    _run("convert", tmp_path / "a.npz", "--to", tmp_path / "a.tfrecord")
    example = tf.train.Example.FromString(_read(tmp_path / "a.tfrecord")[1])
    assert example.features.feature["image"].bytes_list.value[0] == images[1].tobytes()
    assert list(example.features.feature["label"].int64_list.value) == [5]


@pytest.mark.parametrize("arguments, message", [
    (["count", "absent"], "absent"), (["convert", "{numbers}", "--to", "{folder}/a.jsonl"], "no Example")])
def test_what_cannot_be(tmp_path, numbered, capsys, arguments, message):
    arguments = [a.format(numbers=numbered, folder=tmp_path) for a in arguments]
    assert records.main(arguments) == 1
    assert message in capsys.readouterr().err


def test_a_damaged_file_is_named(tmp_path, numbered, capsys):
    damaged = bytearray(numbered.read_bytes())
    damaged[20] ^= 1
    numbered.write_bytes(damaged)
    assert records.main(["count", str(numbered)]) == 1
    assert "corrupted record" in capsys.readouterr().err
