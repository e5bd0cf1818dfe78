"""tf.random"""
FROM = {
    "ops.nn.candidate_sampling_ops": """
        all_candidate_sampler fixed_unigram_candidate_sampler learned_unigram_candidate_sampler
        log_uniform_candidate_sampler uniform_candidate_sampler""",
    "ops.random.random_ops": """
        categorical gamma=random_gamma multinomial normal=random_normal poisson=random_poisson
        shuffle=random_shuffle truncated_normal uniform=random_uniform""",
    "graph.random_seed": "get_seed set_random_seed",
    "ops.state.stateful_random_ops": "Algorithm Generator create_rng_state=create_rng_state_v1 get_global_generator "
                               "set_global_generator",
    "ops.random.stateless_random_ops": """
        fold_in split
        stateless_binomial=stateless_random_binomial stateless_categorical stateless_gamma=stateless_random_gamma
        stateless_multinomial stateless_normal=stateless_random_normal stateless_poisson=stateless_random_poisson
        stateless_truncated_normal stateless_uniform=stateless_random_uniform""",
}
