"""tf: shapes, slicing, joining, making arrays."""
FROM = {
    "core_ops.array_ops": """
        batch_gather batch_to_space boolean_mask depth_to_space expand_dims extract_image_patches gather
        gather_nd matrix_diag matrix_diag_part matrix_set_diag matrix_transpose ones_like pad placeholder
        placeholder_with_default quantize quantize_v2 dequantize reverse_sequence scatter_nd=scatter_nd_v1
        setdiff1d shape size space_to_batch space_to_depth sparse_mask sparse_placeholder squeeze
        tensor_scatter_add=tensor_scatter_add_v1 tensor_scatter_nd_add=tensor_scatter_add_v1
        tensor_scatter_nd_sub=tensor_scatter_sub_v1 tensor_scatter_sub=tensor_scatter_sub_v1
        tensor_scatter_update=tensor_scatter_nd_update transpose where where_v2 zeros_like""",
    "graph.gen": """
        batch_to_space_nd check_numerics diag diag_part fake_quant_with_min_max_args
        fake_quant_with_min_max_args_gradient fake_quant_with_min_max_vars fake_quant_with_min_max_vars_gradient
        fake_quant_with_min_max_vars_per_channel fake_quant_with_min_max_vars_per_channel_gradient
        invert_permutation matrix_band_part quantized_concat reverse_v2""",
}
