"""What `tf.gradients` is made of: checks, the runtime's differentiation, calls back of gradients in Python."""
import contextlib

from penstock._src.gradient import composite_tensor_gradient
from penstock._src.graph import dtypes, errors, gen, indexed_slices, op_callbacks, ops
from penstock._src.graph import registry
from penstock._src.gradient import cudnn_rnn_grad  # noqa: F401 (registers gradients)
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.gradient import outer_gradients
from penstock._src.function.gradient_context import GradientLoopContext
from penstock._src.function.loop_levels import bound_to_loops
from penstock._src.gradient.unconnected_gradients import UnconnectedGradients

_TRAINABLE = frozenset([dtypes.bfloat16, dtypes.float16, dtypes.float32, dtypes.float64, dtypes.complex64,
                        dtypes.complex128, dtypes.resource, dtypes.variant])


class AggregationMethod:
    """How the gradients that flow into one tensor are added up."""
    ADD_N = 0
    DEFAULT = ADD_N
    EXPERIMENTAL_TREE = 1
    EXPERIMENTAL_ACCUMULATE_N = 2


def as_list(x):
    """A list or tuple as a list, anything else as a list of one."""
    return list(x) if isinstance(x, (list, tuple)) else [x]


_AsList = as_list


def is_trainable(tensor_or_dtype):
    """Whether gradients flow through values of this type."""
    dtype = getattr(tensor_or_dtype, "dtype", tensor_or_dtype)
    return dtypes.as_dtype(dtype).base_dtype in _TRAINABLE


IsTrainable = is_trainable


def _check_grad_y(y, grad):
    """TypeError if `grad` cannot be the gradient that flows into y."""
    grad_dtype, dtype = grad.dtype.base_dtype, y.dtype.base_dtype
    if dtype.is_floating or dtype.is_integer:
        allowed = grad_dtype.is_floating or grad_dtype.is_integer
        kind, wanted = "real or integer-valued", "real or integer"
    elif dtype.is_complex:
        allowed, kind, wanted = grad_dtype.is_complex, "complex-valued", "real"
    elif dtype == dtypes.variant:
        allowed, kind, wanted = grad_dtype == dtype, dtype.name, dtype.name
    elif dtype == dtypes.resource:  # a variable's handle: what flows into it is the gradient of its value
        if grad_dtype == dtype:
            raise TypeError(f"Input gradient {grad} for resource tensor {y} should not be a resource")
        return
    else:
        raise TypeError(f"Tensor {y} with type {dtypes.as_dtype(y.dtype).name} must be numeric to obtain a default "
                        "gradient")
    if not allowed:
        raise TypeError(f"Gradient type {grad_dtype.name} generated for {kind} tensor {y} with type {dtype.name} must "
                        f"be {wanted}")


def _grad_ys(grad_ys, ys):
    """The gradients that flow into ys; None stands for ones, which the runtime makes."""
    grad_ys = [None] * len(ys) if grad_ys is None else as_list(grad_ys)
    if len(grad_ys) != len(ys):
        raise ValueError(f"Passed {len(grad_ys)} grad_ys for {len(ys)} ys")
    grad_ys = ops.convert_n_to_tensor_or_indexed_slices(grad_ys, name="grad_y")
    for y, grad in zip(ys, grad_ys):
        if grad is not None:
            _check_grad_y(y, grad)
        elif y.dtype.base_dtype in (dtypes.string, dtypes.bool):
            raise TypeError(f"Expected {y.dtype.base_dtype.name}, got 1 of type 'int' instead.")
        elif y.dtype.is_complex:
            raise TypeError(f"Gradients of complex tensors must set grad_ys (y.dtype = {y.dtype!r})")
    return grad_ys


def _id(tensor):
    return (tensor.op._node, tensor.value_index)


def _ids(gradient):
    """A gradient as the runtime takes it."""
    if gradient is None:
        return None
    if isinstance(gradient, indexed_slices.IndexedSlices):
        shape = gradient.dense_shape
        return _id(gradient.values), _id(gradient.indices), None if shape is None else _id(shape)
    return _id(gradient)


