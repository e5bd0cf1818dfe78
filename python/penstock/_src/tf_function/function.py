"""Functions traced from Python: ConcreteFunction, one trace; TracingCompiler, which traces as calls need it; defun."""
import functools
import inspect
import itertools
import threading
import types
import weakref

from penstock import _core
from penstock._src.function import atomic_function
from penstock._src.function import attributes as attributes_lib
from penstock._src.function import function_binding
from penstock._src.function import function_cache
from penstock._src.tf_function import function_gradient
from penstock._src.function import function_spec
from penstock._src.function import graph as eager_graph
from penstock._src.function import function_text
from penstock._src.function import function_type
from penstock._src.function import graph_collection
from penstock._src.function import trace_type
from penstock._src.function.function_spec import NOTHING, RANKS, SHAPES
from penstock._src.graph import conversion
from penstock._src.graph import defaults
from penstock._src.graph import dtypes
from penstock._src.function import func_graph as func_graph_module
from penstock._src.function import function_definition
from penstock._src.graph import ops
from penstock._src.base import tf2
from penstock._src.graph import type_spec
from penstock._src.graph.indexed_slices import IndexedSlices
from penstock._src.graph.tensor import Tensor
from penstock._src.graph.tensor_shape import TensorShape
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.graph.variable_spec import VariableSpec
from penstock._src.base import compat
from penstock._src.base import nest

FORWARD_FUNCTION_ATTRIBUTE_NAME = "forward_function_name"
BACKWARD_FUNCTION_ATTRIBUTE_NAME = "backward_function_name"
FunctionSpec = function_spec.FunctionSpec
FunctionCache = function_cache.FunctionCache


