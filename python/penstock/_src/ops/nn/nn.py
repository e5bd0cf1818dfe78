"""All of `tf.nn`."""
from penstock.ops.candidate_sampling_ops import *  # noqa: F401,F403
from penstock.ops.embedding_ops import *  # noqa: F401,F403
from penstock.ops.math_ops import sigmoid  # noqa: F401
from penstock.ops.nn_impl import *  # noqa: F401,F403
from penstock.ops.nn_ops import *  # noqa: F401,F403
