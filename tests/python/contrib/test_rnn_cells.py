"""tf.contrib.rnn: for the same weights, names, results and slopes are those of TensorFlow 1.15.5."""
import numpy as np
import pytest

import penstock.v1 as tf

R = tf.contrib.rnn
X = np.cos(np.arange(2 * 5 * 3)).reshape(2, 5, 3).astype(np.float32)


@pytest.fixture(autouse=True)
def session():
    with tf.Graph().as_default(), tf.Session() as session:
        yield session


def weigh(session):
    """Gives all variables values that follow from their order; returns them by name."""
    variables = sorted(tf.global_variables(), key=lambda v: v.name)
    for i, v in enumerate(variables):
        shape = v.shape.as_list()
        session.run(v.assign((np.sin(np.arange(np.prod(shape, dtype=int)) * 1.7 + i) * 0.6).reshape(shape)))
    return variables


def digest(values):
    flat = np.concatenate([np.ravel(v) for v in values])
    return (flat * np.cos(np.arange(flat.size))).sum()


# cell: scope, names of variables behind it, digest of the outputs, sum of each variable's slope.
CELLS = {
    "nas": (lambda: R.NASCell(4, num_proj=3, use_bias=True), "nas_cell",
            "bias kernel projection_weights recurrent_kernel", 0.2486, [0.825, 0.835, -0.068, 0.004]),
    "nas_plain": (lambda: R.NASCell(4), "nas_cell", "kernel recurrent_kernel", 0.0131, [-0.013, 0.046]),
    "ugrnn": (lambda: R.UGRNNCell(4), "ugrnn_cell", "bias kernel", -0.2151, [-4.806, 4.011]),
    "intersection": (lambda: R.IntersectionRNNCell(4, num_in_proj=4), "intersection_rnn_cell",
                     "bias in_projection/bias in_projection/kernel kernel", -0.2909, [5.366, 3.544, -10.403, -2.373]),
    "layer_norm": (lambda: R.LayerNormBasicLSTMCell(4), "layer_norm_basic_lstm_cell",
                   "forget/beta forget/gamma input/beta input/gamma kernel output/beta output/gamma state/beta "
                   "state/gamma transform/beta transform/gamma", 0.0952,
                   [-0.01, -0.07, 0.149, 0.256, 0.0, 1.704, 0.102, 1.506, -2.656, 0.096, 0.949]),
    "layer_norm_without": (lambda: R.LayerNormBasicLSTMCell(4, layer_norm=False), "layer_norm_basic_lstm_cell",
                           "bias kernel", -0.2533, [5.09, 1.715]),
    "lstm_block": (lambda: R.LSTMBlockCell(4), "lstm_cell", "bias kernel", -0.2533, [5.09, 1.715]),
    "lstm_block_peephole": (lambda: R.LSTMBlockCell(4, use_peephole=True, cell_clip=0.3), "lstm_cell",
                            "bias kernel w_f_diag w_i_diag w_o_diag", -0.1873, [2.785, 0.456, 0.018, 0.016, 0.049]),
    "gru_block": (lambda: R.GRUBlockCell(4), "gru_cell", "b_c b_ru w_c w_ru", -0.174, [1.514, -1.951, -0.874, 2.045]),
    "gru_block_v2": (lambda: R.GRUBlockCellV2(4), "gru_cell",
                     "candidate/bias candidate/kernel gates/bias gates/kernel", -0.1524,
                     [3.315, 1.646, -1.934, -1.723]),
    "sru": (lambda: R.SRUCell(4), "sru_cell", "bias kernel", 0.0421, [-0.922, 3.758]),
    "ind": (lambda: R.IndRNNCell(4), "ind_rnn_cell", "bias kernel_u kernel_w", 0.4174, [3.516, -6.402, 0.583]),
    "attention": (lambda: R.AttentionCellWrapper(R.BasicLSTMCell(4), 3, attn_size=5, attn_vec_size=2),
                  "attention_cell_wrapper",
                  "attention/attn_v attention/attn_w attention/bias attention/kernel attn_output_projection/bias "
                  "attn_output_projection/kernel basic_lstm_cell/bias basic_lstm_cell/kernel bias kernel", -1.4141,
                  [-0.609, -0.922, -0.145, -0.468, -24.739, -3.585, 20.914, 3.725, 0.274, -0.043]),
    "input_projection": (lambda: R.InputProjectionWrapper(R.GRUCell(4), 6, activation=tf.nn.relu),
                         "input_projection_wrapper",
                         "bias gru_cell/candidate/bias gru_cell/candidate/kernel gru_cell/gates/bias "
                         "gru_cell/gates/kernel kernel", -0.3501, [2.712, -1.217, -2.437, -0.687, -1.392, -1.586]),
    "output_projection": (lambda: R.OutputProjectionWrapper(R.GRUCell(4), 6), "output_projection_wrapper",
                          "bias gru_cell/candidate/bias gru_cell/candidate/kernel gru_cell/gates/bias "
                          "gru_cell/gates/kernel kernel", 2.3946, [6.414, 3.173, -5.237, -2.232, -10.444, 3.921]),
    "highway": (lambda: R.HighwayWrapper(R.BasicRNNCell(3), couple_carry_transform_gates=False), "",
                "basic_rnn_cell/bias basic_rnn_cell/kernel carry_b carry_w transform_b transform_w", 9.8552,
                [-3.066, 4.72, 4.397, -1.393, 3.98, 0.427]),
}


