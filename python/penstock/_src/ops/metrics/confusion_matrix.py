"""tf.confusion_matrix."""
from penstock._src.graph import dtypes, gen, ops, sparse_tensor
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import check_ops, control_flow_ops
from penstock._src.control_flow import cond as cond_lib

__all__ = ["confusion_matrix", "confusion_matrix_v1", "remove_squeezable_dimensions"]


def _squeeze_last_if(condition, x):
    """Without the last dimension, of size 1, if a condition known only at run time holds."""
    return cond_lib.cond(condition, lambda: array_ops.squeeze(x, [-1]), lambda: x)


def remove_squeezable_dimensions(labels, predictions, expected_rank_diff=0, name=None):
    """Drops a last dimension of size 1 where the ranks differ by one too many."""
    with ops.name_scope(name, "remove_squeezable_dimensions", [labels, predictions]):
        predictions = ops.convert_to_tensor(predictions)
        labels = ops.convert_to_tensor(labels)
        of_predictions, of_labels = predictions.get_shape(), labels.get_shape()
        if of_labels.ndims is not None and of_predictions.ndims is not None:
            difference = of_predictions.ndims - of_labels.ndims
            if difference == expected_rank_diff + 1:
                predictions = array_ops.squeeze(predictions, [-1])
            elif difference == expected_rank_diff - 1:
                labels = array_ops.squeeze(labels, [-1])
            return labels, predictions
        difference = array_ops.rank(predictions) - array_ops.rank(labels)
        if of_predictions.ndims is None or of_predictions.dims[-1].is_compatible_with(1):
            predictions = _squeeze_last_if(gen.equal(expected_rank_diff + 1, difference), predictions)
        if of_labels.ndims is None or of_labels.dims[-1].is_compatible_with(1):
            labels = _squeeze_last_if(gen.equal(expected_rank_diff - 1, difference), labels)
        return labels, predictions


def confusion_matrix(labels, predictions, num_classes=None, weights=None, dtype=dtypes.int32, name=None):
    """counts[i, j]: how often the label was i and the prediction j."""
    with ops.name_scope(name, "confusion_matrix", [predictions, labels, num_classes, weights]) as name:
        labels, predictions = remove_squeezable_dimensions(
            ops.convert_to_tensor(labels, name="labels"), ops.convert_to_tensor(predictions, name="predictions"))
        predictions = math_ops.cast(predictions, dtypes.int64)
        labels = math_ops.cast(labels, dtypes.int64)

        def checked(value, check, *limit, message):
            return control_flow_ops.with_dependencies([check(value, *limit, message=message)], value)

        labels = checked(labels, check_ops.assert_non_negative, message="`labels` contains negative values")
        predictions = checked(predictions, check_ops.assert_non_negative,
                              message="`predictions` contains negative values")
        if num_classes is None:
            num_classes = gen.maximum(math_ops.reduce_max(predictions), math_ops.reduce_max(labels)) + 1
        else:
            limit = math_ops.cast(num_classes, dtypes.int64)
            labels = checked(labels, check_ops.assert_less, limit, message="`labels` out of bound")
            predictions = checked(predictions, check_ops.assert_less, limit, message="`predictions` out of bound")
        if weights is not None:
            weights = ops.convert_to_tensor(weights, name="weights")
            predictions.get_shape().assert_is_compatible_with(weights.get_shape())
            weights = math_ops.cast(weights, dtype)
        shape = array_ops.stack([num_classes, num_classes])
        indices = array_ops.stack([labels, predictions], axis=1)
        values = array_ops.ones_like(predictions, dtype) if weights is None else weights
        counts = sparse_tensor.SparseTensor(indices, values, math_ops.cast(shape, dtypes.int64))
        zeros = array_ops.zeros(math_ops.cast(shape, dtypes.int32), dtype)
        return gen.sparse_tensor_dense_add(counts.indices, counts.values, counts.dense_shape, zeros)


def confusion_matrix_v1(labels, predictions, num_classes=None, dtype=dtypes.int32, name=None, weights=None):
    """counts[i, j]: how often the label was i and the prediction j."""
    return confusion_matrix(labels, predictions, num_classes, weights, dtype, name)
