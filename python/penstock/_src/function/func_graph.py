"""FuncGraph: the body of a tf.function while it is traced, with what it takes from outside."""
import collections
import inspect
import weakref
from typing import Any

import numpy as np

from penstock import _core
from penstock._src.function import auto_control_deps
from penstock._src.graph import conversion
from penstock._src.graph import defaults
from penstock._src.graph import dtypes
from penstock._src.graph import errors
from penstock._src.function import frozen_functions
from penstock._src.graph import stack
from penstock._src.graph import tensor_shape
from penstock._src.base import tf2
from penstock._src.graph.graph import Graph
from penstock._src.graph.operation import Operation
from penstock._src.graph.tensor import Tensor
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.graph.type_spec import is_composite_spec, type_spec_from_value
from penstock._src.base import hooks
from penstock._src.base import nest

_EAGER_CONST_THRESHOLD = 128  # values of at most so many elements help shape inference inside of the body

WHITELIST_COLLECTIONS = ["variables", "local_variables", "trainable_variables", "variable_store",
                         "variable_scope"]


class UnknownArgument:
    """What stands for an argument that is no tensor in a signature."""

    kind = None  # what a function's type says of it


def _is_variable(value):
    return hasattr(value, "handle") and not isinstance(value, Tensor) and hasattr(value, "read_value")


