"""Questions about control-flow contexts."""
import sys
import types


def IsSwitch(op):
    """Whether it hands its input on at one of two outputs."""
    return op.type in ("Switch", "RefSwitch")


def IsMerge(op):
    """Whether it hands on whichever input arrives."""
    return op.type in ("Merge", "RefMerge")


def IsLoopEnter(op):
    """Whether it leads a value into a loop."""
    return op.type in ("Enter", "RefEnter")


def IsLoopExit(op):
    """Whether it leads a value out of a loop."""
    return op.type in ("Exit", "RefExit")


def IsLoopConstantEnter(op):
    """Whether it brings an invariant into a loop."""
    return IsLoopEnter(op) and op.get_attr("is_constant")


def GetLoopConstantEnter(value):
    """The Enter of the invariant that `value` is, or None."""
    op = value.op
    while op.type in ("Switch", "RefSwitch", "Identity", "RefIdentity"):
        op = op.inputs[0].op
    return op if IsLoopConstantEnter(op) else None


def IsCondSwitch(op):
    """Whether a Switch belongs to a conditional, not to a loop."""
    return IsSwitch(op) and bool(op.outputs) and all(
        _in_cond(consumer) for output in op.outputs for consumer in output.consumers())


def IsCondMerge(op):
    """Whether a Merge ends a conditional."""
    return IsMerge(op) and bool(op.inputs) and all(_is_cond(GetOutputContext(x.op)) for x in op.inputs)


def IsLoopSwitch(op):
    """Whether it is a Switch at which a loop goes on or ends, not one of a conditional."""
    context = op._get_control_flow_context() if IsSwitch(op) else None
    return context is not None and context.IsWhileContext() and not IsCondSwitch(op)


def IsLoopMerge(op):
    """Whether it is a Merge at which the rounds of a loop begin."""
    context = op._get_control_flow_context() if IsMerge(op) else None
    return context is not None and context.IsWhileContext() and not IsCondMerge(op)


def _is_cond(context):
    return context is not None and context.IsCondContext()


def _in_cond(op):
    context = op._get_control_flow_context()
    if IsLoopEnter(op) and context is not None:
        context = context.outer_context
    return _is_cond(context)


def GetOutputContext(op):
    """The context of an operation's outputs; those of a loop's exit are outside of the loop."""
    context = op._get_control_flow_context()
    if context is not None and IsLoopExit(op):
        context = context.outer_context
    return context


def _containing(context, test, stop_ctxt=None):
    while context is not None:
        if test(context) or (stop_ctxt is not None and context is stop_ctxt):
            return context
        context = context.outer_context
    return None


def GetContainingWhileContext(ctxt, stop_ctxt=None):
    """The innermost loop around a context, or None."""
    return _containing(ctxt, lambda c: c.IsWhileContext(), stop_ctxt)


def GetContainingCondContext(ctxt):
    """The innermost branch around a context, or None."""
    return _containing(ctxt, lambda c: c.IsCondContext())


def GetContainingXLAContext(ctxt):
    """The innermost context around `ctxt`, itself too, that XLA compiles, or None."""
    return _containing(ctxt, lambda c: c.IsXLAContext())


def GetWhileContext(op):
    """The innermost loop that an operation is in, or None."""
    context = op._get_control_flow_context()
    return context.GetWhileContext() if context else None


def IsInXLAContext(op):
    """Whether an operation was built where XLA compiles."""
    return GetContainingXLAContext(op._get_control_flow_context()) is not None


def InXlaContext(graph):
    """Whether operations that are built now would be where XLA compiles."""
    return GetContainingXLAContext(graph._get_control_flow_context()) is not None


GraphOrParentsInXlaContext = InXlaContext


def IsInWhileLoop(op):
    """Whether an operation lies in a loop."""
    return GetWhileContext(op) is not None


def IsInCond(op):
    """Whether an operation lies in a branch."""
    return GetContainingCondContext(op._get_control_flow_context()) is not None


def IsContainingContext(ctxt, maybe_containing_ctxt):
    """Whether the second context is the first or around it; None is around all."""
    while ctxt is not maybe_containing_ctxt:
        if ctxt is None:
            return False
        ctxt = ctxt.outer_context
    return True


def OpInContext(op, ctxt):
    """Whether an operation lies in a context, however deep."""
    return IsContainingContext(op._get_control_flow_context(), ctxt)


def TensorInContext(tensor, ctxt):
    """Whether a tensor's operation lies in a context, however deep."""
    return OpInContext(tensor.op, ctxt)


class _Module(types.ModuleType):
    """This module. Programs set the switch, too: control_flow_util.ENABLE_CONTROL_FLOW_V2 = True."""

    @property
    def ENABLE_CONTROL_FLOW_V2(self):
        """Whether conditionals and loops become single operations in all graphs."""
        from penstock._src.base.mode import mode
        return mode.control_flow_v2

    @ENABLE_CONTROL_FLOW_V2.setter
    def ENABLE_CONTROL_FLOW_V2(self, value):
        from penstock._src.base.mode import mode
        mode.control_flow_v2 = bool(value)


def EnableControlFlowV2(graph):
    """Whether conditionals and loops that are built in `graph` become single operations."""
    from penstock._src.base.mode import mode
    if getattr(graph, "_switches_only", False):  # of a function that is being lowered
        return False
    return mode.control_flow_v2 or (graph._building_function and not hasattr(graph, "_captured"))


def CheckInputFromValidContext(op, input_op):
    """ValueError if `op` uses a tensor made inside a loop that `op` is not in."""
    context, made_in = op._get_control_flow_context(), GetOutputContext(input_op)
    if made_in is None or made_in is context:
        return
    loop, made_in_loop = GetContainingWhileContext(context), GetContainingWhileContext(made_in)
    if loop is None:
        if made_in_loop is None or IsLoopEnter(op) or IsSwitch(op) or IsMerge(op):  # told their context later
            return
        raise ValueError(f"Cannot use '{input_op.name}' as input to '{op.name}' because '{input_op.name}' is in a "
                         "while loop. See info log for more details.")
    if not loop.CanUse(made_in_loop):
        raise ValueError(f"Cannot use '{input_op.name}' as input to '{op.name}' because they are in different while "
                         "loops. See info log for more details.")


sys.modules[__name__].__class__ = _Module
