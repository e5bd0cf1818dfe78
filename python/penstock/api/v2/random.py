"""tf.random, version 2."""
FROM = {
    "graph.random_seed": "set_seed=set_random_seed",
    "ops.nn.candidate_sampling_ops": """
        all_candidate_sampler fixed_unigram_candidate_sampler learned_unigram_candidate_sampler
        log_uniform_candidate_sampler uniform_candidate_sampler""",
    "ops.random.random_ops": """
        categorical gamma=random_gamma normal=random_normal poisson=random_poisson_v2 shuffle=random_shuffle
        truncated_normal uniform=random_uniform""",
    "ops.state.stateful_random_ops": "Algorithm Generator create_rng_state get_global_generator set_global_generator",
    "ops.random.stateless_random_ops": """
        fold_in split stateless_binomial=stateless_random_binomial stateless_categorical
        stateless_gamma=stateless_random_gamma
        stateless_normal=stateless_random_normal stateless_parameterized_truncated_normal
        stateless_poisson=stateless_random_poisson stateless_truncated_normal
        stateless_uniform=stateless_random_uniform""",
}
