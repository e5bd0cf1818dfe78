"""tf.config.optimizer."""
FROM = {
    "graph.config": """
        get_experimental_options=get_optimizer_experimental_options get_jit=get_optimizer_jit
        set_experimental_options=set_optimizer_experimental_options set_jit=set_optimizer_jit""",
}
