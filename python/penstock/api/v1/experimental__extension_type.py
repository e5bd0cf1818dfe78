"""tf.experimental.extension_type: as version 2's."""
from penstock.api.v2.experimental__extension_type import FROM  # noqa: F401
