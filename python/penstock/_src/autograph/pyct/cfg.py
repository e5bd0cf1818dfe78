"""Control flow graphs: which statement of a function may follow which.

Statements, and the tests and sequences of conditionals and loops, are the nodes. Exceptions that calls raise have no
edges; those of `raise` lead to the handlers around it.
"""
import collections

import gast

from penstock._src.autograph.pyct import anno
from penstock._src.autograph.pyct import parser


class Node:
    """A node: `next` and `prev` are the sets of its neighbours, `ast_node` is what it stands for."""

    def __init__(self, next_, prev, ast_node):
        self.next = next_
        self.prev = prev
        self.ast_node = ast_node

    def freeze(self):
        """The graph is complete."""
        self.next, self.prev = frozenset(self.next), frozenset(self.prev)

    def __repr__(self):
        node = self.ast_node
        if isinstance(node, (gast.FunctionDef, gast.ClassDef)):
            return f"{'def' if isinstance(node, gast.FunctionDef) else 'class'} {node.name}"
        node = node.context_expr if isinstance(node, gast.withitem) else node
        return parser.unparse(node, include_encoding_marker=False)


class Graph(collections.namedtuple("Graph", ["entry", "exit", "error", "index", "stmt_prev", "stmt_next"])):
    """The graph of a function.

    entry: the node of its arguments. exit: the nodes after which it ends. error: its `raise` statements. index: syntax
    node -> Node, in the order of the code. stmt_prev, stmt_next: compound statement -> the nodes outside of it before
    its first, and those behind it.
    """

    def __repr__(self):
        return self.as_dot()

    def as_dot(self):
        """The graph in the language of Graphviz."""
        lines = ["digraph CFG {"]
        lines += [f'  {id(node)} [label="{node}"];' for node in self.index.values()]
        lines += [f"  {id(node)} -> {id(other)};" for node in self.index.values() for other in node.next]
        return "\n".join(lines) + "\n}"


class GraphVisitor:
    """Visits the nodes of a graph until nothing changes. A subclass says what `init_state` and `visit_node` do.

    in_, out: Node -> what is known before and behind it.
    """

    def __init__(self, graph):
        self.graph = graph
        self.reset()

    def init_state(self, node):
        """What is known of a node before it is visited."""
        raise NotImplementedError("subclasses must implement this")

    def visit_node(self, node):
        """Sets in_[node] and out[node]; returns whether that changed anything: then its neighbours come again."""
        raise NotImplementedError("subclasses must implement this")

    def reset(self):
        """Forgets what is known."""
        nodes = self.graph.index.values()
        self.in_ = {node: self.init_state(node) for node in nodes}
        self.out = {node: self.init_state(node) for node in nodes}

    def can_ignore(self, node):
        """Whether a node does nothing to variables."""
        return anno.hasanno(node.ast_node, anno.Basic.SKIP_PROCESSING) or isinstance(
            node.ast_node, (gast.Break, gast.Continue, gast.Raise, gast.Pass))

    def _visit(self, first, neighbours):
        waiting, seen = collections.deque(first), set()
        queued = set(waiting)
        while waiting:
            node = waiting.popleft()
            queued.discard(node)
            seen.add(node)
            changed = self.visit_node(node)
            for other in neighbours(node):
                if other not in queued and (changed or other not in seen):
                    queued.add(other)
                    waiting.append(other)

    def visit_forward(self):
        """From the entry on."""
        self._visit([self.graph.entry], lambda node: node.next)

    def visit_reverse(self):
        """From the exits back."""
        self._visit(self.graph.exit, lambda node: node.prev)


class _Finally:
    """The nodes of a `finally`: its first, and those that end it. Jumps out of what it guards go through it."""

    def __init__(self):
        self.first, self.last = None, frozenset()


