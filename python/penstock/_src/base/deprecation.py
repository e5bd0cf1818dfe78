"""Marks of deprecation. What is deprecated works as before; its docs say so, and the first call warns through
tf.logging."""
import contextlib
import functools
import re
import sys

from penstock._src.base import tf_logging as logging
from penstock._src.base import decorator_utils
from penstock._src.base import tf_decorator
from penstock._src.base import tf_inspect

_PRINT_DEPRECATION_WARNINGS = True
_PRINTED_WARNING = {}


class DeprecatedNamesAlreadySet(Exception):
    """Deprecated names were set twice."""


DeprecatedNamesAlreadySetError = DeprecatedNamesAlreadySet  # as version 2 calls it


@contextlib.contextmanager
def silence():
    """Context manager under which nothing warns."""
    global _PRINT_DEPRECATION_WARNINGS
    before, _PRINT_DEPRECATION_WARNINGS = _PRINT_DEPRECATION_WARNINGS, False
    try:
        yield
    finally:
        _PRINT_DEPRECATION_WARNINGS = before


def _when(date):
    return "in a future version" if date is None else f"after {date}"


def _check(date, instructions):
    if date is not None and not re.match(r"20\d\d-[01]\d-[0123]\d", date):
        raise ValueError("Date must be YYYY-MM-DD.")
    if not instructions:
        raise ValueError("Don't deprecate things without conversion instructions!")


def _warn(key, warn_once, message, *arguments):
    """Warns of a call of the function that called this one."""
    if not _PRINT_DEPRECATION_WARNINGS or key in _PRINTED_WARNING:
        return
    if warn_once:
        _PRINTED_WARNING[key] = True
    caller = sys._getframe(2)
    logging.warning(message, f"{caller.f_code.co_filename}:{caller.f_lineno}", *arguments)


def _documented(doc, instructions, what, suffix, notice):
    lines = [notice] + (["Instructions for updating:"] if instructions else [])
    return decorator_utils.add_notice_to_docstring(doc, instructions, what, suffix, lines)


def _of_function(doc, date, instructions):
    return _documented(doc, instructions, "DEPRECATED FUNCTION", "(deprecated)",
                       f"THIS FUNCTION IS DEPRECATED. It will be removed {_when(date)}.")


def deprecated(date, instructions, warn_once=True):
    """Decorator of a function, or of a class, that will be removed after `date` (in ISO 8601; None: some day).

    instructions: what to do instead. ValueError: a bad date, no instructions.
    """
    _check(date, instructions)

    def decorate(func):
        if isinstance(func, type):  # it warns when one is made
            constructor = "__init__" if func.__new__ is object.__new__ else "__new__"
            made = decorate(getattr(func, constructor))
            setattr(func, constructor, made)
            func.__doc__ = made.__doc__
            return func
        decorator_utils.validate_callable(func, "deprecated")

        @functools.wraps(func)
        def new_func(*args, **kwargs):
            _warn(func, warn_once, "From %s: %s (from %s) is deprecated and will be removed %s.\nInstructions for "
                  "updating:\n%s", decorator_utils.get_qualified_name(func), func.__module__, _when(date), instructions)
            return func(*args, **kwargs)
        return tf_decorator.make_decorator(func, new_func, "deprecated", _of_function(func.__doc__, date, instructions))
    return decorate


def _warn_of_argument(func, name, shown, date, instructions, warn_once):
    if not _PRINT_DEPRECATION_WARNINGS or (func, name) in _PRINTED_WARNING:
        return
    if warn_once:
        _PRINTED_WARNING[func, name] = True
    caller = sys._getframe(2)
    logging.warning("From %s: calling %s (from %s) with %s is deprecated and will be removed %s.\nInstructions for "
                    "updating:\n%s", f"{caller.f_code.co_filename}:{caller.f_lineno}",
                    decorator_utils.get_qualified_name(func), func.__module__, shown, _when(date), instructions)


def _same_value(a, b):
    try:
        return a is b or a is not None and b is not None and (a == b) is True
    except (TypeError, ValueError):
        return False


