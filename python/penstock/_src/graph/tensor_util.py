"""TensorProto messages, and what is known of a tensor's value before anything runs."""
from typing import Optional

import numpy as np

from penstock._src.graph import dtypes
from penstock._src.graph import tensor_shape
from penstock._src.base import tf2
from penstock._src.graph import tensor_values
from penstock._src.graph import types
from penstock._src.graph.tensor import Tensor, is_dense_tensor_like
from penstock._src.base import compat

_CONTENT_TYPES = frozenset({"float32", "float64", "int32", "uint8", "int16", "int8", "int64", "qint8", "quint8",
                            "qint16",
                            "quint16", "qint32", "uint32", "uint64"})
# Fields of TensorProto by type.
_FIELDS = {"float32": "float_val", "float64": "double_val", "int32": "int_val", "uint8": "int_val", "uint16": "int_val",
           "int16": "int_val", "int8": "int_val", "int64": "int64_val", "bool": "bool_val", "uint32": "uint32_val",
           "uint64": "uint64_val", "complex64": "scomplex_val", "complex128": "dcomplex_val", "float16": "half_val",
           "bfloat16": "half_val", "string": "string_val", "qint8": "int_val", "quint8": "int_val", "qint16": "int_val",
           "quint16": "int_val", "qint32": "int_val", "int4": "int_val", "uint4": "int_val",
           "int2": "int_val", "uint2": "int_val",
           **{name: "float8_val" for name in ("float8_e5m2", "float8_e4m3fn", "float8_e4m3fnuz", "float8_e4m3b11fnuz",
                                              "float8_e5m2fnuz")}}
_VERSION_TWO_CONTENT_TYPES = _CONTENT_TYPES | {"float16", "bfloat16"} | {
    name for name, field in _FIELDS.items() if field == "float8_val"}


def _message():
    from penstock import proto
    return proto.message("tensorflow.TensorProto")


def make_tensor_proto(values, dtype=None, shape=None, verify_shape=False, allow_broadcast=False):
    """A TensorProto of a number, string, nested lists of them, or an array.

    With `shape`, the last value stands for all that are missing, unless `verify_shape` (TypeError) says otherwise; with
    `allow_broadcast` only a single value may be repeated. TypeError, ValueError: the values are no tensor of this kind.
    """
    if allow_broadcast and verify_shape:
        raise ValueError("allow_broadcast and verify_shape are not both allowed.")
    cls = _message()
    if isinstance(values, cls):
        return values
    if shape is not None:
        shape = [int(d) for d in shape]
    if isinstance(values, Tensor) and values._is_eager:
        values, dtype = values.__array__(), values.dtype if dtype is None else dtype
    array, dtype, shape = tensor_values.to_array(values, dtype, shape, verify_shape, allow_broadcast)
    message = cls(dtype=dtype._type_enum, tensor_shape=tensor_shape.TensorShape(shape).as_proto())
    size = int(np.prod(shape, dtype=np.int64))
    content = _VERSION_TWO_CONTENT_TYPES if tf2.enabled() else _CONTENT_TYPES
    if array.size == size and size > 1 and dtype.name in content:
        if array.size * array.itemsize >= 1 << 31:
            raise ValueError("Cannot create a tensor proto whose content is larger than 2GB.")
        message.tensor_content = np.ascontiguousarray(array).tobytes()
        return message
    field = _FIELDS.get(dtype.name)
    if field is None:
        raise TypeError(f"Element type not supported in TensorProto: {dtype.name}")
    if field == "float8_val":
        message.float8_val = array.tobytes()
    else:
        getattr(message, field).extend(_items(array.ravel(), dtype))
    return message


def _items(flat, dtype):
    """The elements as the message's field wants them."""
    if dtype == dtypes.string:
        return [compat.as_bytes(x) for x in flat.tolist()]
    if dtype.is_complex:
        return [part for x in flat.tolist() for part in (x.real, x.imag)]
    if dtype.name in ("float16", "bfloat16"):
        return flat.view(np.uint16).tolist()
    if dtype.is_quantized:
        return flat.view(flat.dtype[0]).tolist()
    return flat.tolist()


