"""Feature columns: values by hand, layers, sequences, checkpoints, configurations, errors.

Graphs are compared with TensorFlow's in tests/python/training/test_graphs.py (programs of columns).
"""
import numpy as np
import pytest

import penstock.v1 as tf
from penstock.compat import v2 as version_two
from penstock._src.feature_column import dense_columns
from penstock._src.feature_column import dense_features
from penstock._src.feature_column import dense_features_v2
from penstock._src.feature_column import feature_column_v2 as v2
from penstock._src.feature_column import sequence_feature_column
from penstock._src.feature_column import serialization
from penstock._src.base import tf2

fc = tf.feature_column


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as g:
        yield g


def run(fetches):
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.tables_initializer()])
        return sess.run(fetches)


def sparse(rows):
    """A sparse tensor of ragged rows of strings or integers."""
    indices = [[r, i] for r, row in enumerate(rows) for i in range(len(row))]
    return tf.SparseTensor(np.array(indices, np.int64).reshape(-1, 2), [x for row in rows for x in row],
                           [len(rows), max(map(len, rows))])


def layers(columns, features):
    """What the function and the layer give, which is the same."""
    a, b = run([fc.input_layer(features, columns), dense_features.DenseFeatures(columns)(features)])
    np.testing.assert_array_equal(a, b)
    return a.tolist()


IDS = [[1, 0], [], [3]]
EMBEDDING = np.array([[1, 2], [3, 4], [5, 6], [7, 8]], np.float32)


def ids_column(**kwargs):
    return fc.categorical_column_with_identity("ids", 4, **kwargs)


def embedding(column, **kwargs):
    return fc.embedding_column(column, 2, initializer=tf.constant_initializer(EMBEDDING), **kwargs)


def test_numbers():
    column = fc.numeric_column("x", shape=2, normalizer_fn=lambda x: x * 2.)
    assert layers([column], {"x": tf.constant([[1., 2.], [3., 4.]])}) == [[2, 4], [6, 8]]
    assert fc.make_parse_example_spec([fc.numeric_column("x", default_value=3)]) == {
        "x": tf.io.FixedLenFeature((1,), tf.float32, (3,))}


def test_ranges():
    column = fc.bucketized_column(fc.numeric_column("x"), [0., 10.])
    assert layers([column], {"x": tf.constant([[-1.], [0.], [10.]])}) == [[1, 0, 0], [0, 1, 0], [0, 0, 1]]


@pytest.mark.parametrize("combiner, first", [("sum", [4, 6]), ("mean", [2, 3]),
                                             ("sqrtn", [4 / 2 ** .5, 6 / 2 ** .5])])
def test_embeddings(combiner, first):
    got = layers([embedding(ids_column(), combiner=combiner)], {"ids": sparse(IDS)})
    np.testing.assert_allclose(got, [first, [0, 0], [7, 8]], rtol=1e-6)


def test_weighted_categories():
    column = fc.weighted_categorical_column(ids_column(), "weight")
    features = {"ids": sparse(IDS), "weight": sparse([[1., 3.], [], [2.]])}
    assert layers([embedding(column)], features) == [[(3 + 3) / 4, (4 + 6) / 4], [0, 0], [7, 8]]
    assert layers([fc.indicator_column(column)], features) == [[3, 1, 0, 0], [0] * 4, [0, 0, 0, 2]]


def test_words(tmp_path):
    words = {"word": tf.constant([["b"], ["x"], [""]])}
    listed = fc.categorical_column_with_vocabulary_list("word", ["a", "b"], default_value=0)
    assert layers([fc.indicator_column(listed)], words) == [[0, 1], [1, 0], [0, 0]]
    (tmp_path / "words").write_text("a\nb\nc\n")
    from_file = fc.categorical_column_with_vocabulary_file("word", str(tmp_path / "words"), num_oov_buckets=1)
    assert layers([fc.indicator_column(from_file)], words) == [[0, 1, 0, 0], [0, 0, 0, 1], [0] * 4]
    hashed = fc.categorical_column_with_hash_bucket("word", 10)
    got = np.argmax(layers([fc.indicator_column(hashed)], words)[:2], 1)
    assert got.tolist() == run(tf.strings.to_hash_bucket_fast(["b", "x"], 10)).tolist()


def test_ids_out_of_range():
    assert layers([fc.indicator_column(ids_column(default_value=2))], {"ids": sparse([[9], [1]])}) == [
        [0, 0, 1, 0], [0, 1, 0, 0]]
    with pytest.raises(tf.errors.InvalidArgumentError, match="exceeds number of buckets"):
        run(fc.input_layer({"ids": sparse([[9], [1]])}, [fc.indicator_column(ids_column())]))


