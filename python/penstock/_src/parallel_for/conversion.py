"""The body of a parallel loop, operation for operation: those that depend on the iteration run once for all iterations,
on tensors with a further first dimension."""
from penstock._src.function import auto_control_deps
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import tensor_util
from penstock._src.core_ops import array_ops
from penstock._src.core_ops import math_ops
from penstock._src.control_flow import tensor_array_ops
from penstock._src.control_flow.while_loop import while_loop
from penstock._src.base import tf_logging as logging
from penstock._src.base import nest


def constant_value(tensor):
    """The value of a tensor that is known, or None."""
    return tensor.numpy() if tensor._is_eager else tensor_util.constant_value(tensor)


class NotConvertible(ValueError):
    """A body cannot be run at once, nor one operation of it in a loop of its own."""


class Value:
    """What stands for a tensor of the body: one tensor, or one that has the values of all iterations."""

    def __init__(self, tensor, stacked):
        self.tensor, self.stacked = tensor, stacked


class Section:
    """What a function of the iteration adds to the graph in which it is called, with the parts of a traced body."""

    captures, _functions, control_outputs = (), {}, ()

    def __init__(self, function):
        graph = ops.get_default_graph()
        before = len(graph.get_operations())
        with ops.name_scope("loop_body"):
            self.inputs = [array_ops.placeholder_with_default(0, [])]
            self.structured_outputs = nest.map_structure(
                lambda x: x if x is None else ops.convert_to_tensor_or_composite(x), function(self.inputs[0]))
        self._operations = graph.get_operations()[before:]
        self.outputs = [x for x in nest.flatten(self.structured_outputs, expand_composites=True) if x is not None]

    def get_operations(self):
        """What was added."""
        return self._operations

    def has_control_flow(self):
        """Whether conditionals or loops of version 1 were added."""
        return any(op.type in FRAMES for op in self._operations)


