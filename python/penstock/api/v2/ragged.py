"""tf.ragged, version 2."""
FROM = {
    "ops.array_ops": "stack",
}
