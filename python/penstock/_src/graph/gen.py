"""Op functions by TensorFlow's names for them: gen.add_v2(x, y), gen.conv2d(...). Made when first used."""
from penstock import _core
from penstock._src.base import hooks

_names: dict[str, str] = {}


def op_name(function_name):
    """The name of the op that a function is named after, or None."""
    from penstock._src.graph.definitions import op_signature
    plain = function_name.strip("_")
    guess = "".join(word[:1].upper() + word[1:] for word in plain.split("_"))
    if op_signature.snake_case(guess) == plain and _core.op_def(guess) is not None:
        return guess
    if not _names:
        for op in _core.op_names():
            _names.setdefault(op_signature.snake_case(op).strip("_"), op)
    return _names.get(plain)


def __getattr__(name):
    if name.startswith("__"):
        raise AttributeError(name)
    if name == "_op_def_lib":
        return hooks.Hook("op_def_lib").get()
    if name[:1].isupper() and _core.op_def(name) is not None:  # generated modules have raw ops too
        from penstock._src.graph.definitions import op_functions
        return op_functions.raw_function(name)
    op = op_name(name)
    if op is None:
        raise AttributeError(f"penstock has no op for the function '{name}'")
    from penstock._src.graph.definitions import op_functions
    value = globals()[name] = op_functions.function(op)
    return value


def __dir__():
    from penstock._src.graph.definitions import op_signature
    return sorted(op_signature.snake_case(op) for op in _core.op_names())
