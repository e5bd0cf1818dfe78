"""Which tapes record in this thread."""
import threading


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
