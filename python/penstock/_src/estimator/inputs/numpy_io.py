"""Input functions of NumPy arrays."""
import collections

import numpy as np

from penstock._src.estimator.inputs.queues import feeding_functions


def check_shuffle(shuffle):
    """ValueError unless the caller has said whether to shuffle."""
    if not isinstance(shuffle, bool):
        raise ValueError("shuffle must be provided and explicitly set as boolean (it is recommended to set it as True "
                         "for training); got {}".format(shuffle))


def dequeue(queue, batch_size, num_epochs):
    """A batch, without the rows' numbers; the last one may be smaller if there is a last one."""
    if num_epochs is None:
        return queue.dequeue_many(batch_size)[1:]
    return queue.dequeue_up_to(batch_size)[1:]


def _get_unique_target_key(features):
    key = "__target_key__"
    while key in features:
        key += "_n"
    return key


def _validate_and_convert_features(x):
    """The arrays by name, in order."""
    if isinstance(x, dict):
        if not x:
            raise ValueError("x cannot be an empty dict")
        return collections.OrderedDict(sorted(x.items()))
    if isinstance(x, np.ndarray):
        if x.size == 0:
            raise ValueError("x cannot be an empty array")
        return collections.OrderedDict({"__direct_np_input__": x})
    raise TypeError("x must be a dict or array; got {}".format(type(x).__name__))


def _add_targets(data, y):
    """Adds the targets to the arrays; gives their name, or a list of names, or None."""
    if y is None:
        return None
    if not isinstance(y, dict):
        key = _get_unique_target_key(data)
        data[key] = y
        return key
    if not y:
        raise ValueError("y cannot be empty dict, use None instead.")
    both = set(data) & set(y)
    if both:
        raise ValueError("{} duplicate keys are found in both x and y: {}".format(len(both), both))
    data.update(sorted(y.items()))
    return sorted(y)


def numpy_input_fn(x, y=None, batch_size=128, num_epochs=1, shuffle=None, queue_capacity=1000, num_threads=1):
    """An input function of rows of arrays.

    x: An array or a dict of them. y: None, an array or a dict of them. num_epochs: None: for ever.
    """
    check_shuffle(shuffle)

    def input_fn():
        data = _validate_and_convert_features(x)
        feature_keys = list(data)
        targets = _add_targets(data, y)
        if len({column.shape[0] for column in data.values()}) != 1:
            shapes_y = None if y is None else (
                y.shape if isinstance(targets, str) else {key: data[key].shape for key in targets})
            raise ValueError("Length of tensors in x and y is mismatched. All elements in x and y must have the same "
                             "length.\nShapes in x: {}\nShapes in y: {}\n".format(
                                 {key: data[key].shape for key in feature_keys}, shapes_y))
        queue = feeding_functions._enqueue_data(data, queue_capacity, shuffle=shuffle, num_threads=num_threads,
                                                enqueue_size=batch_size, num_epochs=num_epochs)
        batch = dequeue(queue, batch_size, num_epochs)
        features = batch[0] if isinstance(x, np.ndarray) else dict(zip(feature_keys, batch))
        if targets is None:
            return features
        if isinstance(targets, str):
            return features, batch[-1]
        return features, dict(zip(targets, batch[-len(targets):]))

    return input_fn
