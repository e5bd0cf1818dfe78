"""The inspect module, looking through TFDecorators."""
import collections
import functools
import inspect as _inspect
from inspect import (  # noqa: F401
    Parameter, Signature, getdoc, getframeinfo, getmembers, getmodule, getmro, isabstract, iscode, istraceback,
    signature)

from penstock._src.base import tf_decorator

ArgSpec = collections.namedtuple("ArgSpec", ["args", "varargs", "keywords", "defaults"])
FullArgSpec = _inspect.FullArgSpec


def currentframe():
    """The caller's frame."""
    return _inspect.stack()[1][0]


def stack(context=1):
    """The frames from the caller's on."""
    return _inspect.stack(context)[1:]


def _unwrapped(name):
    original = getattr(_inspect, name)

    def look(object):
        return original(tf_decorator.unwrap(object)[1])
    look.__name__ = look.__qualname__ = name
    look.__doc__ = f"inspect.{name} of what lies below the decorators."
    return look


getsource, getsourcefile, getsourcelines = map(_unwrapped, ("getsource", "getsourcefile", "getsourcelines"))
isbuiltin, isclass, isframe, isfunction = map(_unwrapped, ("isbuiltin", "isclass", "isframe", "isfunction"))
isgenerator, isgeneratorfunction = map(_unwrapped, ("isgenerator", "isgeneratorfunction"))
ismethod, ismodule, isroutine = map(_unwrapped, ("ismethod", "ismodule", "isroutine"))


def getfile(object):
    """The file of what lies below the decorators."""
    target = tf_decorator.unwrap(object)[1]
    known = getattr(target, "f_globals", {}).get("__file__")
    return known or _inspect.getfile(target)


def _declared(obj):
    """(the arguments that a decorator declares, or None; what lies below)."""
    decorators, target = tf_decorator.unwrap(obj)
    return next((d.decorator_argspec for d in decorators if d.decorator_argspec is not None), None), target


def declares_arguments(obj):
    """Whether `make_decorator` made it with a `decorator_argspec`."""
    declared = getattr(obj, "_tf_decorator", None)
    return isinstance(declared, tf_decorator.TFDecorator) and declared.decorator_argspec is not None


def getfullargspec(obj):
    """The arguments of a callable, decorated or not; those of a partial that are still open."""
    spec, target = _declared(obj)
    if isinstance(spec, FullArgSpec):
        return spec
    if spec is not None:
        return FullArgSpec(spec.args, spec.varargs, spec.keywords, spec.defaults, [], None, {})
    if isinstance(target, functools.partial):
        return FullArgSpec(*_partial_argspec(target), [], None, {})
    return _inspect.getfullargspec(target)


def getargspec(obj):
    """(args, varargs, keywords, defaults) of a function, class, partial or callable object, decorated or not.

    ValueError: a partial whose arguments cannot be said so.
    """
    if isinstance(obj, functools.partial):
        return _partial_argspec(obj)
    spec, target = _declared(obj)
    if spec is not None:
        return spec
    if isinstance(target, type):  # its arguments are those of the method that takes them, `self` included
        target = target.__init__ if target.__init__ is not object.__init__ else \
            target.__new__ if target.__new__ is not object.__new__ else type(target).__call__
    elif not _inspect.isroutine(target):
        target = type(target).__call__
    return ArgSpec(*_inspect.getfullargspec(target)[:4])


def _partial_argspec(partial):
    args, varargs, keywords, defaults = getargspec(partial.func)[:4]
    missing = object()
    values = dict.fromkeys(args, missing)
    values.update(zip(args[len(args) - len(defaults or ()):], defaults or ()))
    args = args[len(partial.args):]
    for name, value in (partial.keywords or {}).items():
        if name in args:
            values[name] = value
        elif not keywords:
            raise ValueError("Function does not have **kwargs parameter, but contains an unknown partial keyword.")
    first = next((i for i, name in enumerate(args) if values[name] is not missing), len(args))
    bare = [name for name in args[first:] if values[name] is missing]
    if bare:
        raise ValueError(f"Some arguments {bare} do not have default value, but they are positioned after those with "
                         "default values. This can not be expressed with ArgSpec.")
    return ArgSpec(args, varargs, keywords, tuple(values[name] for name in args[first:]) or None)


def getcallargs(*func_and_positional, **named):
    """The arguments of a call by name: first the callable, then what it is called with."""
    func, *positional = func_and_positional
    spec = getfullargspec(func)
    if ismethod(func) and func.__self__:
        positional.insert(0, func.__self__)
    found = dict(named)
    found.update(zip([name for name in spec.args if name not in named], positional))
    defaults = spec.defaults or ()
    for name, value in zip(spec.args[len(spec.args) - len(defaults):], defaults):
        found.setdefault(name, value)
    for name, value in (spec.kwonlydefaults or {}).items():
        found.setdefault(name, value)
    return found
