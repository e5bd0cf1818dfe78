"""tf.contrib.metrics.streaming_*: tf.metrics with the predictions before the labels."""
import inspect

from penstock._src.ops.metrics import metrics_at_k, metrics_counts, metrics_means

# Module -> names: streaming_NAME is its function of that name, or of the one after "=".
_SWAPPED = {
    metrics_at_k: """
        sparse_average_precision_at_k=average_precision_at_k sparse_precision_at_k=precision_at_k
        sparse_recall_at_k=recall_at_k""",
    metrics_counts: """
        auc false_negatives false_negatives_at_thresholds false_positives false_positives_at_thresholds precision
        precision_at_thresholds recall recall_at_thresholds sensitivity_at_specificity specificity_at_sensitivity
        true_negatives true_negatives_at_thresholds true_positives true_positives_at_thresholds""",
    metrics_means: """
        accuracy mean_absolute_error mean_cosine_distance mean_iou mean_relative_error mean_squared_error
        root_mean_squared_error""",
}


def _swapped(name, function):
    signature = inspect.signature(function)
    first, second, *rest = signature.parameters.values()
    signature = signature.replace(parameters=[second, first] + rest)

    def streaming(*args, **kwargs):
        return function(**signature.bind(*args, **kwargs).arguments)

    streaming.__name__ = streaming.__qualname__ = "streaming_" + name
    streaming.__signature__ = signature
    streaming.__doc__ = "tf.metrics.%s(%s, ...) with its first two arguments in the other order.\n\n%s" % (
        function.__name__, first.name, function.__doc__)
    return streaming


for _module, _names in _SWAPPED.items():
    for _row in _names.split():
        _name, _, _other = _row.partition("=")
        globals()["streaming_" + _name] = _swapped(_name, getattr(_module, _other or _name))


def aggregate_metrics(*value_update_tuples):
    """(values, updates), two lists, of (value, update) pairs. ValueError without any."""
    if not value_update_tuples:
        raise ValueError("Expected at least one value_tensor/update_op pair")
    values, updates = zip(*value_update_tuples)
    return list(values), list(updates)


def aggregate_metric_map(names_to_tuples):
    """({name: value}, {name: update}) of {name: (value, update)}."""
    return ({name: value for name, (value, _) in names_to_tuples.items()},
            {name: update for name, (_, update) in names_to_tuples.items()})
