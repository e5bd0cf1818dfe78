"""Unrolled recurrent networks: values that TensorFlow 1.15.5 computed from the same seed, rows of different lengths."""
import numpy as np
import pytest

import penstock.v1 as tf

X = np.arange(30).reshape(3, 5, 2) / 30.0
LENGTHS = [3, 1, 2, 0, 3]

# (with lengths, bidirectional): outputs, states and gradients, each summed with weights cos(0), cos(1), ...; nodes
# made.
THEIRS = {
    (False, False): ([0.00126, -0.02014, -0.06288, -0.08145, -0.06288, -6.08394, -9.35881], 94),
    (False, True): ([-0.00935, -0.00734, -0.01113, -0.08145, -0.06288, -0.01844, -0.01053, -6.08394, -9.35881, -10.9664,
                     -9.65816], 184),
    (True, False): ([-0.09839, -0.12841, -0.22355, -0.48838, -0.2088, -2.26156, -3.45657], 233),
    (True, True): ([-0.1097, -0.2275, 0.00504, -0.48838, -0.2088, 0.0822, 0.03902, -2.26156, -3.45657, -3.28926,
                    -4.99089], 470),
}


def cell():
    return tf.nn.rnn_cell.BasicLSTMCell(2)


@pytest.mark.parametrize("case", THEIRS)
def test_values_and_number_of_nodes(case):
    with_lengths, bidirectional = case
    how = dict(dtype=tf.float32, sequence_length=LENGTHS if with_lengths else None)
    with tf.Graph().as_default() as graph, tf.Session() as sess:
        tf.set_random_seed(3)
        steps = tf.unstack(tf.constant(X, tf.float32), 3)
        if bidirectional:
            outputs, *states = tf.nn.static_bidirectional_rnn(cell(), cell(), steps, **how)
        else:
            outputs, *states = tf.contrib.rnn.static_rnn(cell(), steps, **how)
        gradients = tf.gradients(tf.add_n([tf.reduce_sum(value) for value in outputs]), tf.trainable_variables())
        sess.run(tf.global_variables_initializer())
        nodes = [node for node in graph.as_graph_def().node if not node.name.startswith("gradients")]
        got = sess.run(outputs + [value for state in states for value in state] + gradients)
    sums = [np.sum(value.ravel() * np.cos(np.arange(value.size))) for value in got]
    np.testing.assert_allclose(sums, THEIRS[case][0], atol=2e-5)
    assert len(nodes) == THEIRS[case][1]


def test_rows_end_at_their_lengths():
    with tf.Graph().as_default(), tf.Session() as sess:
        x = tf.placeholder(tf.float32, [3, None, 2])
        outputs, state = tf.nn.static_rnn(tf.nn.rnn_cell.GRUCell(4), tf.unstack(x, 3), dtype=tf.float32,
                                          sequence_length=LENGTHS)
        assert outputs[0].shape.as_list() == [None, 4]
        sess.run(tf.global_variables_initializer())
        values, last = sess.run([outputs, state], {x: X})
    for row, length in enumerate(LENGTHS):
        for step in range(3):
            assert values[step][row].any() == (step < length)
        np.testing.assert_array_equal(last[row], values[length - 1][row] if length else np.zeros(4))


def test_bad_arguments():
    with tf.Graph().as_default():
        x = [tf.zeros([2, 3])]
        with pytest.raises(TypeError, match="not an RNNCell"):
            tf.nn.static_rnn("cell", x, dtype=tf.float32)
        with pytest.raises(TypeError, match="must be a sequence"):
            tf.nn.static_rnn(cell(), x[0], dtype=tf.float32)
        with pytest.raises(ValueError, match="must not be empty"):
            tf.nn.static_rnn(cell(), [], dtype=tf.float32)
        with pytest.raises(ValueError, match="dtype must be specified"):
            tf.nn.static_rnn(cell(), x)
        with pytest.raises(ValueError, match="vector of length batch_size"):
            tf.nn.static_rnn(cell(), x, dtype=tf.float32, sequence_length=[[1, 1]])
        with pytest.raises(ValueError, match="shape inference, but saw value None"):
            tf.nn.static_rnn(cell(), [tf.placeholder(tf.float32, [2, None])], dtype=tf.float32)


