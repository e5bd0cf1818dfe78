"""tf.keras.Model, subclassed."""
import numpy as np
import pytest

import penstock.v1 as tf


class _Scaled(tf.keras.Model):
    def __init__(self):
        super().__init__(name="scaled")
        self.scale = tf.get_variable("scale", initializer=3.0)
        self.fixed = tf.get_variable("fixed", initializer=1.0, trainable=False)
        self.dense = [tf.layers.Dense(2, use_bias=False, kernel_initializer=tf.ones_initializer())]

    def call(self, inputs):
        return self.dense[0](inputs) * self.scale


def test_weights_are_the_attributes():
    with tf.Graph().as_default(), tf.Session() as session:
        model = _Scaled()
        out = model(tf.constant([[1.0, 2.0, 3.0]]))
        assert model.layers == model.dense
        assert model.trainable_variables == [model.scale, model.dense[0].kernel]
        assert model.non_trainable_variables == [model.fixed]
        model.trainable = False
        assert model.trainable_variables == [] and len(model.variables) == 3
        session.run(tf.global_variables_initializer())
        np.testing.assert_array_equal(session.run(out), [[18.0, 18.0]])


def test_init_of_the_base_comes_first():
    class Late(tf.keras.Model):
        def __init__(self):
            self.dense = tf.layers.Dense(1)

    with tf.Graph().as_default(), pytest.raises(RuntimeError, match="forgot to call"):
        Late()


def test_what_is_set_without_tracking_is_no_part():
    from penstock._src.ops.state import base

    class Holder(tf.keras.Model):
        @base.no_automatic_dependency_tracking
        def __init__(self):
            super().__init__()
            self.parts = [tf.layers.Dense(1)]

    with tf.Graph().as_default():
        model = Holder()
        assert model.layers == []
        model.more = tf.layers.Dense(1)
        assert model.layers == [model.more]
