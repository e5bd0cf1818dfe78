"""tf.losses: all of it in one module."""
from penstock._src.ops.metrics.losses_impl import (
    Reduction, absolute_difference, compute_weighted_loss, cosine_distance, hinge_loss, huber_loss, log_loss,
    mean_pairwise_squared_error, mean_squared_error, sigmoid_cross_entropy, softmax_cross_entropy,
    sparse_softmax_cross_entropy)
from penstock._src.ops.metrics.util import (
    add_loss, get_losses, get_regularization_loss, get_regularization_losses, get_total_loss)
