"""Converting functions, and calling from converted code."""
import functools
import inspect
import linecache
import logging
import os
import sys
import types
import weakref

from penstock._src.autograph.core import ag_ctx
from penstock._src.autograph.core import config
from penstock._src.autograph.impl import conversion
from penstock._src.autograph.impl import user_code
from penstock._src.autograph.operators import py_builtins
from penstock._src.autograph.pyct import errors
from penstock._src.autograph.pyct import sources


class AutoGraphError(Exception):
    """Of the conversion."""


class ConversionError(AutoGraphError):
    """A function cannot be converted."""


class StagingError(AutoGraphError):
    """Converted code failed while it was traced."""


_PACKAGE = __name__.split(".", maxsplit=1)[0]
_HERE = os.path.dirname(sys.modules[_PACKAGE].__file__) + os.sep  # as code objects have it
_warned = set()
_rules, _decided = None, {}  # config.CONVERSION_RULES, and what they say: module -> whether it is excluded


def autograph_artifact(entity):
    """Marks a function as what the conversion has made: it is called as it is."""
    try:
        entity.autograph_info__ = {}
    except AttributeError:
        pass
    return entity


def is_autograph_artifact(entity):
    """Whether the conversion has made a function."""
    return hasattr(entity, "autograph_info__")


def do_not_convert(func=None):
    """Decorator: what the function does is not converted, nor what it calls."""
    if func is None:
        return do_not_convert

    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        with ag_ctx.ControlStatusCtx(status=ag_ctx.Status.DISABLED):
            return func(*args, **kwargs)

    return autograph_artifact(wrapper)


do_not_convert_internal = do_not_convert


def _excluded(module):
    """Whether the rules of the conversion exclude a module."""
    global _rules, _decided
    if config.CONVERSION_RULES is not _rules:  # a program has set others
        _rules, _decided = config.CONVERSION_RULES, {}
    found = _decided.get(module)
    if found is None:
        named = types.SimpleNamespace(__name__=module)
        said = next((a for a in (rule.get_action(named) for rule in _rules) if a is not config.Action.NONE), None)
        found = _decided[module] = said is config.Action.DO_NOT_CONVERT
    return found


def _left_alone(function):
    """Whether a function is called as it is."""
    module = getattr(function, "__module__", None) or ""
    code = getattr(function, "__code__", None)
    if code is None or code.co_filename.startswith(_HERE):
        return True
    if code.co_filename.startswith("<") and not linecache.getlines(code.co_filename):  # a doctest's lines are known
        return True
    return module != "__main__" and _excluded(module)


# Converted twins by their functions; not attributes of these, which decorators would copy.
_twins = weakref.WeakKeyDictionary()


def converted(function):
    """The converted twin of a function or method; the function itself if there is none."""
    # A proxy (a decorator of the package wrapt) claims to be what it wraps: it is called as it is, not that.
    if is_autograph_artifact(function) or type(function) not in (types.FunctionType, types.MethodType):
        return function
    plain = function.__func__ if isinstance(function, types.MethodType) else function
    if type(plain) is not types.FunctionType or _left_alone(plain):
        return function
    known = _twins.get(plain)
    if known is None:
        try:
            known = autograph_artifact(conversion.convert_function(plain))
        except (conversion.UnsupportedError, errors.PyCTError) as e:
            _warn(plain, e)
            return function
        if plain.__closure__ is None:
            _twins[plain] = known
    return types.MethodType(known, function.__self__) if isinstance(function, types.MethodType) else known


def _warn(function, reason):
    if isinstance(reason, conversion.UnsupportedError) or function.__code__ in _warned:
        return
    _warned.add(function.__code__)
    logging.getLogger("tensorflow").warning(
        "AutoGraph could not transform %s and will run it as-is.\nCause: %s\nTo silence this warning, decorate the "
        "function with @tf.autograph.experimental.do_not_convert", function, reason)


def converted_call(function, args, kwargs=None):
    """Calls a function from converted code: its converted twin, or what stands for a built-in function."""
    kwargs = kwargs or {}
    if is_autograph_artifact(function) if not isinstance(function, type) else False:
        return function(*args, **kwargs)
    if inspect.isbuiltin(function) or isinstance(function, type):
        return py_builtins.overload_of(function)(*args, **kwargs)
    if ag_ctx.control_status_ctx().status == ag_ctx.Status.DISABLED:
        return function(*args, **kwargs)
    if isinstance(function, functools.partial):
        return converted_call(function.func, (*function.args, *args), {**function.keywords, **kwargs})
    if isinstance(function, (types.FunctionType, types.MethodType)):
        return converted(function)(*args, **kwargs)
    call = getattr(type(function), "__call__", None)
    if isinstance(call, types.FunctionType) and not _left_alone(call):
        return converted(types.MethodType(call, function))(*args, **kwargs)
    return function(*args, **kwargs)


