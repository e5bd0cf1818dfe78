"""tf.ragged, version 2."""
FROM = {
    "ops.ragged.ragged_array_ops": "boolean_mask stack_dynamic_partitions",
    "ops.ragged.ragged_concat_ops": "stack=stack_v2",
    "ops.ragged.ragged_checks": "range row_splits_to_segment_ids segment_ids_to_row_splits",
    "ops.ragged.ragged_cross_ops": "cross cross_hashed",
    "ops.ragged.ragged_functional_ops": "map_flat_values",
    "ops.ragged.ragged_factory_ops": "constant",
}
