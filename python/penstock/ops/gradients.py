"""`tensorflow.python.ops.gradients`: everything about gradients under one name."""
from penstock.ops.custom_gradient import custom_gradient  # noqa: F401
from penstock.ops.gradients_impl import *  # noqa: F401,F403
from penstock.ops.gradients_impl import _hessian_vector_product  # noqa: F401
from penstock.ops.unconnected_gradients import UnconnectedGradients  # noqa: F401


def __getattr__(name):
    if name == "GradientTape":  # which stands above
        from penstock.eager.backprop import GradientTape
        return GradientTape
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