@pytest.mark.parametrize("name", CELLS)
def test_cells_in_a_loop(name, session):
    make, scope, names, expected, slopes = CELLS[name]
    outputs, _ = tf.nn.dynamic_rnn(make(), tf.constant(X), dtype=tf.float32, sequence_length=[5, 3])
    variables = weigh(session)
    prefix = f"rnn/{scope}/" if scope else "rnn/"
    assert [v.name for v in variables] == [f"{prefix}{n}:0" for n in names.split()]
    made, gradients = session.run([outputs, tf.gradients(tf.reduce_sum(outputs * outputs), variables)])
    np.testing.assert_allclose(digest([made]), expected, atol=2e-4)
    np.testing.assert_allclose([g.sum() for g in gradients], slopes, atol=2e-3)


X4 = np.cos(np.arange(2 * 5 * 4)).reshape(2, 5, 4).astype(np.float32)
TIMES = np.cumsum(np.abs(X[:, :, :1]) * 7, 1).astype(np.float32)
PHASED = "mask_gates/bias mask_gates/kernel new_input/bias new_input/kernel output_gate/bias output_gate/kernel " \
         "period phase ratio_on"
GATED = "B W_0 W_1 W_F_diag W_O_diag W_P_0 forget/beta forget/gamma output/beta output/gamma state/beta state/gamma " \
        "transform/beta transform/gamma"
# cell, inputs, names of variables, digest of outputs and last state, sum of each variable's slope, variables trained.
LSTMS = {
    "coupled": (lambda: R.CoupledInputForgetGateLSTMCell(4), X, "B W_0", 0.2675, [5.736, -2.479], 2),
    "coupled_all": (lambda: R.CoupledInputForgetGateLSTMCell(
        4, use_peepholes=True, num_proj=2, proj_clip=0.3, num_unit_shards=2, layer_norm=True, norm_gain=0.5), X, GATED,
        -1.0521, [0, 0, 0, -0.048, 0.338, 4.864, 0.004, -0.307, 0.478, 0.128, -1.634, -0.938, -0.007, 0.141], 14),
    "coupled_flat": (lambda: R.CoupledInputForgetGateLSTMCell(4, use_peepholes=True, state_is_tuple=False), X,
                     "B W_0 W_F_diag W_O_diag", -0.6818, [5.109, -1.636, 0.149, 0.765], 4),
    "groups": (lambda: R.GLSTMCell(4, num_proj=2, number_of_groups=2), X4,
               "bias_f bias_i bias_j bias_o group0/kernel group1/kernel projection/kernel", 0.13,
               [-0.308, -0.716, -1.432, -0.132, 0.046, 0.434, 2.017], 7),
    "indy_gru": (lambda: R.IndyGRUCell(4), X,
                 "candidate/bias candidate/kernel candidate/kernel_u gates/bias gates/kernel_u gates/kernel_w", 0.0867,
                 [19.433, -1.067, 0.027, 0.592, 1.425, -1.005], 6),
    "indy_lstm": (lambda: R.IndyLSTMCell(4), X, "bias kernel_u kernel_w", 0.2716, [17.486, 1.899, 3.649], 3),
    "phased": (lambda: R.PhasedLSTMCell(4, use_peepholes=True, period_init_min=2.0, period_init_max=9.0), (TIMES, X),
               PHASED, -0.1955, [-0.141, -0.423, 3.122, 3.789, 0.028, 0.084, 0.187, 1.624, 2.628], 9),
    "phased_plain": (lambda: R.PhasedLSTMCell(4, trainable_ratio_on=False), (TIMES, X), PHASED, -0.1838,
                     [-0.142, -0.308, 2.501, 2.818, 0.036, 0.129, 0.218, 1.784, 3.045], 8),
}


