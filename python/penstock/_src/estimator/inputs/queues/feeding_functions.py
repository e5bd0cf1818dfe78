"""Queues that threads fill with rows of arrays, data frames, or what a generator gives."""
import collections
import random
import sys
import types

import numpy as np

from penstock._src.estimator.inputs.queues.feeding_queue_runner import _FeedingQueueRunner
from penstock._src.graph import dtypes
from penstock._src.graph import errors
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.ops.queues import data_flow_ops
from penstock._src.core_ops import math_ops
from penstock._src.base import tf_logging as logging
from penstock._src.summary import summary
from penstock._src.training import queue_runner


def is_data_frame(data):
    """Whether it is a pandas.DataFrame. There is none before pandas was imported."""
    pandas = sys.modules.get("pandas")
    return pandas is not None and isinstance(data, pandas.DataFrame)


def _get_integer_indices_for_next_batch(batch_indices_start, batch_size, epoch_end, array_length, current_epoch,
                                        total_epochs):
    """Rows of the next batch, shorter if the epochs end, and how many epochs have ended with it."""
    if total_epochs is not None and current_epoch >= total_epochs:
        raise errors.OutOfRangeError(None, None, "Already emitted %s epochs." % current_epoch)
    rows = [row % array_length for row in range(batch_indices_start, batch_indices_start + batch_size)]
    ends = [i for i, row in enumerate(rows) if row == epoch_end]
    current_epoch += len(ends)
    if total_epochs is None or current_epoch < total_epochs:
        return rows, current_epoch
    last = ends[-(current_epoch - total_epochs + 1)]
    return rows[:last + 1], total_epochs


class _RowFeedFn:
    """Feeds the numbers of rows, and the rows, from a random one on if `random_start`."""

    def __init__(self, placeholders, data, batch_size, random_start=False, seed=None, num_epochs=None):
        columns = self._width(data)
        if len(placeholders) != columns + 1:
            raise ValueError("Expected {} placeholders; got {}.".format(columns + 1, len(placeholders)))
        self._placeholders = placeholders
        self._data = data
        self._max = self._length(data)
        self._batch_size = batch_size
        self._num_epochs = num_epochs
        self._epoch = 0
        random.seed(seed)
        self._trav = random.randrange(self._max) if random_start else 0
        self._epoch_end = (self._trav - 1) % self._max

    def __call__(self):
        rows, self._epoch = _get_integer_indices_for_next_batch(
            batch_indices_start=self._trav, batch_size=self._batch_size, epoch_end=self._epoch_end,
            array_length=self._max, current_epoch=self._epoch, total_epochs=self._num_epochs)
        self._trav = (rows[-1] + 1) % self._max
        return dict(zip(self._placeholders, self._values(rows)))


class _ArrayFeedFn(_RowFeedFn):
    """Rows of an array."""

    @staticmethod
    def _width(data):
        return 1

    @staticmethod
    def _length(data):
        return len(data)

    def _values(self, rows):
        return [rows, self._data[rows]]


class _OrderedDictNumpyFeedFn(_RowFeedFn):
    """Rows of several arrays."""

    @staticmethod
    def _width(data):
        return len(data)

    @staticmethod
    def _length(data):
        lengths = {len(column) for column in data.values()}
        if len(lengths) != 1:
            raise ValueError("Array lengths must match.")
        return lengths.pop()

    def _values(self, rows):
        return [rows] + [column[rows] for column in self._data.values()]


class _PandasFeedFn(_RowFeedFn):
    """Rows of a data frame, with its index."""

    @staticmethod
    def _width(data):
        return len(data.columns)

    @staticmethod
    def _length(data):
        return len(data)

    def _values(self, rows):
        part = self._data.iloc[rows]
        return [part.index.values] + [part[column].values for column in part.columns]


class _GeneratorFeedFn:
    """What a generator of dicts gives, `pad_value` behind shorter ones."""

    def __init__(self, placeholders, generator, batch_size, random_start=False, seed=None, num_epochs=None,
                 pad_value=None):
        first = next(generator())
        if len(placeholders) != len(first):
            raise ValueError("Expected {} placeholders; got {}.".format(len(first), len(placeholders)))
        self._keys = sorted(first)
        self._col_placeholders = placeholders
        self._generator_function = generator
        self._iterator = generator()
        self._batch_size = batch_size
        self._num_epochs = num_epochs
        self._epoch = 0
        self._pad_value = pad_value
        random.seed(seed)

    def __call__(self):
        if self._num_epochs and self._epoch >= self._num_epochs:
            raise errors.OutOfRangeError(None, None, "Already emitted %s epochs." % self._epoch)
        columns, size = {}, 0
        # Each value counts, not each row.
        while size < self._batch_size:
            row = self._next_row()
            for placeholder, key in zip(self._col_placeholders, self._keys):
                if key not in row:
                    raise KeyError("key mismatch between dicts emitted by GenFun Expected {} keys; got {}".format(
                        self._keys, row.keys()))
                columns.setdefault(placeholder, []).append(row[key])
                size += 1
        if self._pad_value is None:
            return {placeholder: np.asarray(items) for placeholder, items in columns.items()}
        return {placeholder: np.asarray(_pad_if_needed(items, self._pad_value))
                for placeholder, items in columns.items()}

    def _next_row(self):
        try:
            return next(self._iterator)
        except StopIteration:
            self._epoch += 1
            self._iterator = self._generator_function()
            return next(self._iterator)


