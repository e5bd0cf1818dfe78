"""tf.autodiff."""
FROM = {
    "eager.backprop": "GradientTape",
    "eager.forwardprop": "ForwardAccumulator",
}
