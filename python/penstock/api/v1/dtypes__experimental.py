"""tf.dtypes.experimental: as version 2's."""
from penstock.api.v2.dtypes__experimental import FROM  # noqa: F401
