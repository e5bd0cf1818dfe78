"""New names."""
from penstock._src.autograph.pyct import qual_names


class Namer:
    """Names that a piece of code does not use yet. global_namespace: what it uses, a dict or set of strings."""

    def __init__(self, global_namespace):
        self.global_namespace = global_namespace
        self.generated_names = set()

    def new_symbol(self, name_root, reserved_locals):
        """A name that begins with `name_root` and was not given out, nor is one of `reserved_locals` (strings, QNs)."""
        reserved = set()
        for name in reserved_locals:
            if isinstance(name, qual_names.QN):
                reserved.update(name.qn)
            elif isinstance(name, str):
                reserved.add(name)
            else:
                raise ValueError(f"a reserved name is a string or QN, not {type(name)}")
        root, _, number = name_root.rpartition("_")
        if not number.isdigit():
            root, number = name_root, 0
        name, number = root, int(number)
        while name in self.global_namespace or name in reserved or name in self.generated_names:
            number += 1
            name = f"{root}_{number}"
        self.generated_names.add(name)
        return name
