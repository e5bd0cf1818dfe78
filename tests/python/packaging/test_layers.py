"""A folder of src/penstock includes only from itself and from the folders above it."""
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SOURCES = ROOT / "src" / "penstock"


def layers():
    """The folders in their order, as CMakeLists.txt declares them."""
    return re.findall(r"^penstock_folder\(([\w/]+)", (ROOT / "CMakeLists.txt").read_text(), re.M)


def folder_of(path, order):
    """The layer that a path relative to src/penstock belongs to."""
    for layer in sorted(order, key=len, reverse=True):
        if path.startswith(layer + "/"):
            return layer
    return None


def test_every_folder_is_declared():
    order = layers()
    assert order[0] == "base" and order[-1] == "engine"
    names = [str(path.relative_to(SOURCES)) for path in SOURCES.rglob("*.cc")]
    strays = [name for name in names if not folder_of(name, order)]
    assert not strays


def test_no_arrow_runs_back_up():
    order = layers()
    wrong = []
    for path in [*SOURCES.rglob("*.cc"), *SOURCES.rglob("*.h")]:
        name = str(path.relative_to(SOURCES))
        own = folder_of(name, order)
        for included in re.findall(r'^\s*#\s*include\s*"penstock/([^"]+)"', path.read_text(), re.M):
            other = folder_of(included, order)
            if other is None or order.index(other) > order.index(own):
                wrong.append(f"{name} includes {included}")
    assert not wrong


def test_protobuf_stays_where_it_may_be():
    allowed = set(re.findall(r"^penstock_folder\((\S+) PROTO\)", (ROOT / "CMakeLists.txt").read_text(), re.M))
    assert "io" in allowed
    wrong = [
        str(path.relative_to(SOURCES))
        for path in [*SOURCES.rglob("*.cc"), *SOURCES.rglob("*.h")]
        if re.search(r'#\s*include\s*[<"](google/protobuf/|[^">]*\.pb\.h)', path.read_text())
        and folder_of(str(path.relative_to(SOURCES)), layers()) not in allowed
    ]
    assert not wrong
