"""Python functions within the configurations of layers: their code as text, or their name."""
import base64
import marshal
import sys
import types


def dump(function):
    """(what describes the function, "lambda" or "function", its module's name).

    A plain Python function is described by its code, defaults and closure's values; any other callable by its name.
    ValueError: not a callable.
    """
    if isinstance(function, types.FunctionType):
        code = base64.encodebytes(marshal.dumps(function.__code__)).decode("ascii")
        cells = tuple(cell.cell_contents for cell in function.__closure__) if function.__closure__ else None
        return (code, function.__defaults__, cells), "lambda", function.__module__
    if callable(function):
        return function.__name__, "function", function.__module__
    raise ValueError(f"Unrecognized function type for input: {type(function)}")


def load(described, kind, module, custom_objects=None):
    """The function that `dump` described, with its module's globals and `custom_objects`.

    Code runs as it stands, so configurations of unknown origin must not be loaded.
    ValueError: no function of that name. TypeError: another kind.
    """
    names = {**vars(sys.modules[module])} if module in sys.modules else {}
    names.update(custom_objects or {})
    if kind == "function":
        if described not in names:
            raise ValueError(f"Unknown function in wrapper: {described}")
        return names[described]
    if kind != "lambda":
        raise TypeError("Unknown function type:", kind)
    text, defaults, closure = described
    code = marshal.loads(base64.decodebytes(text.encode("ascii")))
    cells = None if closure is None else tuple(map(types.CellType, closure))
    return types.FunctionType(code, names, code.co_name, None if defaults is None else tuple(defaults), cells)