class ConcreteFunction:
    """One trace: callable with tensors of its types. `graph` is its FuncGraph."""

    _is_part_of_saved_models = True

    _is_traceable_function = True  # a part of tf.train.Checkpoint without values
    _is_loaded = False   # from a SavedModel
    _takes_numbers = False  # whether a flat call may have numbers where the Python function had something else
    _gives_none = False  # whether the Python function returned None
    _forget_captures = staticmethod(lambda: None)  # said to whoever calls the definition with the captures it has seen

    def __init__(self, func_graph, attrs=None, signature=None, function_spec=None, body=None):
        self._func_graph = func_graph
        self._attrs = attributes_lib.messages(attrs)
        self._captured_inputs = func_graph.external_captures
        self._num_inputs = len(func_graph.inputs)
        self._num_outputs = len(func_graph.outputs)
        self._num_positional_args = self._arg_keywords = None
        self._signature = signature
        self._function_spec = function_spec
        self._name = func_graph.name
        self._definition = function_definition.Definition(
            f"__inference_{_plain_name(func_graph.name)}_{ops.uid()}", func_graph, func_graph.inputs,
            func_graph.outputs, function_definition.body_nodes(func_graph) if body is None else body,
            func_graph.control_outputs, self._attrs)
        self._differentiable = self._gradient_name = None
        self._garbage_collector = None
        self._build = _builder(func_graph.structured_outputs)
        self._gives_none = func_graph.structured_outputs is None
        self._order_of_arguments()

    @classmethod
    def from_definition(cls, definition):
        """Of a definition whose body becomes a graph only if it is differentiated."""
        self = cls.__new__(cls)
        self._take_definition(definition, definition.text.lstrip("_"))
        self._build = list
        return self

    def _take_definition(self, definition, name):
        self._func_graph = None
        self._attrs = {}
        self._captured_inputs = []
        self._num_inputs = len(definition.input_types)
        self._num_outputs = len(definition.output_types)
        self._num_positional_args = self._arg_keywords = self._signature = self._function_spec = None
        self._name = name
        self._definition = definition
        self._differentiable = self._gradient_name = self._garbage_collector = None

    # What it is

    @property
    def name(self):
        """The name in the library, as bytes."""
        return self._definition.name

    @property
    def graph(self):
        """The body."""
        if self._func_graph is None:
            self._func_graph = self._definition.instantiated()
        return self._func_graph

    @property
    def inputs(self):
        """The body's inputs, captured ones last."""
        return self.graph.inputs

    @property
    def outputs(self):
        """The body's outputs, flat."""
        return self.graph.outputs

    @property
    def structured_outputs(self):
        """What the Python function returned."""
        return self.graph.structured_outputs

    @property
    def structured_input_signature(self):
        """(positional, keyword) specs of the arguments."""
        return self.graph.structured_input_signature

    @property
    def captured_inputs(self):
        """The tensors outside that the body uses. Those of each call are, while a function is traced, its own."""
        graph = defaults.get_default_graph()
        inside = graph.building_function and hasattr(graph, "capture_call_time_value")
        return nest.flatten([
            x if not callable(x) else graph.capture_call_time_value(x, x.spec, key=x) if inside else x()
            for x in self._captured_inputs], expand_composites=True)

    def set_external_captures(self, captures):
        """Replaces what the body uses of the world outside: tensors, or functions that give those of each call, in the
        order of `captured_inputs` and of the same types and shapes."""
        inputs = self.inputs[len(self.inputs) - len(self.captured_inputs):]
        self._captured_inputs = [
            _Deferred(x, TensorSpec(t.shape, t.dtype)) if callable(x) and not hasattr(x, "spec") else x
            for x, t in itertools.zip_longest(captures, inputs[:len(captures)])]
        self._forget_captures()

    def replace_capture_with_deferred_capture(self, tensor, closure, spec, placeholder=None):
        """Lets `closure()` give what the body takes from a captured tensor, anew in each call.

        spec: describes the value. placeholder: the body's input that stands for the tensor; found if None.
        ValueError: nothing stands for the tensor, or the spec does not describe it.
        """
        at = next((i for i, x in enumerate(self._captured_inputs) if x is tensor), None)
        if placeholder is None:
            if at is None:
                raise ValueError(f"Did not find `tensor` argument {tensor} in the ConcreteFunction's captured inputs "
                                 "list, and did not receive a placeholder argument. Thus we're unable to infer the "
                                 "internal placeholder.")
            placeholder = self.inputs[at - len(self._captured_inputs)]
        if not (spec.is_compatible_with(tensor) or spec.is_compatible_with(placeholder)):
            raise ValueError(f"Attempting to substitute closure with spec {spec} that's incompatible with the original "
                             f"capture {tensor} or the internal placeholder {placeholder}.")
        self.graph.replace_capture_with_deferred_capture(tensor, closure, spec, placeholder)
        if at is not None:
            self._captured_inputs[at] = _Deferred(closure, spec)
        self._forget_captures()

    @property
    def variables(self):
        """The variables that the body reads."""
        return tuple(self.graph.variables)

    @property
    def trainable_variables(self):
        """Those of them that are trained."""
        return tuple(self.graph.trainable_variables)

    @property
    def function_def(self):
        """The FunctionDef."""
        return self._definition.definition

    @property
    def inference_fn(self):
        """The AtomicFunction of what it computes when nothing is differentiated."""
        return atomic_function.AtomicFunction(self)

    @property
    def _inference_function(self):
        return self._definition

    @property
    def output_dtypes(self):
        """The types of what it returns, in its structure."""
        return nest.map_structure(lambda x: x.dtype if x is not None else None,
                                  _expanded(self.structured_outputs), expand_composites=False)

    @property
    def output_shapes(self):
        """The shapes of what it returns, in its structure."""
        return nest.map_structure(lambda x: getattr(x, "shape", TensorShape(None)),
                                  _expanded(self.structured_outputs), expand_composites=False)

    def add_to_graph(self, g=None, register_gradient_functions=False):
        """Adds it to a graph's library, by default the default graph's."""
        graph = defaults.get_default_graph() if g is None else g
        self._definition.add_to_graph(graph)
        if register_gradient_functions and not graph._eager:
            differentiable = self._make_differentiable()
            try:
                backward = differentiable.backward(0)
            except LookupError:  # an operation has no gradient, as those of cuDNN: who needs it will be told
                return
            if backward is not None:
                differentiable.forward(1, own=True).add_to_graph(graph)
                backward.function.add_to_graph(graph)

    add_gradient_functions_to_graph = functools.partialmethod(add_to_graph, register_gradient_functions=True)

    # Calling

    def _order_of_arguments(self):
        """Names for the arguments, made of what the program calls them."""
        graph = self._func_graph
        captured = {id(t) for t in graph.internal_captures}
        names, counts = [], {}
        for tensor in graph.inputs:
            if id(tensor) in captured:
                break
            wanted = name = getattr(tensor.op, "_user_name", tensor.op.name)
            while name in names:
                number = counts.get(wanted, 1)
                name = f"{wanted}_{number}"
                counts[wanted] = number + 1
            names.append(name)
        self._names = names

    def _allow_keywords(self):
        self._arg_keywords = self._names
        self._num_positional_args = len(self._names)

    def __call__(self, *args, **kwargs):
        """Calls it with tensors: in the order of its arguments, or by their names."""
        if self._arg_keywords is None:
            if self._signature is not None:
                args = list(args)
                for spec in self._signature[len(args):]:
                    if spec.name and spec.name in kwargs:
                        args.append(kwargs.pop(spec.name))
                if not kwargs:
                    return self._call_flat(args, self.captured_inputs)
            raise AssertionError("Tried to call a concrete function obtained from an internal API through the public "
                                 "interface. Use get_concrete_function instead.")
        return self._run(self._flat_inputs(args, kwargs), self.captured_inputs)

    def _flat_inputs(self, args, kwargs):
        """The tensors of arguments as the Python function takes them, or given flat."""
        try:
            structured = self._structured(args, kwargs)
            if structured is not None:
                return self._tensors(structured, self._num_inputs_without_captures())
            flat = self._in_order(args, kwargs)
            if tf2.enabled() and not self._takes_numbers:
                function_binding.check_flat(self, flat, args, kwargs)
            return self._tensors(flat, self._num_inputs_without_captures())
        except function_binding.FlatMismatch as e:
            raise function_binding.error_of_trace(self, args, kwargs, e) from None

    def _in_order(self, args, kwargs):
        """Arguments given flat, by place and by name, in order. FlatMismatch: they are not the trace's."""
        wanted, mismatch = list(self._arg_keywords), function_binding.FlatMismatch
        if len(args) > self._num_positional_args:
            raise mismatch(
                f"takes {self._num_positional_args} positional arguments, got {len(args)}.",
                f"Expected at most {self._num_positional_args} positional arguments (and the rest keywords, of "
                f"{wanted}), got {args}. When calling a concrete function, positional arguments may not be bound to "
                "Tensors within nested structures.")
        missing = [name for name in wanted[len(args):] if name not in kwargs]
        if missing:
            raise mismatch(f"missing required arguments: {', '.join(missing)}.",
                           f"Expected argument names {wanted} but got values for {wanted[:len(args)] + list(kwargs)}. "
                           f"Missing: {missing}.")
        unknown = [name for name in kwargs if name not in wanted[len(args):]]
        if unknown and unknown[0] in wanted:
            raise mismatch(f"got two values for '{unknown[0]}'.", f"Got two values for keyword '{unknown[0]}'.")
        if unknown:
            raise mismatch(f"got unexpected keyword arguments: {', '.join(unknown)}.",
                           f"Keyword arguments {unknown} unknown. Expected {wanted}.")
        return list(args) + [kwargs[name] for name in wanted[len(args):]]

    def _structured(self, args, kwargs):
        """The tensors of arguments given as the Python function takes them, or None if they are not so given."""
        spec = self._function_spec
        if spec is None or not kwargs and not any(map(nest.is_sequence_or_composite, args)) and \
                len(args) == self._num_positional_args:
            return None
        try:
            full, more = spec.canonicalize_function_inputs(*args, **kwargs)
            wanted, wanted_more = self.structured_input_signature
            flat = nest.flatten((full, more), expand_composites=True)
        except (TypeError, ValueError):
            return None
        specs, again, aliases = [], [], set()
        for s in nest.flatten((wanted, wanted_more)):
            specs += nest.flatten(s, expand_composites=True)
            again += [isinstance(s, VariableSpec) and s.alias_id in aliases] * (len(specs) - len(again))
            aliases.add(getattr(s, "alias_id", None))
        if len(flat) != len(specs):
            return None
        if not all(map(_fits, [*full, *(more[k] for k in sorted(more))],
                       [*wanted, *(wanted_more[k] for k in sorted(wanted_more))])):
            return None
        if any(isinstance(s, TensorSpec) and isinstance(v, Tensor) and not s.is_compatible_with(v)
               for v, s in zip(flat, specs)):
            return None
        kept = [v for v, s, known in zip(flat, specs, again)  # a variable that is several arguments is one input
                if not known and (isinstance(s, TensorSpec) or function_spec.is_variable(s))]
        return kept if len(kept) == self._num_positional_args else None

    def _filtered_call(self, args, kwargs):
        """Calls it with the tensors and variables among the arguments."""
        return self._call_flat([t for t in nest.flatten((args, kwargs), expand_composites=True)
                                if function_spec.is_input(t)], self.captured_inputs)

    def _call_flat(self, args, captured_inputs=(), cancellation_manager=None):
        return self._run(self._tensors(args, len(self._definition.input_types) - len(captured_inputs)), captured_inputs)

    def _num_inputs_without_captures(self):
        return len(self._definition.input_types) - len(self.captured_inputs)

    def _tensors(self, args, expected):
        """The tensors of flat arguments, of which there should be so many."""
        inputs, seen = [], set()
        types = self._definition.input_types
        graph = defaults.get_default_graph()
        if _core.tape_is_active() or not graph._eager:
            for variable in self.graph.variables:
                graph.watch_variable(variable)
        for i, arg in enumerate(args):
            dtype = types[len(inputs)] if len(inputs) < len(types) else None
            if id(arg) in seen and len(args) > expected:  # a variable that is several arguments is one input
                continue
            if function_spec.is_variable(arg) and dtype in (None, dtypes.resource._base):
                seen.add(id(arg))
                arg._watch()
                inputs.append(arg.handle)
            elif isinstance(arg, Tensor):
                if graph._eager and not arg._is_eager:
                    raise TypeError(eager_graph.outside_of_scope(arg))
                inputs.append(arg if arg._is_eager is graph._eager else conversion.convert_to_tensor(arg))
            else:
                try:
                    inputs.append(conversion.convert_to_tensor(arg, dtype=dtype))
                except (TypeError, ValueError):
                    raise function_binding.no_tensor(self, i, arg) from None
        if len(inputs) != expected:
            raise TypeError(f"{self._name}: expected {expected} tensor arguments, got {len(inputs)}.")
        return inputs

    def _run(self, inputs, captured_inputs):
        inputs = [*inputs, *captured_inputs]
        if self._gives_none and not tf2.enabled():
            graph = defaults.get_default_graph()
            if not (graph._eager or graph.building_function):
                return self._call_in_graph(graph, inputs)  # version 1's programs run the operation
        return self._build(self._call_flat_tensors(inputs))

    def _call_flat_tensors(self, inputs):
        """The flat results for all inputs, captured ones included."""
        graph = defaults.get_default_graph()
        if not graph._eager:
            return list(self._call_in_graph(graph, inputs).outputs)
        if graph_collection.active():
            graph_collection.note(self)
        if _core.tape_is_active() and _core.tape_wants(inputs):
            from penstock._src.gradient import backprop
            return function_gradient.run_recorded(self._make_differentiable(), self._num_outputs, inputs,
                                                  backprop.may_differentiate_twice())
        return self._definition.run(inputs)

    def _call_in_graph(self, graph, inputs):
        outer = getattr(self._func_graph, "outer_control_inputs", ())
        attrs = {"_gradient_op_type": compat.as_bytes(self._gradient_function_name())}
        with graph.control_dependencies([op for op in outer if op.graph is graph]):
            if graph.building_function and getattr(self._func_graph, "saving_errors", None):
                graph.mark_as_unsaveable(self._func_graph.saving_errors)
            inputs = [graph.capture(t) if graph.building_function else t for t in inputs]
            op = self._definition.call_in(graph, inputs, attrs, getattr(self, "_names", ()))
        op.__dict__["_function"] = self  # its gradient lives as long as the call
        return op

    def _make_differentiable(self):
        if self._differentiable is None:
            self._differentiable = function_gradient.Differentiable(
                _plain_name(self._name), self.graph, self._num_inputs, self._attrs, self._definition)
        return self._differentiable

    def _gradient_function_name(self):
        if self._gradient_name is None:
            self._gradient_name = function_gradient.register(self)
        return self._gradient_name

    def _build_call_outputs(self, flat):
        return self._build(flat)

    @property
    def function_type(self):
        """What it takes, gives and captures: an inspect.Signature with `parameters`, `output` and `captures`."""
        return function_text.type_of(self)

    def pretty_printed_signature(self, verbose=True):
        """What it takes and gives as text: in several lines, or as a Python signature."""
        return function_text.several_lines(self) if verbose else function_text.one_line(self)

    def __repr__(self):
        text = function_text.one_line(self) if self._is_told() else self._name
        return f"<ConcreteFunction {text} at 0x{id(self):X}>"

    def __str__(self):
        return f"ConcreteFunction {self.pretty_printed_signature()}" if self._is_told() else repr(self)

    def _is_told(self):
        return self._func_graph is not None or self._is_loaded and self.structured_input_signature is not None


