"""The context of a conditional branch: every operation built inside takes its inputs through the branch's switches."""
from penstock._src.graph import ops
from penstock._src.graph import control_flow_util as util
from penstock._src.function.control_flow_context import ControlFlowContext, switch_ref_or_tensor, without_new_summaries
from penstock._src.base import nest


class CondContext(ControlFlowContext):
    """One branch of a cond: `branch` is 1 for true; `pivot` is alive when the branch is taken."""

    def __init__(self, pred=None, pivot=None, branch=None, name="cond_text", context_def=None, import_scope=None):
        if context_def is not None:
            self._init_from_proto(context_def, import_scope)
            return
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

    def _init_from_proto(self, context_def, import_scope):
        graph = ops.get_default_graph()
        self._name = ops.prepend_name_scope(context_def.context_name, import_scope)
        self._pred = graph.as_graph_element(ops.prepend_name_scope(context_def.pred_name, import_scope))
        self._pivot = graph.as_graph_element(ops.prepend_name_scope(context_def.pivot_name, import_scope))
        self._branch = context_def.branch
        super().__init__(context_def.values_def, import_scope)

    def to_proto(self, export_scope=None):
        """The CondContextDef; None if it is not in `export_scope`."""
        if export_scope is not None and not self.name.startswith(export_scope):
            return None
        from penstock import proto
        result = proto.message("tensorflow.CondContextDef")(
            context_name=ops.strip_name_scope(self.name, export_scope),
            pred_name=ops.strip_name_scope(self._pred.name, export_scope),
            pivot_name=ops.strip_name_scope(self._pivot.name, export_scope), branch=self._branch,
            values_def=self._to_values_def(export_scope))
        return self._nested_to_proto(result)

    @staticmethod
    def from_proto(context_def, import_scope=None):
        context = CondContext(context_def=context_def, import_scope=import_scope)
        return context._nested_from_proto(context_def, import_scope)

    def to_control_flow_context_def(self, context_def, export_scope=None):
        context_def.cond_ctxt.CopyFrom(self.to_proto(export_scope=export_scope))

    @property
    def pred(self):
        return self._pred

    @property
    def pivot(self):
        return self._pivot

    @property
    def branch(self):
        return self._branch

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
        self._know(result.name)
        self._external_values[val.name] = result
        return result

    def _outer_value(self, val):
        if not self._outer_context:
            return val
        result = self._outer_context.AddValue(val)
        self._values.add(result.name)
        self._external_values[result.name] = result
        return result

    def AddOp(self, op):
        """Brings an operation that was just built inside."""
        if not op.inputs:
            # Without inputs, only a control edge makes it wait for the branch.
            controls, _ = self._remove_external_control_edges(op)
            if not any(util.OpInContext(control, self) for control in controls):
                op._add_control_input(self._pivot.op)
        else:
            # What brings an input inside is named after the operation that needs it.
            with op.graph.name_scope(op.name + "/"):
                for index, x in enumerate(list(op.inputs)):
                    if op.type == "Merge" and x.op.type == "NextIteration":
                        continue  # the back edge of an imported loop, which comes inside later
                    inside = self.AddValue(x)
                    if inside is not x:
                        op._update_input(index, inside)
            self._remove_external_control_edges(op)
            if op.graph._is_function(op.type) or op.type == "SymbolicGradient":
                op._add_control_input(self._pivot.op)
        for output in op.outputs:
            self._know(output.name)
        if self._outer_context or not util.IsLoopExit(op):
            op.graph.prevent_fetching(op)
        if self._outer_context:
            self._outer_context.AddInnerOp(op)

    def build_branch(self, function):
        """(what the branch returned, the same with tensors that are alive in the branch only, as a list or nest)."""
        def kept(result, identity):
            if result is None:
                from penstock._src.control_flow import control_flow_ops
                return control_flow_ops.no_op()
            return nest.map_structure(identity, result, expand_composites=True)

        self.Enter()
        try:
            returned = without_new_summaries(function, kept)
            if returned is None:
                return None, None
            result = nest.map_structure(self._branch_output, returned, expand_composites=True)
            if not isinstance(result, (list, tuple)):
                result = [result]
            self.ExitResult(result)
            return returned, result
        finally:
            self.Exit()

    def _branch_output(self, value):
        """A value that a branch returns as a tensor that is alive only in that branch."""
        if isinstance(value, ops.Operation):
            from penstock._src.control_flow import control_flow_ops
            return control_flow_ops.with_dependencies([value], self._pivot)
        from penstock._src.control_flow import tensor_array_ops
        val = ops.convert_to_tensor(tensor_array_ops.flow_of(value))
        if val.name not in self._values:
            # Made outside and returned as it is.
            self._values.add(val.name)
            result = switch_ref_or_tensor(self._outer_value(val), self._pred)[self._branch]
            self._external_values[val.name] = result
            return result
        known = self._external_values.get(val.name)
        return val if known is None else known
