"""tf.contrib.distributions."""
FROM = {
    "ops.distributions.distributions": """
        Bernoulli Beta Categorical Dirichlet DirichletMultinomial Distribution Exponential FULLY_REPARAMETERIZED Gamma
        Laplace Multinomial NOT_REPARAMETERIZED Normal RegisterKL ReparameterizationType StudentT Uniform
        kl_divergence""",
    "ops.distributions.beta": "BetaWithSoftplusConcentration",
    "ops.distributions.exponential": "ExponentialWithSoftplusRate",
    "ops.distributions.gamma": "GammaWithSoftplusConcentrationRate",
    "ops.distributions.laplace": "LaplaceWithSoftplusScale",
    "ops.distributions.normal": "NormalWithSoftplusScale",
    "ops.distributions.student_t": "StudentTWithAbsDfSoftplusScale",
    "contrib.distributions.inverse_gamma": "InverseGamma InverseGammaWithSoftplusConcentrationRate",
    "contrib.distributions.scalar": "Binomial Cauchy Chi2 Deterministic Geometric HalfNormal Logistic Poisson",
    "contrib.distributions.vectors": """
        ExpRelaxedOneHotCategorical Independent MixtureSameFamily MultivariateNormalDiag OneHotCategorical
        RelaxedBernoulli RelaxedOneHotCategorical""",
    "ops.distributions.util": """
        fill_triangular fill_triangular_inverse matrix_diag_transform reduce_weighted_logsumexp softplus_inverse""",
}
