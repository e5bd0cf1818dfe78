"""Reads a program without running it: the names that it takes from TensorFlow, in its own modules too.

Its own modules are those of its folder. A file that Python cannot parse (Python 2) is read word by word."""
import ast
import collections
import io
import os
import re
import tokenize

# One use of a name: `name` is dotted and below the TensorFlow module ("train.AdamOptimizer", "contrib"), or begins with
# a dot if it is a method of something unknown. `guarded`: the program checks the version there.
Use = collections.namedtuple("Use", "name path line guarded")

_MOST_FILES, _LONGEST = 400, 2 << 20
_METHODS = ("make_one_shot_iterator", "make_initializable_iterator")  # of datasets, which only version 1 has
_ASKS = re.compile(r"__version__|VERSION|tf_?2|is_v2|hasattr|compat", re.IGNORECASE)
_ERRORS = {"AttributeError", "ImportError", "ModuleNotFoundError", "Exception", "BaseException"}


class Source:
    """One file as it was read: `uses` of TensorFlow's names, `modules` that it imports [(dotted, level, names)], `tree`
    (None if it cannot be parsed: then `error` says why)."""

    def __init__(self, source, path):
        self.path, self.uses, self.modules, self.tree, self.error = path, [], [], None, None
        self.bound = {}  # name in the program -> dotted name below the TensorFlow module
        self.text = decoded(source)
        try:
            self.tree = tree = ast.parse(source, path)
        except (SyntaxError, ValueError) as e:
            self.error = e
            self._read_words()
        else:
            self._read_imports(tree)
            self._visit(tree, False)

    def use(self, name, line, guarded=False):
        self.uses.append(Use(name, self.path, line, guarded))

    def _read_imports(self, tree):
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                for item in node.names:
                    self._imported(item.name, item.asname)
            elif isinstance(node, ast.ImportFrom):
                self._imported_from(node.module or "", node.level, [(i.name, i.asname) for i in node.names])
        # `slim = tf.contrib.slim`, `tf = tf.compat.v1`
        for node in ast.walk(tree):
            if isinstance(node, ast.Assign) and isinstance(node.value, ast.Attribute):
                name = self._dotted(node.value)
                if name is not None and (name in ("compat.v1", "compat.v2") or _is_namespace(name)):
                    for target in node.targets:
                        if isinstance(target, ast.Name):
                            self.bound[target.id] = name

    def _imported(self, module, asname):
        first, _, rest = module.partition(".")
        if first == "tensorflow":
            self.bound[asname or "tensorflow"] = rest if asname else ""
        else:
            self.modules.append((module, 0, ()))

    def _imported_from(self, module, level, names):
        first, _, rest = module.partition(".")
        if first == "tensorflow" and not level:
            for name, asname in names:
                self.bound[asname or name] = f"{rest}.{name}" if rest else name
        else:
            self.modules.append((module, level, tuple(name for name, _ in names)))

    def _dotted(self, node):
        """The name below the TensorFlow module that an expression says, or None."""
        parts = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name) or node.id not in self.bound:
            return None
        return ".".join(part for part in [self.bound[node.id], *reversed(parts)] if part)

    def _visit(self, node, guarded):
        if isinstance(node, ast.Attribute):
            name = self._dotted(node)
            if name:
                self.use(name, node.lineno, guarded)
                return
            if node.attr in _METHODS:
                self.use("." + node.attr, node.lineno, guarded)
        elif isinstance(node, ast.Import):
            for item in node.names:
                if item.name.startswith("tensorflow."):
                    self.use(item.name[len("tensorflow."):], node.lineno, guarded)
        elif isinstance(node, ast.ImportFrom):
            module = node.module or ""
            if not node.level and module.split(".")[0] == "tensorflow":
                for item in node.names:
                    inner = module[len("tensorflow."):]
                    name = inner if item.name == "*" else f"{inner}.{item.name}" if inner else item.name
                    if name:
                        self.use(name, node.lineno, guarded)
        elif isinstance(node, ast.Try):
            caught = {getattr(kind, "attr", getattr(kind, "id", None)) for handler in node.handlers
                      for kind in getattr(handler.type, "elts", [handler.type])}
            within = guarded or bool(caught & {None, *_ERRORS})
            for child in [*node.body, *node.handlers]:
                self._visit(child, within)
            for child in [*node.orelse, *node.finalbody]:
                self._visit(child, guarded)
            return
        elif isinstance(node, (ast.If, ast.IfExp)) and _ASKS.search(ast.unparse(node.test)):
            guarded = True
        for below in ast.iter_child_nodes(node):
            self._visit(below, guarded)

    def _read_words(self):
        """As much of the same as a file tells that is no Python of today."""
        lines = without_comments(self.text).split("\n")
        for line in lines:
            for module, asname in re.findall(r"^\s*import\s+([\w.]+)(?:\s+as\s+(\w+))?", line):
                self._imported(module, asname or None)
            for dots, module, names in re.findall(r"^\s*from\s+(\.*)([\w.]*)\s+import\s+\(?([\w\s,*]+)", line):
                self._imported_from(module, len(dots), [
                    (words[0], words[2] if words[1:2] == ["as"] else None)
                    for words in (item.split() for item in names.split(",")) if words])
        for number, line in enumerate(lines, 1):
            for module in re.findall(r"^\s*(?:from|import)\s+tensorflow\.([\w.]+)", line):
                self.use(module, number)
            for first, rest in re.findall(r"(?<![\w.])([A-Za-z_]\w*)\.(\w+(?:\.\w+)*)", line):
                if first in self.bound and not re.match(r"\s*(?:from|import)\s", line):
                    self.use(".".join(part for part in (self.bound[first], rest) if part), number)
            for method in _METHODS:
                if f".{method}(" in line:
                    self.use("." + method, number)


