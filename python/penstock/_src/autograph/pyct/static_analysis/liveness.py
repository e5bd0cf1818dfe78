"""Which names are still read behind a statement. After activity and reaching_fndefs."""
import gast

from penstock._src.autograph.pyct import anno
from penstock._src.autograph.pyct import cfg
from penstock._src.autograph.pyct import transformer
from penstock._src.autograph.pyct.static_analysis import annos


class Analyzer(cfg.GraphVisitor):
    """in_, out: Node -> the names whose values may be read from it on, and behind it."""

    def __init__(self, graph, include_annotations):
        super().__init__(graph)
        self.include_annotations = include_annotations

    def init_state(self, node):
        return set()

    def visit_node(self, node):
        before = self.in_[node]
        live = set().union(*(self.in_[other] for other in node.next))
        self.out[node] = live
        scope = anno.Static.SCOPE.of(node.ast_node)
        if scope is None:
            assert self.can_ignore(node), node.ast_node
        else:
            read = scope.read if self.include_annotations else scope.read - scope.annotations
            live = read | (live - scope.modified - scope.deleted)
            for function in anno.getanno(node.ast_node, anno.Static.DEFINED_FNS_IN):
                if not isinstance(function, gast.Lambda):  # which is taken to be called where it stands
                    inside = anno.getanno(function, annos.NodeAnno.ARGS_AND_BODY_SCOPE)
                    live |= inside.read - inside.bound
        self.in_[node] = live
        return before != live


class TreeAnnotator(transformer.Base):
    """Writes LIVE_VARS_IN on statements and LIVE_VARS_OUT on those with blocks and on expressions."""

    def __init__(self, source_info, graphs, include_annotations):
        super().__init__(source_info)
        self.include_annotations = include_annotations
        self.graphs = graphs
        self.current_analyzer = None

    def visit(self, node):
        node = super().visit(node)
        analyzer = self.current_analyzer
        if analyzer is not None and isinstance(node, gast.stmt) and node in analyzer.graph.index:
            live = frozenset(analyzer.in_[analyzer.graph.index[node]])
            anno.setanno(node, anno.Static.LIVE_VARS_IN, live)
        return node

    def _function(self, node):
        around = self.current_analyzer
        self.current_analyzer = Analyzer(self.graphs[node], self.include_annotations)
        self.current_analyzer.visit_reverse()
        node = self.generic_visit(node)
        self.current_analyzer = around
        return node

    visit_FunctionDef = visit_Lambda = _function

    def _statement(self, node, first, has_end=True):
        """first: the node that runs first in it."""
        node = self.generic_visit(node)
        analyzer = self.current_analyzer
        if has_end:
            live = frozenset().union(*(analyzer.in_[other] for other in analyzer.graph.stmt_next[node]))
            anno.setanno(node, anno.Static.LIVE_VARS_OUT, live)
        if first in analyzer.graph.index:
            live = frozenset(analyzer.in_[analyzer.graph.index[first]])
        else:
            live = anno.getanno(first, anno.Static.LIVE_VARS_IN)
        anno.setanno(node, anno.Static.LIVE_VARS_IN, live)
        return node

    def visit_If(self, node):
        return self._statement(node, node.test)

    visit_While = visit_If

    def visit_For(self, node):
        return self._statement(node, node.iter)

    visit_AsyncFor = visit_For

    def visit_Try(self, node):
        return self._statement(node, node.body[0])

    visit_TryStar = visit_ExceptHandler = visit_Try

    def visit_With(self, node):
        return self._statement(node, node.items[0], has_end=False)

    visit_AsyncWith = visit_With

    def visit_Expr(self, node):
        node = self.generic_visit(node)
        analyzer = self.current_analyzer
        if analyzer is not None and node in analyzer.graph.index:
            live = frozenset(analyzer.out[analyzer.graph.index[node]])
            anno.setanno(node, anno.Static.LIVE_VARS_OUT, live)
        return node


def resolve(node, source_info, graphs, include_annotations=True):
    """Writes the names that are live on the statements of a tree, and returns it.

    source_info: a transformer.Context. graphs: those of cfg.build. include_annotations: types are read, too.
    """
    return TreeAnnotator(source_info, graphs, include_annotations).visit(node)
