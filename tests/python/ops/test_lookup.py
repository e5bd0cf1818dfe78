"""Lookup tables; messages are those of TensorFlow 2.21, or of the version, names of operations those of 1.15."""
import numpy as np
import pytest

import penstock.v1 as tf
from penstock._src.base import tf2
from penstock._src.ops.lookup import lookup_ops


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def table(keys=("a", "b"), values=(1, 2), default=-1):
    initializer = lookup_ops.KeyValueTensorInitializer(list(keys), list(values), tf.string, tf.int64)
    return lookup_ops.HashTable(initializer, default)


def pairs(exported):
    keys, values = exported
    return dict(zip(np.ravel(keys).tolist(), np.reshape(values, [len(np.ravel(keys)), -1]).tolist()))


def test_static_table():
    t = table()
    x = tf.constant([["a", "z"], ["b", "a"]])
    found, size, exported = t.lookup(x), t.size(), t.export()
    with tf.Session() as sess:
        with pytest.raises(tf.errors.FailedPreconditionError, match="Table not initialized"):
            sess.run(found)
        with pytest.raises(tf.errors.AbortedError, match="HashTable is not initialized"):
            sess.run(exported)
        assert sess.run(size) == 0
        sess.run(tf.tables_initializer())
        assert sess.run(found).tolist() == [[1, -1], [2, 1]] and sess.run(size) == 2
        assert pairs(sess.run(exported)) == {b"a": [1], b"b": [2]}
        sess.run(tf.tables_initializer())  # the same again does no harm
    assert found.shape == [2, 2]


def test_names_of_operations(graph):
    t = table()
    t.lookup(tf.constant(["a"], name="x"))
    t.size()
    names = [op.name for op in graph.get_operations()]
    for name in ("keys", "values", "hash_table", "key_value_init/LookupTableImportV2",
                 "hash_table_Lookup/LookupTableFindV2", "hash_table_Size/LookupTableSizeV2"):
        assert name in names
    assert graph.get_operation_by_name("hash_table").type == "HashTableV2"


def test_duplicates_and_other_data():
    t = table(("a", "a"), (1, 2))
    with tf.Session() as sess:
        with pytest.raises(tf.errors.FailedPreconditionError, match="different value for same key. Key a has 1"):
            sess.run(t.initializer)
    raw = tf.raw_ops
    handle = raw.HashTableV2(key_dtype=tf.string, value_dtype=tf.int64)
    first = raw.InitializeTableV2(table_handle=handle, keys=["a"], values=tf.constant([1], tf.int64))
    other = raw.InitializeTableV2(table_handle=handle, keys=["a"], values=tf.constant([2], tf.int64))
    with tf.Session() as sess:
        sess.run(first)
        sess.run(first)
        with pytest.raises(tf.errors.FailedPreconditionError, match="initialized with different data"):
            sess.run(other)


def test_sparse_keys():
    t = table()
    found = t.lookup(tf.SparseTensor([[0, 0], [1, 2]], ["b", "z"], [2, 3]))
    with tf.Session() as sess:
        sess.run(tf.tables_initializer())
        assert sess.run(found).values.tolist() == [2, -1]


def test_wrong_types():
    t = table()
    with pytest.raises(TypeError, match="Signature mismatch. Keys must be dtype"):
        t.lookup(tf.constant([1]))
    with pytest.raises(TypeError, match="Invalid value dtype"):
        lookup_ops.KeyValueTensorInitializer(["a"], [1.0]).initialize(t)
    find = tf.raw_ops.LookupTableFindV2
    handle = tf.raw_ops.MutableHashTableV2(key_dtype=tf.string, value_dtype=tf.int64)
    x = tf.placeholder(tf.int64)
    found = find(table_handle=handle, keys=["a"], default_value=x)
    with tf.Session() as sess:
        message = r"Expected shape \[\] or \[1\] for default value, got \[2\]"
        with pytest.raises(tf.errors.InvalidArgumentError, match=message):
            sess.run(found, {x: [1, 2]})


