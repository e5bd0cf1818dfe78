"""tf.linalg.experimental: as version 2's."""
from penstock.api.v2.linalg__experimental import FROM  # noqa: F401
