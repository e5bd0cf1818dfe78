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
    """Whether it takes any keyword argument."""
    return any(p.kind == p.VAR_KEYWORD for p in inspect.signature(fn).parameters.values())


def get_func_name(func):
    """A name for a function, method, partial or callable object."""
    if isinstance(func, functools.partial):
        return get_func_name(func.func)
    if not callable(func):
        raise ValueError("Argument must be callable")
    name = getattr(func, "__qualname__", None)
    return type(func).__name__ if name is None else name.rpartition(".")[2] if "<lambda>" in name else name


def get_func_code(func):
    """The code object of a function, or None."""
    if isinstance(func, functools.partial):
        return get_func_code(func.func)
    if not callable(func):
        raise ValueError("Argument must be callable")
    return getattr(func, "__code__", None) or getattr(getattr(type(func), "__call__", None), "__code__", None)
