"""Loss scales: the same numbers in TensorFlow 1.15.5."""
import numpy as np
import pytest

import penstock.v1 as tf
from penstock._src.graph import context

EXPERIMENTAL = tf.train.experimental


def test_a_dynamic_scale_grows_and_shrinks():
    with tf.Graph().as_default(), tf.Session() as sess:
        scale = EXPERIMENTAL.DynamicLossScale(initial_loss_scale=4, increment_period=2, multiplier=2.0)
        grad = tf.placeholder(tf.float32, [2])
        update, applied = scale.update([grad, None])
        sess.run(tf.global_variables_initializer())
        found = []
        for value in (1, 1, 1, np.inf, 1, np.nan, np.nan, np.nan, 1, 1):
            _, good = sess.run([update, applied], {grad: [0, value]})
            found.append((sess.run(scale()), good))
        assert found == [(4, True), (8, True), (8, True), (4, False), (4, True), (2, False), (1, False), (1, False),
                         (1, True), (2, True)]
        assert scale.get_config() == {"initial_loss_scale": 4.0, "increment_period": 2, "multiplier": 2.0}
        assert type(scale).from_config(scale.get_config()).increment_period == 2


@pytest.mark.parametrize("loss_scale", [8, "dynamic"])
def test_scaled_training_is_training(loss_scale):
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [])
        v = tf.get_variable("v", initializer=1.0)
        step = tf.train.get_or_create_global_step()
        opt = EXPERIMENTAL.enable_mixed_precision_graph_rewrite(tf.train.MomentumOptimizer(0.25, 0.0), loss_scale)
        train = opt.minimize(tf.square(v * x), global_step=step)
        sess.run(tf.global_variables_initializer())
        sess.run(train, {x: 1.0})
        assert sess.run([v, step]) == [0.5, 1]
        assert opt.get_slot_names() == ["momentum"] and opt.get_slot(v, "momentum") is not None
        sess.run(train, {x: np.inf})
        if loss_scale == "dynamic":
            assert sess.run([v, step]) == [0.5, 1]  # nothing was applied
            assert sess.run(opt._loss_scale()) == 2**14
        else:
            assert not np.isfinite(sess.run(v))


def test_wrong_scales():
    for value in (0.5, "1"):
        with pytest.raises(ValueError):
            EXPERIMENTAL.FixedLossScale(value)
    with tf.Graph().as_default():
        opt = EXPERIMENTAL.MixedPrecisionLossScaleOptimizer(tf.train.GradientDescentOptimizer(1.0), 2)
        with pytest.raises(ValueError, match="already"):
            EXPERIMENTAL.enable_mixed_precision_graph_rewrite(opt)
        with pytest.raises(ValueError, match="instance of"):
            EXPERIMENTAL.enable_mixed_precision_graph_rewrite(1)
        with pytest.raises(ValueError, match="identifier"):
            EXPERIMENTAL.MixedPrecisionLossScaleOptimizer(tf.train.GradientDescentOptimizer(1.0), "much")


def test_the_update_of_a_graph_is_a_tensor():
    with tf.Graph().as_default(), tf.Session() as sess:
        scale = EXPERIMENTAL.DynamicLossScale(1, increment_period=1)
        grad = tf.placeholder(tf.float32, [])
        done = tf.identity(scale.update([grad])[0])
        sess.run(tf.global_variables_initializer())
        assert [sess.run(done, {grad: x}) for x in (1.0, np.nan)] == [True, False]


def test_scales_are_shown():
    with tf.Graph().as_default():
        assert repr(EXPERIMENTAL.FixedLossScale(123)) == "FixedLossScale(123.0)"
        made = EXPERIMENTAL.DynamicLossScale(1, 2, 3)
        assert repr(made) == "DynamicLossScale(initial_loss_scale=1.0, increment_period=2, multiplier=3.0)"
    with context.eager_mode():
        assert repr(EXPERIMENTAL.DynamicLossScale(1, 2, 3)) == (
            "DynamicLossScale(current_loss_scale=1.0, num_good_steps=0, initial_loss_scale=1.0, increment_period=2, "
            "multiplier=3.0)")


def test_no_scale_is_refused():
    from penstock._src.training.experimental import loss_scale_optimizer
    with pytest.raises(ValueError, match="loss_scale cannot be None"):
        loss_scale_optimizer.MixedPrecisionLossScaleOptimizer(tf.train.GradientDescentOptimizer(1.), None)
