"""tf.saved_model.main_op."""
FROM = {"saved_model.main_op_impl": "main_op main_op_with_restore"}
