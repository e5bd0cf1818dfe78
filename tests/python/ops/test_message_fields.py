"""Fields of messages as tensors, both ways. Expected: what google.protobuf writes, errors TensorFlow 2.21's."""
import numpy as np
import pytest
from google.protobuf import descriptor_pb2, descriptor_pool, message_factory

import penstock as tf

pytestmark = pytest.mark.usefixtures("version_two")
# Kind of field: its number in FieldDescriptorProto, the tensor's type, two values.
KINDS = {
    "double": (1, "float64", [1.5, -2]), "float": (2, "float32", [2.5, 0]), "int64": (3, "int64", [-3, 2**62]),
    "uint64": (4, "uint64", [2**63, 1]), "int32": (5, "int32", [-5, 7]), "fixed64": (6, "uint64", [6, 2**63]),
    "fixed32": (7, "uint64", [2**31, 5]), "bool": (8, "bool", [True, False]), "string": (9, "string", ["hé", ""]),
    "bytes": (12, "string", [b"\0\1", b"x"]), "uint32": (13, "uint64", [2**32 - 1, 0]), "enum": (14, "int32", [7, 0]),
    "sfixed32": (15, "int32", [-15, 3]), "sfixed64": (16, "int64", [-16, 3]), "sint32": (17, "int32", [-17, 18]),
    "sint64": (18, "int64", [-18, 2**40])}