def MakeNdarray(tensor):  # noqa: N802
    """The array that a TensorProto describes. TypeError if NumPy has no such type."""
    shape = [d.size for d in tensor.tensor_shape.dim]
    dtype = dtypes.as_dtype(tensor.dtype)
    if dtype.name not in _FIELDS:
        raise TypeError(f"Unsupported tensor type: {tensor.dtype}")
    kind = dtype.as_numpy_dtype
    if tensor.tensor_content:
        return np.frombuffer(tensor.tensor_content, dtype=kind).copy().reshape(shape)
    items = list(getattr(tensor, _FIELDS[dtype.name]))
    size = int(np.prod(shape, dtype=np.int64))
    if dtype == dtypes.string:
        items += [items[-1] if items else b""] * (size - len(items))
        values = np.empty(len(items), object)
        values[:] = items
        return values.reshape(shape)
    if dtype.is_complex:
        flat = np.array([complex(a, b) for a, b in zip(items[::2], items[1::2])], kind)
    elif dtype.name in ("float16", "bfloat16"):
        flat = np.array(items, np.uint16).view(kind)
    elif _FIELDS[dtype.name] == "float8_val":
        flat = np.array(items, np.uint8).view(kind)
    elif dtype.is_quantized:
        flat = np.array(items).astype(kind[0]).view(kind)
    else:
        flat = np.array(items).astype(kind)
    if flat.size == 0:
        return np.zeros(shape, kind)
    return np.array(tensor_values.filled(flat, shape))


make_ndarray = MakeNdarray


def TensorShapeProtoToList(shape):  # noqa: N802
    """The sizes in a TensorShapeProto."""
    return [dim.size for dim in shape.dim]


def ShapeEquals(tensor_proto, shape):  # noqa: N802
    """Whether a TensorProto has this shape (a list, a tuple or a message)."""
    if not isinstance(tensor_proto, _message()):
        raise TypeError("tensor_proto is not a tensor_pb2.TensorProto object")
    if hasattr(shape, "unknown_rank"):
        shape = [d.size for d in shape.dim]
    elif not isinstance(shape, (list, tuple)):
        raise TypeError("shape is not a list or tuple")
    return all(d.size == s for d, s in zip(tensor_proto.tensor_shape.dim, shape))


def is_tensor(x):
    """Whether it is a tensor, or behaves like one: a variable, a sparse or ragged tensor, slices of one. Other values
    made of tensors are not: datasets, say."""
    return isinstance(x, types.AnyTensor) or is_dense_tensor_like(x) or getattr(x, "is_tensor_like", False)


is_tf_type = is_tensor  # its name in version 2


def is_symbolic_tensor(tensor):
    """Whether it is a tensor, or what is made of tensors, that has no value yet."""
    if isinstance(tensor, Tensor):
        return not tensor._is_eager
    if getattr(tensor, "_is_composite_tensor", False):
        from penstock._src.base import nest
        return any(map(is_symbolic_tensor, nest.flatten(tensor, expand_composites=True)))
    return False


# The ops through which constant_value sees: those of version 1, so that programs that ask it build version 1's graphs.
# The runtime's own inference sees further.
_ENDS = frozenset(["Const", "Shape", "Size", "Rank"])
_SEEN_THROUGH = frozenset(["Range", "Cast", "Concat", "ConcatV2", "Pack", "Fill", "Equal", "NotEqual"])

# These, too, since version 2.
_SEEN_THROUGH_BY_TWO = frozenset(["CheckNumericsV2", "DebugIdentityV2", "Identity", "Split", "StopGradient", "Unpack"])
_SEEN_AS_SHAPES = frozenset(["StridedSlice"])


def _is_followed(op):
    """Whether only such ops lie between constants, or static shapes, and the operation."""
    stack = [op]
    while stack:
        op = stack.pop()
        if op.type in _SEEN_THROUGH or op.type in _SEEN_THROUGH_BY_TWO and tf2.enabled():
            stack += [x.op for x in (op.inputs[1:] if op.type == "Fill" else op.inputs)]  # a shape is known by itself
        elif op.type not in _ENDS:
            return False
    return True


def constant_value(tensor, partial=False):
    """The value of a tensor if it follows from constants, else None; what is no tensor is returned as it is.

    With `partial`, a stack of scalars of which some are known gives an array of objects with None for the others. A
    tensor whose value was found can no longer be fed.
    """
    if not is_tensor(tensor):
        return tensor
    if not isinstance(tensor, Tensor):
        return None
    if tensor._is_eager:
        return tensor._as_array()[()] if tensor.dtype.is_numpy_compatible else None
    graph = tensor.graph
    kind = tensor.op.type
    if kind == "Pack" and tensor.op.get_attr("axis") != 0:
        return None
    known = graph._core.constant_value(*tensor._key) if _is_followed(tensor.op) else None
    if known is not None:
        graph.prevent_feeding(tensor)
        value = known.numpy()
        return value if kind == "Size" else np.asarray(value)
    if partial and kind == "Pack":
        values = np.empty(len(tensor.op.inputs), object)
        values[:] = [constant_value(x, partial) for x in tensor.op.inputs]
        return values
    return None


