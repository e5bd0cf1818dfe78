"""Functions that take arguments by name only."""
import functools

from penstock._src.base import decorator_utils


def keyword_args_only(func):
    """Decorator: ValueError if the function is called with positional arguments."""
    decorator_utils.validate_callable(func, "keyword_args_only")

    @functools.wraps(func)
    def new_func(*args, **kwargs):
        if args:
            raise ValueError(f"Must use keyword args to call {func.__name__}.")
        return func(**kwargs)
    return new_func
