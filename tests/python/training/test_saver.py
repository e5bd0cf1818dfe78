"""Saver: values, files, which checkpoints are kept; CheckpointState."""
import os

import numpy as np
import pytest

import penstock.v1 as tf
from penstock.proto import variable_pb2


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def test_save_and_restore(tmp_path):
    a = tf.get_variable("a", initializer=[1.0, 2.0])
    b = tf.get_variable("b", initializer=np.int64(7), use_resource=True)
    s = tf.get_variable("s", initializer=["x", "yz"])
    with tf.variable_scope("p", partitioner=tf.fixed_size_partitioner(2)):
        tf.get_variable("v", initializer=tf.constant(np.arange(6.0, dtype=np.float32).reshape(3, 2)))
    saver = tf.train.Saver()
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        path = saver.save(sess, str(tmp_path / "model"), global_step=5)
        assert path == str(tmp_path / "model-5")
        before = sess.run(tf.global_variables())
        sess.run([a.assign([0.0, 0.0]), b.assign(0).op])
    assert sorted(os.listdir(tmp_path)) == ["checkpoint", "model-5.data-00000-of-00001", "model-5.index",
                                            "model-5.meta"]
    assert tf.train.latest_checkpoint(str(tmp_path)) == path
    with tf.Session() as sess:
        saver.restore(sess, path)
        for x, y in zip(sess.run(tf.global_variables()), before):
            np.testing.assert_array_equal(x, y)
        assert list(sess.run(s)) == [b"x", b"yz"]


def test_a_slice_is_restored_from_the_whole(tmp_path):
    with tf.Graph().as_default():
        tf.get_variable("v", initializer=tf.constant(np.arange(6.0, dtype=np.float32)))
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            path = tf.train.Saver().save(sess, str(tmp_path / "m"))
    with tf.variable_scope("", partitioner=tf.fixed_size_partitioner(3)):
        parts = tf.get_variable("v", [6])
    with tf.Session() as sess:
        tf.train.Saver().restore(sess, path)
        np.testing.assert_array_equal(sess.run(list(parts)), [[0, 1], [2, 3], [4, 5]])


def test_max_to_keep(tmp_path):
    tf.get_variable("a", initializer=1.0)
    saver = tf.train.Saver(max_to_keep=2)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        paths = [saver.save(sess, str(tmp_path / "m"), global_step=i, write_meta_graph=i == 0) for i in range(4)]
    assert saver.last_checkpoints == paths[2:]
    assert not any(name.startswith(("m-0", "m-1")) for name in os.listdir(tmp_path))
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert list(state.all_model_checkpoint_paths) == paths[2:] and state.model_checkpoint_path == paths[3]
    assert tf.train.checkpoint_exists(paths[3]) and not tf.train.checkpoint_exists(paths[0])
    assert len(tf.train.get_checkpoint_mtimes(paths)) == 2


def test_sharded(tmp_path):
    config = tf.ConfigProto(device_count={"CPU": 2})
    with tf.device("/cpu:0"):
        a = tf.get_variable("a", initializer=1.0)
    with tf.device("/cpu:1"):
        b = tf.get_variable("b", initializer=2.0)
    saver = tf.train.Saver(sharded=True)
    with tf.Session(config=config) as sess:
        sess.run(tf.global_variables_initializer())
        path = saver.save(sess, str(tmp_path / "m"), write_meta_graph=False)
        sess.run([a.assign(0.0), b.assign(0.0)])
        saver.restore(sess, path)
        assert sess.run([a, b]) == [1.0, 2.0]
    assert sum(".data-" in name for name in os.listdir(tmp_path)) == 2


def test_iterators_are_written_where_they_are(tmp_path):
    iterators = []
    for i in range(2):
        with tf.device("/cpu:%d" % i):
            iterators.append(tf.data.make_initializable_iterator(tf.data.Dataset.range(10 * i, 10 * i + 10)))
    following = [iterator.get_next() for iterator in iterators]
    saver = tf.train.Saver({name: iterator._gather_saveables_for_checkpoint()["ITERATOR"](name)
                            for name, iterator in zip("ab", iterators)}, sharded=True)
    with tf.Session(config=tf.ConfigProto(device_count={"CPU": 2})) as sess:
        sess.run([iterator.initializer for iterator in iterators])
        sess.run(following)
        sess.run(following[0])
        path = saver.save(sess, str(tmp_path / "m"), write_meta_graph=False)
        assert sess.run(following) == [2, 11]
        saver.restore(sess, path)
        assert sess.run(following) == [2, 11]
    assert sum(".data-" in name for name in os.listdir(tmp_path)) == 2


