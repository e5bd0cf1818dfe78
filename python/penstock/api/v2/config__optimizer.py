"""tf.config.optimizer."""
FROM = {
    "framework.config": """
        get_experimental_options=get_optimizer_experimental_options get_jit=get_optimizer_jit
        set_experimental_options=set_optimizer_experimental_options set_jit=set_optimizer_jit""",
}
