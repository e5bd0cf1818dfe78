"""Functions with constants in the place of their variables, and with what they call inside of them."""
import contextlib
import heapq

from penstock._src.tf_function import wrap_function
from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.function import func_graph as func_graph_module
from penstock._src.function import function_definition
from penstock._src.graph import gen
from penstock._src.function import graph_util
from penstock._src.graph import ops
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.control_flow import cond
from penstock._src.control_flow import while_loop
from penstock._src.base import compat

_CALLS = frozenset(("PartitionedCall", "StatefulPartitionedCall"))
_BRANCHES = {"If": ("then_branch", "else_branch"), "StatelessIf": ("then_branch", "else_branch")}
_REFERENCES = frozenset(("Variable", "VariableV2"))
_LOOPS = frozenset(("While", "StatelessWhile"))


class _Frozen:
    """Stands for a variable's handle: its value. Each graph gets a node of it when something reads it."""

    def __init__(self, handle, dtype):
        self.name = None
        self._value = gen.read_variable_op(handle, dtype)
        self.dtype = self._value.dtype

    def node(self):
        """The constant in the default graph."""
        graph = ops.get_default_graph()
        made = graph.__dict__.setdefault("_frozen", {})
        if id(self) not in made:
            with graph._outside(), ops.name_scope(None):
                made[id(self)] = constant_op.constant(self._value.numpy(), self._value.dtype, name=self.name)
        return made[id(self)]


class _FrozenInside(_Frozen):
    """The same within a branch or loop of version 1, where the value comes through an operation."""

    def __init__(self, tensor):
        self.name = None
        self._tensor = tensor
        self.dtype = tensor.dtype

    def node(self):
        return self._tensor