def test_relative_paths(tmp_path):
    tf.get_variable("a", initializer=1.0)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        tf.train.Saver(save_relative_paths=True).save(sess, str(tmp_path / "x" / "m").replace("/x/", "/"))
    moved = tmp_path.parent / (tmp_path.name + "_moved")
    os.rename(tmp_path, moved)
    assert tf.train.latest_checkpoint(str(moved)) == str(moved / "m")


def test_variables_of_old_meta_graphs_are_trainable_if_their_collection_is():
    with tf.Graph().as_default():
        tf.Variable(1., name="a")
        tf.Variable(1., name="b", trainable=False)
        meta = tf.train.export_meta_graph()
    for key in ("variables", "trainable_variables"):  # as TensorFlow wrote them before 1.9
        values = meta.collection_def[key].bytes_list.value
        for i, value in enumerate(values):
            definition = variable_pb2.VariableDef.FromString(value)
            definition.ClearField("trainable")
            values[i] = definition.SerializeToString()
    trainable = {}
    for version in ("1.8.0", "1.9.0"):
        meta.meta_info_def.tensorflow_version = version
        with tf.Graph().as_default():
            tf.train.import_meta_graph(meta)
            trainable[version] = [v.trainable for v in tf.global_variables()]
    assert trainable == {"1.8.0": [True, False], "1.9.0": [False, False]}


def test_meta_graph(tmp_path):
    with tf.Graph().as_default():
        a = tf.get_variable("a", initializer=3.0)
        tf.add_to_collection("out", tf.multiply(a, 2.0, name="twice"))
        with tf.Session() as sess:
            sess.run(tf.global_variables_initializer())
            path = tf.train.Saver().save(sess, str(tmp_path / "m"))
    saver = tf.train.import_meta_graph(path + ".meta")
    assert [v.name for v in tf.trainable_variables()] == ["a:0"]
    with tf.Session() as sess:
        saver.restore(sess, path)
        assert sess.run(tf.get_collection("out")) == [6.0]


def test_refusals(tmp_path):
    with pytest.raises(ValueError, match="No variables to save"):
        tf.train.Saver()
    a = tf.get_variable("a", initializer=1.0)
    with pytest.raises(TypeError, match="Not a variable"):
        tf.train.Saver({"a": tf.constant(1.0)})
    with pytest.raises(ValueError, match="two names"):
        tf.train.Saver({"a": a, "b": a})
    saver = tf.train.Saver()
    (tmp_path / "file").write_text("in the way")
    with tf.Session() as sess:
        with pytest.raises(tf.errors.FailedPreconditionError):
            saver.save(sess, str(tmp_path / "m"))
        sess.run(a.initializer)
        with pytest.raises(ValueError, match="Parent directory"):
            saver.save(sess, str(tmp_path / "file" / "m"))
        with pytest.raises(ValueError, match="not a valid checkpoint"):
            saver.restore(sess, str(tmp_path / "nothing"))
        with pytest.raises(ValueError, match="None"):
            saver.restore(sess, None)
        path = saver.save(sess, str(tmp_path / "m"))
        other = tf.train.Saver({"b": a})
        with pytest.raises(tf.errors.NotFoundError, match="missing from the checkpoint"):
            other.restore(sess, path)
        assert sess.run(a) == 1.0


def test_checkpoint_state(tmp_path):
    tf.train.update_checkpoint_state(str(tmp_path), str(tmp_path / "b"), [str(tmp_path / "a"), str(tmp_path / "b")])
    state = tf.train.get_checkpoint_state(str(tmp_path))
    assert state.model_checkpoint_path == str(tmp_path / "b")
    assert tf.train.latest_checkpoint(str(tmp_path)) is None  # its files do not exist
    (tmp_path / "checkpoint").write_text("nonsense {")
    assert tf.train.get_checkpoint_state(str(tmp_path)) is None
    assert tf.train.get_checkpoint_state(str(tmp_path / "nothing")) is None


def test_a_directory_is_made_but_not_the_one_above_it(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        tf.get_variable("v", initializer=1.0)
        sess.run(tf.global_variables_initializer())
        saver = tf.train.Saver()
        saver.save(sess, str(tmp_path / "made" / "m"))
        with pytest.raises(ValueError, match="Parent directory of .* doesn't exist, can't save"):
            saver.save(sess, str(tmp_path / "no" / "such" / "m"))
    assert sorted(os.listdir(tmp_path)) == ["made"]
