"""Calls from a lower layer to an upper one, which it must not import.

The lower module declares what it calls: `_jacobian = hooks.Hook("jacobian")`, and calls it like a function. The table
of `penstock/wiring.py`, which is above all layers, says which module defines it; that is imported at the first call.

Where the lower layer only has to tell the upper one of something, it has `Callbacks`: the upper module adds a function
when it is imported, since before that there is nothing to tell.
"""
import importlib

_providers = {}


def provide(providers):
    """Says where hooks are defined: {name: "module:attribute", or "module"}, below `penstock._src` or in full."""
    _providers.update(providers)


def full_name(module):
    """The dotted name of a module that a table names below `penstock._src`, or in full."""
    return module if module.startswith("penstock.") else "penstock._src." + module


def is_provided(name):
    """Whether the table has a row for a name."""
    return name in _providers


class Hook:
    """A function, class or module of an upper layer, found at its first use."""

    __slots__ = ("_name", "_module", "_attribute")

    def __init__(self, name):
        self._name = name
        self._module = self._attribute = None

    def get(self):
        """The function, class or module itself."""
        if self._module is None:
            module, _, self._attribute = _providers[self._name].partition(":")
            self._module = importlib.import_module(full_name(module))
        return getattr(self._module, self._attribute) if self._attribute else self._module

    def __call__(self, *args, **kwargs):
        return self.get()(*args, **kwargs)


class Callbacks:
    """Functions of upper layers that are called when something happens."""

    def __init__(self):
        self._functions = []

    def add(self, function):
        """Appends a function. Returns it, so this is a decorator too."""
        self._functions.append(function)
        return function

    def __call__(self, *args, **kwargs):
        for function in self._functions:
            function(*args, **kwargs)
