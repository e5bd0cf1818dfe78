"""tf.contrib.distributions."""
FROM = {
    "ops.distributions.bernoulli": "Bernoulli",
    "ops.distributions.categorical": "Categorical",
    "ops.distributions.dirichlet": "Dirichlet",
    "ops.distributions.dirichlet_multinomial": "DirichletMultinomial",
    "ops.distributions.distribution": "Distribution FULLY_REPARAMETERIZED NOT_REPARAMETERIZED ReparameterizationType",
    "ops.distributions.multinomial": "Multinomial",
    "ops.distributions.kullback_leibler": "RegisterKL kl_divergence",
    "ops.distributions.uniform": "Uniform",
    "ops.distributions.beta": "BetaWithSoftplusConcentration Beta",
    "ops.distributions.exponential": "ExponentialWithSoftplusRate Exponential",
    "ops.distributions.gamma": "GammaWithSoftplusConcentrationRate Gamma",
    "ops.distributions.laplace": "LaplaceWithSoftplusScale Laplace",
    "ops.distributions.normal": "NormalWithSoftplusScale Normal",
    "ops.distributions.student_t": "StudentTWithAbsDfSoftplusScale StudentT",
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
