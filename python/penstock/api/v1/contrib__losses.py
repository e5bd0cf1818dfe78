"""tf.contrib.losses."""
FROM = {
    "contrib.losses.loss_ops": """
        absolute_difference compute_weighted_loss cosine_distance hinge_loss log_loss mean_pairwise_squared_error
        mean_squared_error sigmoid_cross_entropy softmax_cross_entropy sparse_softmax_cross_entropy""",
    "ops.losses.util": "add_loss get_losses get_regularization_losses get_total_loss",
}
