"""subscribe: side effects that happen whenever a tensor of a finished graph is computed."""
import contextlib
import re

from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import variables
from penstock._src.base import tf_logging as logging

_IDENTITY = re.compile(r"^(.*?)/subscription/Identity[^/]+")


def subscribe(tensors, side_effects):
    """Copies of tensors whose computation runs the side effects too, in the structure of `tensors`; what read the
    tensors before reads the copies.

    tensors: a tensor or variable, or lists, tuples, dicts of them. side_effects: one or several functions that take a
    tensor and return a list of operations. A tensor that has a copy already keeps it.
    """
    if not hasattr(side_effects, "__iter__"):
        side_effects = [side_effects]
    readers = {}
    return _recursive_apply(tensors, lambda tensor: _scoped_subscribe(tensor, side_effects, readers))


def _recursive_apply(tensors, apply_fn):
    kind = type(tensors)
    if kind is ops.Tensor:
        return apply_fn(tensors)
    if isinstance(tensors, variables.Variable):
        return apply_fn(tensors.value())
    if isinstance(tensors, (list, tuple)):
        parts = [_recursive_apply(t, apply_fn) for t in tensors]
        return kind(parts) if kind in (list, tuple) else kind(*parts)
    if kind is dict:
        return {key: _recursive_apply(value, apply_fn) for key, value in tensors.items()}
    raise TypeError(f"_recursive_apply argument {tensors!r} has invalid type {kind!r}")


@contextlib.contextmanager
def _context_of(tensor):
    context = tensor.op._get_control_flow_context()
    if context:
        context.Enter()
    try:
        yield
    finally:
        if context:
            context.Exit()


def _scoped_subscribe(tensor, side_effects, readers):
    with ops.device(tensor.device), _context_of(tensor):
        return _subscribe(tensor, side_effects, readers)


def _subscribe(tensor, side_effects, readers):
    if not tensor.dtype.is_numpy_compatible:
        logging.debug("Tensor %s has an un-supported %s type and cannot be subscribed.", tensor.name, tensor.dtype)
        return tensor
    copies = [tensor] + [op.outputs[0] for op in tensor.consumers() if op.type == "Identity"]
    copy = next((t for t in copies if _is_subscribed_identity(t)), None)
    return _subscribe_new(tensor, side_effects, readers) if copy is None else _subscribe_extend(copy, side_effects)


def _is_subscribed_identity(tensor):
    """Whether a call of `subscribe` has made it."""
    if tensor.op.type != "Identity":
        return False
    match = _IDENTITY.match(tensor.name)
    return match is not None and match.group(1) == tensor.op.inputs[0].op.name


def _effects(tensor, side_effects):
    return [out.op if isinstance(out, ops.Tensor) else out for effect in side_effects for out in effect(tensor)]


def _subscribe_new(tensor, side_effects, readers):
    graph = tensor.graph
    if graph not in readers:  # operation -> those that wait for it
        waiting = readers[graph] = {}
        for op in graph.get_operations():
            for control_input in op.control_inputs:
                waiting.setdefault(control_input, []).append(op)
    inputs = [(op, i) for op in tensor.consumers() for i, x in enumerate(op.inputs) if x is tensor]
    with ops.name_scope(tensor.op.name + "/subscription/"):
        with ops.control_dependencies(_effects(tensor, side_effects)):
            copy = array_ops.identity(tensor)
    for op, i in inputs:
        op._update_input(i, copy)
    for op in readers[graph].get(tensor.op, ()):
        others = [c for c in op.control_inputs if c is not tensor.op]
        op._remove_all_control_inputs()
        op._add_control_inputs(others + [copy.op])
    return copy


def _subscribe_extend(copy, side_effects):
    source = copy.op.inputs[0]
    with ops.name_scope(source.op.name + "/subscription/"):
        copy.op._add_control_inputs(_effects(source, side_effects))
    return copy
