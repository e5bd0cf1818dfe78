"""Input functions of pandas data frames."""
import uuid

import numpy as np

from penstock._src.estimator.inputs import numpy_io
from penstock._src.estimator.inputs.queues import feeding_functions


def _join(x, y, target_column):
    """The frame with the targets in it, and the names of these: one, or pairs (name of the target, of the column)."""
    if y is None:
        return x.copy(), None
    if target_column in x:
        raise ValueError("Cannot use name %s for target column: DataFrame already has a column with that name: %s" %
                         (target_column, x.columns))
    if not np.array_equal(x.index, y.index):
        raise ValueError("Index for x and y are mismatched.\nIndex for x: %s\nIndex for y: %s\n" % (x.index, y.index))
    x = x.copy()
    if not feeding_functions.is_data_frame(y):
        x[target_column] = y
        return x, target_column
    names = [(name, name + "_" + str(uuid.uuid4()) if name in x else name) for name in y]
    x[[column for _, column in names]] = y
    return x, names


def pandas_input_fn(x, y=None, batch_size=128, num_epochs=1, shuffle=None, queue_capacity=1000, num_threads=1,
                    target_column="target"):
    """An input function of rows of a data frame; features have the names of its columns.

    y: None, a Series (`target_column` is what it must not be called) or a data frame.
    """
    numpy_io.check_shuffle(shuffle)
    if not isinstance(target_column, str):
        raise TypeError("target_column must be a string type")
    data, targets = _join(x, y, target_column)
    if queue_capacity is None:
        queue_capacity = 4 * len(data) if shuffle else len(data)
    min_after_dequeue = max(queue_capacity / 4, 1)

    def input_fn():
        queue = feeding_functions._enqueue_data(
            data, queue_capacity, shuffle=shuffle, min_after_dequeue=min_after_dequeue, num_threads=num_threads,
            enqueue_size=batch_size, num_epochs=num_epochs)
        features = dict(zip(data.columns, numpy_io.dequeue(queue, batch_size, num_epochs)))
        if targets is None:
            return features
        if isinstance(targets, str):
            target = features.pop(targets)
            return features, target
        return features, {name: features.pop(column) for name, column in targets}

    return input_fn
