"""Giving those that use some tensors, or the inputs of views, others."""
from penstock._src.contrib.graph_editor import subgraph
from penstock._src.contrib.graph_editor import util
from penstock._src.graph import ops

# Which side is changed: a swap changes both; a rerouting gives the second's users what the first has.
_BOTH, _SECOND = (True, True), (False, True)


def _check_compatible(first, second):
    if len(first) != len(second):
        raise ValueError("ts0 and ts1 have different sizes: {} != {}".format(len(first), len(second)))
    for one, other in zip(first, second):
        if not one.dtype.is_compatible_with(other.dtype):
            raise ValueError("Dtypes {} and {} are not compatible.".format(one.dtype, other.dtype))
        if not one.get_shape().is_compatible_with(other.get_shape()):
            raise ValueError("Shapes {} and {} are not compatible.".format(one.get_shape(), other.get_shape()))


def _reroute(first, second, sides, can_modify=None, cannot_modify=None):
    first, second = util.make_list_of_t(first), util.make_list_of_t(second)
    _check_compatible(first, second)
    allowed = None if can_modify is None else frozenset(util.make_list_of_op(can_modify))
    forbidden = frozenset() if cannot_modify is None else frozenset(util.make_list_of_op(cannot_modify))
    users = {tensor: tensor.consumers() for tensor in [*first, *second]}
    changed = 0
    for one, other in zip(first, second):
        if one is other:
            continue
        for change, old, new in ((sides[1], other, one), (sides[0], one, other)):
            places = [(op, i) for op in users[old] if (allowed is None or op in allowed) and op not in forbidden
                      for i, tensor in enumerate(op.inputs) if tensor is old] if change else []
            for op, i in places:
                op._update_input(i, new)
            changed += len(places)
    return changed


def swap_ts(ts0, ts1, can_modify=None, cannot_modify=None):
    """Those that use a tensor of the one list get that of the other, and the other way round.

    can_modify, cannot_modify: the operations that may be changed. Returns how many inputs were. ValueError if the lists
    differ in length, types or shapes, TypeError for what is no tensor.
    """
    return _reroute(ts0, ts1, _BOTH, can_modify, cannot_modify)


def reroute_ts(ts0, ts1, can_modify=None, cannot_modify=None):
    """Those that use a tensor of `ts1` get that of `ts0`; as swap_ts."""
    return _reroute(ts0, ts1, _SECOND, can_modify, cannot_modify)


def _views(first, second):
    first, second = subgraph.make_view(first), subgraph.make_view(second)
    util.check_graphs(first, second)
    return first, second


def _reroute_inputs(first, second, sides):
    first, second = _views(first, second)
    users = [*first.ops, *second.ops, *util.get_consuming_ops(first.passthroughs),
             *util.get_consuming_ops(second.passthroughs)]
    _reroute(first.inputs, second.inputs, sides, can_modify=users)
    one, other = first.copy(), second.copy()
    if sides[1]:
        other._input_ts, other._passthrough_ts = list(first._input_ts), list(first._passthrough_ts)
    if sides[0]:
        one._input_ts, one._passthrough_ts = list(second._input_ts), list(second._passthrough_ts)
    if sides[1]:
        _follow_passthroughs(one, other)
    if sides[0]:
        _follow_passthroughs(other, one)
    first._assign_from(one)
    second._assign_from(other)
    return first, second


def _follow_passthroughs(source, view):
    """An output that passes through `source` becomes the view's input in its place."""
    for i, tensor in enumerate(view._output_ts):
        if tensor in source._passthrough_ts:
            view._output_ts[i] = view._input_ts[source._input_ts.index(tensor)]


def _reroute_outputs(first, second, sides):
    first, second = _views(first, second)
    _reroute(first.outputs, second.outputs, sides, cannot_modify=[*first.ops, *second.ops])
    return first, second


def swap_inputs(sgv0, sgv1):
    """Each view gets the other's inputs. Returns both views."""
    return _reroute_inputs(sgv0, sgv1, _BOTH)


def reroute_inputs(sgv0, sgv1):
    """The second view gets the first one's inputs. Returns both views."""
    return _reroute_inputs(sgv0, sgv1, _SECOND)


def swap_outputs(sgv0, sgv1):
    """Those that use the outputs of one view get the other's. Returns both views."""
    return _reroute_outputs(sgv0, sgv1, _BOTH)


def reroute_outputs(sgv0, sgv1):
    """Those that use the second view's outputs get the first one's. Returns both views."""
    return _reroute_outputs(sgv0, sgv1, _SECOND)


def swap_ios(sgv0, sgv1):
    """swap_outputs and swap_inputs."""
    swap_outputs(sgv0, sgv1)
    return swap_inputs(sgv0, sgv1)


def reroute_ios(sgv0, sgv1):
    """reroute_outputs and reroute_inputs."""
    reroute_outputs(sgv0, sgv1)
    return reroute_inputs(sgv0, sgv1)


def remove_control_inputs(op, cops):
    """An operation waits no more for some. TypeError if it is none, ValueError if it did not wait for one of them."""
    cops = _control_operations(op, cops)
    for before in cops:
        if before not in op.control_inputs:
            raise ValueError("{} is not a control_input of {}".format(op.name, before.name))
    kept = [before for before in op.control_inputs if before not in cops]
    op._remove_all_control_inputs()
    op._add_control_inputs(kept)


def add_control_inputs(op, cops):
    """An operation waits for some. TypeError if it is none, ValueError if it waits for one of them already."""
    cops = _control_operations(op, cops)
    for before in cops:
        if before in op.control_inputs:
            raise ValueError("{} is already a control_input of {}".format(before.name, op.name))
    op._add_control_inputs(cops)


def _control_operations(op, cops):
    if not isinstance(op, ops.Operation):
        raise TypeError("Expected a tf.Operation, got: {}".format(type(op)))
    return util.make_list_of_op(cops, allow_graph=False)
