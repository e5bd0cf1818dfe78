"""Functions of a SavedModel: its library as callable functions, and what dispatches between the traces of one."""
import collections
import functools
import inspect
import pprint
import re
import weakref

from penstock import _core
from penstock._src.tf_function import def_function
from penstock._src.tf_function import function as function_lib
from penstock._src.graph import conversion
from penstock._src.graph import dtypes
from penstock._src.function import func_graph as func_graph_module
from penstock._src.function import function_definition
from penstock._src.graph import ops
from penstock._src.graph import registry
from penstock._src.graph import type_spec
from penstock._src.graph.tensor import Tensor
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.ops.state import resource_variable_ops
from penstock._src.base import tf_logging as logging
from penstock.proto import function_pb2
from penstock.proto import saved_object_graph_pb2
from penstock._src.data import nested_structure_coder
from penstock._src.base import compat
from penstock._src.base import nest
from penstock._src.base import tf_decorator

_CALLS = ("StatefulPartitionedCall", "PartitionedCall")


class LoadedFunction(function_lib.ConcreteFunction):
    """A function of a library. Its body becomes a graph only when somebody asks for it."""

    _is_loaded = True

    def __init__(self, definition, name, structured_input_signature=None, structured_outputs=None):
        self._take_definition(definition, name)
        self._input_signature = structured_input_signature
        self._outputs = structured_outputs
        self._called = []            # functions that the body calls, whose gradients live as long as they do
        self._own_gradients = False  # whether the body, or one that it calls, has gradients of the program
        self._variables = []
        self._names = [arg.name for arg in definition.definition.signature.input_arg]
        self._build = list if structured_outputs is None else _builder(structured_outputs)

    def bind(self, captured):
        """Takes what the function captures: variables, resources, files, tensors."""
        self._variables = [x for x in captured if resource_variable_ops.is_resource_variable(x)]
        self._captured_inputs = [_captured_tensor(x) for x in captured]
        # As long as the function lives, what it captures does.
        self._bound = captured
        self._names = self._names[:self._num_inputs - len(captured)]
        specs = nest.flatten(self._input_signature, expand_composites=True) if self._input_signature else []
        named = [spec.name for spec in specs if isinstance(spec, TensorSpec)]
        if len(named) == len(self._names) and all(named):
            self._names = named
        if self._arg_keywords is None:
            self._allow_keywords()

    def let_go(self, captured):
        """What is captured is kept alive by whoever has the function."""
        self._bound = [x for x in self._bound if x is not captured]

    @property
    def structured_input_signature(self):
        return self._input_signature

    @property
    def structured_outputs(self):
        """Specs, in the structure that was saved."""
        return self.graph.structured_outputs if self._outputs is None else self._outputs

    @property
    def graph(self):
        if self._func_graph is None:
            self._func_graph = self._make_graph()
        return self._func_graph

    def _make_graph(self):
        graph = function_definition.from_function_def(self._definition.text)
        graph.name = self._name
        graph._loaded_definition = self._definition
        for name, tensor in zip(self._arg_keywords or self._names, graph.inputs):
            tensor.op._user_name = compat.as_str(name)
        first = self._num_inputs - len(self._captured_inputs)
        for outer, inner in zip(self._captured_inputs, graph.inputs[first:]):
            graph._captures[id(outer)] = (outer, inner)
            func_graph_module.copy_handle_data(outer, inner)
        graph.variables = self._variables
        graph.structured_input_signature = self._input_signature
        if self._outputs is not None:
            self._set_shapes(graph.outputs)
            graph.structured_outputs = _builder(self._outputs)(graph.outputs)
        return graph

    def _order_of_arguments(self):
        raise NotImplementedError("a loaded function has the names of its library")

    @property
    def variables(self):
        return self._variables

    @property
    def trainable_variables(self):
        return tuple(v for v in self._variables if v.trainable)

    def _call_flat(self, args, captured_inputs=(), cancellation_manager=None):
        if _core.tape_is_active() or not ops.get_default_graph()._eager:
            graph = ops.get_default_graph()
            for variable in self._variables:
                graph.watch_variable(variable)
            for variable in [*self._variables, *filter(resource_variable_ops.is_resource_variable, args)]:
                variable._watch()
        types = self._definition.input_types
        args = [a.handle if resource_variable_ops.is_resource_variable(a) else
                conversion.convert_to_tensor(a, dtype=dtypes.as_dtype(types[i])) for i, a in enumerate(args)]
        expected = len(types) - len(captured_inputs)
        if len(args) != expected:
            raise TypeError(f"{self._name}: expected {expected} tensor arguments, got {len(args)}.")
        return self._build(self._call_flat_tensors(args + list(captured_inputs)))

    def _call_flat_tensors(self, inputs):
        results = super()._call_flat_tensors(inputs)
        if not ops.get_default_graph()._eager:
            self._set_shapes(results)
        return results

    def _set_shapes(self, tensors):
        """Of what comes from a call the graph alone does not tell the shapes."""
        specs = nest.flatten(self._outputs, expand_composites=True)
        for tensor, spec in zip(tensors, [spec for spec in specs if isinstance(spec, TensorSpec)]):
            tensor.set_shape(spec.shape)