@pytest.mark.parametrize("name", LSTMS)
def test_kinds_of_lstms(name, session):
    make, inputs, names, expected, slopes, trained = LSTMS[name]
    outputs, state = tf.nn.dynamic_rnn(make(), tf.nest.map_structure(tf.constant, inputs), dtype=tf.float32)
    variables = weigh(session)
    assert [v.op.name.split("/", 2)[2] for v in variables] == names.split()
    assert len(tf.trainable_variables()) == trained
    for v in variables:
        if v.op.name.endswith(("period", "ratio_on")):
            session.run(v.assign([3., 5., 7., 4.] if v.op.name.endswith("period") else [.4, .5, .6, .3]))
    gradients = [g for g in tf.gradients(outputs, variables)]
    made = session.run([outputs, *tf.nest.flatten(state)])
    np.testing.assert_allclose(digest(made), expected, atol=2e-4)
    np.testing.assert_allclose([0 if g is None else session.run(g).sum() for g in gradients], slopes, atol=2e-3)


def test_what_kinds_of_lstms_refuse():
    with pytest.raises(ValueError, match="num_units must be divisible"):
        R.GLSTMCell(5, number_of_groups=2)
    with pytest.raises(ValueError, match="input size .3. must be divisible"):
        R.GLSTMCell(4, number_of_groups=2)(tf.ones([1, 3]), (tf.zeros([1, 4]), tf.zeros([1, 4])))
    with pytest.raises(ValueError, match="Too many shards"):
        R.CoupledInputForgetGateLSTMCell(2, num_unit_shards=9)(tf.ones([1, 1]), (tf.zeros([1, 2]), tf.zeros([1, 2])))


def test_configurations():
    cells = tf.nn.rnn_cell
    assert cells.BasicLSTMCell(4, activation="relu", name="a").get_config() == {
        "name": "a", "trainable": True, "dtype": None, "num_units": 4, "forget_bias": 1.0, "state_is_tuple": True,
        "activation": "relu", "reuse": None}
    gru = cells.GRUCell(2, kernel_initializer=tf.random_uniform_initializer(-1, 1), bias_initializer="zeros", name="b")
    assert gru.get_config()["kernel_initializer"] == {"class_name": "RandomUniform", "config": {
        "minval": -1, "maxval": 1, "seed": None, "dtype": "float32"}}
    lstm = cells.LSTMCell(3, num_proj=2, activation=tf.nn.relu, forget_bias=0.5)
    config = lstm.get_config()
    assert (config["num_proj"], config["activation"], config["forget_bias"]) == (2, "relu", 0.5)
    assert cells.LSTMCell.from_config(config).get_config() == config
    wrapper = cells.DropoutWrapper(gru, 0.5, seed=3)
    config = wrapper.get_config()
    assert config["cell"] == {"class_name": "GRUCell", "config": gru.get_config()}
    assert (config["input_keep_prob"], config["output_keep_prob"], config["seed"]) == (0.5, 1.0, 3)
    with pytest.raises(ValueError, match="cannot reconstruct the wrapped cell"):
        cells.DropoutWrapper.from_config(config)
    assert cells.DropoutWrapper.from_config({**config, "cell": gru}).cell is gru
    assert cells.DeviceWrapper(gru, "/cpu:0").get_config()["device"] == "/cpu:0"