def test_crosses():
    """The same buckets as the hashes of the combinations."""
    column = fc.crossed_column(["a", ids_column()], 5)
    features = {"a": sparse([["x"], ["y"], ["z"]]), "ids": sparse([[1], [0], [3]])}
    got = np.argmax(layers([fc.indicator_column(column)], features), 1)
    assert got.tolist() == run(tf.sparse.cross_hashed([features["a"], features["ids"]], 5)).values.tolist()


def test_linear_models():
    columns = [fc.numeric_column("x"), ids_column()]
    features = {"x": tf.constant([[1.], [2.], [3.]]), "ids": sparse(IDS)}
    by_column = {}
    y = fc.linear_model(features, columns, cols_to_vars=by_column)
    model = v2.LinearModel(columns, name="other")
    z = model(features)
    assert [w.name for w in model.weights] == ["other/ids/weights:0", "other/x/weights:0",
                                               "other/bias_weights:0"]
    assert by_column["bias"][0].name == "linear_model/bias_weights:0"
    sets = [v.assign(value) for v, value in zip(
        by_column[columns[0]] + by_column[columns[1]] + by_column["bias"] + model.weights[1:2] + model.weights[:1] +
        model.weights[2:], [[[10.]], [[1.], [2.], [3.], [4.]], [100.]] * 2)]
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(sets)
        a, b = sess.run([y, z])
    assert a.tolist() == b.tolist() == [[113.], [120.], [134.]]


def test_columns_share_a_variable():
    other = fc.categorical_column_with_identity("other", 4)
    features = {"ids": sparse(IDS), "other": sparse([[2], [1], [0]])}
    shared = fc.shared_embedding_columns([ids_column(), other], 2, initializer=tf.constant_initializer(EMBEDDING))
    got = run(fc.input_layer(features, shared))
    assert len(tf.global_variables()) == 1
    v2_shared = v2.shared_embedding_columns_v2([ids_column(), other], 2,
                                               initializer=tf.constant_initializer(EMBEDDING))
    layer = dense_features_v2.DenseFeatures(v2_shared)
    np.testing.assert_array_equal(run(layer(features)), got)
    assert got.tolist() == [[2, 3, 5, 6], [0, 0, 3, 4], [7, 8, 1, 2]]
    with pytest.raises(ValueError, match="not supported in `linear_model` or `input_layer`"):
        fc.input_layer(features, v2_shared)


def test_a_layer_reuses_its_variables():
    layer = dense_features.DenseFeatures([embedding(ids_column())])
    first, second = layer({"ids": sparse(IDS)}), layer({"ids": sparse([[2]])})
    assert len(layer.weights) == 1 and run([first, second])[1].tolist() == [[5, 6]]
    template = tf.feature_column.input_layer
    with tf.variable_scope("again", reuse=tf.AUTO_REUSE):
        template({"ids": sparse(IDS)}, [embedding(ids_column())])
        template({"ids": sparse(IDS)}, [embedding(ids_column())])


def test_embedding_from_a_checkpoint(tmp_path):
    with tf.Graph().as_default(), tf.Session() as sess:
        v = tf.get_variable("table", initializer=EMBEDDING)
        sess.run(v.initializer)
        path = tf.train.Saver([v]).save(sess, str(tmp_path / "model"))
    column = fc.embedding_column(ids_column(), 2, ckpt_to_load_from=path, tensor_name_in_ckpt="table")
    assert layers([column], {"ids": sparse([[3]])}) == [[7, 8]]


def test_sequences():
    ids = fc.sequence_categorical_column_with_identity("ids", 4)
    columns = [embedding(ids), fc.sequence_numeric_column("x", default_value=-1.), fc.indicator_column(ids)]
    features = {"ids": sparse([[1, 0], [3]]), "x": sparse([[.5, 1.], [2.]])}
    layer, length = sequence_feature_column.SequenceFeatures(columns)(features)
    scoped, scoped_length = tf.contrib.feature_column.sequence_input_layer(features, columns)
    got, lengths, again, lengths_again = run([layer, length, scoped, scoped_length])
    assert lengths.tolist() == lengths_again.tolist() == [2, 1]
    np.testing.assert_array_equal(got, again)
    assert got.tolist() == [[[3, 4, 0, 1, 0, 0, .5], [1, 2, 1, 0, 0, 0, 1]],
                            [[7, 8, 0, 0, 0, 1, 2], [0, 0, 0, 0, 0, 0, -1]]]
    context = sequence_feature_column.concatenate_context_input(tf.constant([[9.], [8.]]), layer)
    assert run(context)[:, :, -1].tolist() == [[9, 9], [8, 8]]
    with pytest.raises(ValueError, match="must not be of type"):
        fc.input_layer(features, [embedding(ids)])
    with pytest.raises(ValueError, match="must be of type"):
        sequence_feature_column.SequenceFeatures([embedding(ids_column())])(features)


