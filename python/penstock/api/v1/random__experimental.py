"""tf.random.experimental"""
FROM = {
    "ops.state.stateful_random_ops": "Algorithm Generator create_rng_state=create_rng_state_v1 get_global_generator "
                               "set_global_generator",
    "ops.random.stateless_random_ops": """
        index_shuffle stateless_fold_in=fold_in stateless_shuffle stateless_split=split""",
}