def test_activations_by_name(session):
    outputs, _ = tf.nn.dynamic_rnn(tf.nn.rnn_cell.BasicRNNCell(4, activation="relu"), tf.constant(X), dtype=tf.float32)
    weigh(session)
    assert session.run(tf.reduce_min(outputs)) == 0.0
    with pytest.raises(ValueError, match="Unknown activation function:none_such"):
        tf.nn.rnn_cell.GRUCell(2, activation="none_such")


# Length of the sequences, options: digest of outputs and last state, sum of each variable's slope.
FUSED = [
    (None, {}, 0.2847, [18.637, 7.773]),
    ([5, 3], {}, 0.4679, [14.8, 6.467]),
    (None, dict(use_peephole=True, cell_clip=0.3, forget_bias=0.5), 0.3633, [12.968, 3.342, 0.279, 0.305, 0.077]),
    ([5, 3], dict(use_peephole=True, cell_clip=0.3, forget_bias=0.5), 0.7318, [10.616, 2.661, 0.205, 0.203, 0.058]),
]


@pytest.mark.parametrize("length, options, expected, slopes", FUSED)
def test_fused_cell(length, options, expected, slopes, session):
    inputs = tf.constant(X.transpose(1, 0, 2))
    outputs, state = R.LSTMBlockFusedCell(4, **options)(inputs, dtype=tf.float32, sequence_length=length)
    variables = weigh(session)
    names = ["bias", "kernel"] + (["w_f_diag", "w_i_diag", "w_o_diag"] if options else [])
    assert [v.name for v in variables] == [f"lstm_fused_cell/{n}:0" for n in names]
    loss = tf.reduce_sum(outputs * outputs) + tf.reduce_sum(state.c)
    made, last, gradients = session.run([outputs, state, tf.gradients(loss, variables)])
    np.testing.assert_allclose(digest([made, *last]), expected, atol=2e-4)
    np.testing.assert_allclose([g.sum() for g in gradients], slopes, atol=2e-3)


def test_fused_cell_starts_from_states(session):
    inputs = tf.placeholder(tf.float32, [None, None, 3])
    first = tf.ones([2, 4]), tf.zeros([2, 4])
    outputs, state = R.LSTMBlockFusedCell(4)(inputs, first, sequence_length=tf.constant([0, 5], tf.int64))
    weigh(session)
    made, last = session.run([outputs, state], {inputs: X.transpose(1, 0, 2)})
    assert not np.any(made[:, 0]) and np.all(made[:, 1])
    np.testing.assert_array_equal(last.c[0], np.ones(4))
    np.testing.assert_array_equal(last.h[1], made[4, 1])


class Doubled(R.LSTMBlockWrapper):
    num_units = 3

    def _call_cell(self, inputs, initial_cell_state, initial_output, dtype, sequence_length):
        return inputs, 2 * inputs + initial_output


def test_fused_cells_of_programs(session):
    steps = [tf.constant(x) for x in X.transpose(1, 0, 2)]
    outputs, last = session.run(Doubled()(steps, (tf.zeros([2, 3]), tf.ones([2, 3])), sequence_length=[5, 3]))
    np.testing.assert_allclose(outputs[4], np.stack([2 * X[0, 4] + 1, np.zeros(3)]), rtol=1e-6)
    np.testing.assert_allclose(last.c, [X[0, 4], X[1, 2]])
    with pytest.raises(TypeError, match="abstract"):
        R.LSTMBlockWrapper()


def grus():
    return [R.GRUCell(2), R.GRUCell(3)]


