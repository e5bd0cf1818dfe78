"""tf.compat.v1.wrap_function: version-1 code as a function, with variables that live beside it."""
import weakref

from penstock._src.tf_function import function as function_lib
from penstock._src.function import lift_to_graph
from penstock._src.function import func_graph as func_graph_module
from penstock._src.function import function_definition
from penstock._src.function import importer
from penstock._src.graph import ops
from penstock._src.graph import tensor_spec
from penstock._src.graph.operation import Operation
from penstock._src.graph.tensor import Tensor
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import resource_variable_ops
from penstock._src.base import nest


class VariableHolder:
    """Makes the variables of wrapped code: each once, outside of the graph; keeps them alive."""

    def __init__(self, fn=None, share_variables=False):
        self._fn = fn
        self._share_variables = share_variables
        self._by_name = {}

    @property
    def variables(self):
        """The variables by name."""
        return self._by_name

    def variable_creator_scope(self, next_creator, **kwargs):
        """The creator: a variable of a name that there is already is that variable if variables are shared."""
        collections = kwargs.pop("collections", None)
        with ops.name_scope(kwargs.get("name") or None, "Variable") as scope:
            name = ops.name_from_scope_name(scope)
            kwargs["name"] = name
        if self._share_variables and name in self._by_name:
            return self._by_name[name]
        initial_value = kwargs.get("initial_value")
        if not callable(initial_value):
            if isinstance(initial_value, Tensor) and not initial_value._is_eager:
                value = initial_value
                kwargs["initial_value"] = lambda: lift_to_graph.evaluate([value])[0]
        keep = ("initial_value", "trainable", "validate_shape", "caching_device", "dtype", "constraint",
                "synchronization", "aggregation", "shape")
        with ops.init_scope(), ops.name_scope(None):
            variable = resource_variable_ops.ResourceVariable(
                name=name, **{k: kwargs[k] for k in keep if k in kwargs})
        self._by_name[name] = variable
        if collections is None:
            collections = [ops.GraphKeys.GLOBAL_VARIABLES]
        if variable.trainable and ops.GraphKeys.TRAINABLE_VARIABLES not in collections:
            collections = list(collections) + [ops.GraphKeys.TRAINABLE_VARIABLES]
        ops.add_to_collections(collections, variable)
        return variable

    def __call__(self, *args, **kwargs):
        return self.call_with_variable_creator_scope(self._fn)(*args, **kwargs)

    def call_with_variable_creator_scope(self, fn):
        """`fn` with its variables made by this."""
        from penstock._src.ops.state import variable_scope

        def wrapped(*args, **kwargs):
            with variable_scope.variable_creator_scope(self.variable_creator_scope):
                return fn(*args, **kwargs)
        return wrapped


