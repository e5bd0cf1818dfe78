"""tf.nn"""
FROM = {
    "core_ops.array_ops": "depth_to_space space_to_batch space_to_depth",
    "ops.nn.candidate_sampling_ops": """
        all_candidate_sampler compute_accidental_hits fixed_unigram_candidate_sampler
        learned_unigram_candidate_sampler log_uniform_candidate_sampler uniform_candidate_sampler""",
    "ops.nn.ctc_ops": """
        collapse_repeated ctc_beam_search_decoder ctc_beam_search_decoder_v2 ctc_greedy_decoder ctc_loss ctc_loss_v2
        ctc_unique_labels""",
    "layers.rnn.rnn": """
        bidirectional_dynamic_rnn dynamic_rnn raw_rnn static_bidirectional_rnn static_rnn static_state_saving_rnn""",
    "ops.nn.embedding_ops": "embedding_lookup embedding_lookup_sparse safe_embedding_lookup_sparse",
    "core_ops.math_ops": "sigmoid tanh",
    "ops.nn.nn_impl": """
        batch_norm_with_global_normalization batch_normalization depthwise_conv2d fused_batch_norm l2_normalize
        log_poisson_loss moments nce_loss normalize_moments relu_layer sampled_softmax_loss separable_conv2d
        sigmoid_cross_entropy_with_logits silu=swish sufficient_statistics swish weighted_cross_entropy_with_logits
        weighted_moments zero_fraction""",
    "ops.nn.nn_version_two": "approx_max_k approx_min_k compute_average_loss scale_regularization_loss",
    "ops.nn.nn_ops": """
        atrous_conv2d atrous_conv2d_transpose avg_pool avg_pool1d avg_pool2d=avg_pool avg_pool3d avg_pool_v2
        bias_add conv1d conv1d_transpose conv2d conv2d_backprop_filter conv2d_backprop_input conv2d_transpose
        conv3d=conv3d_v1 conv3d_transpose conv_transpose convolution crelu
        depthwise_conv2d_backprop_filter=depthwise_conv2d_native_backprop_filter
        depthwise_conv2d_backprop_input=depthwise_conv2d_native_backprop_input depthwise_conv2d_native
        depthwise_conv2d_native_backprop_filter depthwise_conv2d_native_backprop_input dilation2d=dilation2d_v1 dropout
        erosion2d fractional_avg_pool fractional_max_pool in_top_k leaky_relu log_softmax max_pool max_pool1d
        max_pool2d max_pool3d max_pool_v2 max_pool_with_argmax=max_pool_with_argmax_v1 pool relu6 softmax
        softmax_cross_entropy_with_logits
        softmax_cross_entropy_with_logits_v2=softmax_cross_entropy_with_logits_v2_helper
        sparse_softmax_cross_entropy_with_logits top_k=top_k_v1 with_space_to_batch xw_plus_b""",
    "graph.gen": """
        conv3d_backprop_filter=conv3d_backprop_filter_v2 conv3d_backprop_filter_v2
        elu l2_loss
        local_response_normalization=lrn lrn quantized_avg_pool quantized_conv2d quantized_max_pool
        quantized_relu_x relu selu softplus softsign""",
}
