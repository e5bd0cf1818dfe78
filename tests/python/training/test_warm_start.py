"""tf.train.warm_start: by names, renamed, partitioned, by words."""
import numpy as np
import pytest

import penstock.v1 as tf


def save(directory, make):
    with tf.Graph().as_default(), tf.Session() as sess:
        make()
        sess.run(tf.global_variables_initializer())
        return tf.train.Saver().save(sess, str(directory / "m"))


def started(make, *args, **kwargs):
    """The values of all variables after a warm start."""
    with tf.Graph().as_default(), tf.Session() as sess:
        variables = make()
        tf.train.warm_start(*args, **kwargs)
        sess.run(tf.global_variables_initializer())
        return [sess.run(v.as_tensor() if hasattr(v, "as_tensor") else v).tolist() for v in variables]


def two(value):
    return [tf.get_variable("a", initializer=[value, value]), tf.get_variable("b", initializer=[value])]


def test_names(tmp_path):
    path = save(tmp_path, lambda: two(1.))
    assert started(lambda: two(0.), path) == [[1, 1], [1]]
    assert started(lambda: two(0.), str(tmp_path), "a") == [[1, 1], [0]]
    assert started(lambda: two(0.), path, ["b"]) == [[0, 0], [1]]
    assert started(lambda: [tf.get_variable("c", initializer=[0.])], path,
                   var_name_to_prev_var_name={"c": "b"}) == [[1]]
    assert started(lambda: [tf.get_variable("b", initializer=[0.]), tf.get_variable("c", initializer=[0.])], path,
                   var_name_to_prev_var_name={"c": "b"}) == [[1], [1]]
    with pytest.raises(ValueError, match="not used: {'z'}"):
        started(lambda: two(0.), path, var_name_to_prev_var_name={"z": "b"})
    with pytest.raises(ValueError, match="must be a `list` or `str`"):
        started(lambda: two(0.), path, 3)


@pytest.mark.parametrize("use_resource", [False, True])
@pytest.mark.parametrize("parts", [None, 2])
@pytest.mark.parametrize("axis", [0, 1])
def test_words(tmp_path, axis, parts, use_resource):
    (tmp_path / "old").write_text("apple\nbanana\norange\n")
    (tmp_path / "new").write_text("orange\npear\napple\n")
    old = np.float32([[1, 2], [3, 4], [5, 6]])
    path = save(tmp_path, lambda: tf.get_variable("e", initializer=old if axis == 0 else old.T))

    def make():
        partitioner = tf.fixed_size_partitioner(parts) if parts else None
        return [tf.get_variable("e", [4, 2] if axis == 0 else [2, 4], partitioner=partitioner,
                                use_resource=use_resource)]

    info = tf.train.VocabInfo(str(tmp_path / "new"), 3, 1, str(tmp_path / "old"), axis=axis,
                              backup_initializer=tf.random_uniform_initializer(9., 9.))
    found = np.array(started(make, path, var_name_to_vocab_info={"e": info})[0])
    wanted = np.float32([[5, 6], [9, 9], [1, 2], [9, 9]])
    np.testing.assert_array_equal(found, wanted if axis == 0 else wanted.T)
    if axis == 0:
        info = info._replace(old_vocab_size=2, backup_initializer=None)
        found = np.array(started(make, path, None, {"e": info})[0])
        np.testing.assert_array_equal(found, np.float32([[0, 0], [0, 0], [1, 2], [0, 0]]))
    with pytest.raises(ValueError, match="axis argument are 0 and 1"):
        tf.train.VocabInfo("new", 3, 1, "old", axis=2)


def test_the_path_may_be_a_list_of_one(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        w = tf.get_variable("w", initializer=[[1.0, 2.0], [3.0, 4.0]])
        sess.run(w.initializer)
        path = tf.train.Saver().save(sess, str(tmp_path / "m"))
        swapped = tf.raw_ops.LoadAndRemapMatrix(
            ckpt_path=[path], old_tensor_name="w", row_remapping=[1, 0], col_remapping=[], initializing_values=[],
            num_rows=2, num_cols=2)
        assert sess.run(swapped).tolist() == [[3.0, 4.0], [1.0, 2.0]]
