"""tf.function: a Python function as a graph, with variables that its first call makes."""
import functools
import inspect
import threading
import weakref

from penstock import _core
from penstock._src.function import attributes as attributes_lib
from penstock._src.graph import context
from penstock._src.tf_function import function as function_lib
from penstock._src.function import function_type as function_type_lib
from penstock._src.function import lift_to_graph
from penstock._src.tf_function import retracing
from penstock._src.graph import config
from penstock._src.graph import errors
from penstock._src.graph.config import functions_run_eagerly, run_functions_eagerly  # noqa: F401
from penstock._src.function import function_definition
from penstock._src.graph import ops
from penstock._src.base import tf2
from penstock._src.graph.tensor import Tensor
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.ops.state import resource_variable_ops
from penstock._src.base import nest
from penstock._src.base import traceback_utils


class UnliftedInitializerVariable(resource_variable_ops.ResourceVariable):
    """A variable made in a function's body: it lives outside, its initial value may be computed in the body.

    `pending` collects (variable, initial value in the body) of those that still have to be given their values: those
    whose values the body computes, or all if it is to be `later`.
    """

    def __init__(self, initial_value=None, pending=None, later=False, trainable=None, name=None, dtype=None,
                 constraint=None, shape=None, synchronization=None, aggregation=None, collections=None, **unused):
        graph = ops.get_default_graph()
        keywords = dict(trainable=trainable, name=name, dtype=dtype, constraint=constraint, shape=shape,
                        synchronization=synchronization, aggregation=aggregation)
        inside = isinstance(initial_value, Tensor) and not initial_value._is_eager and initial_value.graph is graph
        if not inside and not later:
            super().__init__(initial_value, collections=collections, **keywords)
            return
        value = ops.convert_to_tensor(initial_value() if callable(initial_value) else initial_value, dtype=dtype)
        with ops.init_scope():
            outer = ops.get_default_graph()
            if not outer._eager:
                lifted = lift_to_graph.lift_to_graph([value], outer)
                super().__init__(lifted[id(value)], collections=collections, **keywords)
                return
            static = value.shape if shape is None else shape
            with ops.name_scope(name, "Variable") as scope:
                full = ops.name_from_scope_name(scope)
                handle = resource_variable_ops.variable_handle_from_shape_and_dtype(
                    static, value.dtype.base_dtype, "", full)
            resource_variable_ops.BaseResourceVariable.__init__(
                self, trainable=trainable, shape=static, dtype=value.dtype.base_dtype, handle=handle,
                synchronization=synchronization, constraint=constraint, aggregation=aggregation, name=full,
                unique_id=f"{full}_{ops.uid()}", handle_name=full)
        pending.append((self, value))


def function(func=None, input_signature=None, autograph=True, jit_compile=None, reduce_retracing=False,
             experimental_implements=None, experimental_autograph_options=None, experimental_attributes=None,
             experimental_relax_shapes=None, experimental_compile=None, experimental_follow_type_hints=None):
    """Compiles a Python function of tensors into a graph that is traced once for each kind of arguments.

    input_signature: specs of the arguments, of which there is then one trace. autograph: whether Python's control flow
    over tensors becomes the graph's. reduce_retracing: whether sizes that differ between calls become unknown ones.
    """
    if input_signature is not None:
        function_lib.function_spec.validate_signature(input_signature)

    def decorated(inner):
        if not callable(inner):
            raise TypeError(f"{inner!r} is not a callable object")
        return Function(inner, getattr(inner, "__name__", None) or _name_of(inner), input_signature=input_signature,
                        autograph=autograph, experimental_autograph_options=experimental_autograph_options,
                        experimental_relax_shapes=bool(experimental_relax_shapes), reduce_retracing=reduce_retracing,
                        experimental_implements=experimental_implements,
                        jit_compile=experimental_compile if jit_compile is None else jit_compile,
                        experimental_attributes=experimental_attributes)

    return decorated if func is None else decorated(func)


def function_v1(func=None, input_signature=None, autograph=True, experimental_autograph_options=None,
                experimental_relax_shapes=False, experimental_compile=None, **later):
    """`function` with its arguments in version 1's order; those that later versions added go by name."""
    return function(func, input_signature, autograph, experimental_autograph_options=experimental_autograph_options,
                    experimental_relax_shapes=experimental_relax_shapes, experimental_compile=experimental_compile,
                    **later)


