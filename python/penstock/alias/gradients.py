"""`tensorflow.python.ops.gradients`: everything about gradients under one name."""
from penstock._src.gradient.custom_gradient import custom_gradient  # noqa: F401
from penstock._src.gradient.gradients_impl import *  # noqa: F401,F403
from penstock._src.gradient.gradients_impl import _hessian_vector_product  # noqa: F401
from penstock._src.gradient.unconnected_gradients import UnconnectedGradients  # noqa: F401