OTHERS = {
    "stacked_loops": (lambda: [R.stack_bidirectional_dynamic_rnn(grus(), grus(), tf.constant(X), dtype=tf.float32,
                                                                 sequence_length=[5, 2])[0]],
                      "stack_bidirectional_rnn/cell_0/bidirectional_rnn/bw/gru_cell/candidate/bias:0", -0.754),
    "stacked_unrolled": (lambda: R.stack_bidirectional_rnn(grus(), grus(), tf.unstack(tf.constant(X), axis=1),
                                                           dtype=tf.float32)[0],
                         "stack_bidirectional_rnn/cell_0/bw/gru_cell/candidate/bias:0", 1.2494),
    "embedding": (lambda: R.EmbeddingWrapper(R.GRUCell(4), 7, 5)(tf.constant([[1], [6]]), tf.zeros([2, 4])),
                  "embedding_wrapper/embedding:0", 0.3668),
    "images": (lambda: [R.Conv2DLSTMCell(input_shape=[4, 4, 2], output_channels=3, kernel_shape=[3, 3])(
        tf.constant(np.cos(np.arange(64)).reshape(2, 4, 4, 2).astype(np.float32)),
        R.LSTMStateTuple(tf.ones([2, 4, 4, 3]), tf.ones([2, 4, 4, 3])))[0]], "conv_2d_lstm_cell/biases:0", 0.9913),
    "sequences": (lambda: [R.Conv1DLSTMCell(input_shape=[4, 2], output_channels=3, kernel_shape=[3], use_bias=False,
                                            skip_connection=True)(
        tf.constant(np.cos(np.arange(16)).reshape(2, 4, 2).astype(np.float32)),
        R.LSTMStateTuple(tf.ones([2, 4, 3]), tf.ones([2, 4, 3])))[0]], "conv_1d_lstm_cell/kernel:0", 0.1855),
    "backwards": (lambda: [R.TimeReversedFusedRNN(R.FusedRNNCellAdaptor(R.BasicRNNCell(2), use_dynamic_rnn=True))(
        tf.constant(X), dtype=tf.float32, sequence_length=[2, 1, 2, 1, 2])[0]], "rnn/basic_rnn_cell/bias:0", 0.1062),
}


@pytest.mark.parametrize("name", OTHERS)
def test_what_is_no_cell_in_a_loop(name, session):
    build, first, expected = OTHERS[name]
    values = build()
    assert weigh(session)[0].name == first
    np.testing.assert_allclose(digest(session.run(list(values))), expected, atol=2e-4)


def test_bad_arguments():
    with pytest.raises(ValueError, match="attn_length should be greater than zero"):
        R.AttentionCellWrapper(R.GRUCell(2), 0)
    with pytest.raises(ValueError, match="output_size must be > 0"):
        R.OutputProjectionWrapper(R.GRUCell(2), 0)
    with pytest.raises(ValueError, match="same depth"):
        R.stack_bidirectional_rnn([R.GRUCell(2)], grus(), [])
    with pytest.raises(ValueError, match="Invalid input_shape"):
        R.ConvLSTMCell(2, [3, 3], 1, [2, 2])
    with pytest.raises(ValueError, match="input size == output size"):
        R.IntersectionRNNCell(4)(tf.ones([1, 3]), tf.ones([1, 4]))
    with pytest.raises(ValueError, match="Exactly one of num_units or cell_size"):
        R.GRUBlockCell()
    with pytest.raises(ValueError, match="cell_size 4 vs 3"):
        R.GRUBlockCell(4)(tf.ones([1, 3]), tf.ones([1, 3]))
    with pytest.raises(ValueError, match="Either initial_state or dtype"):
        R.LSTMBlockFusedCell(4)(tf.ones([5, 2, 3]))


def test_batch_sizes():
    assert R.best_effort_input_batch_size([tf.placeholder(tf.float32, None), tf.ones([3, 7])]) == 7
    assert isinstance(R.best_effort_input_batch_size([tf.placeholder(tf.float32, [3, None])]), tf.Tensor)
    with pytest.raises(ValueError, match="rank at least 2"):
        R.best_effort_input_batch_size([tf.ones([3])])


def test_configurations_hold_the_functions_of_wrappers():
    cells = tf.nn.rnn_cell
    cell, factor = cells.LSTMCell(3), 4
    for function in (lambda i, o, scale=3: i * scale + o, lambda i, o: i * factor + o):
        wrapper = cells.ResidualWrapper(cell, residual_fn=function)
        config = wrapper.get_config()
        assert config["residual_fn_type"] == "lambda" and config["residule_fn_module"] == __name__
        again = cells.ResidualWrapper.from_config({**config, "cell": cell})
        assert again._residual_fn(2, 1) == function(2, 1)
    assert "residual_fn" not in cells.ResidualWrapper(cell).get_config()
    config = cells.DropoutWrapper(cell, dropout_state_filter_visitor=lambda state: state == "kept").get_config()
    again = cells.DropoutWrapper.from_config({**config, "cell": cell})
    assert again._dropout_state_filter("kept") and not again._dropout_state_filter("other")
    assert "dropout_fn" not in cells.DropoutWrapper(cell).get_config()
    named = cells.ResidualWrapper(cell, residual_fn=max).get_config()
    assert named["residual_fn"] == "max" and named["residual_fn_type"] == "function"
    with pytest.raises(ValueError, match="Unknown function in wrapper: max"):
        cells.ResidualWrapper.from_config({**named, "cell": cell, "residule_fn_module": None})


