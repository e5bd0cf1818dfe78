"""penstock draw: a graph as a picture (SVG, PNG, Graphviz), with name scopes folded.

Boxes stand in layers, inputs above what reads them, ordered so that few lines cross. A folded scope is a box with the
number of its operations.
"""
import argparse
import collections
import html
import sys

from penstock._src.graph import errors
from penstock._src.files import gfile
from penstock._src.tools import picture_files

_CHARACTER, _LINE, _GAP, _LAYER = 7.2, 30, 18, 64  # sizes in the picture
_MOST_BOXES = 2000


class Box:
    """An operation, or a scope with operations."""

    def __init__(self, name, nodes):
        self.name, self.nodes = name, nodes
        self.folded = len(nodes) > 1 or nodes[0].name != name
        self.layer = self.place = 0
        self.x = self.y = 0.0

    @property
    def label(self):
        """What is written in it."""
        short = self.name.rsplit("/", 1)[-1]
        return "%s (%d)" % (short, len(self.nodes)) if self.folded else short

    @property
    def width(self):
        """As wide as the label needs."""
        return max(40.0, len(self.label) * _CHARACTER + 16)

    @property
    def title(self):
        """What is said about it when the mouse is over it."""
        if not self.folded:
            return "%s: %s" % (self.name, self.nodes[0].op)
        ops = collections.Counter(node.op for node in self.nodes)
        return "%s: %s" % (self.name, ", ".join("%d %s" % (n, op) for op, n in ops.most_common(8)))


class _Bend:
    """Where a long line passes a layer."""

    width = 2.0

    def __init__(self, layer):
        self.layer, self.place = layer, 0
        self.x = self.y = 0.0


def boxes_of(graph_def, depth=1, expand=()):
    """{node name: Box}: scopes of `depth` parts are folded, but for those in `expand`."""
    counts = collections.Counter()
    for node in graph_def.node:
        parts = node.name.split("/")
        counts.update("/".join(parts[:i]) for i in range(1, len(parts)))
    groups = collections.OrderedDict()
    for node in graph_def.node:
        parts = node.name.split("/")
        level = depth
        while level < len(parts) and (counts["/".join(parts[:level])] < 2 or "/".join(parts[:level]) in expand):
            level += 1
        groups.setdefault("/".join(parts[:level]), []).append(node)
    return {node.name: box for box in (Box(name, nodes) for name, nodes in groups.items()) for node in box.nodes}


def edges_of(graph_def, boxes):
    """{(from, to): (number of tensors, number of control edges)} between different boxes."""
    edges = collections.OrderedDict()
    for node in graph_def.node:
        for text in node.input:
            source = boxes.get(text.lstrip("^").split(":")[0])
            target = boxes[node.name]
            if source is None or source is target:
                continue
            data, control = edges.get((source, target), (0, 0))
            edges[source, target] = (data, control + 1) if text.startswith("^") else (data + 1, control)
    return edges


def _acyclic(boxes, edges):
    """The edges without those that close a circle (loops)."""
    following = collections.defaultdict(list)
    for source, target in edges:
        following[source].append(target)
    state, kept = {}, set()
    for root in boxes:
        if root in state:
            continue
        state[root] = 1
        stack = [(root, iter(following[root]))]
        while stack:
            box, rest = stack[-1]
            target = next(rest, None)
            if target is None:
                state[box] = 2
                stack.pop()
            elif state.get(target) != 1:
                kept.add((box, target))
                if target not in state:
                    state[target] = 1
                    stack.append((target, iter(following[target])))
    return [edge for edge in edges if edge in kept]


def _layers(boxes, edges):
    """Sets each box's layer: below all that it reads."""
    waiting, following = collections.Counter(), collections.defaultdict(list)
    for source, target in edges:
        waiting[target] += 1
        following[source].append(target)
    ready = [box for box in boxes if not waiting[box]]
    for box in ready:
        for target in following[box]:
            target.layer = max(target.layer, box.layer + 1)
            waiting[target] -= 1
            if not waiting[target]:
                ready.append(target)
    # What nothing stands above stands right above its first reader.
    read = {target for _, target in edges}
    for box in boxes:
        if box not in read and following[box]:
            box.layer = min(target.layer for target in following[box]) - 1


def _arrange(boxes, edges):
    """Places boxes and bends; returns {edge: its bends} and the picture's size."""
    _layers(boxes, edges)
    rows = collections.defaultdict(list)
    for box in boxes:
        rows[box.layer].append(box)
    bends, above, below = {}, collections.defaultdict(list), collections.defaultdict(list)
    for source, target in edges:
        chain = [_Bend(layer) for layer in range(source.layer + 1, target.layer)]
        bends[source, target] = chain
        for bend in chain:
            rows[bend.layer].append(bend)
        path = [source, *chain, target]
        for upper, lower in zip(path, path[1:]):
            below[upper].append(lower)
            above[lower].append(upper)
    order = [rows[layer] for layer in sorted(rows)]
    for row in order:
        for place, item in enumerate(row):
            item.place = place
    for sweep in range(8):
        down = sweep % 2 == 0
        for row in order if down else reversed(order):
            near = above if down else below
            row.sort(key=lambda item: sum(n.place for n in near[item]) / len(near[item]) if near[item] else item.place)
            for place, item in enumerate(row):
                item.place = place
    widest = max(sum(item.width + _GAP for item in row) for row in order)
    for number, row in enumerate(order):
        x = (widest - sum(item.width + _GAP for item in row)) / 2 + _GAP
        for item in row:
            item.x, item.y = x + item.width / 2, _GAP + number * _LAYER + _LINE / 2
            x += item.width + _GAP
    return bends, widest + _GAP, len(order) * _LAYER + _GAP