class FuncGraph(Graph):
    """A graph with inputs and outputs. Tensors of other graphs, and eager values, become further inputs when they are
    used.

    inputs: placeholders, captures behind arguments; outputs: flat tensors; structured_outputs: what the function
    returned; control_outputs: operations that run with every call; variables: those that the body reads.
    """

    _results: frozenset[int]  # of a body taken from a FunctionDef: its _Retval nodes
    _stand_in = None  # finds what stands here for a tensor of the graph that this one was taken from

    def __init__(self, name, collections=None, capture_by_value=None):
        outer = defaults.get_default_graph()
        super().__init__()
        self.name = name
        self.inputs, self.outputs, self.control_outputs = [], [], []
        self.structured_input_signature = self.structured_outputs = None
        self.outer_graph = outer
        self.capture_by_value = capture_by_value if capture_by_value is not None else \
            getattr(outer, "capture_by_value", False) if isinstance(outer, FuncGraph) else False
        self._outer_graph = outer
        self._captures = collections_ordered()
        self._deferred = collections_ordered()
        self._by_value = {}
        self._watched = {}
        self._weak_variables = []
        self._building_function = True
        self._saving_errors = set()
        self._add_control_dependencies = False
        if outer._eager:
            from penstock._src.graph import context
            self._seed = context.global_seed()
        else:
            self._seed = outer.seed
            self._container = outer._container
            self._colocation_stack = [] if isinstance(outer, FuncGraph) else list(outer._colocation_stack)
            self._op_to_kernel_label_map = dict(outer._op_to_kernel_label_map)
            self._gradient_override_map = dict(outer._gradient_override_map)
        self._variable_creator_stack = list(outer._variable_creator_stack)
        self._device_function_stack = outer._device_function_stack
        if collections is not None:
            self._collections = collections
        elif not outer._eager:
            for key, values in outer._collections.items():
                self._collections[key] = list(values)
            for key in WHITELIST_COLLECTIONS:
                self._collections[key] = outer.get_collection_ref(key)
            for key in (("__variable_store",), ("__varscope",)):
                if key in outer._collections:
                    self._collections[key] = outer._collections[key]
        self._core.use_functions_of(outer._core)
        self._functions.update(outer._functions)

    def __str__(self):
        return f"FuncGraph(name={self.name}, id={id(self)})"

    def _as_graph_def(self, from_version=None, add_shapes=False):
        message, version = super()._as_graph_def(from_version, add_shapes)
        frozen_functions.keep_named_functions(message)  # it knows all functions of the program
        return message, version

    def mark_as_unsaveable(self, error_message):
        """Makes saving the function in a SavedModel, and one that calls it, a ValueError with this message, or these.
        """
        self._saving_errors.update([error_message] if isinstance(error_message, str) else error_message)

    @property
    def saveable(self):
        """Whether a SavedModel may have it."""
        return not self._saving_errors

    @property
    def saving_errors(self):
        """Why a SavedModel may not have it."""
        return self._saving_errors

    # Variables

    def watch_variable(self, variable):
        """Notes that the body reads a variable."""
        graph = self
        while isinstance(graph, FuncGraph):
            graph._watched[id(variable)] = weakref.ref(variable)
            graph = graph.outer_graph
        graph.watch_variable(variable)

    @property
    def variables(self):
        """The variables that the body reads, in order of first use. AssertionError if one was deleted meanwhile."""
        found = []
        for reference in self._weak_variables:
            variable = reference()
            if variable is None:
                raise AssertionError(
                    "Called a function referencing variables which have been deleted. This likely means that "
                    "function-local variables were created and not referenced elsewhere in the program. This is "
                    "generally a mistake; consider storing variables in an object attribute on first call.")
            found.append(variable)
        return tuple(found)

    @variables.setter
    def variables(self, variables):
        self._weak_variables = [weakref.ref(v) for v in variables]

    @property
    def trainable_variables(self):
        """Those of `variables` that are trained."""
        return tuple(v for v in self.variables if v.trainable)

    # Captures

    @property
    def captures(self):
        """(tensor outside, tensor inside) of what the body uses of the world around it."""
        return list(self._captures.values())

    @property
    def external_captures(self):
        """The tensors outside that the body uses; behind them, functions that give those of each call."""
        return [outer for outer, _ in self._captures.values()] + [c for c, _ in self._deferred.values()]

    @property
    def internal_captures(self):
        """The inputs that stand for them."""
        return [inner for _, inner in self._captures.values()] + [
            t for _, made in self._deferred.values() for t in nest.flatten(made, expand_composites=True)]

    @property
    def num_captures(self):
        return len(self._captures)

    def add_capture(self, tensor, placeholder):
        """Makes `placeholder` stand for `tensor`."""
        self._captures[id(tensor)] = (tensor, placeholder)
        self.inputs.append(placeholder)

    def replace_capture(self, tensor, placeholder):
        """Makes another input stand for a tensor."""
        self._captures[id(tensor)] = (tensor, placeholder)

    def pop_capture(self, tensor):
        """Forgets a captured tensor and returns what stood for it, or None."""
        found = self._captures.pop(id(tensor), None)
        return None if found is None else found[1]

    def clear_captures(self):
        """Forgets all captured tensors."""
        self._captures.clear()

    def capture(self, tensor, name=None, shape=None):
        """The tensor of this graph that stands for one outside; a tensor of this graph itself."""
        if not tensor._is_eager and tensor._op._graph is self:
            return tensor
        found = self._captures.get(id(tensor))
        if found is not None:
            return found[1]
        if tensor._is_eager:
            if self.capture_by_value and tensor._type_enum != dtypes.resource._type_enum:
                return self._constant(tensor, name)
            if tensor._num_elements() <= _EAGER_CONST_THRESHOLD and not _may_have_gradient(tensor.dtype):
                inner = self._constant(tensor, name)  # an argument, whose present value is known
            else:
                inner = self._placeholder(tensor, name, shape)
        else:
            copy = copy_of(self, tensor)
            if copy is None and self._stand_in is not None:
                copy = self._stand_in(tensor)
            if copy is not None:
                return copy
            self._check_accessible(tensor)
            if self.capture_by_value:
                return self._copy_value(tensor)
            inner = self._placeholder(tensor, name or tensor.op.name, shape)
        self.add_capture(tensor, inner)
        return inner

    def capture_call_time_value(self, closure, spec, key=None, placeholder=None):
        """Placeholders for what `closure()` returns when the function is called: values as `spec` describes them. The
        same key gives the same placeholders again; `placeholder`: one that is there already. ValueError in a call: the
        values are of another kind."""
        key = object() if key is None else key
        if key not in self._deferred:
            specs = _flat_specs(spec)
            if placeholder is not None:
                flat = nest.flatten(placeholder, expand_composites=True)
            else:
                with self._outside(), self.as_default():
                    flat = [_input(self, s, None, None) for s in specs]

            def values():
                result = nest.flatten(closure(), expand_composites=True)
                if len(result) != len(specs):
                    raise ValueError(f"The value of a deferred capture does not have the structure of {spec}")
                return [_as_described(s, v) for s, v in zip(specs, result)]

            setattr(values, "spec", spec)
            self._deferred[key] = (values, _pack(spec, flat))
        return self._deferred[key][1]

    def replace_capture_with_deferred_capture(self, tensor, closure, spec, placeholder):
        """Lets the input `placeholder`, which stands for a captured tensor, be what `closure()` returns in each call.
        Functions made of this graph before keep the tensor (see ConcreteFunction's method of this name)."""
        self.pop_capture(tensor)
        self.capture_call_time_value(closure, spec, key=id(tensor), placeholder=placeholder)

    def _check_accessible(self, tensor):
        """errors.InaccessibleTensorError: the tensor is of a body that this one does not lie in."""
        if not isinstance(tensor.graph, FuncGraph):
            return
        graph = self.outer_graph
        while isinstance(graph, FuncGraph):
            if graph is tensor.graph:
                return
            graph = graph.outer_graph
        if tf2.enabled():
            raise errors.InaccessibleTensorError(out_of_scope(tensor, self))
        raise errors.InaccessibleTensorError(
            f"The tensor '{tensor}' cannot be accessed here: it is defined in another function or code block. Use "
            "return values, explicit Python locals or TensorFlow collections to access it. Defined in: "
            f"{tensor.graph}; accessed from: {self}.")

    def _outside(self):
        return _Outside(self)

    def _constant(self, tensor, name):
        with _Outside(self, keep_names=True):
            value = _core.eager_to_core(tensor)
            return super()._new_op("Const", [], name or "Const", {"value": value, "dtype": value.dtype}).outputs[0]

    def _placeholder(self, tensor, name, shape=None):
        shape = tensor.shape if shape is None else tensor_shape.as_shape(shape)
        with _Outside(self, keep_names=True):
            inner = super()._new_op("Placeholder", [], name or "Placeholder",
                                    {"dtype": tensor.dtype._base, "shape": shape._to_core()}).outputs[0]
        copy_handle_data(tensor, inner)
        return inner

    def _copy_value(self, tensor):
        found = self._by_value.get(id(tensor))
        if found is None:
            with self._outside():
                op = tensor.op
                made = self.create_op(op.type, [self.capture(t) for t in op.inputs], name=op.name,
                                      attrs=dict(op.node_def.attr))
            for outer, inner in zip(op.outputs, made.outputs):
                self._by_value[id(outer)] = inner
                self._by_value[id(inner)] = outer  # keeps it
            found = self._by_value[id(tensor)]
        return found

    # Building

    def _new_op(self, op_type, inputs, name, attrs, compute_device=True):
        if self.capture_by_value and op_type == "ReadVariableOp":
            return self._read_now(inputs, attrs)
        if any(t._is_eager or t._op._graph is not self for t in inputs):
            inputs = [t if not t._is_eager and t._op._graph is self else self.capture(t) for t in inputs]
        return super()._new_op(op_type, inputs, name, attrs, compute_device)

    def _read_now(self, inputs, attrs):
        """Captures a variable by its value: reads it where it is."""
        outside = {inner._key: outer for outer, inner in self._captures.values()}
        handle = inputs[0]
        if not handle._is_eager and handle._op._graph is self:
            handle = outside[handle._key]
        with self.outer_graph.as_default():
            value = self.outer_graph._new_op("ReadVariableOp", [handle], "ReadVariableOp", dict(attrs))._outputs[0]
        return self.capture(value).op

    def control_dependencies(self, control_inputs):
        """As Graph.control_dependencies; operations outside become operations that come before the call."""
        if control_inputs is None or callable(control_inputs):
            return super().control_dependencies(control_inputs)
        inside = []
        for value in control_inputs:
            element = value
            if _is_variable(value):
                element = getattr(value, "op", None)  # of an assignment
                if not isinstance(element, Operation):
                    continue
            elif isinstance(value, Tensor) and value._is_eager:
                continue  # it has run
            if not isinstance(element, (Tensor, Operation)):
                element = conversion.as_graph_element(value)
                if element is None:
                    element = value
                elif isinstance(element, Tensor) and element._is_eager:
                    continue
            graph = getattr(element, "graph", self)
            if graph is not self and not graph._eager:
                outside = element.op if isinstance(element, Tensor) else element
                if outside.outputs:
                    element = self.capture(outside.outputs[0])
                else:
                    self.outer_control_inputs = [*getattr(self, "outer_control_inputs", ()), outside]
                    continue
            made_by = element.op if isinstance(element, Tensor) else element
            if isinstance(made_by, Operation) and made_by.graph is self and made_by.type == "Placeholder":
                continue  # an argument: it is there before the body runs
            inside.append(element)
        return super().control_dependencies(inside)


