"""A module's documented names: those that its docstring lists as "@@name", a line each."""
import re
import sys

__all__ = ["make_all", "remove_undocumented", "reveal_undocumented"]

_HIDDEN = {}


def make_all(module_name, doc_string_modules=None):
    """The names of a module that the docstrings of these modules, by default its own, list."""
    module = sys.modules[module_name]
    listed = {name for source in doc_string_modules or [module]
              for name in re.findall(r"^@@(\w+)$", source.__doc__ or "", flags=re.MULTILINE)}
    return [name for name in dir(module) if name in listed]


def remove_undocumented(module_name, allowed_exception_list=None, doc_string_modules=None):
    """Takes from a module what is neither listed, nor allowed, nor private."""
    module = sys.modules[module_name]
    keep = {*make_all(module_name, doc_string_modules), *(allowed_exception_list or [])}
    for name in dir(module):
        if name not in keep and not name.startswith("_"):
            _HIDDEN["%s.%s" % (module_name, name)] = module, getattr(module, name)
            delattr(module, name)


def reveal_undocumented(symbol_name, target_module=None):
    """Puts MODULE.NAME back, into another module if one is given. LookupError if it was not taken away."""
    if symbol_name not in _HIDDEN:
        raise LookupError("Symbol %s is not a hidden symbol" % symbol_name)
    module, value = _HIDDEN[symbol_name]
    setattr(target_module or module, symbol_name.split(".")[-1], value)
