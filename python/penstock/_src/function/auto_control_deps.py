"""Automatic control dependencies: side effects of a function's body happen in the order of the program."""
from penstock._src.graph import defaults
from penstock._src.graph import dtypes
from penstock._src.graph.tensor import Tensor
from penstock._src.base import nest

# Stateful ops that need no order: nobody sees when they run.
LEGACY_RANDOM_OPS = frozenset((
    "RandomUniform", "RandomUniformInt", "RandomStandardNormal", "ParameterizedTruncatedNormal", "TruncatedNormal",
    "RandomShuffle", "Multinomial", "RandomGamma", "RandomGammaGrad", "RandomPoisson", "RandomPoissonV2"))
ASYNC_STATEFUL_OPS = frozenset((
    "CollectiveGather", "CollectiveReduce", "CollectiveBcastSend", "CollectiveBcastRecv", "NcclAllReduce"))
_UNORDERED = LEGACY_RANDOM_OPS | ASYNC_STATEFUL_OPS
_NO_EFFECT = frozenset(("Placeholder", "VarHandleOp", "_Arg", "_Retval"))
# Ops that look at a resource without changing it: they may run side by side.
_READERS = frozenset(("ReadVariableOp", "VarIsInitializedOp", "VariableShape", "ResourceGather", "ResourceGatherNd"))
# Of these nobody misses one that does not run. Gradients of conditionals make them on a side that may not be taken.
_OPTIONAL = frozenset(("VarIsInitializedOp", "VariableShape"))


def op_is_stateful(op):
    """Whether running an operation has an effect that others can see."""
    return op._is_stateful and op.type not in _UNORDERED and op.type not in _NO_EFFECT


def _beginning(op):
    """(operation, inputs from outside) for all that must wait for what comes before an operation."""
    if not op._members:
        return [(op, op.inputs)]
    inside = set(op._members)
    taken = [(member, [t for t in member.inputs if t.op not in inside]) for member in op._members]
    return [(member, inputs) for member, inputs in taken if inputs or not member.inputs and not member.control_inputs]


