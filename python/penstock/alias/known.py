"""Which public names TensorFlow 1.15 and 2.21 have, whether Penstock serves them or not: known_names.txt."""
import functools
import os


@functools.lru_cache(maxsize=None)
def table():
    """namespace -> {name: "12", "1" or "2"}; the root is "", classes whose members differ are "class NAME"."""
    found = {}
    with open(os.path.join(os.path.dirname(__file__), "known_names.txt"), encoding="utf-8") as f:
        for line in f:
            if not line.startswith("#"):
                namespace, *columns = line.rstrip("\n").split("|")
                found[namespace] = {name: versions for versions, column in zip(("12", "1", "2"), columns)
                                    for name in column.split()}
    return found


def versions(dotted):
    """(versions that have it, the part of the name that says so) of a name below the module, as ("1",
    "train.AdamOptimizer") of train.AdamOptimizer.minimize; ("", the part) if neither has it. Attributes of values are
    not looked at."""
    names, parts, have = table(), dotted.split("."), "12"
    for end in range(1, len(parts) + 1):
        namespace, name = ".".join(parts[:end - 1]), parts[end - 1]
        if name.startswith("_"):
            return have, namespace
        if namespace in names:
            have = names[namespace].get(name, "")
            if have != "12":
                return have, ".".join(parts[:end])
        else:
            return names.get("class " + namespace, {}).get(name, "12"), ".".join(parts[:end])
    return have, dotted


def has(dotted, version):
    """Whether version "1" or "2" has a name below the module, as far as the namespaces are known."""
    names, parts = table(), dotted.split(".")
    for end in range(1, len(parts) + 1):
        namespace = ".".join(parts[:end - 1])
        if namespace not in names:
            return True
        if version not in names[namespace].get(parts[end - 1], ""):
            return False
    return True


def everywhere(name):
    """The dotted names, of any namespace, that end in `name`: [(dotted name, its versions)]."""
    return sorted((f"{namespace}.{name}" if namespace else name, have[name])
                  for namespace, have in table().items() if name in have and not namespace.startswith("class "))