def test_a_checkpoint_holds_the_cells_of_a_stack(tmp_path):
    cells = [tf.nn.rnn_cell.BasicRNNCell(1), tf.nn.rnn_cell.GRUCell(1)]
    stack = tf.nn.rnn_cell.MultiRNNCell(cells)
    stack(tf.ones([1, 1]), stack.zero_state(1, tf.float32))
    assert list(stack._checkpoint_dependencies) == [("cell-0", cells[0]), ("cell-1", cells[1])]
    checkpoint = tf.train.Checkpoint(stack=stack)
    with tf.Session() as sess:
        sess.run(tf.global_variables_initializer())
        sess.run(cells[0].variables[1].assign([40.0]))
        path = checkpoint.save(str(tmp_path / "ckpt"), sess)
        sess.run(cells[0].variables[1].assign([0.0]))
        checkpoint.restore(path).assert_consumed().run_restore_ops(sess)
        assert sess.run(cells[0].variables[1]) == [40.0]


class OldCell(tf.nn.rnn_cell.RNNCell):
    """A cell of an older program: it has its own __call__ and does not call the base's __init__."""

    def __init__(self, units):
        self._units = units
        self.trainable = True

    state_size = output_size = property(lambda self: self._units)

    def __call__(self, inputs, state, scope=None):
        with tf.variable_scope(scope or type(self).__name__):
            weights = tf.get_variable("w", [inputs.shape.as_list()[1] + self._units, self._units],
                                      initializer=tf.constant_initializer(.1))
            new = tf.tanh(tf.matmul(tf.concat([inputs, state], 1), weights))
            return new, new


def test_cells_that_do_not_initialize_their_base():
    with tf.Graph().as_default(), tf.Session() as session:
        x = tf.ones([2, 3, 4])
        dynamic, _ = tf.nn.dynamic_rnn(OldCell(3), x, dtype=tf.float32)
        with tf.variable_scope("b"):
            static, _ = tf.nn.static_rnn(OldCell(3), tf.unstack(x, axis=1), dtype=tf.float32)
        with tf.variable_scope("c"):
            stack = tf.nn.rnn_cell.MultiRNNCell([tf.nn.rnn_cell.DropoutWrapper(OldCell(3), .999999), OldCell(3)])
            stacked, _ = tf.nn.dynamic_rnn(stack, x, dtype=tf.float32)
        session.run(tf.global_variables_initializer())
        assert [v.op.name for v in tf.trainable_variables()] == [
            "rnn/OldCell/w", "b/rnn/OldCell/w", "c/rnn/multi_rnn_cell/cell_0/OldCell/w",
            "c/rnn/multi_rnn_cell/cell_1/OldCell/w"]
        last = [y[-1, -1, 0] for y in session.run([dynamic, tf.stack(static, 1), stacked])]
        np.testing.assert_allclose(last, [.4944, .4944, .1979], atol=1e-4)


@pytest.mark.parametrize("version", ["", "V2", "V3"])
def test_networks_for_gpus_have_gradients(version):
    """They are built wherever a function for GPUs stands beside one for CPUs."""
    with tf.Graph().as_default():
        x, h, w = tf.zeros([3, 2, 4]), tf.zeros([1, 2, 5]), tf.zeros([200])
        arguments = dict(input=x, input_h=h, input_c=h, params=w, rnn_mode="lstm", dropout=0.5)
        if version == "V3":
            arguments["sequence_lengths"] = tf.constant([3, 2])
        network = getattr(tf.raw_ops, "CudnnRNN" + version)
        out = network(**arguments)
        found = tf.gradients([out[0]], [x, h, w])
        assert [t.shape.as_list() for t in found] == [[3, 2, 4], [1, 2, 5], [200]]
        assert found[2].name == f"gradients/CudnnRNN{version}_grad/CudnnRNNBackprop{version}:3"
        assert found[0].op.get_attr("dropout") == 0.5 and found[0].op.inputs[-1] is out[-1]
        with pytest.raises(ValueError, match=f"To use CudnnRNN{version} in gradients, is_training must be set to True"):
            tf.gradients([network(is_training=False, **arguments)[0]], [x])
