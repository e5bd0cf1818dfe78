"""tf.raw_ops: every op as a function of keyword arguments, by its own name."""
import functools
import inspect

from penstock import _core


def __getattr__(name):
    if name.startswith("__") or _core.op_def(name) is None:
        raise AttributeError(f"module 'penstock.raw_ops' has no attribute {name!r}")
    from penstock._src.graph import op_functions
    function = op_functions.function(name)

    @functools.wraps(function)
    def raw_op(*args, **kwargs):
        if args:
            raise TypeError(f"{name} only takes keyword args (possible keys: "
                            f"{list(inspect.signature(function).parameters)}). Please pass these args as kwargs "
                            "instead.")
        return function(**kwargs)
    raw_op.__name__ = raw_op.__qualname__ = name
    globals()[name] = raw_op
    return raw_op


def __dir__():
    return sorted(_core.op_names())
