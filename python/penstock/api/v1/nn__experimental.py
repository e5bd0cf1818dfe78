"""tf.nn.experimental: as version 2's."""
from penstock.api.v2.nn__experimental import FROM  # noqa: F401
