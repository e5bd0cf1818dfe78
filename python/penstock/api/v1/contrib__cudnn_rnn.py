"""tf.contrib.cudnn_rnn."""
FROM = {"contrib.cudnn_rnn.cells": "CudnnCompatibleGRUCell CudnnCompatibleLSTMCell"}
