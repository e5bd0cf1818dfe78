"""tf.contrib.slim.losses: those of tf.contrib.losses."""
from penstock.api.v1.contrib__losses import FROM as FROM