def _captured_tensor(x):
    if resource_variable_ops.is_resource_variable(x):
        return x.handle
    for attribute in ("asset_path", "resource_handle"):
        if hasattr(x, attribute):
            return getattr(x, attribute)
    return x


def _nothing(flat):
    """What a function gives that returns nothing."""


def _builder(signature):
    """From flat results to the structure that a signature describes."""
    if isinstance(signature, TensorSpec):
        return lambda flat: flat[0]

    def build(flat):
        flat = iter(flat)

        def one(spec):
            if isinstance(spec, TensorSpec):
                return next(flat)
            if type_spec.is_composite_spec(spec):
                return spec._from_components(nest.map_structure(one, spec._component_specs))
            return spec  # None, or a value of Python's
        return nest.map_structure(one, signature)

    return build


# The library


def _gradient_type(node):
    """What an operation's gradient is registered as; calls have gradients of their own."""
    if node.op not in _CALLS and "_gradient_op_type" in node.attr:
        return node.attr["_gradient_op_type"].s
    return None


def _dependencies(fdef, known, gradients):
    """The functions that a body names."""
    found = set()
    for node in fdef.node_def:
        gradient = _gradient_type(node)
        if node.op in known:
            found.add(node.op)
        if gradient in gradients:
            found.add(gradients[gradient])
        for value in node.attr.values():
            found.update(f.name for f in [value.func, *value.list.func] if f.name in known)
    return found


def _sorted(library, dependencies):
    """The functions, each behind those that it calls. ValueError if they go in a circle."""
    by_name = {fdef.signature.name: fdef for fdef in library.function}
    waiting = {name: len(dependencies[name]) for name in by_name}
    callers = collections.defaultdict(list)
    for name, called in dependencies.items():
        for other in called:
            callers[other].append(name)
    ready, done = [name for name, count in waiting.items() if not count], []
    while ready:
        name = ready.pop()
        done.append(by_name[name])
        for caller in callers[name]:
            waiting[caller] -= 1
            if not waiting[caller]:
                ready.append(caller)
    if len(done) != len(by_name):
        stuck = sorted(name for name, count in waiting.items() if count)
        raise ValueError(f"There is a cyclic dependency between functions. Could not resolve {stuck}.")
    return done


def fix_node_def(node, functions, shared_name_suffix):
    """Makes a node name the loaded functions, and resources that are not those of another load of the same model."""
    if node.op in functions:
        node.op = functions[node.op]._definition.text
    for key in list(node.attr):
        value = node.attr[key]
        for function in ([value.func] if value.WhichOneof("value") == "func" else value.list.func):
            if function.name in functions:
                function.name = functions[function.name]._definition.text
    if node.op == "HashTableV2":
        if not node.attr["use_node_name_sharing"].b:
            node.attr["use_node_name_sharing"].b = True
            # Else all tables that have no name of their own were one.
            shared_name_suffix += f"_{ops.uid()}"
    definition = _core.op_def(node.op)
    if definition is not None and any(attr.name == "shared_name" for attr in definition.attrs):
        name = node.attr["shared_name"].s or compat.as_bytes(node.name)
        node.attr["shared_name"].s = name + compat.as_bytes(shared_name_suffix)


def _plain_name(name):
    """The Python function's name in that of a FunctionDef."""
    match = re.match(r"^__inference_(.*)_\d+$", name)
    return match.group(1) if match else name