def _line(points, style):
    path = "M%.1f %.1f" % points[0]
    for (x0, y0), (x1, y1) in zip(points, points[1:]):
        middle = (y0 + y1) / 2
        path += "C%.1f %.1f %.1f %.1f %.1f %.1f" % (x0, middle, x1, middle, x1, y1)
    return '<path class="%s" d="%s" marker-end="url(#end)"/>' % (style, path)


def computation(graph_def):
    """A graph without the nodes that only save, load, initialize or summarize; as it is if there are no others."""
    from penstock._src.tools import models
    left = models.aside(graph_def)
    if len(left) == len(graph_def.node):
        return graph_def
    result = type(graph_def)()
    for node in graph_def.node:
        if node.name not in left:
            kept = result.node.add()
            kept.CopyFrom(node)
            kept.ClearField("input")
            kept.input.extend(text for text in node.input if text.lstrip("^").partition(":")[0] not in left)
    return result


def dot(graph_def, depth=1, expand=()):
    """The graph in Graphviz's language. ValueError as of `draw`."""
    return picture_files.dot(*_parts(graph_def, depth, expand))


def _parts(graph_def, depth, expand):
    if not graph_def.node:
        raise ValueError("the graph has no nodes")
    of_node = boxes_of(graph_def, depth, expand)
    boxes = list(dict.fromkeys(of_node.values()))
    if len(boxes) > _MOST_BOXES:
        raise ValueError("%d boxes are too many for a picture: a smaller --depth folds more" % len(boxes))
    return boxes, edges_of(graph_def, of_node)


def draw(graph_def, depth=1, expand=()):
    """The picture as text. ValueError: nothing to draw, or too much."""
    boxes, edges = _parts(graph_def, depth, expand)
    forward = _acyclic(boxes, edges)
    bends, width, height = _arrange(boxes, forward)
    out = ['<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %d %d">' %
           (width, height, width, height),
           "<style>text{font:12px monospace;text-anchor:middle}path{fill:none;stroke:#888}"
           ".control{stroke-dasharray:3 3}.back{stroke:#c60}.scope{fill:#dde8f5;stroke:#557}"
           ".op{fill:#fff;stroke:#777}</style>",
           '<defs><marker id="end" viewBox="0 0 6 6" refX="6" refY="3" markerWidth="6" markerHeight="6" orient="auto">'
           '<path d="M0 0L6 3L0 6z" style="fill:#888;stroke:none"/></marker></defs>']
    for edge, (data, control) in edges.items():
        source, target = edge
        style = "back" if edge not in bends else "data" if data else "control"
        passed = [(bend.x, bend.y) for bend in bends.get(edge, ())]
        points = [(source.x, source.y + _LINE / 2), *passed, (target.x, target.y - _LINE / 2)]
        title = "%s -> %s: %d tensors%s" % (source.name, target.name, data,
                                            ", %d control edges" % control if control else "")
        out.append("<g>%s<title>%s</title></g>" % (_line(points, style), html.escape(title)))
    for box in boxes:
        out.append('<g><rect class="%s" x="%.1f" y="%.1f" width="%.1f" height="%d" rx="%d"/>'
                   '<text x="%.1f" y="%.1f">%s</text><title>%s</title></g>' % (
                       "scope" if box.folded else "op", box.x - box.width / 2, box.y - _LINE / 2, box.width, _LINE,
                       4 if box.folded else 15, box.x, box.y + 4, html.escape(box.label), html.escape(box.title)))
    return "\n".join(out + ["</svg>\n"])


def main(arguments):
    """The command line; returns the exit status."""
    parser = argparse.ArgumentParser(prog="penstock draw", description="Draws a graph with its name scopes folded.")
    parser.add_argument("graph", help="a GraphDef or MetaGraphDef, binary or text, or the directory of a SavedModel")
    parser.add_argument("-o", "--output", required=True, help="the picture: .svg, .dot or .png")
    parser.add_argument("--depth", type=int, default=1, help="parts of names that are shown; below that is folded")
    parser.add_argument("--expand", action="append", default=[], metavar="SCOPE", help="a scope that is not folded")
    parser.add_argument("--all", action="store_true", help="also nodes that save, load, initialize or summarize")
    options = parser.parse_args(arguments)
    from penstock._src.tools import graph_files
    try:
        graph_def = graph_files.load_graph(options.graph)
        make = dot if options.output.endswith(".dot") else draw
        picture = make(graph_def if options.all else computation(graph_def), max(1, options.depth), options.expand)
        if options.output.endswith(".png"):
            picture = picture_files.png(picture)
        gfile.write_atomically(options.output, picture)
    except (errors.OpError, OSError, ValueError) as e:
        print("penstock draw: %s" % e, file=sys.stderr)
        return 1
    return 0
