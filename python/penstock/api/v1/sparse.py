"""tf.sparse"""
WITHOUT = "map_values sampled_addmm"
FROM = {
    "ops.queues.accumulators": "SparseConditionalAccumulator",
    "core_ops.array_ops": "placeholder=sparse_placeholder",
    "core_ops.math_ops": """
        segment_mean=sparse_segment_mean segment_sqrt_n=sparse_segment_sqrt_n segment_sum=sparse_segment_sum""",
    "ops.sparse.sparse_ops": """
        add=sparse_add concat=sparse_concat matmul=sparse_tensor_dense_matmul merge=sparse_merge
        reduce_max=sparse_reduce_max reduce_max_sparse=sparse_reduce_max_sparse reduce_sum=sparse_reduce_sum
        reduce_sum_sparse=sparse_reduce_sum_sparse split=sparse_split""",
}