def out_of_scope(tensor, graph=None):
    """What is said of a body's tensor that is used in another graph, or eagerly: with the calls that built it."""
    where = "".join(f'    File "{file}", line {line}, in {function}\n'
                    for file, line, function, _ in stack.convert(stack.user_frames(tensor.op._traceback)))
    return (f"{tensor!r} is out of scope and cannot be used here. Use return values, explicit Python locals or "
            "TensorFlow collections to access it.\nPlease see "
            "https://www.tensorflow.org/guide/function#all_outputs_of_a_tffunction_must_be_return_values for more "
            f"information.\n\n{tensor!r} was defined here:\n{where}\nThe tensor {tensor!r} cannot be accessed from "
            f"{'here' if graph is None else graph}, because it was defined in {tensor.graph}, which is out of scope.")


def copy_of(graph, tensor):
    """What stands in `graph` for a tensor of a body that was lowered into it, while Python's gradient function of an
    operation out of the same body is called; None if nothing does."""
    inside, body = graph.__dict__.get("_gradient_of"), tensor._op._graph
    definition = body.__dict__.get("_definition")
    if inside is None or definition is None:
        return None
    parts = inside.split("/")
    for i in reversed(range(len(parts))):
        if parts[i] == body.name or parts[i].startswith(body.name + "_") and parts[i][len(body.name) + 1:].isdigit():
            break
    else:
        return None
    name = tensor._op._name
    for k, taken in enumerate(body.inputs):
        if taken is tensor:
            name = definition.signature.input_arg[k].name
    node = graph._core.node_by_name("/".join(parts[:i + 1] + [name]))
    return None if node is None or node < 0 else graph._ops[node]._outputs[tensor._value_index]


