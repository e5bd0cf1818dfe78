"""tf.contrib.metrics."""
FROM = {
    "contrib.metrics.classification": "accuracy f1_score streaming_recall_at_k",
    "contrib.metrics.covariance": "count streaming_concat streaming_covariance streaming_pearson_correlation",
    "contrib.metrics.streaming": """
        aggregate_metric_map aggregate_metrics streaming_accuracy streaming_auc streaming_false_negatives
        streaming_false_negatives_at_thresholds streaming_false_positives streaming_false_positives_at_thresholds
        streaming_mean_absolute_error streaming_mean_cosine_distance streaming_mean_iou streaming_mean_relative_error
        streaming_mean_squared_error streaming_precision streaming_precision_at_thresholds streaming_recall
        streaming_recall_at_thresholds streaming_root_mean_squared_error streaming_sensitivity_at_specificity
        streaming_sparse_average_precision_at_k streaming_sparse_precision_at_k streaming_sparse_recall_at_k
        streaming_specificity_at_sensitivity streaming_true_negatives streaming_true_negatives_at_thresholds
        streaming_true_positives streaming_true_positives_at_thresholds""",
    "ops.metrics.confusion_matrix": "confusion_matrix=confusion_matrix_v1",
    "ops.metrics.metrics_means": """
        streaming_mean=mean streaming_mean_tensor=mean_tensor streaming_percentage_less=percentage_below""",
    "ops.sparse.sets_impl": "set_difference set_intersection set_size set_union",
}
