"""tf.contrib.rnn: cells, and networks of them that are unrolled."""
FROM = {
    "layers.rnn.rnn": "static_bidirectional_rnn static_rnn static_state_saving_rnn",
    "layers.rnn.rnn_cell_impl": """
        BasicLSTMCell BasicRNNCell GRUCell LSTMCell LSTMStateTuple LayerRNNCell MultiRNNCell RNNCell""",
    "layers.rnn.rnn_cell_wrappers": "DeviceWrapper DropoutWrapper ResidualWrapper",
    "contrib.rnn.block": "GRUBlockCell GRUBlockCellV2 LSTMBlockCell LSTMBlockFusedCell LSTMBlockWrapper",
    "contrib.rnn.cells": """
        Conv1DLSTMCell Conv2DLSTMCell Conv3DLSTMCell ConvLSTMCell IndRNNCell IntersectionRNNCell
        LayerNormBasicLSTMCell NASCell SRUCell UGRNNCell""",
    "contrib.rnn.grid_cells": "BidirectionalGridLSTMCell GridLSTMCell TimeFreqLSTMCell",
    "contrib.rnn.lstm_cells": """
        CoupledInputForgetGateLSTMCell GLSTMCell IndyGRUCell IndyLSTMCell PhasedLSTMCell""",
    "contrib.rnn.networks": """
        FusedRNNCell FusedRNNCellAdaptor TimeReversedFusedRNN best_effort_input_batch_size
        stack_bidirectional_dynamic_rnn stack_bidirectional_rnn transpose_batch_time""",
    "contrib.rnn.normalized_cells": "LayerNormLSTMCell WeightNormLSTMCell",
    "contrib.rnn.wrappers": """
        AttentionCellWrapper EmbeddingWrapper HighwayWrapper InputProjectionWrapper OutputProjectionWrapper""",
}
