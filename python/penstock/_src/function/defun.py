"""Defun: Python functions that become functions of the graph, called by one node."""
import inspect
from typing import Any

from penstock import _core
from penstock._src.graph.definitions import attr_values
from penstock._src.graph import conversion
from penstock._src.graph import defaults
from penstock._src.graph import dtypes
from penstock._src.graph import errors
from penstock._src.graph.graph import Graph
from penstock._src.graph.graph_keys import GraphKeys
from penstock._src.graph.tensor import Tensor
from penstock._src.base import compat
from penstock._src.base import function_utils
from penstock._src.base import hooks


class Defun:
    """Decorator that makes a Python function of tensors a function of the graph.

    input_types: the types of the arguments; without any, they are those of each call. Keywords: func_name,
    grad_func (a function made by Defun), python_grad_func(op, *gradients), out_names, shape_func, capture_by_value, and
    attributes of the function.
    """

    def __init__(self, *input_types, **kwargs):
        self._input_types = input_types
        self._func_name = kwargs.pop("func_name", None)
        self._grad_func = kwargs.pop("grad_func", None)
        self._python_grad_func = kwargs.pop("python_grad_func", None)
        self._out_names = kwargs.pop("out_names", None)
        self._extra_kwargs = kwargs

    def __call__(self, func):
        if not callable(func):
            raise ValueError(f"function {func} must be callable")
        parameters = list(inspect.signature(func).parameters.values())
        if any(p.kind == p.VAR_KEYWORD or p.default is not p.empty for p in parameters):
            raise ValueError("Functions with argument defaults or keyword arguments are not supported.")
        if any(p.kind == p.VAR_POSITIONAL for p in parameters):
            low, high = len([p for p in parameters if p.kind != p.VAR_POSITIONAL]), None
        else:
            low, high = len([p for p in parameters if p.default is p.empty]), len(parameters)
        names = [p.name for p in parameters if p.kind != p.VAR_POSITIONAL]
        options = dict(grad_func=self._grad_func, python_grad_func=self._python_grad_func, out_names=self._out_names,
                       **self._extra_kwargs)
        if self._input_types:
            count = len(self._input_types)
            if count < low or high is not None and count > high:
                raise ValueError(f"The function has {'fewer' if high is not None and count > high else 'more'} "
                                 "arguments than the number of specified input types.")
            return _DefinedFunction(func, names, [dtypes.as_dtype(t) for t in self._input_types], self._func_name,
                                    **options)
        if low == 0 and high == 0:
            return _DefinedFunction(func, [], [], self._func_name, **options)
        return _OverloadedFunction(func, names, self._func_name, **options)