class WrappedFunction(function_lib.ConcreteFunction):
    """A traced function from which parts can be pruned."""

    _takes_numbers = True

    def __init__(self, fn_graph, variable_holder, attrs=None, signature=None, run=()):
        self._variable_holder = variable_holder
        fn_graph.control_outputs = list(run)
        _lift_unlifted_variables(fn_graph, variable_holder)
        for tensor in fn_graph.inputs:
            if not hasattr(tensor.op, "_user_name"):
                tensor.op._user_name = tensor.op.name
        own = {t._op._node for t in fn_graph.inputs}
        # As in a session, what gives no result does not run.
        super().__init__(fn_graph, attrs=attrs, signature=signature, body=_body(fn_graph.outputs, run, own))
        self._allow_keywords()

    def __call__(self, *args, **kwargs):
        spec = self._func_graph.structured_input_signature
        if spec is not None and len(args) + len(kwargs) == len(spec[0]) and not kwargs:
            flat = [a for a, s in zip(nest.flatten(list(args), expand_composites=True),
                                      nest.flatten(list(spec[0]), expand_composites=True))
                    if isinstance(s, tensor_spec.TensorSpec)]
            if len(flat) == self._num_positional_args:
                args = flat
        return super().__call__(*args, **kwargs)

    def prune(self, feeds, fetches, name=None, input_signature=None):
        """The function from some tensors of the graph to others, with what lies between and nothing else.

        fetches: tensors, and operations that run with each call; these give None.
        """
        name = name or "pruned"
        flat_feeds = [self.graph.as_graph_element(t) if not isinstance(t, Tensor) else t
                      for t in nest.flatten(feeds, expand_composites=True)]
        captured = {t._key: outer for outer, t in self.graph.captures}
        arguments = [t for t in flat_feeds if t._key not in captured]
        run, give = [], []

        def fetch(x):
            if hasattr(x, "SerializeToString"):  # a TensorInfo
                x = x.name
            x = self.graph.as_graph_element(x) if not isinstance(x, (Tensor, Operation)) else x
            if isinstance(x, Operation):
                run.append(x)
                return None
            if x.dtype._is_ref_dtype:
                with self.graph.as_default():
                    x = array_ops.identity(x)  # a function gives values
            give.append(x)
            return x

        structured = nest.map_structure(fetch, fetches, expand_composites=True)
        nodes = set(_body(give, run, {t._op._node for t in arguments}))
        known = {t._op._node for t in arguments} | {t._op._node for _, t in self.graph.captures}
        for node in sorted(nodes - known):
            if self.graph._ops[node].type == "Placeholder":
                raise lift_to_graph.UnliftableError(
                    f"Unable to lift tensor {(give or run)[0]} because it depends transitively on placeholder "
                    f"{self.graph._ops[node]}")
        taken = [(outer, t) for outer, t in self.graph.captures if t._op._node in nodes]
        graph = _Part(self.graph, name, arguments, taken, give, structured, run)
        graph.structured_input_signature = input_signature
        body = sorted(nodes - {t._op._node for t in graph.inputs})
        return _Pruned(graph, body, self._variable_holder, self._attrs)


def _body(outputs, run, stop):
    """The nodes that some tensors and operations depend on."""
    found, stack = set(), [t.op for t in outputs] + list(run)
    while stack:
        op = stack.pop()
        if op._node not in found and op._node not in stop:
            found.add(op._node)
            stack.extend(t.op for t in op.inputs)
            stack.extend(op.control_inputs)
    return sorted(found)


def _without_operations(fn):
    """(`fn` with None for operations that it returns, the list of these)."""
    run = []

    def one(x):
        if isinstance(x, Operation):
            run.append(x)
            return None
        return x

    return lambda *args, **kwargs: nest.map_structure(one, fn(*args, **kwargs)), run


class _Part:
    """A part of a FuncGraph, with inputs and outputs of its own."""

    def __init__(self, graph, name, arguments, captures, outputs, structured, control_outputs):
        self._whole = graph
        self.name = name
        self.captures = captures
        self.external_captures = [outer for outer, _ in captures]
        self.internal_captures = [inner for _, inner in captures]
        self.inputs = arguments + self.internal_captures
        self.outputs = outputs
        self.structured_outputs = structured
        self.structured_input_signature = None
        self.control_outputs = control_outputs

    @property
    def variables(self):
        handles = {id(t) for t in self.external_captures}
        return [v for v in self._whole.variables if id(v.handle) in handles]

    @property
    def trainable_variables(self):
        return tuple(v for v in self.variables if v.trainable)

    def __getattr__(self, name):
        return getattr(self._whole, name)


class _Pruned(WrappedFunction):
    """What `prune` gives. It is differentiated by a graph of its own."""

    def __init__(self, part, body, variable_holder, attrs):
        definition = function_definition.Definition(
            f"__inference_{part.name}_{ops.uid()}", part._whole, part.inputs, part.outputs, body,
            part.control_outputs, attrs)
        self._variable_holder = variable_holder
        self._func_graph = part
        self._attrs = attrs
        self._captured_inputs = part.external_captures
        self._num_inputs, self._num_outputs = len(part.inputs), len(part.outputs)
        self._signature = self._function_spec = None
        self._name = part.name
        self._definition = definition
        self._differentiable = self._gradient_name = None
        self._build = function_lib._builder(part.structured_outputs)
        for tensor in part.inputs:
            if not hasattr(tensor.op, "_user_name"):
                tensor.op._user_name = tensor.op.name
        self._order_of_arguments()
        self._allow_keywords()

    def _make_differentiable(self):
        if self._differentiable is None:
            from penstock._src.tf_function import function_gradient
            own = function_definition.from_function_def(self._definition.text)
            self._differentiable = function_gradient.Differentiable(
                self._name, own, self._num_inputs, self._attrs, self._definition)
        return self._differentiable


