"""Marks of deprecation. A deprecated function works as before and warns once, through tf.logging."""
import functools

_warned = set()
_SILENT = False


class silence:  # noqa: N801
    """Context manager under which nothing warns."""

    def __enter__(self):
        global _SILENT
        self._before, _SILENT = _SILENT, True

    def __exit__(self, *exc):
        global _SILENT
        _SILENT = self._before
        return False


def _warn(key, date, instructions):
    if _SILENT or key in _warned:
        return
    _warned.add(key)
    from penstock.platform import tf_logging
    when = "in a future version" if date is None else f"after {date}"
    tf_logging.warning("From %s: is deprecated and will be removed %s. %s", key, when, instructions)


def deprecated(date, instructions, warn_once=True):
    """Decorator of a deprecated function."""
    def decorate(function):
        @functools.wraps(function)
        def wrapper(*args, **kwargs):
            _warn(function.__qualname__, date, instructions)
            return function(*args, **kwargs)
        return wrapper
    return decorate


def deprecated_args(date, instructions, *names, **kwargs):
    """Decorator of a function some of whose arguments are deprecated."""
    return lambda function: function


def deprecated_arg_values(date, instructions, warn_once=True, **values):
    """Decorator of a function some values of whose arguments are deprecated."""
    return lambda function: function


def deprecated_endpoints(*names):
    """Decorator of a function some of whose names are deprecated."""
    return lambda function: function


def deprecated_alias(deprecated_name, name, func_or_class, warn_once=True):
    """The function or class under its old name."""
    return func_or_class


def deprecated_argument_lookup(new_name, new_value, old_name, old_value):
    """The value given under either name. ValueError if it was given under both."""
    if old_value is not None:
        if new_value is not None:
            raise ValueError(f"Cannot specify both '{old_name}' and '{new_name}'")
        return old_value
    return new_value


def rewrite_argument_docstring(old_doc, old_argument, new_argument):
    """A docstring with an argument renamed."""
    return old_doc.replace(f"`{old_argument}`", f"`{new_argument}`").replace(f"{old_argument}:", f"{new_argument}:")
