"""tf: shapes, slicing, joining, making arrays."""
FROM = {
    "core_ops.array_ops": """
        batch_gather batch_to_space boolean_mask broadcast_dynamic_shape broadcast_static_shape concat depth_to_space
        edit_distance expand_dims extract_image_patches fill fingerprint gather gather_nd identity matrix_diag
        matrix_diag_part matrix_set_diag matrix_transpose meshgrid one_hot ones ones_like pad parallel_stack
        placeholder placeholder_with_default quantize quantize_v2 rank repeat dequantize
        required_space_to_batch_paddings reshape reverse_sequence scatter_nd=scatter_nd_v1 searchsorted sequence_mask
        setdiff1d shape shape_n size slice space_to_batch space_to_depth sparse_mask sparse_placeholder split squeeze
        stack strided_slice tensor_scatter_add=tensor_scatter_add_v1 tensor_scatter_nd_add=tensor_scatter_add_v1
        tensor_scatter_nd_sub=tensor_scatter_sub_v1 tensor_scatter_sub=tensor_scatter_sub_v1 tensor_scatter_nd_update
        tensor_scatter_update=tensor_scatter_nd_update transpose unique unique_with_counts unstack where where_v2
        zeros zeros_like""",
    "core_ops.manip_ops": "roll",
    "core_ops.sort_ops": "argsort sort",
    "graph.gen": """
        batch_to_space_nd bitcast broadcast_to check_numerics diag diag_part extract_volume_patches
        fake_quant_with_min_max_args fake_quant_with_min_max_args_gradient fake_quant_with_min_max_vars
        fake_quant_with_min_max_vars_gradient fake_quant_with_min_max_vars_per_channel
        fake_quant_with_min_max_vars_per_channel_gradient guarantee_const identity_n invert_permutation
        matrix_band_part quantized_concat reverse=reverse_v2 reverse_v2 space_to_batch_nd
        stop_gradient tensor_scatter_nd_max=tensor_scatter_max tensor_scatter_nd_min=tensor_scatter_min tile
        unravel_index""",
}
NAMES = {"newaxis": "core_ops.array_ops:newaxis"}
