"""tf.nn.rnn_cell."""
FROM = {
    "ops.rnn_cell_impl": """
        BasicLSTMCell BasicRNNCell GRUCell LSTMCell LSTMStateTuple MultiRNNCell RNNCell""",
    "ops.rnn_cell_wrappers": "DeviceWrapper DropoutWrapper ResidualWrapper",
}
