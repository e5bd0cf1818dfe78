"""All of tf.distributions in one module."""
from penstock._src.ops.distributions.bernoulli import Bernoulli
from penstock._src.ops.distributions.beta import Beta
from penstock._src.ops.distributions.categorical import Categorical
from penstock._src.ops.distributions.dirichlet import Dirichlet
from penstock._src.ops.distributions.dirichlet_multinomial import DirichletMultinomial
from penstock._src.ops.distributions.distribution import (
    FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED, Distribution, ReparameterizationType)
from penstock._src.ops.distributions.exponential import Exponential
from penstock._src.ops.distributions.gamma import Gamma
from penstock._src.ops.distributions.kullback_leibler import RegisterKL, kl_divergence
from penstock._src.ops.distributions.laplace import Laplace
from penstock._src.ops.distributions.multinomial import Multinomial
from penstock._src.ops.distributions.normal import Normal
from penstock._src.ops.distributions.student_t import StudentT
from penstock._src.ops.distributions.uniform import Uniform

__all__ = ["Bernoulli", "Beta", "Categorical", "Dirichlet", "DirichletMultinomial", "Distribution", "Exponential",
           "FULLY_REPARAMETERIZED", "Gamma", "Laplace", "Multinomial", "NOT_REPARAMETERIZED", "Normal", "RegisterKL",
           "ReparameterizationType", "StudentT", "Uniform", "kl_divergence"]
