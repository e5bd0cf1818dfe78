"""Python structures as StructuredValue messages: what functions take and give in SavedModels, and the elements of
saved datasets."""
import collections
import functools
import warnings

import numpy as np

from penstock._src.graph import composite_spec
from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.graph import extension_type
from penstock._src.graph import tensor_shape
from penstock._src.graph import tensor_spec
from penstock._src.graph import tensor_util
from penstock._src.graph import type_spec
from penstock._src.graph import type_spec_registry
from penstock._src.graph.tensor import Tensor
from penstock.proto import struct_pb2
from penstock._src.base import compat
from penstock._src.base import nest


class NotEncodableError(Exception):
    """The structure holds a value that has no message."""


_Spec = struct_pb2.TypeSpecProto
_codecs = []


def register_codec(x):
    """Lets a codec stand for values that have no message: `can_encode(value)`, `do_encode(value, encode)` gives a
    StructuredValue, `can_decode(message)`, `do_decode(message, decode)` gives the value."""
    _codecs.append(x)


@functools.lru_cache(maxsize=None)
def _spec_classes():
    """{number in the message: class of specs}."""
    from penstock._src.data.ops import dataset_ops, iterator_ops, optional_ops
    from penstock._src.control_flow import tensor_array_spec
    from penstock._src.graph import variable_spec
    from penstock._src.ops.ragged import ragged_tensor_spec
    return {
        _Spec.SPARSE_TENSOR_SPEC: composite_spec.SparseTensorSpec,
        _Spec.INDEXED_SLICES_SPEC: composite_spec.IndexedSlicesSpec,
        _Spec.RAGGED_TENSOR_SPEC: ragged_tensor_spec.RaggedTensorSpec,
        _Spec.VARIABLE_SPEC: variable_spec.VariableSpec,
        _Spec.TENSOR_ARRAY_SPEC: tensor_array_spec.TensorArraySpec,
        _Spec.DATA_DATASET_SPEC: dataset_ops.DatasetSpec,
        _Spec.DATA_ITERATOR_SPEC: iterator_ops.IteratorSpec,
        _Spec.OPTIONAL_SPEC: optional_ops.OptionalSpec,
    }


def _is_named_tuple(value):
    fields = getattr(value, "_fields", None)
    return isinstance(value, tuple) and isinstance(fields, tuple) and all(isinstance(f, str) for f in fields)


def _encode_sequence(message, values):
    message.SetInParent()
    for value in values:
        _encode(value, message.values.add())


def _encode_spec(value, message):
    for number, kind in _spec_classes().items():
        if type(value) is kind:
            message.type_spec_class = number
            message.type_spec_class_name = type(value).__name__
            break
    else:
        _name_registered(value, message)
    message.num_flat_components = len(nest.flatten(value._component_specs, expand_composites=True))
    _encode(value._serialize(), message.type_state)


def _name_registered(value, message):
    """Names a spec of a class of its own, which who reads the message has to know."""
    try:
        name = type_spec_registry.get_name(type(value))
    except ValueError:
        raise NotEncodableError(f"No encoder for object {value} of type {type(value)}.") from None
    message.type_spec_class = _Spec.REGISTERED_TYPE_SPEC
    if isinstance(value, extension_type.ExtensionTypeSpec):
        message.type_spec_class = _Spec.EXTENSION_TYPE_SPEC
    else:
        warnings.warn(f"Encoding a StructuredValue with type {name}; loading this StructuredValue will require that "
                      "this type be imported and registered.")
    message.type_spec_class_name = name


