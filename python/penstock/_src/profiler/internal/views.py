"""The views of a graph's statistics: trees of rows by name scope, inputs or lines of code, and a list of op types."""
import os
import re

from penstock._src.profiler.internal.node_stats import ROOT
from penstock._src.profiler.internal.options import COLUMNS
from penstock._src.profiler.internal.shown import GroupRow, NodeRow

GRADIENT = " (gradient)"
_GRADIENT_NAME = re.compile(r".*?gradients/(.+?)_grad/")


def _fold(roots, below, combine):
    """Walks a graph from `roots`, each node once: `combine(node, results, depth)` gives a list, made of the results of
    the nodes that `below(node, depth)` names. Returns the lists of the roots, joined. Roots have depth 1."""
    seen, results = set(), []
    stack = [(None, iter(roots), results)]
    while stack:
        node, rest, found = stack[-1]
        child = next((c for c in rest if id(c) not in seen), None)
        if child is not None:
            seen.add(id(child))
            stack.append((child, iter(below(child, len(stack))), []))
            continue
        stack.pop()
        if stack:
            stack[-1][2].extend(combine(node, found, len(stack)))
    return results


def _sorted(rows, order_by):
    """By name, or by a total, the greatest first."""
    if order_by == "occurrence" and rows and isinstance(rows[0], GroupRow):
        return sorted(rows, key=lambda row: -len(row.rows))
    if order_by in COLUMNS:
        return sorted(rows, key=lambda row: -row.total[COLUMNS[order_by][0]])
    return sorted(rows, key=lambda row: row.name) if order_by else rows


class _Tree:
    """Rows below rows."""

    keeps_parents = True  # a row stays for what is below it, even if it is not accounted for itself
    cuts_trimmed = False  # rows where the tree is trimmed, or too deep, are left out themselves

    def __init__(self, stats):
        self.stats = stats
        self.root = None

    def show(self, options):
        """The root, with the rows that the options ask for in `below`."""
        self._options = options
        roots = _fold(self.root.children, lambda row, _: row.children, self._account)
        self.root.sum_of(roots)
        if not options.start.all:
            roots = _fold(roots, lambda row, _: () if options.start.match(row.name) else row.below,
                          lambda row, found, _: [row] if options.start.match(row.name) else found)
        self.root.below = roots
        _fold([self.root], self._deeper, self._choose)
        return self.root

    def _account(self, row, below, depth):
        row.account(self._options)
        if not row.counted and not (below and self.keeps_parents):
            return below
        row.below = below
        row.sum_up(below)
        return [row]

    def _deeper(self, row, depth):
        options = self._options
        if not self.cuts_trimmed:
            return row.below if depth <= options.max_depth and not options.trim.match(row.name) else ()
        return [r for r in row.below if depth < options.max_depth and not options.trim.match(r.name)]

    def _choose(self, row, below, depth):
        options = self._options
        if row is not self.root and not (depth <= options.max_depth and self._is_wanted(row)):
            return below
        row.below = _sorted(below, options.order_by)
        if options.account_displayed_op_only and not self.cuts_trimmed:
            row.sum_up(below)
        return [row]

    def _is_wanted(self, row):
        options = self._options
        return (all(self._measure(row)[counter] >= least for counter, least in options.minima.items())
                and row.own["run_count"] >= options.min_occurrence and _is_named(row, options))

    @staticmethod
    def _measure(row):
        """What must reach the minima: totals, but of parameters and flops the row's own."""
        return {**row.total, "parameters": row.own["parameters"], "float_ops": row.own["float_ops"]}


def _is_named(row, options):
    return options.show.match(row.name) and not options.hide.match(row.name)


class ScopeView(_Tree):
    """Name scopes."""

    def __init__(self, stats):
        super().__init__(stats)
        rows = {name: NodeRow(name, node, stats.nodes) for name, node in stats.nodes.items()}
        for name in stats.nodes:
            while "/" in name:
                name = name.rpartition("/")[0]
                rows.setdefault(name, NodeRow(name))
        self.root = NodeRow(ROOT)
        for name in sorted(rows):
            parent = rows[name.rpartition("/")[0]] if "/" in name else self.root
            parent.children.append(rows[name])


