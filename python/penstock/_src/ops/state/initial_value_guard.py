"""Makes an initial value safe to compute before other variables have been initialized.

`tf.Variable(v * 2)` reads `v`; the initializer must see `v`'s initial value if `v` itself has no value yet. The part of
the graph between variables and the initial value is rebuilt on top of `v.initialized_value()`.
"""
from penstock._src.graph import ops

_READS_ARE_SAFE = frozenset(["IsVariableInitialized", "VarIsInitializedOp", "ReadVariableOp", "If"])
_VARIABLES = frozenset(["Variable", "VariableV2", "VarHandleOp"])


def guarded_initial_value(name, initial_value):
    """`initial_value`, or a tensor of the same meaning that does not need initialized variables. Loops stay as they
    are."""
    if not isinstance(initial_value, ops.Tensor):
        raise TypeError("initial_value needs to be a Tensor: %s" % initial_value)
    op = initial_value.op
    if op.type not in _VARIABLES and not op.inputs and not op.control_inputs:
        return initial_value
    order = _inputs_first(op)
    if order is None:
        return initial_value
    safe = {}  # name of an operation -> the operation to use in its place
    for op in order:
        safe[op.name] = _safe_op(name, op, safe)
    return safe[initial_value.op.name].outputs[initial_value.value_index]


def _inputs_first(root):
    """The operations that `root` depends on, each after its data inputs in the order of a recursive walk; None for a
    cycle."""
    open_, done, order = set(), set(), []
    stack = [(root, False)]
    while stack:
        op, leaving = stack.pop()
        if leaving:
            open_.discard(op.name)
            done.add(op.name)
            continue
        if op.name in open_:
            return None
        if op.name in done:
            continue
        open_.add(op.name)
        stack.append((op, True))
        for before in list(op.control_inputs)[::-1] + [i.op for i in op.inputs][::-1]:
            if before.name in open_:
                return None
            if before.name not in done:
                stack.append((before, False))
    # No cycle: list what the value is computed from. Where reads are safe, nothing before matters.
    seen, stack = set(), [(root, False)]
    while stack:
        op, leaving = stack.pop()
        if leaving:
            order.append(op)
            continue
        if op.name in seen:
            continue
        seen.add(op.name)
        stack.append((op, True))
        if op.type not in _READS_ARE_SAFE and op.type not in _VARIABLES:
            stack.extend((i.op, False) for i in list(op.inputs)[::-1] if i.op.name not in seen)
    return order


def _safe_op(name, op, safe):
    if op.type in _READS_ARE_SAFE:
        return op
    if op.type in _VARIABLES:
        value = _initialized_value_of(op)
        return op if value is None else value.op
    inputs = [safe[i.op.name].outputs[i.value_index] for i in op.inputs]
    if all(new is old for new, old in zip(inputs, op.inputs)):
        return op
    kind = "Switch" if op.type == "RefSwitch" else op.type
    new_name = (op.node_def.name + "_" + name).replace(":", "_")
    return op.graph.create_op(kind, inputs, op._output_types, name=new_name, attrs=op.node_def.attr)


def _initialized_value_of(variable_op):
    names = (variable_op.name, variable_op.name + ":0")
    for key in (ops.GraphKeys.GLOBAL_VARIABLES, ops.GraphKeys.LOCAL_VARIABLES):
        for var in variable_op.graph.get_collection(key):
            if getattr(var, "name", None) in names and hasattr(var, "initialized_value"):
                return var.initialized_value()
    return None
