"""tf.types.experimental: as version 2's."""
from penstock.api.v2.types__experimental import FROM  # noqa: F401
