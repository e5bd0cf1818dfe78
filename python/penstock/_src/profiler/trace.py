"""tf.profiler.experimental.Trace: names a piece of the program in a recording."""
import functools
import time

from penstock._src.profiler import profiler_v2


def enabled():
    """Whether the process is being recorded."""
    return profiler_v2.running()


class Trace:
    """Context manager: an event of this name in the recording, if there is one:

        with tf.profiler.experimental.Trace("train", step_num=step, _r=1):
            train(batch)
    """

    def __init__(self, name, **kwargs):
        """kwargs: numbers or strings that go with the event."""
        self._name, self._values = name, kwargs
        self._start = time.time_ns() if enabled() else None

    def __enter__(self):
        return self

    def set_metadata(self, **kwargs):
        """Adds numbers or strings to the event."""
        self._values.update(kwargs)

    def __exit__(self, exc_type, exc_value, traceback):
        if self._start is not None:
            profiler_v2.record(self._name, self._values, self._start)


def trace_wrapper(trace_name, **trace_kwargs):
    """Decorator: calls are events, named after the function or `trace_name`."""
    if callable(trace_name):
        return trace_wrapper(getattr(trace_name, "__qualname__", "unknown function"))(trace_name)

    def wrap(function):
        @functools.wraps(function)
        def traced(*args, **kwargs):
            if not enabled():
                return function(*args, **kwargs)
            with Trace(trace_name, **trace_kwargs):
                return function(*args, **kwargs)
        return traced

    return wrap