class _Scope:
    """What jumps look for: a function, loop or try around them."""

    def __init__(self, node):
        self.node = node
        self.exits, self.continues = [], []  # pairs: a jump, the _Finally sections that it goes through
        self.guard = _Finally() if getattr(node, "finalbody", None) else None
        self.handlers = {handler: [] for handler in getattr(node, "handlers", ())}  # the raises that may lead there


class GraphBuilder:
    """The graph of one function while it is made. leaves: the nodes behind which the next one comes."""

    def __init__(self, parent_ast_node):
        self.parent = parent_ast_node
        self.leaves = frozenset()
        self.scopes = []
        self.errors = set()
        self.index = {}
        self._edges = []
        self._around = []  # the compound statements that are open
        self._owners = {}
        self._awaiting = []  # `finally`s without a first node

    def connect(self, nodes, to):
        for node in nodes:
            node.next.add(to)
            to.prev.add(node)
            self._edges.append((node, to))

    def add(self, ast_node):
        """A node behind the leaves, which becomes the leaf."""
        if ast_node in self.index:
            raise ValueError(f"{ast_node} added twice")
        node = self.index[ast_node] = Node(set(), set(), ast_node)
        self._owners[node] = frozenset(self._around)
        self.connect(self.leaves, node)
        for guard in self._awaiting:
            guard.first = node
        self._awaiting = []
        self.leaves = frozenset((node,))
        return node

    def begin_statement(self, node):
        self._around.append(node)

    def end_statement(self):
        self._around.pop()

    def jump(self, ast_node, kinds, continues=False):
        """A jump to the end, or the beginning, of the innermost scope of some kinds. Returns its node."""
        guards = []
        for scope in reversed(self.scopes):
            if scope.guard is not None:
                guards.append(scope.guard)
            if isinstance(scope.node, kinds):
                break
        else:
            raise ValueError(f"{ast_node} stands in none of {kinds}")
        node = self.add(ast_node)
        (scope.continues if continues else scope.exits).append((node, guards))
        self.leaves = frozenset()
        return node

    def arrive(self, jumps):
        """The nodes through which some jumps come to their target."""
        arrived = frozenset()
        for node, guards in jumps:
            last = frozenset((node,))
            for guard in guards:
                self.connect(last, guard.first)
                last = guard.last
            arrived |= last
        return arrived

    def enter_finally(self, guard):
        self._awaiting.append(guard)

    def build(self):
        """The Graph."""
        entry = next(iter(self.index.values()), None)
        for node in self.index.values():
            node.freeze()
        statements = frozenset().union(*self._owners.values())
        before, behind = {s: set() for s in statements}, {s: set() for s in statements}
        for one, other in self._edges:
            for statement in self._owners[one] - self._owners[other]:
                behind[statement].add(other)
            for statement in self._owners[other] - self._owners[one]:
                before[statement].add(one)
        return Graph(entry, self.leaves, self.errors, self.index, {s: frozenset(n) for s, n in before.items()},
                     {s: frozenset(n) for s, n in behind.items()})


