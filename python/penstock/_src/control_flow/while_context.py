"""The context of a loop: values from outside enter its frame, loop variables go around."""
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.graph import tensor_spec
from penstock._src.graph import type_spec
from penstock._src.control_flow import control_flow_ops
from penstock._src.graph import control_flow_util as util
from penstock._src.function.control_flow_context import ControlFlowContext, switch_ref_or_tensor, without_new_summaries
from penstock._src.base import nest


def enter(data, frame_name, is_constant=False, parallel_iterations=10, use_ref=True, use_input_shape=True, name=None):
    """Brings a value into the frame `frame_name`."""
    data = ops.internal_convert_to_tensor_or_composite(data, as_ref=True)
    if not isinstance(data, ops.Tensor):
        return nest.map_structure(
            lambda t: enter(t, frame_name, is_constant, parallel_iterations, use_ref, use_input_shape), data,
            expand_composites=True)
    function = gen.ref_enter if data.dtype._is_ref_dtype and use_ref else gen.enter
    result = function(data, frame_name, is_constant, parallel_iterations, name=name)
    if use_input_shape:
        result.set_shape(data.get_shape())
    return result


def next_iteration(data, name=None):
    """Hands a value to the next iteration."""
    data = ops.internal_convert_to_tensor_or_composite(data, as_ref=True)
    if not isinstance(data, ops.Tensor):
        return nest.map_structure(next_iteration, data, expand_composites=True)
    function = gen.ref_next_iteration if data.dtype._is_ref_dtype else gen.next_iteration
    return function(data, name=name)


def less_or_equal(shape, invariant):
    """Whether all shapes that fit `shape` fit `invariant`."""
    if invariant.dims is None:
        return True
    if shape.ndims != invariant.ndims:
        return False
    return all(wide is None or wide == narrow for narrow, wide in zip(shape.as_list(), invariant.as_list()))


def shape_invariant_spec(var, shape=None):
    """What is known of `var` in every iteration, as a TypeSpec."""
    if getattr(var, "_is_composite_tensor", False):
        if shape is None:
            return type_spec.type_spec_from_value(var)
        if isinstance(shape, type_spec.TypeSpec):
            if not shape.is_compatible_with(var):
                raise TypeError(f"TypeSpec {shape!r} is not compatible with {var!r}")
            return shape
        if isinstance(shape, tensor_shape.TensorShape):
            try:
                return var._shape_invariant_to_type_spec(shape)
            except NotImplementedError:
                raise TypeError(f"To describe or constrain a {type(var).__name__}, use a "
                                f"{type(var._type_spec).__name__} instead of a TensorShape.") from None
        raise TypeError(f"Expected shape to be a TypeSpec or TensorShape, got {shape!r}")
    if shape is None:
        return tensor_spec.TensorSpec(var.shape, var.dtype)
    if isinstance(shape, tensor_spec.TensorSpec):
        if var.dtype != shape.dtype:
            raise TypeError(f"TensorSpec {shape!r} is not compatible with {var!r}")
        return shape
    if isinstance(shape, type_spec.TypeSpec):
        raise TypeError(f"TypeSpec {shape!r} is not compatible with {var!r}")
    return tensor_spec.TensorSpec(shape, var.dtype)


def shape_invariant(var, shape=None):
    """What is known of the shape of `var` in every iteration; a list for what is made of several tensors."""
    if getattr(var, "_is_composite_tensor", False):
        spec = shape_invariant_spec(var, shape)
        return [part.shape for part in nest.flatten(spec._component_specs, expand_composites=True)
                if part is not None]
    return shape if isinstance(shape, tensor_shape.TensorShape) else shape_invariant_spec(var, shape).shape


def _set_shape_invariants(inputs, enters, shapes):
    flat = nest.flatten(shapes)
    if not all(isinstance(shape, tensor_shape.TensorShape) for shape in flat):
        raise ValueError("`shapes` must be a (possibly nested) list of shapes.")
    for before, entered, shape in zip(inputs, enters, flat):
        if not less_or_equal(before.get_shape(), shape):
            raise ValueError(f"The shape invariant specified for {before.name} is not compatible with the initial "
                             f"shape of the loop variable. It enters the loop with shape {before.get_shape()}, but "
                             f"the specified shape invariant is {shape}.")
        entered.set_shape(shape)


