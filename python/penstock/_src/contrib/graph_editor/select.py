"""Choosing operations and tensors: by name, by what lies between them, by where they lead."""
import re

from penstock._src.contrib.graph_editor import util
from penstock._src.graph import ops as framework_ops
from penstock._src.ops.queues import op_selector


def can_be_regex(obj):
    """Whether it is a string or a compiled regular expression."""
    return isinstance(obj, (str, re.Pattern))


def make_regex(obj):
    """A compiled regular expression. ValueError if it is neither that nor a string."""
    if not can_be_regex(obj):
        raise ValueError("Expected a string or a regex, got: {}".format(type(obj)))
    return re.compile(obj)


def _get_input_ts(ops):
    return util.concatenate_unique([], [tensor for op in ops for tensor in op.inputs])


def _get_output_ts(ops):
    return [tensor for op in ops for tensor in op.outputs]


def filter_ts(ops, positive_filter):
    """The inputs and outputs of operations for which `positive_filter`, a function or True, holds."""
    ops = util.make_list_of_op(ops)
    ts = util.concatenate_unique(_get_input_ts(ops), _get_output_ts(ops))
    return ts if positive_filter is True else [tensor for tensor in ts if positive_filter(tensor)]


def filter_ts_from_regex(ops, regex):
    """The inputs and outputs of operations in whose names the expression is found."""
    regex = make_regex(regex)
    return filter_ts(ops, lambda tensor: regex.search(tensor.name))


def filter_ops(ops, positive_filter):
    """The operations for which `positive_filter`, a function or True, holds."""
    ops = util.make_list_of_op(ops)
    return ops if positive_filter is True else [op for op in ops if positive_filter(op)]


def filter_ops_from_regex(ops, regex):
    """The operations in whose names the expression is found."""
    regex = make_regex(regex)
    return filter_ops(ops, lambda op: regex.search(op.name))


def get_name_scope_ops(ops, scope):
    """The operations in a name scope."""
    return filter_ops_from_regex(ops, "^{}(/.*)?$".format(scope[:-1] if scope.endswith("/") else scope))


def check_cios(control_inputs=False, control_outputs=None, control_ios=None):
    """(control_inputs, control_outputs) of the arguments of many functions here.

    `control_ios` stands for both. TypeError if one is no ControlOutputs, ValueError if both are given.
    """
    for given in (control_ios, control_outputs):
        if given is not None and not isinstance(given, util.ControlOutputs):
            raise TypeError("Expected a util.ControlOutputs, got: {}".format(type(given)))
    if control_ios is not None:
        if control_outputs is not None:
            raise ValueError("control_outputs should be None when using control_ios.")
        control_inputs, control_outputs = True, control_ios
    if control_outputs is not None:
        control_outputs.update()
    return control_inputs, control_outputs


def get_ops_ios(ops, control_inputs=False, control_outputs=None, control_ios=None):
    """The operations next to some of them, on either side."""
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    found = []
    for op in util.make_list_of_op(ops):
        util.concatenate_unique(found, [tensor.op for tensor in op.inputs])
        for tensor in op.outputs:
            util.concatenate_unique(found, tensor.consumers())
        if control_outputs is not None:
            util.concatenate_unique(found, control_outputs.get(op))
        if control_inputs:
            util.concatenate_unique(found, op.control_inputs)
    return found


def compute_boundary_ts(ops):
    """(inputs, outputs, tensors within) of a set of operations.

    An input comes from without; an output is used by nobody or by some without, and may be a tensor within as well.
    """
    ops = util.make_list_of_op(ops)
    inputs, outputs, inside_ops = _get_input_ts(ops), _get_output_ts(ops), frozenset(ops)
    made = frozenset(outputs)
    inside = [tensor for tensor in inputs if tensor in made]
    only_inside = frozenset(tensor for tensor in inside if not frozenset(tensor.consumers()) - inside_ops)
    return ([tensor for tensor in inputs if tensor not in made],
            [tensor for tensor in outputs if tensor not in only_inside], inside)


def get_within_boundary_ops(ops, seed_ops, boundary_ops=(), inclusive=True, control_inputs=False,
                            control_outputs=None, control_ios=None):
    """Those of `ops` that are connected to the seeds without crossing the boundary, which is part of it if inclusive.

    ValueError if a seed is on the boundary.
    """
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    ops = util.make_list_of_op(ops)
    wave = set(util.make_list_of_op(seed_ops, allow_graph=False))
    boundary = set(util.make_list_of_op(boundary_ops))
    if boundary & wave:
        raise ValueError("Boundary is intersecting with the seeds.")
    found = set(wave)
    while wave:
        near = set(get_ops_ios(list(wave), control_inputs, control_outputs)) - found
        if inclusive:
            found |= near & boundary
        wave = near - boundary
        found |= wave
    return [op for op in ops if op in found]