class _Caller:
    """Calls gradient functions written in Python when the runtime meets their nodes."""

    def __init__(self, graph):
        self._graph = graph
        # Ids: nodes added to the forward pass, and nodes that forward new results of their bodies.
        self.forward: tuple[list, list] = [], []

    def finish(self):
        """Makes Python know what the runtime has done to the forward pass."""
        self.take_new_operations()
        lowered = sorted((self._graph._ops[node] for node in self.forward[1]), key=lambda op: len(op.name))
        added = [self._graph._ops[node] for node in self.forward[0]]
        for op in lowered:
            op._reread()
            # Inside of another that was lowered, it is one of that one's.
            op._members = [other for other in added if other.name.startswith(op.name + "/")]
            for member in op._members:
                member.__dict__.setdefault("_lowered_from", op)  # the outermost, which the program built

    def gradient(self, ids):
        """A gradient that the runtime gave, as tensors."""
        if ids is None:
            return None
        if len(ids) == 3:
            values, indices, shape = ids
            return indexed_slices.IndexedSlices(self._graph._tensor(values), self._graph._tensor(indices),
                                                None if shape is None else self._graph._tensor(shape))
        return self._graph._tensor(ids)

    def take_new_operations(self):
        """Makes Python know what the runtime has added, inside the control-flow context of the caller."""
        context = self._graph._get_control_flow_context()
        forward = set(self.forward[0])
        new = self._graph._add_new_operations(
            control_flow=False,
            unbidden=lambda new: {*bound_to_loops(new, context), *(op for op in new if op._node in forward)},
            inside=list if context is None else context.control_inputs_inside)
        if context is not None:
            context.add_runtime_ops(new)
        if op_callbacks.in_use:
            for op in new:
                if op._node not in forward:
                    op_callbacks.see_created(op)

    def __call__(self, node, output_gradients, loop):
        graph = self._graph
        self.take_new_operations()
        op = graph._ops[node]
        function = _python_gradient(graph, op)
        if function is None:
            return None
        with graph.as_default(), ops.name_scope(op.name + "_grad"), graph._original_op(op), self._inside(loop):
            gradients = [self.gradient(ids) for ids in output_gradients]
            for i, (gradient, output) in enumerate(zip(gradients, op.outputs)):
                if gradient is None and is_trainable(output) and not getattr(function, "takes_missing", False):
                    gradients[i] = _zeros_like(output)
            before, graph._gradient_of = graph.__dict__.get("_gradient_of"), op.name
            try:
                result = function(op, *gradients)
            finally:
                graph._gradient_of = before
            result = [] if result is None else as_list(result)
            inputs = list(op.inputs)
            if len(result) != len(inputs):
                raise ValueError(f"Num gradients {len(result)} generated for op {op.node_def} do not match num inputs "
                                 f"{len(inputs)}")
            result = [self._checked(gradient, x) for gradient, x in zip(result, inputs)]
        return [_ids(gradient) for gradient in result]

    @contextlib.contextmanager
    def _inside(self, loop):
        """Context manager under which operations are built in the loop that the runtime is in."""
        if loop is None:
            yield
            return
        pivot, inside = loop
        with ops.control_dependencies(None):
            context = GradientLoopContext(self._graph._ops[pivot], inside)
            context.Enter()
            try:
                yield
            finally:
                context.Exit()

    @staticmethod
    def _checked(gradient, x):
        if gradient is None:
            return None
        gradient = ops.convert_to_tensor_or_indexed_slices(gradient)
        if isinstance(gradient, ops.Tensor) and x.dtype.base_dtype not in (dtypes.resource, dtypes.variant) \
                and not x.get_shape().is_compatible_with(gradient.get_shape()):
            raise ValueError(f"Incompatible shapes between op input and calculated input gradient.  Forward operation: "
                             f"{x.name}.  Original input shape: {x.get_shape()}.  Calculated input gradient shape: "
                             f"{gradient.get_shape()}")
        return gradient


def _python_gradient(graph, op):
    """The gradient function of an operation that was written in Python, or None."""
    called = graph._get_function(op.type)
    return registry.get_gradient_function(op) if called is None else called.python_grad_func


def _functions_with_gradients(graph):
    return [name for name, function in graph._functions.items() if getattr(function, "python_grad_func", None)]


def _note_origins(graph, scope, visits):
    """Tells the operations made for a gradient which operation they are the gradient of."""
    ends = [begin for begin, _ in visits[1:]] + [len(graph._ops)]
    for (begin, forward), end in zip(visits, ends):
        forward = graph._ops[forward]
        inside = f"{scope}{forward.name}_grad/"
        for op in graph._ops[begin:end]:
            if op._original_op is None and op.name.startswith(inside):  # sums between two visits belong to none
                op._original_op = forward


