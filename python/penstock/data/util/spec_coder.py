"""Specs of elements as StructuredValue messages, as files of saved datasets hold them."""
import collections

from penstock.data.ops.dataset_ops import DatasetSpec
from penstock.data.ops.iterator_ops import IteratorSpec
from penstock.data.ops.optional_ops import OptionalSpec
from penstock.framework import dtypes, tensor_shape
from penstock.framework.composite_spec import IndexedSlicesSpec, SparseTensorSpec
from penstock.framework.tensor_spec import TensorSpec
from penstock.ops.ragged.ragged_tensor_spec import RaggedTensorSpec
from penstock.util import nest

_KINDS = {SparseTensorSpec: "SPARSE_TENSOR_SPEC", IndexedSlicesSpec: "INDEXED_SLICES_SPEC",
          RaggedTensorSpec: "RAGGED_TENSOR_SPEC", DatasetSpec: "DATA_DATASET_SPEC", IteratorSpec: "DATA_ITERATOR_SPEC",
          OptionalSpec: "OPTIONAL_SPEC"}


def message(name="StructuredValue"):
    """The class of messages."""
    from penstock import proto
    return proto.message("tensorflow." + name)


def encode(value):
    """A structure of specs, shapes, types and plain values as a message. ValueError: it holds something else."""
    made = message()()
    if value is None:
        made.none_value.SetInParent()
    elif isinstance(value, bool):
        made.bool_value = value
    elif isinstance(value, int):
        made.int64_value = value
    elif isinstance(value, float):
        made.float64_value = value
    elif isinstance(value, str):
        made.string_value = value
    elif isinstance(value, dtypes.DType):
        made.tensor_dtype_value = value.as_datatype_enum
    elif isinstance(value, tensor_shape.TensorShape):
        made.tensor_shape_value.CopyFrom(value.as_proto())
    elif type(value) is TensorSpec:
        made.tensor_spec_value.name = value.name or ""
        made.tensor_spec_value.shape.CopyFrom(value.shape.as_proto())
        made.tensor_spec_value.dtype = value.dtype.as_datatype_enum
    elif type(value) in _KINDS:
        spec = made.type_spec_value
        spec.type_spec_class = message("TypeSpecProto").TypeSpecClass.Value(_KINDS[type(value)])
        spec.type_spec_class_name = type(value).__name__
        spec.type_state.CopyFrom(encode(tuple(value._serialize())))
        spec.num_flat_components = len(nest.flatten(value, expand_composites=True))
    elif nest._is_namedtuple(value):
        made.named_tuple_value.name = type(value).__name__
        for key, part in zip(value._fields, value):
            made.named_tuple_value.values.add(key=key).value.CopyFrom(encode(part))
    elif isinstance(value, (tuple, list)):
        target = made.tuple_value if isinstance(value, tuple) else made.list_value
        target.SetInParent()
        target.values.extend(map(encode, value))
    elif isinstance(value, dict):
        made.dict_value.SetInParent()
        for key, part in value.items():
            made.dict_value.fields[key].CopyFrom(encode(part))
    else:
        raise ValueError(f"No encoder for object {value} of type {type(value)}")
    return made


def decode(value):
    """What a message describes. ValueError: it holds what is not known here."""
    kind = value.WhichOneof("kind")
    if kind in (None, "none_value"):
        return None
    held = getattr(value, kind)
    if kind in ("bool_value", "int64_value", "float64_value", "string_value"):
        return held
    if kind == "tensor_dtype_value":
        return dtypes.as_dtype(held)
    if kind == "tensor_shape_value":
        return tensor_shape.TensorShape(held)
    if kind == "tensor_spec_value":
        return TensorSpec(tensor_shape.TensorShape(held.shape), dtypes.as_dtype(held.dtype), held.name or None)
    if kind == "type_spec_value":
        name = message("TypeSpecProto").TypeSpecClass.Name(held.type_spec_class)
        cls = next((cls for cls, known in _KINDS.items() if known == name), None)
        if cls is None:
            raise ValueError(f"The type '{held.type_spec_class_name}' is not available.")
        return cls._deserialize(decode(held.type_state))
    if kind == "named_tuple_value":
        cls = collections.namedtuple(held.name, [pair.key for pair in held.values])
        return cls(*(decode(pair.value) for pair in held.values))
    if kind in ("tuple_value", "list_value"):
        return (tuple if kind == "tuple_value" else list)(map(decode, held.values))
    if kind == "dict_value":
        return {key: decode(held.fields[key]) for key in held.fields}
    raise ValueError(f"No decoder for a value of kind {kind}")
