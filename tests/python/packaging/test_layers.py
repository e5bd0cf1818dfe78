"""A folder of src/penstock includes only from itself and from the folders above it; so it is with Python's imports."""
import ast
import functools
import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
SOURCES = ROOT / "src" / "penstock"
PACKAGE = ROOT / "python" / "penstock"

# TensorFlow's internal names, under which programs import modules, put these into other folders than their layer's.
COUNTS_AS = {
    "eager.cancellation": "framework",
    "eager.context": "framework",
    "framework.convert_to_constants": "eager",
    "framework.graph_io": "platform",
    "framework.meta_graph": "platform",
    "framework.subscribe": "ops",
    "framework.test_util": "testing",
    "module.module": "ops",
    "ops.gradient_checker_v2": "eager",
    "ops.rnn": "layers",
    "ops.rnn_cell_impl": "layers",
    "ops.rnn_cell_wrappers": "layers",
    "ops.rnn_dynamic": "layers",
    "ops.summary_ops_v2": "summaries",
    "platform.googletest": "testing",
    "platform.test": "testing",
    "platform.tf_logging": "util",
    "saved_models.constants": "framework",
    "saved_models.revived_types": "framework",
    "training.saving.saveable_object": "framework",
    "training.server_lib": "client",
    "training.tracking.base": "framework",
    "training.tracking.data_structures": "ops",
    "training.tracking.tracking": "ops",
    "training.tracking.registration": "framework",
    "training.training_util": "ops",
    "util.dispatch": "framework",
    "util.serialization": "framework",
}

# Figures that may only fall. Imports inside of functions and strings count too.
UPWARD, LARGEST_CIRCLE, FORWARDING = 56, 12, 23


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
    """Folders and modules of python/penstock -> the number of their row in docs/architecture.md."""
    table = (ROOT / "docs" / "architecture.md").read_text().split("| folder of `python/penstock`")[1].split("\n\n")[0]
    rows = re.findall(r"^\| (`.*?) \|", table, re.M)
    return {name: number for number, row in enumerate(rows) for name in re.findall(r"`(\w+)(?:/|\.py)?`", row)}


def module_name(path):
    """The dotted name below `penstock` of one of its files."""
    return ".".join(path.relative_to(PACKAGE).with_suffix("").parts).removesuffix(".__init__")


def imports_at_the_top(tree):
    """(module below `penstock`, name taken from it) of what runs when the module is imported."""
    for node in ast.iter_child_nodes(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "penstock":
            yield from ((node.module.partition(".")[2], alias.name) for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from ((alias.name.partition(".")[2], "") for alias in node.names
                        if alias.name.startswith("penstock."))
        elif not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)):
            yield from imports_at_the_top(node)


def test_every_folder_of_python_is_declared():
    known = python_layers()
    assert set(COUNTS_AS.values()) <= set(known)
    assert set(COUNTS_AS) <= {module_name(path) for path in PACKAGE.rglob("*.py")}
    strays = {module_name(path).split(".")[0] for path in PACKAGE.rglob("*.py")} - set(known) - {"__init__"}
    assert not strays
    gone = [name for name in known if name != "testing" and not (PACKAGE / name).is_dir()
            and not (PACKAGE / (name + ".py")).is_file()]
    assert not gone


def test_no_import_at_a_modules_top_runs_back_up():
    """The order at which modules can be loaded at all."""
    known = python_layers()
    modules = {module_name(path): path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py"}

    def row(name):
        return known[COUNTS_AS.get(name, name.split(".")[0])]

    wrong = []
    for name, path in sorted(modules.items()):
        for module, taken in imports_at_the_top(ast.parse(path.read_text())):
            full = f"{module}.{taken}".strip(".")
            imported = full if full in modules else module
            if imported in modules and row(imported) > row(name):
                wrong.append(f"{name} imports {imported}")
    assert not wrong


# Imports of every kind: at the top of modules, inside of functions, and as strings


def string_imports(tree):
    """Names of modules of the package that stand in strings, for `import_module` and tables of modules."""
    for node in ast.walk(tree):
        value = getattr(node, "value", None) if isinstance(node, ast.Constant) else None
        if isinstance(value, str) and re.fullmatch(r"penstock(\.\w+)+", value):
            yield value.partition(".")[2]


@functools.lru_cache(maxsize=None)
def all_imports():
    """{module: the modules of the package that it imports, wherever it does}."""
    modules = {module_name(path): path for path in PACKAGE.rglob("*.py") if path != PACKAGE / "__init__.py"}
    found = {}
    for name, path in modules.items():
        tree = ast.parse(path.read_text())
        taken = found[name] = set(string_imports(tree)) & set(modules)
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "penstock":
                base = node.module.partition(".")[2]
                taken.update(full if (full := f"{base}.{alias.name}".strip(".")) in modules else base
                             for alias in node.names)
            elif isinstance(node, ast.Import):
                taken.update(alias.name.partition(".")[2] for alias in node.names)
        found[name] = (taken & set(modules)) - {name}
    return found


def circles(imports):
    """Sets of modules that reach each other (Tarjan's algorithm, without recursion)."""
    numbers, lowest, stack, waiting, found = {}, {}, [], [], []
    for start in imports:
        if start not in numbers:
            waiting.append((start, iter(sorted(imports[start]))))
            numbers[start] = lowest[start] = len(numbers)
            stack.append(start)
        while waiting:
            name, rest = waiting[-1]
            other = next(rest, None)
            if other is None:
                waiting.pop()
                if waiting:
                    lowest[waiting[-1][0]] = min(lowest[waiting[-1][0]], lowest[name])
                if lowest[name] == numbers[name]:
                    place = stack.index(name)
                    found.append(set(stack[place:]))
                    del stack[place:]
            elif other not in numbers:
                numbers[other] = lowest[other] = len(numbers)
                stack.append(other)
                waiting.append((other, iter(sorted(imports[other]))))
            elif other in stack:
                lowest[name] = min(lowest[name], numbers[other])
    return found


def test_imports_of_every_kind():
    """The figures may only fall: imports that run upward, the largest circle of imports."""
    known, imports = python_layers(), all_imports()

    def row(name):
        return known[COUNTS_AS.get(name, name.split(".")[0])]

    upward = [f"{name} imports {other}" for name, others in sorted(imports.items()) for other in sorted(others)
              if row(other) > row(name)]
    assert len(upward) <= UPWARD, upward
    assert max(map(len, circles(imports))) <= LARGEST_CIRCLE


def test_what_a_tensor_needs_is_small():
    """The lines of all modules that Tensor's module reaches by imports of any kind."""
    imports, seen, waiting = all_imports(), set(), ["framework.tensor"]
    while waiting:
        name = waiting.pop()
        if name not in seen:
            seen.add(name)
            waiting.extend(imports[name])
    modules = {module_name(path): path for path in PACKAGE.rglob("*.py")}
    assert sum(len(modules[name].read_text().splitlines()) for name in seen) <= 12000


def test_few_modules_forward_names():
    """A module-level `__getattr__` outside of `api/` and `alias/` hides where a name is defined."""
    forwarding = [module_name(path) for path in PACKAGE.rglob("*.py")
                  if re.search(r"^(def __getattr__|__getattr__ =)", path.read_text(), re.M)]
    forwarding = [name for name in forwarding if name.split(".")[0] not in ("api", "alias", "__init__")]
    assert len(forwarding) <= FORWARDING, forwarding
