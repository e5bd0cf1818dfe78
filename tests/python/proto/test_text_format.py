"""Messages that real TensorFlow wrote, as text and in binary (tests/oracle/proto_texts.py), read and written here."""
import base64
import importlib.util
import pathlib

import pytest
from google.protobuf import text_format

from penstock import proto

ORACLE = pathlib.Path(__file__).parents[2] / "oracle" / "proto_texts.py"
spec = importlib.util.spec_from_file_location("oracle_proto_texts", ORACLE)
oracle = importlib.util.module_from_spec(spec)
spec.loader.exec_module(oracle)

RECORD = oracle.load()
CASES = [(version, name) for version in RECORD for name in RECORD[version]]


def read(version, name):
    full_name, text, binary = RECORD[version][name]
    return proto.message(full_name), text, base64.b64decode(binary)


def canonical(message):
    return message.SerializeToString(deterministic=True)


@pytest.mark.parametrize("version, name", CASES)
def test_text_and_binary_say_the_same(version, name):
    kind, text, binary = read(version, name)
    assert canonical(text_format.Parse(text, kind())) == canonical(kind.FromString(binary))


@pytest.mark.parametrize("version, name", CASES)
def test_nothing_is_unknown(version, name):
    kind, _, binary = read(version, name)
    message = kind.FromString(binary)
    before = message.ByteSize()
    message.DiscardUnknownFields()
    assert message.ByteSize() == before == len(binary)


@pytest.mark.parametrize("version, name", CASES)
def test_text_written_here_is_the_text_written_there(version, name):
    kind, text, binary = read(version, name)
    written = text_format.MessageToString(kind.FromString(binary))
    assert canonical(text_format.Parse(written, kind())) == canonical(kind.FromString(binary))
    # The order of a map's entries and the spelling of floats differ between protobuf's versions.
    assert len(written.splitlines()) == len(text.splitlines())
    assert sorted(line for line in written.splitlines() if ": " not in line) == sorted(
        line for line in text.splitlines() if ": " not in line)


def test_what_is_read_is_what_was_built():
    kind, text, _ = read("1.15.5", "graph")
    graph = text_format.Parse(text, kind())
    nodes = {node.name: node for node in graph.node}
    assert nodes["y"].op == "Relu" and list(nodes["y"].input) == ["add"]
    assert nodes["layer/w"].device == "/device:CPU:0"
    assert [dim.size for dim in nodes["x"].attr["shape"].shape.dim] == [-1, 4]
    assert list(nodes["words"].attr["value"].tensor.string_val) == [b"a", b"\x00\xff\"quote\"", "Zürich".encode()]
    assert nodes["words"].attr["dtype"].type == proto.DataType.Value("DT_STRING")
    assert any(function.signature.name.startswith("double") for function in graph.library.function)


def test_text_with_an_unknown_field_is_refused():
    with pytest.raises(text_format.ParseError, match="no_such_field"):
        text_format.Parse("no_such_field: 1", proto.GraphDef())
