"""Questions about control-flow contexts."""


def CheckInputFromValidContext(op, input_op):
    """ValueError if `op` uses a tensor made inside a loop that `op` is not in."""
    inner = GetContainingWhileContext(GetOutputContext(input_op))
    if inner is None or inner is GetContainingWhileContext(op._get_control_flow_context()):
        return
    context = op._get_control_flow_context()
    while context is not None:
        if context is inner:
            return
        context = context.outer_context
    raise ValueError("Cannot use '%s' as input to '%s' because '%s' is in a while loop." %
                     (input_op.name, op.name, input_op.name))


def GetOutputContext(op):
    """The context of an operation's outputs; those of a loop's exit are outside of the loop."""
    context = op._get_control_flow_context()
    if context is not None and IsLoopExit(op):
        context = context.outer_context
    return context


def GetContainingWhileContext(context, stop_ctxt=None):
    """The innermost loop around a context, or None."""
    while context is not None:
        if context.IsWhileContext() or context is stop_ctxt:
            return context
        context = context.outer_context
    return None


def IsLoopExit(op):
    return op.type in ("Exit", "RefExit")


def IsSwitch(op):
    return op.type in ("Switch", "RefSwitch")


def IsLoopEnter(op):
    return op.type in ("Enter", "RefEnter")


def IsCondSwitch(op):
    """Whether a Switch belongs to a conditional, not to a loop."""
    return IsSwitch(op) and bool(op.outputs) and all(
        _in_cond(consumer) for output in op.outputs for consumer in output.consumers())


def _in_cond(op):
    context = GetOutputContext(op)
    return context is not None and context.IsCondContext()
