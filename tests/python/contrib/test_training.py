"""tf.contrib's training steps, normalizers, encoders, summaries and streaming metrics: numbers of TensorFlow 1.15."""
import numpy as np
import pytest

import penstock.v1 as tf

layers, training, metrics = tf.contrib.layers, tf.contrib.training, tf.contrib.metrics
X = np.random.RandomState(0).randn(2, 4, 4, 6).astype(np.float32)


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        yield


def run(fetch, times=1):
    with tf.Session() as sess:
        sess.run([tf.global_variables_initializer(), tf.local_variables_initializer()])
        results = [sess.run(fetch) for _ in range(times)]
    return results[0] if times == 1 else results


def loss():
    w = tf.get_variable("w", [3, 1], initializer=tf.zeros_initializer())
    return tf.reduce_mean(tf.square(tf.matmul(tf.ones([2, 3]), w) - 3.))


def tags():
    return [summary.op.name for summary in tf.get_collection("summaries")]


def test_optimize_loss_steps_and_summarizes():
    step = tf.train.get_or_create_global_step()
    train = layers.optimize_loss(loss(), step, .1, "SGD")
    assert tags() == ["OptimizeLoss/global_norm/gradient_norm", "OptimizeLoss/loss"]
    assert "OptimizeLoss/learning_rate" in [v.op.name for v in tf.global_variables()]
    np.testing.assert_allclose(run(train, 3), [9., 9 * .16, 9 * .16 ** 2], rtol=1e-4)


def test_optimize_loss_with_all_options():
    step = tf.train.get_or_create_global_step()
    train = layers.optimize_loss(
        loss(), step, .1, tf.train.GradientDescentOptimizer, gradient_multipliers={"w:0": 2.}, clip_gradients=1.,
        learning_rate_decay_fn=lambda rate, step: tf.train.exponential_decay(rate, step, 1, .5),
        summaries=layers.OPTIMIZER_SUMMARIES, name="opt")
    assert tags() == ["opt/learning_rate_1", "opt/global_norm/gradient_norm", "opt/loss", "opt/gradients/w_0",
                      "opt/gradient_norm/w_0", "opt/global_norm/clipped_gradient_norm"]
    distance = 3 - .1 * np.sqrt(3)  # a clipped gradient of norm 1 moves each weight by rate / sqrt(3)
    np.testing.assert_allclose(run(train, 3), [9., distance ** 2, (distance - .05 * np.sqrt(3)) ** 2], rtol=1e-4)


@pytest.mark.parametrize("arguments, message", [
    ((1, "SGD"), "0d Tensor or float"), ((None, "SGD"), "Learning rate is None"), ((.1, "Sgd"), "should be one of"),
    ((.1, 3), "Unrecognized optimizer"), ((.1, lambda rate: 3), "should return")])
def test_optimize_loss_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        layers.optimize_loss(loss(), tf.train.get_or_create_global_step(), *arguments)


def test_adaptive_clipping_reins_in_what_stands_out():
    grad = tf.placeholder(tf.float32, [1])
    clip = tf.contrib.slim.adaptive_clipping_fn(decay=.9, global_step=tf.get_variable("n", [], tf.int64))
    (clipped, _), = clip([(grad, None)])
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(tf.global_variables()[0].assign(0))
        assert sess.run(clipped, {grad: [1.]}) == [1.]
        sess.run(tf.global_variables()[0].assign(100))
        assert sess.run(clipped, {grad: [1000.]})[0] < 10


def test_create_train_op_updates_counts_and_checks():
    v = tf.get_variable("updated", [], initializer=tf.zeros_initializer(), trainable=False)
    tf.add_to_collection("update_ops", v.assign_add(1.))
    train = training.create_train_op(loss(), tf.train.GradientDescentOptimizer(.1), summarize_gradients=True,
                                     transform_grads_fn=training.clip_gradient_norms_fn(1.))
    assert tf.get_collection("train_op")[-1] is train and train.op.name == "train_op/control_dependency"
    assert tags() == ["summarize_grads/w_gradient", "summarize_grads/w_gradient_norm"]
    values, counts, steps = zip(*run([train, v, tf.train.get_global_step()], 2))
    np.testing.assert_allclose(values, [9., (3 - .1 * np.sqrt(3)) ** 2], rtol=1e-4)
    assert counts == (1, 2) and steps[-1] in (1, 2)
    nan = training.create_train_op(tf.reduce_sum(tf.get_variable("u", [2])) * np.nan,
                                   tf.train.GradientDescentOptimizer(.1))
    with pytest.raises(tf.errors.InvalidArgumentError, match="LossTensor is inf or nan"):
        run(nan)