def _encode(value, message):
    """Fills in the message of a value. The order of cases matters: bool is an int, a named tuple a tuple."""
    if value is None:
        message.none_value.SetInParent()
    elif isinstance(value, bool):
        message.bool_value = value
    elif isinstance(value, int):
        message.int64_value = value
    elif isinstance(value, float):
        message.float64_value = value
    elif isinstance(value, str):
        message.string_value = value
    elif isinstance(value, dtypes.DType):
        message.tensor_dtype_value = value.as_datatype_enum
    elif isinstance(value, tensor_shape.TensorShape):
        message.tensor_shape_value.CopyFrom(value.as_proto())
    elif isinstance(value, tensor_spec.TensorSpec):
        spec = message.tensor_spec_value
        if isinstance(value, tensor_spec.BoundedTensorSpec):
            spec = message.bounded_tensor_spec_value
            spec.minimum.CopyFrom(tensor_util.make_tensor_proto(value.minimum))
            spec.maximum.CopyFrom(tensor_util.make_tensor_proto(value.maximum))
        spec.name = value.name or ""
        spec.shape.CopyFrom(value.shape.as_proto())
        spec.dtype = value.dtype.as_datatype_enum
    elif isinstance(value, type_spec.TypeSpec):
        _encode_spec(value, message.type_spec_value)
    elif _is_named_tuple(value):
        message.named_tuple_value.name = type(value).__name__
        for name, part in zip(value._fields, value):
            pair = message.named_tuple_value.values.add(key=name)
            _encode(part, pair.value)
    elif isinstance(value, tuple):
        _encode_sequence(message.tuple_value, value)
    elif isinstance(value, list):
        _encode_sequence(message.list_value, value)
    elif isinstance(value, collections.abc.Mapping):
        message.dict_value.SetInParent()
        for key, part in value.items():
            if not isinstance(key, str):
                raise NotEncodableError(f"No encoder for the key {key!r} of a dictionary: only strings have one.")
            _encode(part, message.dict_value.fields[key])
    elif isinstance(value, Tensor) and tensor_util.constant_value(value) is not None:
        message.tensor_value.CopyFrom(tensor_util.make_tensor_proto(tensor_util.constant_value(value)))
    elif isinstance(value, np.ndarray):
        message.numpy_value.CopyFrom(tensor_util.make_tensor_proto(value))
    else:
        for codec in _codecs:
            if codec.can_encode(value):
                message.CopyFrom(codec.do_encode(value, encode_structure))
                return
        raise NotEncodableError(f"No encoder for object {value} of type {type(value)}.")


def encode_structure(nested_structure):
    """The StructuredValue of a structure. NotEncodableError: it holds something else than structures may."""
    message = struct_pb2.StructuredValue()
    _encode(nested_structure, message)
    return message


def can_encode(nested_structure):
    """Whether a structure has a message."""
    try:
        encode_structure(nested_structure)
    except NotEncodableError:
        return False
    return True


def _registered(message):
    name = message.type_spec_class_name
    try:
        return type_spec_registry.lookup(name)
    except ValueError:
        raise ValueError(f"The type '{name}' has not been registered. It must be registered before you load this "
                         "object (typically by importing its module).") from None


def _decode_spec(message):
    kind = _spec_classes().get(message.type_spec_class)
    if message.type_spec_class in (_Spec.REGISTERED_TYPE_SPEC, _Spec.EXTENSION_TYPE_SPEC):
        kind = _registered(message)
    if kind is None:
        raise ValueError(f"The type '{message.type_spec_class_name}' is not supported by this version of TensorFlow. "
                         "(The object you are loading must have been created with a newer version of TensorFlow.)")
    return kind._deserialize(decode_proto(message.type_state))


def _decode_tensor_spec(message):
    return tensor_spec.TensorSpec(tensor_shape.TensorShape(message.shape), dtypes.as_dtype(message.dtype),
                                  message.name or None)


def _decode_bounded(message):
    return tensor_spec.BoundedTensorSpec(
        tensor_shape.TensorShape(message.shape), dtypes.as_dtype(message.dtype),
        tensor_util.MakeNdarray(message.minimum), tensor_util.MakeNdarray(message.maximum), message.name or None)


def _decode_named_tuple(message):
    kind = collections.namedtuple(message.name, [pair.key for pair in message.values])
    return kind(*[decode_proto(pair.value) for pair in message.values])


_DECODERS = {
    "none_value": lambda m: None,
    "float64_value": float,
    "int64_value": int,
    "string_value": compat.as_str,
    "bool_value": bool,
    "tensor_shape_value": tensor_shape.TensorShape,
    "tensor_dtype_value": dtypes.as_dtype,
    "tensor_spec_value": _decode_tensor_spec,
    "type_spec_value": _decode_spec,
    "bounded_tensor_spec_value": _decode_bounded,
    "list_value": lambda m: [decode_proto(v) for v in m.values],
    "tuple_value": lambda m: tuple(decode_proto(v) for v in m.values),
    "dict_value": lambda m: {key: decode_proto(m.fields[key]) for key in m.fields},
    "named_tuple_value": _decode_named_tuple,
    "tensor_value": lambda m: constant_op.constant(tensor_util.MakeNdarray(m)),
    "numpy_value": tensor_util.MakeNdarray,
}


def decode_proto(proto):
    """The structure of a StructuredValue. ValueError: it is of no known kind."""
    kind = proto.WhichOneof("kind")
    for codec in _codecs:
        if codec.can_decode(proto):
            return codec.do_decode(proto, decode_proto)
    if kind is None:
        raise ValueError("The StructuredValue is empty, or of a kind that this version does not know.")
    return _DECODERS[kind](getattr(proto, kind))


class StructureCoder:
    """The same functions, as version 1.15 has them."""

    can_encode = staticmethod(can_encode)
    encode_structure = staticmethod(encode_structure)
    decode_proto = staticmethod(decode_proto)
