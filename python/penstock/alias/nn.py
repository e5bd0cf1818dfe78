"""All of `tf.nn`."""
from penstock._src.ops.nn.candidate_sampling_ops import *  # noqa: F401,F403
from penstock._src.ops.nn.embedding_ops import *  # noqa: F401,F403
from penstock._src.core_ops.math_ops import sigmoid  # noqa: F401
from penstock._src.ops.nn.nn_impl import *  # noqa: F401,F403
from penstock.alias.nn_ops import *  # noqa: F401,F403
