"""tf.autograph."""
FROM = {
    "autograph.impl.api": "to_code to_graph",
    "autograph.utils": "set_verbosity trace",
}
