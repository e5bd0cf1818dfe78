"""What stands for Python's operators and statements in converted code."""
import importlib

_FROM = {
    "conditional_expressions": "if_exp",
    "control_flow": "for_stmt if_stmt while_stmt",
    "exceptions": "assert_stmt",
    "logical": "and_ eq not_ not_eq or_",
    "py_builtins": "float_ int_ len_ range_",
    "slices": "set_item",
    "variables": "Undefined UndefinedReturnValue ld ldu",
}
_WHERE = {name: module for module, names in _FROM.items() for name in names.split()}


def __getattr__(name):
    if name not in _WHERE:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = globals()[name] = getattr(importlib.import_module(f"{__name__}.{_WHERE[name]}"), name)
    return value


def __dir__():
    return sorted({*globals(), *_WHERE})
