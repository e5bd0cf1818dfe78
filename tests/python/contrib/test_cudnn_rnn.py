"""The cells of tf.contrib.cudnn_rnn: variables and outputs are TensorFlow 1.15.5's."""
import numpy as np
import pytest

import penstock.v1 as tf


@pytest.mark.parametrize("name, variables, expected", [
    ("CudnnCompatibleLSTMCell", ["rnn/cudnn_compatible_lstm_cell/kernel", "rnn/cudnn_compatible_lstm_cell/bias"],
     [[-.0623813, -.0431372], [-.096048, -.0934683], [-.0796098, -.0936484]]),
    ("CudnnCompatibleGRUCell", [
        "rnn/cudnn_compatible_gru_cell/" + rest for rest in (
            "gates/kernel", "gates/bias", "candidate/input_projection/kernel", "candidate/hidden_projection/kernel",
            "candidate/input_projection/bias", "candidate/hidden_projection/bias")],
     [[-.2553371, .3467056], [-.4109279, .595541], [-.5170259, .7540595]])])
def test_cells(name, variables, expected):
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.reshape(tf.range(12, dtype=tf.float32) / 10, [1, 3, 4])
        y, _ = tf.nn.dynamic_rnn(getattr(tf.contrib.cudnn_rnn, name)(2), x, dtype=tf.float32)
        found = tf.trainable_variables()
        assert [v.op.name for v in found] == variables
        for i, v in enumerate(found):
            shape = v.shape.as_list()
            v.load(np.linspace(-.5, .3 + i / 10, int(np.prod(shape))).reshape(shape), session)
        np.testing.assert_allclose(session.run(y)[0], expected, rtol=1e-5)


def test_the_affine_map_that_older_programs_import():
    from penstock.alias import core_rnn_cell
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.constant([[1., 2.]])
        with tf.variable_scope("a"):
            y = core_rnn_cell._linear([x, x], 1, True, tf.constant_initializer(.5), tf.constant_initializer(2.))
        z = core_rnn_cell._Linear(x, 1, False, kernel_initializer=tf.ones_initializer())(x)
        session.run(tf.global_variables_initializer())
        assert [v.op.name for v in tf.global_variables()] == ["a/kernel", "a/bias", "kernel"]
        assert session.run([y, z]) == [12.5, 3.]
        assert core_rnn_cell.GRUCell is tf.contrib.rnn.GRUCell
        with pytest.raises(ValueError, match="must be specified"):
            core_rnn_cell._linear([], 1, True)
