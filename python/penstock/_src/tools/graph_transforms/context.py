"""What transforms have in common: their parameters, nodes by name, constants as arrays."""
import collections

from penstock._src.graph import errors
from penstock._src.graph import tensor_util
from penstock.proto import graph_pb2
from penstock.proto import node_def_pb2


def invalid(message):
    """An InvalidArgumentError to raise."""
    return errors.InvalidArgumentError(None, None, message)


def node_name(text):
    """The node that an input such as "^a" or "a:1" names."""
    name = text[1:] if text.startswith("^") else text
    head, colon, slot = name.rpartition(":")
    return head if colon and slot.isdigit() else name


def plain_input(text):
    """An input without a slot that is 0."""
    return text[:-2] if text.endswith(":0") else text


class Context:
    """The graph's inputs and outputs, and a transform's parameters, each of which may be given several times."""

    def __init__(self, inputs, outputs, parameters):
        self.inputs, self.outputs, self.parameters = inputs, outputs, parameters
        self.input_nodes = {node_name(text) for text in inputs}
        self.output_nodes = {node_name(text) for text in outputs}

    def all(self, name):
        """All values of a parameter."""
        return self.parameters.get(name, [])

    def one(self, name, default=None):
        """The only value of a parameter; InvalidArgumentError if there are more."""
        found = self.all(name)
        if len(found) > 1:
            raise invalid(f"Expected only one value for the parameter {name}, but found {len(found)}")
        return found[0] if found else default

    def boolean(self, name, default):
        """A parameter that is true, false, 1 or 0."""
        text = self.one(name)
        if text is None:
            return default
        if text not in ("true", "1", "false", "0"):
            raise invalid(f"Couldn't interpret the {name} argument as a boolean:{text} (expected true, false, 0 or 1)")
        return text in ("true", "1")

    def integer(self, name, default):
        """A parameter that is a whole number."""
        text = self.one(name)
        try:
            return default if text is None else int(text)
        except ValueError:
            raise invalid(f"Couldn't interpret the {name} argument as a number:{text}") from None

    def number(self, name, default):
        """A parameter that is a number."""
        text = self.one(name)
        try:
            return default if text is None else float(text)
        except ValueError:
            raise invalid(f"Couldn't interpret the {name} argument as a float number:{text}") from None


class Nodes:
    """The nodes of a graph by name, in their order; they are the graph's own and may be changed."""

    def __init__(self, graph_def):
        self.by_name = {node.name: node for node in graph_def.node}
        self._uses = None

    def source(self, node, i):
        """The node that a node's i-th input comes from, or None."""
        return self.by_name.get(node_name(node.input[i])) if i < len(node.input) else None

    def uses(self, name):
        """How often a node's outputs are read."""
        if self._uses is None:
            self._uses = collections.Counter(node_name(text) for node in self.by_name.values() for text in node.input)
        return self._uses[name]

    def changed(self):
        """Inputs have changed: they are counted again."""
        self._uses = None

    def constant(self, node, i, *ranks):
        """The array of a node's i-th input, a constant; None if it is none, or its rank is not one of those."""
        source = self.source(node, i)
        if source is None or source.op != "Const" or plain_input(node.input[i]) != source.name:
            return None
        value = tensor_util.MakeNdarray(source.attr["value"].tensor)
        return value if not ranks or value.ndim in ranks else None

    def put(self, node):
        """Adds a node, or puts it in the place of the one of its name."""
        self.by_name[node.name] = node

    def graph_def(self):
        """These nodes as a graph."""
        made = graph_pb2.GraphDef()
        made.node.extend(self.by_name.values())
        return made


def copied(graph_def):
    """(a copy of a graph, its Nodes)."""
    made = graph_pb2.GraphDef()
    made.node.extend(graph_def.node)
    return made, Nodes(made)


def constant_node(name, value, dtype=None):
    """A Const node."""
    tensor = tensor_util.make_tensor_proto(value, dtype)
    node = node_def_pb2.NodeDef(op="Const", name=name)
    node.attr["dtype"].type = tensor.dtype
    node.attr["value"].tensor.CopyFrom(tensor)
    return node


def rename_inputs(nodes, renamed, ignored=()):
    """Makes nodes read other outputs. renamed: {"node:slot": input}; `ignored`: names of nodes that stay."""
    def target(text):
        seen = set()
        while text not in seen:
            seen.add(text)
            text = renamed.get(text if node_name(text) != text else text + ":0", text)
        return text

    for node in nodes.by_name.values():
        if node.name not in ignored:
            texts = [text if text.startswith("^") else target(text) for text in node.input]
            del node.input[:]
            node.input.extend(texts)
    nodes.changed()


def reachable(nodes, starts, stops=()):
    """The names of what these nodes depend on, themselves among them; what lies behind a node of `stops` does not
    count. InvalidArgumentError: one is not there."""
    found, waiting = set(), list(starts)
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        if name not in nodes.by_name:
            raise invalid(f"Input node {name} not found in graph")
        found.add(name)
        if name not in stops:
            waiting.extend(node_name(text) for text in nodes.by_name[name].input)
    return found
