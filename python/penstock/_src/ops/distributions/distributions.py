"""All of tf.distributions in one module."""
from penstock.ops.distributions.bernoulli import Bernoulli
from penstock.ops.distributions.beta import Beta
from penstock.ops.distributions.categorical import Categorical
from penstock.ops.distributions.dirichlet import Dirichlet
from penstock.ops.distributions.dirichlet_multinomial import DirichletMultinomial
from penstock.ops.distributions.distribution import (
    FULLY_REPARAMETERIZED, NOT_REPARAMETERIZED, Distribution, ReparameterizationType)
from penstock.ops.distributions.exponential import Exponential
from penstock.ops.distributions.gamma import Gamma
from penstock.ops.distributions.kullback_leibler import RegisterKL, kl_divergence
from penstock.ops.distributions.laplace import Laplace
from penstock.ops.distributions.multinomial import Multinomial
from penstock.ops.distributions.normal import Normal
from penstock.ops.distributions.student_t import StudentT
from penstock.ops.distributions.uniform import Uniform

__all__ = ["Bernoulli", "Beta", "Categorical", "Dirichlet", "DirichletMultinomial", "Distribution", "Exponential",
           "FULLY_REPARAMETERIZED", "Gamma", "Laplace", "Multinomial", "NOT_REPARAMETERIZED", "Normal", "RegisterKL",
           "ReparameterizationType", "StudentT", "Uniform", "kl_divergence"]
