"""tf.random.experimental"""
FROM = {
    "ops.state.stateful_random_ops": "create_rng_state=create_rng_state_v1",
}
