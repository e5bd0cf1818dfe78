"""contextmanager, whose functions keep the arguments of what they decorate."""
import contextlib

from penstock._src.base import tf_decorator


def contextmanager(target):
    """contextlib.contextmanager as a TFDecorator."""
    return tf_decorator.make_decorator(target, contextlib.contextmanager(target), "contextmanager")
