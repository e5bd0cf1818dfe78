"""Writes tensor_encodings.pb: a GraphDef of constants, as TensorFlow encodes them in every way that it knows.

Each node's `value` is one encoding; `_bytes` holds the elements as they lie in memory (strings: `_strings`).
Run with TensorFlow 2.
"""
import os

import ml_dtypes
import numpy as np
import tensorflow as tf
from tensorflow.core.framework import graph_pb2

TYPES = {
    "float32": np.float32, "float64": np.float64, "int8": np.int8, "int16": np.int16, "int32": np.int32,
    "int64": np.int64, "uint8": np.uint8, "uint16": np.uint16, "uint32": np.uint32, "uint64": np.uint64,
    "bool": np.bool_,
    "float16": np.float16, "bfloat16": ml_dtypes.bfloat16, "complex64": np.complex64, "complex128": np.complex128,
    "float8_e5m2": ml_dtypes.float8_e5m2, "float8_e4m3fn": ml_dtypes.float8_e4m3fn,
}
QUANTIZED = {"qint8": np.int8, "quint8": np.uint8, "qint16": np.int16, "quint16": np.uint16, "qint32": np.int32}


def add(graph, name, dtype, proto, value):
    node = graph.node.add(name=name, op="Const")
    node.attr["dtype"].type = tf.as_dtype(dtype).as_datatype_enum
    node.attr["value"].tensor.CopyFrom(proto)
    if dtype == "string":
        node.attr["_strings"].list.s.extend(np.asarray(value, object).ravel().tolist())
    else:
        node.attr["_bytes"].s = np.ascontiguousarray(value).tobytes()


def listed(value):
    """The elements one by one in the list of their type."""
    proto = tf.make_tensor_proto(value[0, 0], shape=value.shape)
    for element in value.ravel()[1:]:
        one = tf.make_tensor_proto(element)
        one.ClearField("tensor_shape")
        one.ClearField("dtype")
        proto.MergeFrom(one)
    return proto


def packed(value):
    proto = tf.make_tensor_proto(value[0, 0], shape=value.shape)
    for field, _ in proto.ListFields():
        if field.name.endswith("_val"):
            proto.ClearField(field.name)
    proto.tensor_content = value.tobytes()
    return proto


def main():
    graph = graph_pb2.GraphDef()
    rng = np.random.RandomState(0)
    for name, numpy_type in TYPES.items():
        value = (rng.randn(2, 3) * 5).astype(np.float32)
        if np.dtype(numpy_type).kind == "u":
            value = abs(value)
        value = value.astype(numpy_type)
        add(graph, f"{name}/made", name, tf.make_tensor_proto(value), value)
        add(graph, f"{name}/packed", name, packed(value), value)
        if not name.startswith("float8"):
            add(graph, f"{name}/listed", name, listed(value), value)
        add(graph, f"{name}/scalar", name, tf.make_tensor_proto(value[0, 1]), value[0, 1])
        add(graph, f"{name}/empty", name, tf.make_tensor_proto(value[:0]), value[:0])
        repeated = np.full([2, 2], value[1, 1], numpy_type)
        add(graph, f"{name}/repeated", name, tf.make_tensor_proto(value[1, 1], shape=[2, 2]), repeated)
    for name, numpy_type in QUANTIZED.items():
        value = np.array([1, 2, 7, 100]).astype(numpy_type)
        proto = tf.make_tensor_proto(value)
        proto.dtype = tf.as_dtype(name).as_datatype_enum
        add(graph, f"{name}/packed", name, proto, value)
        proto.ClearField("tensor_content")
        proto.int_val.extend([1, 2, 7, 100])
        add(graph, f"{name}/listed", name, proto, value)
    strings = [b"a", b"", b"some longer text, which does not fit inline", b"\x00\xff"]
    add(graph, "string/listed", "string", tf.make_tensor_proto(strings), strings)
    add(graph, "string/scalar", "string", tf.make_tensor_proto(b"one"), [b"one"])
    add(graph, "string/repeated", "string", tf.make_tensor_proto(b"xy", shape=[3]), [b"xy"] * 3)
    content = tf.make_tensor_proto(strings)
    content.ClearField("string_val")
    content.tensor_content = bytes(len(s) for s in strings) + b"".join(strings)
    assert tf.io.parse_tensor(content.SerializeToString(), tf.string).numpy().tolist() == strings
    add(graph, "string/packed", "string", content, strings)
    # Values beyond the shape are ignored by the C++ reader.
    more = tf.make_tensor_proto(np.float32(1.5))
    more.float_val.append(2.5)
    assert tf.io.parse_tensor(more.SerializeToString(), tf.float32).numpy() == 1.5
    add(graph, "float32/more", "float32", more, np.float32(1.5))
    for node in graph.node:  # what is recorded is what TensorFlow's own runtime reads
        if node.attr["dtype"].type in (11, 12, 13, 15, 16, 24, 25):
            continue
        read = tf.io.parse_tensor(node.attr["value"].tensor.SerializeToString(), node.attr["dtype"].type).numpy()
        if "_bytes" in node.attr:
            assert np.ascontiguousarray(read).tobytes() == node.attr["_bytes"].s, node.name
    with open(os.path.join(os.path.dirname(__file__), "tensor_encodings.pb"), "wb") as f:
        f.write(graph.SerializeToString(deterministic=True))


if __name__ == "__main__":
    main()