X6 = np.cos(np.arange(2 * 6)).reshape(2, 6).astype(np.float32)
GRID = {"feature_size": 2, "frequency_skip": 2, "num_frequency_blocks": [3]}
BLOCKS = {"feature_size": 2, "frequency_skip": 1, "num_frequency_blocks": [2, 2], "start_freqindex_list": [0, 3],
          "end_freqindex_list": [3, 6]}
# cell, scope, names of variables, digest of output and state after a step, sum of each variable's slope.
STEPS = {
    "time_freq": (lambda: R.TimeFreqLSTMCell(3, feature_size=2, frequency_skip=2),
        "time_freq_lstm_cell",
        "B W_0",
        4.0203, [1.535, -0.174]),
    "time_freq_all": (lambda: R.TimeFreqLSTMCell(3, use_peepholes=True, cell_clip=0.3, num_unit_shards=2,
                                                 feature_size=2, frequency_skip=2),
        "time_freq_lstm_cell",
        "B W_0 W_1 W_F_diag W_I_diag W_O_diag",
        0.7297, [0.214, 0.241, -0.173, -0.004, 0.004, -0.013]),
    "grid": (lambda: R.GridLSTMCell(3, **GRID),
        "grid_lstm_cell",
        "B_f_0 B_t_0 W_f_0_0 W_t_0_0",
        2.8642, [0.62, 0.981, -0.946, 1.265]),
    "grid_all": (lambda: R.GridLSTMCell(3, use_peepholes=True, cell_clip=0.3, num_unit_shards=2, **BLOCKS),
        "grid_lstm_cell",
        "B_f_0 B_f_1 B_t_0 B_t_1 W_F_diag_freqf_0 W_F_diag_freqf_1 W_F_diag_freqt_0 W_F_diag_freqt_1 "
        "W_F_diag_timef_0 W_F_diag_timef_1 W_F_diag_timet_0 W_F_diag_timet_1 W_I_diag_freqf_0 "
        "W_I_diag_freqf_1 W_I_diag_freqt_0 W_I_diag_freqt_1 W_I_diag_timef_0 W_I_diag_timef_1 "
        "W_I_diag_timet_0 W_I_diag_timet_1 W_O_diag_freqf_0 W_O_diag_freqf_1 W_O_diag_freqt_0 "
        "W_O_diag_freqt_1 W_O_diag_timef_0 W_O_diag_timef_1 W_O_diag_timet_0 W_O_diag_timet_1 W_f_0_0 W_f_0_1 "
        "W_f_1_0 W_f_1_1 W_t_0_0 W_t_0_1 W_t_1_0 W_t_1_1",
        0.4008, [0.181, 0.091, 0.287, 0.159, -0.001, 0.0, -0.003, -0.003, 0.001, -0.001, 0.001, -0.009, 0.001,
        -0.001, -0.036, 0.039, -0.001, 0.0, -0.002, 0.007, -0.006, 0.013, 0.004, -0.007, 0.0, 0.019, 0.016, -0.009,
        0.187, -0.082, 0.148, -0.013, 0.297, -0.051, -0.332, 0.001]),
    "grid_shared": (lambda: R.GridLSTMCell(3, use_peepholes=True, share_time_frequency_weights=True,
                                         couple_input_forget_gates=True, **GRID),
        "grid_lstm_cell",
        "B_f_0 W_I_diag_freqf_0 W_I_diag_freqt_0 W_O_diag_freqf_0 W_O_diag_freqt_0 W_f_0_0",
        0.0757, [1.959, 0.027, -0.056, 0.129, 0.151, 0.485]),
    "grid_flat": (lambda: R.GridLSTMCell(3, state_is_tuple=False, **GRID),
        "grid_lstm_cell",
        "B_f_0 B_t_0 W_f_0_0 W_t_0_0",
        5.9006, [0.64, 2.174, -0.631, -0.94]),
    "grid_both": (lambda: R.BidirectionalGridLSTMCell(3, backward_slice_offset=1, **GRID),
        "bidirectional_grid_lstm_cell",
        "bwd/B_f_0 bwd/B_t_0 bwd/W_f_0_0 bwd/W_t_0_0 fwd/B_f_0 fwd/B_t_0 fwd/W_f_0_0 fwd/W_t_0_0",
        -4.643, [1.385, 0.924, -0.35, 0.866, 0.027, 1.14, -0.253, -0.09]),
    "layer_norm_lstm": (lambda: R.LayerNormLSTMCell(3, use_peepholes=True, cell_clip=0.5, num_proj=2, proj_clip=0.4,
                                                  layer_norm=True, norm_gain=0.7, norm_shift=0.1),
        "layer_norm_lstm_cell",
        "bias forget/beta forget/gamma input/beta input/gamma kernel output/beta output/gamma "
        "projection/kernel state/beta state/gamma transform/beta transform/gamma w_f_diag w_i_diag w_o_diag",
        -0.5816, [0.0, 0.026, 0.051, 0.0, -0.012, 0.0, 0.089, -0.039, 0.001, 0.113, -0.088, -0.016, 0.001, 0.008,
        0.011, -0.001]),
    "layer_norm_plain": (lambda: R.LayerNormLSTMCell(3),
        "layer_norm_lstm_cell",
        "bias kernel",
        0.8102, [0.711, 0.151]),
    "weight_norm": (lambda: R.WeightNormLSTMCell(3, use_peepholes=True, cell_clip=0.5, num_proj=2, proj_clip=0.4),
        "wn_lstm_cell",
        "wn_lstm_cell/bias wn_lstm_cell/kernel wn_lstm_cell/norm_0 wn_lstm_cell/norm_1 "
        "wn_lstm_cell/projection/kernel wn_lstm_cell/projection/norm_0 wn_lstm_cell/w_f_diag "
        "wn_lstm_cell/w_i_diag wn_lstm_cell/w_o_diag",
        1.3231, [0.018, -0.015, 0.006, 0.024, 0.047, 0.036, 0.001, -0.003, 0.0]),
    "weight_norm_plain": (lambda: R.WeightNormLSTMCell(3, norm=False),
        "wn_lstm_cell",
        "wn_lstm_cell/bias wn_lstm_cell/kernel",
        0.8102, [0.711, 0.151]),
}


