"""Facts about functions."""
import functools
import inspect


def fn_args(fn):
    """The names of a function's arguments, without `self` of bound methods and without those that a partial has set."""
    skip = set()
    while isinstance(fn, functools.partial):
        skip.update(fn.keywords)
        count = len(fn.args)
        fn = fn.func
        names = fn_args(fn)
        return tuple(n for n in names[count:] if n not in skip)
    if not inspect.isroutine(fn) and not inspect.isclass(fn) and callable(fn):
        fn = fn.__call__
    names = inspect.getfullargspec(fn).args
    if inspect.ismethod(fn) or inspect.isclass(fn):
        names = names[1:]
    return tuple(names)


def has_kwargs(fn):
    """Whether it takes any keyword argument. TypeError if it is no function."""
    if not callable(fn):
        raise TypeError(f"fn should be a function-like object, but is of type {type(fn)}.")
    return any(p.kind == p.VAR_KEYWORD for p in inspect.signature(fn).parameters.values())


def get_func_name(func):
    """The name of a function or method; the type's text for partials and callable objects. ValueError if not
    callable."""
    func = inspect.unwrap(func) if callable(func) else func
    if inspect.ismethod(func):
        return f"{type(func.__self__).__name__}.{func.__func__.__name__}"
    if inspect.isfunction(func):
        return func.__name__
    if callable(func):
        return str(type(func))
    raise ValueError("Argument must be callable")


def get_func_code(func):
    """The code object of a function, method or callable object; None if it has none. ValueError if not callable."""
    if not callable(func):
        raise ValueError("Argument must be callable")
    func = inspect.unwrap(func)
    if inspect.isfunction(func) or inspect.ismethod(func):
        return func.__code__
    return getattr(getattr(func, "__call__", None), "__code__", None)
