"""Converters of what calls functions: a called body becomes part of what is around it, branches and loops whose
condition depends on the iteration run for those iterations that take them."""
from penstock._src.graph import dtypes
from penstock._src.function import func_graph as func_graph_module
from penstock._src.function import function_def_to_graph
from penstock._src.graph import gen
from penstock._src.graph import tensor_shape
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import cond_v2
from penstock._src.core_ops import math_ops
from penstock._src.control_flow import while_v2
from penstock._src.parallel_for import lists
from penstock._src.parallel_for.conversion import FRAMES, NotConvertible, SHARED, Value


def _graph_of(c, function, arguments):
    """The body of a function that an operation calls with these arguments, whose shapes it gets."""
    definition = c.function(function.name)
    if definition is None:
        raise NotConvertible(f"a call of the unknown function {function.name} in a parallel loop is not supported")
    with c.graph.as_default():
        body = function_def_to_graph.function_def_to_graph(definition.definition, [t.shape for t in arguments],
                                                           copy_functions=False)
    for inner, outer in zip(body.inputs, arguments):
        func_graph_module.copy_handle_data(outer, inner)
    return body


def _call(c, op, inputs):
    return c.inside(op, _graph_of(c, op.get_attr("f"), op.inputs), inputs)


def _branch(c, op, inputs):
    selector, *arguments = inputs
    if op.type.endswith("If"):
        functions = [op.get_attr("else_branch"), op.get_attr("then_branch")]
        chosen = math_ops.cast(_truth(selector), "int32")
    else:
        functions, chosen = op.get_attr("branches"), selector.tensor
        last = len(functions) - 1
        chosen = array_ops.where_v2(gen.logical_or(chosen < 0, chosen > last), last, chosen)
    bodies = [_graph_of(c, function, op.inputs[1:]) for function in functions]
    if not selector.stacked:
        def run(body):
            return lambda: [c.stack(value) for value in c.inside(op, body, arguments)]
        made = cond_v2.indexed_case(array_ops.reshape(chosen, []), [run(body) for body in bodies])
        return list(made)
    places = [array_ops.reshape(array_ops.where_v2(math_ops.equal(chosen, i)), [-1]) for i in range(len(bodies))]
    made = [_for_some(c, op, body, arguments, place) for body, place in zip(bodies, places)]
    places = [math_ops.cast(place, "int32") for place in places]
    return [gen.dynamic_stitch(places, list(parts)) for parts in zip(*made)]


def _truth(selector):
    """The predicate as a bool, whatever its type is."""
    if selector.tensor.dtype.name == "bool":
        return selector.tensor
    if not selector.tensor.dtype.is_floating and not selector.tensor.dtype.is_integer:
        raise NotConvertible("a predicate of this type in a parallel loop is not supported")
    return math_ops.not_equal(selector.tensor, math_ops.cast(0, selector.tensor.dtype))


def _for_some(c, op, body, arguments, places):
    """The stacked outputs of a body in the iterations whose numbers are `places`."""
    if any(v.stacked and v.tensor.dtype == dtypes.variant for v in arguments):
        raise NotConvertible(f"{op.type} of lists in a parallel loop is not supported")
    part = c.part(array_ops.size(places))
    values = [Value(array_ops.gather(v.tensor, places), True) if v.stacked else v for v in arguments]
    return [part.stack(value) for value in part.inside(op, body, values)]


def _loop(c, op, inputs):
    condition, body = (_graph_of(c, op.get_attr(name), op.outputs) for name in ("cond", "body"))
    stacked, predicate = _what_gets_stacked(c, op, condition, body, [value.stacked for value in inputs])
    tensors = [c.stack(value) if s else value.tensor for value, s in zip(inputs, stacked)]
    if predicate:
        if any(s and t.dtype == dtypes.variant for s, t in zip(stacked, tensors)):
            raise NotConvertible(f"{op.type} of lists in a parallel loop is not supported")
        return _loop_for_some(c, op, condition, body, tensors, stacked)

    def values(variables):
        return [Value(t, s) for t, s in zip(variables, stacked)]

    def again(*variables):
        made = c.inside(op, body, values(variables))
        return [c.stack(v) if s else v.tensor for v, s in zip(made, stacked)]

    made = while_v2.while_loop(lambda *variables: c.inside(op, condition, values(variables))[0].tensor, again, tensors,
                               shape_invariants=_shapes(op, stacked),
                               parallel_iterations=op.get_attr("parallel_iterations"))
    return values(made)