def deprecated_args(date, instructions, *deprecated_arg_names_or_tuples, **kwargs):
    """Decorator of a function some of whose arguments will be removed: their names, or (name, value that does not
    warn). ValueError: a bad date, no instructions, an argument that the function does not have."""
    _check(date, instructions)
    if not deprecated_arg_names_or_tuples:
        raise ValueError("Specify which argument is deprecated.")
    warn_once = kwargs.pop("warn_once", True)
    if kwargs:
        raise ValueError(f"Illegal argument to deprecated_args: {kwargs}")
    accepted = {x[0]: x[1:] if isinstance(x, tuple) else () for x in map(_as_tuple, deprecated_arg_names_or_tuples)}

    def decorate(func):
        decorator_utils.validate_callable(func, "deprecated_args")
        spec = tf_inspect.getfullargspec(func)
        known = [*spec.args, *spec.kwonlyargs, *filter(None, (spec.varargs, spec.varkw))]
        missing = [name for name in accepted if name not in known]
        if missing:
            raise ValueError("The following deprecated arguments are not present in the function signature: "
                             f"{missing}. Found next arguments: {known}.")

        def given(args, kwargs):
            """The deprecated arguments of a call."""
            values = tf_inspect.signature(func).bind(*args, **kwargs)
            values.apply_defaults()
            for name, fine in accepted.items():
                if name == spec.varargs:
                    used = len(args) > len(spec.args)
                elif name == spec.varkw:
                    used = bool(kwargs)
                else:
                    used = name in kwargs or name in spec.args[:len(args)]
                    used = used and not (fine and _same_value(values.arguments[name], fine[0]))
                if used:
                    yield name

        @functools.wraps(func)
        def new_func(*args, **kwargs):
            if _PRINT_DEPRECATION_WARNINGS:
                for name in given(args, kwargs):
                    _warn_of_argument(func, name, name, date, instructions, warn_once)
            return func(*args, **kwargs)

        doc = _documented(func.__doc__, instructions, "DEPRECATED FUNCTION ARGUMENTS", "(deprecated arguments)",
                          f"SOME ARGUMENTS ARE DEPRECATED: `({', '.join(sorted(accepted))})`. They will be removed "
                          f"{_when(date)}.")
        return tf_decorator.make_decorator(func, new_func, "deprecated", doc)
    return decorate


def _as_tuple(name):
    return name if isinstance(name, tuple) else (name,)


def deprecated_arg_values(date, instructions, warn_once=True, **deprecated_kwargs):
    """Decorator of a function some values of whose arguments will not be taken any more."""
    _check(date, instructions)
    if not deprecated_kwargs:
        raise ValueError("Specify which argument values are deprecated.")

    def decorate(func):
        decorator_utils.validate_callable(func, "deprecated_arg_values")

        @functools.wraps(func)
        def new_func(*args, **kwargs):
            if _PRINT_DEPRECATION_WARNINGS:
                values = tf_inspect.getcallargs(func, *args, **kwargs)
                for name, value in deprecated_kwargs.items():
                    if name in values and _same_value(values[name], value):
                        _warn_of_argument(func, name, f"{name}={value}", date, instructions, warn_once)
            return func(*args, **kwargs)

        shown = ", ".join(f"{name}={value!r}" for name, value in sorted(deprecated_kwargs.items()))
        doc = _documented(func.__doc__, instructions, "DEPRECATED FUNCTION ARGUMENT VALUES",
                          "(deprecated argument values)",
                          f"SOME ARGUMENT VALUES ARE DEPRECATED: `({shown})`. They will be removed {_when(date)}.")
        return tf_decorator.make_decorator(func, new_func, "deprecated", doc)
    return decorate


def deprecated_endpoints(*names):
    """Decorator that notes which of a function's public names are deprecated."""
    def decorate(func):
        if "_tf_deprecated_api_names" in func.__dict__:
            raise DeprecatedNamesAlreadySet(f"Cannot set deprecated names for {func.__name__} to {names}. Deprecated "
                                            f"names are already set to {func._tf_deprecated_api_names}.")
        func._tf_deprecated_api_names = names
        return func
    return decorate


def deprecated_alias(deprecated_name, name, func_or_class, warn_once=True):
    """The function or class under its old name; calls and instances of the alias warn."""
    message = "From %s: The name %s is deprecated. Please use %s instead.\n"
    if tf_inspect.isclass(func_or_class):
        class _Alias(func_or_class):
            __doc__ = decorator_utils.add_notice_to_docstring(
                func_or_class.__doc__, f"Please use {name} instead.", "DEPRECATED CLASS", "(deprecated)",
                ["THIS CLASS IS DEPRECATED. It will be removed in a future version. "])
            __name__ = func_or_class.__name__

            def __init__(self, *args, **kwargs):
                _warn(_Alias, warn_once, message, deprecated_name, name)
                super().__init__(*args, **kwargs)

        tf_decorator.make_decorator(func_or_class.__init__, _Alias.__init__, "deprecated")
        return _Alias
    decorator_utils.validate_callable(func_or_class, "deprecated")

    @functools.wraps(func_or_class)
    def new_func(*args, **kwargs):
        _warn(new_func, warn_once, message, deprecated_name, name)
        return func_or_class(*args, **kwargs)
    return tf_decorator.make_decorator(func_or_class, new_func, "deprecated",
                                       _of_function(func_or_class.__doc__, None, f"Please use {name} instead."))


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