@pytest.mark.parametrize("name", STEPS)
def test_steps_of_grids_and_normalized_cells(name, session):
    make, scope, names, expected, slopes = STEPS[name]
    cell = make()
    windows = 3 if name.startswith("time_freq") else 1
    state = [tf.constant(np.sin(np.arange(2 * n * windows) + k).reshape(2, n * windows).astype(np.float32))
             for k, n in enumerate(tf.nest.flatten(cell.state_size))]
    output, new = cell(tf.constant(X6), tf.nest.pack_sequence_as(cell.state_size, state))
    variables = weigh(session)
    assert [v.op.name for v in variables] == [f"{scope}/{n}" for n in names.split()]
    np.testing.assert_allclose(digest(session.run([output, *tf.nest.flatten(new)])), expected, atol=2e-4)
    gradients = tf.gradients(tf.reduce_sum(output * output), variables)
    np.testing.assert_allclose([0 if g is None else session.run(g).sum() for g in gradients], slopes, atol=2e-3)


def test_what_grids_refuse():
    with pytest.raises(ValueError, match="Must specify num_frequency_blocks"):
        R.GridLSTMCell(3)
    for arguments, message in (({**GRID, "num_frequency_blocks": [2]}, "requires 2 but gets 3"),
                               ({**GRID, "num_frequency_blocks": [1, 2]}, "is not 1, but instead is 2"),
                               ({**BLOCKS, "end_freqindex_list": [3]}, "does not match 2 1"),
                               ({**BLOCKS, "num_frequency_blocks": [2]}, "not equal to start_freqindex_list 1 2")):
        cell = R.GridLSTMCell(3, state_is_tuple=False, **arguments)
        with pytest.raises(ValueError, match=message):
            cell(tf.constant(X6), tf.zeros([2, 18]))
