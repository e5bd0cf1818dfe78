"""tf.contrib.eager.metrics: means and accuracies, eagerly and in graphs."""
import pytest

import penstock.v1 as tf
from penstock._src.graph import context

M = tf.contrib.eager.metrics
LOGITS = [[0.1, 0.9], [0.8, 0.2], [0.3, 0.7], [0.4, 0.6]]
# metric, labels, predictions, value, value by the weights 1, 0, 2, 0
CASES = {
    "accuracy": (lambda: M.Accuracy(), [1, 2, 3, 4], [0, 2, 3, 4], 0.75, 2 / 3),
    "categorical": (lambda: M.CategoricalAccuracy(), [[0, 1], [1, 0], [1, 0], [0, 1]], LOGITS, 0.75, 1 / 3),
    "binary": (lambda: M.BinaryAccuracy(threshold=0.5), [1, 0, 1, 1], [0.9, 0.6, 0.2, 0.7], 0.5, 1 / 3),
    "sparse": (lambda: M.SparseAccuracy(), [1, 0, 0, 1], LOGITS, 0.75, 1 / 3),
}


@pytest.mark.parametrize("name", CASES)
def test_accuracies(name):
    make, labels, predictions, value, weighted = CASES[name]
    with context.eager_mode():
        metric = make()
        returned = metric(tf.constant(labels), tf.constant(predictions))
        assert len(returned) == 2 and abs(metric.result().numpy() - value) < 1e-12
        metric.init_variables()
        assert len(metric(tf.constant(labels), tf.constant(predictions), weights=tf.constant([1, 0, 2, 0]))) == 3
        assert abs(metric.value()().numpy() - weighted) < 1e-12 and metric.result().dtype == tf.float64
    with tf.Graph().as_default(), tf.Session() as sess:
        metric = make()
        update, result = metric(tf.constant(labels), tf.constant(predictions)), metric.value()
        sess.run(metric.init_variables())
        for _ in range(2):
            sess.run(update)
        assert abs(sess.run(result) - value) < 1e-12
        assert [v.op.name.split("/")[-1] for v in tf.local_variables()] == ["numer", "denom"] and metric.variables


def test_means_and_what_they_refuse():
    with context.eager_mode():
        one, other = M.Mean("loss"), M.Mean("loss", dtype=tf.float32)
        assert one.name == "loss"
        one(tf.constant([1.0, 3.0]))
        one([8.0], weights=[2.0])
        assert one.result().numpy() == 5
        other([1.0])
        with pytest.raises(TypeError, match="must be the same type"):
            one.aggregate([M.Accuracy()])
        more = M.Mean("loss")
        more([11.0])
        one.aggregate([more])
        assert one.result().numpy() == 6.2
        with pytest.raises(RuntimeError, match="except in build"):
            one.add_variable("late", ())
        with pytest.raises(tf.errors.InvalidArgumentError, match="labels and predictions are unequal"):
            M.Accuracy()([1, 2], [1])
        with pytest.raises(NotImplementedError, match="must define a build"):
            M.Metric("bare")(1)


def test_gradients_of_gradients_functions():
    with context.eager_mode():
        slope = tf.contrib.eager.gradients_function(lambda x: x ** 3)
        curvature = tf.contrib.eager.gradients_function(lambda x: slope(x)[0])
        third = tf.contrib.eager.gradients_function(lambda x: curvature(x)[0])
        assert [f(2.0)[0].numpy() for f in (slope, curvature, third)] == [12, 12, 6]
