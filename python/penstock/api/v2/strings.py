"""tf.strings, version 2."""
FROM = {
    "ops.ragged.ragged_string_ops": """
        bytes_split=string_bytes_split ngrams split=string_split_v2 unicode_decode unicode_decode_with_offsets
        unicode_encode unicode_split unicode_split_with_offsets""",
    "graph.gen": """
        as_string join=string_join lower=string_lower strip=string_strip
        to_hash_bucket_fast=string_to_hash_bucket_fast to_hash_bucket_strong=string_to_hash_bucket_strong
        unicode_script unicode_transcode unsorted_segment_join upper=string_upper""",
    "ops.strings.string_ops": """
        format=string_format length=string_length_v2 reduce_join=reduce_join_v2 regex_full_match regex_replace
        substr=substr_v2 to_hash_bucket=string_to_hash_bucket to_number=string_to_number""",
}
