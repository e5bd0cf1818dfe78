"""Checkpoints of version 1, and the order in which files of version 2 are replaced."""
import base64
import os

import numpy as np
import pytest

import penstock.v1 as tf
from penstock import _core

# Written by TensorFlow 1.15.5; its blocks are compressed.
BY_TENSORFLOW = base64.b64decode(
    "AACLAQqIAQoVCgFhEggSAggCEgIIAxgBIgQKAAoACg8KAWISBBICCAIYCiICCgAKDwoBYxIEEgIIARgIIgIKAAoPCgFoEgQSAggC"
    "GBMiAgoACicKA3AvdhIIEgIIAxICCAIYCSIICgIQAgoCEAIiCgoECAIQAQoCEAIKDwoBcxIEEgIIAhgHIgIKABICCAEACicAYQAB"
    "AQKAf4B/EiUKAWESBAoACgAaGioYAAAAAAAAgD8AAABAAABAQAAAgEAAAKBAAQcPYgABAQGAfxINCgFiEgIKABoEWgIBAAEHFWMA"
    "AQEBgH8SEwoBYxICCgAaCkoIAACAPwAAAEABBxJoAAEBAYB/EhAKAWgSAgoAGgdqBYB8gIADAQsZcC92AAEBAoCCgIISFwoDcC92"
    "EggKAhACCgIQAhoGUgQAAQIDCAQZgoGAghIXCgNwL3YSCgoECAIQAQoCEAIaBFICBAUBB9sBcwABAQGAfxLYAQoBcxICCgAazgFC"
    "yAF4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4"
    "eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4"
    "eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eHh4eEIBeQAAAAABAAAAAMoFV6sAAAAAAQAA"
    "AADA8qGwAAEDAQDMBAAAAAABAAAAAO4j+HPRBAjeBA8AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAV/uAiyR1R9s=")


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def test_a_file_of_tensorflow_is_read(tmp_path):
    path = str(tmp_path / "ck")
    with open(path, "wb") as f:
        f.write(BY_TENSORFLOW)
    reader = _core.CheckpointReader(path)
    assert reader.version() == 1
    assert reader.names() == [b"a", b"b", b"c", b"h", b"p/v", b"s"]
    np.testing.assert_array_equal(reader.read(b"a"), np.arange(6, dtype=np.float32).reshape(2, 3))
    np.testing.assert_array_equal(reader.read(b"p/v"), np.arange(6).reshape(3, 2))
    assert list(reader.read(b"s")) == [b"x" * 200, b"y"] and list(reader.read(b"h")) == [1.5, -2]
    assert list(reader.read(b"c")) == [1 + 2j] and list(reader.read(b"b")) == [True, False]
    part = tf.raw_ops.RestoreSlice(file_pattern=path, tensor_name="p/v", shape_and_slice="3 2 1,2:-", dt=tf.int64)
    assert part.shape.as_list() == [2, 2]
    whole = tf.raw_ops.RestoreV2(prefix=path, tensor_names=["a"], shape_and_slices=[""], dtypes=[tf.float32])[0]
    wrong = tf.raw_ops.Restore(file_pattern=path, tensor_name="a", dt=tf.int32)
    missing = tf.raw_ops.Restore(file_pattern=path, tensor_name="z", dt=tf.int32)
    with tf.Session() as sess:
        np.testing.assert_array_equal(sess.run(part), [[2, 3], [4, 5]])
        np.testing.assert_array_equal(sess.run(whole), np.arange(6).reshape(2, 3))
        with pytest.raises(tf.errors.InvalidArgumentError, match="Expected to restore a tensor of type int32"):
            sess.run(wrong)
        with pytest.raises(tf.errors.NotFoundError, match='"z" not found in checkpoint files'):
            sess.run(missing)


def test_every_damaged_byte_is_an_error_or_harmless(tmp_path):
    path = str(tmp_path / "ck")
    for at in range(0, len(BY_TENSORFLOW), 3):
        damaged = bytearray(BY_TENSORFLOW)
        damaged[at] ^= 0x41
        with open(path, "wb") as f:
            f.write(damaged)
        try:
            reader = _core.CheckpointReader(path)
            for name in reader.names():
                reader.read(name)
        except tf.errors.OpError:
            pass


def test_saver_of_version_one(tmp_path):
    a = tf.get_variable("a", initializer=[1.0, 2.0])
    b = tf.get_variable("b", initializer=np.array(["x", "yz"], object))
    i = tf.get_variable("i", initializer=np.int8([[1], [-2]]))
    saver = tf.train.Saver(write_version=tf.train.SaverDef.V1)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = saver.save(sess, str(tmp_path / "model"))
    assert sorted(os.listdir(tmp_path)) == ["checkpoint", "model", "model.meta"]
    with tf.Session() as sess:
        saver.restore(sess, path)
        assert list(sess.run(a)) == [1, 2] and list(sess.run(b)) == [b"x", b"yz"]
        assert sess.run(i).tolist() == [[1], [-2]]


def test_replacing_a_checkpoint_renames_one_file_last(tmp_path):
    """At any moment the index names data that is there: new data gets another name."""
    v = tf.get_variable("v", initializer=[1.0, 2.0])
    saver = tf.train.Saver()
    prefix = str(tmp_path / "m")
    with tf.Session() as sess:
        for value, data in ([3., 4.], "00000-of-00001"), ([5., 6.], "00000-of-00002"), ([7., 8.], "00000-of-00001"):
            v.load(value, sess)
            saver.save(sess, prefix, write_meta_graph=False)
            assert sorted(os.listdir(tmp_path)) == ["checkpoint", "m.data-" + data, "m.index"]
            assert list(_core.CheckpointReader(prefix).read(b"v")) == value


def test_a_cut_off_file_names_the_tensor(tmp_path):
    tf.get_variable("some/variable", initializer=np.arange(100.0))
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = saver.save(sess, str(tmp_path / "m"))
        os.truncate(path + ".data-00000-of-00001", 500)
        with pytest.raises(tf.errors.DataLossError, match="some/variable"):
            saver.restore(sess, path)
