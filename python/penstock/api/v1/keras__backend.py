"""tf.keras.backend."""
FROM = {
    "keras.v1.backend": """
        cast_to_floatx constant epsilon floatx hard_sigmoid image_data_format int_shape is_sparse name_scope ndim
        set_epsilon set_floatx set_image_data_format""",
}