def call_as_asked(function, args, kwargs):
    """Calls a function; its converted twin if calls are converted here."""
    if ag_ctx.control_status_ctx().status == ag_ctx.Status.ENABLED:
        return converted_call(function, args, kwargs)
    return function(*args, **kwargs)


def traced(function, options=None):
    """A function that a tf.function traces: runs the converted twin, and converts what that calls."""
    def call(*args, **kwargs):
        with ag_ctx.ControlStatusCtx(status=ag_ctx.Status.ENABLED, options=options), user_code.described():
            return converted_call(function, args, kwargs)

    return call


def convert(recursive=False, optional_features=None, user_requested=True, conversion_ctx=ag_ctx.NullCtx()):
    """Decorator that converts a function when it is called."""
    def decorator(function):
        def wrapper(*args, **kwargs):
            with conversion_ctx, user_code.described():
                return converted_call(function, args, kwargs)

        if inspect.isfunction(function) or inspect.ismethod(function):
            wrapper = functools.update_wrapper(wrapper, function)
        return autograph_artifact(wrapper)

    return decorator


def tf_convert(f, ctx, convert_by_default=True, user_requested=False):
    """`f` converted if the context asks for it."""
    if is_autograph_artifact(f):
        return f
    if ctx.status == ag_ctx.Status.ENABLED or ctx.status == ag_ctx.Status.UNSPECIFIED and convert_by_default:
        return convert(recursive=True, user_requested=user_requested)(f)
    if ctx.status == ag_ctx.Status.DISABLED:
        return do_not_convert(f)
    return call_with_unspecified_conversion_status(f)


def call_with_unspecified_conversion_status(func):
    """Decorator: what is called within decides anew whether it is converted."""
    @functools.wraps(func)
    def wrapper(*args, **kwargs):
        with ag_ctx.ControlStatusCtx(status=ag_ctx.Status.UNSPECIFIED):
            return func(*args, **kwargs)

    return autograph_artifact(wrapper)


def to_graph(entity, recursive=True, experimental_optional_features=None):
    """The converted twin of a function, with the first parameter of a method. ConversionError if there is none.

    recursive: also converts what the twin calls, wherever it is called.
    """
    if isinstance(entity, type):
        raise NotImplementedError("classes are not converted")
    if hasattr(entity, "python_function"):
        entity = entity.python_function
    plain = entity.__func__ if isinstance(entity, types.MethodType) else entity
    if not isinstance(plain, types.FunctionType):
        raise ConversionError(f"{entity} is no Python function")
    try:
        twin = conversion.convert_function(plain)
    except (conversion.UnsupportedError, errors.PyCTError) as e:
        raise ConversionError(f"converting {entity}: {e}") from e
    twin.__name__ = "tf__" + plain.__name__
    status = ag_ctx.Status.ENABLED if recursive else ag_ctx.Status.DISABLED

    @functools.wraps(twin)
    def made(*args, **kwargs):
        with ag_ctx.ControlStatusCtx(status=status):
            return twin(*args, **kwargs)

    return autograph_artifact(made)


def to_graph_v1(entity, recursive=True, arg_values=None, arg_types=None, experimental_optional_features=None):
    """to_graph; values and types of arguments change nothing."""
    return to_graph(entity, recursive, experimental_optional_features)


def to_code_v1(entity, recursive=True, arg_values=None, arg_types=None, indentation="  ",
               experimental_optional_features=None):
    """to_code; values and types of arguments, and the indentation, change nothing."""
    return to_code(entity, recursive, experimental_optional_features)


def to_code(entity, recursive=True, experimental_optional_features=None):
    """The converted twin as text."""
    import ast
    if hasattr(entity, "python_function"):
        entity = entity.python_function
    plain = entity.__func__ if isinstance(entity, types.MethodType) else entity
    try:
        tree = sources.tree_of(plain)
        name = "lambda_" if isinstance(tree, ast.Lambda) else "tf__" + tree.name
        made = conversion.convert_tree(tree, name, plain.__qualname__)
    except (conversion.UnsupportedError, errors.PyCTError) as e:
        raise ConversionError(f"converting {entity}: {e}") from e
    made.name = name
    return ast.unparse(ast.fix_missing_locations(made))
