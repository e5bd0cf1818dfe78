"""Which of the operations that the runtime adds for gradients may wait for what the caller's control dependencies name."""
_ENTER, _EXIT = ("Enter", "RefEnter"), ("Exit", "RefExit")


def bound_to_loops(new, context):
    """Those of the operations `new` that run in other loops than `context`, or before a loop that was there already:
    what the caller waits for may come after that loop."""
    if not any(op.type in _ENTER for op in new):
        return ()
    here, outer = 0, context
    while outer is not None:
        here += outer.IsWhileContext()
        outer = outer.outer_context
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
    consumers, levels, todo = {}, {}, []
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
