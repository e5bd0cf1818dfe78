"""Metrics that count: true and false positives and negatives, precision and recall, areas under curves."""
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import check_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.state import state_ops
from penstock._src.ops.state import variable_scope
from penstock._src.ops.metrics.metrics_base import (
    confusion_matrix_at_thresholds, in_collections, metric_variable, remove_squeezable_dimensions)
from penstock._src.base import tf_logging as logging

_EPSILON = 1e-7


def _count_condition(values, weights=None, metrics_collections=None, updates_collections=None):
    check_ops.assert_type(values, dtypes.bool)
    count = metric_variable([], dtypes.float32, name="count")
    values = math_ops.cast(values, dtypes.float32)
    if weights is not None:
        with ops.control_dependencies((check_ops.assert_rank_in(weights, (0, array_ops.rank(values))),)):
            weights = math_ops.cast(weights, dtypes.float32)
            values = math_ops.multiply(values, weights)
    value = in_collections(metrics_collections, array_ops.identity(count))
    update = state_ops.assign_add(count, math_ops.reduce_sum(values))
    return value, in_collections(updates_collections, update)


def _bools(predictions, labels, weights):
    return remove_squeezable_dimensions(predictions=math_ops.cast(predictions, dtype=dtypes.bool),
                                        labels=math_ops.cast(labels, dtype=dtypes.bool), weights=weights)


def _count(scope, label, prediction, labels, predictions, weights, metrics_collections, updates_collections, name):
    with variable_scope.variable_scope(name, scope, (predictions, labels, weights)):
        predictions, labels, weights = _bools(predictions, labels, weights)
        hits = gen.logical_and(math_ops.equal(labels, label), math_ops.equal(predictions, prediction))
        return _count_condition(hits, weights, metrics_collections, updates_collections)