def test_parsed_examples():
    columns = [fc.numeric_column("x", default_value=5.), fc.indicator_column(ids_column())]
    example = tf.train.Example(features=tf.train.Features(feature={
        "ids": tf.train.Feature(int64_list=tf.train.Int64List(value=[0, 0, 2]))})).SerializeToString()
    features = tf.io.parse_example([example], fc.make_parse_example_spec(columns))
    assert layers(columns, features) == [[2, 0, 1, 0, 5]]


def double(x):
    return x * 2


def test_configurations():
    words = fc.categorical_column_with_vocabulary_list("word", ["a", "b"])
    columns = [fc.numeric_column("x", normalizer_fn=double), fc.bucketized_column(fc.numeric_column("y"), [1.]),
               fc.indicator_column(fc.weighted_categorical_column(words, "w")),
               fc.embedding_column(fc.crossed_column(["c", words], 7), 3)]
    layer = dense_features.DenseFeatures(columns)
    config = layer.get_config()
    again = dense_features.DenseFeatures.from_config(config, custom_objects={"double": double})
    assert [c.name for c in again._feature_columns] == [c.name for c in layer._feature_columns]
    assert again._feature_columns[-1].boundaries == (1.,)
    assert serialization.deserialize_feature_columns(serialization.serialize_feature_columns([words])) == [words]
    with pytest.raises(ValueError, match="Unknown function"):
        dense_features.DenseFeatures.from_config(config)


@pytest.mark.parametrize("make, match", [
    (lambda: fc.numeric_column("x", shape=0), "greater than 0"),
    (lambda: fc.numeric_column(1), "key must be a string"),
    (lambda: fc.numeric_column("x", shape=2, default_value=[1., 2., 3.]), "shape of default_value"),
    (lambda: fc.numeric_column("x", dtype=tf.int64, default_value=1.5), "compatible with dtype"),
    (lambda: fc.bucketized_column(fc.numeric_column("x"), [2, 1]), "sorted"),
    (lambda: fc.bucketized_column(ids_column(), [1]), "numeric_column"),
    (lambda: fc.categorical_column_with_identity("x", 3, default_value=5), "not in range"),
    (lambda: fc.categorical_column_with_hash_bucket("x", 0), "at least 1"),
    (lambda: fc.categorical_column_with_vocabulary_list("x", ["a", "a"]), "Duplicate"),
    (lambda: fc.categorical_column_with_vocabulary_file("x", "/nowhere"), "does not exist"),
    (lambda: fc.crossed_column(["a"], 3), "length > 1"),
    (lambda: fc.crossed_column(["a", fc.categorical_column_with_hash_bucket("x", 2)], 3), "not supported for crossing"),
    (lambda: fc.embedding_column(ids_column(), 0), "Invalid dimension"),
    (lambda: fc.embedding_column(ids_column(), 1, ckpt_to_load_from="x"), "both or none|Must specify both"),
    (lambda: fc.shared_embedding_columns([ids_column(), fc.categorical_column_with_identity("x", 9)], 2),
     "same number of buckets"),
    (lambda: fc.input_layer({}, [ids_column()]), "must be a _DenseColumn"),
    (lambda: fc.input_layer({"x": [[1.]]}, [fc.numeric_column("y")]), "not in features dictionary"),
    (lambda: fc.input_layer({"x": 1.}, [fc.numeric_column("x")]), "cannot have rank 0"),
    (lambda: fc.input_layer({"x": [[1.]]}, [fc.numeric_column("x")] * 2), "Duplicate feature column name"),
    (lambda: fc.make_parse_example_spec([fc.numeric_column("ids"), ids_column()]), "different parse_spec"),
    (lambda: dense_features.DenseFeatures([ids_column()]), "Items of feature_columns"),
    (lambda: dense_features.DenseFeatures([fc.numeric_column("x")])([1.]), "dictionary")])
def test_errors(make, match):
    with pytest.raises((ValueError, TypeError), match=match):
        make()


