"""tf.math"""
WITHOUT = "sobol_sample"
FROM = {
    "ops.metrics.confusion_matrix": "confusion_matrix=confusion_matrix_v1",
    "core_ops.math_ops": """
        angle argmax argmin bincount=bincount_v1 count_nonzero reduce_all=reduce_all_v1 reduce_any=reduce_any_v1
        reduce_logsumexp=reduce_logsumexp_v1 reduce_max=reduce_max_v1 reduce_mean=reduce_mean_v1
        reduce_min=reduce_min_v1 reduce_prod=reduce_prod_v1 reduce_sum=reduce_sum_v1""",
    "ops.nn.nn_activation": "in_top_k log_softmax softmax top_k=top_k_v1",
}
