"""Gradients of tf.functions: pairs of a forward function, which gives more than the results, and a backward function.

The body is differentiated in place: what is added to it becomes the backward function, and what that reads of the body
becomes a further result of the forward function. Differentiating these further results as well (for gradients of
gradients) may ask for more of them, so there is a chain of levels; it ends when nothing new is asked for.

What the gradient of a loop reads of its iterations is in lists, which the loop gives besides its results. A value
inside of a branch is merged with nothing behind it, and switched into the branch again in the backward function.
"""
import functools
import weakref

from penstock import _core
from penstock._src.function import attributes
from penstock._src.graph import dtypes
from penstock._src.function import function_definition
from penstock._src.graph import gen
from penstock._src.graph import indexed_slices
from penstock._src.graph import ops
from penstock._src.graph import registry
from penstock._src.graph.graph import Graph
from penstock._src.graph.tensor import Tensor


class _Backward:
    """The gradient of one list of results.

    taken: what it is given behind the gradients, as (kind, place): a result of the forward function, an argument, or a
    tensor captured when it was made. grads: for each argument None, an index, or the three indices of IndexedSlices.
    """

    def __init__(self, function, dys, taken, grads):
        self.function = function
        self.dys = dys
        self.taken = taken
        self.grads = grads


class _BackwardBody:
    """What stands for a backward function's graph to debuggers, while and after it is built in the forward function's
    graph (a context manager)."""

    def __init__(self, graph, name):
        self.name = f"__backward_{name}_{ops.uid()}"
        self.outer_graph = graph.outer_graph
        self._graph = graph

    def __enter__(self):
        self._graph._debugged_as = self

    def __exit__(self, *exc):
        self._graph._debugged_as = None