collections_ordered = collections.OrderedDict


class _Outside:
    """Context manager under which nodes stand at the body's beginning: no control flow, no dependencies."""

    def __init__(self, graph, keep_names=False):
        self._graph = graph
        self._keep_names = keep_names

    def __enter__(self):
        graph = self._graph
        self._saved = graph._control_flow_context, graph._name_stack, graph._colocation_stack
        self._dependencies = graph.control_dependencies(None)
        self._dependencies.__enter__()
        graph._control_flow_context, graph._colocation_stack = None, []
        if not self._keep_names:
            graph._name_stack = ""

    def __exit__(self, *exc):
        graph = self._graph
        self._dependencies.__exit__(*exc)
        graph._control_flow_context, graph._name_stack, graph._colocation_stack = self._saved


def _may_have_gradient(dtype):
    """Whether a captured value may be differentiated by, so that it must not be taken for its present value."""
    return dtype.is_floating or dtype.is_complex or dtype in (dtypes.resource, dtypes.variant)


def copy_handle_data(source, target):
    """Tells a tensor of a graph what is known of the resource that another names."""
    if target._is_eager or source.dtype not in (dtypes.resource, dtypes.variant):
        return
    data = _core.eager_handle_data(source) if source._is_eager else source.graph._core.handle_data(*source._key)
    if data:
        target.graph._core.set_handle_data(*target._key, data)


_autograph_traced, _variable_scope = hooks.Hook("autograph.traced"), hooks.Hook("variable_scope")