class Conversion:
    """Builds what a body computes in all iterations, in the default graph."""

    def __init__(self, body, iters, fallback, parallel_iterations, warn, inputs=None, gathered=()):
        """`inputs` are the Values of the inputs of a called body; without them the only one is the iteration.
        `gathered`: operations that give what their input is in all iterations (PForConfig)."""
        self._body, self.iters = body, iters
        self._own = set(body.get_operations()) if body is not None else set()
        self._gathered = gathered
        self.fallback, self._warn = fallback, warn
        self._parallel_iterations = parallel_iterations or 10
        self._graph = ops.get_default_graph()
        self.indices = math_ops.range(iters)
        self._operations, self._values = {}, {}
        if body is None:
            return
        if inputs is not None:
            self._values = {t._key: value for t, value in zip(body.inputs, inputs)}
        else:
            self._values = {body.inputs[0]._key: Value(self.indices, True)}
            for outer, inner in body.captures:
                self._values[inner._key] = Value(outer, False)
        for function in body._functions.values():
            function.add_to_graph(self._graph)

    @property
    def graph(self):
        """The graph in which it builds."""
        return self._graph

    def function(self, name):
        """The function of this name that the body calls."""
        return self._graph._get_function(name)

    def part(self, iters):
        """For some of the iterations, `iters` of them."""
        return Conversion(None, iters, self.fallback, self._parallel_iterations, self._warn)

    def inside(self, op, body, inputs):
        """The Values of the outputs of a body that `op` calls with these inputs, built in the default graph."""
        called = Conversion(body, self.iters, self.fallback, self._parallel_iterations, self._warn, inputs)
        results = called.results()
        effects = [called._operations[c] for c in body.control_outputs if c in called._operations]
        if effects and self._graph is called._graph:
            with ops.control_dependencies(effects):
                self._operations[op] = gen.no_op()
        return results

    def run(self):
        """The values of the body's outputs, stacked."""
        count, made = constant_value(self.iters), [self.stack(value) for value in self.results()]
        for tensor in made:
            if count is not None and not tensor._is_eager and tensor.shape.ndims:
                tensor.set_shape([int(count), *tensor.shape.as_list()[1:]])
        return made

    def results(self):
        """The Values of the body's outputs."""
        inputs = {t._op for t in self._body.inputs}
        for op in self._wanted():
            if op in inputs:
                continue
            before = [self._operations[c] for c in op.control_inputs if c in self._operations]
            with ops.control_dependencies(before):
                made = self._converted(op)
            for tensor, value in zip(op.outputs, made):
                self._values[tensor._key] = value
        return [self._value(t) for t in self._body.outputs]

    def _value(self, tensor):
        """What stands for a tensor; itself if it is of the graph around a section."""
        return self._values.get(tensor._key) or Value(tensor, False)

    def _wanted(self):
        """What the outputs need, each behind its inputs: what replaces a conditional, when it is differentiated, was
        built behind what takes its outputs."""
        found, waiting = set(), [t._op for t in self._body.outputs] + list(self._body.control_outputs)
        while waiting:
            op = waiting.pop()
            if op in self._own and op not in found:
                found.add(op)
                waiting.extend([t._op for t in op.inputs] + list(op.control_inputs))
        ordered, met = {}, set()
        for op in self._body.get_operations():
            waiting = [op] if op in found else []
            while waiting:
                op = waiting[-1]
                before = () if op in met else (*(t._op for t in op.inputs), *op.control_inputs)
                missing = [x for x in before if x in found and x not in met and x.type != "NextIteration"]
                met.add(op)
                waiting += missing
                if not missing:
                    ordered[waiting.pop()] = True
        return ordered

    def _converted(self, op):
        from penstock._src.parallel_for import lists, more_converters
        inputs = [self._value(t) for t in op.inputs]
        if op in self._gathered:
            return [Value(self.stack(self._value(op.inputs[0]._op.inputs[0])), False)]
        for tensor, value in zip(op.inputs, inputs):  # a called body may know less of its tensors
            shape = value.tensor.shape
            if tensor.shape.ndims is None and shape.ndims is not None:
                tensor.set_shape(shape[1:] if value.stacked else shape)
        alike = op.type not in lists.MADE and not any(value.stacked for value in inputs) and (
            op.type in SHARED or not op._is_stateful and not _calls_what_draws(op))
        if alike and op.graph is self._graph and all(v.tensor is t for v, t in zip(inputs, op.inputs)):
            self._operations[op] = op
            return [Value(t, False) for t in op.outputs]
        if op.type in FRAMES or any(t.dtype._is_ref_dtype for t in [*op.inputs, *op.outputs]):
            raise NotConvertible(f"{op.type} in a parallel loop is not supported")
        if alike:
            self._operations[op] = made = self.copy(op, [value.tensor for value in inputs])
            return [Value(t, False) for t in made.outputs]
        convert = more_converters.converter(op.type)
        results = NotImplemented if convert is None else convert(self, op, inputs)
        if results is NotImplemented:
            if not self.fallback:
                raise NotConvertible(f"No pfor vectorization defined for {op.type}: {op.name}")
            results = self._in_turn(op, inputs)
        if not isinstance(results, list):
            results = [results]
        results = [r if isinstance(r, Value) else Value(r, True) for r in results]
        for tensor, value in zip(op.outputs, results):
            if value.stacked and not value.tensor._is_eager and tensor.shape.ndims is not None and (
                    tensor.dtype != dtypes.variant):
                value.tensor.set_shape([None] + tensor.shape.as_list())
        if op not in self._operations and results and not results[0].tensor._is_eager:
            self._operations[op] = results[0].tensor.op
        return results

    def copy(self, op, inputs, **attrs):
        """The same operation of other inputs, in the default graph."""
        kept = {name: value for name, value in op.node_def.attr.items() if name != "_class"}
        for name, value in attrs.items():
            kept[name] = op._set_attr_value(**value)
        graph = ops.get_default_graph()
        return graph.create_op(op.type, list(inputs), name=op.name.rsplit("/", 1)[-1], attrs=kept)

    def takes_all_of(self, tensor):
        """Whether the iterations are known to be as many as a tensor has rows."""
        count = constant_value(self.iters)
        return count is not None and tensor.shape.ndims and tensor.shape.as_list()[0] == int(count)

    def stack(self, value):
        """The tensor with the values of all iterations."""
        if value.stacked:
            return value.tensor
        if value.tensor.dtype == dtypes.variant:
            from penstock._src.parallel_for import lists
            return lists.stacked_list(self, value.tensor)
        tensor = array_ops.expand_dims(value.tensor, 0)
        ones = array_ops.ones_like(array_ops.shape(value.tensor))
        return gen.tile(tensor, array_ops.concat([[self.iters], ones], 0))

    def _in_turn(self, op, inputs):
        """An operation that knows nothing of this, in a loop."""
        if any(t.dtype in (dtypes.variant, dtypes.resource) for t in op.outputs) or any(
                value.stacked and value.tensor.dtype in (dtypes.variant, dtypes.resource) for value in inputs):
            raise NotConvertible(f"{op.type} in a parallel loop is not supported")
        if self._warn:
            logging.warning("Using a while_loop for converting %s: %s", op.type, op.name)

        def body(i, *arrays):
            made = self.copy(op, [array_ops.gather(v.tensor, i) if v.stacked else v.tensor for v in inputs])
            with ops.control_dependencies([made]):
                return (i + 1, *(a.write(i, t) for a, t in zip(arrays, made.outputs)))

        arrays = tuple(tensor_array_ops.TensorArray(t.dtype, size=self.iters, element_shape=t.shape)
                       for t in op.outputs)
        loop = while_loop(lambda i, *_: i < self.iters, body, (0, *arrays),
                          parallel_iterations=self._parallel_iterations)
        if not arrays:
            self._operations[op] = loop.op if isinstance(loop, ops.Tensor) else loop[0].op
        return [array.stack() for array in loop[1:]] if arrays else []


FRAMES = frozenset(("Switch", "Merge", "Enter", "Exit", "NextIteration", "LoopCond", "RefSwitch", "RefMerge",
                     "RefEnter", "RefExit", "RefNextIteration"))
# They have state, but give the same in all iterations.
SHARED = frozenset(("ReadVariableOp", "VarHandleOp", "VarIsInitializedOp", "VariableShape", "Variable", "VariableV2",
                     "NoOp", "Placeholder"))


def _calls_what_draws(op):
    """Whether an operation calls functions in which numbers are drawn; other state makes the call itself stateful."""
    return op.type.startswith("Stateful") and op.type not in auto_control_deps.LEGACY_RANDOM_OPS
