"""A folder of src/penstock includes only from itself and from the folders above it; so it is with Python's imports."""
import ast
import collections
import functools
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SOURCES = ROOT / "src" / "penstock"
PACKAGE = ROOT / "python" / "penstock"

# Figures that may only fall.
LARGEST_CIRCLE, FORWARDING = 12, 5


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


def python_layers():
    """Folders and modules of python/penstock, dotted and without `_src.` -> the number of their row in the table."""
    table = (ROOT / "docs" / "architecture.md").read_text().split("| folder of `python/penstock/_src`")[1]
    rows = re.findall(r"^\| (`.*?) \|", table.split("\n\n")[0], re.M)
    return {name.replace("/", "."): number for number, row in enumerate(rows)
            for name in re.findall(r"`(\w+(?:/\w+)*)(?:/|\.py)`", row)}


def module_name(path):
    """The dotted name below `penstock._src`, or below `penstock`, of one of its files."""
    name = ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")
    return name.removeprefix("_src.")


def row_of(name, known=None):
    """The number of the row that a module belongs to, or None."""
    known = known or python_layers()
    parts = name.split(".")
    return next((known[key] for end in range(len(parts), 0, -1) if (key := ".".join(parts[:end])) in known), None)


@functools.lru_cache(maxsize=None)
def modules():
    """Dotted names of the package's modules -> their files."""
    return {module_name(path): path for path in PACKAGE.rglob("*.py")
            if path not in (PACKAGE / "__init__.py", PACKAGE / "_src" / "__init__.py")}


def imported_names(tree):
    """Dotted names in `penstock` of all that a module imports: at its top, in functions, and as strings."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "penstock":
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
            yield node.module
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and re.fullmatch(
                r"penstock(\.\w+)+", node.value):
            yield node.value


@functools.lru_cache(maxsize=None)
def all_imports():
    """{module: the modules of the package that it imports, wherever it does}."""
    found = {}
    for name, path in modules().items():
        inner = (each.removeprefix("penstock.").removeprefix("_src.") for each in imported_names(
            ast.parse(path.read_text())))
        taken = {each for each in inner if each in modules()} - {name}
        packages = {each for each in taken if modules()[each].name == "__init__.py"}  # of which only modules are taken
        found[name] = taken - {each for each in packages if any(other.startswith(each + ".") for other in taken)}
    return found


def circles(imports):
    """Sets of modules that reach each other (Tarjan's algorithm, without recursion)."""
    numbers, lowest, stack, on_stack, found = {}, {}, [], set(), []
    for start in imports:
        waiting = [] if start in numbers else [(start, iter(sorted(imports[start])))]
        while waiting:
            name, rest = waiting[-1]
            if name not in numbers:
                numbers[name] = lowest[name] = len(numbers)
                stack.append(name)
                on_stack.add(name)
            other = next(rest, None)
            if other is None:
                waiting.pop()
                if waiting:
                    lowest[waiting[-1][0]] = min(lowest[waiting[-1][0]], lowest[name])
                if lowest[name] == numbers[name]:
                    place = stack.index(name)
                    found.append(set(stack[place:]))
                    on_stack.difference_update(stack[place:])
                    del stack[place:]
            elif other not in numbers:
                waiting.append((other, iter(sorted(imports[other]))))
            elif other in on_stack:
                lowest[name] = min(lowest[name], numbers[other])
    return found


def test_every_folder_of_python_is_declared():
    known = python_layers()
    assert not [name for name in modules() if row_of(name, known) is None and modules()[name].name != "__init__.py"]
    stand = {*modules(), *(name.rpartition(".")[0] for name in modules())}
    assert not [name for name in known if name not in stand]


def test_no_import_of_python_runs_upward():
    known = python_layers()
    wrong = [f"{name} imports {other}" for name, others in sorted(all_imports().items()) for other in sorted(others)
             if row_of(name, known) is not None and row_of(other, known) is not None
             and row_of(other, known) > row_of(name, known)]
    assert not wrong


def test_circles_of_imports_are_small_and_stay_in_a_layer():
    known = python_layers()
    found = [circle for circle in circles(all_imports()) if len(circle) > 1]
    assert max(map(len, found)) <= LARGEST_CIRCLE
    assert not [sorted(circle) for circle in found if len({row_of(name, known) for name in circle}) > 1]


def test_what_a_tensor_needs_is_small():
    """The lines of all modules that Tensor's module reaches by imports of any kind."""
    seen, waiting = set(), ["graph.tensor"]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting.extend(all_imports()[name])
    assert sum(len(modules()[name].read_text().splitlines()) for name in seen) <= 12000


def test_no_folder_holds_more_than_sixty_files():
    counts = collections.Counter(path.parent for path in (PACKAGE / "_src").rglob("*.py") if path.stem != "__init__")
    assert max(counts.values()) <= 60, counts.most_common(3)


def test_few_modules_forward_names():
    """A module-level `__getattr__` outside of `api/` and `alias/` hides where a name is defined."""
    forwarding = [name for name, path in modules().items()
                  if re.search(r"^(def __getattr__|__getattr__ =)", path.read_text(), re.M)]
    forwarding = [name for name in forwarding if name.split(".")[0] not in ("api", "alias", "compat")]
    assert len(forwarding) <= FORWARDING, forwarding
