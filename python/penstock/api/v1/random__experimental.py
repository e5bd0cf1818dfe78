"""tf.random.experimental"""
FROM = {
    "ops.stateful_random_ops": "Algorithm Generator create_rng_state get_global_generator set_global_generator",
}
