"""How child processes inherit the alias: by PENSTOCK_TENSORFLOW, and by a folder on their path with `tensorflow`."""
import os
import sys

VARIABLE = "PENSTOCK_TENSORFLOW"
_PATH = os.path.join(os.path.dirname(os.path.abspath(__file__)), "path")


def wanted():
    """"v1" or "v2" as the environment says, or None. ValueError: it says something else."""
    value = os.environ.get(VARIABLE, "")
    if value and value not in ("1", "2", "v1", "v2"):
        raise ValueError(f"{VARIABLE} must be 1 or 2, not {value!r}")
    return "v" + value[-1] if value else None


def inherit(version):
    """Lets processes that this one starts from now on find `tensorflow` as it does: those that get its environment
    (subprocess, Ray) and those that get its `sys.path` (multiprocessing, loky)."""
    os.environ[VARIABLE] = version[1:]
    folders = [os.path.join(_PATH, version)]
    home = os.path.dirname(os.path.dirname(_PATH[:-len("/path")]))
    if os.path.basename(home) not in ("site-packages", "dist-packages"):
        folders.append(home)
    before = [each for each in os.environ.get("PYTHONPATH", "").split(os.pathsep) if each]
    os.environ["PYTHONPATH"] = os.pathsep.join(folders + [each for each in before if each not in folders])
    if folders[0] not in sys.path:
        sys.path.insert(1, folders[0])


def is_real(spec):
    """Whether a spec of `tensorflow` is TensorFlow's, not a package that imports Penstock."""
    if spec is None or not spec.origin or not os.path.isfile(spec.origin):
        return spec is not None
    with open(spec.origin, "rb") as f:
        return b"penstock" not in f.read(2000)


def take_over(version=None):
    """Called by such a package while it is imported: puts Penstock in its place, of that version, which the environment
    goes before, or else of the program's."""
    from penstock import alias
    from penstock.alias import process
    del sys.modules["tensorflow"]
    alias.install(alias.installed() or wanted() or version or process.version())
    import tensorflow  # noqa: F401