class GraphView(_Tree):
    """Nodes, and below them their inputs; a node that several read is below the first."""

    keeps_parents = False

    def __init__(self, stats):
        super().__init__(stats)
        rows = {name: NodeRow(name, stats.nodes[name], stats.nodes) for name in sorted(stats.nodes)}
        read = set()
        for row in rows.values():
            for _, name in sorted(row.node.inputs.items()):
                read.add(name)
                if name in rows:
                    row.children.append(rows[name])
        self.root = NodeRow(ROOT, kind="_TFGraphParent")
        self.root.children = [row for name, row in rows.items() if name not in read]


class CodeView(_Tree):
    """Lines of the program, and below them the lines that they called. What tf.gradients made stands with the line that
    made the forward node."""

    cuts_trimmed = True

    def __init__(self, stats):
        super().__init__(stats)
        self.root = GroupRow(ROOT, stats.nodes)
        self.root.trace = None
        self.unaccounted = 0  # gradient nodes without a forward node
        gradients = {}
        for name in sorted(stats.nodes):
            node = stats.nodes[name]
            if not stats.code(node):
                continue
            forward = _GRADIENT_NAME.match(name)
            if forward:
                gradients.setdefault(forward.group(1), []).append(node)
            else:
                self._leaf(stats.code(node), "").members.append(node)
        for name, nodes in gradients.items():
            if name in stats.nodes and stats.code(stats.nodes[name]):
                self._leaf(stats.code(stats.nodes[name]), GRADIENT).members.extend(nodes)
            else:
                self.unaccounted += 1

    def _leaf(self, code, suffix):
        row = self.root
        for trace in code:
            name = _line(trace) + suffix
            child = next((c for c in row.children if c.name == name), None)
            if child is None:
                child = GroupRow(name, self.stats.nodes)
                child.trace = trace[:2] + (trace[2] + suffix, trace[3])
                row.children.append(child)
            row = child
        return row

    def _is_wanted(self, row):
        options = self._options
        return (all(row.total[counter] >= least for counter, least in options.minima.items())
                and _is_named(row, options))


def _line(trace):
    file, line, function, _ = trace
    return f"{os.path.basename(file)}:{line}:{function if len(function) < 20 else function[:17] + '...'}"


class OpView:
    """A list of op types: each row is below the one before it, so that its total is that of the rest of the list."""

    def __init__(self, stats):
        self.root = GroupRow(ROOT, stats.nodes)
        rows = {}
        for name in sorted(stats.nodes):
            node = stats.nodes[name]
            if node.op not in rows:
                rows[node.op] = GroupRow(node.op, stats.nodes)
            rows[node.op].members.append(node)
        self._rows = [rows[op] for op in sorted(rows)]

    def show(self, options):
        """The root, with the rows that the options ask for."""
        for row in self._rows:
            row.account(options)
            row.sum_up([])
        rows = [row for row in _sorted(self._rows, options.order_by) if row.counted]
        _chain(self.root, rows)
        begin = next((i for i, row in enumerate(rows) if options.start.match(row.name)), len(rows))
        shown = []
        for depth, row in enumerate(rows[begin:]):
            if options.trim.match(row.name) or depth > options.max_depth:
                break
            if (all(row.total[counter] >= least for counter, least in options.minima.items())
                    and len(row.rows) >= options.min_occurrence and _is_named(row, options)):
                shown.append(row)
        if options.account_displayed_op_only:
            _chain(self.root, shown)
        for row, following in zip([self.root] + shown, shown + [None]):
            row.below = [following] if following else []
        return self.root


def _chain(root, rows):
    """Sets the totals of a list: each has its own and those of all behind it."""
    behind = []
    for row in reversed(rows):
        row.sum_up(behind)
        behind = [row]
    root.sum_of(behind)
