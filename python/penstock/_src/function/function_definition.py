"""A function of the library, as eager execution and graphs call it."""
import functools
import weakref

from penstock import _core
from penstock._src.graph import cancellation
from penstock._src.graph import context
from penstock._src.graph import dtypes
from penstock._src.graph import errors
from penstock._src.function import func_graph as func_graph_module
from penstock._src.graph import op_callbacks
from penstock._src.base import tf2
from penstock._src.graph.tensor_shape import TensorShape
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.base import compat


_known: weakref.WeakValueDictionary = weakref.WeakValueDictionary()
_in_library: weakref.WeakSet = weakref.WeakSet()


def known(name):
    """The Definition of this name that was made from a graph, or None."""
    return _known.get(name)


def compile_anew():
    """Lets functions with state be compiled anew when they are next called: their random ops begin with their seeds."""
    for definition in list(_in_library):
        if definition.stateful_ops:
            definition._finalizer()
            definition._add_to_library()


def _remove(name):
    _core.eager_remove_function(name)


class Definition:
    """A named FunctionDef with what calls need to know of it. It is in the library of eager execution as long as this
    object lives.

    nodes: the body (ids), or None for all but the inputs; functions: what the body calls, kept with it.
    """

    def __init__(self, name, graph, inputs, outputs, nodes=None, control_outputs=(), attrs=None):
        self.text, self.name = name, name.encode()  # programs know the name as bytes
        core = graph._core
        messages = {key: value.SerializeToString() for key, value in (attrs or {}).items()}
        try:
            self._data = core.to_function(name, nodes, [t._key for t in inputs], [t._key for t in outputs], (),
                                          [op._node for op in control_outputs], messages)
        except errors.InvalidArgumentError as e:
            raise ValueError(e.message) from None
        body = range(core.num_nodes) if nodes is None else nodes
        self.stateful_ops = tuple(op for op in (graph._ops[n] for n in body) if op._is_stateful
                                  and op.type != "Placeholder")
        self.input_types = [t.dtype._base for t in inputs]
        self.input_shapes = [core.shape(*t._key) for t in inputs]
        self._input_places = {t._key: i for i, t in enumerate(inputs)}
        self.output_types = [t.dtype._base for t in outputs]
        self.output_shapes = [core.shape(*t._key) for t in outputs]
        self.output_handles = [core.handle_data(*t._key) if t._dtype._base in (20, 21) else None for t in outputs]
        self._functions = _called(graph, body)
        # The traces that it calls: their gradients live as long as there are calls of them.
        called = (graph._ops[node].__dict__.get("_function") for node in body)
        self._traces = [trace for trace in called if trace is not None]
        self._message = None
        self.body = weakref.ref(graph)
        _known[name] = self
        for function in self._functions:
            if not isinstance(function, Definition):
                function.add_to_library(_core.eager_graph())
        self._add_to_library()
        self._kept = _kept(graph)

    def _add_to_library(self):
        _core.eager_graph().add_function(self._data)
        self._call = _core.EagerFunction(self.text)
        self._finalizer = weakref.finalize(self, _remove, self.text)
        self._finalizer.atexit = False
        _in_library.add(self)

    debugged_as = None  # what stands for its graph to debuggers, if that is not `body`
    grad_func_name = None
    python_grad_func = None

    @property
    def definition(self):
        """The FunctionDef."""
        if self._message is None:
            from penstock import proto
            self._message = proto.message("tensorflow.FunctionDef").FromString(self._data)
        return self._message

    @property
    def signature(self):
        """The OpDef of a call."""
        return self.definition.signature

    def instantiated(self):
        """A FuncGraph of its own; what Python's gradient functions know of the graph it was taken from is found in
        it too."""
        graph = from_function_def(self.text)
        graph._stand_in = functools.partial(self._stand_in, weakref.proxy(graph))
        return graph

    def _stand_in(self, graph, tensor):
        """The tensor of a FuncGraph of this function for one of the graph that it was taken from, or None."""
        if tensor.graph is not self.body():
            return None
        place = self._input_places.get(tensor._key)
        if place is not None:
            return graph.inputs[place]
        node = graph._core.node_by_name(tensor.op.name)
        return None if node is None or node < 0 else graph._ops[node]._outputs[tensor._value_index]

    def add_to_graph(self, graph):
        """Adds it, and what it calls, to a graph's library."""
        if graph._eager or self.text in graph._functions:
            return
        graph._functions[self.text] = self
        for function in self._functions:
            function.add_to_graph(graph)
        if not graph._core.has_function(self.text):
            graph._core.add_function(self._data)

    def run(self, inputs):
        """Calls it with eager values."""
        context.check_executor()
        outputs = self._call(inputs, cancellation.current())
        if op_callbacks.in_use and op_callbacks.should_invoke_op_callbacks():
            op_callbacks.invoke_op_callbacks(self.text, tuple(inputs), (), tuple(outputs))
        return outputs

    def call_in(self, graph, inputs, attrs=None, names=()):
        """Adds a call to a graph and returns the operation. `names`: of the arguments, for errors."""
        self.add_to_graph(graph)
        known = [graph._core.shape(*t._key) for t in inputs]
        better = False
        for i, (mine, given) in enumerate(zip(self.input_shapes, known)):
            if not _compatible(mine, given):
                if tf2.enabled():
                    raise TypeError(f"Binding inputs to tf.function failed due to `Can not cast "
                                    f"{_spec_of(given, inputs[i])} to {_spec_of(mine, inputs[i])}`.")
                name = f"'{names[i]}'" if i < len(names) else f"#{i}"
                raise ValueError(f"The argument {name} of {self.text} has shape {TensorShape._from_core(given)}, which "
                                 f"is incompatible with {TensorShape._from_core(mine)}")
            better = better or mine != given
        attrs = dict(attrs or {})
        attrs.update(Tin=self.input_types, Tout=self.output_types, f=_core.Func(self.text))
        kind = "StatefulPartitionedCall" if self.stateful_ops else "PartitionedCall"
        op = graph._new_op(kind, list(inputs), kind, attrs)
        self.describe_outputs(op, 0)
        if any(s is None or -1 in s for s in self.output_shapes):
            values = [self._known_size(graph, t) for t in inputs]
            if better or any(v is not None for v in values):
                self._refine_outputs(graph, op, known, values)
        return op

    @staticmethod
    def _known_size(graph, tensor):
        """The value of an argument that a shape in the body may be made of, if it is known; 1.15 does not look."""
        is_size = tf2.enabled() and tensor.dtype in (dtypes.int32, dtypes.int64)
        return graph._core.constant_value(*tensor._key) if is_size else None

    def _refine_outputs(self, graph, op, shapes, values):
        try:
            found = _core.eager_graph().function_shapes(self.text, shapes, values)
        except errors.InvalidArgumentError as e:
            raise ValueError(e.message) from None
        for i, shape in enumerate(found):
            if shape is not None and _compatible(shape, self.output_shapes[i]):
                graph._core.set_shape(op._node, i, shape)

    def describe_outputs(self, op, first):
        """Gives a call's outputs, from the first-th on, the shapes that the body has."""
        core = op.graph._core
        for i in range(first, len(self.output_types)):
            if self.output_shapes[i] is not None:
                core.set_shape(op._node, i, self.output_shapes[i])
            if self.output_handles[i]:
                core.set_handle_data(op._node, i, self.output_handles[i])


