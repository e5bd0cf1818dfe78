"""tf.summary.experimental."""
FROM = {"summary.summary_ops_v2": "get_step set_step summary_scope write_raw_pb"}