class _DefinedFunction:
    """A function with known argument types; its body is built when it is first needed."""

    def __init__(self, func, argnames, input_types, func_name=None, grad_func=None, python_grad_func=None,
                 out_names=None, shape_func=None, capture_by_value=False, whitelisted_stateful_ops=None,
                 capture_resource_var_by_value=True, **kwargs):
        self._func = func
        self._arg_types = input_types
        self._arg_names = [argnames[i] if i < len(argnames) else f"arg{i}" for i in range(len(input_types))]
        self._func_name = func_name
        self._grad_func = grad_func
        self._python_grad_func = python_grad_func
        self._out_names = out_names
        self._shape_func = shape_func
        self._capture_by_value = capture_by_value
        self._whitelisted = whitelisted_stateful_ops or set()
        self._capture_resource_var_by_value = capture_resource_var_by_value
        self._extra_kwargs = kwargs
        self._data = None
        devices = defaults.get_default_graph()._device_functions_outer_to_inner
        self._caller_device = devices[-1] if devices else None

    @property
    def name(self):
        """The name in the library."""
        self._build()
        return self._func_name

    @property
    def definition(self):
        """The FunctionDef."""
        self._build()
        from penstock import proto
        return proto.message("tensorflow.FunctionDef").FromString(self._data)

    @property
    def signature(self):
        """The OpDef of a call."""
        return self.definition.signature

    _signature = signature

    @property
    def grad_func_name(self):
        """The name of the function that is the gradient, or None."""
        return self._grad_func.name if self._grad_func is not None else None

    @property
    def python_grad_func(self):
        """The Python function that is the gradient, or None."""
        return self._python_grad_func

    @property
    def declared_input_types(self):
        """The argument types."""
        return tuple(self._arg_types)

    @property
    def captured_inputs(self):
        """The tensors outside of the function that its body uses."""
        self._build()
        return self._extra_inputs

    @property
    def stateful_ops(self):
        """(name, type) of the body's stateful operations."""
        self._build()
        return self._stateful_ops

    def set_grad_func(self, grad_func):
        """Makes another function the gradient."""
        assert self._grad_func is None
        assert isinstance(grad_func, _DefinedFunction)
        self._grad_func = grad_func

    def _build(self):
        if self._data is not None:
            return
        outer = defaults.get_default_graph()
        shared = {key: outer._collections.setdefault(key, [])
                  for key in [*GraphKeys._VARIABLE_COLLECTIONS, ("__variable_store",)]}
        body = func_graph_from_py_func(self._func, self._arg_names, self._arg_types, self._func_name,
                                       self._capture_by_value,
                                       self._caller_device, collections_ref=shared,
                                       whitelisted_stateful_ops=self._whitelisted,
                                       capture_resource_var_by_value=self._capture_resource_var_by_value)
        self._extra_inputs = body.extra_inputs
        self._sub_functions = list(body._functions.values())
        base = self._func_name
        if base is None:
            base = function_utils.get_func_name(self._func).replace("<", "").replace(">", "")
            if self._grad_func is not None:
                base += "_" + self._grad_func.name
        if self._out_names and len(self._out_names) != len(body.outputs):
            raise errors.InvalidArgumentError(
                None, None, "output names must be either empty or equal in size to outputs. output names size = "
                f"{len(self._out_names)} outputs size = {len(body.outputs)}")
        attrs = {k: v.SerializeToString() for k, v in _attrs_of(self._extra_kwargs).items()}
        try:
            self._data = body._core.to_function(
                base, None, [t._key for t in body.inputs], [t._key for t in body.outputs],
                [compat.as_str(n) for n in self._out_names or ()], [], attrs, self._func.__doc__ or "",
                self._func_name is None)
        except errors.InvalidArgumentError as e:
            raise ValueError(e.message) from None
        self._stateful_ops = [(op.name, op.type) for op in body.get_operations() if op._is_stateful]
        self._func_name = self.definition.signature.name

    def add_to_graph(self, graph):
        """Adds it, and the functions that it calls, to a graph's library."""
        self._build()
        if graph._functions.get(self._func_name) is self:
            return
        for function in self._sub_functions:
            function.add_to_graph(graph)
        graph._add_function(self)
        if self._grad_func is not None:
            self._grad_func.add_to_graph(graph)

    def add_to_library(self, core):
        """Adds it, and the functions that it calls, to a library of the runtime."""
        self._build()
        for function in self._sub_functions:
            function.add_to_library(core)
        if not core.has_function(self._func_name):
            core.add_function(self._data)

    def __call__(self, *args, **kwargs):
        graph = defaults.get_default_graph()
        self.add_to_graph(graph)
        inputs = [conversion.convert_to_tensor(a) for a in args] + list(self._extra_inputs)
        result, op = _call(self.signature, *inputs, **kwargs)
        op.__dict__["__defun"] = self
        if self._shape_func is not None:
            shapes = self._shape_func(op)
            if len(shapes) != len(op.outputs):
                raise ValueError(f"shape_func produced {len(shapes)} shapes for {len(op.outputs)} outputs")
            for tensor, shape in zip(op.outputs, shapes):
                tensor.set_shape(shape)
        return result


