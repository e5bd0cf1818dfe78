"""The context of a conditional branch: every operation built inside takes its inputs through the branch's switches."""
from penstock.framework import gen
from penstock.framework import ops


class ControlFlowContext(object):
    """Base of the contexts. `_values` are names of tensors known inside; `_external_values` maps names of outer tensors
    to the tensors that stand for them inside."""

    def __init__(self):
        self._nested_contexts = []
        self._outer_context = ops.get_default_graph()._get_control_flow_context()
        if self._outer_context:
            self._outer_context._nested_contexts.append(self)
        self._context_stack = []
        self._values = set()
        self._external_values = {}

    @property
    def name(self):
        return self._name

    @property
    def outer_context(self):
        return self._outer_context

    def Enter(self):
        """Operations built from now on belong to this context."""
        graph = ops.get_default_graph()
        self._context_stack.append(graph._get_control_flow_context())
        graph._set_control_flow_context(self)

    def Exit(self):
        ops.get_default_graph()._set_control_flow_context(self._context_stack.pop())

    def AddName(self, name):
        self._values.add(name)

    def ExitResult(self, result):
        """Makes the results known to the outer context."""
        if self._outer_context:
            for tensor in result:
                self._outer_context.AddName(tensor.name)

    def AddInnerOp(self, op):
        if self._outer_context:
            self._outer_context.AddInnerOp(op)

    def EnterGradientColocation(self, op, gradient_uid):
        if self._outer_context:
            self._outer_context.EnterGradientColocation(op, gradient_uid)

    def ExitGradientColocation(self, op, gradient_uid):
        if self._outer_context:
            self._outer_context.ExitGradientColocation(op, gradient_uid)

    def GetWhileContext(self):
        return self._outer_context.GetWhileContext() if self._outer_context else None

    def GetControlPivot(self):
        return None

    def IsWhileContext(self):
        return False

    def IsCondContext(self):
        return False

    def IsXLAContext(self):
        return False

    def __str__(self):
        return self.name


def switch_ref_or_tensor(data, pred, name="Switch"):
    """(false, true): a Switch that lives where its data do and keeps references."""
    data = ops.convert_to_tensor_or_composite(data, name="data")
    with ops.colocate_with(data, ignore_existing=True):
        if isinstance(data, ops.Tensor) and data.dtype._is_ref_dtype:
            return gen.ref_switch(data, pred, name=name)
        from penstock.ops import control_flow_ops
        return control_flow_ops.switch(data, pred, name=name)


class CondContext(ControlFlowContext):
    """One branch of a cond: `branch` is 1 for true; `pivot` is alive when the branch is taken."""

    def __init__(self, pred=None, pivot=None, branch=None, name="cond_text", context_def=None, import_scope=None):
        self._name = ops.get_default_graph().unique_name(name)
        super().__init__()
        self._pred = pred
        self._pivot = pivot
        self._branch = branch
        # The predicate itself is not switched.
        self._values.add(pred.name)
        self._external_values[pred.name] = pred
        self._values.add(pivot.name)
        pivot.op._set_control_flow_context(self)

    @property
    def pred(self):
        return self._pred

    @property
    def pivot(self):
        return self._pivot

    @property
    def branch(self):
        return self._branch

    @property
    def grad_state(self):
        while_context = self.GetWhileContext()
        return while_context.grad_state if while_context else None

    @property
    def back_prop(self):
        return False

    def GetControlPivot(self):
        return self._pivot

    def IsCondContext(self):
        return True

    def AddValue(self, val):
        """What stands for `val` inside: a switched copy, made once, if it comes from outside."""
        if val.name in self._values:
            known = self._external_values.get(val.name)
            return val if known is None else known
        self._values.add(val.name)
        outer = self._outer_value(val)
        with ops.control_dependencies(None):
            result = switch_ref_or_tensor(outer, self._pred)[self._branch]
            if self._outer_context:
                self._outer_context.AddInnerOp(result.op)
        result.op.graph.prevent_fetching(result.op)
        result.op._set_control_flow_context(self)
        self._know([result.name])
        self._external_values[val.name] = result
        return result

    def _outer_value(self, val):
        if not self._outer_context:
            return val
        result = self._outer_context.AddValue(val)
        self._values.add(result.name)
        self._external_values[result.name] = result
        return result

    def _know(self, names):
        context = self
        while context is not None:
            context._values.update(names)
            context = context._outer_context

    def AddOp(self, op):
        """Brings an operation that was just built inside."""
        if not op.inputs:
            # Without inputs, only a control edge makes it wait for the branch.
            if not any(_in_context(c, self) for c in op.control_inputs):
                op._add_control_input(self._pivot.op)
        else:
            # What brings an input inside is named after the operation that needs it.
            with op.graph.name_scope(op.name + "/"):
                for index, x in enumerate(list(op.inputs)):
                    inside = self.AddValue(x)
                    if inside is not x:
                        op._update_input(index, inside)
            if op.graph._is_function(op.type) or op.type == "SymbolicGradient":
                op._add_control_input(self._pivot.op)
        self._know([x.name for x in op.outputs])
        op.graph.prevent_fetching(op)
        if self._outer_context:
            self._outer_context.AddInnerOp(op)

    def branch_output(self, value):
        """A value that a branch returns as a tensor that is alive only in that branch."""
        if isinstance(value, ops.Operation):
            from penstock.ops import control_flow_ops
            return control_flow_ops.with_dependencies([value], self._pivot)
        val = ops.convert_to_tensor(value)
        if val.name not in self._values:
            # Made outside and returned as it is.
            self._values.add(val.name)
            result = switch_ref_or_tensor(self._outer_value(val), self._pred)[self._branch]
            self._external_values[val.name] = result
            return result
        known = self._external_values.get(val.name)
        return val if known is None else known


def _in_context(op, context):
    current = op._get_control_flow_context()
    while current is not None:
        if current is context:
            return True
        current = current.outer_context
    return False