class _Copier:
    """Builds a body again in the default graph."""

    def __init__(self, body, arguments, prefix="", lower=False):
        self._body = body
        self._lower = lower  # whether conditionals and loops become Switch, Merge, Enter...
        self._made = {t._key: value for t, value in zip(body.inputs, arguments)}
        self._operations = {}
        self._prefix = prefix
        self._later = []  # (operation, input, tensor of the body that is made behind it)

    def run(self):
        """The body's outputs."""
        arguments = {t._op._node for t in self._body.inputs}
        inside = ops.get_default_graph()._get_control_flow_context() is not None  # of a branch or loop that is lowered
        needed = _needed(self._body)
        operations = [op for op in self._body.get_operations() if op._node in needed - arguments]
        if not self._prefix:
            for op in operations:
                ops.get_default_graph().unique_name(op.name)  # what comes in between gets other names
        for op in _in_order(operations):
            control = [self._operations[c._node] for c in op.control_inputs if c._node in self._operations]
            alone = contextlib.nullcontext() if inside else ops.control_dependencies(None)
            with alone, ops.control_dependencies(control), ops.name_scope(None):
                self._copy(op)
        for op, index, tensor in self._later:
            op._update_input(index, self._made[tensor._key])
        return [self._made[t._key] for t in self._body.outputs]

    def _name(self, op):
        return f"{self._prefix}/{op.name}" if self._prefix else op.name + "/"  # that very name

    def _give(self, op, results):
        for old, new in zip(op.outputs, results):
            self._made[old._key] = new
        last = next((t.op for t in results if not isinstance(t, _Frozen)), None)
        if last is not None:
            self._operations[op._node] = last

    def _copy(self, op):
        inputs = [self._made.get(t._key) for t in op.inputs]
        frozen = any(isinstance(t, _Frozen) for t in inputs)
        if op.type in _CALLS:
            body = function_definition.from_function_def(op.get_attr("f").name)
            self._give(op, self._inlined(op, body, inputs))
        elif op.type in _REFERENCES and hasattr(self._body, "_values_of_references"):
            with ops.init_scope():
                value = self._body._values_of_references(op.outputs[0])
            self._give(op, [constant_op.constant(value.numpy(), value.dtype, name=self._name(op))])
        elif self._lower and op.outputs and (op.type in _BRANCHES or op.type == "Case"):
            self._lowered_branches(op, inputs)
        elif self._lower and op.type in _LOOPS:
            self._lowered_loop(op, inputs)
        elif not frozen:
            self._plain(op, inputs)
        elif op.type == "ReadVariableOp":
            self._give(op, [gen.identity(inputs[0].node(), name=self._name(op))])
        elif op.type == "ResourceGather":
            dims = op.get_attr("batch_dims")
            self._give(op, [gen.gather_v2(inputs[0].node(), inputs[1], dims, batch_dims=dims, name=self._name(op))])
        elif op.type == "ResourceGatherNd":
            self._give(op, [gen.gather_nd(inputs[0].node(), inputs[1], name=self._name(op))])
        elif op.type == "VariableShape":
            self._give(op, [gen.shape(inputs[0].node(), out_type=op.get_attr("out_type"), name=self._name(op))])
        elif op.type in ("Enter", "Switch"):
            value, attrs = inputs[0].node(), dict(op.node_def.attr)
            attrs["T"].type = value.dtype._base
            made = ops.get_default_graph().create_op(op.type, [value, *inputs[1:]], name=self._name(op), attrs=attrs)
            self._operations[op._node] = made
            self._give(op, [_FrozenInside(t) for t in made.outputs])
        elif op.type == "VarIsInitializedOp":
            self._give(op, [constant_op.constant(True, name=self._name(op))])
        elif op.type == "Identity":
            self._made[op.outputs[0]._key] = inputs[0]
        elif op.type in _BRANCHES or op.type == "Case":
            self._branches(op, inputs)
        elif op.type in _LOOPS:
            self._loop(op, inputs)
        else:
            raise ValueError(f"The variable that {op.name} ({op.type}) uses cannot become a constant.")

    def _plain(self, op, inputs):
        graph = ops.get_default_graph()
        missing = [i for i, t in enumerate(inputs) if t is None]
        for i in missing:  # of a loop's Merge: what comes from behind
            inputs[i] = next(t for t in inputs if t is not None)
        kind = op.type
        if kind.startswith("Ref") and not any(t.dtype._is_ref_dtype for t in inputs):
            kind = kind[len("Ref"):]
        made = graph.create_op(kind, inputs, name=self._name(op), attrs=dict(op.node_def.attr))
        self._later += [(made, i, op.inputs[i]) for i in missing]
        self._operations[op._node] = made
        for old, new in zip(op.outputs, made.outputs):
            self._made[old._key] = new
            func_graph_module.copy_handle_data(old, new)

    def _function(self, name, inputs, keep=None):
        """A function of the inputs that are no variables. `keep`: which outputs it has."""
        body = function_definition.from_function_def(compat.as_str(name))
        specs = [TensorSpec(t.shape, t.dtype) for t in inputs if not isinstance(t, _Frozen)]

        def call(*given):
            given = iter(given)
            outputs = _Copier(body, [t if isinstance(t, _Frozen) else next(given) for t in inputs]).run()
            return [t for i, t in enumerate(outputs) if keep is None or keep[i]]

        return wrap_function.wrap_function(call, specs, name="frozen")

    def _inlined(self, op, body, inputs, part=""):
        return _Copier(body, inputs, self._name(op).rstrip("/") + part, self._lower).run()

    def _lowered_branches(self, op, inputs):
        bodies = [function_definition.from_function_def(name) for name in _names_of_branches(op)]
        key, inputs = inputs[0], inputs[1:]

        def branch(i):
            return lambda: self._inlined(op, bodies[i], inputs, f"/branch_{i}")

        def choose(i):
            if i == len(bodies) - 1:
                return branch(i)()
            return cond.cond(gen.equal(key, i), branch(i), lambda: choose(i + 1), strict=True, name=self._name(op))

        if op.type == "Case":
            self._give(op, choose(0))
            return
        chosen = key if key.dtype == dtypes.bool else gen.not_equal(key, constant_op.constant(0, key.dtype))
        self._give(op, cond.cond(chosen, branch(0), branch(1), strict=True, name=self._name(op)))

    def _lowered_loop(self, op, inputs):
        test, body = (function_definition.from_function_def(op.get_attr(key).name) for key in ("cond", "body"))
        keep = [not isinstance(t, _Frozen) for t in inputs]

        def whole(values):
            values = iter(values)
            return [next(values) if kept else t for kept, t in zip(keep, inputs)]

        results = while_loop.while_loop(
            lambda *values: self._inlined(op, test, whole(values), "/cond")[0],
            lambda *values: [t for kept, t in zip(keep, self._inlined(op, body, whole(values), "/body")) if kept],
            [t for kept, t in zip(keep, inputs) if kept],
            shape_invariants=[t.shape for kept, t in zip(keep, body.inputs) if kept], name=self._name(op),
            parallel_iterations=op.get_attr("parallel_iterations"), back_prop=False, return_same_structure=True)
        self._give(op, whole(results))

    def _branches(self, op, inputs):
        attrs = {key: op.node_def.attr[key] for key in op.node_def.attr}
        rest = [t for t in inputs[1:] if not isinstance(t, _Frozen)]
        names = _names_of_branches(op)
        functions = [self._function(name, inputs[1:]) for name in names]
        for function in functions:
            function.add_to_graph()
        if op.type == "Case":
            for target, function in zip(attrs["branches"].list.func, functions):
                target.name = function._definition.text
        else:
            for key, function in zip(_BRANCHES[op.type], functions):
                attrs[key].func.name = function._definition.text
        _set_types(attrs["Tin"], rest)
        made = ops.get_default_graph().create_op(op.type, [inputs[0]] + rest, name=self._name(op), attrs=attrs)
        self._give(op, list(made.outputs))

    def _loop(self, op, inputs):
        attrs = {key: op.node_def.attr[key] for key in op.node_def.attr}
        keep = [not isinstance(t, _Frozen) for t in inputs]
        rest = [t for t in inputs if not isinstance(t, _Frozen)]
        for key, kept in (("cond", None), ("body", keep)):
            function = self._function(op.get_attr(key).name, inputs, kept)
            function.add_to_graph()
            attrs[key].func.name = function._definition.text
        _set_types(attrs["T"], rest)
        if "output_shapes" in attrs and attrs["output_shapes"].list.shape:
            shapes = [s for s, kept in zip(attrs["output_shapes"].list.shape, keep) if kept]
            del attrs["output_shapes"].list.shape[:]
            attrs["output_shapes"].list.shape.extend(shapes)
        made = ops.get_default_graph().create_op(op.type, rest, name=self._name(op), attrs=attrs)
        outputs = iter(made.outputs)
        self._give(op, [next(outputs) if kept else t for kept, t in zip(keep, inputs)])