def _is_namespace(name):
    from penstock.alias import known
    return name in known.table()


def decoded(source):
    """The text of a source file, by its own encoding if that is known."""
    if isinstance(source, str):
        return source
    try:
        return source.decode(tokenize.detect_encoding(io.BytesIO(source).readline)[0])
    except (SyntaxError, UnicodeDecodeError):
        return source.decode("latin-1")


_LONG = r'"""[\s\S]*?"""|\'\'\'[\s\S]*?\'\'\''
_SHORT = r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\''
_WORDS = re.compile(f"{_LONG}|{_SHORT}|#[^\n]*")


def without_comments(text, strings=True):
    """Text of the same lines with comments and strings blanked, as far as that is possible without parsing; if not
    `strings`, short strings become ''."""
    def blank(found):
        if not strings and found[0][0] in "\"'" and found[0][:3] not in ('"""', "'''"):
            return "''"
        return re.sub(r"[^\n]", " ", found[0])
    return _WORDS.sub(blank, text)


def read(first, folder):
    """[Source] of a program, `first`, and of the modules of its folder that it imports."""
    folder = os.path.abspath(folder)
    top = folder  # a file of a package names it in full
    while os.path.isfile(os.path.join(top, "__init__.py")):
        top = os.path.dirname(top)
    found, waiting, seen = [first], [first], {os.path.abspath(first.path)}
    while waiting and len(found) < _MOST_FILES:
        each = waiting.pop(0)
        for file in [*_files(each, folder), *(_files(each, top) if top != folder else ())]:
            if file in seen:
                continue
            seen.add(file)
            try:
                if os.path.getsize(file) > _LONGEST:
                    continue
                with open(file, "rb") as f:
                    each = Source(f.read(), file)
            except OSError:
                continue
            found.append(each)
            waiting.append(each)
    return found


def _files(source, folder):
    """The files of `folder` that a source's imports name."""
    for module, level, names in source.modules:
        base = folder
        if level:
            base = os.path.dirname(os.path.abspath(source.path))
            for _ in range(level - 1):
                base = os.path.dirname(base)
        place = base
        for part in [part for part in module.split(".") if part]:
            place = os.path.join(place, part)
            yield from _existing(os.path.join(place, "__init__.py"))
        if place != base:
            yield from _existing(place + ".py")
        for name in names:
            yield from _existing(os.path.join(place, name + ".py"))
            yield from _existing(os.path.join(place, name, "__init__.py"))


def _existing(file):
    if os.path.isfile(file):
        yield file
