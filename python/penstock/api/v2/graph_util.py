"""tf.graph_util, version 2."""
FROM = {
    "framework.importer": "import_graph_def",
}
