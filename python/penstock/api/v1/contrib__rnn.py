"""tf.contrib.rnn: cells, and networks of them that are unrolled."""
FROM = {
    "ops.rnn": "static_bidirectional_rnn static_rnn static_state_saving_rnn",
    "ops.rnn_cell_impl": """
        BasicLSTMCell BasicRNNCell DeviceWrapper DropoutWrapper GRUCell LSTMCell LSTMStateTuple MultiRNNCell RNNCell
        ResidualWrapper""",
}
