"""Counters, gauges and histograms of a process, by name and labels."""
import bisect
import sys
import threading
import weakref
from typing import Any

from penstock._src.graph import errors
from penstock._src.base import locks

_metrics: weakref.WeakValueDictionary = weakref.WeakValueDictionary()  # name -> Metric
_lock = locks.lock()


class _Cell:
    _START: Any

    def __init__(self):
        self._lock = threading.Lock()
        self._value = self._START


class CounterCell(_Cell):
    """A number that grows."""

    _START = 0

    def increase_by(self, value):
        """Adds to it."""
        with self._lock:
            self._value += value

    def value(self):
        """The sum."""
        return self._value


class _GaugeCell(_Cell):
    def set(self, value):
        """Sets the value."""
        self._value = value

    def value(self):
        """What was set last."""
        return self._value


class IntGaugeCell(_GaugeCell):
    """A number that is set."""

    _START = 0


class StringGaugeCell(_GaugeCell):
    """A text that is set."""

    _START = ""


class BoolGaugeCell(_GaugeCell):
    """A truth value that is set."""

    _START = False


class SamplerCell:
    """A histogram of numbers."""

    def __init__(self, limits):
        self._lock = threading.Lock()
        self._limits, self._counts = limits, [0] * len(limits)
        self._min = self._max = self._sum = self._sum_squares = 0.0

    def add(self, value):
        """Counts a number in."""
        with self._lock:
            empty = not any(self._counts)
            self._min = value if empty else min(self._min, value)
            self._max = value if empty else max(self._max, value)
            self._sum += value
            self._sum_squares += value * value
            self._counts[min(bisect.bisect_right(self._limits, value), len(self._counts) - 1)] += 1

    def value(self):
        """A HistogramProto."""
        from penstock import proto
        with self._lock:
            return proto.message("tensorflow.HistogramProto")(
                min=self._min, max=self._max, num=sum(self._counts), sum=self._sum, sum_squares=self._sum_squares,
                bucket_limit=self._limits, bucket=self._counts)


class Metric:
    """A named metric with a cell for each combination of labels' values. AlreadyExistsError: the name is taken."""

    def __init__(self, name, description, *labels, cell):
        self._name, self._labels, self._cell, self._cells = name, labels, cell, {}
        self.description = description
        with _lock:
            if name in _metrics:
                raise errors.AlreadyExistsError(None, None, "Another metric with the same name already exists.")
            _metrics[name] = self

    def get_cell(self, *labels):
        """The cell for these values of the labels. ValueError if there are more or fewer labels."""
        if len(labels) != len(self._labels):
            raise ValueError(f"The {len(self._labels)} labels of {self._name} cannot have the values {labels}")
        with _lock:
            if labels not in self._cells:
                self._cells[labels] = self._cell()
            return self._cells[labels]


class Counter(Metric):
    """Numbers that grow."""

    def __init__(self, name, description, *labels):
        super().__init__(name, description, *labels, cell=CounterCell)


class IntGauge(Metric):
    """Numbers that are set."""

    def __init__(self, name, description, *labels):
        super().__init__(name, description, *labels, cell=IntGaugeCell)


class StringGauge(Metric):
    """Texts that are set."""

    def __init__(self, name, description, *labels):
        super().__init__(name, description, *labels, cell=StringGaugeCell)


class BoolGauge(Metric):
    """Truth values that are set."""

    def __init__(self, name, description, *labels):
        super().__init__(name, description, *labels, cell=BoolGaugeCell)


class Buckets:
    """The upper limits of a histogram's buckets; the last one has none."""

    def __init__(self, limits):
        self.limits = [*limits, sys.float_info.max]


class ExponentialBuckets(Buckets):
    """Buckets up to scale, scale * growth_factor, ..., as many as `bucket_count`, and one for what is larger."""

    def __init__(self, scale, growth_factor, bucket_count):
        super().__init__([scale * growth_factor ** i for i in range(bucket_count)])


class Sampler(Metric):
    """Histograms."""

    def __init__(self, name, buckets, description, *labels):
        super().__init__(name, description, *labels, cell=lambda: SamplerCell(buckets.limits))
