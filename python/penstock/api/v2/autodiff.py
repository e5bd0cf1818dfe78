"""tf.autodiff."""
FROM = {
    "gradient.backprop": "GradientTape",
    "gradient.forwardprop": "ForwardAccumulator",
}
