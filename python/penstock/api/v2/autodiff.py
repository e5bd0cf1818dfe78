"""tf.autodiff."""
FROM = {
    "eager.backprop": "GradientTape",
}
