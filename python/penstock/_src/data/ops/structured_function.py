"""Functions of elements as functions of flat lists of tensors, which the ops of datasets call."""
import warnings

from penstock._src.autograph.core import ag_ctx
from penstock._src.autograph.impl import api as autograph
from penstock._src.data.ops import debug_mode
from penstock._src.data.util import nest, structure
from penstock._src.tf_function import function as eager_function
from penstock._src.function import defun
from penstock._src.graph import config, dtypes, ops, sparse_tensor
from penstock._src.base import tf2
from penstock._src.tf_function import script_ops
from penstock._src.ops.state import tracking
from penstock._src.base import function_utils


# Ops with state that give the same however many of them run at a time; of calls, the functions are asked.
_RUN_ALIKE = frozenset(
    ("Assert", "Case", "If", "PartitionedCall", "ReadVariableOp", "StatefulPartitionedCall", "While"))


def _input_structure(dataset, classes, shapes, types, spec):
    """The one of the three ways in which callers say what the function gets."""
    legacy = [x is not None for x in (classes, shapes, types)]
    given = (dataset is not None) + (spec is not None) + any(legacy)
    if given != 1 or any(legacy) and not all(legacy):
        raise ValueError("Either `dataset`, `input_structure` or all of `input_classes`, `input_shapes`, and "
                         "`input_types` must be specified.")
    if spec is not None:
        return spec
    return dataset.element_spec if dataset is not None else structure.convert_legacy_structure(types, shapes, classes)


def _without_symbolic_values(part):
    """A SparseTensorValue, whose parts may be tensors of a graph, as a SparseTensor."""
    return sparse_tensor.SparseTensor.from_value(part) if isinstance(part, sparse_tensor.SparseTensorValue) else part


class StructuredFunctionWrapper:
    """A Python function as `function`, an object that ops take as an attribute.

    What it gets is described by `dataset` (its elements), `input_structure`, or legacy classes, shapes and types.
    TypeError: it returns what cannot be in an element; the message names `transformation_name`.
    """

    def __init__(self, func, transformation_name, dataset=None, input_classes=None, input_shapes=None, input_types=None,
                 input_structure=None, add_to_graph=True, use_legacy_function=False, defun_kwargs=None):
        self._input_structure = _input_structure(dataset, input_classes, input_shapes, input_types, input_structure)
        self._func = func
        self._transformation_name = transformation_name
        self._output_structure = None
        self._status = ag_ctx.control_status_ctx()
        readable = transformation_name.replace(".", "_")[:-2] if len(transformation_name) > 2 else ""
        name = f"{readable}_{function_utils.get_func_name(func)}"
        attributes = dict(defun_kwargs or {})
        tracker = tracking.ResourceTracker()
        with tracking.resource_tracker_scope(tracker):
            if use_legacy_function:
                self._function = self._legacy_function(f"{name}_{ops.uid()}", attributes, add_to_graph)
            else:
                debugged = debug_mode.enabled() and ops.executing_eagerly()
                self._function = self._concrete_function(name, attributes, add_to_graph and not debugged)
                if debugged:
                    call = self._call_in_python if self._takes_and_gives_plain_tensors() else None
                    self._function = self._concrete_function(name, attributes, add_to_graph, call)
        if tracker.resources:
            warnings.warn(f"Creating resources inside a function passed to {transformation_name} is not supported. "
                          "Create each resource outside the function, and capture it inside the function to use it.",
                          stacklevel=5)
        if not use_legacy_function:
            self._warn_of_seed(name)

    def _call(self, args):
        """The function on tensors: the flat list of its result's tensors."""
        element = structure.from_compatible_tensor_list(self._input_structure, args)
        result = autograph.tf_convert(self._func, self._status)(*(element if type(element) is tuple else (element,)))
        if isinstance(result, list):
            result = tuple(result)
        result = nest.map_structure(_without_symbolic_values, result)
        try:
            if not tf2.enabled() and any(part is None for part in nest.flatten(result)):
                raise TypeError("version 1 has no element None")
            self._output_structure = structure.type_spec_from_value(result)
        except (TypeError, ValueError):
            raise TypeError(f"Unsupported return value from function passed to {self._transformation_name}: "
                            f"{result}.") from None
        return structure.to_tensor_list(self._output_structure, result)

    def _legacy_function(self, name, attributes, add_to_graph):
        def wrapper_fn(*args):
            return self._call(args)

        made = defun.Defun(*structure.get_flat_tensor_types(self._input_structure), func_name=name,
                                  **attributes)(wrapper_fn)
        if add_to_graph:
            made.add_to_graph(ops.get_default_graph())
        else:
            made._build()
        return made

    def _takes_and_gives_plain_tensors(self):
        specs = (self._input_structure, self._output_structure)
        return all(t != dtypes.variant for spec in specs for t in structure.get_flat_tensor_types(spec))

    def _call_in_python(self, args):
        """The same by calling the function as it stands, eagerly."""
        def call(*args):
            element = structure.from_compatible_tensor_list(self._input_structure, args)
            result = self._func(*(element if type(element) is tuple else (element,)))
            result = nest.map_structure(_without_symbolic_values, tuple(result) if isinstance(result, list) else result)
            return structure.to_tensor_list(self._output_structure, structure.normalize_element(result))

        specs = structure.get_flat_tensor_specs(self._output_structure)
        results = script_ops.py_function(call, args, [spec.dtype for spec in specs])
        for result, spec in zip(results, specs):
            result.set_shape(spec.shape)
        return results

    def _concrete_function(self, name, attributes, add_to_graph, call=None):
        def wrapper_fn(*args):
            return [ops.convert_to_tensor(t) for t in (call or self._call)(args)]

        made = eager_function.defun_with_attributes(
            input_signature=structure.get_flat_tensor_specs(self._input_structure), autograph=False,
            attributes={**attributes, "func_name": name})(wrapper_fn)._get_concrete_function_internal()
        if add_to_graph:
            made.add_to_graph(ops.get_default_graph())
        return made

    def _warn_of_seed(self, name):
        seed = ops.get_default_graph().seed
        if seed and self._function.graph.seed == seed and self._function.graph._seed_used:
            warnings.warn(f"Seed {seed} from outer graph might be getting used by function {name}, if the random op "
                          "has not been provided any seed. Explicitly set the seed in the function if this is not the "
                          "intended behavior.", stacklevel=5)

    def must_keep_order(self):
        """Whether results must not differ (`enable_op_determinism`) and would if the function ran several at a time.

        It does if it, or a function that it uses, draws numbers, changes something or leaves to Python what it does;
        that a function makes datasets is not counted.
        """
        if not config.is_op_determinism_enabled():
            return False
        graph = getattr(self._function, "graph", None)
        if graph is None:  # a function of version 1
            return bool(self._function.stateful_ops)
        types = {op.type for op in graph.get_operations()}
        types.update(node.op for f in graph.as_graph_def().library.function for node in f.node_def)
        # A function that is called by its name has no definition; its body is among the others.
        definitions = [graph._core_op_def(t) for t in types if t not in _RUN_ALIKE and "Dataset" not in t]
        return any(op is not None and op.is_stateful for op in definitions)

    output_structure = property(lambda self: self._output_structure, doc="The spec of what it returns.")
    output_classes = property(lambda self: structure.legacy_classes(self._output_structure), doc="Their classes.")
    output_shapes = property(lambda self: structure.legacy_shapes(self._output_structure), doc="Their shapes.")
    output_types = property(lambda self: structure.legacy_types(self._output_structure), doc="Their types.")
    function = property(lambda self: self._function, doc="What ops take as an attribute.")