def _close(merge, value):
    """Adds NextIteration and the back edge to `merge`."""
    value = next_iteration(ops.convert_to_tensor(value))
    if not less_or_equal(value.get_shape(), merge.get_shape()):
        entered = merge.op.inputs[0].op.inputs[0]
        raise ValueError(f"Input tensor '{entered.name}' enters the loop with shape {entered.shape}, but has shape "
                         f"{value.get_shape()} after one iteration. To allow the shape to vary across iterations, use "
                         "the `shape_invariants` argument of tf.while_loop to specify a less-specific shape.")
    merge.op._update_input(1, value)


class WhileContext(ControlFlowContext):
    """A loop. `pivot` is its condition; loop_enters and loop_exits are its variables' ends."""

    def __init__(self, maximum_iterations=None, parallel_iterations=10, back_prop=True, swap_memory=False,
                 name="while_context", grad_state=None, context_def=None, import_scope=None):
        self._graph = ops.get_default_graph()
        if context_def is not None:
            self._init_from_proto(context_def, import_scope)
            return
        super().__init__()
        if not isinstance(parallel_iterations, int) or parallel_iterations <= 0:
            raise ValueError("`parallel_iterations` must be a positive integer: %s" % parallel_iterations)
        self._name = self._graph.unique_name(name)
        self._maximum_iterations = maximum_iterations
        self._parallel_iterations = parallel_iterations
        self._back_prop = back_prop
        self._swap_memory = swap_memory
        self._pivot_for_pred = self._pivot_for_body = self._pivot = None
        self._loop_exits, self._loop_enters = [], []
        if not back_prop:
            self._graph._loops_without_gradient.add(self._name)

    def _init_from_proto(self, context_def, import_scope):
        def element(name):
            return self._graph.as_graph_element(ops.prepend_name_scope(name, import_scope))

        self._name = ops.prepend_name_scope(context_def.context_name, import_scope)
        bound = context_def.maximum_iterations_name
        self._maximum_iterations = element(bound) if bound else None
        self._parallel_iterations = context_def.parallel_iterations
        self._back_prop = context_def.back_prop
        self._swap_memory = context_def.swap_memory
        self._pivot_for_pred = element(context_def.pivot_for_pred_name)
        self._pivot_for_body = element(context_def.pivot_for_body_name)
        self._pivot = element(context_def.pivot_name)
        self._loop_exits = [element(name) for name in context_def.loop_exit_names]
        self._loop_enters = [element(name) for name in context_def.loop_enter_names]
        super().__init__(context_def.values_def, import_scope)
        if not self._back_prop:
            self._graph._loops_without_gradient.add(self._name)
        if import_scope:
            # The frame is called as the context is.
            for name in self._values:
                op = self._graph.as_graph_element(name).op
                if util.IsLoopEnter(op):
                    op._set_attr("frame_name", op._set_attr_value(s=self._name.encode()))

    def to_proto(self, export_scope=None):
        """The WhileContextDef; None if it is not in `export_scope`."""
        if export_scope is not None and not self.name.startswith(export_scope):
            return None
        from penstock import proto

        def stripped(tensor):
            return ops.strip_name_scope(tensor.name, export_scope)

        result = proto.message("tensorflow.WhileContextDef")(
            context_name=ops.strip_name_scope(self.name, export_scope), parallel_iterations=self._parallel_iterations,
            back_prop=self._back_prop, swap_memory=self._swap_memory,
            pivot_for_pred_name=stripped(self._pivot_for_pred), pivot_for_body_name=stripped(self._pivot_for_body),
            pivot_name=stripped(self._pivot), loop_exit_names=[stripped(x) for x in self._loop_exits],
            loop_enter_names=[stripped(x) for x in self._loop_enters], values_def=self._to_values_def(export_scope))
        if self._maximum_iterations is not None:
            result.maximum_iterations_name = stripped(self._maximum_iterations)
        return self._nested_to_proto(result)

    @staticmethod
    def from_proto(context_def, import_scope=None):
        context = WhileContext(context_def=context_def, import_scope=import_scope)
        return context._nested_from_proto(context_def, import_scope)

    def to_control_flow_context_def(self, context_def, export_scope=None):
        context_def.while_ctxt.CopyFrom(self.to_proto(export_scope=export_scope))

    @property
    def maximum_iterations(self):
        return self._maximum_iterations

    @property
    def parallel_iterations(self):
        return self._parallel_iterations

    @property
    def back_prop(self):
        return self._back_prop

    @property
    def swap_memory(self):
        return self._swap_memory

    @property
    def pivot(self):
        return self._pivot

    @property
    def loop_enters(self):
        return self._loop_enters

    @property
    def loop_exits(self):
        return self._loop_exits

    def GetWhileContext(self):
        return self

    def GetControlPivot(self):
        return self._pivot_for_pred if self._pivot_for_body is None else self._pivot_for_body

    def IsWhileContext(self):
        return True

    def AddValue(self, val):
        """What stands for `val` inside: an invariant of the loop, made once, if it comes from outside."""
        if val.name in self._values or val.op._control_flow_context is self:
            known = self._external_values.get(val.name)
            return val if known is None else known
        self._values.add(val.name)
        result = val if self._outer_context is None else self._outer_context.AddValue(val)
        with ops.control_dependencies(None):
            entered = enter(result, self._name, is_constant=True, parallel_iterations=self._parallel_iterations)
            entered.graph.prevent_feeding(entered)
            if self._outer_context:
                self._outer_context.AddInnerOp(entered.op)
        self._adopt_enters([entered])
        self._values.add(entered.name)
        self._external_values[val.name] = entered
        return entered

    def waits_for(self, external):
        """Operations inside that wait for outer ones, each through a value of it."""
        from penstock._src.core_ops import array_ops
        with ops.control_dependencies(None):
            self.Enter()
            waits = [array_ops.identity(control.outputs[0]).op for control in external if control.outputs]
            self.Exit()
        return waits

    def AddOp(self, op):
        """Brings an operation that was just built inside; its external control inputs become those of the loop."""
        if not op.inputs:
            controls, external = self._remove_external_control_edges(op)
            if not controls:
                op._add_control_input(self.GetControlPivot().op)
        else:
            with op.graph.name_scope(op.name + "/"):
                for index, x in enumerate(list(op.inputs)):
                    inside = self.AddValue(x)
                    if inside is not x:
                        op._update_input(index, inside)
            _, external = self._remove_external_control_edges(op)
            if self._depends_on_invariants_only(op):
                op._add_control_input(self.GetControlPivot().op)
        self._values.update(x.name for x in op.outputs)
        if external:
            op._add_control_inputs(self.waits_for(external))
        if self._outer_context or not util.IsLoopExit(op):
            op.graph.prevent_fetching(op)
            for x in op.outputs:
                op.graph.prevent_feeding(x)
        if self._outer_context:
            self._outer_context.AddInnerOp(op)

    @staticmethod
    def _depends_on_invariants_only(op):
        """Whether invariants alone would make it run where the loop does not go on."""
        if op.control_inputs:
            return False
        if op.graph._is_function(op.type) or op.type == "SymbolicGradient":
            return True
        return all(util.IsLoopConstantEnter(x.op) for x in op.inputs)

    def BuildLoop(self, pred, body, loop_vars, shape_invariants, return_same_structure, like=None):
        """Builds the loop; what `body` returns, as it is when the loop ends. like: the structure of the variables, with
        specs in it for those whose shapes change."""
        from penstock._src.control_flow import tensor_array_ops
        original = loop_vars if like is None else like
        parts = [tensor_array_ops.flow_of(x) for x in nest.flatten(loop_vars)]
        parts = [ops.convert_to_tensor_or_composite(x) for x in parts]
        if shape_invariants is None:
            shape_invariants = [shape_invariant(x) for x in parts]
        self.Enter()
        try:
            body_result, exits = self._build_loop(pred, body, original, nest.flatten(parts, expand_composites=True),
                                                  shape_invariants)
        finally:
            self.Exit()
        arrays = tensor_array_ops.with_flows(nest.flatten(body_result, expand_composites=True), exits)
        if like is not None:
            kinds = [spec if isinstance(spec, type_spec.TypeSpec) else value for value, spec in zip(
                nest.flatten(body_result), nest.flatten(like))]
            body_result = nest.pack_sequence_as(body_result, kinds)
        packed = nest.pack_sequence_as(structure=body_result, flat_sequence=arrays, expand_composites=True)
        if return_same_structure or len(exits) != 1:
            return packed
        return packed[0]

    def _build_loop(self, pred, body, original, loop_vars, shape_invariants):
        from penstock._src.control_flow import tensor_array_ops
        flat_original = nest.flatten(original, expand_composites=True)

        def packed(tensors):
            return nest.pack_sequence_as(structure=original, expand_composites=True,
                                         flat_sequence=tensor_array_ops.with_flows(flat_original, tensors))

        # The outer contexts see what enters; this one does not yet.
        self._values = {x.name for x in loop_vars}
        entering = loop_vars if self._outer_context is None else [self._outer_context.AddValue(x) for x in loop_vars]
        with ops.control_dependencies(None):
            enters = [enter(x, self._name, is_constant=False, parallel_iterations=self._parallel_iterations,
                            use_input_shape=shape_invariants is None) for x in entering]
            for x in enters:
                x.graph.prevent_feeding(x)
                if self._outer_context:
                    self._outer_context.AddInnerOp(x.op)
        self._wait_for_outer_pivot(enters)
        _set_shape_invariants(entering, enters, shape_invariants)
        self._adopt_enters(enters)
        self._values = {x.name for x in enters}
        self._loop_enters = enters

        merges = [control_flow_ops.merge([x, x])[0] for x in enters]
        self._pivot_for_pred = merges[0]
        self._pivot = gen.loop_cond(ops.convert_to_tensor(pred(*packed(merges))), name="LoopCond")
        switches = [switch_ref_or_tensor(x, self._pivot) for x in merges]

        inside = [control_flow_ops._Identity(x[1]) for x in switches]
        self._pivot_for_body = inside[0]
        body_vars = packed(inside)

        def as_sequence(result):
            return result if nest.is_sequence_or_composite(result) else [result]

        def kept(result, identity):
            return nest.map_structure(
                lambda x: x if isinstance(x, tensor_array_ops.TensorArray) else identity(x), as_sequence(result),
                expand_composites=True)

        body_result = as_sequence(without_new_summaries(lambda: body(*body_vars), kept))
        # The outermost structure may be a list here and a tuple there.
        nest.assert_same_structure(list(body_vars), list(body_result), expand_composites=True)
        result = [ops.convert_to_tensor_or_composite(tensor_array_ops.flow_of(x))
                  for x in nest.flatten(body_result, expand_composites=True)]
        if len(merges) != len(result):
            raise ValueError("Number of inputs and outputs of body must match loop_vars: %d, %d" %
                             (len(merges), len(result)))
        for merged, value in zip(merges, result):
            _close(merged, value)
        exits = [control_flow_ops.exit(x[0]) for x in switches]
        self._loop_exits = exits
        self.ExitResult(exits)
        return body_result, exits

    def _wait_for_outer_pivot(self, enters):
        """What enters as an invariant of an outer loop must not enter where that loop has ended."""
        context, pivot = self._outer_context, None
        while context is not None and pivot is None:
            pivot, context = context.GetControlPivot(), context._outer_context
        if pivot is not None:
            for x in enters:
                if util.IsLoopConstantEnter(x.op.inputs[0].op):
                    x.op._add_control_input(pivot.op)

    def _adopt_enters(self, enters):
        """The context and the control inputs of Enter operations: those around this loop, in the loop around it."""
        graph = ops.get_default_graph()
        outer_loop = self._outer_context and self._outer_context.GetWhileContext()
        for x in enters:
            kept = []
            for control in graph._control_dependencies_for_inputs([x.op.inputs[0].op]):
                context, made_in = self._outer_context, util.GetOutputContext(control)
                while context is not made_in and context is not None and context is not outer_loop:
                    context = context.outer_context
                if context is made_in:
                    kept.append(control)
            x.op._set_control_flow_context(self)
            x.op._add_control_inputs(kept)
            graph._record_op_seen_by_control_dependencies(x.op)
