"""tf.contrib.data: tf.data.experimental under its old name."""
from penstock.api.v1 import data__experimental as _experimental

FROM = {
    **_experimental.FROM,
    "contrib.data": "assert_element_shape batch_and_drop_remainder padded_batch_and_drop_remainder",
    "contrib.data.sliding": "sliding_window_batch",
}