def func_graph_from_py_func(name, python_func, args, kwargs, signature=None, func_graph=None, autograph=False,
                            autograph_options=None, add_control_dependencies=True, arg_names=None,
                            op_return_value=None, collections=None, capture_by_value=None,
                            override_flat_arg_shapes=None):
    """Traces `python_func` with arguments of the kind of `args` and `kwargs`, or of `signature`; returns the FuncGraph.

    TypeError: it returns something that is no tensor. ValueError: it changes its arguments.
    """
    if op_return_value is not None and not isinstance(op_return_value, Tensor):
        raise AssertionError("op_return_value must be a tensor")
    if func_graph is None:
        func_graph = FuncGraph(name, collections=collections, capture_by_value=capture_by_value)
    if add_control_dependencies:
        dependencies: Any = auto_control_deps.AutomaticControlDependencies()
    else:
        dependencies = _NoDependencies()
    with func_graph.as_default(), dependencies as deps:
        scope = _variable_scope.get().get_variable_scope()
        old_resource = scope.use_resource
        scope.set_use_resource(True)
        try:
            if signature is not None:
                args, kwargs = signature, {}
            func_args = _inputs(func_graph, args, arg_names, override_flat_arg_shapes)
            shapes = None
            if override_flat_arg_shapes is not None:
                shapes = override_flat_arg_shapes[len(nest.flatten(args, expand_composites=True)):]
            func_kwargs = _keyword_inputs(func_graph, kwargs, shapes)
            func_graph.structured_input_signature = _signature(func_args), _signature(func_kwargs)
            if tf2.enabled():
                func_graph.structured_input_signature = _named_by_place(
                    _without_variables(func_graph.structured_input_signature), args, arg_names, kwargs)
            # What the function gets may not be changed by it.
            before = nest.pack_sequence_as(func_args, nest.flatten(func_args)), \
                nest.pack_sequence_as(func_kwargs, nest.flatten(func_kwargs))
            traced, traced_function = python_func, getattr(python_func, "_traced_function", python_func)
            if autograph:
                traced = _autograph_traced(python_func, autograph_options)
            func_graph._returned = traced(*func_args, **func_kwargs)
            outputs = nest.map_structure(
                lambda x: deps.mark_as_return(_as_output(x, func_graph, op_return_value, traced_function)),
                func_graph._returned, expand_composites=True)
            _check_unchanged(before, (func_args, func_kwargs), traced_function, arg_names)
        finally:
            scope.set_use_resource(old_resource)
        func_graph.structured_outputs = outputs
        func_graph.outputs.extend(func_graph.capture(x) for x in flatten_outputs(outputs) if x is not None)
        _arrange_inputs(func_graph, func_args, func_kwargs)
    func_graph.control_outputs.extend(deps.ops_which_must_run)
    return func_graph


def _as_output(x, func_graph, op_return_value, python_func):
    """What a function returned as a tensor, or None; of an operation the tensor that stands for it, if there is one."""
    if x is None or _is_tensor_array(x):
        return x
    if op_return_value is not None and isinstance(x, Operation):
        with func_graph.control_dependencies([x]):
            from penstock._src.core_ops import array_ops
            return array_ops.identity(op_return_value)
    try:
        return conversion.convert_to_tensor_or_composite(x)
    except (ValueError, TypeError) as e:
        raise TypeError(
            "To be compatible with tf.function, Python functions must return zero or more Tensors or ExtensionTypes "
            f"or None values; in compilation of {python_func}, found return value of type {type(x).__name__}, which is "
            "not a Tensor or ExtensionType.") from e


def _is_tensor_array(x):
    return hasattr(x, "flow") and hasattr(x, "handle") and hasattr(x, "stack")


def flatten_outputs(structure):
    """The tensors of a function's result; a TensorArray counts as its flow."""
    return [x.flow if _is_tensor_array(x) else x for x in nest.flatten(structure, expand_composites=True)]


def _arrange_inputs(func_graph, args, kwargs):
    """Arguments in front of captures; variables that are arguments are no captures."""
    inputs, argument_variables = [], set()
    for arg in nest.flatten(args, expand_composites=True) + nest.flatten(kwargs, expand_composites=True):
        if _is_variable(arg):
            placeholder = func_graph.pop_capture(arg.handle)
            if placeholder is None:  # the same variable once more
                continue
            argument_variables.add(id(arg))
            inputs.append(placeholder)
        elif isinstance(arg, Tensor):
            inputs.append(arg)
    watched = [reference() for reference in func_graph._watched.values()]
    func_graph.variables = tuple(v for v in watched if v is not None and id(v) not in argument_variables)
    func_graph.inputs = inputs + func_graph.internal_captures


