"""tf.contrib.data: tf.data.experimental under its old name."""
from penstock.api import lazy

NAMES = {
    **lazy.read_table("v1", "data__experimental"),
    **lazy.rows_of({
        "contrib.data": "assert_element_shape batch_and_drop_remainder padded_batch_and_drop_remainder",
        "contrib.data.sliding": "sliding_window_batch",
    }),
}