def _needed(body):
    """The nodes that a body's results and effects need: that of version 1 is part of a model's whole graph."""
    found, stack = set(), [t.op for t in body.outputs] + list(body.control_outputs)
    while stack:
        op = stack.pop()
        if op._node not in found:
            found.add(op._node)
            stack += [t.op for t in op.inputs] + list(op.control_inputs)
    return found


def _in_order(operations):
    """Operations behind those that they take something of, what comes from behind in a loop apart."""
    places = {op._node: i for i, op in enumerate(operations)}
    users, waiting = [[] for _ in operations], [0] * len(operations)
    for i, op in enumerate(operations):
        for other in [t.op for t in op.inputs] + list(op.control_inputs):
            if other._node in places and other.type not in ("NextIteration", "RefNextIteration"):
                users[places[other._node]].append(i)
                waiting[i] += 1
    ready = [i for i, count in enumerate(waiting) if not count]
    heapq.heapify(ready)
    while ready:
        i = heapq.heappop(ready)
        yield operations[i]
        for user in users[i]:
            waiting[user] -= 1
            if not waiting[user]:
                heapq.heappush(ready, user)


def _names_of_branches(op):
    return [f.name for f in op.get_attr("branches")] if op.type == "Case" else [
        op.get_attr(key).name for key in _BRANCHES[op.type]]


def _set_types(attr, tensors):
    del attr.list.type[:]
    attr.list.SetInParent()
    attr.list.type.extend(t.dtype._base for t in tensors)


def _captured(function):
    """What stands for the captured tensors: variables' values, the tensors themselves."""
    names = {id(v.handle): v.name.split(":")[0] for v in function.variables}
    for tensor in function.captured_inputs:
        data = ops.get_resource_handle_data(tensor) if tensor.dtype == dtypes.resource else None
        if id(tensor) in names or data:
            frozen = _Frozen(tensor, data[0][0])
            frozen.name = names.get(id(tensor), "variable")
            yield frozen
        else:
            yield tensor


def convert_variables_to_constants_v2(func, lower_control_flow=True, aggressive_inlining=False):
    """A function like `func`, a ConcreteFunction, with constants of the present values of its variables. Whatever
    structure the results of `func` have, it gives a list of tensors.

    What it calls is part of its graph then. `lower_control_flow`: so is what conditionals and loops hold, as Switch,
    Merge and their like; else they stay as they are. ValueError: the function changes a variable.
    """
    captured = list(_captured(func))
    count = len(func.inputs) - len(captured)
    names = [getattr(t.op, "_user_name", t.op.name) for t in func.inputs[:count]]
    specs = [TensorSpec(t.shape, t.dtype, name) for t, name in zip(func.inputs[:count], names)]

    def call(*arguments):
        graph = ops.get_default_graph()
        given = [t if isinstance(t, _Frozen) else graph.capture(t) if t.dtype in (dtypes.resource, dtypes.variant) else
                 constant_op.constant(t.numpy(), t.dtype) for t in captured]
        if isinstance(func, wrap_function.WrappedFunction):
            func.graph._values_of_references = lambda tensor: func.prune([], tensor)()
        graph._switches_only = lower_control_flow
        return _Copier(func.graph, list(arguments) + given, lower=lower_control_flow).run()

    made = wrap_function.wrap_function(call, specs, name=compat.as_str(func._name))
    made.graph.structured_input_signature = func.structured_input_signature
    made.graph.structured_outputs = list(made.graph.outputs)
    made._build = list
    return made


def convert_variables_to_constants_from_session_graph(session, graph_def, output_node_names,
                                                      variable_names_allowlist=None, variable_names_denylist=None):
    """The part of a GraphDef that the outputs depend on, with each variable replaced by its value in a session."""
    return graph_util.convert_variables_to_constants(session, graph_def, output_node_names, variable_names_allowlist,
                                                     variable_names_denylist)