def test_text_file(tmp_path):
    path = tmp_path / "words"
    path.write_text("brain\nsalad\nsurgery\n")
    ids = lookup_ops.index_table_from_file(str(path), num_oov_buckets=1)
    words = lookup_ops.index_to_string_table_from_file(str(path), default_value="?")
    found = ids.lookup(tf.constant(["salad", "tarkus"])), words.lookup(tf.constant([0, 3], tf.int64)), ids.size()
    with tf.Session() as sess:
        sess.run(tf.tables_initializer())
        a, b, size = sess.run(found)
    assert a.tolist() == [1, 3] and b.tolist() == [b"brain", b"?"] and size == 4
    assert len(tf.get_collection(tf.GraphKeys.ASSET_FILEPATHS)) == 2


@pytest.mark.parametrize("text, how, message", [
    ("a b\nc\n\nd", {}, "empty line found at position 7"),
    ("a,1\nb,x", dict(key_index=0, value_index=1, delimiter=","), "Field x in line 1 is not a valid int64"),
    ("a,1", dict(key_index=0, value_index=2, delimiter=","), r"line 0 \(a,1\) : expected at least 3 got 2"),
    ("a\nb\nc\n", dict(vocab_size=5), "Invalid vocab_size in .*: expected 5 but got 3")])
def test_text_file_refuses(tmp_path, text, how, message):
    path = tmp_path / "words"
    path.write_text(text)
    how = dict(dict(key_index=-2, value_index=-1), **how)
    t = lookup_ops.HashTable(lookup_ops.TextFileInitializer(str(path), tf.string, how.pop("key_index"), tf.int64,
                                                            how.pop("value_index"), **how), -1)
    with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=message):
        sess.run(t.initializer)


def test_vocabulary_in_a_tensor():
    t = lookup_ops.index_table_from_tensor(["a", "b"], num_oov_buckets=2, hasher_spec=lookup_ops.StrongHashSpec([1, 2]))
    ints = lookup_ops.index_table_from_tensor([42, 1, -1000], dtype=tf.int32)
    found = t.lookup(tf.constant(["b", "q"])), ints.lookup(tf.constant([-1000, 7], tf.int64))
    bucket = tf.string_to_hash_bucket_strong(["q"], 2, [1, 2])
    with tf.Session() as sess:
        sess.run(tf.tables_initializer())
        (a, b), expected = sess.run(found), sess.run(bucket)
    assert a.tolist() == [1, 2 + expected[0]] and b.tolist() == [2, -1]


def test_mutable_table():
    t = lookup_ops.MutableHashTable(tf.string, tf.int64, -1)
    x = tf.constant(["a", "b", "z"])
    insert, remove = t.insert(["a", "b"], tf.constant([1, 2], tf.int64)), t.remove(tf.constant(["a", "q"]))
    again, found, exported = t.insert(["b"], tf.constant([5], tf.int64)), t.lookup(x), t.export()
    each = t.lookup(x, tf.constant([7, 8, 9], tf.int64))
    with tf.Session() as sess:
        sess.run(insert)
        assert sess.run(found).tolist() == [1, 2, -1] and sess.run(each).tolist() == [1, 2, 9]
        sess.run(again)
        sess.run(remove)
        assert sess.run(found).tolist() == [-1, 5, -1] and sess.run(t.size()) == 1
        assert pairs(sess.run(exported)) == {b"b": [5]}


def test_mutable_table_of_vectors():
    t = lookup_ops.MutableHashTable(tf.string, tf.int64, [-1, -1])
    insert = t.insert(["a"], tf.constant([[1, 2]], tf.int64))
    found = t.lookup(tf.constant([["a"], ["z"]]))
    x = tf.placeholder(tf.int64)
    wrong = t.insert(["a"], x)
    with tf.Session() as sess:
        sess.run(insert)
        assert sess.run(found).tolist() == [[[1, 2]], [[-1, -1]]]
        with pytest.raises(tf.errors.InvalidArgumentError, match=r"Expected shape \[1,2\] for value, got \[1\]"):
            sess.run(wrong, {x: [1]})


