"""tf.contrib.slim.metrics: those of tf.contrib.metrics."""
from penstock.api.v1.contrib__metrics import FROM as FROM
