"""tf.nn.rnn_cell."""
FROM = {
    "ops.rnn_cell_impl": """
        BasicLSTMCell BasicRNNCell DeviceWrapper DropoutWrapper GRUCell LSTMCell LSTMStateTuple MultiRNNCell RNNCell
        ResidualWrapper""",
}
