"""Example messages, compressed bytes, sparse tensors as messages."""

import zlib

import numpy as np
from spec import Case, Type, V, i64


def s(*values):
    return np.array(list(values), object)


def one(value):
    return np.array(value, object)


def _varint(value):
    made = b""
    while value >= 128:
        made += bytes([value % 128 + 128])
        value //= 128
    return made + bytes([value])


def _field(number, content):
    return _varint(number * 8 + 2) + _varint(len(content)) + content


def _ints(*values):
    return _field(3, _field(1, b"".join(_varint(v % 2**64) for v in values)))


def _loose_ints(*values):
    """Integers one by one, as programs without packing write them."""
    return _field(3, b"".join(b"\x08" + _varint(v % 2**64) for v in values))


def _floats(*values):
    return _field(2, _field(1, np.array(values, "<f4").tobytes()))


def _bytes(*values):
    return _field(1, b"".join(_field(1, v) for v in values))


def _features(**features):
    return b"".join(_field(1, _field(1, k.encode()) + _field(2, v)) for k, v in features.items())


def _example(**features):
    return _field(1, _features(**features))


def _sequence(context, **lists):
    made = _field(1, _features(**context))
    body = b"".join(
        _field(1, _field(1, k.encode()) + _field(2, b"".join(_field(1, f) for f in v))) for k, v in lists.items()
    )
    return made + _field(2, body)


def _tensor(dtype, array):
    dims = b"".join(_field(2, b"\x08" + _varint(d)) for d in array.shape)
    return b"\x08" + _varint(dtype) + _field(2, dims) + _field(4, array.tobytes())


_FULL = _example(i=_ints(1, -2), f=_floats(0.5, 2.5), b=_bytes(b"x", b"\xff\x00"))
_PART = _example(i=_loose_ints(7, 8), b=_bytes(b"only"))
_EMPTY = b""
_KINDS = [Type("int64"), Type("float32"), Type("string")]
_SEQUENCE = _sequence({"c": _ints(3), "d": _floats(1.5)}, l=[_ints(1, 2), _ints(), _ints(3)], w=[_bytes(b"a", b"b")])
_OTHER = _sequence({"d": _floats(-1)}, w=[_bytes(b"c", b"d"), _bytes(b"e", b"f")])


