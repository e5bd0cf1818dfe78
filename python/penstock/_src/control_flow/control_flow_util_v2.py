"""Functions that are the parts of an If, a Case or a While."""
from penstock._src.graph import dtypes
from penstock._src.function import function_definition
from penstock._src.graph import ops
from penstock._src.base import tf2
from penstock._src.function.func_graph import _Outside
from penstock._src.function.func_graph import copy_handle_data
from penstock._src.function.func_graph import FuncGraph
from penstock._src.graph.graph import Graph
from penstock._src.control_flow.tensor_array_ops import TensorArray
from penstock._src.base import nest


class ControlFlowFuncGraph(FuncGraph):
    """The body of a part. Under version 2 its nodes are named as if they stood in the graph around it."""

    def __init__(self, name, collections=None):
        super().__init__(name, collections=collections)
        if ops.executing_eagerly_outside_functions():
            self._name_stack = self.outer_graph._name_stack

    def capture_call_time_value(self, closure, spec, key=None):
        """What the function around it captures so."""
        outer = self.outer_graph
        if isinstance(outer, FuncGraph):
            found = outer.capture_call_time_value(closure, spec, key)
            return nest.map_structure(self.capture, found, expand_composites=True)
        return super().capture_call_time_value(closure, spec, key)


class CondBranchFuncGraph(ControlFlowFuncGraph):
    """A branch of a conditional."""

    def _check_accessible(self, tensor):
        other = tensor.graph
        if isinstance(other, CondBranchFuncGraph) and other is not self and other.outer_graph is self.outer_graph:
            return  # told when all branches are there
        super()._check_accessible(tensor)


class WhileCondFuncGraph(ControlFlowFuncGraph):
    """The condition of a loop."""


class WhileBodyFuncGraph(ControlFlowFuncGraph):
    """The body of a loop."""


def in_defun():
    """Whether the default graph is a function's body, parts of control flow aside."""
    if ops.executing_eagerly():
        return False
    graph = ops.get_default_graph()
    while isinstance(graph, ControlFlowFuncGraph):
        graph = graph.outer_graph
    return isinstance(graph, FuncGraph)


def in_while_loop_defun(graph):
    """Whether a graph is a part of a loop."""
    return not ops.executing_eagerly() and isinstance(graph, (WhileCondFuncGraph, WhileBodyFuncGraph))


def unique_fn_name(scope, name):
    """A name for the part `name` of what is built in a name scope."""
    return f"{scope}{name}_{ops.uid()}".replace("/", "_")


def create_new_tf_function(func_graph):
    """Makes a function of a body; its definition, in the library of the graph around it."""
    definition = function_definition.Definition(
        func_graph.name, func_graph, func_graph.inputs, func_graph.outputs, function_definition.body_nodes(func_graph),
        func_graph.control_outputs)
    definition.add_to_graph(func_graph.outer_graph)
    func_graph._definition = definition
    return definition


def new_operation(kind, inputs, scope, attrs, func_graphs, definitions):
    """Adds `kind`, or its stateless form if no part has state, to the default graph, behind what the parts wait for.
    Version 1 has such a form of If only."""
    plain = kind == "If" or tf2.enabled() or ops.executing_eagerly_outside_functions()
    if plain and not any(definition.stateful_ops for definition in definitions):
        kind = "Stateless" + kind
    graph = ops.get_default_graph()
    before = [op for part in func_graphs for op in getattr(part, "outer_control_inputs", ())]
    with graph.control_dependencies(before):
        return graph._new_op(kind, inputs, scope, attrs)


def pack(structure, tensors):
    """`structure` of these tensors, which are flows where it has arrays and miss where it has None."""
    tensors = iter(tensors)
    leaves = [None if x is None else x._with_flow(next(tensors)) if isinstance(x, TensorArray) else next(tensors)
              for x in nest.flatten(structure, expand_composites=True)]
    return nest.pack_sequence_as(structure, leaves, expand_composites=True)


def input_for(func_graph, tensor, name="Placeholder"):
    """A further input of a body, which stands for a tensor of the graph around it."""
    with _Outside(func_graph, keep_names=True):
        inner = Graph._new_op(func_graph, "Placeholder", [], name, {
            "dtype": tensor.dtype._base, "shape": tensor.shape._to_core()}).outputs[0]
    copy_handle_data(tensor, inner)
    return inner


def capture_all(func_graph, tensors, dummy_name):
    """Makes the inputs of a body stand for these tensors, in this order."""
    known = dict((id(outer), inner) for outer, inner in func_graph.captures)
    inputs = []
    with func_graph.as_default():
        for tensor in tensors:
            inner = known.get(id(tensor))
            inputs.append(input_for(func_graph, tensor, dummy_name) if inner is None else inner)
    func_graph.clear_captures()
    func_graph.inputs = []
    for tensor, inner in zip(tensors, inputs):
        func_graph.add_capture(tensor, inner)


def maybe_set_lowering_attr(op, lower_using_switch_merge=None):
    """Says in the graph that the operation may become Switch and Merge."""
    op._set_attr("_lower_using_switch_merge", op._set_attr_value(b=lower_using_switch_merge is not False))


def set_read_only_resource_inputs(op, func_graphs):
    """Says in the graph which resources the parts only look at: (indices of inputs)."""
    from penstock._src.function.auto_control_deps import _READERS
    indices = []
    shift = len(op.inputs) - len(func_graphs[0].inputs)
    for i, tensor in enumerate(op.inputs):
        if i < shift or tensor.dtype != dtypes.resource:
            continue
        if all(_is_only_read(graph, graph.inputs[i - shift], _READERS) for graph in func_graphs):
            indices.append(i)
    op._set_attr("_read_only_resource_inputs", op._set_attr_value(list=op._set_attr_value().ListValue(i=indices)))


def _is_only_read(graph, handle, readers):
    for op in handle.consumers():
        if op.type in ("Identity",):
            if not all(_is_only_read(graph, t, readers) for t in op.outputs):
                return False
        elif op.type not in readers and op.type not in ("If", "While", "Case", "StatelessIf", "StatelessWhile"):
            return False
        elif op.type not in readers:
            read = op.get_attr("_read_only_resource_inputs")
            if any(t is handle and i not in read for i, t in enumerate(op.inputs)):
                return False
    return True


def output_all_intermediates():
    """Whether parts give all values that a gradient might read; it asks for those that it does read instead."""
    return False
