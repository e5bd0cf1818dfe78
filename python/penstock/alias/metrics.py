"""tf.metrics: all of it in one module."""
from penstock._src.ops.metrics.metrics_at_k import (
    average_precision_at_k, precision_at_k, precision_at_top_k, recall_at_k, recall_at_top_k,
    sparse_average_precision_at_k, sparse_precision_at_k)
from penstock._src.ops.metrics.metrics_at_k import _at_k_name, _maybe_expand_labels, _safe_scalar_div, _select_class_id
from penstock._src.ops.metrics.metrics_at_k import (
    _streaming_average_precision as _streaming_sparse_average_precision_at_top_k)
from penstock._src.ops.metrics.metrics_base import _aggregate_across_replicas, _aggregate_variable
from penstock._src.ops.metrics.metrics_base import confusion_matrix_at_thresholds as _confusion_matrix_at_thresholds
from penstock._src.ops.metrics.metrics_base import metric_variable
from penstock._src.ops.metrics.metrics_base import remove_squeezable_dimensions as _remove_squeezable_dimensions
from penstock._src.ops.metrics.metrics_counts import (
    auc, false_negatives, false_negatives_at_thresholds, false_positives, false_positives_at_thresholds, precision,
    precision_at_thresholds, recall, recall_at_thresholds, sensitivity_at_specificity, specificity_at_sensitivity,
    true_negatives, true_negatives_at_thresholds, true_positives, true_positives_at_thresholds)
from penstock._src.ops.metrics.metrics_counts import _count_condition
from penstock._src.ops.metrics.metrics_means import (
    accuracy, mean, mean_absolute_error, mean_cosine_distance, mean_iou, mean_per_class_accuracy, mean_relative_error,
    mean_squared_error, mean_tensor, percentage_below, root_mean_squared_error)
from penstock._src.ops.metrics.metrics_means import _streaming_confusion_matrix