class _Deferred:
    """A captured value that each call asks for: a function and what describes its result."""

    def __init__(self, closure, spec):
        self.closure = closure
        self.spec = spec

    def __call__(self):
        return nest.flatten(self.closure(), expand_composites=True)


def _fits(value, kind):
    """Whether an argument that is not passed to the graph is the one that was traced."""
    if nest.is_sequence(kind):
        try:
            return all(map(_fits, nest.flatten_up_to(kind, value), nest.flatten(kind)))
        except (TypeError, ValueError):
            return False
    if isinstance(kind, TensorSpec) and nest.is_sequence(value):
        return False
    if type_spec.is_composite_spec(kind) and (isinstance(value, (list, dict)) or type(value) is tuple):
        return False
    if isinstance(kind, type_spec.TypeSpec) or function_spec.is_input(kind) or value is kind:
        return True
    plain = (bool, int, float, complex, str, bytes)
    if isinstance(kind, (*plain, type(None))):
        return (isinstance(value, plain) or isinstance(value, Tensor) and value._is_eager) and bool(value == kind)
    return True


def _plain_name(name):
    return "".join(c if c.isascii() and (c.isalnum() or c in "_.") else "_" for c in name).strip("_") or "f"


def _expanded(structure):
    """Results with IndexedSlices and the like as they are."""
    return structure