class Differentiable:
    """The levels of one function. results[k]: the tensors that level k's forward function gives."""

    def __init__(self, name, graph, num_inputs, attrs, base):
        self._name = name
        self._base = base
        self._graph = graph
        self._added = []  # nodes that later became part of the forward pass
        self._inputs = list(graph.inputs[:num_inputs])
        self._attrs = {name: attr for name, attr in attrs.items() if name != attributes.IMPLEMENTS}
        self._end = graph._core.num_nodes
        self._results = [list(graph.outputs)]
        self._forward = {}
        self._forward_names = []
        self._backward = []

    def forward(self, level, own=False):
        """The definition of the function that gives level's results; the function itself if these are its own, unless
        another one is asked for."""
        self._reach(level)
        if not own and len(self._results[level]) == len(self._results[0]):
            return self._base
        found = self._forward.get(level)
        if found is None:
            nodes = function_definition.body_nodes(self._graph, self._end) + self._added
            attrs, name = dict(self._attrs), f"__forward_{self._name}_{ops.uid()}"
            if level > 0:
                name, backward = self._forward_names[level - 1], self._backward[level - 1]
                if backward is not None:
                    attrs["backward_function_name"] = _string(backward.function._definition.text)
            found = self._forward[level] = function_definition.Definition(
                name, self._graph, self._inputs, self._results[level], nodes, self._graph.control_outputs, attrs)
        return found

    def backward(self, level):
        """The gradient of level's results, or None if nothing is differentiable."""
        self._reach(level + 1)
        return self._backward[level]

    def last_level(self):
        """The level whose results are all that any gradient of them needs."""
        level = 0
        while True:
            self._reach(level + 1)
            if len(self._results[level + 1]) == len(self._results[level]):
                return level
            level += 1

    def _reach(self, level):
        while len(self._results) <= level:
            self._add_level(self._results[-1])

    def _add_level(self, results):
        graph, core = self._graph, self._graph._core
        self._forward_names.append(f"__forward_{self._name}_{ops.uid()}")
        ys = [i for i, t in enumerate(results) if _flows(t)]
        xs = [t for t in self._inputs if function_definition.is_trainable(t.dtype)]
        if not ys or not xs:
            self._backward.append(None)
            self._results.append(results)
            return
        first = core.num_nodes
        from penstock._src.function.func_graph import _Outside
        from penstock._src.gradient import gradients_util
        self._debugged = _BackwardBody(graph, self._name)
        with graph.as_default(), _Outside(graph), self._debugged:
            dys = [Graph._new_op(graph, "Placeholder", [], "grad_ys", _gradient_attrs(results[i])).outputs[0]
                   for i in ys]
            for i, dy in zip(ys, dys):
                handle = core.handle_data(*results[i]._key) if results[i].dtype.name == "variant" else None
                if handle:
                    core.set_handle_data(*dy._key, handle)
            found = gradients_util.compute([results[i] for i in ys], xs, dys, forward_nodes=self._added)
        by_input = {t._key: g for t, g in zip(xs, found)}
        flat, grads = [], []
        for t in self._inputs:
            grads.append(_place(by_input.get(t._key), flat))
        self._finish(results, first, ys, dys, flat, grads)

    def _body(self, first, inputs, dys):
        """The ids of the nodes that make up the backward function, `first` being the first that was added for it."""
        core = self._graph._core
        forward = {*self._added, *inputs, *(dy._key[0] for dy in dys)}
        body = [n for n in range(first, core.num_nodes) if n not in forward]
        forward_nodes, more = core.carry_out_of_branches(body)
        self._added.extend(forward_nodes)
        self._graph._add_new_operations(scopes=False)
        return more + body

    def _finish(self, results, first, ys, dys, flat, grads):
        graph, core = self._graph, self._graph._core
        inputs = {t._key: i for i, t in enumerate(graph.inputs)}
        known = {t._key: i for i, t in reversed(list(enumerate(results)))}
        captured = graph.internal_captures
        outside = dict(zip((t._key for t in captured), graph.external_captures))
        input_nodes = {key[0] for key in inputs}
        body = self._body(first, input_nodes, dys)
        inside = set(body)
        more, taken, arguments, constants = [], [], [], set()

        def take(key):
            """Makes a value of the body an argument of the backward function."""
            if key in inputs:
                place = inputs[key]
                taken.append(("argument", place) if place < len(self._inputs) else ("captured", outside[key]))
            elif key in known:
                taken.append(("result", known[key]))
            else:
                known[key] = len(results) + len(more)
                more.append(graph._tensor(key))
                taken.append(("result", known[key]))
            arguments.append(graph._tensor(key))

        asked = {dy._key for dy in dys}

        def ask(key):
            node = key[0]
            if key in asked or node in inside:
                return
            if node not in input_nodes and graph._ops[node].type == "Const" and not core.control_inputs(node):
                constants.add(node)
            else:
                asked.add(key)
                take(key)

        for node in body:
            for key in core.inputs(node):
                ask(tuple(key))
        for t in flat:
            ask(t._key)
        connecting = self._connecting(constants)
        if connecting is not None:
            constants.remove(connecting)
            take((connecting, 0))
        for node in body:
            control = core.control_inputs(node)
            if any(c not in inside for c in control):
                core.remove_control_inputs(node)
                for c in control:
                    if c in inside:
                        core.add_control_input(node, c)
        self._make_backward(ys, dys, arguments, sorted(constants) + body, taken, flat, grads)
        self._results.append(results + more)

    def _connecting(self, constants):
        """A constant of the program that the backward function should take as a result, or None.

        In TensorFlow the constants that it reads are results, too, so that gradients of gradients are zeros where they
        would be None; one is enough."""
        for node in sorted(constants):
            if node < self._end and _flows(self._graph._ops[node].outputs[0]):
                return node
        return None

    def _make_backward(self, ys, dys, arguments, body, taken, flat, grads):
        attrs = {**self._attrs, "forward_function_name": _string(self._forward_names[-1])}
        definition = function_definition.Definition(
            f"__inference___backward_{self._name}_{ops.uid()}", self._graph, dys + list(arguments), flat, body,
            [op for op in (self._graph._ops[node] for node in body) if op.type == "DebugIdentityV2"], attrs)
        definition.debugged_as = self._debugged
        from penstock._src.tf_function.function import ConcreteFunction
        function = ConcreteFunction.from_definition(definition)
        self._backward.append(_Backward(function, ys, taken, grads))


def _flows(tensor):
    """Whether gradients flow into a result; lists of integers that a gradient wants are none, nor are resources that
    hold no numbers."""
    kind = tensor.dtype.name
    if kind not in ("resource", "variant"):
        return tensor.dtype.is_floating or tensor.dtype.is_complex
    held = tensor.graph._core.handle_data(*tensor._key)
    return bool(function_definition.is_trainable(dtypes.as_dtype(held[0][0])) if held else kind == "variant")


def _gradient_attrs(tensor):
    """The attributes of the placeholder for what flows into a result; into a variable's handle its value's gradient."""
    core = tensor.graph._core
    dtype, shape = tensor.dtype._base, core.shape(*tensor._key)
    if tensor.dtype == dtypes.resource:
        dtype, shape = core.handle_data(*tensor._key)[0]
    return {"dtype": dtype, "shape": shape}


