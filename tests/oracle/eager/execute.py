"""Runs a program and gives what it shows as plain values, the same for every TensorFlow."""
import contextlib
import io


def _plain_array(x):
    return [str(x.dtype), list(x.shape), [_plain(y) for y in x.ravel().tolist()]]


def _plain(x):
    if hasattr(x, "dense_shape") and hasattr(x, "indices"):  # sparse
        return ["sparse", _plain(x.indices), _plain(x.values)]
    if hasattr(x, "read_value"):
        return ["variable", *_plain_array(x.numpy())]
    if hasattr(x, "numpy") and hasattr(x, "dtype"):
        value = x.numpy()
        return ["tensor", *_plain_array(value)] if hasattr(value, "ravel") else ["tensor", x.dtype.name, _plain(value)]
    if hasattr(x, "dtype") and hasattr(x, "shape") and hasattr(x, "name"):  # a symbol, a TensorSpec
        return ["spec", x.dtype.name, str(x.shape)]
    if hasattr(x, "ravel"):
        return ["array", *_plain_array(x)]
    if isinstance(x, bytes):
        return x.decode("latin1")
    if isinstance(x, float):
        return float("%.6g" % x) if abs(x) < 1e300 else str(x)  # NaN and the infinities as text
    if isinstance(x, (bool, int, str, type(None))):
        return x
    if isinstance(x, dict):
        return ["dict", *([str(k), _plain(v)] for k, v in sorted(x.items()))]
    if isinstance(x, (list, tuple)):
        return ["tuple" if isinstance(x, tuple) else "list", *map(_plain, x)]
    return str(x) if type(x).__name__ in ("TensorShape", "DType") else "an object"


def execute(tf, source, path):
    """What a program shows, by `show(values, …)` and `attempt(name, function, arguments, …)`: a list of lists.

    An exception is {"raised": names of its class and that class' bases}. The source is written to `path`, where
    conversions read it.
    """
    import numpy as np
    shown = []

    def show(*values):
        shown.append([_plain(v) for v in values])

    def raised(e):
        return {"raised": [c.__name__ for c in type(e).__mro__[:-1]]}

    def attempt(name, function, *args, **kwargs):
        try:
            shown.append([name, _plain(function(*args, **kwargs))])
        except Exception as e:  # noqa: BLE001  it is what the program is about
            shown.append([name, raised(e)])

    with open(path, "w") as f:
        f.write(source)
    printed = io.StringIO()
    names = {"tf": tf, "np": np, "show": show, "attempt": attempt, "__name__": "program"}
    with contextlib.redirect_stdout(printed):
        try:
            exec(compile(source, path, "exec"), names)
        except Exception as e:  # noqa: BLE001
            shown.append(["program", raised(e)])
    return [*shown, ["printed", printed.getvalue()]]
