"""tf.cond and tf.switch_case as one operation: If or Case, whose branches are functions."""
from penstock import _core
from penstock._src.graph import dtypes
from penstock._src.function import func_graph as func_graph_module
from penstock._src.graph import indexed_slices
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import control_flow_util_v2 as util
from penstock._src.core_ops import math_ops
from penstock._src.base import nest

_COND, _CASE = 1, 2


def scalar(pred):
    """A predicate as a tensor without dimensions."""
    pred = ops.convert_to_tensor(pred)
    return array_ops.squeeze(pred) if pred.shape.ndims != 0 else pred


def cond_v2(pred, true_fn, false_fn, name="cond"):
    """As tf.cond, built as a single If or StatelessIf."""
    if isinstance(pred, bool):
        raise TypeError("pred must not be a Python bool", pred)
    with ops.name_scope(name or "cond") as scope:
        names = [util.unique_fn_name(scope, part) for part in ("true", "false")]
        pred = scalar(pred)
        branches = [_branch(each, function, pred) for each, function in zip(names, (true_fn, false_fn))]
        return _build(_COND, pred, branches, scope)


def indexed_case(branch_index, branch_fns, name="indexed_case", lower_using_switch_merge=None):
    """What the branch number `branch_index` returns, the last one's result if there is none of this number."""
    if isinstance(branch_index, int):
        raise TypeError("branch_index must not be a Python int", branch_index)
    with ops.name_scope(name) as scope:
        names = [util.unique_fn_name(scope, f"branch{i}") for i in range(len(branch_fns))]
        branch_index = ops.convert_to_tensor(branch_index, name="branch_index")
        branches = [_branch(each, function, branch_index) for each, function in zip(names, branch_fns)]
        return _build(_CASE, branch_index, branches, scope, lower_using_switch_merge)


def _branch(name, function, stand_in):
    """The body of a branch; an operation that it returns counts as `stand_in` when that has run."""
    outer = ops.get_default_graph()
    return func_graph_module.func_graph_from_py_func(
        name, function, [], {}, func_graph=util.CondBranchFuncGraph(name, collections=outer._collections),
        add_control_dependencies=outer._add_control_dependencies, op_return_value=stand_in)


def _build(kind, selector, branches, scope, lower=None):
    verify_captures(kind, branches)
    _match_index_types(kind, branches)
    _check_same_outputs(kind, branches)
    inputs = _match_inputs(branches)
    graph = ops.get_default_graph()
    definitions = [util.create_new_tf_function(branch) for branch in branches]
    functions = [_core.Func(definition.text) for definition in definitions]
    attrs = {"Tin": [t.dtype._base for t in inputs], "Tout": definitions[0].output_types,
             "output_shapes": [shape._to_core() for shape in _output_shapes(branches)]}
    if kind == _COND:
        attrs.update(Tcond=selector.dtype._base, then_branch=functions[0], else_branch=functions[1])
    else:
        attrs.update(branches=functions)
    op = util.new_operation("If" if kind == _COND else "Case", [selector, *inputs], scope, attrs, branches, definitions)
    for branch in branches:
        branch.outer_graph = graph
    if kind == _COND:
        op._true_graph, op._false_graph = branches
    for inner, tensor in zip(branches[0].outputs, op.outputs):
        func_graph_module.copy_handle_data(inner, tensor)
    util.maybe_set_lowering_attr(op, lower)
    util.set_read_only_resource_inputs(op, branches)
    graph.prevent_fetching(op)
    # Who fetches a result does not want all that the branch does.
    results = [array_ops.identity(t) for t in op.outputs]
    for tensor, result in zip(op.outputs, results):
        func_graph_module.copy_handle_data(tensor, result)
    return util.pack(branches[0].structured_outputs, results)


def get_func_graphs(op):
    """The bodies of an operation's branches."""
    return op._true_graph, op._false_graph


def _match_inputs(branches):
    """Makes all branches take what any of them takes, in one order; the tensors outside."""
    inputs = list({id(t): t for branch in branches for t in branch.external_captures}.values())
    for branch in branches:
        util.capture_all(branch, inputs, "Placeholder")
    return inputs


def _names(kind, i):
    if kind == _COND:
        return ("true_fn", "false_fn")[i]
    return f"branches[{i}]"


def verify_captures(op_type, branch_graphs):
    """ValueError: a branch uses a tensor of another."""
    places = {id(graph): i for i, graph in enumerate(branch_graphs)}
    for i, branch in enumerate(branch_graphs):
        for tensor in branch.external_captures:
            if tensor._is_eager or id(tensor.graph) not in places:
                continue
            names = [("true_fn", "false_fn")[j] if op_type == _COND else f"branch {j}"
                     for j in (places[id(tensor.graph)], i)]
            raise ValueError("Tensor {} in {} is accessed from {}.".format(tensor.name, *names))


def _check_same_outputs(op_type, graphs):
    what = "tf.cond" if op_type == _COND else "tf.switch_case"

    def refuse(i, detail):
        raise TypeError(
            f"{_names(op_type, 0)} and {_names(op_type, i)} arguments to {what} must have the same number, type, and "
            f"overall structure of return values.\n\n{_names(op_type, 0)} output: {graphs[0].structured_outputs}\n"
            f"{_names(op_type, i)} output: {graphs[i].structured_outputs}\n\nError details:\n{detail}")

    for i, graph in enumerate(graphs[1:], 1):
        try:
            nest.assert_same_structure(graphs[0].structured_outputs, graph.structured_outputs, expand_composites=True)
        except (TypeError, ValueError) as e:
            refuse(i, str(e))
        if len(graph.outputs) != len(graphs[0].outputs):
            raise ValueError(f"Lengths of branch outputs of {what[3:]} must match.\nlen(graphs[0].outputs): "
                             f"{len(graphs[0].outputs)}\nlen(graphs[{i}].outputs): {len(graph.outputs)}\n")
        for first, other in zip(graphs[0].outputs, graph.outputs):
            if first.dtype != other.dtype:
                refuse(i, f"{first} and {other} have different types")


def _match_index_types(op_type, graphs):
    """Slices that branches return get indices of one type."""
    flat = [nest.flatten(graph.structured_outputs) for graph in graphs]
    if len({len(each) for each in flat}) != 1:
        return  # told later
    places = [0]  # of the values' parts among the outputs
    for value in flat[0]:
        places.append(places[-1] + len([x for x in nest.flatten(value, expand_composites=True) if x is not None]))
    for i, values in enumerate(zip(*flat)):
        kinds = {isinstance(value, indexed_slices.IndexedSlices) for value in values}
        if len(kinds) > 1:
            raise TypeError("Cannot reconcile tf.{} {}-th outputs:\n  outputs from all branches: {}".format(
                "cond" if op_type == _COND else "switch_case", i, values))
        if not kinds.pop() or len({value.indices.dtype for value in values}) == 1:
            continue
        for graph, value in zip(graphs, values):
            if value.indices.dtype == dtypes.int64:
                continue
            with graph.as_default():
                value._indices = math_ops.cast(value.indices, dtypes.int64)
            graph.outputs[places[i] + 1] = value._indices  # behind the values


def _output_shapes(branches):
    return [_common_shape([t.shape for t in outputs]) for outputs in zip(*(branch.outputs for branch in branches))]


def _common_shape(shapes):
    result = shapes[0]
    for shape in shapes[1:]:
        if result.ndims is None or shape.ndims != result.ndims:
            return tensor_shape.unknown_shape()
        result = tensor_shape.TensorShape([a if a == b else None for a, b in zip(result.as_list(), shape.as_list())])
    return result
