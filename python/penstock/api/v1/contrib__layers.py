"""tf.contrib.layers."""
FROM = {
    "contrib.layers.encoders": "bow_encoder embed_sequence embedding_lookup_unique",
    "contrib.layers.initializers": "variance_scaling_initializer xavier_initializer xavier_initializer_conv2d",
    "contrib.layers.layers": """
        batch_norm bias_add conv1d conv2d conv2d_in_plane conv2d_transpose conv3d conv3d_transpose convolution
        convolution1d convolution2d convolution2d_in_plane convolution2d_transpose convolution3d
        convolution3d_transpose dropout elu flatten fully_connected layer_norm linear one_hot_encoding relu relu6
        repeat separable_conv2d separable_convolution2d softmax stack""",
    "contrib.layers.normalization": "group_norm instance_norm",
    "contrib.layers.optimizers": "OPTIMIZER_CLS_NAMES OPTIMIZER_SUMMARIES adaptive_clipping_fn optimize_loss",
    "contrib.layers.pooling": "avg_pool2d avg_pool3d max_pool2d max_pool3d",
    "contrib.layers.regularizers": """
        apply_regularization l1_l2_regularizer l1_regularizer l2_regularizer sum_regularizer""",
    "contrib.layers.reshaping": """
        dense_to_sparse images_to_sequence maxout scale_gradient sequence_to_images spatial_softmax unit_norm""",
    "contrib.layers.summaries": """
        summarize_activation summarize_activations summarize_collection summarize_tensor summarize_tensors""",
    "ops.nn.embedding_ops": "safe_embedding_lookup_sparse",
}
NAMES = {"summaries": "contrib.layers.summaries"}
