"""tf.contrib.slim: a model is trained, its checkpoint evaluated and restored in part."""
import numpy as np
import pytest

import penstock.v1 as tf

slim = tf.contrib.slim


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default():
        tf.set_random_seed(1)
        yield


def model():
    rng = np.random.RandomState(0)
    x = rng.randn(64, 4).astype(np.float32)
    labels = tf.one_hot((x[:, 0] > 0).astype(np.int32), 2)
    with slim.arg_scope([slim.fully_connected], weights_regularizer=slim.l2_regularizer(1e-4)):
        net = slim.fully_connected(tf.constant(x), 8, scope="hidden")
        logits = slim.fully_connected(net, 2, activation_fn=None, scope="logits")
    slim.losses.softmax_cross_entropy(logits, labels)
    return tf.argmax(logits, 1), tf.argmax(labels, 1)


def trained(folder, steps=60):
    model()
    total = slim.losses.get_total_loss()
    train = slim.learning.create_train_op(total, tf.train.AdamOptimizer(.05), clip_gradient_norm=5.,
                                          summarize_gradients=True, gradient_multipliers={"logits/biases": 2.})
    return slim.learning.train(train, str(folder), number_of_steps=steps, log_every_n_steps=20,
                               trace_every_n_steps=40, save_summaries_secs=600)


def test_a_model_is_trained_and_evaluated(tmp_path):
    assert trained(tmp_path) < .2
    assert tf.train.latest_checkpoint(str(tmp_path)).endswith("model.ckpt-60")
    assert len(list(tmp_path.glob("tf_trace-*.json"))) == 2
    with tf.Graph().as_default():
        tf.train.get_or_create_global_step()
        predictions, labels = model()
        value, update = slim.metrics.streaming_accuracy(predictions, labels)
        tf.summary.scalar("share", value)
        accuracy = slim.evaluation.evaluate_once("", tf.train.latest_checkpoint(str(tmp_path)),
                                                 str(tmp_path / "eval"), num_evals=2, eval_op=update, final_op=value)
    assert accuracy > .95
    events = [e for path in (tmp_path / "eval").iterdir() for e in tf.train.summary_iterator(str(path))]
    written = [(e.step, v.tag, v.simple_value) for e in events for v in e.summary.value if v.tag == "share"]
    assert written == [(60, "share", pytest.approx(accuracy))]


def test_new_checkpoints_are_evaluated(tmp_path):
    trained(tmp_path, 3)
    with tf.Graph().as_default():
        step = tf.train.get_or_create_global_step()
        model()
        last = slim.evaluation.evaluation_loop("", str(tmp_path), str(tmp_path / "eval"), final_op=step,
                                               eval_interval_secs=0, max_number_of_evaluations=1)
    assert last == 3


def test_variables_are_assigned_from_a_checkpoint(tmp_path):
    trained(tmp_path, 2)
    checkpoint = tf.train.latest_checkpoint(str(tmp_path))
    hidden = tf.train.load_variable(checkpoint, "hidden/weights")
    with tf.Graph().as_default(), tf.Session() as sess:
        model()
        new = slim.variable("new", [2])
        sess.run(tf.global_variables_initializer())
        assign, feed = slim.assign_from_checkpoint(checkpoint, {"hidden/weights": slim.get_variables_by_name("weights",
                                                                                                            "hidden")})
        sess.run(assign, feed)
        np.testing.assert_array_equal(sess.run("hidden/weights:0"), hidden)
        restore = slim.assign_from_checkpoint_fn(checkpoint, slim.get_model_variables() + [new],
                                                 ignore_missing_vars=True)
        restore(sess)
        np.testing.assert_array_equal(sess.run("logits/biases:0"), tf.train.load_variable(checkpoint, "logits/biases"))
        assert slim.assign_from_checkpoint_fn(checkpoint, [new], ignore_missing_vars=True) is None
        with pytest.raises(ValueError, match="missing variable"):
            slim.assign_from_checkpoint(checkpoint, [new])


@pytest.mark.parametrize("wrong, message", [
    (dict(logdir=None, saver="saver"), "Cannot provide saver"), (dict(logdir=None, summary_op=None), "summary_op"),
    (dict(logdir="x", number_of_steps=0), "positive number")])
def test_train_refuses(wrong, message):
    with pytest.raises(ValueError, match=message):
        slim.learning.train(tf.constant(1.), **wrong)


def test_the_model_is_analyzed(capsys):
    model()
    assert slim.model_analyzer.analyze_vars(slim.get_model_variables(), print_info=True) == (58, 232)
    assert "hidden/weights:0 (float32_ref 4x8) [32, bytes: 128]" in capsys.readouterr().out
    assert slim.model_analyzer.analyze_ops(tf.get_default_graph()) > 58


def test_losses_take_predictions_first():
    predictions, labels = tf.constant([[.2, .9]]), tf.constant([[0., 1.]])
    losses = [slim.losses.log_loss(predictions, labels), slim.losses.mean_squared_error(predictions, labels),
              slim.losses.absolute_difference(predictions, labels), slim.losses.hinge_loss(predictions, labels),
              slim.losses.sigmoid_cross_entropy(predictions, labels),
              slim.losses.sparse_softmax_cross_entropy(predictions, tf.constant([1]))]
    p = np.array([.2, .9])
    assert len(tf.get_collection("losses")) == 5
    with tf.Session() as sess:
        log, square, absolute, hinge, sigmoid, softmax = sess.run(losses)
    assert log == pytest.approx(-np.log([.8, .9]).mean(), rel=1e-4) and square == pytest.approx(.025)
    assert absolute == pytest.approx(.15) and hinge.tolist() == [[pytest.approx(1.2), pytest.approx(.1)]]
    assert sigmoid == pytest.approx((np.log1p(np.exp(p)) - [0, .9]).mean(), rel=1e-5)
    assert softmax == pytest.approx(np.log(np.exp(p).sum()) - .9, rel=1e-5)


def test_the_module_of_layers_has_all_of_them():
    layers = tf.contrib.slim.layers
    assert layers.max_pool2d is tf.contrib.layers.max_pool2d and layers.maxout is tf.contrib.layers.maxout
    for name in ("conv2d", "avg_pool3d", "flatten", "layer_norm", "spatial_softmax", "images_to_sequence", "repeat"):
        assert callable(getattr(layers, name)), name
