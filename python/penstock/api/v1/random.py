"""tf.random"""
FROM = {
    "ops.candidate_sampling_ops": """
        all_candidate_sampler fixed_unigram_candidate_sampler learned_unigram_candidate_sampler
        log_uniform_candidate_sampler uniform_candidate_sampler""",
    "ops.random_ops": """
        categorical gamma=random_gamma multinomial normal=random_normal poisson=random_poisson
        shuffle=random_shuffle truncated_normal uniform=random_uniform""",
    "ops.stateless_random_ops": """
        stateless_categorical stateless_multinomial stateless_normal=stateless_random_normal
        stateless_truncated_normal stateless_uniform=stateless_random_uniform""",
}
