"""What functions and classes that a program holds are, and what they see."""
import builtins
import inspect
import types

from penstock._src.autograph.pyct.sources import islambda  # noqa: F401

_BUILTINS = frozenset(map(id, vars(builtins).values()))


def isnamedtuple(f):
    """Whether something looks like a class of named tuples."""
    fields = getattr(f, "_fields", None)
    return inspect.isclass(f) and issubclass(f, tuple) and isinstance(fields, tuple) \
        and all(isinstance(name, str) for name in fields)


def isbuiltin(f):
    """Whether something is a function or class of Python's own."""
    return id(f) in _BUILTINS or isinstance(f, types.BuiltinFunctionType)


def isconstructor(cls):
    """Whether calling it makes an object: it is a class whose metaclass has no call of its own."""
    return inspect.isclass(cls) and type(cls).__call__ is type.__call__


def getimmediatesource(obj):
    """The source of a function or class itself, whatever it wraps. OSError if there is none."""
    lines, first = inspect.findsource(getattr(obj, "__code__", obj))
    return "".join(inspect.getblock(lines[first:]))


def getnamespace(f):
    """name -> value of all that a function sees around it: globals, and its closure as far as it has values."""
    namespace = dict(f.__globals__)
    for name, cell in zip(f.__code__.co_freevars, f.__closure__ or ()):
        try:
            namespace[name] = cell.cell_contents
        except ValueError:
            pass  # not assigned yet
    return namespace


def getqualifiedname(namespace, object_, max_depth=5, visited=None):
    """The name ("a", "module.a") of a value in a namespace and the modules in it, down to `max_depth`; or None.

    visited: ids of modules that are left out.
    """
    visited = set() if visited is None else visited
    namespace = dict(namespace)  # other threads may import meanwhile
    for name, value in namespace.items():
        if value is object_:
            return name
    parent = inspect.getmodule(object_)
    if parent is not None and parent is not object_ and parent is not namespace:
        owner = getqualifiedname(namespace, parent, 0, visited)
        inside = None if owner is None else getqualifiedname(vars(parent), object_, 0, visited)
        if inside is not None:
            return f"{owner}.{inside}"
    if max_depth:
        for name, value in namespace.items():
            if inspect.ismodule(value) and id(value) not in visited:
                visited.add(id(value))
                inside = getqualifiedname(vars(value), object_, max_depth - 1, visited)
                if inside is not None:
                    return f"{name}.{inside}"
    return None


def getdefiningclass(m, owner_class):
    """The class, `owner_class` or one that it derives from, that defines a method."""
    for cls in inspect.getmro(owner_class):
        if m.__name__ in vars(cls) or m.__name__ in getattr(cls, "__slots__", ()):
            return cls
    return owner_class


def getmethodclass(m):
    """The class from which a method was taken; None if it is no method, or the caller does not see the class.

    ValueError if several classes that the caller sees have it.
    """
    if not hasattr(m, "__name__") and hasattr(m, "__call__"):
        return type(m)
    owner = getattr(m, "__self__", None)
    if owner is not None:
        return owner if inspect.isclass(owner) else type(owner)
    caller = inspect.currentframe().f_back
    try:
        seen = [*caller.f_locals.values(), *caller.f_globals.values()]
    finally:
        del caller
    owners = [value for value in seen if inspect.getattr_static(value, m.__name__, None) is not None
              and getattr(value, m.__name__, None) is m]
    if len(owners) <= 1:
        return owners[0] if owners else None
    classes = tuple(value if inspect.isclass(value) else type(value) for value in owners)
    for cls in classes:
        if issubclass(cls, classes):
            return cls
    raise ValueError(f"{m} belongs to several classes: {owners}")


def getfutureimports(entity):
    """The names that the module of a function imports from __future__, sorted."""
    if not (inspect.isfunction(entity) or inspect.ismethod(entity)):
        return ()
    return tuple(sorted(name for name, value in entity.__globals__.items()
                        if getattr(value, "__module__", None) == "__future__"))