def test_layers_of_the_package_tf_keras_keep_columns_variables():
    """They make their own StateManager, which asks them for weights."""
    import penstock.v2 as tf2
    made = []

    class Layer:
        def add_weight(self, **wanted):
            made.append(wanted.pop("name"))
            return wanted.pop("getter")(made[-1], **wanted)

    with tf.Graph().as_default():
        layer = Layer()
        manager = tf2.__internal__.feature_column.StateManager(layer, True)
        column = tf.feature_column.embedding_column(
            tf.feature_column.categorical_column_with_identity("c", 4), 2)
        column.create_state(manager)
        weights = manager.get_variable(column, "embedding_weights")
        assert made == ["embedding_weights"] and weights.shape == [4, 2] and weights.name == "embedding_weights:0"
        table = object()
        assert not manager.has_resource(column, "table")
        manager.add_resource(column, "table", table)
        assert manager.has_resource(column, "table") and manager.get_resource(column, "table") is table
        assert tf.initializers.tables_initializer is tf.tables_initializer


def test_lookups_that_need_no_care():
    """`use_safe_embedding_lookup=False`: one lookup of the ids as they are, also of a partitioned variable."""
    table = np.float32([[1, 2], [3, 5], [7, 11]])
    categories = fc.categorical_column_with_identity("a", 3)
    for make in (lambda **options: [fc.embedding_column(categories, 2, **options)],
                 lambda **options: fc.shared_embedding_columns([categories], 2, **options)):
        with tf.Graph().as_default() as graph:
            columns = make(initializer=lambda shape, dtype, partition_info: tf.constant(
                table[partition_info.var_offset[0]:][:shape[0]], dtype), use_safe_embedding_lookup=False)
            with tf.variable_scope("v", partitioner=tf.fixed_size_partitioner(2, axis=0)):
                found = run(fc.input_layer({"a": sparse([[2], [0, 1], [1]])}, columns))
        np.testing.assert_array_equal(found, [table[2], (table[0] + table[1]) / 2, table[1]])
        assert not any(op.type == "SparseFillEmptyRows" for op in graph.get_operations())


def test_configurations_of_version_2(monkeypatch):
    column = fc.embedding_column(fc.categorical_column_with_identity("a", 3), 2, initializer=tf.ones_initializer())
    assert "use_safe_embedding_lookup" not in column.get_config()
    monkeypatch.setattr(dense_columns.tf2, "enabled", lambda: True)
    assert column.get_config()["use_safe_embedding_lookup"] is True
    assert fc.numeric_column("x").get_config() == fc.numeric_column("x")._get_config()
    assert v2.NumericColumn.from_config(fc.numeric_column("x").get_config()) == fc.numeric_column("x")

    class Own(v2.FeatureColumn):
        name = "own"
        _is_v2_column, parents, parse_example_spec = True, [], {}

        def transform_feature(self, transformation_cache, state_manager):
            return transformation_cache.get("own", state_manager)

        def get_config(self):
            return {"a": 1}

        @classmethod
        def from_config(cls, config, custom_objects=None, columns_by_name=None):
            assert config == {"a": 1}
            return cls()

    config = serialization.serialize_feature_column(Own())
    assert config == {"class_name": "Own", "config": {"a": 1}}
    assert type(serialization.deserialize_feature_column(config, {"Own": Own})) is Own


@pytest.mark.parametrize("dtype", [tf.string, tf.int64])
def test_words_of_a_file_of_records(tmp_path, dtype):
    path = str(tmp_path / "words.gz")
    with tf.io.TFRecordWriter(path, tf.io.TFRecordOptions(tf.io.TFRecordCompressionType.GZIP)) as writer:
        for word in (b"7", b"8", b"9"):
            writer.write(word)
    make = version_two.feature_column.categorical_column_with_vocabulary_file
    column = make("word", path, dtype=dtype, num_oov_buckets=1, file_format="tfrecord_gzip")
    assert column.num_buckets == 4
    words = tf.constant([["8"], ["5"]]) if dtype == tf.string else tf.constant([[8], [5]])
    assert layers([fc.indicator_column(column)], {"word": words}) == [[0, 1, 0, 0], [0, 0, 0, 1]]
    assert "file_format" not in column.get_config()  # version 1's


def test_a_configuration_names_the_files_format_in_version_two(monkeypatch):
    column = version_two.feature_column.categorical_column_with_vocabulary_file("word", "words", 3)
    monkeypatch.setattr(tf2, "enabled", lambda: True)
    assert column.get_config()["file_format"] is None
