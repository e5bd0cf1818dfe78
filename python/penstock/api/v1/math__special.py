"""tf.math.special: the same names as version 2's."""
from penstock.api.v2.math__special import FROM  # noqa: F401