def _fix(fdef, functions, suffix, gradient_types):
    """The FunctionDef as it goes into the library of this process."""
    fixed = function_pb2.FunctionDef()
    fixed.CopyFrom(fdef)
    unsaved = False
    for node in fixed.node_def:
        called = functions.get(node.attr["f"].func.name) if node.op in _CALLS else None
        fix_node_def(node, functions, suffix)
        gradient = _gradient_type(node)
        if gradient in gradient_types:
            node.attr["_gradient_op_type"].s = gradient_types[gradient]
        elif "_gradient_op_type" in node.attr:
            unsaved = unsaved or gradient is not None
            if gradient is None:
                del node.attr["_gradient_op_type"]
        if called is not None and called._own_gradients:
            # The gradients capture tensors of the called body: it is differentiated by itself, not where it is called.
            node.attr["_gradient_op_type"].s = compat.as_bytes(called._gradient_function_name())
    if unsaved:
        logging.warning("Importing a function (%s) with ops with unsaved custom gradients. Will likely fail if a "
                        "gradient is requested.", fdef.signature.name)
    if "_input_shapes" in fixed.attr:
        for i, shape in enumerate(fixed.attr["_input_shapes"].list.shape):
            if i < len(fixed.signature.input_arg) and "_output_shapes" not in fixed.arg_attr[i].attr:
                fixed.arg_attr[i].attr["_output_shapes"].list.shape.add().CopyFrom(shape)
        del fixed.attr["_input_shapes"]
    for key in ("forward_function_name", "backward_function_name"):
        if key in fixed.attr:
            del fixed.attr[key]
    fixed.signature.name = f"__inference_{_plain_name(fdef.signature.name)}_{ops.uid()}"
    return fixed


def load_function_def_library(library, saved_object_graph=None, load_shared_name_suffix=None):
    """{name in the library: LoadedFunction}. The functions get new names, so that a model may be loaded twice."""
    known = {fdef.signature.name for fdef in library.function}
    suffix = f"_load_{ops.uid()}" if load_shared_name_suffix is None else load_shared_name_suffix
    gradients, new_types, to_register = {}, {}, collections.defaultdict(list)
    for gradient in library.registered_gradients:
        if gradient.registered_op_type and gradient.gradient_func in known:
            old, new = compat.as_bytes(gradient.registered_op_type), f"CustomGradient-{ops.uid()}"
            gradients[old], new_types[old] = gradient.gradient_func, new.encode()
            to_register[gradient.gradient_func].append(new)
    dependencies = {fdef.signature.name: _dependencies(fdef, known, gradients) for fdef in library.function}
    functions = {}
    for fdef in _sorted(library, dependencies):
        original = fdef.signature.name
        fixed = _fix(fdef, functions, suffix, new_types)
        called = [functions[name] for name in sorted(dependencies[original])]
        definition = function_definition.ImportedDefinition(
            fixed, [function._definition for function in called])
        inputs = outputs = None
        gives_none = False
        if saved_object_graph is not None and original in saved_object_graph.concrete_functions:
            saved = saved_object_graph.concrete_functions[original]
            inputs = nested_structure_coder.decode_proto(saved.canonicalized_input_signature)
            outputs = nested_structure_coder.decode_proto(saved.output_signature)
            gives_none = outputs is None and saved.HasField("output_signature")
        functions[original] = loaded = LoadedFunction(definition, _plain_name(original), inputs, outputs)
        loaded._called = called
        if gives_none:
            loaded._build = _nothing
        loaded._own_gradients = any(f._own_gradients for f in called) or any(
            _gradient_type(node) in gradients for node in fdef.node_def)
        for name in to_register[original]:
            # The name is in the body of the function that uses it, which lives no longer than the program.
            registry.gradient_registry.register(functools.partial(gradient_of_library, loaded), name)
    return functions


def gradient_of_library(function, op, *dys):
    """The gradient that a model was saved with."""
    from penstock._src.core_ops import array_ops
    dys = [array_ops.zeros_like(t) if dy is None else dy for dy, t in zip(dys, op.outputs)]
    return function._call_flat(dys, function.captured_inputs)


# Functions of the program


def named(functions, name):
    """The function of that name. ValueError: the model has none."""
    if name not in functions:
        raise ValueError(f"The SavedModel's library has no function named {name!r}.")
    return functions[name]


def _function_spec(message):
    """The FunctionSpec of a function whose `self`, if it was a method, is bound."""
    full = nested_structure_coder.decode_proto(message.fullargspec)
    if not {*inspect.FullArgSpec._fields} - {"annotations"} <= {*getattr(full, "_fields", ())}:
        raise ValueError(f"The SavedModel has {full!r} where the arguments of a function should stand.")
    args = list(full.args)
    if message.is_method or args[:1] == ["self"]:
        args = args[1:]
    argspec = inspect.FullArgSpec(args, full.varargs, full.varkw, None if full.defaults is None else
                                  tuple(full.defaults), list(full.kwonlyargs or ()), full.kwonlydefaults, {})
    signature = None
    if message.HasField("input_signature"):
        signature = nested_structure_coder.decode_proto(message.input_signature)
    return function_lib.FunctionSpec(argspec, False, signature)


def setup_bare_concrete_function(saved, concrete_functions):
    """A function that was saved as one trace."""
    function = named(concrete_functions, saved.concrete_function_name)
    function._arg_keywords = list(saved.argument_keywords)
    function._num_positional_args = saved.allowed_positional_arguments
    if saved.HasField("function_spec"):
        function._function_spec = _function_spec(saved.function_spec)
    return function


