"""tensorflow.python.util.dispatch: how libraries ask to be asked before an op is called with values of theirs.

Dispatchers are kept and not asked: types of a program's own go through tf.experimental.dispatch_for_api.
"""

_dispatchers = []


class OpDispatcher:
    """What handles the calls of one function with values of a library."""

    NOT_SUPPORTED = object()

    def handle(self, args, kwargs):
        """The result of the call, or NOT_SUPPORTED."""
        return self.NOT_SUPPORTED

    def register(self, op):
        """Keeps the dispatcher for a function."""
        _dispatchers.append((op, self))


class GlobalOpDispatcher:
    """What handles the calls of any function with values of a library."""

    NOT_SUPPORTED = OpDispatcher.NOT_SUPPORTED

    def handle(self, op, args, kwargs):
        """The result of the call, or NOT_SUPPORTED."""
        return self.NOT_SUPPORTED

    def register(self):
        """Keeps the dispatcher."""
        _dispatchers.append((None, self))


def add_dispatch_support(target=None, iterable_parameters=None):
    """Decorator of a library's own functions: they stay as they are."""
    return target if target is not None else lambda function: function


def dispatch_for_types(op, *types):
    """Decorator of a function for calls of `op` with values of these types: it stays as it is."""
    return lambda function: function
