"""Whether calls are converted, for each thread a stack of answers."""
import enum
import threading


class Status(enum.Enum):
    """UNSPECIFIED: nobody has said; ENABLED: calls are converted; DISABLED: they are not."""
    UNSPECIFIED = 0
    ENABLED = 1
    DISABLED = 2


class _Stacks(threading.local):
    def __init__(self):
        self.contexts = [ControlStatusCtx(Status.UNSPECIFIED)]


class ControlStatusCtx:
    """Context manager that answers for what runs under it."""

    def __init__(self, status, options=None):
        self.status = status
        self.options = options

    def __enter__(self):
        _stacks.contexts.append(self)
        return self

    def __exit__(self, *exc):
        assert _stacks.contexts[-1] is self
        _stacks.contexts.pop()

    def __repr__(self):
        return f"{type(self).__name__}[status={self.status}, options={self.options}]"


class NullCtx:
    """Does nothing."""

    def __enter__(self):
        pass

    def __exit__(self, *exc):
        pass


_stacks = _Stacks()


def control_status_ctx():
    """The innermost answer of this thread."""
    return _stacks.contexts[-1]
