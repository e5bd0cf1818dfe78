"""Metrics of rankings: precision, recall and average precision among the k best predictions."""
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import sparse_tensor
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import cond as cond_lib
from penstock._src.core_ops import math_ops
from penstock._src.ops.nn import nn_activation
from penstock._src.ops.sparse import sets_impl as sets
from penstock._src.ops.sparse import sparse_ops
from penstock._src.ops.state import state_ops
from penstock._src.ops.metrics import weights_broadcast_ops
from penstock._src.ops.metrics.metrics_base import in_collections, metric_variable


def _is_sparse(labels):
    return isinstance(labels, (sparse_tensor.SparseTensor, sparse_tensor.SparseTensorValue))


def _at_k_name(name, k=None, class_id=None):
    name = "%s_at_k" % name if k is None else "%s_at_%d" % (name, k)
    return name if class_id is None else "%s_class%d" % (name, class_id)


def _maybe_expand_labels(labels, predictions):
    """Labels with the rank of predictions: [batch] becomes [batch, 1]."""
    with ops.name_scope(None, "expand_labels", (labels, predictions)) as scope:
        labels = sparse_tensor.convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, sparse_tensor.SparseTensor):
            return cond_lib.cond(
                math_ops.equal(array_ops.rank(predictions), array_ops.size(labels.dense_shape) + 1),
                lambda: sparse_ops.sparse_reshape(labels, shape=array_ops.concat((labels.dense_shape, (1,)), 0),
                                                  name=scope),
                lambda: labels)
        labels_rank, predictions_rank = labels.get_shape().ndims, predictions.get_shape().ndims
        if labels_rank is not None and predictions_rank is not None:
            if predictions_rank == labels_rank:
                return labels
            if predictions_rank == labels_rank + 1:
                return array_ops.expand_dims(labels, -1, name=scope)
            raise ValueError("Unexpected labels shape %s for predictions shape %s." %
                             (labels.get_shape(), predictions.get_shape()))
        return cond_lib.cond(math_ops.equal(array_ops.rank(predictions), array_ops.rank(labels) + 1),
                             lambda: array_ops.expand_dims(labels, -1, name=scope), lambda: labels)


def _select_class_id(ids, selected_id):
    """The members of the last dimension that equal `selected_id`, as a SparseTensor."""
    ids = sparse_tensor.convert_to_tensor_or_sparse_tensor(ids)
    if isinstance(ids, sparse_tensor.SparseTensor):
        return sparse_ops.sparse_retain(ids, math_ops.equal(ids.values, selected_id))
    shape = array_ops.shape(ids, out_type=dtypes.int64)
    last = array_ops.size(shape) - 1
    filled_shape = math_ops.reduced_shape(shape, array_ops.reshape(last, [1]))
    filled = array_ops.fill(filled_shape, math_ops.cast(selected_id, dtypes.int64))
    found = sets.set_intersection(filled, ids)
    return sparse_tensor.SparseTensor(indices=found.indices, values=found.values, dense_shape=shape)


def _of_class(labels, predictions_idx, class_id):
    if class_id is None:
        return labels, predictions_idx
    return _select_class_id(labels, class_id), _select_class_id(predictions_idx, class_id)


_SETS = {
    "true_positive": lambda p, y: sets.set_intersection(p, y),
    "false_negative": lambda p, y: sets.set_difference(p, y, aminusb=False),
    "false_positive": lambda p, y: sets.set_difference(p, y, aminusb=True),
}


def _count_in_rows(kind, labels, predictions_idx, class_id=None, weights=None, name=None):
    """For each row, how many predictions (or labels) are of that kind."""
    with ops.name_scope(name, kind + "s", (predictions_idx, labels, weights)):
        labels, predictions_idx = _of_class(labels, predictions_idx, class_id)
        count = math_ops.cast(sets.set_size(_SETS[kind](predictions_idx, labels)), dtypes.float64)
        if weights is not None:
            with ops.control_dependencies((weights_broadcast_ops.assert_broadcastable(weights, count),)):
                count = math_ops.multiply(count, math_ops.cast(weights, dtypes.float64))
        return count


def _streaming_count(kind, labels, predictions_idx, k=None, class_id=None, weights=None):
    with ops.name_scope(None, _at_k_name(kind, k, class_id=class_id), (predictions_idx, labels, weights)) as scope:
        count = _count_in_rows(kind, labels, predictions_idx, class_id, weights)
        total = math_ops.cast(math_ops.reduce_sum(count), dtypes.float64)
        var = metric_variable([], dtypes.float64, name=scope)
        return var, state_ops.assign_add(var, total, name="update")


