"""All of `nn_ops`: the modules it is made of, and the functions made from op definitions."""
from penstock._src.ops.nn.nn_activation import *  # noqa: F401,F403
from penstock._src.ops.nn.nn_conv import *  # noqa: F401,F403
from penstock._src.ops.nn.nn_loss import *  # noqa: F401,F403
from penstock._src.ops.nn.nn_pool import *  # noqa: F401,F403

