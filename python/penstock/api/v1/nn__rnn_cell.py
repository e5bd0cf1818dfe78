"""tf.nn.rnn_cell."""
FROM = {
    "layers.rnn.rnn_cell_impl": """
        BasicLSTMCell BasicRNNCell GRUCell LSTMCell LSTMStateTuple MultiRNNCell RNNCell""",
    "layers.rnn.rnn_cell_wrappers": "DeviceWrapper DropoutWrapper ResidualWrapper",
}
