"""Which names statements read and write, and which are still needed after them: of code whose jumps were lowered.

There the blocks tell it, without a graph of the control flow. pyct's analyses, which take any code, need ten times as
long, and a tf.function waits for this.
"""
import ast

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def qualified(node):
    """"a.b.c" of a chain of attributes that begins with a name; None of anything else."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


class Names(ast.NodeVisitor):
    """The names that a piece of code reads and writes outside of the functions within it.

    inner: names that functions within it read from outside of themselves. elements: what it sets elements of.
    """

    def __init__(self, node=None):
        self.read, self.written, self.attributes, self.elements, self.inner = set(), [], [], [], set()
        self.declared = set()
        for part in node if isinstance(node, list) else [node]:
            if part is not None:
                self.visit(part)

    def _write(self, name):
        if name not in self.written:
            self.written.append(name)

    def visit_Name(self, node):
        if isinstance(node.ctx, ast.Load):
            self.read.add(node.id)
        else:
            self._write(node.id)

    def visit_Attribute(self, node):
        if not isinstance(node.ctx, ast.Load):
            name = qualified(node)
            if name is not None and name not in self.attributes:
                self.attributes.append(name)
        self.visit(node.value)

    def visit_Subscript(self, node):
        if not isinstance(node.ctx, ast.Load):
            container = node.value
            while isinstance(container, ast.Subscript):
                container = container.value
            self._element(qualified(container))
        self.generic_visit(node)

    def _element(self, name):
        if name is not None and name not in self.elements:
            self.elements.append(name)

    def visit_Assign(self, node):
        if isinstance(node.value, ast.Call) and qualified(node.value.func) == "ag__.set_item":
            self._element(qualified(node.value.args[0]))
        self.generic_visit(node)

    def visit_AugAssign(self, node):
        if isinstance(node.target, ast.Name):
            self.read.add(node.target.id)
        self.generic_visit(node)

    def visit_Global(self, node):
        self.declared.update(node.names)

    visit_Nonlocal = visit_Global

    def visit_FunctionDef(self, node):
        self._write(node.name)
        for part in [*node.decorator_list, *node.args.defaults, *filter(None, node.args.kw_defaults)]:
            self.visit(part)
        self._inner(node, node.body)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node):
        for part in [*node.args.defaults, *filter(None, node.args.kw_defaults)]:
            self.visit(part)
        known = set(self.inner)
        self._inner(node, [node.body])
        self.inner = known  # it is called where it stands, and not later

    def _inner(self, node, body):
        a = node.args
        own = {x.arg for x in [*a.posonlyargs, *a.args, *a.kwonlyargs, a.vararg, a.kwarg] if x is not None}
        inside = Names(body)
        free = (inside.read | inside.inner | inside.declared) - own - (set(inside.written) - inside.declared)
        self.inner |= free
        self.read |= free
        for name in inside.declared & set(inside.written):
            self._write(name)

    def visit_ClassDef(self, node):
        self._write(node.name)
        inside = Names([*node.body, *node.bases, *node.decorator_list])
        self.read |= inside.read
        self.inner |= inside.read | inside.inner

    def _comprehension(self, node):
        inside = Names()
        for generator in node.generators:
            inside.visit(generator)
        for part in ("elt", "key", "value"):
            if hasattr(node, part):
                inside.visit(getattr(node, part))
        own = {n for g in node.generators for n in Names(g.target).written}
        self.read |= inside.read - own
        self.inner |= inside.inner - own
        for walrus in ast.walk(node):
            if isinstance(walrus, ast.NamedExpr):
                self._write(walrus.target.id)

    visit_ListComp = visit_SetComp = visit_DictComp = visit_GeneratorExp = _comprehension

    def visit_ExceptHandler(self, node):
        if node.name:
            self._write(node.name)
        self.generic_visit(node)

    def visit_Import(self, node):
        for alias in node.names:
            self._write((alias.asname or alias.name).split(".")[0])

    visit_ImportFrom = visit_Import


def all_names(node):
    """Every identifier in a piece of code."""
    found = set()
    for part in ast.walk(node):
        for field in ("id", "arg", "name", "attr"):
            value = getattr(part, field, None)
            if isinstance(value, str):
                found.add(value)
        if type(part).__name__ in ("Global", "Nonlocal"):
            found.update(part.names)
    return found


class Liveness:
    """Which names are needed after each conditional and loop of a function whose body has no jumps but the last return.

    after[statement], entering[statement]: names needed behind it and before it.
    """

    def __init__(self, body, always):
        self._always = frozenset(always)
        self.after, self.entering = {}, {}
        self._block(body, frozenset())

    def block(self, body, live):
        """The names needed before a block behind which `live` are needed."""
        return self._block(body, live)

    def _block(self, body, live):
        for statement in reversed(body):
            live = self._statement(statement, live)
        return live

    def _statement(self, node, live):
        live = live | self._always
        self.after[node] = live
        if isinstance(node, ast.If):
            before = self._block(node.body, live) | self._block(node.orelse, live) | Names(node.test).read
        elif isinstance(node, ast.While):
            before = self._loop(node, live, Names(node.test).read | set(getattr(node, "stops", ())), ())
        elif isinstance(node, ast.For):
            own = Names(node.target)
            before = self._loop(node, live, own.read | set(getattr(node, "stops", ())), own.written)
            before = before | Names(node.iter).read
        elif isinstance(node, ast.Try):
            behind = self._block(node.finalbody, live)
            after_handlers = behind
            for handler in node.handlers:
                after_handlers = after_handlers | self._block(handler.body, behind) | (
                    Names(handler.type).read if handler.type else set())
            before = self._block(node.body, self._block(node.orelse, behind) | after_handlers) | after_handlers
        elif isinstance(node, (ast.With, ast.AsyncWith)):
            before = self._block(node.body, live)
            for item in node.items:
                names = Names([item.context_expr, item.optional_vars])
                before = (before - set(names.written)) | names.read
        else:
            names = Names(node)
            written = set(names.written)
            if isinstance(node, ast.Delete):
                written = set()
            before = (live - written) | names.read
        self.entering[node] = frozenset(before)
        return frozenset(before)

    def _loop(self, node, live, read, targets):
        head = live | read
        while True:
            body = self._block(node.body, head) - set(targets)
            if body <= head:
                return head
            head = head | body