def _builder(structure):
    """A function from flat results to the structure that the Python function returned."""
    if structure is None:
        return lambda flat: None
    if isinstance(structure, Tensor):
        return lambda flat: flat[0]
    flat_structure = nest.flatten(structure, expand_composites=True)
    if type(structure) in (list, tuple) and all(isinstance(x, Tensor) for x in structure):
        return type(structure)

    def build(flat):
        results, at = [], 0
        for x in flat_structure:
            if x is None:
                results.append(None)
                continue
            value = flat[at]
            at += 1
            if func_graph_module._is_tensor_array(x):
                from penstock._src.control_flow import tensor_array_ops
                value = tensor_array_ops.build_ta_with_new_flow(x, value)
            results.append(value)
        return nest.pack_sequence_as(structure, results, expand_composites=True)

    return build


class TracingCompiler:
    """A Python function that is traced anew for each kind of arguments, and then runs as a graph."""

    _bound_method = None  # the method that a copy with `self` bound calls

    def __init__(self, python_function, name, input_signature=None, attributes=None, autograph=True,
                 autograph_options=None, experimental_relax_shapes=False, capture_by_value=None,
                 experimental_compile=None):
        self._python_function = python_function
        self._function_spec = FunctionSpec.from_function_and_signature(python_function, input_signature)
        self._name = name
        self._autograph = autograph
        self._autograph_options = autograph_options
        self._experimental_relax_shapes = experimental_relax_shapes
        self._generalize_at_once = False  # or only when a second trace does not serve a third call
        self._capture_by_value = capture_by_value
        self._function_cache = FunctionCache()
        self._function_attributes = dict(attributes or {})
        self._lock = threading.RLock()
        self._descriptor_cache = weakref.WeakKeyDictionary()
        self._trace_count = 0

    python_function = property(lambda self: self._python_function, doc="The Python function.")
    function_spec = property(lambda self: self._function_spec)
    __signature__ = property(lambda self: inspect.signature(self._python_function))
    input_signature = property(lambda self: self._function_spec.input_signature)
    flat_input_signature = property(lambda self: self._function_spec.flat_input_signature)

    def __call__(self, *args, **kwargs):
        concrete, args, kwargs = self._maybe_define_function(args, kwargs)
        return concrete._filtered_call(args, kwargs)

    def get_concrete_function(self, *args, **kwargs):
        """The trace for arguments, or for specs of them. TypeError: it has a signature, and they are not of it."""
        concrete = self._get_concrete_function_internal(*args, **kwargs)
        concrete._allow_keywords()
        return concrete

    def _get_concrete_function_internal_garbage_collected(self, args, kwargs):
        return self._maybe_define_function(args, kwargs)[0]

    def _get_concrete_function_internal(self, *args, **kwargs):
        if self.input_signature is not None and not args and not kwargs:
            args = None
        return self._get_concrete_function_internal_garbage_collected(args, kwargs)

    def __get__(self, instance, owner):
        if instance is None:
            return self
        try:
            bound = self._descriptor_cache.get(instance)
        except TypeError:  # it cannot be referred to weakly, or has no hash
            return class_method_to_instance_method(self, instance, strong=True)
        if bound is None:
            bound = self._descriptor_cache[instance] = class_method_to_instance_method(self, instance)
        return bound

    def _key(self, args, kwargs, known=SHAPES):
        aliases = {}
        if self.input_signature is None:
            arguments = function_spec.encode((args, kwargs), known, aliases)
        else:
            arguments = ()
        return function_spec.CacheKey(arguments, function_spec.place_of_call())

    def _maybe_define_function(self, args, kwargs):
        """(the trace for the arguments, they in one form)."""
        if args is None:  # the signature alone
            args, kwargs = self.input_signature, {}
        else:
            args, kwargs = self._function_spec.canonicalize_function_inputs(*args, **kwargs)
        key = self._key(args, kwargs)
        cache = self._function_cache
        with self._lock:
            found = cache.primary.get(key)
            if found is not None:
                return found, args, kwargs
            if self.input_signature is None and tf2.enabled():
                found = cache.primary[key] = self._of_kind(args, kwargs)
                return found, args, kwargs
            if self.input_signature is not None or not self._experimental_relax_shapes:
                found = cache.primary[key] = self._create_graph_function(args, kwargs)
                return found, args, kwargs
            place = function_spec.place_of_call()
            if place not in cache.missed:
                cache.missed.add(place)
                found = cache.primary[key] = self._create_graph_function(args, kwargs)
                if self._generalize_at_once:
                    cache.arg_relaxed_shapes[self._key(args, kwargs, RANKS)] = _shapes(args, kwargs)
                return found, args, kwargs
            return self._relaxed(args, kwargs), args, kwargs

    def _of_kind(self, args, kwargs):
        """Version 2's trace for arguments that no call was made with yet: one that serves them, or a new one."""
        specs = function_cache.specs_of((args, kwargs))
        traces = self._function_cache.of_kind.setdefault(self._key(args, kwargs, NOTHING), [])
        found = function_cache.most_specific(traces, specs)
        if found is None:
            if self._experimental_relax_shapes:
                wanted = function_cache.generalized(traces, specs)
                args, kwargs = function_cache.with_specs((args, kwargs), specs, wanted)
                specs = wanted
            found = self._create_graph_function(args, kwargs)
            traces.append((specs, found))
        return found

    def _relaxed(self, args, kwargs):
        """A trace with unknown sizes where calls differ."""
        cache, key = self._function_cache, self._key(args, kwargs, RANKS)
        shapes = _shapes(args, kwargs)
        known = cache.arg_relaxed_shapes.get(key)
        if known is None:  # the next call that differs shows what may be unknown
            merged = shapes
        else:
            found = cache.arg_relaxed.get(key)
            if found is not None and all(a is None or _covers(a, b) for a, b in zip(known, shapes)):
                return found
            merged = [a if a is None or _covers(a, b) else a.most_specific_compatible_shape(b)
                      for a, b in zip(known, shapes)]
        cache.arg_relaxed_shapes[key] = merged
        found = cache.arg_relaxed[key] = self._create_graph_function(args, kwargs, merged)
        return found

    def _create_graph_function(self, args, kwargs, override_flat_arg_shapes=None):
        names = list(self._function_spec.arg_names[:len(args)])
        base = self._function_spec.vararg_name
        names += [f"{base}_{i}" if base else f"arg{i}" for i in range(len(args) - len(names))]
        if tf2.enabled():
            function_spec.check_names([*names, *kwargs])
        self._trace_count += 1
        signature, given = self.input_signature, (args, kwargs)
        if any(trace_type.of(x) is not None for x in nest.flatten(given)):
            args, kwargs = nest.map_structure(trace_type.placeholder, given)
        graph = func_graph_module.func_graph_from_py_func(
            self._name, self._python_function, args, kwargs, signature,
            add_control_dependencies=not self._function_attributes.get("_disable_acd"), autograph=self._autograph,
            autograph_options=self._autograph_options, arg_names=names, capture_by_value=self._capture_by_value,
            override_flat_arg_shapes=override_flat_arg_shapes)
        function_type.tell(graph.structured_input_signature, given)
        if tf2.enabled():
            graph.structured_input_signature = self._function_spec.with_defaults(*graph.structured_input_signature)
        if attributes_lib.IMPLEMENTS in self._function_attributes and (
                graph.external_captures or any(t.dtype.name == "resource" for t in graph.inputs)):
            raise AssertionError(
                f"Function {self._name} is traced with experimental_implements, so whoever runs something else in its "
                "place knows its arguments only: it may use no tensors from outside of it, nor change variables. "
                "Note: variables are always captured; pass `variable.read_value()` instead.\n"
                f"  inputs: {graph.inputs}\n  captures: {graph.external_captures}")
        return ConcreteFunction(graph, self._function_attributes, self.flat_input_signature, self._function_spec)