def _share_at_top_k(what, other, labels, predictions_idx, k, class_id, weights, metrics_collections,
                    updates_collections, name):
    with ops.name_scope(name, _at_k_name(what, k, class_id=class_id), (predictions_idx, labels, weights)) as scope:
        labels = _maybe_expand_labels(labels, predictions_idx)
        top = math_ops.cast(predictions_idx, dtypes.int64)
        hits, update_hits = _streaming_count("true_positive", labels, top, k, class_id, weights)
        misses, update_misses = _streaming_count(other, labels, top, k, class_id, weights)
        value = math_ops.div(hits, math_ops.add(hits, misses), name=scope)
        in_collections(metrics_collections, value)
        update = math_ops.div(update_hits, math_ops.add(update_hits, update_misses), name="update")
        return value, in_collections(updates_collections, update)


def recall_at_top_k(labels, predictions_idx, k=None, class_id=None, weights=None, metrics_collections=None,
                    updates_collections=None, name=None):
    """What part of the labels is among the classes `predictions_idx`."""
    return _share_at_top_k("recall", "false_negative", labels, predictions_idx, k, class_id, weights,
                           metrics_collections, updates_collections, name)


def precision_at_top_k(labels, predictions_idx, k=None, class_id=None, weights=None, metrics_collections=None,
                       updates_collections=None, name=None):
    """What part of the classes `predictions_idx` is among the labels."""
    return _share_at_top_k("precision", "false_positive", labels, predictions_idx, k, class_id, weights,
                           metrics_collections, updates_collections, name)


def recall_at_k(labels, predictions, k, class_id=None, weights=None, metrics_collections=None,
                updates_collections=None, name=None):
    """What part of the labels is among the k highest predictions."""
    with ops.name_scope(name, _at_k_name("recall", k, class_id=class_id), (predictions, labels, weights)) as scope:
        _, top = nn_activation.top_k(predictions, k)
        return recall_at_top_k(labels, top, k, class_id, weights, metrics_collections, updates_collections, scope)


def precision_at_k(labels, predictions, k, class_id=None, weights=None, metrics_collections=None,
                   updates_collections=None, name=None):
    """What part of the k highest predictions is among the labels."""
    with ops.name_scope(name, _at_k_name("precision", k, class_id=class_id), (predictions, labels, weights)) as scope:
        _, top = nn_activation.top_k(predictions, k)
        return precision_at_top_k(labels, top, k, class_id, weights, metrics_collections, updates_collections, scope)


def sparse_precision_at_k(labels, predictions, k, class_id=None, weights=None, metrics_collections=None,
                          updates_collections=None, name=None):
    """The older name of precision_at_k."""
    return precision_at_k(labels, predictions, k, class_id, weights, metrics_collections, updates_collections, name)


def _expand_and_tile(tensor, multiple, dim=0, name=None):
    """A new dimension at `dim`, `multiple` long, along which the values repeat."""
    if multiple < 1:
        raise ValueError("Invalid multiple %s, must be > 0." % multiple)
    with ops.name_scope(name, "expand_and_tile", (tensor, multiple, dim)) as scope:
        tensor = sparse_tensor.convert_to_tensor_or_sparse_tensor(tensor)
        if isinstance(tensor, sparse_tensor.SparseTensor):
            at = array_ops.reshape(array_ops.size(tensor.dense_shape) + dim, [1]) if dim < 0 else [dim]
            shape = array_ops.concat((array_ops.slice(tensor.dense_shape, [0], at), [1],
                                      array_ops.slice(tensor.dense_shape, at, [-1])), 0, name="expanded_shape")
            expanded = sparse_ops.sparse_reshape(tensor, shape=shape, name="expand")
            if multiple == 1:
                return expanded
            return sparse_ops.sparse_concat(dim - 1 if dim < 0 else dim, [expanded] * multiple, name=scope)
        expanded = array_ops.expand_dims(tensor, dim if dim >= 0 else dim - 1, name="expand")
        if multiple == 1:
            return expanded
        ones = array_ops.ones_like(array_ops.shape(tensor))
        multiples = array_ops.concat((ones[:dim], (multiple,), ones[dim:]), 0, name="multiples")
        return gen.tile(expanded, multiples, name=scope)


def _num_relevant(labels, k):
    if k < 1:
        raise ValueError("Invalid k=%s." % k)
    with ops.name_scope(None, "num_relevant", (labels,)) as scope:
        labels = sparse_tensor.convert_to_tensor_or_sparse_tensor(labels)
        if isinstance(labels, sparse_tensor.SparseTensor):
            return gen.minimum(sets.set_size(labels), k, name=scope)
        # Negative labels pad rows with fewer labels.
        valid = array_ops.where_v2(gen.greater_equal(labels, 0), array_ops.ones_like(labels),
                                   array_ops.zeros_like(labels))
        return gen.minimum(math_ops.reduce_sum(valid, axis=-1), k, name=scope)


