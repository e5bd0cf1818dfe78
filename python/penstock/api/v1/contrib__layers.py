"""tf.contrib.layers."""
FROM = {
    "contrib.layers.encoders": "embed_sequence embedding_lookup_unique",
    "contrib.layers.initializers": "variance_scaling_initializer xavier_initializer xavier_initializer_conv2d",
    "contrib.layers.layers": """
        avg_pool2d batch_norm bias_add conv1d conv2d conv2d_transpose conv3d convolution convolution1d convolution2d
        convolution2d_transpose convolution3d dropout flatten fully_connected layer_norm linear max_pool2d
        one_hot_encoding relu relu6 repeat separable_conv2d separable_convolution2d softmax stack""",
    "contrib.layers.normalization": "group_norm instance_norm",
    "contrib.layers.optimizers": "OPTIMIZER_CLS_NAMES OPTIMIZER_SUMMARIES optimize_loss",
    "contrib.layers.regularizers": """
        apply_regularization l1_l2_regularizer l1_regularizer l2_regularizer sum_regularizer""",
    "contrib.layers.summaries": """
        summarize_activation summarize_activations summarize_collection summarize_tensor summarize_tensors""",
    "ops.embedding_ops": "safe_embedding_lookup_sparse",
    "ops.nn": "elu",
}
