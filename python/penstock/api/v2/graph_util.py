"""tf.graph_util, version 2."""
FROM = {
    "function.importer": "import_graph_def",
}