def get_forward_walk_ops(seed_ops, inclusive=True, within_ops=None, within_ops_fn=None, stop_at_ts=(),
                         control_outputs=None):
    """The operations that depend on `seed_ops` (operations, or tensors, which stand for those that use them).

    within_ops, within_ops_fn: those that may be entered. stop_at_ts: tensors behind which nothing is looked for.
    control_outputs: a ControlOutputs if these count. TypeError for what is neither operation nor tensor.
    """
    _, control_outputs = check_cios(False, control_outputs)
    stop_at_ts = frozenset(util.make_list_of_t(stop_at_ts))

    def neighbours(op):
        ahead = [user for tensor in op.outputs if tensor not in stop_at_ts for user in tensor.consumers()]
        return ahead if control_outputs is None else [*ahead, *control_outputs.get(op)]

    return op_selector.walk(seed_ops, util.get_consuming_ops, neighbours, inclusive, within_ops, within_ops_fn)


def get_backward_walk_ops(seed_ops, inclusive=True, within_ops=None, within_ops_fn=None, stop_at_ts=(),
                          control_inputs=False):
    """The operations that `seed_ops` depend on; as get_forward_walk_ops."""
    return op_selector.get_backward_walk_ops(seed_ops, inclusive, within_ops, within_ops_fn, stop_at_ts,
                                             control_inputs)


def _walks(forward_seed_ops, backward_seed_ops, forward_inclusive=True, backward_inclusive=True, within_ops=None,
           within_ops_fn=None, control_inputs=False, control_outputs=None, control_ios=None):
    control_inputs, control_outputs = check_cios(control_inputs, control_outputs, control_ios)
    return (get_forward_walk_ops(forward_seed_ops, forward_inclusive, within_ops, within_ops_fn,
                                 control_outputs=control_outputs),
            get_backward_walk_ops(backward_seed_ops, backward_inclusive, within_ops, within_ops_fn,
                                  control_inputs=control_inputs))


def get_walks_intersection_ops(forward_seed_ops, backward_seed_ops, forward_inclusive=True, backward_inclusive=True,
                               within_ops=None, within_ops_fn=None, control_inputs=False, control_outputs=None,
                               control_ios=None):
    """The operations that depend on the first and that the second depend on."""
    forward, backward = _walks(forward_seed_ops, backward_seed_ops, forward_inclusive, backward_inclusive, within_ops,
                               within_ops_fn, control_inputs, control_outputs, control_ios)
    backward = frozenset(backward)
    return [op for op in forward if op in backward]


def get_walks_union_ops(forward_seed_ops, backward_seed_ops, forward_inclusive=True, backward_inclusive=True,
                        within_ops=None, within_ops_fn=None, control_inputs=False, control_outputs=None,
                        control_ios=None):
    """The operations that depend on the first or that the second depend on."""
    return util.concatenate_unique(*_walks(forward_seed_ops, backward_seed_ops, forward_inclusive, backward_inclusive,
                                           within_ops, within_ops_fn, control_inputs, control_outputs, control_ios))


def select_ops(*args, graph=None, positive_filter=None, restrict_ops_regex=False, restrict_ts_regex=False):
    """The operations that expressions (which need `graph`) and lists name, in their order and each once.

    An expression that begins with `(?#ts)` is for tensors; if `restrict_ops_regex`, only those that begin with
    `(?#ops)` count. positive_filter: a test of operations. ValueError if there is no graph, TypeError for what is
    nothing of a graph.
    """
    return _select(args, graph, positive_filter, "(?#ts)", "(?#ops)" if restrict_ops_regex else "",
                   filter_ops_from_regex, lambda arg: util.make_list_of_op(arg, ignore_ts=True))


def select_ts(*args, graph=None, positive_filter=None, restrict_ops_regex=False, restrict_ts_regex=False):
    """The tensors that expressions and lists name; as select_ops."""
    return _select(args, graph, positive_filter, "(?#ops)", "(?#ts)" if restrict_ts_regex else "",
                   filter_ts_from_regex, lambda arg: util.make_list_of_t(arg, ignore_ops=True))


def _select(args, graph, positive_filter, others, wanted, by_regex, by_list):
    if graph is not None and not isinstance(graph, framework_ops.Graph):
        raise TypeError("Expected a tf.Graph, got: {}".format(type(graph)))
    found = []
    for arg in args:
        if can_be_regex(arg):
            if graph is None:
                raise ValueError("Use the keyword argument 'graph' to use regex.")
            regex = make_regex(arg)
            if regex.pattern.startswith(others) or not regex.pattern.startswith(wanted):
                continue
            chosen = by_regex(graph, regex)
        else:
            chosen = by_list(arg)
        util.concatenate_unique(found, [x for x in chosen if positive_filter is None or positive_filter(x)])
    return found


def select_ops_and_ts(*args, graph=None, positive_filter=None):
    """(operations, tensors) that expressions and lists name; of tensors only by those that begin with `(?#ts)`."""
    return (select_ops(*args, graph=graph, positive_filter=positive_filter),
            select_ts(*args, graph=graph, positive_filter=positive_filter, restrict_ts_regex=True))
