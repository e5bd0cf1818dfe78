"""Which tapes record in this thread."""
import threading

from penstock import _core


class _Recording(threading.local):
    def __init__(self):
        self.tapes = []


recording = _Recording()  # .tapes: outermost first


def active_tapes():
    """The tapes that record in this thread, outermost first."""
    return list(recording.tapes)


def variable_accessed(variable):
    """Tells the tapes of this thread that a variable was read; those that watch what is read watch it from now on."""
    if not getattr(variable, "trainable", True):
        return
    for tape in recording.tapes:
        if tape._watch_accessed_variables:
            tape._watch_variable(variable)


class stop_recording:  # noqa: N801
    """Context manager under which no tape of this thread records."""

    def __enter__(self):
        self._tapes, self._core = recording.tapes, _core.tape_stop()
        recording.tapes = []
        for tape in self._tapes:
            tape._symbols.stop()

    def __exit__(self, *exc):
        recording.tapes = self._tapes
        for tape in self._tapes:
            tape._symbols.start()
        _core.tape_resume(self._core)
