"""tf.strings"""
FROM = {
    "ops.ragged.ragged_string_ops": """
        bytes_split=string_bytes_split ngrams split=strings_split_v1 unicode_decode unicode_decode_with_offsets
        unicode_encode unicode_split unicode_split_with_offsets""",
    "ops.strings.string_ops": """
        format=string_format length=string_length reduce_join regex_full_match regex_replace substr
        to_hash_bucket=string_to_hash_bucket_v1 to_number=string_to_number_v1""",
    "graph.gen": """
        as_string join=string_join lower=string_lower strip=string_strip
        to_hash_bucket_fast=string_to_hash_bucket_fast to_hash_bucket_strong=string_to_hash_bucket_strong
        unicode_script unicode_transcode unsorted_segment_join upper=string_upper""",
}