class AstToCfg(gast.NodeVisitor):
    """Makes the graphs of a tree: `cfgs` is FunctionDef or Lambda -> Graph."""

    def __init__(self):
        self.builder = None
        self.cfgs = {}
        self._raises = {}  # handler -> the raises that may lead there

    def _block(self, statements):
        for statement in statements:
            self.visit(statement)

    def _basic(self, node):
        """A node of its own; the lambdas within come before it."""
        self.generic_visit(node)
        if self.builder is not None:
            self.builder.add(node)

    visit_Import = visit_ImportFrom = visit_Expr = visit_NamedExpr = visit_Assign = visit_AnnAssign = _basic
    visit_AugAssign = visit_Pass = visit_Global = visit_Nonlocal = visit_Print = visit_Assert = visit_Delete = _basic

    def _function(self, node):
        outer = self.builder
        if outer is not None:
            outer.add(node)
        builder = self.builder = GraphBuilder(node)
        scope = _Scope(node)
        builder.scopes.append(scope)
        self._basic(node.args)
        if isinstance(node, gast.Lambda):
            self.generic_visit(node.body)
            builder.jump(node.body, gast.Lambda)
        else:
            self._block(node.body)
        builder.leaves |= builder.arrive(scope.exits)
        self.cfgs[node] = builder.build()
        self.builder = outer

    visit_FunctionDef = visit_Lambda = _function

    def visit_ClassDef(self, node):
        outer = self.builder
        if outer is not None:
            outer.add(node)
            self.builder = GraphBuilder(node)  # what runs in the class is part of no graph
        self.generic_visit(node)
        self.builder = outer

    def visit_Return(self, node):
        self.generic_visit(node)
        self.builder.jump(node, gast.FunctionDef)

    def visit_Raise(self, node):
        self.generic_visit(node)
        raised = self.builder.jump(node, gast.FunctionDef)
        for scope in self.builder.scopes:
            for leading in scope.handlers.values():
                leading.append(raised)
        self.builder.errors.add(node)

    def visit_Break(self, node):
        self.builder.jump(node, (gast.While, gast.For, gast.AsyncFor))

    def visit_Continue(self, node):
        self.builder.jump(node, (gast.While, gast.For, gast.AsyncFor), continues=True)

    def _branches(self, blocks):
        """Blocks of which one runs, or none where an empty one is among them."""
        entry, behind = self.builder.leaves, frozenset()
        for block in blocks:
            self.builder.leaves = entry
            self._block(block)
            behind |= self.builder.leaves
        self.builder.leaves = behind

    def visit_If(self, node):
        self.builder.begin_statement(node)
        self._basic(node.test)
        self._branches([node.body, node.orelse])
        self.builder.end_statement()

    def _loop(self, node, head):
        builder, scope = self.builder, _Scope(node)
        builder.begin_statement(node)
        builder.scopes.append(scope)
        self._basic(head)
        entry = builder.index[head]
        if anno.hasanno(node, anno.Basic.EXTRA_LOOP_TEST):
            self._basic(anno.getanno(node, anno.Basic.EXTRA_LOOP_TEST))
        self._block(node.body)
        builder.connect(builder.leaves | builder.arrive(scope.continues), entry)
        builder.leaves = frozenset((entry,))
        builder.scopes.pop()
        self._block(node.orelse)
        builder.leaves |= builder.arrive(scope.exits)
        builder.end_statement()

    def visit_While(self, node):
        self._loop(node, node.test)

    def visit_For(self, node):
        self._loop(node, node.iter)

    visit_AsyncFor = visit_For

    def visit_Try(self, node):
        """Taken to run to the end of its body, and then through any of its handlers or none."""
        builder, scope = self.builder, _Scope(node)
        builder.begin_statement(node)
        builder.scopes.append(scope)
        self._block(node.body)
        if node.orelse:
            self._branches([node.orelse, []])
        builder.scopes.pop()
        if node.handlers:
            self._raises.update(scope.handlers)
            self._branches([*([handler] for handler in node.handlers), []])
        if scope.guard is not None:
            reached = bool(builder.leaves)
            builder.enter_finally(scope.guard)
            self._block(node.finalbody)
            scope.guard.last = builder.leaves
            if not reached:  # what follows is not reached through it, but by the jumps that go through it
                builder.leaves = frozenset()
        builder.end_statement()

    visit_TryStar = visit_Try

    def visit_ExceptHandler(self, node):
        builder = self.builder
        builder.begin_statement(node)
        builder.leaves |= frozenset(self._raises[node])
        if node.type is not None:
            self.visit(node.type)
        self._block(node.body)
        builder.end_statement()

    def visit_With(self, node):
        for item in node.items:
            self._basic(item)
        self._block(node.body)

    visit_AsyncWith = visit_With


def build(node):
    """FunctionDef or Lambda -> Graph, of all functions of a tree."""
    visitor = AstToCfg()
    visitor.visit(node)
    return visitor.cfgs
