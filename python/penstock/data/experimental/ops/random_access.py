"""tf.data.experimental.at: one element by its place."""
from penstock.data.ops.dataset_ops import INFINITE
from penstock.framework import dtypes, errors, ops, tensor_util


def at(dataset, index):
    """The element at a place; those before it are passed over, where no stage can skip them.

    OutOfRangeError: there are fewer. FailedPreconditionError: how many there are is not known, or they are without end.
    """
    index = tensor_util.constant_value(ops.convert_to_tensor(index, dtypes.int64))
    if index is None:
        raise TypeError("tf.data.experimental.at only supports eager execution mode.")
    count, name = int(dataset.cardinality()), type(dataset).__name__
    if count < 0:
        size = "infinite" if count == INFINITE else "unknown"
        raise errors.FailedPreconditionError(
            None, None, f"Dataset of type {name} has {size} cardinality, which does not support random access.")
    if not 0 <= index < count:
        raise errors.OutOfRangeError(None, None, f"Index out of range [0, {count}):{index}")
    return dataset.skip(index).take(1).get_single_element()
