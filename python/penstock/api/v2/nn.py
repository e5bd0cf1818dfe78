"""tf.nn, version 2."""
FROM = {
    "graph.gen": """
        elu l2_loss
        local_response_normalization=lrn lrn relu selu softplus softsign""",
    "core_ops.array_ops": """
        depth_to_space=depth_to_space_v2 space_to_batch=space_to_batch_v2 space_to_depth=space_to_depth_v2""",
    "ops.nn.candidate_sampling_ops": """
        all_candidate_sampler compute_accidental_hits fixed_unigram_candidate_sampler
        learned_unigram_candidate_sampler""",
    "ops.nn.ctc_ops": """
        collapse_repeated ctc_beam_search_decoder=ctc_beam_search_decoder_v2 ctc_greedy_decoder ctc_loss=ctc_loss_v3
        ctc_unique_labels""",
    "ops.nn.embedding_ops": """
        embedding_lookup=embedding_lookup_v2 embedding_lookup_sparse=embedding_lookup_sparse_v2
        safe_embedding_lookup_sparse=safe_embedding_lookup_sparse_v2""",
    "core_ops.math_ops": "sigmoid tanh",
    "ops.nn.nn_impl": """
        batch_norm_with_global_normalization=batch_norm_with_global_normalization_v2 batch_normalization
        depthwise_conv2d=depthwise_conv2d_v2 gelu l2_normalize log_poisson_loss moments=moments_v2 nce_loss=nce_loss_v2
        normalize_moments sampled_softmax_loss=sampled_softmax_loss_v2 separable_conv2d=separable_conv2d_v2
        sigmoid_cross_entropy_with_logits=sigmoid_cross_entropy_with_logits_v2 silu=swish
        sufficient_statistics=sufficient_statistics_v2 swish
        weighted_cross_entropy_with_logits=weighted_cross_entropy_with_logits_v2 weighted_moments=weighted_moments_v2
        zero_fraction""",
    "ops.nn.nn_version_two": """
        approx_max_k approx_min_k compute_average_loss isotonic_regression scale_regularization_loss""",
    "layers.rnn.rnn_cell_wrappers": """
        RNNCellDeviceWrapper=DeviceWrapper RNNCellDropoutWrapper=DropoutWrapper
        RNNCellResidualWrapper=ResidualWrapper""",
    "ops.nn.nn_conv": """
        depthwise_conv2d_backprop_filter=depthwise_conv2d_native_backprop_filter
        depthwise_conv2d_backprop_input=depthwise_conv2d_native_backprop_input atrous_conv2d
        atrous_conv2d_transpose conv1d=conv1d_v2 conv1d_transpose conv2d=conv2d_v2
        conv2d_transpose=conv2d_transpose_v2 conv3d=conv3d_v2 conv3d_transpose=conv3d_transpose_v2
        conv_transpose convolution=convolution_v2 with_space_to_batch""",
    "ops.nn.nn_pool": """
        avg_pool=avg_pool_v2 avg_pool1d avg_pool2d avg_pool3d dilation2d=dilation2d_v2 erosion2d=erosion2d_v2
        fractional_avg_pool=fractional_avg_pool_v2 fractional_max_pool=fractional_max_pool_v2
        max_pool=max_pool_v2 max_pool1d max_pool2d max_pool3d max_pool_with_argmax=max_pool_with_argmax_v2
        pool=pool_v2""",
    "ops.nn.nn_activation": """
        bias_add crelu=crelu_v2 dropout=dropout_v2 in_top_k=in_top_k_v2 leaky_relu log_softmax=log_softmax_v2
        relu6 softmax=softmax_v2 top_k""",
    "ops.nn.nn_loss": """
        softmax_cross_entropy_with_logits=softmax_cross_entropy_with_logits_v2
        sparse_softmax_cross_entropy_with_logits=sparse_softmax_cross_entropy_with_logits_v2""",
}
