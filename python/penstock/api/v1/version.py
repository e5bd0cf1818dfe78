"""tf.version"""
FROM = {
    "graph.versions": "VERSION",
}
