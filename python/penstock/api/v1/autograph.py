"""tf.autograph."""
FROM = {
    "autograph.impl.api": "to_code=to_code_v1 to_graph=to_graph_v1",
}
