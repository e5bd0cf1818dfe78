"""Estimators that are trained in the same way on both engines.

    PYTHON tests/oracle/estimators/estimator_programs.py OUT.json

records the answers, with the Python of TensorFlow 1.15.5;

tests/python/estimator/test_recorded.py runs the same programs and compares.
"""
import json
import os
import sys
import tempfile

import numpy as np

_N = 200


def data():
    """Features and, for each kind of model, labels."""
    rng = np.random.RandomState(0)
    x = {"a": rng.rand(_N).astype(np.float32), "b": rng.randint(0, 5, _N).astype(np.int64),
         "c": np.array(["u", "v", "w"])[rng.randint(0, 3, _N)]}
    labels = {"yes": ((x["a"] + x["b"] * .3) > 1).astype(np.int64), "class": x["b"], "number": x["a"] * 2,
              "word": np.where(x["a"] > .5, "high", "low")}
    labels["any"] = np.stack([x["a"] > .3, x["b"] > 2, x["c"] == "u"], 1).astype(np.int64)
    return x, labels


def dense_columns(tf):
    fc = tf.feature_column
    a = fc.numeric_column("a", normalizer_fn=lambda x: x - .5)
    return [a, fc.embedding_column(fc.categorical_column_with_identity("b", 5), 3),
            fc.indicator_column(fc.categorical_column_with_vocabulary_list("c", ["u", "v", "w"]))]


def linear_columns(tf):
    fc = tf.feature_column
    a = fc.numeric_column("a")
    return [a, fc.bucketized_column(a, [.25, .5]), fc.categorical_column_with_identity("b", 5),
            fc.crossed_column([fc.categorical_column_with_identity("b", 5), "c"], 11),
            fc.categorical_column_with_vocabulary_list("c", ["u", "v"])]


def models(tf):
    """Name to (function of directory and configuration, labels)."""
    estimator, heads = tf.estimator, tf.contrib.estimator
    wide, deep = linear_columns(tf), dense_columns(tf)
    both = dict(linear_feature_columns=wide, dnn_feature_columns=deep, dnn_hidden_units=[6])
    return {
        "LinearClassifier": (lambda **k: estimator.LinearClassifier(wide, **k), "yes"),
        "LinearRegressor": (lambda **k: estimator.LinearRegressor(wide, optimizer=lambda: tf.train.AdamOptimizer(.1),
                                                                  **k), "number"),
        "DNNClassifier": (lambda **k: estimator.DNNClassifier([8, 4], deep, dropout=.2, batch_norm=True, **k), "yes"),
        "DNNClassifier of words": (lambda **k: estimator.DNNClassifier(
            [8], deep, label_vocabulary=["low", "high"], optimizer="SGD", **k), "word"),
        "DNNClassifier of five classes": (lambda **k: estimator.DNNClassifier(
            [8, 4], deep, n_classes=5, optimizer=tf.train.AdamOptimizer(.01), weight_column="a", **k), "class"),
        "DNNRegressor": (lambda **k: estimator.DNNRegressor([8], deep, activation_fn=tf.nn.tanh, **k), "number"),
        "DNNLinearCombinedClassifier": (lambda **k: estimator.DNNLinearCombinedClassifier(**both, **k), "yes"),
        "DNNLinearCombinedRegressor": (lambda **k: estimator.DNNLinearCombinedRegressor(**both, **k), "number"),
        "BaselineClassifier": (lambda **k: estimator.BaselineClassifier(n_classes=5, **k), "class"),
        "BaselineRegressor": (lambda **k: estimator.BaselineRegressor(**k), "number"),
        "multi-label head": (lambda **k: estimator.DNNEstimator(heads.multi_label_head(
            3, thresholds=[.4], classes_for_class_based_metrics=[1], name="any"), [8], deep, **k), "any"),
        "several heads": (lambda **k: estimator.DNNEstimator(heads.multi_head(
            [heads.binary_classification_head(name="yes", thresholds=[.6]), heads.regression_head(name="number"),
             heads.poisson_regression_head(name="class")], [1., .5, .25]), [8], deep, **k),
                          ["yes", "number", "class"]),
    }


def answers(tf, name, directory):
    """What a model gives after 12 steps: metrics, variables, predictions, signatures, tags of summaries, files."""
    make, kind = models(tf)[name]
    x, labels = data()
    y = {key: labels[key] for key in kind} if isinstance(kind, list) else labels[kind]
    config = tf.estimator.RunConfig(tf_random_seed=3, save_summary_steps=5, log_step_count_steps=5)
    est = make(config=config, model_dir=directory)

    def inputs(epochs, y=y):
        # A name of a label must not be that of a feature.
        return tf.estimator.inputs.numpy_input_fn(dict(x), y, batch_size=20, num_epochs=epochs, shuffle=False)

    est.train(inputs(None), steps=12)
    metrics = {key: float(value) for key, value in est.evaluate(inputs(1)).items()}
    variables = {key: float(np.abs(est.get_variable_value(key)).sum()) for key in est.get_variable_names()}
    first = next(iter(est.predict(inputs(1, None))))
    spec = tf.feature_column.make_parse_example_spec(linear_columns(tf) + dense_columns(tf))
    path = est.export_saved_model(
        os.path.join(directory, "export"), tf.estimator.export.build_parsing_serving_input_receiver_fn(spec))
    with tf.Session(graph=tf.Graph()) as sess:
        signatures = tf.saved_model.loader.load(sess, ["serve"], path.decode()).signature_def
    return {
        "metrics": metrics, "variables": variables,
        "predictions": {str(key): np.asarray(value).astype(str if value.dtype.kind == "O" else float).tolist()
                        for key, value in first.items()},
        "signatures": {key: [value.method_name, {k: v.name for k, v in value.inputs.items()},
                             {k: v.name for k, v in value.outputs.items()}] for key, value in signatures.items()},
        "tags": {where: sorted({value.tag for event in _events(tf, directory, where) for value in event.summary.value})
                 for where in ("", "eval")},
        "files": sorted(f for f in os.listdir(directory) if "tfevents" not in f),
    }


def _events(tf, directory, where):
    folder = os.path.join(directory, where)
    for name in sorted(os.listdir(folder)):
        if "tfevents" in name:
            for event in tf.train.summary_iterator(os.path.join(folder, name)):
                yield event


def main(path):
    import tensorflow as tf
    tf.logging.set_verbosity(tf.logging.ERROR)
    found = {}
    for name in models(tf):
        found[name] = answers(tf, name, tempfile.mkdtemp())
    with open(path, "w") as out:
        json.dump(found, out, indent=1, sort_keys=True)
        out.write("\n")


if __name__ == "__main__":
    main(sys.argv[1])