get_static_value = constant_value


def try_evaluate_constant(tensor):
    """The value of a tensor of a graph if it follows from constants, else None."""
    return constant_value(tensor)


def constant_value_as_shape(tensor):
    """The TensorShape whose sizes a vector holds, as far as they are known. ValueError for a scalar other than -1."""
    shape = tensor.get_shape()
    if tensor._is_eager and shape.rank == 1:
        return tensor_shape.TensorShape([None if d == -1 else int(d) for d in tensor._as_array()])
    if shape.rank == 0:
        value = constant_value(tensor)
        if value is None:
            raise ValueError("Received a scalar with unknown value as shape; require a statically known scalar with "
                             "value '-1' to describe an unknown shape.")
        if value != -1:
            raise ValueError(f"Received a scalar value '{value}' as shape; require a statically known scalar with "
                             "value '-1' to describe an unknown shape.")
        return tensor_shape.unknown_shape()
    shape = shape.with_rank(1)
    if shape._values == (0,):
        return tensor_shape.TensorShape([])
    outside = _outside_of_body(tensor)
    if outside is not None:
        return constant_value_as_shape(outside)
    parts = _shape_parts(tensor.op)
    if parts is not None:
        return parts
    known = tensor_shape.unknown_shape(shape._values[0])
    if tensor.op.type in _SEEN_AS_SHAPES or _is_followed(tensor.op):
        found = tensor_shape.TensorShape._from_core(tensor.graph._core.constant_value_as_shape(*tensor._key))
        known = known if found.rank is None else known.merge_with(found)
    return known


def _outside_of_body(tensor):
    """What an input of a function's body stands for if the body has captured it, or None."""
    graph = tensor.op.graph
    if tensor.op.type == "Placeholder" and graph.building_function:
        for outer, inner in getattr(graph, "captures", ()):
            if inner is tensor:
                return outer
    return None


def maybe_set_static_shape(tensor, shape, rest=None):
    """Sets in a function's body what is known of a tensor's shape and returns the tensor: the value of the tensor
    `shape`, whose capture shape inference does not look through, and after it the shape of input number `rest` of the
    op."""
    if (not tensor._is_eager and tensor.graph.building_function and not tensor.shape.is_fully_defined()
            and is_tf_type(shape)):
        known = constant_value_as_shape(shape_tensor(shape))
        tensor.set_shape(known if rest is None else known.concatenate(tensor.op.inputs[rest].shape))
    return tensor


def _shape_parts(op):
    """What the inputs of an operation that puts shapes together say of its value, or None."""
    if op.type == "Cast" and op.outputs[0].dtype in (dtypes.int32, dtypes.int64):
        return constant_value_as_shape(op.inputs[0])
    if op.type == "Pack" and op.get_attr("axis") == 0:
        sizes = [constant_value(x) for x in op.inputs]
        return tensor_shape.TensorShape([None if s is None or s < 0 else int(s) for s in sizes])
    if op.type in ("Concat", "ConcatV2"):
        result = tensor_shape.TensorShape([])
        for part in op.inputs[1:] if op.type == "Concat" else op.inputs[:-1]:
            result = result.concatenate(constant_value_as_shape(part))
        return result
    if op.type == "StridedSlice" and not any(
            op.get_attr(m) for m in ("ellipsis_mask", "new_axis_mask", "shrink_axis_mask")):
        bounds = [constant_value(x) for x in op.inputs[1:4]]
        if all(b is not None for b in bounds):
            begin: Optional[int]
            end: Optional[int]
            begin, end, step = (int(b[0]) for b in bounds)
            begin = None if op.get_attr("begin_mask") == 1 else begin
            end = None if op.get_attr("end_mask") == 1 else end
            whole = constant_value_as_shape(op.inputs[0])
            return None if whole.rank is None else whole[begin:end:step]
    return None


def shape_tensor(shape):
    """A shape, of any form, as an integer tensor."""
    from penstock._src.graph import conversion
    dtype = None
    if isinstance(shape, (list, tuple)) and all(isinstance(d, (int, tensor_shape.Dimension)) for d in shape):
        dtype = None if shape else dtypes.int32
        shape = [tensor_shape.dimension_value(d) for d in shape]
    return conversion.convert_to_tensor(shape, dtype=dtype, name="shape")