def _pad_if_needed(batch_key_item, fillvalue=0):
    """Arrays that differ in their last dimension as one array."""
    shapes = [item.shape[:-1] if item.ndim > 0 else -1 for item in batch_key_item]
    if any(shape != shapes[0] for shape in shapes):
        raise ValueError("Array shapes must match.")
    lengths = [item.shape[-1] if item.ndim > 0 else 0 for item in batch_key_item]
    if len(set(lengths)) == 1:
        return batch_key_item
    result = np.full([len(batch_key_item)] + list(shapes[0]) + [max(lengths)], fillvalue, batch_key_item[0].dtype)
    for to, item in zip(result, batch_key_item):
        to[..., :item.shape[-1]] = item
    return result


def _columns(data):
    """Types and shapes of what the queue holds, and the class that feeds it."""
    if isinstance(data, np.ndarray):
        return [dtypes.int64, dtypes.as_dtype(data.dtype)], [(), data.shape[1:]], _ArrayFeedFn
    if isinstance(data, collections.OrderedDict):
        return ([dtypes.int64] + [dtypes.as_dtype(column.dtype) for column in data.values()],
                [()] + [column.shape[1:] for column in data.values()], _OrderedDictNumpyFeedFn)
    if isinstance(data, types.FunctionType):
        first = next(data())
        values = [first[key] for key in sorted(first)]
        return [dtypes.as_dtype(value.dtype) for value in values], [value.shape for value in values], _GeneratorFeedFn
    if is_data_frame(data):
        kinds = [dtypes.as_dtype(dtype) for dtype in [data.index.dtype] + list(data.dtypes)]
        return kinds, [() for _ in kinds], _PandasFeedFn
    raise TypeError("data must be either a numpy array or pandas DataFrame if pandas is installed; got {}".format(
        type(data).__name__))


def _warn_of_threads(num_threads, num_epochs, shuffle):
    if num_threads > 1 and num_epochs is not None:
        logging.warning("enqueue_data was called with num_epochs and num_threads > 1. num_epochs is applied per "
                        "thread, so this will produce more epochs than you probably intend. If you want to limit "
                        "epochs, use one thread.")
    if num_threads > 1 and not shuffle:
        logging.warning("enqueue_data was called with shuffle=False and num_threads > 1. This will create multiple "
                        "threads, all reading the array/dataframe in order. If you want examples read in order, use "
                        "one thread; if you want multiple threads, enable shuffling.")


def _enqueue_data(data, capacity, shuffle=False, min_after_dequeue=None, num_threads=1, seed=None,
                  name="enqueue_input", enqueue_size=1, num_epochs=None, pad_value=None):
    """A queue of rows, and threads that fill it with `enqueue_size` rows at a time."""
    with ops.name_scope(name):
        kinds, shapes, feed_class = _columns(data)
        padded = {}
        if pad_value is not None:
            if feed_class is not _GeneratorFeedFn:
                raise NotImplementedError("padding is only available with generator usage")
            if shuffle:
                raise NotImplementedError("padding and shuffling data at the same time is not implemented")
            padded = dict(pad_value=pad_value)
        _warn_of_threads(num_threads, num_epochs, shuffle)
        if shuffle:
            min_after_dequeue = int(capacity / 4 if min_after_dequeue is None else min_after_dequeue)
            queue = data_flow_ops.RandomShuffleQueue(capacity, min_after_dequeue, dtypes=kinds, shapes=shapes,
                                                     seed=seed)
        else:
            min_after_dequeue = 0
            if padded:
                shapes = [tuple(shape[:-1]) + (None,) if len(shape) > 0 else shape for shape in shapes]
                queue = data_flow_ops.PaddingFIFOQueue(capacity, dtypes=kinds, shapes=shapes)
            else:
                queue = data_flow_ops.FIFOQueue(capacity, dtypes=kinds, shapes=shapes)
        enqueue_ops, feed_fns = [], []
        for i in range(num_threads):
            placeholders = [array_ops.placeholder(kind) for kind in kinds]
            enqueue_ops.append(queue.enqueue_many(placeholders))
            feed_fns.append(feed_class(placeholders, data, enqueue_size, random_start=shuffle,
                                       seed=None if seed is None else (i + 1) * seed, num_epochs=num_epochs, **padded))
        queue_runner.add_queue_runner(_FeedingQueueRunner(queue=queue, enqueue_ops=enqueue_ops, feed_fns=feed_fns))
        room = capacity - min_after_dequeue
        full = math_ops.cast(gen.maximum(0, queue.size() - min_after_dequeue), dtypes.float32) * (1. / room)
        summary.scalar("queue/%sfraction_over_%d_of_%d_full" % (queue.name, min_after_dequeue, room), full)
        return queue
