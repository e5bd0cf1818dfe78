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
    "contrib.distributions.mixture": "Autoregressive BatchReshape Mixture QuantizedDistribution",
    "contrib.distributions.scalar": """
        Binomial Cauchy Chi2 Chi2WithAbsDf Deterministic Geometric HalfNormal Logistic NegativeBinomial Poisson""",
    "contrib.distributions.statistics": """
        SeedStream assign_log_moving_mean_exp assign_moving_mean_variance moving_mean_variance
        normal_conjugates_known_scale_posterior normal_conjugates_known_scale_predictive percentile tridiag""",
    "contrib.distributions.transformed": """
        ConditionalDistribution ConditionalTransformedDistribution Kumaraswamy MultivariateNormalDiagPlusLowRank
        MultivariateNormalDiagWithSoftplusScale MultivariateNormalFullCovariance MultivariateNormalTriL SinhArcsinh
        VectorExponentialDiag VectorLaplaceDiag VectorSinhArcsinhDiag""",
    "contrib.distributions.vectors": """
        ExpRelaxedOneHotCategorical Independent MixtureSameFamily MultivariateNormalDiag OneHotCategorical
        RelaxedBernoulli RelaxedOneHotCategorical VectorDeterministic""",
    "contrib.distributions.wishart": "WishartCholesky WishartFull",
    "ops.distributions.transformed_distribution": "TransformedDistribution",
    "ops.distributions.util": """
        fill_triangular fill_triangular_inverse matrix_diag_transform reduce_weighted_logsumexp softplus_inverse""",
}
