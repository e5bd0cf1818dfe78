"""tf.while_loop as one operation: While, whose condition and body are functions."""
from penstock import _core
from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.function import func_graph as func_graph_module
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import tensor_spec
from penstock._src.graph import type_spec
from penstock._src.graph.composite_tensor import CompositeTensor
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import control_flow_util_v2 as util
from penstock._src.control_flow.cond_v2 import scalar
from penstock._src.control_flow.tensor_array_ops import flow_of
from penstock._src.control_flow.while_context import less_or_equal, shape_invariant_spec
from penstock._src.base import nest

_COUNTERS = 2  # the loop counter and the bound come before the loop's own variables


def _tensors(structure):
    return nest.map_structure(ops.internal_convert_to_tensor_or_composite, nest.map_structure(flow_of, structure),
                              expand_composites=True)


def _bound(maximum_iterations):
    """The bound as a loop variable: -1 where there is none."""
    if maximum_iterations is None:
        return constant_op.constant(-1, name="maximum_iterations")
    dtype = None if isinstance(maximum_iterations, ops.Tensor) else "int32"
    return ops.convert_to_tensor(maximum_iterations, dtype, name="maximum_iterations")


def _kind(original, spec):
    """What a loop variable looks like: the spec of what is made of several tensors, whose shape may change."""
    return spec if isinstance(original, CompositeTensor) and isinstance(spec, type_spec.TypeSpec) else original


class _Parts:
    """The condition and the body of a loop, as functions trace them."""

    def __init__(self, cond, body, loop_vars, originals, like, bounded):
        self._cond, self._body = cond, body
        self._loop_vars = loop_vars
        self._originals, self._like = originals, like
        self._bounded = bounded
        self.cond_graph = None

    def _packed(self, args):
        return util.pack(self._like, nest.flatten(args, expand_composites=True))

    def cond(self, counter, bound, *args):
        """Whether the loop goes on."""
        pred = self._cond(*self._packed(args))
        if pred is None:
            raise TypeError("The condition of a while_loop returned None: it must return a boolean scalar.")
        if isinstance(pred, ops.Tensor) and pred.shape.ndims != 0:
            pred = scalar(pred)
        return gen.logical_and(counter < bound, pred) if self._bounded else pred

    def body(self, counter, bound, *args):
        """The next values of all variables."""
        for outer, inner in zip(nest.flatten(self._loop_vars, expand_composites=True),
                                nest.flatten(args, expand_composites=True)):
            func_graph_module.copy_handle_data(outer, inner)
        # In the order in which the condition has them.
        for tensor in self.cond_graph.external_captures:
            ops.get_default_graph().capture(tensor)
        results = self._body(*self._packed(args))
        if not nest.is_sequence_or_composite(results):
            results = [results]
        nest.assert_same_structure(list(results), list(self._originals), check_types=False, expand_composites=True)
        return [counter + 1, bound] + list(nest.map_structure(flow_of, list(results)))