class AutomaticControlDependencies:
    """Context manager: stateful operations built inside run in the order in which they were built, and before what is
    returned (`mark_as_return`). Operations on one resource wait for those on it before; those that only read it do not
    wait for each other."""

    def __init__(self):
        self._returned = []
        self.ops_which_must_run = []

    @property
    def _returned_tensors(self):
        return self._returned

    def mark_as_return(self, tensor):
        """What the function should return instead of a tensor, so that effects have happened by then."""
        from penstock._src.graph.indexed_slices import IndexedSlices
        from penstock._src.core_ops import array_ops
        if tensor is None:
            return None
        if not isinstance(tensor, Tensor):
            if isinstance(tensor, IndexedSlices):
                values, indices = array_ops.identity(tensor.values), array_ops.identity(tensor.indices)
                self._returned += [values, indices]
                return IndexedSlices(values, indices, tensor.dense_shape)
            if hasattr(tensor, "flow") and hasattr(tensor, "handle"):  # a TensorArray
                flow = array_ops.identity(tensor.flow)
                self._returned.append(flow)
                return tensor._with_flow(flow)
            flat = [self.mark_as_return(t) for t in nest.flatten(tensor, expand_composites=True)]
            return nest.pack_sequence_as(tensor, flat, expand_composites=True)
        inner = array_ops.identity(tensor)
        from penstock._src.function import func_graph
        func_graph.copy_handle_data(tensor, inner)
        self._returned.append(inner)
        return inner

    def __enter__(self):
        self._graph = defaults.get_default_graph()
        if self._graph._eager:
            return self
        self._saved = self._graph._add_control_dependencies
        self._graph._add_control_dependencies = True
        self._first = len(self._graph._ops)
        return self

    def __exit__(self, kind, value, trace):
        graph = self._graph
        if graph._eager:
            return False
        graph._add_control_dependencies = self._saved
        if kind is not None:
            return False
        must_run = self._order(graph._ops[self._first:])
        self.ops_which_must_run = must_run
        for tensor in nest.flatten(self._returned, expand_composites=True):
            for op in must_run:
                if op._control_flow_context is tensor.op._control_flow_context and op is not tensor.op:
                    tensor.op._add_control_input(op)
        return False

    def _order(self, ops):
        """Adds the edges; returns the operations that must run."""
        self._writer, self._readers, self._merges, self._must_run, self._iterated = {}, {}, {}, {}, {}
        from penstock._src.function.loop_levels import inside_runtime_loops
        unknown = inside_runtime_loops(self._graph._ops)
        unknown = set(unknown).union(*(op._members for op in ops))
        for op in ops:
            if op in unknown:
                continue
            if op._members:
                if any(op_is_stateful(member) for member in op._members):
                    self._must_run[op._node] = op
                    self._order_one(op)
                continue
            if op.type in _UNORDERED or op.type in _NO_EFFECT:
                continue
            if op.type == "Switch" and op.inputs[0].dtype == dtypes.resource:
                continue
            if op_is_stateful(op) and op.type not in _OPTIONAL:
                self._must_run[op._node] = op
            if op.type == "Merge":
                if not any(t.op.type in ("Enter", "NextIteration") for t in op.inputs):  # of a loop
                    self._end_conditional(op)
            else:
                self._order_one(op)
        return list(self._must_run.values())

    def _order_one(self, op):
        context = op._control_flow_context
        before, found = {}, False
        begins = _beginning(op)
        resources = {t._key: t for each, inputs in begins for t in inputs if t.dtype == dtypes.resource}
        if op._is_stateful or op._members:
            for tensor in [t for each, inputs in begins for t in inputs]:
                resources.update(self._used_by_functions(tensor))
        if op.type == "MakeIterator":
            self._iterated[op.inputs[1]._key] = self._used_by_functions(op.inputs[0])
        for tensor in resources.values():
            found = True
            key = tensor._key
            if tensor.op.type == "Switch":
                self._begin_conditional(tensor.op)
            if key in self._writer:
                before[self._writer[key]._node] = self._writer[key]
            if key in self._merges:
                self._merges[key]._add_control_input(op)
            if op.type in _READERS:
                self._readers.setdefault(key, []).append(op)
            else:
                for reader in self._readers.pop(key, ()):
                    before[reader._node] = reader
                self._writer[key] = op
        if (op._is_stateful or op._members) and not found and context is None:
            if None in self._writer:
                before[self._writer[None]._node] = self._writer[None]
            self._writer[None] = op
        for earlier in before.values():
            if earlier is not op and earlier._control_flow_context is context:
                for each, _ in begins:
                    each._add_control_input(earlier)

    def _used_by_functions(self, tensor):
        """The resources that the functions of a dataset use, or of the dataset that an iterator goes over."""
        if tensor.dtype == dtypes.resource:
            return self._iterated.get(tensor._key, {})
        found, seen, waiting = {}, set(), [tensor]
        while waiting:
            op = waiting.pop().op
            if op._node in seen or "Dataset" not in op.type:
                continue
            seen.add(op._node)
            for t in op.inputs:
                if t.dtype == dtypes.resource:
                    found[t._key] = t
                elif t.dtype == dtypes.variant:
                    waiting.append(t)
        return found

    def _begin_conditional(self, switch):
        """A resource enters a conditional: what comes after the conditional waits for a merge of the switch's outputs,
        which waits for the uses inside."""
        outputs = [t for t in switch.outputs if t._key in self._merges]
        if outputs:
            return
        value = switch.inputs[0]
        if value.op.type == "Switch":
            self._begin_conditional(value.op)
        from penstock._src.graph import gen
        with self._graph.control_dependencies(None):
            merge = gen.merge(switch.outputs, name="artificial_merge")[0].op
        context = switch._control_flow_context
        merge._set_control_flow_context(context.outer_context if context is not None else None)
        self._must_run[merge._node] = merge
        if value._key in self._merges:  # the conditional around it ends behind this one
            self._merges[value._key]._add_control_input(merge)
        for earlier in [self._writer.get(value._key), *self._readers.pop(value._key, ())]:
            if earlier is not None and earlier is not switch:
                switch._add_control_input(earlier)
        self._writer[value._key] = merge
        for output in switch.outputs:
            self._merges[output._key] = merge

    def _end_conditional(self, merge):
        """The merge of a conditional's result waits for what must have run inside, and stands for it."""
        inside = [op for op in self._must_run.values() if _in_conditional(op, merge._control_flow_context)]
        for op in inside:
            merge._add_control_input(op)
            del self._must_run[op._node]
            for tensor in op.inputs:
                if tensor._key in self._writer:
                    self._writer[tensor._key] = merge
        if inside:
            self._must_run[merge._node] = merge


def _in_conditional(op, outside):
    """Whether an operation is in a conditional, but in no loop, that lies in a context."""
    context = op._control_flow_context
    if context is outside:
        return False
    while context is not None and context is not outside:
        if context.IsWhileContext():
            return False
        context = context.outer_context
    return context is outside


def automatic_control_dependencies(f):
    """A function like `f` whose side effects happen in order, before what it returns."""
    import functools

    @functools.wraps(f)
    def wrapped(*args, **kwargs):
        with AutomaticControlDependencies() as deps:
            result = f(*args, **kwargs)
            flat = [deps.mark_as_return(t) for t in nest.flatten(result)]
            return nest.pack_sequence_as(result, flat)

    return wrapped
