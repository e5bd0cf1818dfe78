"""tf.sparse"""
FROM = {
    "graph.sparse_tensor": "SparseTensor",
    "ops.queues.accumulators": "SparseConditionalAccumulator",
    "core_ops.array_ops": "mask=sparse_mask placeholder=sparse_placeholder",
    "ops.ragged.bincount_ops": "bincount=sparse_bincount",
    "core_ops.math_ops": """
        segment_mean=sparse_segment_mean segment_sqrt_n=sparse_segment_sqrt_n segment_sum=sparse_segment_sum""",
    "ops.sparse.sparse_ops": """
        add=sparse_add concat=sparse_concat cross=sparse_cross cross_hashed=sparse_cross_hashed
        expand_dims=sparse_expand_dims eye=sparse_eye fill_empty_rows=sparse_fill_empty_rows from_dense
        matmul=sparse_tensor_dense_matmul maximum=sparse_maximum merge=sparse_merge minimum=sparse_minimum
        reduce_max=sparse_reduce_max reduce_max_sparse=sparse_reduce_max_sparse reduce_sum=sparse_reduce_sum
        reduce_sum_sparse=sparse_reduce_sum_sparse reorder=sparse_reorder reset_shape=sparse_reset_shape
        reshape=sparse_reshape retain=sparse_retain slice=sparse_slice softmax=sparse_softmax
        sparse_dense_matmul=sparse_tensor_dense_matmul split=sparse_split to_dense=sparse_tensor_to_dense
        to_indicator=sparse_to_indicator transpose=sparse_transpose""",
}