def _shapes(args, kwargs):
    """The shapes of the tensors among arguments, None for others."""
    return [x.shape if isinstance(x, (Tensor, TensorSpec)) else None
            for x in nest.flatten((args, kwargs), expand_composites=True)]


def _covers(known, shape):
    """Whether a trace for a shape serves another."""
    if known._values is None:
        return True
    if shape is None or shape._values is None or len(known._values) != len(shape._values):
        return False
    return all(a is None or a == b for a, b in zip(known._values, shape._values))


class _Weak:
    """A bound object that a method's function holds without keeping it alive."""

    def __init__(self, target, function):
        self.weakrefself_target__ = target
        self.weakrefself_func__ = function


def class_method_to_instance_method(original, instance, strong=False):
    """A function traced for itself, with `self` bound."""
    held = (lambda: instance) if strong else weakref.ref(instance)
    python_function = original._python_function
    if isinstance(python_function, functools.partial):
        python_function = python_function.func

    def call(*args, **kwargs):
        from penstock._src.autograph.impl import api
        return api.call_as_asked(python_function, (held(), *args), kwargs)  # None if the object is gone

    functools.update_wrapper(call, python_function)
    call.__signature__ = function_spec.signature_without_first(python_function)
    call._binds_first_parameter = True
    bound = types.MethodType(call, _Weak(held, python_function))
    copy = original._bound_copy(call) if hasattr(original, "_bound_copy") else _bound_function(original, call)
    copy._bound_method = bound
    return copy