def _lift_unlifted_variables(graph, variable_holder):
    """Variables of the graph itself (imported ones) become variables outside, captured by their handles."""
    from penstock._src.ops.state import variables as variables_module
    with graph.as_default():
        listed = {id(v): v for key in (ops.GraphKeys.GLOBAL_VARIABLES, ops.GraphKeys.LOCAL_VARIABLES)
                  for v in graph.get_collection(key)}.values()
    lifted = []
    for old in listed:
        if not isinstance(old, variables_module.Variable) or getattr(old, "handle", None) is None \
                or old.handle._is_eager:
            continue
        if old.handle.graph is not graph:
            continue
        name = old.name.split(":")[0]
        with ops.init_scope():
            new = resource_variable_ops.UninitializedVariable(
                trainable=old.trainable, name=name, shape=old.shape, dtype=old.dtype,
                synchronization=old.synchronization, aggregation=old.aggregation)
        variable_holder._by_name[name] = new
        inner = graph.capture(new.handle)
        for op in old.handle.consumers():
            for i, t in enumerate(op.inputs):
                if t is old.handle:
                    op._update_input(i, inner)
        lifted.append(new)
        for key in graph.collections:
            items = graph.get_collection_ref(key)
            items[:] = [new if x is old else x for x in items]
    graph.variables = list(graph.variables) + lifted
    for variable in lifted:
        graph._watched[id(variable)] = weakref.ref(variable)


def wrap_function(fn, signature, name=None):
    """A function with the graph that version-1 code `fn` builds for arguments of a signature; variables that it makes
    live as long as the function."""
    holder = VariableHolder(fn)
    filtered, run = _without_operations(holder)
    func_graph = func_graph_module.func_graph_from_py_func(
        name or "wrapped_function", filtered, args=None, kwargs=None, signature=tuple(signature),
        add_control_dependencies=False, collections={})
    return WrappedFunction(func_graph, holder, signature=_tensor_specs(signature), run=run)


def _tensor_specs(signature):
    return [s for s in nest.flatten(list(signature or ()), expand_composites=True)
            if isinstance(s, tensor_spec.TensorSpec)] or None


class WrappedGraph:
    """Several wrapped functions over one graph, which share their variables."""

    def __init__(self, variable_holder=None, **kwargs):
        self._variable_holder = variable_holder or VariableHolder(share_variables=True)
        name = kwargs.pop("name", "wrapped_function_graph")
        collections = kwargs.pop("collections", {})
        self.graph = func_graph_module.FuncGraph(name, collections=collections, **kwargs)
        self._wrapped_function = WrappedFunction(self.graph, self._variable_holder)
        self._functions = {}

    @property
    def functions(self):
        """The wrapped functions by name."""
        return self._functions

    @property
    def variables(self):
        """The variables by name."""
        return self._variable_holder.variables

    def wrap_function(self, fn, signature, name=None):
        """Wraps a function that builds part of the graph."""
        made = self._wrap_function(fn, signature=signature, name=name)
        if name is not None:
            self._functions[name] = made
        return made

    def _wrap_function(self, fn, args=None, kwargs=None, signature=None, name=None):
        scoped, run = _without_operations(self._variable_holder.call_with_variable_creator_scope(fn))
        graph = func_graph_module.FuncGraph(name or "wrapped", collections=self.graph._collections)
        func_graph_module.func_graph_from_py_func(
            name or "wrapped", scoped, args=args, kwargs=kwargs, signature=signature, func_graph=graph,
            add_control_dependencies=False)
        return WrappedFunction(graph, self._variable_holder, signature=_tensor_specs(signature), run=run)


def function_from_graph_def(graph_def, inputs, outputs):
    """A function of the names of a GraphDef's input and output tensors."""
    def imports():
        importer.import_graph_def(graph_def, name="")

    wrapped = wrap_function(imports, [])
    graph = wrapped.graph
    return wrapped.prune(nest.map_structure(graph.as_graph_element, inputs),
                         nest.map_structure(graph.as_graph_element, outputs))