class _OverloadedFunction:
    """A function whose argument types are those of each call; one _DefinedFunction for each list of types."""

    def __init__(self, func, argnames, func_name=None, grad_func=None, python_grad_func=None, out_names=None, **kwargs):
        self._func = func
        self._argnames = argnames
        self._func_name = func_name
        assert grad_func is None or isinstance(grad_func, _OverloadedFunction)
        self._grad_func = grad_func
        self._python_grad_func = python_grad_func
        self._out_names = out_names
        self._extra_kwargs = kwargs
        self._overload = {}

    def instantiate(self, input_types):
        """The function for these types."""
        key = tuple(dtypes.as_dtype(t) for t in input_types)
        found = self._overload.get(key)
        if found is None:
            name = None if self._func_name is None else "_".join([self._func_name, *(t.name for t in key)])
            gradient = None
            found = self._overload[key] = _DefinedFunction(
                self._func, self._argnames, list(key), name, None, self._python_grad_func, self._out_names,
                **self._extra_kwargs)
            if self._grad_func is not None:
                outputs = [dtypes.as_dtype(a.type) for a in found.signature.output_arg]
                gradient = self._grad_func.instantiate([*key, *outputs])
                found._grad_func = gradient
        return found

    def __call__(self, *args, **kwargs):
        tensors = []
        for arg in args:
            arg = conversion.convert_to_tensor(arg)
            if not isinstance(arg, Tensor):
                raise ValueError(f"Expect a Tensor but get {arg}")
            tensors.append(arg)
        return self.instantiate([t.dtype.base_dtype for t in tensors])(*tensors, **kwargs)


class Declare:
    """A function that is defined later: its name and the types of its arguments and results, as (name, type) pairs."""

    def __init__(self, func_name, inputs, outputs):
        from penstock import proto
        self._sig = proto.message("tensorflow.OpDef")(name=func_name)
        for target, pairs in ((self._sig.input_arg, inputs), (self._sig.output_arg, outputs)):
            for name, dtype in pairs:
                target.add(name=name, type=dtypes.as_dtype(dtype).as_datatype_enum)

    def __call__(self, *inputs, **kwargs):
        return _call(self._sig, *[conversion.convert_to_tensor(x) for x in inputs], **kwargs)[0]


_variable_scope = hooks.Hook("variable_scope")


class _FuncGraph(Graph):
    """The body of a function. Tensors of other graphs that it uses become further arguments."""

    _vscope: Any  # the variable scope in which the function was defined

    def __init__(self, name, capture_by_value, whitelisted_stateful_ops, capture_resource_var_by_value):
        super().__init__()
        self.name = name
        self.inputs = []
        self.outputs = []
        self.extra_inputs = []
        self.extra_args = []
        self.extra_vars = []
        self._captured = {}
        self._capture_by_value = capture_by_value
        self._whitelisted_stateful_ops = whitelisted_stateful_ops or set()
        self._capture_resource_var_by_value = capture_resource_var_by_value
        self._building_function = True
        self._outer_graph = defaults.get_default_graph()

    def _new_op(self, op_type, inputs, name, attrs, compute_device=True):
        inputs = [t if t._op._graph is self else self.capture(t) for t in inputs]
        return super()._new_op(op_type, inputs, name, attrs, compute_device)

    def capture(self, tensor, name=None):
        """The tensor inside of the body that stands for one outside."""
        found = self._captured.get(id(tensor))
        if found is not None:
            return found[1]
        if tensor._is_eager and not self._is_argument(tensor):
            inner = self._constant(tensor)
        elif self._capture_by_value:
            return self._by_value(tensor)
        else:
            inner = self._capture_as_input(tensor, name)
        self._captured[id(tensor)] = (tensor, inner)
        return inner

    def _is_argument(self, tensor):
        """Whether an eager value is one that only a caller can hand over: no constant holds a resource."""
        outer = self._outer_graph
        takes_it = outer._eager or hasattr(outer, "external_captures")
        return takes_it and tensor.dtype in (dtypes.resource, dtypes.variant)

    def _constant(self, tensor):
        """A value that is known already, inside of the body."""
        with self.as_default(), self.control_dependencies(None):
            value = _core.eager_to_core(tensor)
            return super()._new_op("Const", (), "Const", {"value": value, "dtype": value.dtype}).outputs[0]

    def _capture_as_input(self, tensor, name):
        if tensor._is_eager:
            outer = tensor if self._outer_graph._eager else self._outer_graph.capture(tensor)
        elif tensor.graph.building_function is False and tensor.graph is not self._outer_graph \
                and not self._outer_graph.building_function:
            raise ValueError(f"{tensor} must be from the same graph as the function's call.")
        else:
            outer = tensor if tensor.graph is self._outer_graph else self._outer_graph.capture(tensor)
        self.extra_inputs.append(outer)
        with self.as_default(), self.control_dependencies(None):
            op = super()._new_op("Placeholder", (), name or "Placeholder",
                                 {"dtype": tensor.dtype._base, "shape": tensor.shape._to_core()})
        inner = op.outputs[0]
        if tensor._is_eager:
            handle = _core.eager_handle_data(tensor)
        else:
            handle = tensor.graph._core.handle_data(*tensor._key)
        if handle:
            self._core.set_handle_data(*inner._key, handle)
        self.inputs.append(inner)
        self.extra_args.append(inner)
        if not tensor._is_eager and _is_guaranteed(tensor.op):  # it is known to be constant inside too
            with self.as_default(), self.control_dependencies(None):
                attrs = {"T": inner.dtype._base}
                return super()._new_op("GuaranteeConst", (inner,), "GuaranteeConst", attrs).outputs[0]
        return inner

    def _by_value(self, tensor):
        if id(tensor) not in self._captured:
            self._copy(tensor.op)
        return self._captured[id(tensor)][1]

    def _copy(self, op):
        """The operation with all that it depends on, inside of the body."""
        if op._is_stateful and op not in self._whitelisted_stateful_ops:
            raise ValueError(f"Cannot capture a stateful node (name:{op.name}, type:{op.type}) by value.")
        if op.type in ("Placeholder", "PlaceholderV2"):
            raise ValueError(f"Cannot capture a placeholder (name:{op.name}, type:{op.type}) by value.")
        inputs = [self._by_value(t) for t in op.inputs]
        made = self.create_op(op.type, inputs, name=op.name, attrs=dict(op.node_def.attr))
        for outer, inner in zip(op.outputs, made.outputs):
            self._captured[id(outer)] = (outer, inner)
        return made

    def getvar(self, getter, name, *args, **kwargs):
        """The custom getter of variables: they are made, and resource variables are read, outside."""
        for key in ("reuse", "partitioner", "caching_device", "validate_shape", "custom_getter", "constraint",
                    "synchronization", "aggregation", "regularizer"):
            if kwargs.get(key) is None:
                kwargs.pop(key, None)
        with self._outer_graph.as_default():
            vs = _variable_scope.get()
            variable = self._vscope.get_variable(vs._get_default_variable_store(), name, *args, **kwargs)
            self.extra_vars.append(variable)
            if self._capture_resource_var_by_value and getattr(variable, "handle", None) is not None:
                return variable.value()
        return variable


