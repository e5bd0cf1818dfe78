"""The fingerprint of a SavedModel: hashes of its parts, which stay the same when equal programs are saved again."""
import os
import re
import uuid as uuid_module

import numpy as np

from penstock._src.graph import context
from penstock._src.graph import gen
from penstock._src.files import file_io
from penstock.proto import fingerprint_pb2
from penstock.proto import saved_model_pb2
from penstock._src.checkpoint import constants
from penstock._src.saved_model import utils_impl
from penstock._src.base import compat

FINGERPRINT_FILENAME = "fingerprint.pb"
_PRODUCER = 4
_MULTIPLIER, _64_BITS = 0xC6A4A7935BD1E995, (1 << 64) - 1


def _hash(data):
    with context.eager_mode():
        made = gen.fingerprint(np.frombuffer(data, np.uint8).reshape(1, -1), "farmhash64")
    return int.from_bytes(made.numpy().tobytes(), "little")


def _without_number(name):
    return re.sub(r"\d+$", "", name)


def _hash_of_graph(graph_def):
    """Of the nodes alone, without numbers that differ from process to process."""
    plain = type(graph_def)()
    plain.CopyFrom(graph_def)
    for node in plain.node:
        if node.op in ("PartitionedCall", "StatefulPartitionedCall"):
            node.attr["f"].func.name = _without_number(node.attr["f"].func.name)
            if "config_proto" in node.attr:
                node.attr["config_proto"].s = b""
        elif node.op == "Const" and node.attr["dtype"].type == 7:
            node.attr["value"].Clear()
    plain.library.Clear()
    plain.library.SetInParent()
    plain.versions.Clear()
    plain.versions.SetInParent()
    return _hash(plain.SerializeToString(deterministic=True))


def _hash_of_signatures(signatures):
    total = 0
    for key in sorted(signatures):
        total = _joined(total, _hash(key.encode()))
        total = _joined(total, _hash(signatures[key].SerializeToString(deterministic=True)))
    return total


def _joined(a, b):
    """TensorFlow's hash of two hashes."""
    result = a ^ _MULTIPLIER
    result ^= _mixed(b * _MULTIPLIER & _64_BITS) * _MULTIPLIER & _64_BITS
    result = _mixed(result * _MULTIPLIER & _64_BITS) * _MULTIPLIER & _64_BITS
    return _mixed(result)


def _mixed(value):
    return value ^ value >> 47


def _number(name):
    return int(re.search(r"\d*$", name).group() or 0)


def _hash_of_functions(functions):
    """Of what functions take and give, in the order in which they were made; their numbers are left out."""
    total = 0
    for name in sorted(functions, key=lambda name: (_number(name), name)):
        total = _joined(total, _hash(_without_number(name).encode()))
        total = _joined(total, _hash(functions[name].SerializeToString(deterministic=True)))
    return total


def write_fingerprint(export_dir):
    """Writes the fingerprint of a model."""
    data = file_io.read_file_to_string(os.path.join(export_dir, constants.SAVED_MODEL_FILENAME_PB), binary_mode=True)
    meta_graph = saved_model_pb2.SavedModel.FromString(data).meta_graphs[0]
    message = fingerprint_pb2.FingerprintDef(
        saved_model_checksum=_hash(data), graph_def_program_hash=_hash_of_graph(meta_graph.graph_def),
        signature_def_hash=_hash_of_signatures(meta_graph.signature_def),
        saved_object_graph_hash=_hash_of_functions(meta_graph.object_graph_def.concrete_functions),
        uuid=str(uuid_module.uuid4().int))
    index = utils_impl.get_variables_path(export_dir) + ".index"
    if file_io.file_exists(index):
        message.checkpoint_hash = _hash(file_io.read_file_to_string(index, binary_mode=True))
    message.version.producer = _PRODUCER
    file_io.atomic_write_string_to_file(os.path.join(export_dir, FINGERPRINT_FILENAME),
                                        message.SerializeToString(deterministic=True))


class Fingerprint:
    """The hashes of a model, its number, and the version that wrote them."""

    def __init__(self, saved_model_checksum=None, graph_def_program_hash=None, signature_def_hash=None,
                 saved_object_graph_hash=None, checkpoint_hash=None, version=None, uuid=None):
        self.saved_model_checksum = saved_model_checksum
        self.graph_def_program_hash = graph_def_program_hash
        self.signature_def_hash = signature_def_hash
        self.saved_object_graph_hash = saved_object_graph_hash
        self.checkpoint_hash = checkpoint_hash
        self.version = version
        self.uuid = uuid

    @classmethod
    def from_proto(cls, proto):
        """Of a FingerprintDef."""
        return cls(proto.saved_model_checksum, proto.graph_def_program_hash, proto.signature_def_hash,
                   proto.saved_object_graph_hash, proto.checkpoint_hash, proto.version, proto.uuid)

    def _hashes(self):
        return (self.graph_def_program_hash, self.signature_def_hash, self.saved_object_graph_hash,
                self.checkpoint_hash)

    def __eq__(self, other):
        return isinstance(other, (Fingerprint, fingerprint_pb2.FingerprintDef)) and all(
            getattr(self, name) == getattr(other, name) for name in (
                "graph_def_program_hash", "signature_def_hash", "saved_object_graph_hash", "checkpoint_hash"))

    def __hash__(self):
        return hash(self._hashes())

    def __str__(self):
        names = ("saved_model_checksum", "graph_def_program_hash", "signature_def_hash", "saved_object_graph_hash",
                 "checkpoint_hash")
        return "\n".join(["SavedModel Fingerprint", *[f"  {name}: {getattr(self, name)}" for name in names], ""])

    def __repr__(self):
        return ("Fingerprint({}, {}, {}, {}, {})".format(self.saved_model_checksum, *self._hashes()))

    def singleprint(self):
        """One name made of the hashes. ValueError: one of them is missing."""
        if any(value is None for value in self._hashes()):
            raise ValueError("Encounted invalid fingerprint values when constructing singleprint.")
        return "/".join(str(value) for value in self._hashes())


def read_fingerprint(export_dir):
    """The fingerprint of a model. FileNotFoundError: it has none; RuntimeError: it cannot be read."""
    from google.protobuf import message
    path = os.path.join(compat.path_to_str(export_dir), FINGERPRINT_FILENAME)
    if not file_io.file_exists(path):
        raise FileNotFoundError(f"SavedModel Fingerprint Error: No fingerprint found in path: {path}.")
    try:
        found = fingerprint_pb2.FingerprintDef.FromString(file_io.read_file_to_string(path, binary_mode=True))
    except message.DecodeError as e:
        raise RuntimeError(f"SavedModel Fingerprint Error: {path}: {e}") from None
    return Fingerprint.from_proto(found)
