"""Which TensorFlow a program was written for, told by the names that it uses."""
import os
import re

from penstock.alias import known, program

_NOT_TELLING = ("compat", "python", "core")  # both versions have these, and their contents say nothing
# Version 1 has them too, but who used them there had to say one of the names after.
_EAGER = ("GradientTape", "function")
_GRAPHS = ("Session", "InteractiveSession", "placeholder", "contrib", "estimator", "enable_eager_execution",
           "train.MonitoredTrainingSession", "train.MonitoredSession", "train.Supervisor")


_OLD = re.compile(r"^\s*(tensorflow(?:-gpu|-cpu)?\s*(?:[=~]=\s*[01]\.[\w.]+|"
                  r"[^#\n]*<\s*=?\s*(?:1\.\d+[\w.]*|2)(?!\.?\d).*))", re.MULTILINE)


def decide(source, path="<string>", folder=None):
    """("v1" or "v2", why) by the names that a program takes from TensorFlow, and the modules of its folder that it
    imports. A program that says nothing is one of version 2."""
    if path == "<string>":
        folder = None
    else:
        folder = folder or os.path.dirname(os.path.abspath(path))
    first = program.Source(source, path)
    use = weigh(first.uses)[1]
    if folder is not None and (use is None or use.name not in (*_EAGER, *_GRAPHS)):
        return told([use for each in program.read(first, folder) for use in each.uses], folder, path)
    return told(first.uses, folder, path)


def told(uses, folder=None, path=None):
    """(version, why) by the uses of names, and by requirements.txt in `folder` where these tell nothing."""
    version, use = weigh(uses)
    if use is not None:
        return version, _said(use, path)
    wanted = folder and _required(folder)
    return ("v1", wanted) if wanted else ("v2", "nothing in it belongs to version 1 alone")


def weigh(uses):
    """(version, a telling use) of a program's uses; ("v2", None) if nothing tells.

    The version that more names belong to alone wins. Where the program itself tells versions apart, names do not count.
    """
    only: dict[str, dict[str, program.Use]] = {"1": {}, "2": {}}
    compat, plain, eager = None, False, None
    for use in uses:
        if use.guarded:
            continue
        if use.name.startswith("."):  # a method that only version 1's datasets have
            only["1"].setdefault(use.name, use)
        elif use.name.startswith("compat.v1"):
            compat = compat or use
        elif use.name.split(".")[0] not in _NOT_TELLING:
            plain = True
            have, name = known.versions(use.name)
            if name in _EAGER:
                eager = eager or use._replace(name=name)
            if have in only:
                only[have].setdefault(name, use._replace(name=name))
    if eager is not None and not any(name in only["1"] for name in _GRAPHS):
        return "v2", eager
    for version, other in (("1", "2"), ("2", "1")):
        if only[version] and len(only[version]) >= len(only[other]):
            first = next(iter(only[version].values())).path
            return "v" + version, min((use for use in only[version].values() if use.path == first),
                                      key=lambda use: (use.name not in _GRAPHS, use.name))
    if compat is not None and not plain:
        return "v1", compat._replace(name="compat.v1")
    return "v2", None


def _said(use, path):
    who = "it" if use.path == path else os.path.relpath(use.path, os.path.dirname(path or "") or os.curdir)
    if use.name == "compat.v1":
        return f"{who} imports tensorflow.compat.v1"
    return f"{who} uses {'' if use.name.startswith('.') else 'tf.'}{use.name}"


def _required(folder):
    """Why requirements.txt beside the program says version 1, or None."""
    try:
        with open(os.path.join(folder, "requirements.txt"), encoding="utf-8", errors="replace") as f:
            text = f.read()
    except OSError:
        return None
    found = _OLD.search(text)
    return None if found is None else "requirements.txt says %s" % found[1].strip()