def _name_of(inner):
    if isinstance(inner, functools.partial):
        return _name_of(inner.func)
    return getattr(inner, "__name__", type(inner).__name__)


_functions = weakref.WeakSet()


@context.on_new_seed.add
def compile_anew():
    """function_definition.compile_anew, for tf.functions, too."""
    function_definition.compile_anew()
    for function in list(_functions):
        function._traces = _core.Traces()


class Function:
    """What tf.function makes: callable as the Python function is."""

    _is_part_of_saved_models = True

    _is_traceable_function = True  # a part of tf.train.Checkpoint without values
    _bound_method = None  # the method that a copy with `self` bound calls

    def __init__(self, python_function, name, input_signature=None, autograph=True,
                 experimental_autograph_options=None, experimental_relax_shapes=False, experimental_implements=None,
                 experimental_compile=None, reduce_retracing=False, jit_compile=None, experimental_attributes=None):
        self._lock = threading.RLock()
        self._python_function = python_function
        self._function_spec = function_lib.FunctionSpec.from_function_and_signature(python_function, input_signature)
        self._name = name
        self._autograph = autograph
        self._experimental_autograph_options = experimental_autograph_options
        self._relax_shapes = experimental_relax_shapes or reduce_retracing
        self._reduce_retracing = reduce_retracing
        self._implements = experimental_implements
        self._jit_compile = experimental_compile if jit_compile is None else jit_compile  # noted, for SavedModels
        self._attributes = {} if experimental_implements is None else attributes_lib.implements(experimental_implements)
        if experimental_attributes is not None:
            self._attributes.update(experimental_attributes)
        attributes_lib.check(self._attributes)
        self._function_spec.only_tensors = attributes_lib.IMPLEMENTS in self._attributes
        self._forget_traces()
        functools.update_wrapper(self, python_function, updated=())
        for key, value in getattr(python_function, "__dict__", {}).items():
            self.__dict__.setdefault(key, value)  # what a program keeps at its function, or its callable object

    def _forget_traces(self):
        self._created_variables = None
        self._stateful_fn = self._stateless_fn = None
        self._traces = _core.Traces()
        _functions.add(self)
        self._quick_calls = 0  # that the runtime found a trace for, since the last that it did not
        self._descriptor_cache = weakref.WeakKeyDictionary()

    def __getstate__(self):
        """All but the traces: a copy in another process makes its own."""
        ours = ("_lock", "_created_variables", "_stateful_fn", "_stateless_fn", "_traces", "_descriptor_cache")
        return {name: value for name, value in self.__dict__.items() if name not in ours}

    def __setstate__(self, state):
        self.__dict__.update(state)
        self._lock = threading.RLock()
        self._forget_traces()

    python_function = property(lambda self: self._python_function, doc="The Python function.")
    function_spec = property(lambda self: self._function_spec)
    __signature__ = property(lambda self: inspect.signature(self._python_function))
    input_signature = property(lambda self: self._function_spec.input_signature, doc="The specs of the arguments.")
    name = property(lambda self: self._name, doc="The Python function's name.")
    function_type = property(lambda self: function_type_lib.of_function(self._function_spec),
                             doc="Its parameters, and what its input signature says of them.")

    def experimental_get_compiler_ir(self, *args, **kwargs):
        """What XLA makes of the function. ValueError: it is not marked with jit_compile=True; UnimplementedError
        otherwise, as there is no compiler here."""
        if not self._jit_compile:
            raise ValueError("Compiler IR can only be returned for functions marked with 'jit_compile=True'")
        raise errors.UnimplementedError(None, None, "XLA does not compile functions here, so there is no IR of them.")

    def experimental_get_tracing_count(self):
        """How often the Python function has been traced."""
        count = 0
        for made in (self._stateful_fn, self._stateless_fn):
            if made is not None:
                count += made._trace_count
        return count

    @property
    def _concrete_variable_creation_fn(self):
        """The first trace, whose graph legacy Keras writes down; None before it."""
        return next(iter(self._list_all_concrete_functions_for_serialization()), None)

    @property
    def _function_cache(self):
        made = self._stateless_fn if self._created_variables else self._stateful_fn
        return function_lib.FunctionCache() if made is None else made._function_cache

    # Tracing

    def _defun(self, creator):
        """A defun of the Python function in which variables are made by `creator`."""
        from penstock._src.autograph.impl import api
        if self._autograph:
            python_function = api.traced(self._python_function, self._experimental_autograph_options)
        else:
            python_function = api.do_not_convert(self._python_function)

        def traced(*args, **kwargs):
            with ops.get_default_graph()._variable_creator_scope(creator, priority=50):
                return python_function(*args, **kwargs)

        traced.__name__ = self._name or "function"
        traced._traced_function = self._python_function  # of which messages speak
        made = function_lib.TracingCompiler(
            traced, self._name or "function", None, self._attributes, autograph=False,
            experimental_relax_shapes=self._relax_shapes)
        made._function_spec = self._function_spec
        made._generalize_at_once = self._reduce_retracing
        return made

    def _initialize(self, args, kwargs, later=False):
        """The first trace, in which variables may be made."""
        created, pending = [], []

        def capturing(next_creator, **keywords):
            keywords.pop("use_resource", None)
            keywords.pop("validate_shape", None)
            keywords.pop("distribute_strategy", None)
            variable = UnliftedInitializerVariable(pending=pending, later=later, **keywords)
            created.append(weakref.ref(variable))
            return variable

        def refusing(next_creator, **keywords):
            raise ValueError(
                "tf.function only supports singleton tf.Variables created on the first call. Make sure the tf.Variable "
                "is only created once or created outside tf.function." if tf2.enabled() else
                "tf.function-decorated function tried to create variables on non-first call.")

        self._stateful_fn = self._defun(capturing)
        try:
            concrete = self._stateful_fn._get_concrete_function_internal_garbage_collected(args, kwargs)
        except BaseException:
            self._stateful_fn = None
            raise
        self._created_variables = created
        self._stateless_fn = self._defun(refusing)
        return concrete, pending

    @staticmethod
    def _initialize_variables(pending, arguments=None):
        """Gives variables the initial values that the first trace described."""
        if not pending:
            return
        values = lift_to_graph.evaluate([value for _, value in pending], arguments)
        with ops.init_scope():
            for (variable, _), value in zip(pending, values):
                variable.assign(value, read_value=False)

    def __call__(self, *args, **kwargs):
        try:
            if config._functions_run_eagerly:
                return self._python_function(*args, **kwargs)
            if not kwargs:
                result = self._traces(args)
                if result is not NotImplemented:
                    self._quick_calls += 1
                    return result
            return self._call(args, kwargs)
        except Exception as e:
            if tf2.enabled():
                raise traceback_utils.filtered(e)
            raise

    def _call(self, args, kwargs):
        """A call that the runtime does not find a trace for by itself."""
        count = self.experimental_get_tracing_count()
        made = self._traced(args, kwargs)
        concrete, full, more = made._maybe_define_function(args, kwargs)
        if not kwargs:
            self._remember(args, concrete)
        if ops.executing_eagerly():
            traced = self.experimental_get_tracing_count() > count
            retracing.note(self._python_function, traced, self._quick_calls + (not traced))
            self._quick_calls = 0
        return concrete._filtered_call(full, more)

    def _remember(self, args, concrete):
        """Makes the runtime find the trace by itself."""
        if not ops.executing_eagerly() or any(callable(x) for x in concrete._captured_inputs):
            return
        tensors = [x for x in args if isinstance(x, Tensor)]
        definition = concrete._definition
        if len(tensors) + len(concrete._captured_inputs) != len(definition.input_types) \
                or self.input_signature is not None and len(tensors) != len(args):
            return
        structured = concrete.structured_outputs
        build = None if structured is None or isinstance(structured, (Tensor, TensorSpec)) else concrete._build
        if structured is None and definition.output_types:
            return
        self._traces.add(args, definition._call, concrete._captured_inputs, build)
        concrete._forget_captures = self._traces.clear

    def _traced(self, args, kwargs):
        """The defun that serves a call; the first one traces it and makes the variables."""
        with self._lock:
            if self._stateless_fn is None and self._stateful_fn is not None:
                return self._stateful_fn  # it calls itself in its first trace
            if self._stateless_fn is None:
                concrete, pending = self._initialize(args, kwargs)
                if pending:
                    flat = self._function_spec.canonicalize_function_inputs(*args, **kwargs)
                    flat = [t for t in nest.flatten(flat, expand_composites=True) if isinstance(t, Tensor)]
                    self._initialize_variables(pending, flat)
            return self._stateless_fn if self._created_variables else self._stateful_fn

    # Concrete functions

    def get_initialization_function(self, *args, **kwargs):
        """A function that gives the variables their initial values. RuntimeError if they have them already."""
        with self._lock:
            if self._stateful_fn is not None:
                raise RuntimeError("get_initialization_function cannot be called after the function has been used")
            _, pending = self._initialize(args, kwargs, later=True)

            def initialize_variables():
                values = [value for _, value in pending]
                lifted = lift_to_graph.lift_to_graph(values, ops.get_default_graph())
                for variable, value in pending:
                    variable.assign(lifted[id(value)], read_value=False)
            return function_lib.defun(initialize_variables, autograph=False).get_concrete_function()

    def get_concrete_function(self, *args, **kwargs):
        """The trace for arguments or specs of them."""
        with self._lock:
            if self._stateful_fn is None:
                if self.input_signature is not None and not args and not kwargs:
                    given, more = tuple(self.input_signature), {}
                else:
                    given, more = args, kwargs
                _, pending = self._initialize(given, more)
                self._initialize_variables(pending)
            made = self._stateless_fn if self._created_variables else self._stateful_fn
            return made.get_concrete_function(*args, **kwargs)

    _get_concrete_function_garbage_collected = get_concrete_function

    def _list_all_concrete_functions_for_serialization(self):
        if self.input_signature is not None:
            return [self.get_concrete_function()]  # one, though it may have been traced for several devices
        found = []
        for made in (self._stateful_fn, self._stateless_fn):
            if made is not None:
                found.extend(made._function_cache.all_values())
        if self._created_variables and self._stateful_fn is not None:
            found = [c for c in found if c not in self._stateful_fn._function_cache.all_values()]
        return found

    _list_all_concrete_functions = _list_all_concrete_functions_for_serialization

    def _trackable_children(self, save_type="checkpoint", **kwargs):
        """{name: trace}; a checkpoint has nothing of a function."""
        traces = () if save_type == "checkpoint" else self._list_all_concrete_functions_for_serialization()
        return {f"trace_{i}": trace for i, trace in enumerate(traces)}

    def pretty_printed_concrete_signatures(self, verbose=True):
        """The traces' signatures."""
        return ("\n\n" if verbose else "\n").join(c.pretty_printed_signature(verbose)
                           for c in self._list_all_concrete_functions_for_serialization())

    # Copies

    def _decorate(self, decorator):
        """Wraps the Python function once more. ValueError once it has been traced."""
        if self._stateful_fn is not None or self._stateless_fn is not None:
            raise ValueError("Functions cannot be decorated after they have been traced.")
        self._python_function = decorator(self._python_function)
        self._function_spec = function_lib.FunctionSpec.from_function_and_signature(
            self._python_function, self.input_signature)

    def _clone(self, python_function):
        return Function(self._python_function if python_function is None else python_function, self._name,
                        self.input_signature, self._autograph, self._experimental_autograph_options,
                        self._relax_shapes, self._implements, jit_compile=self._jit_compile,
                        reduce_retracing=self._reduce_retracing, experimental_attributes=self._attributes)

    def _bound_copy(self, call):
        copy = Function(call, self._name, None, self._autograph, self._experimental_autograph_options,
                        self._relax_shapes, self._implements, jit_compile=self._jit_compile,
                        reduce_retracing=self._reduce_retracing, experimental_attributes=self._attributes)
        original = self._function_spec
        copy._function_spec = function_lib.FunctionSpec(original.fullargspec, True, original.input_signature)
        copy._function_spec.only_tensors = original.only_tensors
        return copy

    def __get__(self, instance, owner):
        return function_lib.TracingCompiler.__get__(self, instance, owner)

    def __repr__(self):
        return f"<{type(self).__module__}.{type(self).__name__} object at {id(self):#x}>"
