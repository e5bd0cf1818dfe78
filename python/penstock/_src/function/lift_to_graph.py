"""Tensors of a function's body outside of it: computed at once, or built again in another graph."""
from penstock._src.function import func_graph as func_graph_module
from penstock._src.function import function_definition
from penstock._src.graph import ops


class UnliftableError(Exception):
    """A tensor depends on what only a call of the function knows."""


def _ancestors(tensors, stop=()):
    """The operations that tensors depend on, in the order in which they were built."""
    found, stack = {}, [t.op for t in tensors]
    while stack:
        op = stack.pop()
        if op._node in found or op._node in stop:
            continue
        found[op._node] = op
        stack.extend(t.op for t in op.inputs)
        stack.extend(op.control_inputs)
    return [found[node] for node in sorted(found)]


def _arguments(graph, needed):
    """The body's inputs among the operations, without the captured ones."""
    captured = {t._key for t in graph.internal_captures}
    return [t for t in graph.inputs if t._op._node in needed and t._key not in captured]


def _why(tensor, placeholder):
    path, stack = {tensor.op._node: None}, [tensor.op]
    while stack and placeholder._node not in path:
        op = stack.pop()
        for t in op.inputs:
            if t.op._node not in path:
                path[t.op._node] = op
                stack.append(t.op)
    shown, op = [], placeholder
    while op is not None:
        shown.append(f"{op.name} ({op.type})")
        op = path.get(op._node)
    return (f"Unable to lift tensor {tensor!r} because it depends transitively on placeholder {placeholder!r} via at "
            f"least one path, e.g.: {' <- '.join(reversed(shown))}")


def evaluate(tensors, arguments=None):
    """The present values of tensors of a FuncGraph. `arguments`: those of a call, flat. UnliftableError: without them
    the tensors cannot be known."""
    graph = tensors[0].graph
    needed = _ancestors(tensors)
    nodes = {op._node for op in needed}
    if arguments is None and _arguments(graph, nodes):
        raise UnliftableError(_why(tensors[0], _arguments(graph, nodes)[0].op))
    outside = {t._key: outer for outer, t in graph.captures}
    places = {t._key: i for i, t in enumerate(t for t in graph.inputs if t._key not in outside)}
    inputs = [t for t in graph.inputs if t._op._node in nodes]
    values = [outside[t._key] if t._key in outside else arguments[places[t._key]] for t in inputs]
    own = {t._op._node for t in inputs}
    made = function_definition.Definition(f"__initialize_{ops.uid()}", graph, inputs, list(tensors),
                                          [n for n in sorted(nodes) if n not in own])
    return made.run(values)


def lift_to_graph(tensors, graph, sources=None, disallowed_placeholders=None, add_sources=False,
                  handle_captures=False, base_graph=None, op_map=None):
    """Builds tensors, and all that they depend on, again in another graph; a map from old tensors and operations (by
    id) to new ones. UnliftableError: they depend on a placeholder that is no source."""
    tensors = list(tensors)
    if not tensors:
        return {}
    base_graph = base_graph or tensors[0].graph
    made = {} if op_map is None else op_map
    captures = {}
    if isinstance(base_graph, func_graph_module.FuncGraph):
        captures = {inner._key: outer for outer, inner in base_graph.captures}
    source_nodes = {t.op._node for t in sources or ()}
    forbidden = {op._node for op in disallowed_placeholders or ()}
    if isinstance(base_graph, func_graph_module.FuncGraph):
        forbidden |= {t.op._node for t in base_graph.inputs if t._key not in captures} - source_nodes
    with graph.as_default(), graph.control_dependencies(None):
        for op in _ancestors(tensors):
            if id(op) in made:
                continue
            if op.outputs and op.outputs[0]._key in captures:
                new = captures[op.outputs[0]._key]
                if graph.building_function:
                    new = graph.capture(new)
                made[id(op.outputs[0])] = new
                continue
            if op._node in forbidden or op.type == "Placeholder" and getattr(op, "_user_name", None) is not None:
                raise UnliftableError(_why(tensors[0], op))
            inputs = [made[id(t)] for t in op.inputs]
            with graph.control_dependencies([made[id(c)] for c in op.control_inputs if id(c) in made]):
                new = graph.create_op(op.type, inputs, name=op.name, attrs=dict(op.node_def.attr))
            made[id(op)] = new
            for old, tensor in zip(op.outputs, new.outputs):
                made[id(old)] = tensor
                func_graph_module.copy_handle_data(old, tensor)
    return made
