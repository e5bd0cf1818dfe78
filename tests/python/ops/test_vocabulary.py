"""Matrices whose rows and columns stand for words of vocabularies that changed."""
import numpy as np
import pytest

import penstock.v1 as tf

OLD = np.arange(12, dtype=np.float32).reshape(4, 3)


@pytest.fixture
def files(tmp_path):
    for name, words in (("old", "a b c d"), ("new", "x c a y"), ("columns_old", "r s t"), ("columns_new", "t u r")):
        (tmp_path / name).write_text(words.replace(" ", "\n") + "\n")
    return lambda name: str(tmp_path / name)


@pytest.fixture
def checkpoint(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.get_variable("matrix", initializer=OLD)
        sess.run(v.initializer)
        return tf.train.Saver([v]).save(sess, str(tmp_path / "model"))


def run(fetches):
    with tf.Session() as sess:
        return sess.run(fetches)


def remapping(files, **kwargs):
    return tf.raw_ops.GenerateVocabRemapping(new_vocab_file=files("new"), old_vocab_file=files("old"), **kwargs)


def test_where_words_were(files):
    value = run(remapping(files, new_vocab_offset=1, num_new_vocab=3))
    assert value.remapping.tolist() == [2, 0, -1] and value.num_present == 2


def test_only_the_first_old_words(files):
    assert run(remapping(files, new_vocab_offset=0, num_new_vocab=4, old_vocab_size=2))[0].tolist() == [-1, -1, 0, -1]


@pytest.mark.parametrize("arguments, message", [
    (dict(new_vocab_offset=3, num_new_vocab=2), "last new vocab entry"),
    (dict(new_vocab_offset=0, num_new_vocab=2, old_vocab_size=9), "vocab_size")])
def test_vocabularies_that_are_too_short(files, arguments, message):
    with pytest.raises(tf.errors.InvalidArgumentError, match=message):
        run(remapping(files, **arguments))


def test_vocabularies_that_are_not_there(files):
    with pytest.raises(tf.errors.NotFoundError):
        run(tf.raw_ops.GenerateVocabRemapping(new_vocab_file=files("none"), old_vocab_file=files("old"),
                                              new_vocab_offset=0, num_new_vocab=1))


def load(checkpoint, rows, columns, missing, shape, name="matrix", **kwargs):
    return run(tf.raw_ops.LoadAndRemapMatrix(
        ckpt_path=checkpoint, old_tensor_name=name, row_remapping=np.array(rows, np.int64),
        col_remapping=np.array(columns, np.int64), initializing_values=np.array(missing, np.float32),
        num_rows=shape[0], num_cols=shape[1], **kwargs))


@pytest.mark.parametrize("most", [-1, 1, 2])
def test_rows_and_columns(checkpoint, most):
    got = load(checkpoint, [2, -1, 0], [2, -1, 0], [100, 101, 102, 103, 104], (3, 3), max_rows_in_memory=most)
    assert got.tolist() == [[8, 100, 6], [101, 102, 103], [2, 104, 0]]


def test_the_path_may_be_a_vector_of_one(checkpoint):
    assert load([checkpoint], [1], [], [], (1, 3)).tolist() == OLD[[1]].tolist()


def test_rows_only(checkpoint):
    assert load(checkpoint, [3, 1], [], [], (2, 3)).tolist() == OLD[[3, 1]].tolist()


@pytest.mark.parametrize("rows, columns, missing, shape, error, message", [
    ([0, 0], [], [], (2, 3), tf.errors.UnimplementedError, "not supported"),
    ([0, 9], [], [], (2, 3), tf.errors.InvalidArgumentError, "out of range"),
    ([0, -1], [], [1, 2], (2, 3), tf.errors.InvalidArgumentError, "more missing"),
    ([0, 1], [], [1], (2, 3), tf.errors.InvalidArgumentError, "only 0 elements"),
    ([0], [], [], (2, 3), tf.errors.InvalidArgumentError, "Size of row_remapping"),
    ([0, 1], [0], [], (2, 3), tf.errors.InvalidArgumentError, "col_remapping"),
    ([0, 1], [], [], (2, 4), tf.errors.InvalidArgumentError, "2nd dimension")])
def test_bad_input(checkpoint, rows, columns, missing, shape, error, message):
    with pytest.raises(error, match=message):
        load(checkpoint, rows, columns, missing, shape)


def test_other_tensors(checkpoint):
    with pytest.raises(tf.errors.NotFoundError):
        load(checkpoint, [0], [], [], (1, 3), name="none")


def test_warm_start_with_a_changed_vocabulary(checkpoint, files):
    """`tf.train.warm_start`: rows by their words, buckets and new words from the backup initializer."""
    for parts, new_size in ((None, 4), (2, 4)):
        with tf.Graph().as_default(), tf.Session() as sess:
            v = tf.get_variable("matrix", [new_size + 2, 3],
                                partitioner=tf.fixed_size_partitioner(parts) if parts else None)
            tf.train.warm_start(checkpoint, var_name_to_vocab_info={"matrix": tf.train.VocabInfo(
                files("new"), new_size, 2, files("old"), backup_initializer=tf.ones_initializer())})
            sess.run(tf.global_variables_initializer())
            got = sess.run(tf.convert_to_tensor(v))
        np.testing.assert_array_equal(got, np.stack([[1] * 3, OLD[2], OLD[0], [1] * 3, [1] * 3, [1] * 3]))


def test_warm_start_of_columns(checkpoint, files):
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.get_variable("other", [4, 3])
        tf.train.warm_start(checkpoint, vars_to_warm_start=None, var_name_to_prev_var_name={"other": "matrix"},
                            var_name_to_vocab_info={"other": tf.train.VocabInfo(
                                files("columns_new"), 3, 0, files("columns_old"), axis=1)})
        sess.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(sess.run(v), np.stack([OLD[:, 2], np.zeros(4), OLD[:, 0]], 1))
