"""tf.random"""
WITHOUT = "set_seed stateless_parameterized_truncated_normal"
FROM = {
    "ops.random.random_ops": "multinomial poisson=random_poisson",
    "graph.random_seed": "get_seed set_random_seed",
    "ops.state.stateful_random_ops": "create_rng_state=create_rng_state_v1",
    "ops.random.stateless_random_ops": "stateless_multinomial",
}
