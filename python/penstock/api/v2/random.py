"""tf.random, version 2."""
FROM = {
    "framework.random_seed": "set_seed=set_random_seed",
    "ops.candidate_sampling_ops": """
        all_candidate_sampler fixed_unigram_candidate_sampler learned_unigram_candidate_sampler
        log_uniform_candidate_sampler uniform_candidate_sampler""",
    "ops.random_ops": """
        categorical gamma=random_gamma normal=random_normal poisson=random_poisson_v2 shuffle=random_shuffle
        truncated_normal uniform=random_uniform""",
    "ops.stateless_random_ops": """
        stateless_categorical stateless_normal=stateless_random_normal stateless_truncated_normal
        stateless_uniform=stateless_random_uniform""",
}
