"""The options with which a model is being loaded."""
import contextlib
import threading

_active = threading.local()


@contextlib.contextmanager
def load_context(load_options):
    """Context manager under which `get_load_options` gives these."""
    before, _active.options = get_load_options(), load_options
    try:
        yield
    finally:
        _active.options = before


def get_load_options():
    """The options of the loading that goes on in this thread, or None."""
    return getattr(_active, "options", None)