def test_dense_table():
    t = lookup_ops.DenseHashTable(tf.int64, tf.int64, -1, empty_key=100, deleted_key=200, initial_num_buckets=4)
    keys = tf.constant([11, 12, 13, 14], tf.int64)
    insert = t.insert(keys, tf.constant([0, 1, 2, 3], tf.int64))
    erase = t.erase(tf.constant([12, 15], tf.int64))
    k = tf.placeholder(tf.int64, [None])
    found, exported = t.lookup(k), t.export()
    with tf.Session() as sess:
        sess.run(insert)
        sess.run(erase)
        assert sess.run(found, {k: [11, 12, 14]}).tolist() == [0, -1, 3] and sess.run(t.size()) == 3
        exported_keys = sorted(np.ravel(sess.run(exported)[0]).tolist())
        assert exported_keys == [11, 13, 14, 100, 100, 100, 100, 200]
        with pytest.raises(tf.errors.InvalidArgumentError, match="Using the empty_key as a table key"):
            sess.run(found, {k: [100]})
    for how, message in ((dict(deleted_key=100), "cannot be equal"), (dict(deleted_key=[1]), "must have same shape"),
                         (dict(deleted_key=1, initial_num_buckets=3), "at least 4 and a power of 2")):
        bad = lookup_ops.DenseHashTable(tf.int64, tf.int64, -1, empty_key=100, **how)
        with tf.Session() as sess, pytest.raises(tf.errors.InvalidArgumentError, match=message):
            sess.run(bad.size())


@pytest.mark.parametrize("keys, special, exported", [
    (np.array([3, 11, -5, 19]), (100, 200), [100, 19, 100, 3, 11, 100, -5, 100]),
    ([["a", "b"], ["ab", ""], ["c", "d"]], (["", ""], ["-", ""]),
     [[b"", b""]] * 5 + [[b"a", b"b"], [b"ab", b""], [b"c", b"d"]]),
    (["a", "b", "longer than eight"], ("", "-"), [b"", b"", b"b", b"", b"a", b"longer than eight", b"", b""])])
def test_buckets_of_a_dense_table(keys, special, exported):
    """Each key is exported in the bucket where TensorFlow 2.21 put it, and looks for it in a checkpoint."""
    keys = tf.constant(keys)
    t = lookup_ops.DenseHashTable(keys.dtype, tf.int64, -1, *special, initial_num_buckets=8)
    insert, found = t.insert(keys, tf.range(keys.shape[0].value, dtype=tf.int64)), t.export()
    with tf.Session() as sess:
        sess.run(insert)
        buckets = sess.run(found)[0]
    assert np.reshape(buckets, np.shape(exported)).tolist() == exported


def test_vectors_as_keys():
    t = lookup_ops.DenseHashTable(tf.string, tf.int64, [-1, -2], empty_key=["", ""], deleted_key=["-", ""])
    insert = t.insert([["a", "b"], ["ab", ""]], tf.constant([[1, 2], [3, 4]], tf.int64))
    found = t.lookup(tf.constant([["ab", ""], ["a", "b"], ["b", "a"]]))
    with tf.Session() as sess:
        sess.run(insert)
        assert sess.run(found).tolist() == [[3, 4], [1, 2], [-1, -2]]


def test_checkpoint(tmp_path):
    def build():
        mutable = lookup_ops.MutableHashTable(tf.string, tf.int64, -1, name="m")
        dense = lookup_ops.DenseHashTable(tf.int64, tf.int64, -1, empty_key=0, deleted_key=-1, name="d")
        return mutable, dense

    with tf.Graph().as_default(), tf.Session() as sess:
        mutable, dense = build()
        saver = tf.train.Saver()
        sess.run([mutable.insert(["a"], tf.constant([1], tf.int64)),
                  dense.insert(tf.constant([5], tf.int64), tf.constant([6], tf.int64))])
        path = saver.save(sess, str(tmp_path / "tables"))
    with tf.Graph().as_default(), tf.Session() as sess:
        mutable, dense = build()
        tf.train.Saver().restore(sess, path)
        assert pairs(sess.run(mutable.export())) == {b"a": [1]}
        assert sess.run(dense.lookup(tf.constant([5, 6], tf.int64))).tolist() == [6, -1]


