"""The inspect module, looking through decorators."""
import collections
import functools
import inspect as _inspect
from inspect import (  # noqa: F401
    Parameter, Signature, currentframe, getdoc, getfile, getmembers, getmodule, getmro, getsource, getsourcefile,
    getsourcelines, isabstract, isbuiltin, isclass, iscode, isframe, isfunction, isgenerator, isgeneratorfunction,
    ismethod,
    ismodule, isroutine, istraceback, signature, stack)

ArgSpec = collections.namedtuple("ArgSpec", ["args", "varargs", "keywords", "defaults"])
FullArgSpec = _inspect.FullArgSpec


def getfullargspec(target):
    """The arguments of a function, partial, class or callable object."""
    if isinstance(target, functools.partial) or hasattr(target, "__wrapped__"):
        parameters = _inspect.signature(target).parameters.values()
        names = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
        defaults = tuple(p.default for p in parameters if p.name in names and p.default is not p.empty)
        return FullArgSpec(names, next((p.name for p in parameters if p.kind == p.VAR_POSITIONAL), None),
                           next((p.name for p in parameters if p.kind == p.VAR_KEYWORD), None), defaults or None,
                           [p.name for p in parameters if p.kind == p.KEYWORD_ONLY],
                           {p.name: p.default for p in parameters if p.kind == p.KEYWORD_ONLY}, {})
    if _inspect.isclass(target):
        return _inspect.getfullargspec(target.__init__)
    if not _inspect.isroutine(target) and callable(target):
        return _inspect.getfullargspec(type(target).__call__)
    return _inspect.getfullargspec(target)


def getargspec(target):
    """(args, varargs, keywords, defaults) of a function."""
    return ArgSpec(*getfullargspec(target)[:4])


def getcallargs(*func_and_positional, **named):
    """The arguments of a call by name."""
    return _inspect.getcallargs(*func_and_positional, **named)
