"""tf.distributions."""
FROM = {
    "ops.distributions.distributions": """
        Bernoulli Beta Categorical Dirichlet DirichletMultinomial Distribution Exponential FULLY_REPARAMETERIZED Gamma
        Laplace Multinomial NOT_REPARAMETERIZED Normal RegisterKL ReparameterizationType StudentT Uniform
        kl_divergence""",
}