def _zeros_like(output):
    if output.dtype == dtypes.resource:
        data = output.graph._core.handle_data(*_id(output))
        if data:
            return array_ops.zeros(gen.variable_shape(output), dtypes.as_dtype(data[0][0]))
    return array_ops.zeros_like(output, optimize=False)


def _graph_around(graph, ys):
    """The graph that all ys lie in, if it is not `graph`, the function's body, but one around it."""
    graphs = {None if y._is_eager else y.graph for y in map(_dense, ys)}
    return graphs.pop() if len(graphs) == 1 and graph not in graphs and None not in graphs else None


def is_visible(graph, tensor):
    """Whether a tensor may be used in a graph: it is of there or, if that is a function's body, of outside."""
    while not tensor._is_eager and tensor.graph is not graph:
        if not graph.building_function or graph.outer_graph is None:
            return False
        graph = graph.outer_graph
    return not tensor._is_eager or graph.building_function


def _captured(graph, value):
    """What stands in a function's body for a tensor from outside."""
    if isinstance(value, indexed_slices.IndexedSlices):
        return indexed_slices.IndexedSlices(*(_captured(graph, t) for t in (value.values, value.indices,
                                                                            value.dense_shape)))
    return value if value is None or not value._is_eager and value.graph is graph else graph.capture(value)


def _as_differentiable(xs):
    """What is differentiated by: the handle of a resource variable, the reference of another."""
    return [x.handle if hasattr(x, "handle") and hasattr(x, "read_value") else x for x in xs]


def _refuse_eagerly():
    if ops.executing_eagerly():
        raise RuntimeError("tf.gradients is not supported when eager execution is enabled. Use tf.GradientTape "
                           "instead.")


def compute(ys, xs, grad_ys=None, name="gradients", colocate_gradients_with_ops=False, gate_gradients=False,
            aggregation_method=None, stop_gradients=None, unconnected_gradients=UnconnectedGradients.NONE,
            forward_nodes=None, captured=None):
    """The derivatives of the sum of ys by each x: tensors, IndexedSlices, or None.

    forward_nodes: a list that gets the ids of nodes that are added to what is differentiated, such as those that save
    values. captured: [(tensor outside, what stands for it)] of what a function's body has captured and was computed
    from xs outside of it; found if None.
    """
    _refuse_eagerly()
    try:
        unconnected = UnconnectedGradients(unconnected_gradients)
    except ValueError:
        raise ValueError(f"Unknown value for unconnected_gradients: {unconnected_gradients!r}") from None
    aggregation = AggregationMethod.DEFAULT if aggregation_method is None else aggregation_method
    if aggregation not in (0, 1, 2):
        raise ValueError(f"Invalid aggregation_method specified {aggregation_method}.")
    ys, xs = as_list(ys), as_list(xs)
    if any(hasattr(x, "__composite_gradient__") for x in ys + xs):
        flat = compute(_flat(ys), _flat(xs), None if grad_ys is None else _flat(as_list(grad_ys)), name,
                       colocate_gradients_with_ops, gate_gradients, aggregation_method,
                       None if stop_gradients is None else _flat(as_list(stop_gradients)), unconnected,
                       forward_nodes)
        return composite_tensor_gradient.replace_flat_tensors_for_gradients(xs, flat)
    stops = [] if stop_gradients is None else as_list(stop_gradients)
    values = ys + xs + stops + ([] if grad_ys is None else as_list(grad_ys))
    with ops.name_scope(name, "gradients", values) as scope:
        graph = ops.get_default_graph()
        graph.unique_name("uid")
        ys = ops.convert_n_to_tensor_or_indexed_slices(ys, name="y")
        xs = ops.internal_convert_n_to_tensor_or_indexed_slices(_as_differentiable(xs), name="x", as_ref=True)
        stops = ops.internal_convert_n_to_tensor_or_indexed_slices(_as_differentiable(stops), as_ref=True)
        grad_ys = _grad_ys(grad_ys, ys)
        if graph.building_function:
            outer = _graph_around(graph, [*ys, *(g for g in grad_ys if g is not None)])
            if outer is not None:  # the derivatives lie where the ys do, and are captured
                there = [i for i, x in enumerate(map(_dense, xs)) if is_visible(outer, x)]
                with outer.as_default():
                    found = compute(ys, [xs[i] for i in there], grad_ys, name, colocate_gradients_with_ops,
                                    gate_gradients, aggregation_method, stops, unconnected, forward_nodes)
                found = dict(zip(there, found))
                zero = unconnected is UnconnectedGradients.ZERO
                return [found.get(i, _zeros_like(_dense(x)) if zero else None) for i, x in enumerate(xs)]
        graph._check_not_finalized()
        walk = _Walk(graph, scope, unconnected, colocate_gradients_with_ops, gate_gradients, aggregation, forward_nodes)
        if graph.building_function:
            return _of_function(graph, walk, ys, xs, stops, grad_ys, captured)
        return walk.run(ys, xs, stops, grad_ys)


