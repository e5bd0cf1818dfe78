"""tf.contrib.stateless."""
FROM = {
    "ops.random.stateless_random_ops": """
        stateless_multinomial stateless_random_normal stateless_random_uniform stateless_truncated_normal""",
}
