"""tf.experimental.dispatch_for_*: functions of a program's own that public functions call for values of its types.

A composite value as an argument is what makes a public function look here (graph/dispatch.py); where several
registered functions match, it is refused.
"""
import collections.abc
import contextlib
import functools
import inspect
import types
import typing
from typing import Any, Callable

from penstock._src.graph import dispatch
from penstock._src.graph import composite_tensor
from penstock._src.graph import ops

_UNIONS = (typing.Union, getattr(types, "UnionType", typing.Union))
_by_api: dict[Callable, list] = {}  # function -> [(matches, target)]
_by_element: dict[Any, list] = {}  # kind and types -> [matches, handler]


def dispatch_for_api(api, *signatures):
    """Decorator of a function that is called instead of a public one, where arguments are of the types of one of the
    signatures: dicts from names or places of parameters to types, List[...] or Union[...] of them. Without signatures,
    the function's annotations are the signature.

    ValueError: the function has other parameters (`name` may be left out), or there is no such public function.
    """
    function = _function_of(api)
    signature = inspect.signature(function)
    checks = [_matcher(signature, given) for given in signatures]

    def decorator(target):
        if not callable(target):
            raise TypeError(f"Expected dispatch_target to be callable; got {target!r}")
        called = _with_name(target, signature)
        own = inspect.signature(called)
        if [(p.name, p.kind) for p in own.parameters.values()] != [
                (p.name, p.kind) for p in signature.parameters.values()] and not any(
                p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in own.parameters.values()):
            raise ValueError(f"Dispatch function's signature {own} does not match API's signature {signature}.")
        given = checks or [_matcher(signature, _annotations(target))]
        _register(function, api, [(check, called) for check in given])
        return called

    return decorator


def dispatch_for_unary_elementwise_apis(x_type):
    """Decorator of `handler(api, x)`, which all unary elementwise functions call for x of a type."""
    return _for_elements("unary", x_type)


def dispatch_for_binary_elementwise_apis(x_type, y_type):
    """Decorator of `handler(api, x, y)`, which all binary elementwise functions call for x and y of two types."""
    return _for_elements("binary", x_type, y_type)


def dispatch_for_binary_elementwise_assert_apis(x_type, y_type):
    """Decorator of `handler(assert_api, x, y)`, which tf.debugging's comparisons call for x and y of two types."""
    return _for_elements("assert", x_type, y_type)


def unregister_dispatch_for(dispatch_target):
    """Forgets a function that one of the decorators gave. ValueError: none did."""
    found = False
    for rows in _by_api.values():
        kept = [row for row in rows if row[1] is not dispatch_target]
        found = found or len(kept) < len(rows)
        rows[:] = kept
    for key in [key for key, (_, handler) in _by_element.items() if handler is dispatch_target]:
        del _by_element[key]
        found = True
    if not found:
        raise ValueError(f"Function {dispatch_target} was not registered using a `@dispatch_for_*` decorator.")
    _tell()


def call(kind, function, args, kwargs):
    """What the registered function gives for these arguments of a public one; NotImplemented if none matches.

    kind: "unary", "binary" or "assert" for functions of each element. ValueError: several match.
    """
    rows = _by_api.get(function, ())
    element = [key for key in _by_element if key[0] == kind]
    if not rows and not element:
        return NotImplemented
    bound = _bound(function, args, kwargs)
    if bound is None:
        return NotImplemented
    found = dict.fromkeys(target for matches, target in rows if matches(bound))
    values = list(bound.values())
    for key in element:
        matches, handler = _by_element[key]
        if matches(values):
            found[_element_target(handler, function, len(key) - 1)] = None
    if not found:
        return NotImplemented
    if len(found) > 1:
        raise ValueError("Multiple dispatch targets that were registered with tf.dispatch_for "
                         f"({' and '.join(map(str, found))}) match the arguments to {function.__name__}")
    target, = found
    return target(*args, **kwargs)


def _bound(function, args, kwargs):
    try:
        return inspect.signature(function).bind(*args, **kwargs).arguments
    except TypeError:
        return None


def _element_target(handler, function, count):
    """What calls an elementwise handler with a function of the first arguments alone."""

    def target(*args, **kwargs):
        names = list(inspect.signature(function).parameters)
        rest, kwargs = list(args), dict(kwargs)
        place = names.index("name") if "name" in names else len(names)
        name = rest.pop(place) if place < len(rest) else kwargs.pop("name", None)
        values = [rest.pop(0) if rest else kwargs.pop(each) for each in names[:count]]
        api = functools.partial(_call_with, function, rest, kwargs) if rest or kwargs else function
        with contextlib.nullcontext() if name is None else ops.name_scope(name):
            return handler(api, *values)

    target.__qualname__ = f"elementwise_dispatch_target_for_{function.__name__}"
    return target


