"""Ending the calls of functions early."""
import threading

from penstock import _core


class CancellationManager:
    """Cancels the calls that it was given to."""

    def __init__(self):
        self._impl = _core.CancellationManager()

    @property
    def is_cancelled(self):
        """Whether start_cancel was called."""
        return self._impl.is_cancelled

    def start_cancel(self):
        """Cancels calls that run, and those that begin later."""
        self._impl.cancel()

    def get_cancelable_function(self, concrete_function):
        """A ConcreteFunction whose calls this can cancel: they raise CancelledError."""
        def cancellable(*args, **kwargs):
            with _Scope(self._impl):
                return concrete_function(*args, **kwargs)

        return cancellable


class _Current(threading.local):
    manager = None


_current = _Current()


class _Scope:
    def __init__(self, manager):
        self._manager = manager

    def __enter__(self):
        self._before, _current.manager = _current.manager, self._manager

    def __exit__(self, *exc):
        _current.manager = self._before


def current():
    """The runtime's manager of the calls that begin now on this thread, or None."""
    return _current.manager
