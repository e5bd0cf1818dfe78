"""Warnings about functions that are traced anew by most of their calls."""
import logging
import weakref

from penstock._src.base import locks

_HISTORY = 10  # calls that are looked back on
_TRACES = 5  # of them that are too many
_WARNINGS = 2  # of one function

_detectors = weakref.WeakKeyDictionary()
_lock = locks.lock()


class _Detector:
    """Of one Python function, however many tf.functions are made of it. calls_of_traces: for each trace that is looked
    back on, the calls from it to the next."""

    def __init__(self):
        self.calls_of_traces = []
        self.calls = self.warnings = 0

    def traced(self, function):
        self.calls += 1
        self.calls_of_traces.append(1)
        while self.calls - self.calls_of_traces[0] > _HISTORY:
            self.calls -= self.calls_of_traces.pop(0)
        if self.warnings < _WARNINGS and len(self.calls_of_traces) >= _TRACES:
            self.warnings += 1
            logging.getLogger("tensorflow").warning(
                "%s out of the last %s calls to %s triggered tf.function retracing. Tracing is expensive and the "
                "excessive number of tracings could be due to (1) creating @tf.function repeatedly in a loop, (2) "
                "passing tensors with different shapes, (3) passing Python objects instead of tensors. For (1), please "
                "define your @tf.function outside of the loop. For (2), @tf.function has reduce_retracing=True option "
                "that can avoid unnecessary retracing. For (3), please refer to "
                "https://www.tensorflow.org/guide/function#controlling_retracing and "
                "https://www.tensorflow.org/api_docs/python/tf/function for  more details.",
                len(self.calls_of_traces), self.calls, function)

    def called(self, times):
        if self.calls_of_traces:
            self.calls_of_traces[-1] += times
            self.calls += times


def _key(function):
    """What functions made again and again by the same line have in common."""
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    function = getattr(function, "__func__", function)
    return getattr(function, "__code__", function)


def note(function, traced, times):
    """Takes note of calls of a Python function: `times` that used a trace, and one that made one if `traced`."""
    key = _key(function)
    with _lock:
        try:
            detector = _detectors.setdefault(key, _Detector())
        except TypeError:  # a callable object that has no hash or cannot be referred to weakly
            return
        detector.called(times)
        if traced:
            detector.traced(function)
