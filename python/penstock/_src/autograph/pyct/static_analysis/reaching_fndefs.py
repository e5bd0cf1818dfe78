"""Which local functions may have been defined where a statement runs. After activity."""
import gast

from penstock._src.autograph.pyct import anno
from penstock._src.autograph.pyct import cfg
from penstock._src.autograph.pyct import transformer


class Definition:
    """The definition of a function."""

    def __init__(self, def_node):
        self.def_node = def_node


class Analyzer(cfg.GraphVisitor):
    """in_, out: Node -> the FunctionDefs and Lambdas that have run before and behind it."""

    def __init__(self, graph, external_defs):
        super().__init__(graph)
        self.external_defs = frozenset(external_defs)

    def init_state(self, node):
        return frozenset()

    def visit_node(self, node):
        before = self.out[node]
        found = frozenset().union(*(self.out[other] for other in node.prev))
        if node is self.graph.entry:
            found |= self.external_defs
        self.in_[node] = found
        if isinstance(node.ast_node, (gast.Lambda, gast.FunctionDef)):
            found |= {node.ast_node}
        self.out[node] = found
        return before != found


class TreeAnnotator(transformer.Base):
    """Writes DEFINED_FNS_IN on all that is a node of a graph."""

    def __init__(self, source_info, graphs):
        super().__init__(source_info)
        self.graphs = graphs
        self.current_analyzer = None

    def _defined(self, node):
        analyzer = self.current_analyzer
        if analyzer is not None and node in analyzer.graph.index:
            return analyzer.in_[analyzer.graph.index[node]]
        return None

    def visit(self, node):
        for part in (node, anno.Basic.EXTRA_LOOP_TEST.of(node)):
            found = None if part is None else self._defined(part)
            if found is not None:
                anno.setanno(part, anno.Static.DEFINED_FNS_IN, found)
        return super().visit(node)

    def _function(self, node):
        around = self.current_analyzer
        analyzer = Analyzer(self.graphs[node], self._defined(node) or ())
        analyzer.visit_forward()
        self.current_analyzer = analyzer
        node = self.generic_visit(node)
        self.current_analyzer = around
        return node

    visit_FunctionDef = visit_Lambda = _function


def resolve(node, source_info, graphs):
    """Writes the functions that may be defined on the nodes of a tree, and returns it.

    source_info: a transformer.Context. graphs: those of cfg.build.
    """
    return TreeAnnotator(source_info, graphs).visit(node)
