"""tf.graph_util."""
FROM = {
    "framework.graph_util": """
        convert_variables_to_constants extract_sub_graph must_run_on_cpu remove_training_nodes
        tensor_shape_from_node_def_name""",
    "framework.importer": "import_graph_def",
}