def _is_guaranteed(op):
    """Whether all that it is computed from was declared constant, by tf.guarantee_const."""
    known: dict = {}
    stack = [op]
    while stack:
        op = stack[-1]
        inputs = [x.op for x in op.inputs]
        missing = [x for x in inputs if x not in known]
        if op.type == "GuaranteeConst" or not inputs or not missing:
            known[op] = op.type == "GuaranteeConst" or bool(inputs) and not missing and all(known[x] for x in inputs)
            stack.pop()
        else:
            known[op] = False  # of a loop, until its inputs are known
            stack += missing
    return known[op]


def func_graph_from_py_func(func, arg_names, arg_types, name=None, capture_by_value=False, device=None,
                            colocation_stack=None, container=None, collections_ref=None, arg_shapes=None,
                            whitelisted_stateful_ops=None, capture_resource_var_by_value=True):
    """The body of a function as a graph with `inputs`, `outputs` and `extra_inputs`. ValueError if it returns None in a
    list."""
    name = name or function_utils.get_func_name(func)
    graph = _FuncGraph(name, capture_by_value, whitelisted_stateful_ops, capture_resource_var_by_value)
    try:
        vs = _variable_scope.get()
        graph._vscope = vs.get_variable_scope()
        scope = vs.variable_scope("", custom_getter=graph.getvar)
    except ImportError:
        scope = graph.name_scope(None)
    with graph.as_default(), graph.device(device):
        if collections_ref is not None:
            graph._collections = collections_ref
        if container is not None:
            graph._container = container
        if colocation_stack is not None:
            graph._colocation_stack = list(colocation_stack)
        for arg, dtype, shape in zip(arg_names, arg_types, arg_shapes or [None] * len(arg_types)):
            op = Graph._new_op(graph, "Placeholder", (), arg, {
                "dtype": dtypes.as_dtype(dtype)._base, "shape": attr_values.make_shape(shape, "shape")})
            graph.inputs.append(op.outputs[0])
        with scope:
            outputs = func(*graph.inputs)
        if outputs is None:
            outputs = []
        elif not isinstance(outputs, (list, tuple)):
            outputs = [outputs]
        if any(o is None for o in outputs):
            raise ValueError(f"Function {name} can not return None.")
        outputs = [conversion.convert_to_tensor(t) for t in outputs]
        graph.outputs = [graph.capture(t) if t.graph is not graph else t for t in outputs]
    return graph


