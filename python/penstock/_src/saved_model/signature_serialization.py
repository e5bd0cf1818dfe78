"""Signatures of a SavedModel: functions from named tensors to named tensors."""
import collections

from penstock._src.function import attributes
from penstock._src.tf_function import def_function
from penstock._src.tf_function import function as function_lib
from penstock._src.graph import composite_tensor
from penstock._src.graph import type_spec
from penstock._src.graph.tensor import Tensor
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.ops.state import resource_variable_ops
from penstock._src.ops.state import revived_types
from penstock._src.saved_model import signature_constants
from penstock._src.ops.state import base
from penstock._src.base import compat
from penstock._src.base import nest

DEFAULT_SIGNATURE_ATTR = "_default_save_signature"
SIGNATURE_ATTRIBUTE_NAME = "signatures"


def _concrete(function):
    """The one trace that a function with a signature has, or None."""
    if isinstance(function, def_function.Function) and function.input_signature is not None:
        function = function.get_concrete_function()
    return function if isinstance(function, function_lib.ConcreteFunction) else None


def _validate_inputs(concrete):
    if any(resource_variable_ops.is_resource_variable(x) or isinstance(x, resource_variable_ops.VariableSpec)
           for x in nest.flatten(concrete.structured_input_signature)):
        raise ValueError(f"Unable to serialize concrete_function '{concrete.name}'with tf.Variable input. Functions "
                         "that expect tf.Variable inputs cannot be exported as signatures.")


def _is_valid(concrete):
    if not concrete.outputs:
        return False
    try:
        _validate_inputs(concrete)
        _normalize_outputs(concrete.structured_outputs, "unused", "unused")
    except ValueError:
        return False
    return True


def find_function_to_export(saveable_view):
    """The function of the root that becomes its signature if the program names none: the only one that can be."""
    possible = []
    for name, child in saveable_view.list_dependencies(saveable_view.root):
        if not isinstance(child, (def_function.Function, function_lib.ConcreteFunction)):
            continue
        if name == DEFAULT_SIGNATURE_ATTR:
            return child
        concrete = _concrete(child)
        if concrete is not None and _is_valid(concrete):
            possible.append(concrete)
    return possible[0] if len(possible) == 1 else None


def _arguments(concrete):
    """{keyword: spec} of a trace."""
    if concrete._arg_keywords is None:
        concrete._allow_keywords()
    keywords = [compat.as_str(keyword) for keyword in concrete._arg_keywords]
    if concrete.structured_input_signature is not None:
        inputs = [x for x in nest.flatten(concrete.structured_input_signature, expand_composites=True)
                  if isinstance(x, TensorSpec)]
    else:
        inputs = concrete.inputs
    return {keyword: TensorSpec(x.shape, x.dtype, name=keyword) for keyword, x in zip(keywords, inputs)}


def canonicalize_signatures(signatures):
    """({key: ConcreteFunction from keyword arguments to a dictionary}, {key: {argument: default}}).

    ValueError: a signature is no function with a fixed signature, or gives something else than tensors.
    """
    if signatures is None:
        return {}, {}
    if not isinstance(signatures, collections.abc.Mapping):
        signatures = {signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY: signatures}
    found, defaults = {}, {}
    for key, function in signatures.items():
        concrete = _concrete(function)
        if concrete is None:
            raise ValueError(f"Expected a TensorFlow function for which to generate a signature, but got {function}. "
                             "Only `tf.functions` with an input signature or concrete functions can be used as a "
                             "signature.")
        _validate_inputs(concrete)
        specs = _arguments(concrete)
        found[key] = _wrapped(concrete, key, specs, getattr(function, "__name__", None))
        if isinstance(function, def_function.Function):
            values = nest.flatten(function.function_spec.fullargspec.defaults or ())
            tensors = {name: value for name, value in zip(list(specs)[-len(values):] if values else (), values)
                       if isinstance(value, Tensor)}
            if tensors:
                defaults[key] = tensors
    return found, defaults


def _wrapped(concrete, key, specs, name):
    def signature_wrapper(**kwargs):
        return _normalize_outputs(concrete(**kwargs), concrete.name, key)

    if name is not None:
        signature_wrapper.__name__ = "signature_wrapper_" + name
    attribute = attributes.DISABLE_SUMMARIES_AT_RUNTIME
    kept = {attribute: concrete.function_def.attr[attribute]} if attribute in concrete.function_def.attr else None
    made = def_function.function(signature_wrapper, autograph=False,
                                 experimental_attributes=kept).get_concrete_function(**specs)
    made._num_positional_args = 1 if len(made._arg_keywords) == 1 else 0
    return made


def _normalize_outputs(outputs, function_name, signature_key):
    """Results as a dictionary."""
    if not isinstance(outputs, collections.abc.Mapping):
        if hasattr(outputs, "_asdict"):
            outputs = outputs._asdict()
        else:
            outputs = outputs if isinstance(outputs, collections.abc.Sequence) else [outputs]
            outputs = {f"output_{i}": output for i, output in enumerate(outputs)}
    for name, value in outputs.items():
        if not isinstance(name, (str, bytes)):
            raise ValueError(f"Got a dictionary with a non-string key {name!r} in the output of the function "
                             f"{compat.as_str_any(function_name)} used to generate the SavedModel signature "
                             f"{signature_key!r}.")
        if not isinstance(value, (Tensor, TensorSpec, composite_tensor.CompositeTensor)) and \
                not type_spec.is_composite_spec(value):  # a loaded function tells specs
            raise ValueError(f"Got a non-Tensor value {value!r} for key {name!r} in the output of the function "
                             f"{compat.as_str_any(function_name)} used to generate the SavedModel signature "
                             f"{signature_key!r}. Outputs for functions used as signatures must be a single Tensor, a "
                             "sequence of Tensors, or a dictionary from string to Tensor.")
    return outputs


class _SignatureMap(collections.abc.Mapping, base.Trackable):
    """The signatures of a loaded model by their keys."""

    def __init__(self):
        self._signatures = {}

    def _add_signature(self, name, concrete_function):
        self._signatures[name] = concrete_function

    def __getitem__(self, key):
        return self._signatures[key]

    def __iter__(self):
        return iter(self._signatures)

    def __len__(self):
        return len(self._signatures)

    def __repr__(self):
        return f"_SignatureMap({self._signatures})"

    def _list_functions_for_serialization(self, serialization_cache):
        return dict(self._signatures)


revived_types.register_revived_type(
    "signature_map", lambda obj: isinstance(obj, _SignatureMap),
    versions=[revived_types.VersionedTypeRegistration(
        object_factory=lambda proto: _SignatureMap(), version=1, min_producer_version=1, min_consumer_version=1,
        setter=_SignatureMap._add_signature)])


def create_signature_map(signatures):
    """The object that holds signatures."""
    made = _SignatureMap()
    for name, function in signatures.items():
        made._add_signature(name, function)
    return made


def validate_saveable_view(saveable_view):
    """ValueError: the root has an attribute where the signatures go."""
    for name, part in saveable_view.list_dependencies(saveable_view.root):
        if name == SIGNATURE_ATTRIBUTE_NAME and not isinstance(part, _SignatureMap):
            raise ValueError(
                f"Exporting an object {saveable_view.root} which has an attribute named '{SIGNATURE_ATTRIBUTE_NAME}'. "
                "This is a reserved attribute used to store SavedModel signatures in objects which come from "
                f"`tf.saved_model.load`. Delete this attribute (e.g. `del obj.{SIGNATURE_ATTRIBUTE_NAME}`) before "
                "saving if this shadowing is acceptable.")