def true_positives(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """The number of examples that are true and predicted so. Likewise the functions below."""
    return _count("true_positives", True, True, labels, predictions, weights, metrics_collections,
                  updates_collections, name)


def true_negatives(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """(how many were rightly called false, update)."""
    return _count("true_negatives", False, False, labels, predictions, weights, metrics_collections,
                  updates_collections, name)


def false_positives(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """(how many were wrongly called true, update)."""
    return _count("false_positives", False, True, labels, predictions, weights, metrics_collections,
                  updates_collections, name)


def false_negatives(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """(how many were wrongly called false, update)."""
    return _count("false_negatives", True, False, labels, predictions, weights, metrics_collections,
                  updates_collections, name)


def _count_at(scope, kind, labels, predictions, thresholds, weights, metrics_collections, updates_collections, name):
    with variable_scope.variable_scope(name, scope, (predictions, labels, weights)):
        values, updates = confusion_matrix_at_thresholds(labels, predictions, thresholds, weights=weights,
                                                         includes=(kind,))
        value = in_collections(metrics_collections, array_ops.identity(values[kind]))
        return value, in_collections(updates_collections, updates[kind])


def true_positives_at_thresholds(labels, predictions, thresholds, weights=None, metrics_collections=None,
                                 updates_collections=None, name=None):
    """The count for each threshold from which on a prediction means true. Likewise the functions below."""
    return _count_at("true_positives", "tp", labels, predictions, thresholds, weights, metrics_collections,
                     updates_collections, name)


def true_negatives_at_thresholds(labels, predictions, thresholds, weights=None, metrics_collections=None,
                                 updates_collections=None, name=None):
    """(how many were rightly called false at each threshold, update)."""
    return _count_at("true_negatives", "tn", labels, predictions, thresholds, weights, metrics_collections,
                     updates_collections, name)


def false_positives_at_thresholds(labels, predictions, thresholds, weights=None, metrics_collections=None,
                                  updates_collections=None, name=None):
    """(how many were wrongly called true at each threshold, update)."""
    return _count_at("false_positives", "fp", labels, predictions, thresholds, weights, metrics_collections,
                     updates_collections, name)


def false_negatives_at_thresholds(labels, predictions, thresholds, weights=None, metrics_collections=None,
                                  updates_collections=None, name=None):
    """(how many were wrongly called false at each threshold, update)."""
    return _count_at("false_negatives", "fn", labels, predictions, thresholds, weights, metrics_collections,
                     updates_collections, name)


def _share(scope, other, labels, predictions, weights, metrics_collections, updates_collections, name):
    """true positives / (true positives + `other`), 0 if there are none."""
    with variable_scope.variable_scope(name, scope, (predictions, labels, weights)):
        predictions, labels, weights = _bools(predictions, labels, weights)
        hits, update_hits = true_positives(labels, predictions, weights)
        misses, update_misses = other(labels, predictions, weights)

        def share(hits, misses, name):
            return array_ops.where(gen.greater(hits + misses, 0), math_ops.div(hits, hits + misses), 0, name)

        value = in_collections(metrics_collections, share(hits, misses, "value"))
        return value, in_collections(updates_collections, share(update_hits, update_misses, "update_op"))


def precision(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """What part of the predicted positives is true."""
    return _share("precision", false_positives, labels, predictions, weights, metrics_collections,
                  updates_collections, name)


def recall(labels, predictions, weights=None, metrics_collections=None, updates_collections=None, name=None):
    """What part of the positives is predicted."""
    return _share("recall", false_negatives, labels, predictions, weights, metrics_collections, updates_collections,
                  name)


def _share_at(what, other, labels, predictions, thresholds, weights, metrics_collections, updates_collections, name):
    with variable_scope.variable_scope(name, what + "_at_thresholds", (predictions, labels, weights)):
        values, updates = confusion_matrix_at_thresholds(labels, predictions, thresholds, weights,
                                                         includes=("tp", other))

        def share(counts, name):
            return math_ops.div(counts["tp"], _EPSILON + counts["tp"] + counts[other], name=what + "_" + name)

        value = in_collections(metrics_collections, share(values, "value"))
        return value, in_collections(updates_collections, share(updates, "update_op"))


def precision_at_thresholds(labels, predictions, thresholds, weights=None, metrics_collections=None,
                            updates_collections=None, name=None):
    """(the share of what is called true that is true, at each threshold; update)."""
    return _share_at("precision", "fp", labels, predictions, thresholds, weights, metrics_collections,
                     updates_collections, name)


def recall_at_thresholds(labels, predictions, thresholds, weights=None, metrics_collections=None,
                         updates_collections=None, name=None):
    """(the share of what is true that is called true, at each threshold; update)."""
    return _share_at("recall", "fn", labels, predictions, thresholds, weights, metrics_collections,
                     updates_collections, name)


def _even_thresholds(num_thresholds):
    return [(i + 1) * 1.0 / (num_thresholds - 1) for i in range(num_thresholds - 2)]


def auc(labels, predictions, weights=None, num_thresholds=200, metrics_collections=None, updates_collections=None,
        curve="ROC", name=None, summation_method="trapezoidal", thresholds=None):
    """The area under the ROC or precision-recall curve, by a sum over thresholds."""
    with variable_scope.variable_scope(name, "auc", (labels, predictions, weights)):
        if curve not in ("ROC", "PR"):
            raise ValueError("curve must be either ROC or PR, %s unknown" % curve)
        if thresholds is not None:
            thresholds = sorted(thresholds)
            num_thresholds = len(thresholds) + 2
        else:
            thresholds = _even_thresholds(num_thresholds)
        # Just outside of [0, 1], so that nothing falls on the ends.
        thresholds = [0.0 - _EPSILON] + thresholds + [1.0 + _EPSILON]
        values, updates = confusion_matrix_at_thresholds(labels, predictions, thresholds, weights)

        def area(counts, name):
            return _area(counts, num_thresholds, curve, summation_method, name)

        value = in_collections(metrics_collections, area(values, "value"))
        return value, in_collections(updates_collections, area(updates, "update_op"))


def _area(counts, num_thresholds, curve, summation_method, name):
    tp, fn, tn, fp = (counts[kind] for kind in ("tp", "fn", "tn", "fp"))
    last = num_thresholds - 1
    if curve == "PR":
        if summation_method == "trapezoidal":
            logging.warning("Trapezoidal rule is known to produce incorrect PR-AUCs; please switch to "
                            "\"careful_interpolation\" instead.")
        elif summation_method == "careful_interpolation":
            return _interpolated_pr_area(tp, fp, fn, last)
    epsilon = 1.0e-6
    recalled = math_ops.div(tp + epsilon, tp + fn + epsilon)
    if curve == "ROC":
        x, y = math_ops.div(fp, fp + tn + epsilon), recalled
    else:
        x, y = recalled, math_ops.div(tp + epsilon, tp + fp + epsilon)
    if summation_method in ("trapezoidal", "careful_interpolation"):
        return math_ops.reduce_sum(math_ops.multiply(x[:last] - x[1:], (y[:last] + y[1:]) / 2.), name=name)
    bounds = {"minoring": gen.minimum, "majoring": gen.maximum}
    if summation_method not in bounds:
        raise ValueError("Invalid summation_method: %s" % summation_method)
    height = bounds[summation_method]
    return math_ops.reduce_sum(math_ops.multiply(x[:last] - x[1:], height(y[:last], y[1:])), name=name)


def _interpolated_pr_area(tp, fp, fn, last):
    """Davis and Goadrich (2006): between thresholds, true positives are linear in all predicted positives."""
    dtp = tp[:last] - tp[1:]
    p = tp + fp
    slope = math_ops.div_no_nan(dtp, gen.maximum(p[:last] - p[1:], 0), name="prec_slope")
    intercept = tp[1:] - math_ops.multiply(slope, p[1:])
    ratio = array_ops.where(
        gen.logical_and(p[:last] > 0, p[1:] > 0),
        math_ops.div_no_nan(p[:last], gen.maximum(p[1:], 0), name="recall_relative_ratio"),
        array_ops.ones_like(p[1:]))
    return math_ops.reduce_sum(
        math_ops.div_no_nan(slope * (dtp + intercept * gen.log(ratio)), gen.maximum(tp[1:] + fn[1:], 0),
                            name="pr_auc_increment"),
        name="interpolate_pr_auc")


def sensitivity_at_specificity(labels, predictions, specificity, weights=None, num_thresholds=200,
                               metrics_collections=None, updates_collections=None, name=None):
    """The recall of positives at the threshold whose recall of negatives is closest to `specificity`."""
    if specificity < 0 or specificity > 1:
        raise ValueError("`specificity` must be in the range [0, 1].")
    with variable_scope.variable_scope(name, "sensitivity_at_specificity", (predictions, labels, weights)):
        thresholds = [0.0 - _EPSILON] + _even_thresholds(num_thresholds) + [1.0 + _EPSILON]
        values, updates = confusion_matrix_at_thresholds(labels, predictions, thresholds, weights)

        def sensitivity(counts, name):
            tp, tn, fp, fn = (counts[kind] for kind in ("tp", "tn", "fp", "fn"))
            specificities = math_ops.div(tn, tn + fp + _EPSILON)
            at = math_ops.argmin(math_ops.abs(specificities - specificity), 0)
            at = math_ops.cast(at, dtypes.int32)
            return math_ops.div(tp[at], tp[at] + fn[at] + _EPSILON, name)

        value = in_collections(metrics_collections, sensitivity(values, "value"))
        return value, in_collections(updates_collections, sensitivity(updates, "update_op"))


def specificity_at_sensitivity(labels, predictions, sensitivity, weights=None, num_thresholds=200,
                               metrics_collections=None, updates_collections=None, name=None):
    """The recall of negatives at the last threshold whose recall of positives is closest to `sensitivity`."""
    if sensitivity < 0 or sensitivity > 1:
        raise ValueError("`sensitivity` must be in the range [0, 1].")
    with variable_scope.variable_scope(name, "specificity_at_sensitivity", (predictions, labels, weights)):
        thresholds = [0.0 - _EPSILON] + _even_thresholds(num_thresholds) + [1.0 - _EPSILON]
        values, updates = confusion_matrix_at_thresholds(labels, predictions, thresholds, weights)

        def specificity(counts, name):
            tp, tn, fp, fn = (counts[kind] for kind in ("tp", "tn", "fp", "fn"))
            sensitivities = math_ops.div(tp, tp + fn + _EPSILON)
            least = math_ops.reduce_min(math_ops.abs(sensitivities - sensitivity))
            closest = math_ops.equal(math_ops.abs(sensitivities - sensitivity), least)
            closest = math_ops.cumsum(math_ops.cast(closest, dtypes.int64))
            at = math_ops.cast(math_ops.argmax(closest, 0), dtypes.int32)
            return math_ops.div(tn[at], tn[at] + fp[at] + _EPSILON, name)

        value = in_collections(metrics_collections, specificity(values, "value"))
        return value, in_collections(updates_collections, specificity(updates, "update_op"))
