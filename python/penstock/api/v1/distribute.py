"""tf.distribute."""
FROM = {
    "training.server_lib": "Server",
}