class ImportedDefinition(Definition):
    """Of a FunctionDef that was read; its body is looked at when a shape is asked for.

    functions: those that it calls.
    """

    def __init__(self, message, functions):
        self.text, self.name = message.signature.name, message.signature.name.encode()
        self._data = message.SerializeToString()
        self._message, self._functions, self._kept = message, list(functions), None
        # That there are some is all that anybody asks of it.
        self.stateful_ops = (self.text,) if message.signature.is_stateful else ()
        self.input_types = [arg.type for arg in message.signature.input_arg]
        self.output_types = [arg.type for arg in message.signature.output_arg]
        self._add_to_library()

    @functools.cached_property
    def _described(self):
        """Shapes of inputs, shapes and handle data of outputs."""
        graph, args, rets, _ = _core.eager_graph().instantiate(self.text)
        outputs = [graph.inputs(node)[0] for node in rets]
        return ([graph.shape(node, 0) for node in args], [graph.shape(*key) for key in outputs],
                [graph.handle_data(*key) if dtype in (20, 21) else None
                 for key, dtype in zip(outputs, self.output_types)])

    input_shapes = property(lambda self: self._described[0])
    output_shapes = property(lambda self: self._described[1])
    output_handles = property(lambda self: self._described[2])
    node_defs = property(lambda self: self._message.node_def)


def _spec_of(shape, tensor):
    return TensorSpec(TensorShape._from_core(shape), tensor.dtype)


def _called(graph, nodes):
    """The functions that a body names."""
    found: dict = {}
    for node in nodes:
        op = graph._ops[node]
        names = [op.type]
        definition = graph._core_op_def(op.type)
        for attr in definition.attrs if definition is not None else ():
            if attr.type == "func":
                names.append(graph._core.attr(node, attr.name).name)
            elif attr.type == "list(func)":
                names.extend(f.name for f in graph._core.attr(node, attr.name))
        found.update((name, graph._functions[name]) for name in names if name in graph._functions)
    return list(found.values())


def _compatible(a, b):
    return a is None or b is None or len(a) == len(b) and all(x == y or x < 0 or y < 0 for x, y in zip(a, b))


def _kept(graph):
    """What a body refers to by token: Python functions."""
    return getattr(graph, "_py_funcs_used_in_graph", None)


def from_function_def(name):
    """The FuncGraph of a function of the eager library."""
    graph = func_graph_module.FuncGraph(compat.as_str(name))
    core, args, rets, control = _core.eager_graph().instantiate(name)
    graph._core = core
    graph._add_new_operations(scopes=False)
    graph.inputs = [graph._ops[n].outputs[0] for n in args]
    graph.outputs = [graph._ops[n].inputs[0] for n in rets]
    graph.control_outputs = [graph._ops[n] for n in control]
    graph._results = frozenset(rets)
    graph.structured_outputs = list(graph.outputs)
    return graph


def body_nodes(graph, before=None):
    """The nodes of a FuncGraph that are neither inputs nor results."""
    skipped = {t._op._node for t in graph.inputs} | getattr(graph, "_results", frozenset())
    count = graph._core.num_nodes if before is None else before
    return [n for n in range(count) if n not in skipped]


def is_trainable(dtype):
    """Whether gradients flow through values of this type."""
    return dtype.is_floating or dtype.is_complex or dtype in (dtypes.resource, dtypes.variant)