def _average_precision_of_rows(labels, predictions_idx):
    with ops.name_scope(None, "average_precision", (predictions_idx, labels)) as scope:
        predictions_idx = math_ops.cast(predictions_idx, dtypes.int64, name="predictions_idx")
        if predictions_idx.get_shape().ndims == 0:
            raise ValueError("The rank of predictions_idx must be at least 1.")
        k = predictions_idx.get_shape().as_list()[-1]
        if k is None:
            raise ValueError("The last dimension of predictions_idx must be set.")
        labels = _maybe_expand_labels(labels, predictions_idx)
        # Each rank by itself: is the prediction there among the labels?
        each = array_ops.expand_dims(predictions_idx, -1, name="predictions_idx_per_k")
        labels_per_k = _expand_and_tile(labels, multiple=k, dim=-1, name="labels_per_k")
        relevant = _count_in_rows("true_positive", labels_per_k, each, name="relevant_per_k")
        hits = math_ops.cumsum(relevant, axis=-1, name="tp_per_k")
        retrieved = math_ops.cumsum(array_ops.ones_like(relevant), axis=-1, name="retrieved_per_k")
        precision = math_ops.div(math_ops.cast(hits, dtypes.float64), math_ops.cast(retrieved, dtypes.float64),
                                 name="precision_per_k")
        relevant_precision = math_ops.multiply(precision, math_ops.cast(relevant, dtypes.float64),
                                               name="relevant_precision_per_k")
        total = math_ops.reduce_sum(relevant_precision, axis=(-1,), name="precision_sum")
        count = math_ops.cast(_num_relevant(labels, k), dtypes.float64)
        return math_ops.div(total, count, name=scope)


def _safe_scalar_div(numerator, denominator, name):
    numerator.get_shape().with_rank_at_most(1)
    denominator.get_shape().with_rank_at_most(1)
    return math_ops.div_no_nan(numerator, denominator, name=name)


def _streaming_average_precision(labels, predictions_idx, weights=None, metrics_collections=None,
                                 updates_collections=None, name=None):
    with ops.name_scope(name, "average_precision_at_top_k", (predictions_idx, labels, weights)) as scope:
        average = _average_precision_of_rows(labels, predictions_idx)
        if weights is not None:
            weights = weights_broadcast_ops.broadcast_weights(math_ops.cast(weights, dtypes.float64), average)
            average = math_ops.multiply(average, weights)
        with ops.name_scope(None, "max", (average,)) as max_scope:
            max_var = metric_variable([], dtypes.float64, name=max_scope)
            if weights is None:
                batch_max = math_ops.cast(array_ops.size(average, name="batch_max"), dtypes.float64)
            else:
                batch_max = math_ops.reduce_sum(weights, name="batch_max")
            max_update = state_ops.assign_add(max_var, batch_max, name="update")
        with ops.name_scope(None, "total", (average,)) as total_scope:
            total_var = metric_variable([], dtypes.float64, name=total_scope)
            batch_total = math_ops.reduce_sum(average, name="batch_total")
            total_update = state_ops.assign_add(total_var, batch_total, name="update")
        value = in_collections(metrics_collections, _safe_scalar_div(total_var, max_var, name="mean"))
        update = _safe_scalar_div(total_update, max_update, name=scope)
        return value, in_collections(updates_collections, update)


def _without_unknown_classes(labels, num_classes):
    """Labels beyond the last class become -1, which matches no prediction."""

    def masked(values):
        return array_ops.where_v2(gen.greater_equal(values, num_classes), -1 * array_ops.ones_like(values),
                                  values)

    def masked_labels():
        if _is_sparse(labels):
            return type(labels)(indices=labels.indices, values=masked(labels.values), dense_shape=labels.dense_shape)
        return masked(labels)

    largest = math_ops.reduce_max(labels.values if _is_sparse(labels) else labels)
    return cond_lib.cond(gen.greater_equal(largest, num_classes), masked_labels, lambda: labels)


def average_precision_at_k(labels, predictions, k, weights=None, metrics_collections=None, updates_collections=None,
                           name=None):
    """The mean over the rows of the average precision of their k highest predictions."""
    if k < 1:
        raise ValueError("Invalid k=%s." % k)
    with ops.name_scope(name, _at_k_name("average_precision", k), (predictions, labels, weights)) as scope:
        _, top = nn_activation.top_k(predictions, k)
        classes = math_ops.cast(array_ops.shape(predictions)[-1], dtypes.int64)
        labels = _without_unknown_classes(labels, classes)
        return _streaming_average_precision(labels, top, weights, metrics_collections, updates_collections, scope)


def sparse_average_precision_at_k(labels, predictions, k, weights=None, metrics_collections=None,
                                  updates_collections=None, name=None):
    """The older name of average_precision_at_k."""
    return average_precision_at_k(labels, predictions, k, weights, metrics_collections, updates_collections, name)
