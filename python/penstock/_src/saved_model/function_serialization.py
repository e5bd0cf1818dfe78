"""Functions as messages of a SavedModel."""
import inspect

from penstock._src.graph import type_spec
from penstock._src.graph.tensor import Tensor
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.ops.state import resource_variable_ops
from penstock.proto import saved_object_graph_pb2
from penstock._src.data import nested_structure_coder
from penstock._src.base import nest


def _spec(function_spec, jit_compile=None):
    """The message of a FunctionSpec; `self` of a method is bound."""
    full = function_spec.fullargspec
    plain = inspect.FullArgSpec(list(function_spec.arg_names), full.varargs, full.varkw, full.defaults,
                                full.kwonlyargs, full.kwonlydefaults, {})
    message = saved_object_graph_pb2.FunctionSpec(is_method=False)
    message.fullargspec.CopyFrom(nested_structure_coder.encode_structure(plain))
    message.input_signature.CopyFrom(nested_structure_coder.encode_structure(function_spec.input_signature))
    if jit_compile is not None:
        message.jit_compile = message.ON if jit_compile else message.OFF
    return message


def _input_signature(structure):
    """What a function was traced with, as specs."""
    aliases = {}

    def one(x):
        if resource_variable_ops.is_resource_variable(x):
            return resource_variable_ops.VariableSpec(x.shape, x.dtype, x.trainable,
                                                      aliases.setdefault(id(x), len(aliases)))
        return x

    return nest.map_structure(one, structure)


def _output_signature(structure):
    """The specs of results, which are named after their places as TensorFlow names them."""
    def one(path, x):
        if isinstance(x, Tensor):
            name = "_".join(str(key) for key in path) if path else "unknown"
            return TensorSpec(x.shape, x.dtype, name if not path or isinstance(path[0], str) else "tensor_" + name)
        return x if x is None or isinstance(x, type_spec.TypeSpec) else type_spec.type_spec_from_value(x)

    return nest.map_structure_with_tuple_paths(one, structure)


def serialize_concrete_function(concrete_function, node_ids):
    """The SavedConcreteFunction. `node_ids`: {id of a captured tensor: its object's number}. KeyError: the function
    captures a tensor of no object that is saved."""
    message = saved_object_graph_pb2.SavedConcreteFunction()
    for capture in concrete_function.captured_inputs:
        if id(capture) not in node_ids:
            raise KeyError(
                f"Failed to add concrete function '{concrete_function.name}' to object-based SavedModel as it captures "
                f"tensor {capture!r} which is unsupported or not reachable from root. One reason could be that a "
                "stateful object or a variable that the function depends on is not assigned to an attribute of the "
                "serialized trackable object (see SaveTest.test_captures_unreachable_variable).")
        message.bound_inputs.append(node_ids[id(capture)])
    message.canonicalized_input_signature.CopyFrom(nested_structure_coder.encode_structure(
        _input_signature(concrete_function.structured_input_signature)))
    message.output_signature.CopyFrom(nested_structure_coder.encode_structure(
        _output_signature(concrete_function.structured_outputs)))
    return message


def serialize_bare_concrete_function(concrete_function):
    """The SavedBareConcreteFunction of a trace that is an object itself."""
    if concrete_function._arg_keywords is None:
        concrete_function._allow_keywords()
    message = saved_object_graph_pb2.SavedBareConcreteFunction(
        concrete_function_name=concrete_function.name,
        allowed_positional_arguments=concrete_function._num_positional_args,
        argument_keywords=concrete_function._arg_keywords)
    if concrete_function._function_spec is not None:
        message.function_spec.CopyFrom(_spec(concrete_function._function_spec))
    return message


def serialize_function(function, concrete_functions):
    """The SavedFunction of a tf.function with some traces."""
    return saved_object_graph_pb2.SavedFunction(
        function_spec=_spec(function.function_spec, function._jit_compile),
        concrete_functions=[f.name for f in concrete_functions])