def _cases():
    made = []

    def add(op, error=None, types=("float32",), **args):
        made.append(Case(op, args, error=error, types=types, grad=False))

    none = np.array([], np.int64), np.array([], np.float32), np.array([], object)
    keys = [one(b"i"), one(b"f"), one(b"b")]
    given = [i64(4, 5), np.array([0.25, 0.75], np.float32), s(b"p", b"q")]
    two = [[2], [2], [2]]
    both = s(_FULL, _PART, _EMPTY)

    def example(serialized, names=s(), error=None, **args):
        sparse, dense = args.get("sparse", []), args.get("dense", [])
        add(
            "ParseExample",
            serialized=serialized,
            names=names,
            sparse_keys=sparse,
            dense_keys=dense,
            dense_defaults=args.get("defaults", []),
            sparse_types=_KINDS[: len(sparse)],
            dense_shapes=args.get("shapes", []),
            error=error,
        )
        plain = args.get("ragged", [])
        add(
            "ParseExampleV2",
            serialized=serialized,
            names=names,
            sparse_keys=s(*[k.item() for k in sparse]),
            dense_keys=s(*[k.item() for k in dense]),
            ragged_keys=s(*[k.item() for k in plain]),
            dense_defaults=args.get("defaults", []),
            num_sparse=len(sparse),
            sparse_types=_KINDS[: len(sparse)],
            ragged_value_types=_KINDS[: len(plain)],
            ragged_split_types=[Type("int32"), Type("int64"), Type("int64")][: len(plain)],
            dense_shapes=args.get("shapes", []),
            error=error,
        )

    example(both, sparse=keys)
    example(both, sparse=[], ragged=keys)
    example(both, sparse=keys[:1], dense=keys[1:], defaults=[np.array([1, 2], np.float32), s(b"p")],
            shapes=[[2], [1]], error="")
    example(both, dense=keys, defaults=given, shapes=two)
    example(s(_FULL), dense=keys, defaults=list(none), shapes=two)
    example(s(_FULL, _PART), dense=keys[:1], defaults=[i64(9)], shapes=[[-1]])
    example(s(), sparse=keys[:1], dense=keys[1:], defaults=given[1:], shapes=two[1:])
    example(both, dense=keys, defaults=list(none), shapes=two, error="")  # no value and no default
    example(s(_FULL), sparse=[one(b"f")], error="")  # another type
    example(s(b"\x0a"), sparse=keys, error="")
    example(s(_FULL), dense=keys[:1], defaults=[i64(1, 2, 3)], shapes=[[3]], error="")
    for message in (_FULL, _PART):
        add(
            "ParseSingleExample",
            serialized=one(message),
            dense_defaults=given,
            num_sparse=0,
            sparse_keys=[],
            dense_keys=["i", "f", "b"],
            sparse_types=[],
            dense_shapes=two,
            error="" if message is _PART else None,
        )
        add(
            "ParseSingleExample",
            serialized=one(message),
            dense_defaults=[],
            num_sparse=3,
            sparse_keys=["i", "f", "b"],
            dense_keys=[],
            sparse_types=_KINDS,
            dense_shapes=[],
        )
    add(
        "ParseSingleExample",
        serialized=one(_EMPTY),
        dense_defaults=[none[0]],
        num_sparse=0,
        sparse_keys=[],
        dense_keys=["i"],
        sparse_types=[],
        dense_shapes=[[2]],
        error="",
    )

    def sequences(serialized, error=None, **args):
        add(
            "ParseSequenceExample",
            serialized=serialized,
            debug_name=s(),
            context_dense_defaults=[np.array([9], np.float32)],
            feature_list_dense_missing_assumed_empty=args.get("empty", []),
            context_sparse_keys=["c"],
            context_dense_keys=["d"],
            feature_list_sparse_keys=["l"],
            feature_list_dense_keys=["w"],
            Ncontext_dense=1,
            context_sparse_types=[Type("int64")],
            feature_list_dense_types=[Type("string")],
            context_dense_shapes=[[1]],
            feature_list_sparse_types=[Type("int64")],
            feature_list_dense_shapes=[[2]],
            Ncontext_sparse=1,
            Nfeature_list_sparse=1,
            Nfeature_list_dense=1,
            error=error,
        )
        add(
            "ParseSequenceExampleV2",
            serialized=serialized,
            debug_name=s(),
            context_sparse_keys=s(b"c"),
            context_dense_keys=s(b"d"),
            context_ragged_keys=s(),
            feature_list_sparse_keys=s(),
            feature_list_dense_keys=s(b"w"),
            feature_list_ragged_keys=s(b"l"),
            feature_list_dense_missing_assumed_empty=np.array([bool(args.get("empty"))]),
            context_dense_defaults=[np.array([9], np.float32)],
            Ncontext_sparse=1,
            context_sparse_types=[Type("int64")],
            context_ragged_value_types=[],
            context_ragged_split_types=[],
            context_dense_shapes=[[1]],
            Nfeature_list_sparse=0,
            Nfeature_list_dense=1,
            feature_list_dense_types=[Type("string")],
            feature_list_sparse_types=[],
            feature_list_ragged_value_types=[Type("int64")],
            feature_list_ragged_split_types=[Type("int32")],
            feature_list_dense_shapes=[[2]],
            error=error,
        )

    sequences(s(_SEQUENCE, _OTHER))
    sequences(s(_SEQUENCE, _EMPTY), empty=["w"])
    sequences(s(_SEQUENCE, _EMPTY), error="")

    def single(serialized, error=None, empty=s()):
        add(
            "ParseSingleSequenceExample",
            serialized=one(serialized),
            feature_list_dense_missing_assumed_empty=empty,
            context_sparse_keys=[one(b"c")],
            context_dense_keys=[one(b"d")],
            feature_list_sparse_keys=[one(b"l")],
            feature_list_dense_keys=[one(b"w")],
            context_dense_defaults=[np.array([9], np.float32)],
            debug_name=one(b""),
            context_sparse_types=[Type("int64")],
            feature_list_dense_types=[Type("string")],
            context_dense_shapes=[[1]],
            feature_list_sparse_types=[Type("int64")],
            feature_list_dense_shapes=[[2]],
            error=error,
        )

    single(_SEQUENCE)
    single(_OTHER)
    single(_EMPTY, empty=s(b"w"))
    single(_EMPTY, error="")

    add("DecodeJSONExample",
        json_examples=s(b"{}", b'{"features":{"feature":{"a":{"int64List":{"value":["1","-2"]}}}}}'))
    add("DecodeJSONExample", json_examples=s(b'{"features":{"feature":{"a":{"floatList":{"value":[1.5,"NaN"]}}}}}'))
    add("DecodeJSONExample", json_examples=one(b'{"features": {"feature": {"b": {"bytesList": {"value": ["YQ=="]}}}}}'))
    for wrong in (b"{", b'{"features": 3}', b'{"nothing": {}}'):
        add("DecodeJSONExample", json_examples=s(wrong), error="")
    packer = zlib.compressobj(9, zlib.DEFLATED, zlib.MAX_WBITS + 16)
    gzipped = packer.compress(b"gzip" * 50) + packer.flush()
    add("DecodeCompressed", bytes=s(b"plain", b""))
    add("DecodeCompressed", bytes=s(zlib.compress(b"z" * 1000), zlib.compress(b"")), compression_type="ZLIB")
    add("DecodeCompressed", bytes=one(gzipped), compression_type="GZIP")
    add("DecodeCompressed", bytes=s(b"not compressed"), compression_type="ZLIB", error="")
    add("DecodeCompressed", bytes=s(b"x"), compression_type="LZ", error="")
    for op in ("SerializeSparse", "SerializeManySparse"):
        add(
            op,
            sparse_indices=i64([[0, 1], [2, 0], [2, 3]]),
            sparse_values=V(3),
            sparse_shape=i64(3, 4),
            types=("float32", "int64", "bool", "string"),
        )
    add(
        "SerializeManySparse", sparse_indices=i64([[0, 1]]), sparse_values=V(3), sparse_shape=i64(3, 4), error=""
    )
    add("SerializeManySparse", sparse_indices=i64([[0, 1]]), sparse_values=V(1), sparse_shape=i64(3), error="")
    first = [_tensor(9, i64([[0, 1], [2, 0]])), _tensor(1, np.array([1.5, -2], np.float32)), _tensor(9, i64(3, 4))]
    other = [_tensor(9, i64([[1, 4]])), _tensor(1, np.array([7], np.float32)), _tensor(9, i64(2, 6))]
    for given in ([first, other], [other], [first, first, other]):
        add("DeserializeManySparse", serialized_sparse=np.array(given, object), dtype=Type("float32"))
        add("DeserializeSparse", serialized_sparse=np.array(given, object), dtype=Type("float32"))
    add("DeserializeSparse", serialized_sparse=np.array(first, object), dtype=Type("float32"))
    add("DeserializeSparse", serialized_sparse=np.array([[first, other]], object), dtype=Type("float32"))
    third = [_tensor(9, i64([[1, 4, 0]])), _tensor(1, np.array([7], np.float32)), _tensor(9, i64(2, 6, 1))]
    for op in ("DeserializeManySparse", "DeserializeSparse"):
        add(op, serialized_sparse=np.array([first, other], object), dtype=Type("int64"), error="")
        add(op, serialized_sparse=np.array([first, third], object), dtype=Type("float32"), error="")
        add(op, serialized_sparse=np.array([[b"a", b"b", b"c"]], object), dtype=Type("float32"), error="")
        add(op, serialized_sparse=np.array([first[:2]], object), dtype=Type("float32"), error="")
    return made


CASES = _cases()