def _shapes(op, stacked):
    return [tensor_shape.TensorShape([None]).concatenate(t.shape) if s and t.dtype != dtypes.variant else t.shape
            for t, s in zip(op.outputs, stacked)]


def _loop_for_some(c, op, condition, body, tensors, stacked):
    """Goes on with those iterations whose condition is true; the others keep what they have."""
    def going_on(places, variables):
        part = c.part(array_ops.size(places))
        values = [Value(array_ops.gather(t, places), True) if s else Value(t, False)
                  for t, s in zip(variables, stacked)]
        return array_ops.boolean_mask(places, part.stack(part.inside(op, condition, values)[0]))

    def again(places, *variables):
        part = c.part(array_ops.size(places))
        values = [Value(array_ops.gather(t, places), True) if s else Value(t, False)
                  for t, s in zip(variables, stacked)]
        rows = array_ops.expand_dims(places, 1)
        after = [gen.tensor_scatter_update(t, rows, part.stack(v)) if s else v.tensor
                 for t, s, v in zip(variables, stacked, part.inside(op, body, values))]
        return [going_on(places, after), *after]

    made = while_v2.while_loop(lambda places, *_: array_ops.size(places) > 0, again,
                               [going_on(math_ops.range(c.iters), tensors), *tensors],
                               shape_invariants=[tensor_shape.TensorShape([None]), *_shapes(op, stacked)],
                               parallel_iterations=op.get_attr("parallel_iterations"))
    return [Value(t, s) for t, s in zip(made[1:], stacked)]


def _what_gets_stacked(c, op, condition, body, stacked):
    """([whether a variable of a loop depends on the iteration], whether its condition does).

    Where the condition does, all that the body changes does too.
    """
    fixed = [a._key == b._key for a, b in zip(body.inputs, body.outputs)]
    while True:
        made = _trial(c, op, body, stacked)
        predicate = _trial(c, op, condition, stacked)[0]
        after = [a or not same and (b or predicate) for a, b, same in zip(stacked, made, fixed)]
        if after == stacked:
            return stacked, predicate
        stacked = after


def _trial(c, op, body, stacked):
    """Which outputs of a body depend on the iteration if these inputs do, found in a graph that is thrown away."""
    with func_graph_module.FuncGraph("pfor_trial").as_default():
        values = []
        for t, s in zip(body.inputs, stacked):
            shape = None if t.shape.ndims is None else (
                [None, *t.shape.as_list()] if s and t.dtype != dtypes.variant else t.shape)
            tensor = array_ops.placeholder(t.dtype, shape)
            func_graph_module.copy_handle_data(t, tensor)
            if s and t.dtype == dtypes.variant:
                lists.tell_stacked(tensor)
            values.append(Value(tensor, s))
        return [value.stacked for value in c.part(c.iters).inside(op, body, values)]


def _runs_in_parts(c, names, seen):
    """Whether all that functions of these names do can be converted, operation for operation, or run in turn."""
    from penstock._src.parallel_for import more_converters
    for name in names:
        definition = c.function(name)
        if definition is None:
            return False
        if name in seen:
            continue
        seen.add(name)
        for node in definition.definition.node_def:
            called = [f.name for attr in node.attr.values() for f in (attr.func, *attr.list.func) if f.name]
            if node.op in FRAMES or not _runs_in_parts(c, called, seen):
                return False
            if node.op in SHARED or more_converters.converter(node.op) is not None:
                continue
            described = c.graph._get_op_def(node.op)
            kinds = [arg.type for arg in described.output_arg]
            if dtypes.resource in kinds or dtypes.variant in [*kinds, *(arg.type for arg in described.input_arg)]:
                return False
    return True


def _if_in_parts(convert):
    """A converter that leaves what its functions cannot do in parts to a loop around the whole, if that is allowed."""
    def converter(c, op, inputs):
        names = [f.name for attr in op.node_def.attr.values() for f in (attr.func, *attr.list.func) if f.name]
        if c.fallback and not _runs_in_parts(c, names, set()):
            return NotImplemented
        return convert(c, op, inputs)
    return converter


TABLE = {
    **dict.fromkeys(("PartitionedCall", "StatefulPartitionedCall"), _if_in_parts(_call)),
    **dict.fromkeys(("Case", "If", "StatelessCase", "StatelessIf"), _if_in_parts(_branch)),
    **dict.fromkeys(("StatelessWhile", "While"), _if_in_parts(_loop)),
}
