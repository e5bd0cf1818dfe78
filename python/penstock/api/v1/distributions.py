"""tf.distributions."""
FROM = {
    "ops.distributions.bernoulli": "Bernoulli",
    "ops.distributions.beta": "Beta",
    "ops.distributions.categorical": "Categorical",
    "ops.distributions.dirichlet": "Dirichlet",
    "ops.distributions.dirichlet_multinomial": "DirichletMultinomial",
    "ops.distributions.distribution": "Distribution FULLY_REPARAMETERIZED NOT_REPARAMETERIZED ReparameterizationType",
    "ops.distributions.exponential": "Exponential",
    "ops.distributions.gamma": "Gamma",
    "ops.distributions.laplace": "Laplace",
    "ops.distributions.multinomial": "Multinomial",
    "ops.distributions.normal": "Normal",
    "ops.distributions.kullback_leibler": "RegisterKL kl_divergence",
    "ops.distributions.student_t": "StudentT",
    "ops.distributions.uniform": "Uniform",
}
