"""Detaching a part of a graph from the rest, connecting two, taking one out."""
from penstock._src.contrib.graph_editor import reroute
from penstock._src.contrib.graph_editor import select
from penstock._src.contrib.graph_editor import subgraph
from penstock._src.contrib.graph_editor import util
from penstock._src.core_ops import array_ops


def detach_control_inputs(sgv):
    """The operations of a view wait no more for those without."""
    sgv = subgraph.make_view(sgv)
    for op in sgv.ops:
        reroute.remove_control_inputs(op, [before for before in op.control_inputs if before not in sgv.ops])


def detach_control_outputs(sgv, control_outputs):
    """Those without wait no more for a view's operations. TypeError if `control_outputs` is no ControlOutputs."""
    if not isinstance(control_outputs, util.ControlOutputs):
        raise TypeError("Expected a util.ControlOutputs, got: {}".format(type(control_outputs)))
    control_outputs.update()
    sgv = subgraph.make_view(sgv)
    for op in sgv.ops:
        for user in control_outputs.get(op):
            if user not in sgv.ops:
                reroute.remove_control_inputs(user, op)


def detach_inputs(sgv, control_inputs=False):
    """Gives a view placeholders as inputs. Returns the view and the placeholders."""
    sgv = subgraph.make_view(sgv)
    with sgv.graph.as_default():
        placeholders = [array_ops.placeholder(tensor.dtype, name=util.placeholder_name(tensor))
                        for tensor in sgv.inputs]
    reroute.swap_inputs(sgv, placeholders)
    if control_inputs:
        detach_control_inputs(sgv)
    return sgv, placeholders


def detach_outputs(sgv, control_outputs=None):
    """Gives those that use a view's outputs placeholders. Returns a view of the used outputs, and the placeholders."""
    sgv = subgraph.make_view(sgv)
    sgv = sgv.remap_outputs([i for i, tensor in enumerate(sgv.outputs) if tensor.consumers()])
    users = subgraph.SubGraphView(sgv.consumers())
    users = users.remap_inputs([i for i, tensor in enumerate(users.inputs) if tensor in list(sgv.outputs)])
    with sgv.graph.as_default():
        placeholders = [util.make_placeholder_from_tensor(tensor) for tensor in users.inputs]
    reroute.swap_outputs(sgv, placeholders)
    if control_outputs is not None:
        detach_control_outputs(sgv, control_outputs)
    return sgv, placeholders


def detach(sgv, control_inputs=False, control_outputs=None, control_ios=None):
    """detach_inputs and detach_outputs: (view, placeholders of its inputs, placeholders of its outputs)."""
    control_inputs, control_outputs = select.check_cios(control_inputs, control_outputs, control_ios)
    _, inputs = detach_inputs(sgv, control_inputs)
    _, outputs = detach_outputs(sgv, control_outputs)
    return sgv, inputs, outputs


def connect(sgv0, sgv1, disconnect_first=False):
    """Gives the second view the first one's outputs as inputs. Returns both views."""
    sgv0, sgv1 = subgraph.make_view(sgv0), subgraph.make_view(sgv1)
    util.check_graphs(sgv0, sgv1)
    if disconnect_first:
        detach_outputs(sgv0)
    reroute.reroute_inputs(subgraph.SubGraphView(passthrough_ts=sgv0.outputs), sgv1)
    return sgv0, sgv1


def bypass(sgv):
    """Takes a view out: those behind it get its inputs. Returns the view and the placeholders that it has now."""
    sgv = subgraph.make_view(sgv)
    inputs = list(sgv.inputs)
    sgv, placeholders = detach_inputs(sgv)
    reroute.reroute_ts(inputs, sgv.outputs)
    return sgv, placeholders
