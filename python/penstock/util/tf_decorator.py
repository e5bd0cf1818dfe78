"""Decorators that keep what they decorate reachable."""
import functools


def make_decorator(target, decorator_func, decorator_name=None, decorator_doc="", decorator_argspec=None):
    """`decorator_func` with the name, docs and signature of `target`."""
    return functools.wraps(target)(decorator_func)


def unwrap(maybe_tf_decorator):
    """(the decorators, the function below them)."""
    decorators = []
    while hasattr(maybe_tf_decorator, "__wrapped__"):
        decorators.append(maybe_tf_decorator)
        maybe_tf_decorator = maybe_tf_decorator.__wrapped__
    return decorators, maybe_tf_decorator
