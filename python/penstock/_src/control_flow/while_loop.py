"""tf.while_loop."""
from penstock._src.graph import constant_op
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.graph import type_spec
from penstock._src.graph import control_flow_util
from penstock._src.control_flow import tensor_array_ops
from penstock._src.control_flow import while_v2
from penstock._src.control_flow.while_context import WhileContext, shape_invariant, shape_invariant_spec
from penstock._src.base import nest


def _bounded(cond, body, loop_vars, maximum, counter, single):
    """(cond, body, loop variables) of a loop that also counts."""
    if single:
        return (lambda i, lv: gen.logical_and(i < maximum, cond(lv)), lambda i, lv: (i + 1, body(lv)),
                (counter, loop_vars[0]))
    return (lambda i, lv: gen.logical_and(i < maximum, cond(*lv)), lambda i, lv: (i + 1, body(*lv)),
            (counter, loop_vars))


def _run(cond, body, loop_vars, single):
    """The loop, run as it is called."""
    structure = nest.map_structure(
        lambda x: x if isinstance(x, tensor_array_ops.TensorArray) else type_spec.type_spec_from_value(x),
        list(loop_vars))
    packed = False
    while cond(*loop_vars):
        loop_vars = body(*loop_vars)
        if single and not isinstance(loop_vars, (list, tuple)):
            packed = True
            loop_vars = (loop_vars,)
        nest.assert_same_structure(structure, list(loop_vars))
    loop_vars = nest.map_structure(
        lambda x: x if isinstance(x, tensor_array_ops.TensorArray) else ops.convert_to_tensor(x), loop_vars,
        expand_composites=True)
    return loop_vars[0] if packed else loop_vars


def _kind(var, shape):
    """What a loop variable looks like: of what is made of several tensors, whose shape may change, a spec."""
    return shape_invariant_spec(var, shape) if getattr(var, "_is_composite_tensor", False) else var


def while_loop(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True, swap_memory=False,
               name=None, maximum_iterations=None, return_same_structure=False):
    """Repeats `loop_vars = body(*loop_vars)` while `cond(*loop_vars)` holds; the last values.

    shape_invariants: shapes that fit a variable in every iteration, where they are not those it begins with.
    parallel_iterations: how many iterations may run at once. back_prop: whether gradients flow through the loop.
    maximum_iterations: a bound. A single variable is returned as it is unless `return_same_structure`.
    """
    if not callable(cond):
        raise TypeError("cond must be callable.")
    if not callable(body):
        raise TypeError("body must be callable.")
    if parallel_iterations < 1:
        raise TypeError("parallel_iterations must be a positive integer.")
    eager = ops.executing_eagerly()
    if not eager and control_flow_util.EnableControlFlowV2(ops.get_default_graph()):
        return while_v2.while_loop(cond, body, loop_vars, shape_invariants, parallel_iterations, maximum_iterations,
                                   name, return_same_structure, back_prop)
    with ops.name_scope(name, "while", loop_vars):
        if not loop_vars:
            raise ValueError("No loop variables provided")
        single = len(loop_vars) == 1 and not return_same_structure
        if maximum_iterations is not None:
            maximum_iterations = ops.convert_to_tensor(maximum_iterations, name="maximum_iterations")
            if maximum_iterations.shape.ndims != 0:
                raise ValueError("maximum_iterations must be a scalar, saw shape: %s" % maximum_iterations.shape)
            if eager:
                counter, bound = 0, int(maximum_iterations.numpy())
            else:
                counter = constant_op.constant(0, dtype=maximum_iterations.dtype, name="iteration_counter")
                bound = maximum_iterations
            cond, body, loop_vars = _bounded(cond, body, loop_vars, bound, counter, single)
            single = False
        if eager:
            result = _run(cond, body, loop_vars, single)
            return result if maximum_iterations is None else result[1]
        if shape_invariants is not None:
            if maximum_iterations is not None:
                shape_invariants = (tensor_shape.TensorShape([]), shape_invariants)
            nest.assert_same_structure(loop_vars, shape_invariants, expand_composites=False)
            like = nest.map_structure(_kind, loop_vars, shape_invariants, expand_composites=False)
            shape_invariants = nest.map_structure(shape_invariant, loop_vars, shape_invariants,
                                                  expand_composites=False)
        else:
            like = loop_vars
        context = WhileContext(maximum_iterations=maximum_iterations, parallel_iterations=parallel_iterations,
                               back_prop=back_prop, swap_memory=swap_memory)
        if context.outer_context is None:
            # Nested loops are written with the outermost.
            ops.add_to_collection(ops.GraphKeys.WHILE_CONTEXT, context)
        result = context.BuildLoop(cond, body, loop_vars, shape_invariants, return_same_structure, like)
        return result if maximum_iterations is None else result[1]


def while_loop_v2(cond, body, loop_vars, shape_invariants=None, parallel_iterations=10, back_prop=True,
                  swap_memory=False, maximum_iterations=None, name=None):
    """As while_loop; what is returned has the structure of `loop_vars`."""
    return while_loop(cond, body, loop_vars, shape_invariants, parallel_iterations, back_prop, swap_memory, name,
                      maximum_iterations, return_same_structure=True)