def _signature(structure):
    """Specs of what the function was traced with."""
    def spec(x):
        if isinstance(x, Tensor):
            name = x.op._user_name if hasattr(x.op, "_user_name") else x.op.name
            return TensorSpec(x.shape, x.dtype, name)
        if _is_variable(x) or x is None or isinstance(
                x, (bool, int, float, str, bytes, np.ndarray, dtypes.DType)):
            return x
        if getattr(x, "_is_composite_tensor", False):
            return type_spec_from_value(x)
        return x if nest.is_sequence_or_composite(x) else UnknownArgument()
    return nest.map_structure(spec, structure)


def _without_variables(signature):
    """Specs in place of variables, which say which arguments are the same one."""
    from penstock._src.graph import variable_spec
    numbers: dict = {}

    def spec(x):
        if not _is_variable(x):
            return x
        return variable_spec.VariableSpec(x.shape, x.dtype, x.trainable, numbers.setdefault(id(x), len(numbers)))

    return nest.map_structure(spec, signature)


def _named_by_place(specs, args, names, kwargs):
    """The specs of tensors within an argument named after their places in it, unless the program has named them."""
    def named(name, spec, given):
        places = iter([x for x in nest.flatten(given)])

        def one(path, x):
            own = next(places, None)
            if not path or not isinstance(x, TensorSpec) or isinstance(own, TensorSpec) and own.name:
                return x
            return TensorSpec(x.shape, x.dtype, _node_name("_".join([str(name), *map(str, path)])).replace("/", "_"))
        return nest.map_structure_with_tuple_paths(one, spec) if nest.is_sequence(spec) else spec

    names = list(names or ())
    names += names[-1:] * (len(args) - len(names))
    positional, keyword = specs
    if names:
        positional = tuple(named(*each) for each in zip(names, positional, args))
    return positional, {name: named(name, spec, kwargs[name]) for name, spec in keyword.items()}


def _check_unchanged(before, after, python_func, arg_names):
    """ValueError: a function has changed lists or dicts that it was given."""
    names = [*(arg_names or ())][:len(before[0])]
    names += [f"argument {i}" for i in range(len(names), len(before[0]))] + list(before[1])
    old, new = ([*args, *kwargs.values()] for args, kwargs in (before, after))
    changed = [name for name, a, b in zip(names, old, new) if not _is_same(a, b)]
    if not changed:
        return
    if not tf2.enabled():
        raise ValueError("Function to be traced should not modify structure of input arguments. Check if your function "
                         "has list and dictionary operations that alter input arguments, such as `list.pop`, "
                         "`list.append`")
    called = getattr(python_func, "__qualname__", None) or repr(python_func)
    try:
        called += str(inspect.signature(python_func))
    except (TypeError, ValueError):
        pass
    raise ValueError(f"{called} should not modify its Python input arguments. Modifying a copy is allowed. The "
                     f"following parameter(s) were modified: {', '.join(changed)}")


def _is_same(before, after):
    try:
        nest.assert_same_structure(before, after, expand_composites=False)
    except (ValueError, TypeError):
        return False
    return all(a is b for a, b in zip(nest.flatten(before), nest.flatten(after)))


def _inputs(func_graph, args, names, shapes=None):
    """The arguments with placeholders for tensors."""
    if names is None:
        names = [None] * len(args)
    made, at = [], 0
    for arg, name in zip(args, list(names) + [names[-1] if names else None] * (len(args) - len(names))):
        flat = nest.flatten(arg, expand_composites=True)
        named = [x.name is not None for x in flat if isinstance(x, TensorSpec)]
        if any(named) and not all(named):
            raise ValueError("If specifying TensorSpec names for nested structures, either zero or all names have to "
                             "be specified.")
        own = _traced_shapes(arg) if shapes is None else shapes[at:at + len(flat)]
        at += len(flat)
        inner = [_input(func_graph, x, name, own[i]) for i, x in enumerate(flat)]
        made.append(_pack(arg, inner))
    return tuple(made)


