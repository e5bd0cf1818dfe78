"""tf.signal, version 2: the same names as version 1's."""
from penstock.api.v1.signal import FROM  # noqa: F401
