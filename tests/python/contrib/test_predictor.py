"""tf.contrib.predictor: models as functions."""
import numpy as np
import pytest

import penstock.v1 as tf

predictor = tf.contrib.predictor


def test_a_saved_model_is_a_function(tmp_path):
    folder = str(tmp_path / "model")
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.placeholder(tf.float32, [None], name="x")
        factor = tf.Variable(3.)
        y = tf.multiply(x, factor, name="y")
        session.run(tf.global_variables_initializer())
        tf.saved_model.simple_save(session, folder, {"x": x}, {"y": y})
    triple = predictor.from_saved_model(folder)
    np.testing.assert_array_equal(triple({"x": [1., 2.]})["y"], [3, 6])
    assert list(triple.feed_tensors) == ["x"] and triple.fetch_tensors["y"].name == "y:0"
    by_name = predictor.from_saved_model(folder, input_names={"in": "x:0"}, output_names={"out": "y:0"})
    np.testing.assert_array_equal(by_name({"in": [2.]})["out"], [6])
    with pytest.raises(ValueError, match="unexpected keys"):
        triple({"z": 1})
    with pytest.raises(ValueError, match="Available signatures"):
        predictor.from_saved_model(folder, signature_def_key="none")
    with pytest.raises(ValueError, match="both be specified"):
        predictor.from_saved_model(folder, input_names={})


def test_an_estimator_is_a_function(tmp_path):

    def model_fn(features, labels, mode):
        weight = tf.get_variable("w", [], initializer=tf.constant_initializer(2.))
        product = features["x"] * weight
        loss = None if labels is None else tf.reduce_mean(tf.square(product - labels))
        train = None if labels is None else tf.assign_add(tf.train.get_global_step(), 1)
        return tf.estimator.EstimatorSpec(mode, {"y": product}, loss, train, export_outputs={
            "serving_default": tf.estimator.export.PredictOutput({"y": product})})

    estimator = tf.estimator.Estimator(model_fn, str(tmp_path))
    estimator.train(lambda: tf.data.Dataset.from_tensors(({"x": [1.]}, [2.])), steps=1)

    def receiver():
        x = tf.placeholder(tf.float32, [None])
        return tf.estimator.export.ServingInputReceiver({"x": x}, {"x": x})

    double = predictor.from_estimator(estimator, receiver)
    np.testing.assert_array_equal(double({"x": [4., 5.]})["y"], [8, 10])
    with pytest.raises(KeyError, match="output_key"):
        predictor.from_estimator(estimator, receiver, output_key="none")
