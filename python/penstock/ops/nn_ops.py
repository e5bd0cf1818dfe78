"""All of `nn_ops`: the modules it is made of, and the functions made from op definitions."""
from penstock.ops.arguments import made_function
from penstock.ops.nn_activation import *  # noqa: F401,F403
from penstock.ops.nn_conv import *  # noqa: F401,F403
from penstock.ops.nn_loss import *  # noqa: F401,F403
from penstock.ops.nn_pool import *  # noqa: F401,F403

_NAMES = {"local_response_normalization": "lrn"}
_ABOVE = ("approx_max_k", "approx_min_k", "general_dropout", "isotonic_regression", "stateless_dropout")
_made = made_function(__name__)


def __getattr__(name):
    if name in _ABOVE:
        from penstock.ops import nn_version_two
        return getattr(nn_version_two, name)
    if name == "gelu":
        from penstock.ops import nn_impl
        return nn_impl.gelu
    return _made(_NAMES.get(name, name))