def _schema():
    file = descriptor_pb2.FileDescriptorProto(name="x.proto", package="pk", syntax="proto2")
    message = file.message_type.add(name="M")
    values = message.enum_type.add(name="E")
    values.value.add(name="A", number=0)
    values.value.add(name="B", number=7)
    for i, (kind, (number, _, _)) in enumerate(KINDS.items()):
        for label, suffix in ((1, ""), (3, "_r")):
            field = message.field.add(name=kind + suffix, number=2 * i + (label + 1) // 2, type=number, label=label)
            if label == 3:
                field.options.packed = kind in ("int32", "double", "sint64")
            if kind == "enum":
                field.type_name = ".pk.M.E"
    message.field[8].default_value = "42"  # of int32
    message.field.add(name="sub", number=100, type=11, label=1, type_name=".pk.M")
    group = message.nested_type.add(name="G")
    group.field.add(name="a", number=1, type=5, label=1)
    message.field.add(name="g", number=101, type=10, label=3, type_name=".pk.M.G")
    return file


FILE = _schema()
SOURCE = b"bytes://" + descriptor_pb2.FileDescriptorSet(file=[FILE]).SerializeToString()
POOL = descriptor_pool.DescriptorPool()
POOL.Add(FILE)
Message = message_factory.GetMessageClass(POOL.FindMessageTypeByName("pk.M"))


def decode(messages, names, types, **settings):
    settings = {"message_type": "pk.M", "descriptor_source": SOURCE, **settings}
    sizes, values = tf.io.decode_proto(messages, field_names=names, output_types=types, **settings)
    return sizes.numpy().tolist(), [v.numpy().tolist() for v in values]


def encode(sizes, values, names, **settings):
    settings = {"message_type": "pk.M", "descriptor_source": SOURCE, **settings}
    return tf.io.encode_proto(sizes, values, names, **settings).numpy().tolist()


def as_bytes(values):
    return [v.encode() if isinstance(v, str) else v for v in values]


@pytest.mark.parametrize("kind", KINDS)
def test_each_kind(kind):
    _, dtype, values = KINDS[kind]
    full = Message(**{kind: values[0], kind + "_r": values})
    default = {"string": b"", "bytes": b"", "int32": 42}.get(kind, 0)
    empty = default if isinstance(default, bytes) else 0
    sizes, decoded = decode([full.SerializeToString(), b""], [kind + "_r", kind], [dtype, dtype])
    assert sizes == [[2, 1], [0, 0]]
    assert decoded == [[as_bytes(values), [empty] * 2], [as_bytes(values[:1]), [default]]]
    given = tf.constant([as_bytes(values)], dtype) if dtype == "string" else tf.constant(np.array([values], dtype))
    assert encode([[2, 1]], [given, given[:, :1]], [kind + "_r", kind]) == [full.SerializeToString()]


def test_messages_within():
    inner = Message(int32=3)
    outer = Message(sub=inner)
    outer.g.add(a=5)
    outer.g.add()
    bytes_ = outer.SerializeToString()
    assert decode(bytes_, ["sub", "g"], [tf.string] * 2) == ([1, 2], [[inner.SerializeToString()], [b"\x08\x05", b""]])
    assert encode([[2, 1]], [tf.constant([["\x08\x05", ""]]), tf.constant([[inner.SerializeToString()]])],
                  ["g", "sub"]) == [bytes_]


def test_shapes_order_and_unpacked():
    number = Message.DESCRIPTOR.fields_by_name["int32_r"].number
    loose = b"".join(bytes([number << 3, v]) for v in (1, 2, 3))
    once = Message.DESCRIPTOR.fields_by_name["int32"].number
    assert decode([[loose], [bytes([once << 3, 4, once << 3, 5])]], ["int32", "int32_r"], ["int64", "int64"]) == (
        [[[0, 3]], [[1, 0]]], [[[[42]], [[5]]], [[[1, 2, 3]], [[0, 0, 0]]]])
    assert encode([[[1], [0]]], [tf.constant([[[3], [4]]])], ["int32"]) == [[bytes([once << 3, 3]), b""]]
    assert decode(b"", [], []) == ([], [])


def test_forms():
    assert decode(['int32: 3 string_r: "x" string_r: "y"'], ["int32", "string_r"], [tf.int32, tf.string],
                  message_format="text") == ([[1, 2]], [[[3]], [[b"x", b"y"]]])
    assert decode([Message(int32=9).SerializeToString()], ["int32"], [tf.int32], sanitize=True) == ([[1]], [[[9]]])
    node = tf.compat.v1.NodeDef(name="n", op="o").SerializeToString()
    assert decode(node, ["op", "name"], ["string"] * 2, message_type="tensorflow.NodeDef",
                  descriptor_source="local://") == ([1, 1], [[b"o"], [b"n"]])


def test_source_in_a_file(tmp_path):
    path = tmp_path / "set"
    path.write_bytes(SOURCE[len(b"bytes://"):])
    assert decode(b"", ["int32"], [tf.int32], descriptor_source=str(path)) == ([0], [[42]])


def test_errors():
    def wrong(match, call, error=tf.errors.InvalidArgumentError):
        with pytest.raises(error, match=match):
            call()

    def read(names=("int32",), types=("int32",), messages=b"", **settings):
        return lambda: decode(messages, list(names), list(types), **settings)

    def write(sizes, values, names=("int32_r",)):
        return lambda: encode(sizes, values, list(names))

    wrong("Unexpected output type for pk.M.enum: enum to int64", read(["enum"], ["int64"]))
    wrong("Unknown field: zz in message type pk.M", read(["zz"]))
    wrong("No descriptor found for message type pk.Z", read(message_type="pk.Z"))
    wrong("must have the same length", read(["int32", "int64"]))
    wrong("does not represent serialized file descriptor set", read(descriptor_source="bytes://zzz"))
    wrong("does not represent serialized file descriptor set", read(descriptor_source="/nothing/here"))
    wrong("must be one of binary or text", read(message_format="zz"))
    wrong("must contain at least one value", read(messages=np.array([], object)))
    lost = tf.errors.DataLossError
    wrong("Failed to consume entire buffer", read(messages=[b"\xff\xff\xff"]), lost)
    wrong("Failed skipping unrequested", read(messages=[Message(string="long").SerializeToString()[:-1]]), lost)
    wrong("Illegal data length for packed", read(["double_r"], ["float64"], [bytes([
        Message.DESCRIPTOR.fields_by_name["double_r"].number << 3 | 2, 3]) + b"abc"]), lost)
    wrong("Unable to parse text", read(messages=["int32: z"], message_format="text"), lost)
    wrong("Unable to parse binary", read(messages=[b"\xff\xff"], sanitize=True), lost)
    one = tf.constant([[3]])
    wrong("Saw dtype: float but field type is: int32", write([[1]], [tf.constant([[3.]])]))
    wrong("3 > 1 at message 0 field 0", write([[3]], [one]))
    wrong(r"Saw: \[1,2\] but expected: \[1,1\]", write([[1, 1]], [one]))
    wrong("match up to the last dimension", write([[1, 1]], [one, tf.constant([[3], [4]])], ["int32", "int32_r"]))
    wrong("should be at least a matrix", write([1], [tf.constant([3])]))
    wrong("must match field_names", write([[1]], [one], ["int32", "int64"]))
    wrong("Unknown field: zz", write([[1]], [one], ["zz"]))