def _string(text):
    from penstock import proto
    return proto.message("tensorflow.AttrValue")(s=text.encode())


def _place(gradient, flat):
    """Puts a gradient's tensors into `flat`; returns where."""
    if gradient is None:
        return None
    if isinstance(gradient, indexed_slices.IndexedSlices):
        parts = []
        for part in (gradient.values, gradient.indices, gradient.dense_shape):
            parts.append(None if part is None else len(flat))
            if part is not None:
                flat.append(part)
        return tuple(parts)
    flat.append(gradient)
    return len(flat) - 1


def _dense(gradient, output):
    if gradient is None:
        return gen.zeros_like(output) if output.dtype != dtypes.resource else _zeros_of_variable(output)
    if isinstance(gradient, tuple):
        gradient = indexed_slices.IndexedSlices(*gradient)
    if not isinstance(gradient, Tensor):
        gradient = ops.convert_to_tensor(gradient)
    return gradient


def _zeros_of_variable(handle):
    data = _core.eager_handle_data(handle) if handle._is_eager else handle.graph._core.handle_data(*handle._key)
    return gen.fill(gen.variable_shape(handle), ops.convert_to_tensor(0, dtypes.as_dtype(data[0][0])))


def _apply(backward, dys, results, arguments):
    """The gradients of the arguments."""
    inputs = [_dense(dys[i], results[i]) for i in backward.dys]
    for kind, place in backward.taken:
        inputs.append(results[place] if kind == "result" else arguments[place] if kind == "argument" else place)
    flat = backward.function._call_flat_tensors(inputs)
    found = []
    for grad in backward.grads:
        if grad is None:
            found.append(None)
        elif isinstance(grad, tuple):
            found.append(indexed_slices.IndexedSlices(*[None if i is None else flat[i] for i in grad]))
        else:
            found.append(flat[grad])
    return found


def run_recorded(differentiable, num_results, inputs, further):
    """Runs a function eagerly under tapes, which learn its gradient. `further`: gradients of gradients may be asked."""
    if differentiable.backward(0) is None:
        return differentiable.forward(0).run(inputs)[:num_results]
    level = differentiable.last_level() if further else 0
    outputs = differentiable.forward(level + (0 if further else 1)).run(inputs)
    recorded = outputs if further else outputs[:num_results]
    # The tape holds the results and the arguments; a function that held the recorded results would be a circle.
    backward = differentiable.backward(level)

    def gradient(dys):
        from penstock._src.function.graph import to_core
        return [to_core(g) for g in _apply(backward, dys, outputs, inputs)]

    _core.tape_record(inputs, recorded, gradient)
    return outputs[:num_results]


# In graphs


def _graph_gradient(concrete, op, *dys):
    """The gradient function of a call in a graph: makes the call give what the backward function needs."""
    concrete = concrete()
    if concrete is None:
        raise LookupError(f"the function that {op.name} calls is gone")
    differentiable = concrete._make_differentiable()
    level = op.__dict__.get("_level", 0)
    # Further results that nothing flows into do not count.
    while level > 0 and all(dy is None for dy in dys[len(differentiable._results[level - 1]):]):
        level -= 1
    backward = differentiable.backward(level)
    if backward is None:
        return [None] * len(op.inputs)
    if op.__dict__.get("_level", 0) < level + 1:
        if len(differentiable.forward(level + 1).output_types) > len(op._outputs):
            _rewrite(op, differentiable.forward(level + 1))
        op.__dict__["_level"] = level + 1
    return _apply(backward, dys, op.outputs, op.inputs)



def _rewrite(op, definition):
    """Makes a call one of a function with more results."""
    graph = op.graph
    definition.add_to_graph(graph)
    first = len(op._outputs)
    op._set_func_attr("f", definition.name)
    op._set_type_list_attr("Tout", definition.output_types)
    op._outputs.extend(Tensor(op, i, dtypes.as_dtype(definition.output_types[i]))
                       for i in range(first, len(definition.output_types)))
    definition.describe_outputs(op, first)


def register(concrete):
    """Makes the gradient of a ConcreteFunction known under a name that calls in graphs carry."""
    name = f"PartitionedCall-{ops.uid()}"
    function = functools.partial(_graph_gradient, weakref.ref(concrete))
    function.takes_missing = True
    registry.gradient_registry.register(function, name)
    weakref.finalize(concrete, registry.gradient_registry._items.pop, name, None).atexit = False
    return name
