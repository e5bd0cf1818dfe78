"""tf.nn"""
WITHOUT = "RNNCellDeviceWrapper RNNCellDropoutWrapper RNNCellResidualWrapper gelu isotonic_regression"
FROM = {
    "core_ops.array_ops": "depth_to_space space_to_batch space_to_depth",
    "ops.nn.candidate_sampling_ops": "log_uniform_candidate_sampler uniform_candidate_sampler",
    "ops.nn.ctc_ops": "ctc_beam_search_decoder ctc_beam_search_decoder_v2 ctc_loss ctc_loss_v2",
    "layers.rnn.rnn": """
        bidirectional_dynamic_rnn dynamic_rnn raw_rnn static_bidirectional_rnn static_rnn
        static_state_saving_rnn""",
    "ops.nn.embedding_ops": "embedding_lookup embedding_lookup_sparse safe_embedding_lookup_sparse",
    "ops.nn.nn_impl": """
        batch_norm_with_global_normalization depthwise_conv2d fused_batch_norm moments nce_loss relu_layer
        sampled_softmax_loss separable_conv2d sigmoid_cross_entropy_with_logits sufficient_statistics
        weighted_cross_entropy_with_logits weighted_moments""",
    "ops.nn.nn_pool": """
        avg_pool avg_pool2d=avg_pool avg_pool_v2 dilation2d=dilation2d_v1 erosion2d fractional_avg_pool
        fractional_max_pool max_pool max_pool_v2 max_pool_with_argmax=max_pool_with_argmax_v1 pool""",
    "ops.nn.nn_conv": """
        conv1d conv2d conv2d_backprop_filter conv2d_backprop_input conv2d_transpose conv3d=conv3d_v1
        conv3d_transpose convolution depthwise_conv2d_native depthwise_conv2d_native_backprop_filter
        depthwise_conv2d_native_backprop_input""",
    "ops.nn.nn_activation": "crelu dropout in_top_k log_softmax softmax top_k=top_k_v1 xw_plus_b",
    "ops.nn.nn_loss": """
        softmax_cross_entropy_with_logits
        softmax_cross_entropy_with_logits_v2=softmax_cross_entropy_with_logits_v2_helper
        sparse_softmax_cross_entropy_with_logits""",
    "graph.gen": """
        conv3d_backprop_filter=conv3d_backprop_filter_v2 conv3d_backprop_filter_v2 quantized_avg_pool
        quantized_conv2d quantized_max_pool quantized_relu_x""",
}
