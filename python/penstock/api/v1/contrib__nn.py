"""tf.contrib.nn."""
FROM = {
    "contrib.nn.activations": "alpha_dropout scaled_softplus",
    "contrib.nn.cross_entropy": """
        deprecated_flipped_sigmoid_cross_entropy_with_logits deprecated_flipped_softmax_cross_entropy_with_logits
        deprecated_flipped_sparse_softmax_cross_entropy_with_logits""",
    "ops.nn.nn_conv": "conv1d_transpose",
    "ops.nn.nn_activation": "nth_element",
}