def _bound_function(original, call):
    copy = type(original)(call, original._name, None, original._function_attributes, original._autograph,
                          original._autograph_options, original._experimental_relax_shapes,
                          original._capture_by_value)
    copy._function_spec = FunctionSpec.from_function_and_signature(call, original.input_signature, is_method=True)
    return copy


def defun(func=None, input_signature=None, autograph=True, experimental_autograph_options=None,
          experimental_relax_shapes=False):
    """A function that runs as a graph, traced for each kind of arguments. As tf.function, without its care for
    variables: each trace may make some."""
    return defun_with_attributes(func, input_signature, autograph=autograph,
                                 experimental_autograph_options=experimental_autograph_options,
                                 experimental_relax_shapes=experimental_relax_shapes)


def defun_with_attributes(func=None, input_signature=None, attributes=None, autograph=True,
                          experimental_autograph_options=None, experimental_compile=None,
                          experimental_relax_shapes=False):
    """defun with attributes of the function; "func_name" names it."""
    if input_signature is not None:
        function_spec.validate_signature(input_signature)

    def decorated(function):
        name = (attributes or {}).pop("func_name", None) if attributes else None
        if name is None:
            name = getattr(function, "__name__", "function")
        made = TracingCompiler(function, name, input_signature, attributes, autograph, experimental_autograph_options,
                               experimental_relax_shapes)
        made.__name__ = getattr(function, "__name__", name)
        made.__doc__ = getattr(function, "__doc__", None)
        made.__wrapped__ = function
        return made

    return decorated if func is None else decorated(func)


def register(func, *args, **kwargs):
    """Adds a function's trace for arguments, and its gradient, to the default graph's library."""
    if not hasattr(func, "get_concrete_function"):
        raise ValueError(f"Only defun function is allowed to be registered. Got type: {type(func)}")
    concrete = func.get_concrete_function(*args, **kwargs)
    concrete.add_to_graph(register_gradient_functions=True)
    return concrete


def convert_structure_to_signature(structure, arg_names=None):
    """A structure of values with specs for its tensors."""
    def one(x):
        if isinstance(x, (Tensor, IndexedSlices)):
            return type_spec.type_spec_from_value(x)
        return x
    return nest.map_structure(one, structure)