def _flat(values):
    return composite_tensor_gradient.get_flat_tensors_for_gradients(values)


class _Walk:
    """The runtime's walk back over a graph, with the options of `compute`."""

    def __init__(self, graph, scope, unconnected, colocate, gate, aggregation, forward_nodes):
        self._graph, self._scope, self._forward_nodes = graph, scope, forward_nodes
        self._options = {"name_scope": scope, "zero_unconnected": unconnected is UnconnectedGradients.ZERO,
                         "colocate": bool(colocate), "gate": int(gate), "aggregation": int(aggregation)}

    def run(self, ys, xs, stops, grad_ys):
        """The derivatives by xs, all of them and of ys of this graph. ValueError if a value has none that is known."""
        graph = self._graph
        caller = _Caller(graph)
        visits: list = []
        with graph._lock:  # until Python knows the nodes that the runtime adds
            try:
                results = graph._core.gradients(
                    [_id(_dense(y)) for y in ys], [_id(_dense(x)) for x in xs], [_ids(g) for g in grad_ys],
                    stop_gradients=[_id(_dense(x)) for x in stops], python_gradient=caller,
                    python_ops=registry.gradient_registry.list() + _functions_with_gradients(graph), override_map={},
                    visits=visits, inside=_pivot(graph), loops_without_gradient=graph._loops_without_gradient,
                    forward=caller.forward, **self._options)
            except errors.InvalidArgumentError as e:
                raise ValueError(e.message) from None
            finally:
                caller.finish()
            if self._forward_nodes is not None:
                self._forward_nodes.extend(caller.forward[0])
            _note_origins(graph, self._scope, visits)
            return [caller.gradient(ids) for ids in results]


def _of_function(graph, walk, ys, xs, stops, grad_ys, pairs):
    """The derivatives while a function is traced. xs may lie outside of it: then also through what it captures."""
    outside, ends = list(map(_dense, xs)), list(map(_dense, stops))
    ys, xs, stops, grad_ys = [[_captured(graph, t) for t in group] for group in (ys, xs, stops, grad_ys)]
    around = outer_gradients.Around(graph, [x for x in outside if not x._is_eager and x.graph is not graph])
    if pairs is None:
        pairs = around.dependent_captures()
    results = walk.run(ys, xs + [inner for _, inner in pairs], stops, grad_ys)
    results, into = results[:len(xs)], results[len(xs):]
    through = [(around.copied(outer), g) for (outer, _), g in zip(pairs, into) if g is not None]
    if not through:
        return results
    xs = [around.copied(x) if around.is_derived(x) else inner for x, inner in zip(outside, xs)]
    stops = stops + [around.copied(x) for x in ends if around.depends(x)]
    more = walk.run([y for y, _ in through], xs, stops, [g for _, g in through])
    # What has flowed into an x that is computed from another flows into its copy, too.
    return [b if around.is_derived(x) and b is not None else _sum(a, b) for x, a, b in zip(outside, results, more)]


def _sum(a, b):
    if a is None or b is None:
        return b if a is None else a
    return math_ops.add_n([ops.convert_to_tensor(a), ops.convert_to_tensor(b)])


def _pivot(graph):
    """A node of the control-flow context in which the caller builds, or -1."""
    context = graph._get_control_flow_context()
    while context is not None:
        pivot = context.GetControlPivot()
        if pivot is not None:
            return pivot.op._node
        context = context.outer_context
    return -1


def _dense(x):
    return x.values if isinstance(x, indexed_slices.IndexedSlices) else x