def _is_value(x):
    return isinstance(x, Tensor) or resource_variable_ops.is_resource_variable(x)


def _converted(value, dtype):
    """A Python value as a tensor, or None if it cannot be one."""
    if _is_value(value) or isinstance(value, type_spec.TypeSpec):
        return value
    try:
        return conversion.convert_to_tensor(value, dtype_hint=dtype)
    except (TypeError, ValueError):
        return None


def _matches(function, inputs, allow_conversion):
    """The flat tensors of a call if it fits a trace, else None."""
    expected = function.structured_input_signature
    try:
        given = nest.flatten_up_to(expected, inputs)
    except (TypeError, ValueError):
        return None
    tensors = []
    for value, spec in zip(given, nest.flatten(expected)):
        if isinstance(spec, TensorSpec):
            if allow_conversion:
                value = _converted(value, spec.dtype)
            if not (_is_value(value) or isinstance(value, TensorSpec)) or value.dtype != spec.dtype or \
                    not spec.shape.is_compatible_with(value.shape):
                return None
            tensors.append(value)
        elif isinstance(spec, type_spec.TypeSpec):
            try:
                if not spec.is_compatible_with(value):
                    return None
            except TypeError:
                return None
            tensors.extend([value] if resource_variable_ops.is_resource_variable(value) else
                           nest.flatten(spec._to_components(value), expand_composites=True))
        elif _is_value(value):
            return None
        elif value != spec:
            return None
    return tensors


_JIT_COMPILE = {saved_object_graph_pb2.FunctionSpec.ON: True, saved_object_graph_pb2.FunctionSpec.OFF: False,
                saved_object_graph_pb2.FunctionSpec.DEFAULT: None}


class RestoredFunction(def_function.Function):
    """A tf.function whose traces were saved: a call goes to the first of them that it fits."""

    def __init__(self, function_spec, concrete_functions, jit_compile=None):
        me = weakref.ref(self)  # so that a model ends with its last reference

        def restored_function_body(*args, **kwargs):
            return me()._dispatch(args, kwargs)

        super().__init__(restored_function_body, "restored_function_body", autograph=False)
        self._function_spec = function_spec
        self._jit_compile = jit_compile
        self.concrete_functions = concrete_functions
        self._tf_decorator = tf_decorator.TFDecorator(  # so that its arguments are known
            "restored_function", restored_function_body, decorator_argspec=function_spec.fullargspec)

    def __call__(self, *args, **kwargs):
        args, kwargs = self._function_spec.canonicalize_function_inputs(*args, **kwargs)
        return self._dispatch(args, kwargs)

    def _dispatch(self, args, kwargs):
        if not self.concrete_functions:
            raise ValueError("Found zero restored functions for caller function.")
        for allow_conversion in (False, True):
            for function in self.concrete_functions:
                tensors = _matches(function, (args, kwargs), allow_conversion)
                if tensors is not None:
                    return function._call_flat(tensors, function.captured_inputs)

        def positional(values):
            return "Positional arguments ({} total):\n    * {}".format(
                len(values), "\n    * ".join(pprint.pformat(v) for v in values))

        options = ["Option {}:\n  {}\n  Keyword arguments: {}".format(
            i + 1, positional(f.structured_input_signature[0]), f.structured_input_signature[1])
            for i, f in enumerate(self.concrete_functions)]
        raise ValueError(
            "Could not find matching concrete function to call loaded from the SavedModel. Got:\n  {}\n  Keyword "
            "arguments: {}\n\n Expected these arguments to match one of the following {} option(s):\n\n{}".format(
                positional(args), kwargs, len(self.concrete_functions), "\n\n".join(options)))

    def get_concrete_function(self, *args, **kwargs):
        if not args and not kwargs and self._function_spec.input_signature is not None and \
                len(self.concrete_functions) == 1:
            return self.concrete_functions[0]
        return super().get_concrete_function(*args, **kwargs)

    def _list_all_concrete_functions_for_serialization(self):
        return self.concrete_functions

    _list_all_concrete_functions = _list_all_concrete_functions_for_serialization


def recreate_function(saved_function, concrete_functions):
    """The RestoredFunction of a SavedFunction."""
    spec = _function_spec(saved_function.function_spec)
    traces = [named(concrete_functions, name) for name in saved_function.concrete_functions]
    for trace in traces:
        trace._function_spec = spec
        if trace._input_signature is not None:
            trace._input_signature = spec.with_defaults(*trace._input_signature)
    return RestoredFunction(spec, traces, _JIT_COMPILE[saved_function.function_spec.jit_compile])