@pytest.mark.parametrize("arguments, two, one", [
    (("", "string", -2, "int64", -1), "`filename` argument required", "Filename required for None"),
    (("f", "string", -3, "int64", -1), "`key_index` should be >= -2, received: -3", "Invalid key index -3"),
    (("f", "string", -1, "int64", -1), "`key_dtype` must be int64 if `key_index` is -1, received: <dtype: 'string'>",
     "Signature mismatch. Keys must be dtype <dtype: 'int64'>, got <dtype: 'string'>"),
    (("f", "float32", -2, "int64", -1), "`key_dtype` should be either integer or string for `key_index` -2",
     "Signature mismatch. Keys must be integer or string, got <dtype: 'float32'>"),
    (("f", "string", -2, "string", -1), "`value_dtype` must be int64 for `value_index` -1, received: <dtype: 'string'>",
     "Signature mismatch. Values must be dtype <dtype: 'int64'>, got <dtype: 'string'>"),
    (("f", "string", -2, "float32", -2), "`value_dtype` should be either integer or string for `value_index` -2",
     "Signature mismatch. Values must be dtype <dtype: 'string'>, got <dtype: 'float32'>"),
    (("f", "string", -2, "int64", -1, 0), "`vocab_size` should be > 0, received: 0", "Invalid vocab_size 0"),
])
def test_messages_about_files_are_those_of_the_version(arguments, two, one, monkeypatch):
    for enabled, message in (True, two), (False, one):
        monkeypatch.setattr(tf2, "enabled", lambda: enabled)
        with pytest.raises(ValueError, match=message):
            lookup_ops.TextFileInitializer(*arguments)


@pytest.mark.parametrize("keys, key_index, values, value_index, offset, found", [
    ("string", -2, "int64", -2, 0, [10, -1]), ("int64", -2, "int64", -2, 0, [10, -1]),
    ("int64", -2, "int32", -2, 0, [10, -1]), ("string", -2, "int32", -2, 5, [15, -1]),
    ("string", -2, "int64", 0, 5, [10, -1]), ("int32", -2, "string", -2, 0, [b"10", b"?"]),
    ("int64", -2, "string", -2, 5, [b"10", b"?"]), ("string", -2, "int64", -1, 5, [5, -1]),
])
def test_lines_are_numbers(tmp_path, version_two, keys, key_index, values, value_index, offset, found):
    """TensorFlow 2.21's values: an offset is added to numbers of lines, and to fields of type int32."""
    (tmp_path / "lines").write_text("10\n20\n30\n")
    lines = lookup_ops.TextFileInitializer(str(tmp_path / "lines"), keys, key_index, values, value_index,
                                           value_index_offset=offset)
    t = lookup_ops.StaticHashTable(lines, "?" if values == "string" else -1)
    asked = tf.constant(["10", "x"] if keys == "string" else [10, 1], keys)
    assert t.lookup(asked).numpy().tolist() == found
    (tmp_path / "words").write_text("20\na\n")
    words = lookup_ops.TextFileInitializer(str(tmp_path / "words"), "string", -2, "int64", -2)
    with pytest.raises(tf.errors.InvalidArgumentError, match="Field a in line 1 is not a valid int64"):
        lookup_ops.StaticHashTable(words, -1)


def test_messages_about_vocabularies_are_those_of_the_version(monkeypatch):
    def source(keys, values):
        return lookup_ops.KeyValueTensorInitializer(keys, values)

    two = ("`num_oov_buckets` must be > 0", "`key_dtype`", "`value_dtype`", "Dtype of argument `keys` must be")
    one = ("oov_buckets must be > 0.", "key dtype", "value dtype", "Signature mismatch. Keys must be")
    for enabled, words in (True, two), (False, one):
        monkeypatch.setattr(tf2, "enabled", lambda: enabled)
        with tf.Graph().as_default():
            make = lookup_ops.StaticVocabularyTable
            with pytest.raises(ValueError, match=words[0]):
                make(None, 0)
            with pytest.raises(TypeError, match=f"Invalid {words[1]}, expected one of .* got <dtype: 'float32'>"):
                make(source([1.5], [1]), 1)
            with pytest.raises(TypeError, match=f"Invalid {words[2]}, expected <dtype: 'int64'> .* <dtype: 'int32'>"):
                make(source(["a"], [1]), 1)
            table = make(source(["a"], tf.constant([1], tf.int64)), 1)
            with pytest.raises(TypeError, match=words[3]):
                table.lookup(tf.constant([1]))
