"""Notebooks: `%load_ext penstock`, and the source by which the version is decided."""
import json
import os
import re

from penstock import alias


def source(shell):
    """The code of the notebook that runs in an IPython shell: of its file, if known, and of the cells run so far."""
    path = os.environ.get("JPY_SESSION_NAME") or shell.user_ns.get("__vsc_ipynb_file__") or ""
    cells = []
    if path.endswith(".ipynb") and os.path.isfile(path):
        with open(path, encoding="utf-8") as f:
            cells = ["".join(cell["source"]) for cell in json.load(f)["cells"] if cell["cell_type"] == "code"]
    return "\n".join(_plain(cell) for cell in [*cells, *shell.user_ns.get("In", [])])


def _plain(cell):
    """A cell without magics and commands of the shell; `%tensorflow_version 1.x` as an import of version 1."""
    if cell.lstrip().startswith("%%"):
        return ""
    cell = re.sub(r"^\s*%tensorflow_version\s+1.*$", "import tensorflow.contrib", cell, flags=re.MULTILINE)
    return re.sub(r"^(\s*)[%!?].*$", r"\1pass", cell, flags=re.MULTILINE)


def load(shell):
    """`%load_ext penstock`: from then on `import tensorflow` gives Penstock."""
    from penstock import as_tensorflow  # noqa: F401
    shell.register_magic_function(_tensorflow_version, "line", "tensorflow_version")


def _tensorflow_version(line):
    """%tensorflow_version 1.x: says whether that version is there, as Colab's does."""
    wanted = "v1" if line.strip().startswith("1") else "v2"
    if alias.installed() != wanted:
        raise RuntimeError(f"tensorflow is of version {alias.VERSIONS[alias.installed()]} already: "
                           f"put %env PENSTOCK_TENSORFLOW={wanted[1:]} before %load_ext penstock")
