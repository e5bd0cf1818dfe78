"""From which assignments a name may have its value. After activity."""
import weakref

import gast

from penstock._src.autograph.pyct import anno
from penstock._src.autograph.pyct import cfg
from penstock._src.autograph.pyct import transformer


class Definition:
    """An assignment to a name; one object for all that it reaches.

    param_of: a weak reference to the function whose parameter it is, or None. directives: for converters.
    """

    def __init__(self):
        self.param_of = None
        self.directives = {}

    def __repr__(self):
        return f"{type(self).__name__}[{id(self)}]"


class Analyzer(cfg.GraphVisitor):
    """in_, out: Node -> {name: its definitions} before and behind it."""

    def __init__(self, graph, definition_factory):
        self._definition_factory = definition_factory
        super().__init__(graph)
        self._made = {}

    def init_state(self, node):
        return {}

    def _definitions(self, node, scope):
        """{name: the definition} of what a node assigns; the same at each visit."""
        made = self._made.get(node)
        if made is None:
            made = self._made[node] = {
                name: self._definition_factory() for name in (scope.bound | scope.globals) - scope.deleted}
            for name, function in scope.params.items():
                made[name] = self._definition_factory()
                made[name].param_of = weakref.ref(function)
        return made

    def visit_node(self, node):
        before = self.out[node]
        reaching = {}
        for other in node.prev:
            for name, found in self.out[other].items():
                reaching[name] = reaching.get(name, frozenset()) | found
        self.in_[node] = reaching
        scope = anno.Static.SCOPE.of(node.ast_node)
        if scope is None:
            assert self.can_ignore(node), node.ast_node
        else:
            gone = scope.modified | scope.deleted
            reaching = {name: found for name, found in reaching.items() if name not in gone}
            for name, definition in self._definitions(node, scope).items():
                reaching[name] = reaching.get(name, frozenset()) | {definition}
        self.out[node] = reaching
        return before != reaching


class TreeAnnotator(transformer.Base):
    """Writes DEFINITIONS on names, and DEFINED_VARS_IN on statements with blocks."""

    def __init__(self, source_info, graphs, definition_factory):
        super().__init__(source_info)
        self.definition_factory = definition_factory
        self.graphs = graphs
        self.current_analyzer = None
        self.current_cfg_node = None

    def visit(self, node):
        around = self.current_cfg_node
        if self.current_analyzer is not None:
            self.current_cfg_node = self.current_analyzer.graph.index.get(node, around)
        node = super().visit(node)
        self.current_cfg_node = around
        return node

    def visit_FunctionDef(self, node):
        around = self.current_analyzer
        self.current_analyzer = Analyzer(self.graphs[node], self.definition_factory)
        self.current_analyzer.visit_forward()
        node.args = self.visit(node.args)
        node.body = self.visit_block(node.body)
        self.current_analyzer = around
        return node

    def visit_Name(self, node):
        analyzer = self.current_analyzer
        if analyzer is None:  # in a class, say
            return node
        assert self.current_cfg_node is not None, f"{node.id} stands in no statement"
        known = (analyzer.in_ if isinstance(node.ctx, gast.Load) else analyzer.out)[self.current_cfg_node]
        found = known.get(anno.getanno(node, anno.Basic.QN), ())
        anno.setanno(node, anno.Static.DEFINITIONS, tuple(found))
        return node

    def _defined_before(self, node):
        analyzer = self.current_analyzer
        names = frozenset().union(*(analyzer.out[other] for other in analyzer.graph.stmt_prev[node]))
        anno.setanno(node, anno.Static.DEFINED_VARS_IN, names)

    def visit_If(self, node):
        self._defined_before(node)
        return self.generic_visit(node)

    visit_While = visit_Try = visit_TryStar = visit_If

    def visit_For(self, node):
        self._defined_before(node)
        around = self.current_cfg_node
        self.current_cfg_node = self.current_analyzer.graph.index[node.iter]  # which assigns the target, too
        node.target = self.visit(node.target)
        self.current_cfg_node = around
        node.iter = self.visit(node.iter)
        node.body = self.visit_block(node.body)
        node.orelse = self.visit_block(node.orelse)
        return node

    visit_AsyncFor = visit_For

    def visit_ExceptHandler(self, node):
        self._defined_before(node)
        node.body = self.visit_block(node.body)
        return node


def resolve(node, source_info, graphs, definition_factory=Definition):
    """Writes definitions on the names of a tree, and returns it.

    source_info: a transformer.Context. graphs: those of cfg.build. definition_factory: makes a Definition.
    """
    return TreeAnnotator(source_info, graphs, definition_factory).visit(node)