def _call_with(function, args, kwargs, *values):
    return function(*values, *args, **kwargs)


# Registering


def _tell():
    """Makes public functions look here as long as there is something."""
    dispatch.by_type = call if _by_element or any(_by_api.values()) else None


def _register(function, api, rows):
    _by_api.setdefault(function, []).extend(rows)
    if function is api and not dispatch.looks(function):
        dispatch.look_always(function)
    _tell()


def _for_elements(kind, *annotations):
    checks = [_checker(annotation) for annotation in annotations]

    def decorator(handler):
        key = (kind, *annotations)
        if key in _by_element:
            shown = ", ".join(map(str, annotations))
            raise ValueError(f"A {kind} elementwise dispatch handler ({_by_element[key][1]}) has already been "
                             f"registered for {shown}.")

        def matches(values):
            return len(values) >= len(checks) and all(check(value) for check, value in zip(checks, values)) and any(
                map(_holds_composite, values[:len(checks)]))

        _by_element[key] = [matches, handler]
        _tell()
        return handler

    return decorator


def _function_of(api):
    """The function behind a public name. ValueError: it is none."""
    if inspect.isfunction(api):
        function = getattr(api, "__wrapped__", api)
        if function.__module__.partition(".")[0] == "penstock":
            return function
    raise ValueError(f"{api} does not support dispatch.")


def _with_name(target, signature):
    """A function that takes `name` too, if public functions do: a scope around the call."""
    own = inspect.signature(target)
    if "name" not in signature.parameters or "name" in own.parameters or any(
            p.kind == p.VAR_KEYWORD for p in own.parameters.values()):
        return target
    place = list(signature.parameters).index("name")

    @functools.wraps(target)
    def called(*args, **kwargs):
        rest = list(args)
        name = rest.pop(place) if place < len(rest) else kwargs.pop("name", None)
        if name is None:
            return target(*rest, **kwargs)
        with ops.name_scope(name):
            return target(*rest, **kwargs)

    setattr(called, "__signature__", own.replace(parameters=[*own.parameters.values(), signature.parameters["name"]]))
    return called


# Types


def _annotations(target):
    found = {p.name: p.annotation for p in inspect.signature(target).parameters.values() if p.annotation is not p.empty}
    if not found:
        raise ValueError("The dispatch_for_api decorator must be called with at least one signature, or applied to a "
                         "function that has type annotations on its parameters.")
    return found


def _matcher(signature, given):
    """A predicate of bound arguments."""
    if not isinstance(given, dict) or not all(isinstance(name, (str, int)) for name in given):
        raise TypeError("signatures must be dictionaries mapping parameter names to type annotations.")
    names, checks = list(signature.parameters), {}
    for name, annotation in given.items():
        name = names[name] if isinstance(name, int) and name < len(names) else name
        if name not in names:
            raise ValueError(f"signature includes annotation for unknown parameter {name!r}.")
        checks[name] = _checker(annotation)

    def matches(bound):
        return all(name in bound and check(bound[name]) for name, check in checks.items()) and any(
            _holds_composite(bound[name]) for name in checks)

    return matches


def _checker(annotation):
    """A predicate of values that are of a type, list or union."""
    origin = typing.get_origin(annotation)
    if annotation is None:
        annotation = type(None)
    if origin in _UNIONS:
        checks = [_checker(each) for each in typing.get_args(annotation)]
        return lambda value: any(check(value) for check in checks)
    if origin in (list, collections.abc.Sequence):
        check, = map(_checker, typing.get_args(annotation))
        return lambda value: isinstance(value, (list, tuple)) and all(map(check, value))
    if isinstance(annotation, type) and origin is None:
        return lambda value: isinstance(value, annotation)
    raise ValueError(f"Type annotation {annotation} is not currently supported by dispatch.  Supported annotations: "
                     "type objects,  List[...], and Union[...]")


def _holds_composite(value):
    if isinstance(value, (list, tuple)):
        return any(map(_holds_composite, value))
    return isinstance(value, composite_tensor.CompositeTensor) or getattr(value, "_is_composite_tensor", False)