def _attrs_of(kwargs):
    """AttrValue messages of a function's keywords."""
    from penstock import proto
    cls = proto.message("tensorflow.AttrValue")
    attrs = {}
    noinline = kwargs.pop("noinline", None) if isinstance(kwargs, dict) else None
    if noinline is not None:
        attrs["_noinline"] = cls(b=bool(noinline))
    # TensorFlow looks into a function for shapes without those that it calls.
    attrs["_disable_call_shape_inference"] = cls(b=True)
    for key in ("compiled", "separate_compiled_gradients"):
        value = kwargs.pop(key, None)
        if value is not None:
            attrs["_XlaCompile" if key == "compiled" else "_XlaSeparateCompiledGradients"] = cls(b=bool(value))
    for key, value in kwargs.items():
        if not key.startswith("experimental_") and key not in ("_implements", "_reference"):
            raise ValueError(f"Unknown keyword arguments: {list(kwargs)}")
        field = {bool: "b", int: "i", float: "f", str: "s", bytes: "s"}.get(type(value))
        if field is None:
            raise ValueError(f"Unsupported attribute type for {key} with type {type(value)}")
        attrs[key] = cls(**{field: compat.as_bytes(value) if field == "s" else value})
    return attrs


def _call(sig, *inputs, **kwargs):
    """(what a call returns, its operation). ValueError if the number of arguments is wrong."""
    if len(inputs) != len(sig.input_arg):
        raise ValueError(f"Expected number of arguments: {len(sig.input_arg)}, received: {len(inputs)}")
    name = kwargs.pop("name", None) or sig.name
    attrs = _attrs_of(dict(kwargs))
    graph = conversion.get_graph_from_inputs(inputs)
    op = graph._create_op_internal(sig.name, list(inputs), name=name, attrs=attrs)
    if len(op.outputs) == 1:
        return op.outputs[0], op
    return (tuple(op.outputs) if op.outputs else op), op


def get_extra_vars():
    """The variables outside that the function being built uses."""
    graph = defaults.get_default_graph()
    return graph.extra_vars if isinstance(graph, _FuncGraph) else []


def get_extra_inputs():
    """The tensors outside that the function being built uses."""
    graph = defaults.get_default_graph()
    return graph.extra_inputs if isinstance(graph, _FuncGraph) else []


def get_extra_args():
    """The arguments that stand for them inside."""
    graph = defaults.get_default_graph()
    return graph.extra_args if isinstance(graph, _FuncGraph) else []


def function_def_from_tf_function(c_func):
    """The FunctionDef of a function object."""
    return c_func.definition


def _from_definition(fdef, grad_func=None):
    """The function object of a FunctionDef."""
    signature = fdef.signature
    result = _DefinedFunction(None, [a.name for a in signature.input_arg],
                              [dtypes.as_dtype(a.type) for a in signature.input_arg], signature.name, grad_func, None,
                              [a.name for a in signature.output_arg])
    result._data = fdef.SerializeToString()
    result._extra_inputs, result._sub_functions, result._stateful_ops = [], [], []
    return result


def from_library(lib):
    """The function objects of a FunctionDefLibrary. ValueError if a gradient is missing or gradients go in a circle."""
    definitions = {f.signature.name: f for f in lib.function}
    gradients = {g.function_name: g.gradient_func for g in lib.gradient}
    for name in [*gradients, *gradients.values()]:
        if name not in definitions:
            raise ValueError(f"FunctionDefLibrary missing '{name}' FunctionDef\n{lib}")
    made: dict[str, Any] = {}
    while len(made) < len(definitions):
        ready = [n for n in definitions if n not in made and (n not in gradients or gradients[n] in made)]
        if not ready:
            raise ValueError(f"FunctionDefLibrary contains cyclic gradient functions!\n{lib}")
        for name in ready:
            made[name] = _from_definition(definitions[name], made.get(gradients.get(name, "")))
    return list(made.values())