def _traced_shapes(structure):
    """For each tensor of arguments the shape of its placeholder, None for its own: in version 2 the parts of a
    composite value have what its spec, by which traces are found, says of them."""
    shapes = []
    for x in nest.flatten(structure):
        if getattr(x, "_is_composite_tensor", False) and (tf2.enabled() or x._type_spec._is_opaque):
            shapes += [part.shape for part in nest.flatten(x._type_spec, expand_composites=True)]
        else:
            shapes += [None] * len(nest.flatten(x, expand_composites=True))
    return shapes


def _keyword_inputs(func_graph, kwargs, shapes):
    made, at = {}, 0
    for name in sorted(kwargs):
        flat = nest.flatten(kwargs[name], expand_composites=True)
        own = _traced_shapes(kwargs[name]) if shapes is None else shapes[at:at + len(flat)]
        at += len(flat)
        inner = [_input(func_graph, x, name, own[i]) for i, x in enumerate(flat)]
        made[name] = _pack(kwargs[name], inner)
    return made


def _pack(structure, flat):
    """pack_sequence_as, where a spec of a composite value stands for one."""
    if is_composite_spec(structure):
        return structure._from_components(
            nest.pack_sequence_as(structure._component_specs, flat, expand_composites=True))
    if not nest.is_sequence(structure) or not any(is_composite_spec(x) for x in nest.flatten(structure)):
        return nest.pack_sequence_as(structure, flat, expand_composites=True)
    leaves, at = [], 0
    for leaf in nest.flatten(structure):
        count = len(nest.flatten(leaf, expand_composites=True))
        leaves.append(_pack(leaf, flat[at:at + count]))
        at += count
    return nest.pack_sequence_as(structure, leaves)


def _flat_specs(structure):
    flat = []
    for spec in nest.flatten(structure):
        flat.extend(nest.flatten(spec, expand_composites=True))
    for spec in flat:
        if not isinstance(spec, TensorSpec):
            raise TypeError(f"A TensorSpec object or a collection of them is expected, got: {spec!r}")
    return flat


def _as_described(spec, value):
    refused = TypeError if tf2.enabled() else ValueError
    if isinstance(value, Tensor) and value.dtype != spec.dtype:
        raise refused(f"Can not cast Tensor with dtype {value.dtype!r} to {spec}")
    try:
        tensor = conversion.convert_to_tensor(value, dtype=spec.dtype)
    except (TypeError, ValueError) as e:
        raise refused(str(e)) from None
    if not spec.shape.is_compatible_with(tensor.shape):
        raise refused(f"Can not cast {TensorSpec(tensor.shape, tensor.dtype)} to {spec}")
    return tensor


def _input(func_graph, arg, name, shape):
    if isinstance(arg, (Tensor, TensorSpec)):
        wanted = arg.name if isinstance(arg, TensorSpec) and arg.name else name
        shape = arg.shape if shape is None else tensor_shape.as_shape(shape)
        node_name = _node_name(wanted) if wanted else "Placeholder"
        op = Graph._new_op(func_graph, "Placeholder", [], node_name,
                           {"dtype": arg.dtype._base, "shape": shape._to_core()})
        op._user_name = str(wanted if wanted is not None else op.name)
        op._set_attr("_user_specified_name", op._set_attr_value(s=op._user_name.encode()))
        if isinstance(arg, Tensor):
            copy_handle_data(arg, op.outputs[0])
        return op.outputs[0]
    if _is_variable(arg):
        placeholder = func_graph.capture(arg.handle, name=None if name is None else _node_name(name))
        placeholder.op._user_name = str(name)
        placeholder.op._set_attr("_user_specified_name", placeholder.op._set_attr_value(s=str(name).encode()))
        return arg
    return arg


def _node_name(name):
    """A node's name made of an argument's, which may hold anything."""
    text = "".join(c if c.isascii() and (c.isalnum() or c in "_.-/") else "_" for c in str(name))
    return text if text[:1].isalnum() or text[:1] == "." else "arg" + text


class _NoDependencies:
    ops_which_must_run = ()

    def __enter__(self):
        return self

    def __exit__(self, *exc):
        return False

    def mark_as_return(self, tensor):
        return tensor
