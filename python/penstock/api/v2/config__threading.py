"""tf.config.threading."""
FROM = {
    "graph.config": """
        get_inter_op_parallelism_threads get_intra_op_parallelism_threads set_inter_op_parallelism_threads
        set_intra_op_parallelism_threads""",
}
