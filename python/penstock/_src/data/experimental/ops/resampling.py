"""Elements left out so that classes come as often as wanted."""
import numpy as np

from penstock._src.data.ops.dataset_ops import DatasetV1, DatasetV1Adapter, DatasetV2
from penstock._src.graph import dtypes, gen, ops, tensor_util
from penstock._src.base import tf2
from penstock._src.base.mode import mode
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.ops.lookup import logging_ops
from penstock._src.ops.random import random_ops
from penstock._src.control_flow import cond as cond_lib


def rejection_resample(class_func, target_dist, initial_dist=None, seed=None):
    """For Dataset.apply: (class, element), with elements left out so that the classes come as often as `target_dist`
    says. `class_func` tells an element's class; `initial_dist` how often they come, which is estimated if left out."""
    def apply(dataset):
        target = _distribution(target_dist, "target_dist")
        # Version 1 computes the classes apart from the elements, so `class_func` must not be random.
        classes = None if tf2.enabled() else dataset.map(class_func)
        if initial_dist is not None:
            initial = _distribution(initial_dist, "initial_dist")
            accepted, kept = _acceptance(initial, target)
            initial_ds = DatasetV2.from_tensors(initial).repeat()
            accepted_ds = DatasetV2.from_tensors(accepted).repeat()
            kept_ds = _like(dataset, DatasetV2.from_tensors(kept).repeat())
        else:
            initial_ds = _like(dataset, _estimated(target, classes or dataset.map(class_func)))
            both = initial_ds.map(lambda found: _acceptance(found, target))
            accepted_ds = both.map(lambda accept_prob, _: accept_prob)
            kept_ds = both.map(lambda _, prob_original: prob_original)
        filtered = _filtered(dataset, accepted_ds, initial_ds, classes, class_func, seed).prefetch(3)
        known = None if initial_dist is None else _known_share(initial, target)

        def with_classes():
            if classes is not None:
                return DatasetV2.zip((classes, dataset))
            return dataset.map(lambda *x: (class_func(*x), x if len(x) > 1 else x[0]))

        if known == 1:
            return with_classes()
        if known == 0:
            return filtered
        return DatasetV2.sample_from_datasets(
            [with_classes(), filtered],
            weights=kept_ds.map(lambda prob: [(prob, 1.0 - prob)]), seed=seed,
            stop_on_empty_dataset=mode.tensor_shape_v2)
    return apply


def _distribution(values, name):
    values = ops.convert_to_tensor(values, name=name)
    return math_ops.cast(values, dtypes.float32) if tf2.enabled() else values


def _like(dataset, made):
    """`made` with version 1's methods if `dataset` has them: its maps need not keep the number of elements."""
    return DatasetV1Adapter(made) if isinstance(dataset, DatasetV1) else made


def _known_share(initial, target):
    initial, target = tensor_util.constant_value(initial), tensor_util.constant_value(target)
    return None if initial is None or target is None else np.min(target / initial)


def _filtered(dataset, accepted_ds, initial_ds, classes, class_func, seed):
    """The elements that a random number accepts, with their classes."""
    def maybe_warn_on_large_rejection(accept_dist, initial_dist):
        rejected = math_ops.reduce_sum((1 - accept_dist) * initial_dist)
        return cond_lib.cond(
            gen.less(rejected, .5), lambda: accept_dist,
            lambda: logging_ops.Print(accept_dist, [rejected, initial_dist, accept_dist], first_n=10, summarize=100,
                                      message="Proportion of examples rejected by sampler is high: "))

    accepted_ds = _like(dataset, DatasetV2.zip((accepted_ds, initial_ds))).map(maybe_warn_on_large_rejection)

    def _gather_and_copy(class_val, acceptance_prob, data):
        return class_val, array_ops.gather(acceptance_prob, class_val), data

    def _classify(acceptance_prob, data):
        class_val = class_func(*data) if isinstance(data, tuple) else class_func(data)
        return _gather_and_copy(class_val, acceptance_prob, data)

    if classes is None:
        together = _like(dataset, DatasetV2.zip((accepted_ds, dataset))).map(_classify)
    else:
        together = _like(dataset, DatasetV2.zip((classes, accepted_ds, dataset))).map(_gather_and_copy)
    accepted = _like(dataset, together.filter(lambda _1, p, _2: random_ops.random_uniform([], seed=seed) < p))
    return accepted.map(lambda class_value, _, data: (class_value, data))


def _estimated(target, classes, batch_size=32, smoothing=10):
    """How often each class has come so far, for each element."""
    count = target.shape[0] or array_ops.shape(target)[0]
    seen = array_ops.fill([count], np.int64(smoothing))

    def update_estimate_and_tile(seen, c):
        total = math_ops.add(seen, math_ops.reduce_sum(
            array_ops.one_hot(c, seen.get_shape()[0], dtype=dtypes.int64), 0))
        share = math_ops.cast(math_ops.truediv(total, math_ops.reduce_sum(total)), dtypes.float32)
        return total, gen.tile(array_ops.expand_dims(share, 0), [batch_size, 1])

    return classes.batch(batch_size).scan(seen, update_estimate_and_tile).unbatch()


def _acceptance(initial, target):
    """(how likely an element of each class is accepted, how likely all are): mixing the dataset as it is with one of
    accepted elements leaves out fewer."""
    ratio = target / (initial + np.finfo(initial.dtype.as_numpy_dtype).tiny)
    most, least = math_ops.reduce_max(ratio), math_ops.reduce_min(ratio)
    return (ratio - least) / (most - least), least
