"""arg_scope: default arguments for functions called inside a `with` block."""
import contextlib
import functools

_stack = [{}]      # {key of a function: {argument: value}}, the innermost scope last
_decorated = {}    # key of a function -> names of its arguments that have defaults


def current_arg_scope():
    """The arguments set by the scopes around."""
    return _stack[-1]


def arg_scope_func_key(op):
    """What a function, decorated or not, is known by."""
    return getattr(op, "_key_op", str(op))


def has_arg_scope(func):
    """Whether `func` was decorated with add_arg_scope."""
    return arg_scope_func_key(func) in _decorated


def arg_scoped_arguments(func):
    """Names of the arguments that an arg_scope can set."""
    assert has_arg_scope(func)
    return _decorated[arg_scope_func_key(func)]


@contextlib.contextmanager
def arg_scope(list_ops_or_scope, **kwargs):
    """Calls of the decorated functions inside get `kwargs`, unless they pass their own. A scope may be entered
    again."""
    if isinstance(list_ops_or_scope, dict):
        if kwargs:
            raise ValueError("When attempting to re-use a scope by suppling adictionary, kwargs must be empty.")
        scope = list_ops_or_scope.copy()
    else:
        if not isinstance(list_ops_or_scope, (list, tuple)):
            raise TypeError("list_ops_or_scope must either be a list/tuple or reused scope (i.e. dict)")
        scope = current_arg_scope().copy()
        for op in list_ops_or_scope:
            if not has_arg_scope(op):
                raise ValueError("%s is not decorated with @add_arg_scope" % ((op.__module__, op.__name__),))
            key = arg_scope_func_key(op)
            scope[key] = dict(scope.get(key, {}), **kwargs)
    _stack.append(scope)
    try:
        yield scope
    finally:
        _stack.pop()


def add_arg_scope(func):
    """Decorator that lets arg_scope set arguments of `func`."""
    key = arg_scope_func_key(func)

    @functools.wraps(func)
    def func_with_args(*args, **kwargs):
        given = current_arg_scope().get(key)
        return func(*args, **dict(given, **kwargs)) if given else func(*args, **kwargs)

    code = func.__code__
    defaults = len(func.__defaults__ or ())
    _decorated[key] = code.co_varnames[code.co_argcount - defaults:code.co_argcount]
    func_with_args._key_op = key
    return func_with_args
