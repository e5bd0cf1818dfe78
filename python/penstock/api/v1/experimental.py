"""tf.experimental: as version 2's."""
from penstock.api.v2.experimental import FROM  # noqa: F401