def wrap_until_stable(func, transformation_name, state_structure, element_structure, new_state_of):
    """(the wrapper of func(state, element), the spec of its state): traced anew with less specific shapes until the
    state that it returns fits. `new_state_of(spec of the result)` is the new state's part. TypeError: the new state is
    of another class or type."""
    while True:
        wrapped = StructuredFunctionWrapper(func, transformation_name, add_to_graph=False,
                                            input_structure=(state_structure, element_structure))
        new = new_state_of(wrapped.output_structure)
        for what, of in (("classes", structure.legacy_classes), ("types", structure.legacy_types)):
            have, got = of(state_structure), of(new)
            if any(not (issubclass(b, a) if isinstance(a, type) and isinstance(b, type) else a == b)
                    for a, b in zip(nest.flatten(have), nest.flatten(got))):
                about = "Invalid `scan_func`. " if tf2.enabled() and "scan" in transformation_name else ""
                link = (", got" if about else " but got") if tf2.enabled() else "; got"
                raise TypeError(f"{about}The element {what} for the new state must match the initial state. Expected "
                                f"{have}{link} {got}.")
        shapes = structure.legacy_shapes(state_structure)
        before, after = nest.flatten(shapes), nest.flatten(structure.legacy_shapes(new))
        merged = [a.most_specific_compatible_shape(b) if hasattr(a, "most_specific_compatible_shape") else a
                  for a, b in zip(before, after)]
        if all(a is b or _same_shape(a, b) for a, b in zip(before, merged)):
            wrapped.function.add_to_graph(ops.get_default_graph())
            return wrapped, state_structure
        state_structure = structure.convert_legacy_structure(
            structure.legacy_types(state_structure), nest.pack_sequence_as(shapes, merged),
            structure.legacy_classes(state_structure))


def _same_shape(a, b):
    return getattr(a, "_values", a) == getattr(b, "_values", b)