def while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, maximum_iterations=None,
               name=None, return_same_structure=True, back_prop=True):
    """As tf.while_loop, built as a single While or StatelessWhile."""
    originals = loop_vars
    loop_vars = list(_tensors(list(originals)))
    if shape_invariants is None:
        shape_invariants = nest.map_structure(lambda _: None, loop_vars)
    else:
        nest.assert_same_structure(list(originals), list(shape_invariants), expand_composites=False, check_types=False)
    specs = [nest.map_structure(shape_invariant_spec, var, shape)
             for var, shape in zip(loop_vars, list(shape_invariants))]
    invariants = [spec.shape for spec in _flat_specs(specs)]
    with ops.name_scope(name or "while") as scope:
        with ops.name_scope(None):
            cond_name, body_name = util.unique_fn_name(scope, "cond"), util.unique_fn_name(scope, "body")
        bound = _bound(maximum_iterations)
        counter = constant_op.constant(0, dtype=bound.dtype if maximum_iterations is not None else None,
                                       name="loop_counter")
        signature = [tensor_spec.TensorSpec.from_tensor(counter), tensor_spec.TensorSpec.from_tensor(bound), *specs]
        outer = ops.get_default_graph()

        def trace(graph_class, part_name, function):
            return func_graph_module.func_graph_from_py_func(
                part_name, function, [], {}, signature=signature,
                func_graph=graph_class(part_name, collections=outer._collections),
                add_control_dependencies=outer._add_control_dependencies)

        like = [nest.map_structure(_kind, original, spec) for original, spec in zip(list(originals), specs)]
        parts = _Parts(cond, body, loop_vars, list(originals), like, maximum_iterations is not None)
        cond_graph = parts.cond_graph = trace(util.WhileCondFuncGraph, cond_name, parts.cond)
        if cond_graph.outputs[0].dtype != dtypes.bool:
            raise TypeError(f"Input 'input' of 'LoopCond' Op has type {cond_graph.outputs[0].dtype.name} that does not "
                            "match expected type of bool.")
        body_graph = trace(util.WhileBodyFuncGraph, body_name, parts.body)
        flat = nest.flatten([counter, bound, *loop_vars], expand_composites=True)
        count = len(flat)
        captured = nest.flatten([c() if callable(c) else c for c in body_graph.external_captures],
                                expand_composites=True)
        body_graph.outputs.extend(body_graph.internal_captures)
        _extend_inputs(cond_graph, captured)
        _check(body_graph, flat, invariants)
        inputs = flat + captured
        shapes = [t.shape for t in body_graph.outputs]
        shapes[_COUNTERS:count] = invariants
        definitions = [util.create_new_tf_function(graph) for graph in (cond_graph, body_graph)]
        attrs = {"T": [t.dtype._base for t in inputs], "cond": _core.Func(definitions[0].text),
                 "body": _core.Func(definitions[1].text), "output_shapes": [shape._to_core() for shape in shapes],
                 "parallel_iterations": parallel_iterations}
        op = util.new_operation("While", inputs, scope, attrs, (cond_graph, body_graph), definitions)
        _finish(op, cond_graph, body_graph, outer)
        # Who fetches a result in a graph does not want all that the loop does.
        results = list(op.outputs) if outer.building_function else _copies(op.outputs)
    results = results[_COUNTERS:count]
    if not back_prop:
        results = [gen.stop_gradient(t) for t in results]
    if not return_same_structure and len(results) == 1:
        return util.pack(nest.flatten(list(originals), expand_composites=True), results)[0]
    return util.pack(nest._sequence_like(originals, like), results)


def _finish(op, cond_graph, body_graph, outer):
    """Gives a new operation what is known of its parts."""
    cond_graph.outer_graph = body_graph.outer_graph = outer
    op._cond_graph, op._body_graph = cond_graph, body_graph
    for inner, tensor in zip(body_graph.outputs, op.outputs):
        func_graph_module.copy_handle_data(inner, tensor)
    util.maybe_set_lowering_attr(op)
    util.set_read_only_resource_inputs(op, (cond_graph, body_graph))
    op._set_attr("_num_original_outputs", op._set_attr_value(i=len(op.outputs)))


def _copies(tensors):
    copies = [array_ops.identity(t) for t in tensors]
    for tensor, copy in zip(tensors, copies):
        func_graph_module.copy_handle_data(tensor, copy)
    return copies


def _flat_specs(structure):
    flat = []
    for spec in nest.flatten(structure):
        if isinstance(spec, tensor_spec.TensorSpec):
            flat.append(spec)
        else:
            flat.extend(s for s in nest.flatten(spec._component_specs, expand_composites=True) if s is not None)
    return [s if isinstance(s, type_spec.TypeSpec) else s for s in flat]


def _extend_inputs(cond_graph, captured):
    """Makes the condition take what the body captures."""
    own = len(cond_graph.inputs) - len(cond_graph.external_captures)
    known = {id(tensor) for tensor in cond_graph.external_captures}
    prefix = f"{cond_graph.name}___redundant_placeholder"
    with cond_graph.as_default():
        for i, tensor in enumerate(t for t in captured if id(t) not in known):
            cond_graph.add_capture(tensor, util.input_for(cond_graph, tensor, f"{prefix}{i}"))
    inner = dict((id(outer), placeholder) for outer, placeholder in cond_graph.captures)
    cond_graph.inputs = cond_graph.inputs[:own] + [inner[id(t)] for t in captured]


def _check(body_graph, flat, invariants):
    """ValueError, TypeError: an iteration changes what a variable is."""
    for given, taken, made in zip(flat, body_graph.inputs, body_graph.outputs):
        if taken.dtype != made.dtype:
            raise TypeError(f"Loop var {given.name} enters the loop with type {taken.dtype} but has type "
                            f"{made.dtype} after 1 iteration. {given.name} type should remain constant.")
    for given, made, shape in zip(flat[_COUNTERS:], body_graph.outputs[_COUNTERS:], invariants):
        if not less_or_equal(made.shape, shape):
            raise ValueError(f"Input tensor `{given.name}` enters the loop with shape {shape}, but has shape "
                             f"{made.shape} after one iteration. To allow the shape to vary across iterations, use the "
                             "`shape_invariants` argument of tf.while_loop to specify a less-specific shape.")
