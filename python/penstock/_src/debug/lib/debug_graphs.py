"""Graphs of debugged runs: without the nodes that the debugger put there, and how their nodes hang together."""
from penstock._src.graph import graph as graph_lib
from penstock._src.base import tf_logging as logging
from penstock.proto import graph_pb2

_COPY, _DEBUG = "__copy_", "__dbg_"


def parse_node_or_tensor_name(name):
    """("node", 1) of "node:1", ("node", None) of "node"."""
    if ":" not in name or name.endswith(":"):
        return name, None
    node, _, slot = name.rpartition(":")
    return node, int(slot)


def get_node_name(element_name):
    """The node's name in that of a node or tensor."""
    return parse_node_or_tensor_name(element_name)[0]


def get_output_slot(element_name):
    """The number of the output that a tensor's name has, 0 for a node's."""
    return parse_node_or_tensor_name(element_name)[1] or 0


def is_copy_node(node_name):
    """Whether a name is that of a copy that the debugger takes."""
    return node_name.startswith(_COPY)


def is_debug_node(node_name):
    """Whether a name is that of a debug op that the debugger adds."""
    return node_name.startswith(_DEBUG)


def parse_debug_node_name(node_name):
    """("node", output, number of the debug op, debug op) of "__dbg_node:output_number_op". ValueError for others."""
    if not is_debug_node(node_name):
        raise ValueError("Invalid prefix in debug node name: '%s'" % node_name)
    parts = node_name[len(_DEBUG):].rsplit("_", 2)
    if len(parts) != 3:
        raise ValueError("Invalid debug node name: '%s'" % node_name)
    tensor, number, op = parts
    if tensor.count(":") != 1:
        raise ValueError("Invalid tensor name in debug node name: '%s'" % node_name)
    node, _, slot = tensor.partition(":")
    return node, int(slot), int(number), op


class GraphTracingReachedDestination(Exception):
    """Raised by DFSGraphTracer when it meets the node that it looks for."""


class DFSGraphTracer:
    """Walks back from a node, depth first.

    input_lists: maps from nodes to what they read. skip_node_names: nodes that are not gone behind.
    """

    def __init__(self, input_lists, skip_node_names=None, destination_node_name=None):
        self._input_lists, self._destination = input_lists, destination_node_name
        self._skipped, self._visited = set(skip_node_names or ()), set()
        self._inputs, self._depths = [], []

    def trace(self, graph_element_name):
        """Walks; GraphTracingReachedDestination at the destination."""
        open_ = [self._inputs_of(graph_element_name)]
        while open_:
            for found in open_[-1]:
                if get_node_name(found) not in self._visited:
                    self._inputs.append(found)
                    self._depths.append(len(open_))
                    open_.append(self._inputs_of(found))
                    break
            else:
                open_.pop()

    def _inputs_of(self, element):
        node = get_node_name(element)
        if node == self._destination:
            raise GraphTracingReachedDestination()
        if node in self._skipped or node in self._visited:
            return iter(())
        self._visited.add(node)
        return iter([found for inputs in self._input_lists for found in inputs.get(node, ())])

    def inputs(self):
        """What was met, in order."""
        return self._inputs

    def depth_list(self):
        """How many steps from the beginning each of `inputs` was."""
        return self._depths


def _infer_device_name(graph_def):
    """The device that the first node with one names; None, with a warning, if none does."""
    device = next((node.device for node in graph_def.node if node.device), None)
    if device is None:
        logging.warn("Failed to infer device name from partition GraphDef: none of the nodes of the GraphDef has a "
                     "non-empty device name.")
    return device


class DebugGraph:
    """One device's graph of a debugged run: maps from its nodes' names, the debugger's nodes left out.

    ValueError if two nodes have one name.
    """

    def __init__(self, debug_graph_def, device_name=None):
        self._graph_def, self._plain = debug_graph_def, None
        self._device_name = device_name or _infer_device_name(debug_graph_def)
        nodes = [node for node in debug_graph_def.node if not is_debug_node(node.name) and not is_copy_node(node.name)]
        copied = {node.name: node.input[0] for node in debug_graph_def.node if is_copy_node(node.name) and node.input}
        self._attributes, self._op_types, self._devices = {}, {}, {}
        self._inputs, self._ctrl_inputs = {}, {}
        for node in nodes:
            if node.name in self._op_types:
                raise ValueError("Duplicate node name on device %s: '%s'" % (self._device_name, node.name))
            self._attributes[node.name], self._op_types[node.name] = node.attr, node.op
            self._devices[node.name] = {node.device or self._device_name}
            self._inputs[node.name] = [copied.get(name, name) for name in node.input if not name.startswith("^")]
            self._ctrl_inputs[node.name] = [name[1:] for name in node.input if name.startswith("^")
                                            and not is_debug_node(name[1:]) and not is_copy_node(name[1:])]
        self._recipients = self._reversed(self._inputs)
        self._ctrl_recipients = self._reversed(self._ctrl_inputs)
        references = {node.name for node in nodes if self._gives_references(node.op)}
        self._reversed_ref_inputs = {name: readers for name, readers in self._recipients.items()
                                     if name in references and readers}

    def _reversed(self, inputs):
        readers = {name: [] for name in self._op_types}
        for name, elements in inputs.items():
            for element in elements:
                readers.setdefault(get_node_name(element), []).append(name)
        return readers

    @staticmethod
    def _gives_references(op):
        definition = graph_lib.core_op_def(op)
        return definition is not None and any(output.is_ref for output in definition.outputs)

    device_name = property(lambda self: self._device_name, doc="The device.")
    debug_graph_def = property(lambda self: self._graph_def, doc="The graph with the debugger's nodes.")
    node_devices = property(lambda self: self._devices, doc="{node: set of devices}.")
    node_op_types = property(lambda self: self._op_types, doc="{node: op}.")
    node_attributes = property(lambda self: self._attributes, doc="{node: attributes}.")
    node_inputs = property(lambda self: self._inputs, doc="{node: tensors that it reads}.")
    node_ctrl_inputs = property(lambda self: self._ctrl_inputs, doc="{node: nodes that it waits for}.")
    node_reversed_ref_inputs = property(lambda self: self._reversed_ref_inputs,
                                        doc="{node that gives references: who reads them, and may change them}.")
    node_recipients = property(lambda self: self._recipients, doc="{node: nodes that read it}.")
    node_ctrl_recipients = property(lambda self: self._ctrl_recipients, doc="{node: nodes that wait for it}.")

    @property
    def non_debug_graph_def(self):
        """The graph without the debugger's nodes."""
        if self._plain is None:
            self._plain = graph_pb2.GraphDef()
            for node in self._graph_def.node:
                if node.name in self._inputs:
                    plain = self._plain.node.add()
                    plain.CopyFrom(node)
                    del plain.input[:]
                    plain.input.extend(self._inputs[node.name])
                    plain.input.extend("^" + name for name in self._ctrl_inputs[node.name])
        return self._plain


def reconstruct_non_debug_graph_def(debug_graph_def):
    """A graph without the debugger's nodes."""
    return DebugGraph(debug_graph_def).non_debug_graph_def
