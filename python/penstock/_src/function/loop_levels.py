"""Where the operations lie that the runtime adds for gradients: in which loops, and so what they may wait for."""
from penstock._src.function.gradient_context import GradientLoopContext

_ENTER, _EXIT = ("Enter", "RefEnter"), ("Exit", "RefExit")


def inside_runtime_loops(ops):
    """Those of a graph's operations that are in a loop which the runtime made: it is no context of the program's."""
    if not any(op.type in _ENTER for op in ops):
        return ()
    levels = _levels(ops)
    return {op for op in ops if levels.get(op, 0) > _loops_around(op._control_flow_context)}


def _loops_around(context, of_runtime=False):
    count = 0
    while context is not None:
        count += context.IsWhileContext() and (of_runtime or not isinstance(context, GradientLoopContext))
        context = context.outer_context
    return count


def bound_to_loops(new, context):
    """Those of the operations `new` that run in other loops than `context`, or before a loop that was there already:
    what the caller waits for may come after that loop."""
    if not any(op.type in _ENTER for op in new):
        return ()
    here = _loops_around(context, of_runtime=True)
    ops = new[0].graph.get_operations()
    levels = _levels(ops)
    bound = {op for op in new if levels.get(op) != here or op.type in _EXIT}
    fresh = set(new)
    frames = {op.get_attr("frame_name") for op in ops if op.type in _ENTER and op not in fresh}
    todo = [op for op in new if op.type in _ENTER and op.get_attr("frame_name") in frames]
    bound.update(todo)
    while todo:
        op = todo.pop()
        for before in _inputs(op):
            if before in fresh and before not in bound:
                bound.add(before)
                todo.append(before)
    return bound


def _inputs(op):
    return [x.op for x in op.inputs] + list(op.control_inputs)


def _levels(ops):
    """{operation: in how many loops its outputs are}. All that an operation reads is in one loop."""
    consumers: dict = {}
    levels, todo = {}, []
    for op in ops:
        inputs = _inputs(op)
        for before in inputs:
            consumers.setdefault(before, []).append(op)
        if not inputs:
            levels[op] = 0
            todo.append(op)
    while todo:
        op = todo.pop()
        for after in consumers.get(op, ()):
            if after not in levels:
                levels[after] = levels[op] + (after.type in _ENTER) - (after.type in _EXIT)
                todo.append(after)
    return levels
