"""Programs with feature columns and canned estimators, for the comparison of graphs."""


def _features(tf):
    two = dict(indices=[[0, 0], [0, 1], [2, 0]], dense_shape=[3, 2])
    return {
        "age": tf.constant([[20.], [31.], [60.]]), "place": tf.constant([[-1., 2.], [0., .5], [1., 1.]]),
        "job": tf.SparseTensor(values=["a", "b", "c"], **two), "weight": tf.SparseTensor(values=[.5, 2., 1.], **two),
        "sex": tf.constant([["m"], ["z"], ["f"]]), "id": tf.constant([[3], [9], [0]], tf.int64),
        "p": tf.constant([1, 2, 3], tf.int64), "q": tf.constant([0, -1, 2], tf.int64)}


def _columns(tf):
    fc = tf.feature_column
    age, place = fc.numeric_column("age", normalizer_fn=lambda x: x / 10.), fc.numeric_column("place", shape=(2,))
    job, number = fc.categorical_column_with_hash_bucket("job", 7), fc.categorical_column_with_identity("id", 5, 1)
    sex = fc.categorical_column_with_vocabulary_list("sex", ["m", "f"], num_oov_buckets=1)
    weighted = fc.weighted_categorical_column(job, "weight")
    ranges = fc.bucketized_column(fc.numeric_column("age"), [18., 30., 50.])
    crossed = fc.crossed_column(["job", ranges, sex], 11)
    strict = fc.categorical_column_with_identity("p", 4)
    linear = [age, ranges, fc.bucketized_column(place, [0., 1.]), sex, number, weighted, crossed, strict]
    dense = [age, place, ranges, fc.indicator_column(sex), fc.indicator_column(weighted), fc.indicator_column(crossed),
             fc.embedding_column(job, 2, initializer=tf.ones_initializer()),
             fc.embedding_column(number, 3, combiner="sqrtn", max_norm=1., trainable=False)]
    shared = fc.shared_embedding_columns([strict, fc.categorical_column_with_identity("q", 4)], 3)
    return linear, dense, shared


def input_layer(tf):
    _, dense, shared = _columns(tf)
    tf.feature_column.input_layer(_features(tf), dense + shared)


def input_layer_in_parts(tf):
    _, dense, _ = _columns(tf)
    with tf.variable_scope("parts", partitioner=tf.fixed_size_partitioner(2)):
        tf.feature_column.input_layer(_features(tf), dense, trainable=False)


def linear_model(tf):
    linear, _, _ = _columns(tf)
    tf.feature_column.linear_model(_features(tf), linear, units=2, sparse_combiner="mean")
    tf.feature_column.linear_model(_features(tf), linear[:2])


def parsed(tf):
    linear, dense, _ = _columns(tf)
    spec = tf.feature_column.make_parse_example_spec(linear + dense)
    features = tf.io.parse_example(tf.placeholder(tf.string, [None]), spec)
    tf.feature_column.input_layer(features, dense)


def sequence_input_layer(tf):
    fc = tf.contrib.feature_column
    numbers = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], [1., 2., 3.], [2, 2])
    words = tf.SparseTensor([[0, 0], [0, 1], [1, 0]], ["a", "b", "a"], [2, 2])
    word = fc.sequence_categorical_column_with_hash_bucket("word", 5)
    fc.sequence_input_layer({"number": numbers, "word": words}, [
        fc.sequence_numeric_column("number"), tf.feature_column.embedding_column(word, 3),
        tf.feature_column.indicator_column(word)])


def _model(tf, make, mode, labels):
    tf.train.create_global_step()
    with tf.Graph().as_default():  # TensorFlow checks the number of classes with a graph
        estimator = make(config=tf.estimator.RunConfig(model_dir="unused"))
    estimator.model_fn(_features(tf), labels(tf), mode, estimator.config)


def _yes(tf):
    return tf.constant([[1], [0], [1]])


def linear_classifier_trained(tf):
    linear, _, _ = _columns(tf)
    _model(tf, lambda **k: tf.estimator.LinearClassifier(linear, **k), "train", _yes)


def linear_classifier_evaluated(tf):
    linear, _, _ = _columns(tf)
    _model(tf, lambda **k: tf.estimator.LinearClassifier(linear, weight_column="age", **k), "eval", _yes)


def dnn_classifier_trained(tf):
    _, dense, _ = _columns(tf)
    _model(tf, lambda **k: tf.estimator.DNNClassifier([4, 3], dense, batch_norm=True, dropout=.5, **k), "train", _yes)


def dnn_classifier_asked(tf):
    _, dense, shared = _columns(tf)
    _model(tf, lambda **k: tf.estimator.DNNClassifier([4], dense + shared, n_classes=4, **k), "infer", lambda tf: None)


def dnn_regressor_evaluated(tf):
    _, dense, _ = _columns(tf)
    _model(tf, lambda **k: tf.estimator.DNNRegressor([4], dense, label_dimension=2, **k), "eval",
           lambda tf: tf.constant([[1., 2.], [0., 1.], [3., 4.]]))


def wide_and_deep_trained(tf):
    linear, dense, _ = _columns(tf)
    _model(tf, lambda **k: tf.estimator.DNNLinearCombinedClassifier(
        linear_feature_columns=linear, dnn_feature_columns=dense, dnn_hidden_units=[4], n_classes=3, **k), "train",
           _yes)


def baseline_trained(tf):
    _model(tf, lambda **k: tf.estimator.BaselineRegressor(**k), "train", lambda tf: tf.constant([[1.], [2.], [3.]]))


def numpy_inputs(tf):
    import numpy as np
    x = {"a": np.zeros([8, 2], np.float32), "b": np.zeros([8], np.int64)}
    tf.estimator.inputs.numpy_input_fn(x, np.zeros([8], np.int32), batch_size=4, shuffle=True, num_epochs=None)()
    tf.estimator.inputs.numpy_input_fn(x["a"], batch_size=4, shuffle=False, num_epochs=1)()
