"""tf.strings"""
FROM = {
    "ops.ragged.ragged_string_ops": "split=strings_split_v1",
    "ops.strings.string_ops": """
        length=string_length reduce_join substr to_hash_bucket=string_to_hash_bucket_v1
        to_number=string_to_number_v1""",
}
