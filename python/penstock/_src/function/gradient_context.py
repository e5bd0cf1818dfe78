"""Where gradient functions written in Python build when the runtime is inside of a loop's gradient."""
from penstock._src.graph import ops
from penstock._src.function.control_flow_context import ControlFlowContext


class GradientLoopContext(ControlFlowContext):
    """The body of a loop that the runtime builds. Forward values are brought there by the runtime."""

    def __init__(self, pivot, inside):
        super().__init__()
        self._name = pivot.name
        self._pivot_op = pivot
        self._inside = inside
        self._graph = ops.get_default_graph()

    def GetWhileContext(self):
        return self

    def GetControlPivot(self):
        return self._pivot_op.outputs[0]

    def IsWhileContext(self):
        return True

    def CanUse(self, context):
        return True

    def AddValue(self, val):
        if val.name in self._values:
            known = self._external_values.get(val.name)
            return val if known is None else known
        key = self._inside(val._key)
        self._graph._add_new_operations(scopes=False)
        result = self._graph._tensor(key)
        self._values.update((val.name, result.name))
        self._external_values[val.name] = result
        return result

    def AddOp(self, op):
        for index, x in enumerate(list(op.inputs)):
            inside = self.AddValue(x)
            if inside is not x:
                op._update_input(index, inside)
        if not op.inputs and not op.control_inputs:
            op._add_control_input(self._pivot_op)
        self._values.update(x.name for x in op.outputs)
