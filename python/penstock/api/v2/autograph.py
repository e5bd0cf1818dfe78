"""tf.autograph."""
FROM = {
    "autograph.impl.api": "to_code to_graph",
    "autograph.utils.ag_logging": "set_verbosity trace",
}
