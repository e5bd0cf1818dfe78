"""What conditionals and loops have in common: a context sees every operation that is built inside it."""
from typing import Callable

from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import control_flow_util as util
from penstock._src.base import hooks
from penstock._src.base import nest


class ControlFlowContext(object):
    """Base of the contexts. `_values` are names of tensors known inside; `_external_values` maps names of outer tensors
    to the tensors that stand for them inside."""

    _name: str  # of the subclasses, as is AddValue
    AddValue: Callable

    def __init__(self, values_def=None, import_scope=None):
        self._nested_contexts = []
        self._outer_context = ops.get_default_graph()._get_control_flow_context()
        if self._outer_context:
            self._outer_context._nested_contexts.append(self)
        self._context_stack = []
        self._values = set()
        self._external_values = {}
        self._waits = {}  # outer operation -> those inside that stand for it as a control input
        if values_def is not None:
            self._init_values_from_proto(values_def, import_scope)

    def _init_values_from_proto(self, values_def, import_scope):
        graph = ops.get_default_graph()
        self._values = {ops.prepend_name_scope(name, import_scope) for name in values_def.values}
        for name, inside in values_def.external_values.items():
            self._external_values[ops.prepend_name_scope(name, import_scope)] = graph.as_graph_element(
                ops.prepend_name_scope(inside, import_scope))
        for name in {value.split(":")[0] for value in self._values - set(self._external_values)}:
            graph.as_graph_element(name)._set_control_flow_context(self)

    def _to_values_def(self, export_scope=None):
        from penstock import proto
        result = proto.message("tensorflow.ValuesDef")()
        result.values.extend(ops.strip_name_scope(name, export_scope) for name in sorted(self._values))
        for name, inside in self._external_values.items():
            result.external_values[ops.strip_name_scope(name, export_scope)] = \
                ops.strip_name_scope(inside.name, export_scope)
        return result

    def _nested_from_proto(self, context_def, import_scope):
        self.Enter()
        for nested in context_def.nested_contexts:
            from_control_flow_context_def(nested, import_scope=import_scope)
        self.Exit()
        return self

    def _nested_to_proto(self, context_def):
        for nested in self._nested_contexts:
            nested.to_control_flow_context_def(context_def.nested_contexts.add())
        return context_def

    @property
    def name(self):
        return self._name

    @property
    def outer_context(self):
        return self._outer_context

    @property
    def grad_state(self):
        """None: the runtime makes gradients of loops by itself."""
        return None

    @property
    def back_prop(self):
        context = self._outer_context and self._outer_context.GetWhileContext()
        return context.back_prop if context else False

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
            for tensor in nest.flatten(result, expand_composites=True):
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

    def CanUse(self, context):
        """Whether values of another context may be used inside this loop."""
        return util.IsContainingContext(self, context)

    def IsWhileContext(self):
        return False

    def IsCondContext(self):
        return False

    def IsXLAContext(self):
        return False

    def __str__(self):
        return self.name

    def _split_control_inputs(self, controls):
        """(those of the loop that this is in, those from outside of it)."""
        loop = self.GetWhileContext()
        if loop is None or not controls:
            return list(controls), []
        internal = []
        for control in controls:
            context = util.GetOutputContext(control)
            if context is not None and context.GetWhileContext() is loop:
                internal.append(control)
        return internal, [control for control in controls if control not in internal]

    def _remove_external_control_edges(self, op):
        """Takes away control inputs from outside of the loop that `op` is in; (those kept, those removed)."""
        internal, external = self._split_control_inputs(op.control_inputs)
        if external:
            op._remove_all_control_inputs()
            op._add_control_inputs(internal)
        return internal, external

    def control_inputs_inside(self, controls):
        """Operations of the loop that this is in, if any, that stand for control inputs of operations in it."""
        inside, external = self._split_control_inputs(controls)
        for op in external:
            loop = self.GetWhileContext()
            if op not in loop._waits:
                loop._waits[op] = loop.waits_for([op])
            inside += loop._waits[op]
        return inside

    def add_runtime_ops(self, new):
        """Brings operations inside that the runtime made by itself (gradients). Loops among them are whole: only values
        of this context and of those around it enter them."""
        for op in new:
            for output in op.outputs:
                self._know(output.name)
        for op in new:
            for index, x in enumerate(op.inputs):
                if util.IsContainingContext(util.GetOutputContext(x.op), self):
                    continue
                inside = self.AddValue(x)
                if inside is not x:
                    op._update_input(index, inside)
            op.graph.prevent_fetching(op)

    def _know(self, name):
        context = self
        while context is not None:
            context._values.add(name)
            context = context._outer_context


_switch = hooks.Hook("switch")


def switch_ref_or_tensor(data, pred, name="Switch"):
    """(false, true): a Switch that lives where its data do and keeps references."""
    data = ops.convert_to_tensor_or_composite(data, name="data")
    with ops.colocate_with(data, ignore_existing=True):
        if isinstance(data, ops.Tensor) and data.dtype._is_ref_dtype:
            return gen.ref_switch(data, pred, name=name)
        return _switch(data, pred, name=name)


def without_new_summaries(function, outputs_of):
    """What `function()` returns; summaries made by it run with its result and are no summaries of the graph."""
    from penstock._src.core_ops import array_ops
    collection = ops.GraphKeys._SUMMARY_COLLECTION
    before = ops.get_collection(collection)
    result = function()
    new = ops.get_collection(collection)[len(before):]
    if not new:
        return result
    ops.get_collection_ref(collection)[:] = before
    with ops.control_dependencies(new):
        return outputs_of(result, array_ops.identity)


class XLAControlFlowContext(ControlFlowContext):
    """A context that changes nothing."""

    def __init__(self):
        super().__init__()
        self._name = "XLAControlFlowContext"

    def to_control_flow_context_def(self, context_def, export_scope=None):
        raise NotImplementedError("an XLA context is not written")

    def IsXLAContext(self):
        return True

    def AddOp(self, op):
        pass

    def AddValue(self, x):
        return x


_CONTEXTS = {"cond_ctxt": hooks.Hook("context.cond"), "while_ctxt": hooks.Hook("context.while")}


def from_control_flow_context_def(context_def, import_scope=None):
    """The context that a ControlFlowContextDef describes."""
    kind = context_def.WhichOneof("ctxt")
    if kind not in _CONTEXTS:
        raise NotImplementedError(f"Unknown ControlFlowContextDef field: {kind}")
    return _CONTEXTS[kind].get().from_proto(getattr(context_def, kind), import_scope=import_scope)


def register_contexts():
    """Tells how the collections of contexts are written and read."""
    from penstock.proto import control_flow_pb2
    for key, message, cls in ((ops.GraphKeys.COND_CONTEXT, "CondContextDef", _CONTEXTS["cond_ctxt"].get()),
                              (ops.GraphKeys.WHILE_CONTEXT, "WhileContextDef", _CONTEXTS["while_ctxt"].get())):
        ops.register_proto_function(key, proto_type=getattr(control_flow_pb2, message), to_proto=cls.to_proto,
                                    from_proto=cls.from_proto)
