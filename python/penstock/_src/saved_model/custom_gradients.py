"""Gradients that a program defines, as functions of a SavedModel."""
import collections

from penstock._src.tf_function import def_function
from penstock._src.graph import registry
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.saved_model import function_deserialization
from penstock._src.base import compat

# A tensor of a function's body that a gradient uses.
CapturedTensor = collections.namedtuple("CapturedTensor", ["name", "function"])


def _own_gradients(body):
    """(name, operation) of a body's operations that have gradients of the program."""
    for op in body.get_operations():
        if op.type not in ("PartitionedCall", "StatefulPartitionedCall"):
            try:
                name = compat.as_str(op.get_attr("_gradient_op_type"))
            except ValueError:
                continue
            yield name, op


def _loaded_gradients(graph):
    """{name: function} of what functions that were read from a model name as their gradients."""
    found = {}
    for definition in graph._functions.values():
        for node in getattr(definition, "node_defs", ()):
            name = compat.as_str(node.attr["_gradient_op_type"].s) if "_gradient_op_type" in node.attr else ""
            gradient = registry.gradient_registry._items.get(name)
            if _is_loaded(gradient):
                found[name] = gradient.args[0]
    return found


def _is_loaded(gradient):
    return getattr(gradient, "func", None) is function_deserialization.gradient_of_library


def trace(graph, captured_ids, add_capture):
    """[(name of the gradient, its function)] of all functions of a graph's library.

    captured_ids: {id of a tensor: object}; `add_capture(tensor, CapturedTensor)` makes a tensor of a body an object.
    ValueError: a gradient cannot be traced.
    """
    held = {name: definition.body() for name, definition in graph._functions.items()
            if getattr(definition, "body", None) is not None}  # they are referred to weakly
    bodies = {id(body): graph._functions[name] for name, body in held.items() if body is not None}
    found = _loaded_gradients(graph)
    for body in filter(None, held.values()):
        definition = bodies[id(body)]
        for name, op in _own_gradients(body):
            if name in found:
                continue
            try:
                gradient = registry.gradient_registry.lookup(name)
            except LookupError:
                continue
            found[name] = function = _traced(name, gradient, op)
            for tensor in function.captured_inputs:
                if not (tensor._is_eager or id(tensor.graph) in bodies or hasattr(tensor.graph, "_loaded_definition")):
                    raise ValueError(f"Cannot save custom gradient {name} called in function {definition.text} "
                                     "because SavedModel is unable to serialize the captured inputs: "
                                     f"{[tensor.name]}")
    for function in found.values():
        for tensor in function.captured_inputs:
            if id(tensor) not in captured_ids and not tensor._is_eager:
                outer = bodies.get(id(tensor.graph)) or tensor.graph._loaded_definition
                add_capture(tensor, CapturedTensor(_name_in(outer, tensor), outer.text))
    return list(found.items())


def _traced(name, gradient, op):
    if _is_loaded(gradient):
        return gradient.args[0]
    specs = [TensorSpec(t.shape, t.dtype) for t in op.inputs]
    try:
        # What it uses of the body around is captured.
        with op.graph.as_default():
            return def_function.function(lambda *dys: gradient(None, *dys), autograph=False).get_concrete_function(
                *specs)
    except Exception as e:
        raise ValueError(
            "Error when tracing gradients for SavedModel.\n\nYou may need to update the custom gradient, or disable "
            "saving gradients with the option tf.saved_model.SaveOptions(experimental_custom_gradients=False).\n\t"
            f"Problematic op name: {op.name}\n\tGradient inputs: {list(op.inputs)}\n\t{e}") from e


def _name_in(definition, tensor):
    """A tensor's name in a function that was read: an argument is called as the function calls it."""
    for arg, argument in zip(definition.definition.signature.input_arg, tensor.graph.inputs):
        if argument is tensor:
            return arg.name + ":0"
    return tensor.name
