"""Lists and dicts among the state of conditionals and loops: they stay the same objects, whatever happens to what is in
them while branches and bodies are traced."""
from penstock._src.base import nest


class Contents:
    """What is in all lists and dicts that a state refers to."""

    def __init__(self, state):
        self._kept = {}
        for value in state:
            self._keep(value)

    def _keep(self, value):
        if type(value) not in (list, dict, tuple) or id(value) in self._kept:
            return
        if type(value) is not tuple:
            self._kept[id(value)] = value, value.copy()
        for part in value.values() if type(value) is dict else value:
            self._keep(part)

    def restore(self):
        """Puts it all back."""
        for container, content in self._kept.values():
            if type(container) is list:
                container[:] = content
            else:
                container.clear()
                container.update(content)


def copied(value):
    """The same structure in containers of its own."""
    return nest.map_structure(lambda x: x, value) if type(value) in (list, dict) else value


def missing(name, given, lacking):
    """What a dict, or one in it, has that another lacks, as the program would write it: `name['key']`."""
    if type(given) is not dict or type(lacking) is not dict:
        return []
    found = []
    for key, value in given.items():
        element = f"{name}[{key!r}]"
        found += missing(element, value, lacking[key]) if key in lacking else [element]
    return found


def complete(lacking, given, first):
    """Puts first(tensor) into a dict, and those in it, for the tensors that only `given` has."""
    for key, value in given.items():
        if key not in lacking:
            lacking[key] = nest.map_structure(first, value)
        elif type(value) is dict and type(lacking[key]) is dict:
            complete(lacking[key], value, first)


def refilled(old, new):
    """`old`, a list or dict, with what is in `new`; its own lists and dicts likewise."""
    if type(old) is list:
        old[:] = [_part(a, b) for a, b in zip(old, new)] + list(new[len(old):])
    else:
        parts = {key: _part(old.get(key), value) for key, value in new.items()}
        old.clear()
        old.update(parts)
    return old


def refill(old, new):
    """Puts into a list or dict what is in another."""
    if old is not new and type(old) in (list, dict) and type(new) is type(old):
        refilled(old, new)


def _part(old, new):
    return refilled(old, new) if type(old) in (list, dict) and type(new) is type(old) else new