def test_train_runs_until_a_hook_stops_it(tmp_path):
    train = training.create_train_op(loss(), tf.train.GradientDescentOptimizer(.1))
    last = training.train(train, str(tmp_path), hooks=[tf.train.StopAtStepHook(3)], save_summaries_steps=None)
    assert last == pytest.approx(9 * .16 ** 2, rel=1e-4)
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-3")
    with pytest.raises(ValueError, match="logdir cannot be None"):
        training.train(train, None)


def test_multiples_of_gradients():
    w = tf.get_variable("w", [2])
    slices = tf.IndexedSlices(tf.constant([1.]), tf.constant([0]), tf.constant([2]))
    (multiplied, _), = training.multiply_gradients([(slices, w)], {"w": 3})
    assert run(multiplied.values) == [3.]
    with pytest.raises(ValueError, match="multiple of `None`"):
        training.multiply_gradients([(None, w)], {w: 3})


def test_normalizers():
    groups = X.reshape(2, 4, 4, 3, 2)
    mean, var = groups.mean((1, 2, 4), keepdims=True), groups.var((1, 2, 4), keepdims=True)
    np.testing.assert_allclose(run(layers.group_norm(tf.constant(X), 3)),
                               ((groups - mean) / np.sqrt(var + 1e-6)).reshape(X.shape), atol=1e-5)
    np.testing.assert_allclose(run(layers.group_norm(tf.constant(X), 3, mean_close_to_zero=True)),
                               ((groups - mean) / np.sqrt(var + 1e-6)).reshape(X.shape), atol=1e-5)
    for data_format, axes in (("NHWC", (1, 2)), ("NCHW", (2, 3))):
        mean, var = X.mean(axes, keepdims=True), X.var(axes, keepdims=True)
        np.testing.assert_allclose(run(layers.instance_norm(tf.constant(X), data_format=data_format)),
                                   (X - mean) / np.sqrt(var + 1e-6), atol=1e-5)
    with pytest.raises(ValueError, match="not commensurate"):
        layers.group_norm(tf.constant(X), 4)


@pytest.mark.parametrize("unique", [False, True])
def test_embedded_sequences(unique):
    ids = np.array([[1, 2], [2, 0]])
    embedded = layers.embed_sequence(tf.constant(ids), 5, 3, unique=unique, scope="e")
    table, rows = run([tf.global_variables()[0], embedded])
    assert tf.global_variables()[0].op.name == "e/embeddings" and embedded.shape == [2, 2, 3]
    np.testing.assert_array_equal(rows, table[ids])


def test_summaries_of_activations():
    layers.summarize_activation(tf.nn.relu6(tf.constant([-1., 3., 7., 8.]), name="r"))
    layers.summarize_tensors([tf.constant(1., name="k"), tf.constant("s"), tf.constant(X, name="h")])
    assert tags() == ["r/zeros", "r/sixes", "r/activation", "k_summary", "h_summary"]
    scalar = tf.summary.Summary.FromString(run(tf.get_collection("summaries")[1]))
    assert scalar.value[0].simple_value == .5


def test_streaming_metrics_take_predictions_first():
    predictions, labels = tf.constant([1., 0., 1., 1.]), tf.constant([1., 0., 0., 1.])
    values, updates = metrics.aggregate_metrics(
        metrics.streaming_accuracy(predictions, labels), metrics.streaming_precision(predictions, labels),
        metrics.streaming_recall(predictions, labels), metrics.streaming_auc(predictions, labels),
        metrics.streaming_mean_squared_error(predictions, labels), metrics.streaming_mean(predictions))
    np.testing.assert_allclose(run(updates), [.75, 2 / 3, 1., .75, .25, .75], rtol=1e-3)
    named, _ = metrics.aggregate_metric_map({"a": metrics.streaming_accuracy(predictions, labels, name="again")})
    assert named["a"].op.name == "again/value"
