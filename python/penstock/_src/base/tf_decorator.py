"""Decorators that keep what they decorate reachable, with its name, docs and signature."""
import inspect
import sys


class TFDecorator:
    """What is known of one decoration: what was decorated, by which decorator, the docs and the arguments that it has
    now (None: those of what was decorated). Stands for the function too."""

    def __init__(self, decorator_name, target, decorator_doc="", decorator_argspec=None):
        self._decorated_target = target
        self._decorator_name = decorator_name
        self._decorator_doc = decorator_doc
        self._decorator_argspec = decorator_argspec
        for name in ("__name__", "__qualname__"):
            if hasattr(target, name):
                setattr(self, name, getattr(target, name))
        self.__doc__ = decorator_doc or getattr(target, "__doc__", None) or ""

    def __get__(self, instance, owner):
        return self._decorated_target.__get__(instance, owner)

    def __call__(self, *args, **kwargs):
        return self._decorated_target(*args, **kwargs)

    @property
    def decorated_target(self):
        """What was decorated."""
        return self._decorated_target

    @decorated_target.setter
    def decorated_target(self, target):
        self._decorated_target = target

    decorator_name = property(lambda self: self._decorator_name, doc="The decorator's name.")
    decorator_doc = property(lambda self: self._decorator_doc, doc="The docs of this decoration.")
    decorator_argspec = property(lambda self: self._decorator_argspec, doc="The arguments, if they are others.")


def make_decorator(target, decorator_func, decorator_name=None, decorator_doc="", decorator_argspec=None):
    """`decorator_func`, which wraps `target`, with the name, docs and attributes of `target`."""
    if decorator_name is None:
        decorator_name = sys._getframe(1).f_code.co_name
    decorator = TFDecorator(decorator_name, target, decorator_doc, decorator_argspec)
    decorator_func._tf_decorator = decorator
    for name in ("__name__", "__qualname__", "__module__"):
        if hasattr(target, name):
            setattr(decorator_func, name, getattr(target, name))
    for name, value in getattr(target, "__dict__", {}).items():
        decorator_func.__dict__.setdefault(name, value)
    if hasattr(target, "__doc__"):
        decorator_func.__doc__ = decorator.__doc__
    decorator_func.__wrapped__ = decorator_func.__original_wrapped__ = target
    if decorator_argspec is not None:
        decorator_func.__signature__ = _signature(decorator_argspec)
    return decorator_func


def _signature(argspec):
    """The signature of an ArgSpec or a FullArgSpec."""
    args, varargs, varkw, defaults = argspec[:4]
    only, only_defaults = (argspec.kwonlyargs, argspec.kwonlydefaults or {}) if len(argspec) > 4 else ((), {})
    kinds = inspect.Parameter
    defaults = [kinds.empty] * (len(args) - len(defaults or ())) + list(defaults or ())
    parameters = [kinds(name, kinds.POSITIONAL_OR_KEYWORD, default=d) for name, d in zip(args, defaults)]
    if varargs:
        parameters.append(kinds(varargs, kinds.VAR_POSITIONAL))
    parameters += [kinds(name, kinds.KEYWORD_ONLY, default=only_defaults.get(name, kinds.empty)) for name in only]
    if varkw:
        parameters.append(kinds(varkw, kinds.VAR_KEYWORD))
    return inspect.Signature(parameters)


def _decorator_of(value):
    if isinstance(value, TFDecorator):
        return value
    found = getattr(value, "_tf_decorator", None)
    return found if isinstance(found, TFDecorator) else None


def unwrap(maybe_tf_decorator):
    """([TFDecorator, outermost first], what lies below all of them)."""
    decorators = []
    while (found := _decorator_of(maybe_tf_decorator)) is not None:
        decorators.append(found)
        maybe_tf_decorator = found.decorated_target
    return decorators, maybe_tf_decorator


def rewrap(decorator_func, previous_target, new_target):
    """Puts `new_target` in the place of `previous_target`, which lies below `decorator_func`. Reaches functions that
    call what they wrap as their own `__wrapped__`."""
    holder, target = None, decorator_func
    while target is not previous_target and getattr(target, "_tf_decorator", None) is not None:
        holder, target = target, target._tf_decorator.decorated_target
    if holder is None:
        assert decorator_func is previous_target
        return new_target
    holder._tf_decorator.decorated_target = new_target
    if inspect.ismethod(holder):
        holder = holder.__func__
    holder.__wrapped__ = new_target
    return decorator_func
