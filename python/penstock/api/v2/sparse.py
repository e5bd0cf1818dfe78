"""tf.sparse, version 2."""
FROM = {
    "graph.sparse_tensor": "SparseTensor",
    "core_ops.array_ops": "mask=sparse_mask",
    "ops.ragged.bincount_ops": "bincount=sparse_bincount",
    "core_ops.math_ops": """
        segment_mean=sparse_segment_mean_v2 segment_sqrt_n=sparse_segment_sqrt_n_v2
        segment_sum=sparse_segment_sum_v2""",
    "ops.sparse.sparse_math": "sampled_addmm",
    "ops.sparse.sparse_ops": """
        add=sparse_add_v2 concat=sparse_concat_v2 cross=sparse_cross cross_hashed=sparse_cross_hashed
        expand_dims=sparse_expand_dims eye=sparse_eye map_values fill_empty_rows=sparse_fill_empty_rows from_dense
        maximum=sparse_maximum minimum=sparse_minimum reduce_max=sparse_reduce_max_v2 reduce_sum=sparse_reduce_sum_v2
        reorder=sparse_reorder reset_shape=sparse_reset_shape reshape=sparse_reshape retain=sparse_retain
        slice=sparse_slice softmax=sparse_softmax sparse_dense_matmul=sparse_tensor_dense_matmul split=sparse_split_v2
        to_dense=sparse_tensor_to_dense to_indicator=sparse_to_indicator transpose=sparse_transpose""",
}
