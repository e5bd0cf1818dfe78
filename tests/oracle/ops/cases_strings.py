"""Strings: lengths, parts, patterns, numbers, encodings; sets."""

import numpy as np
from spec import ALL, Case, Type, V, i32, i64


def s(*values):
    """A vector of strings, or the array that one list describes."""
    made = values[0] if len(values) == 1 and isinstance(values[0], list) else list(values)
    return np.array(made, object)


def one(value):
    return np.array(value, object)


_WORDS = s(b"", b"a", b"Hello World", b"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80x", b"  blank\t\n", b"a,b,,c", b"x" * 40)


def _cases():
    made = []

    def add(op, error=None, types=("float32",), **args):
        made.append(Case(op, args, error=error, types=types, grad=False))

    for words in (_WORDS, one(b"Just One"), s([]), s([[b"ab", b"Cd"], [b"\xff\xfe", b"0"]])):
        for unit in ("BYTE", "UTF8_CHAR"):
            add("StringLength", input=words, unit=unit)
        for encoding in ("", "utf-8"):
            add("StringLower", input=words, encoding=encoding)
            add("StringUpper", input=words, encoding=encoding)
        add("StringStrip", input=words)
        for pad in (False, True):
            add("EncodeBase64", input=words, pad=pad)
        for op in ("StringToHashBucketFast", "StringToHashBucket"):
            add(op, **{"input" if op.endswith("Fast") else "string_tensor": words}, num_buckets=1000)
        add("StringToHashBucketStrong", input=words, num_buckets=1000, key=[1, 2])
        for pattern, rewrite in (("a", "b"), ("(l+)o", "<\\1>"), ("[[:space:]]+", ""), (".*", "all"), ("", "-")):
            for everywhere in (False, True):
                add(
                    "RegexReplace",
                    input=words,
                    pattern=one(pattern.encode()),
                    rewrite=one(rewrite.encode()),
                    replace_global=everywhere,
                )
                add("StaticRegexReplace", input=words, pattern=pattern, rewrite=rewrite, replace_global=everywhere)
            add("RegexFullMatch", input=words, pattern=one(pattern.encode()))
            add("StaticRegexFullMatch", input=words, pattern=pattern)
        add("StringJoin", inputs=[words, words], separator="+")
        add("StringJoin", inputs=[words, one(b"!")])
        add("StringFormat", inputs=[words], template="(%s)", placeholder="%s", summarize=2)
    for data in (_WORDS, s([[b"ab", b"Cd"], [b"\xff\xfe", b"0"]]), s([]), np.zeros((2, 0), np.float32),
                 np.arange(12, dtype=np.int16).reshape(3, 2, 2)):
        add("Fingerprint", data=data, method=one(b"farmhash64"))
    add("Fingerprint", data=_WORDS, method=one(b"md5"), error="")
    add("Fingerprint", data=one(b"a"), method=one(b"farmhash64"), error="")
    add("StringToHashBucketStrong", input=_WORDS, num_buckets=1000, key=[1], error="")
    add("StringToHashBucketFast", input=_WORDS, num_buckets=0, error="")
    add("RegexReplace", input=_WORDS, pattern=one(b"("), rewrite=one(b""), error="")
    add("RegexFullMatch", input=_WORDS, pattern=one(b"["), error="")
    add("StringJoin", inputs=[_WORDS, s(b"a", b"b")], error="")
    add("StringFormat", inputs=[V(2, 3)], template="x=%s", types=("float32", "int32", "bool", "string"))
    add("StringFormat", inputs=[V(7), V()], template="%s and %s.", summarize=-1, types=("float32", "int64"))
    add("StringFormat", inputs=[V(2)], template="%s %s", error="")
    words = s(b"abcdef", b"\xc3\xa4bcd")
    for pos, length in ((0, 2), (-2, 2), (1, 100), (2, 0)):
        for make in (i32, i64):
            for unit in ("BYTE", "UTF8_CHAR"):
                add("Substr", input=words, pos=make(pos), len=make(length), unit=unit)
    add("Substr", input=words, pos=i32(1, 2), len=i32(1, 3))
    add("Substr", input=words, pos=i32([[1], [2]]), len=i32([[1], [1]]))
    add("Substr", input=words, pos=i32(9), len=i32(1), error="")
    add("Substr", input=words, pos=i32(1, 2, 3), len=i32(1, 1, 1), error="")
    add("Substr", input=words, pos=i32(1), len=i32(1, 1), error="")
    for sep in (b"", b",", b" ", b"ab"):
        for maximum in (-1, 1):
            add("StringSplitV2", input=_WORDS, sep=one(sep), maxsplit=maximum)
        for skip in (False, True):
            add("StringSplit", input=_WORDS, delimiter=one(sep), skip_empty=skip)
    add("StringSplitV2", input=one(b"a"), sep=one(b","), error="")
    add("StringSplit", input=s([[b"a"]]), delimiter=one(b","), error="")
    for kind in ("float32", "float64", "int32", "int64"):
        add("StringToNumber", string_tensor=s(b"1", b"-17", b" 5 ", b"0"), out_type=Type(kind))
        add("StringToNumber", string_tensor=one(b"12"), out_type=Type(kind))
        for bad in (b"", b"x", b"1x", b"99999999999999999999999"):
            if bad[-1:] != b"9" or kind.startswith("int"):
                add("StringToNumber", string_tensor=s(bad), out_type=Type(kind), error="")
    add("StringToNumber", string_tensor=s(b"1.5e3", b"-inf", b"nan", b"0x1p3", b".5"), out_type=Type("float32"))
    for attrs in (
        {},
        {"precision": 3},
        {"scientific": True},
        {"width": 9},
        {"width": 9, "fill": "0"},
        {"shortest": True},
    ):
        add(
            "AsString",
            input=V(5, low=-9, high=9),
            types=("float32", "float64", "half", "bfloat16") if attrs else ALL,
            **attrs,
        )
        add("AsString", input=V(special=0), types=("float32", "float64"), **attrs)
    add("AsString", input=V(special=0), width=6, types=("int32", "int64", "int8", "uint8", "uint64"))
    add("AsString", input=V(2), scientific=True, shortest=True, error="")
    add("AsString", input=V(2), fill="ab", error="")
    add("AsString", input=V(2), precision=3, types=("int32",), error="")
    for text in (b"", b"YQ", b"YWI", b"YWJj", b"-_-_"):
        add("DecodeBase64", input=s(text))
    add("DecodeBase64", input=s(b"Y!"), error="")
    add("DecodeBase64", input=s(b"Y"), error="")
    data = s(b"abcdefgh", b"\x00\x01\x02\x03\xff\xfe\xfd\xfc")
    for kind in ("uint8", "int8", "uint16", "int16", "int32", "int64", "float32", "float64", "half", "bool"):
        for little in (True, False):
            add("DecodeRaw", bytes=data, out_type=Type(kind), little_endian=little)
    add("DecodeRaw", bytes=s(b"abc"), out_type=Type("int32"), error="")
    add("DecodeRaw", bytes=s(b"abcd", b"abcdefgh"), out_type=Type("int32"), error="")
    add("DecodeRaw", bytes=s([]), out_type=Type("int32"))
    for length in (4, 8, 12):
        add("DecodePaddedRaw", input_bytes=data, fixed_length=i32(length), out_type=Type("int32"))
        add("DecodePaddedRaw", input_bytes=data, fixed_length=i32(length), out_type=Type("int16"), little_endian=False)
    add("DecodePaddedRaw", input_bytes=data, fixed_length=i32(3), out_type=Type("int32"), error="")
    add("DecodePaddedRaw", input_bytes=data, fixed_length=i32(0), out_type=Type("int32"), error="")
    records = s(b"1,2.5,a", b'-3,,"b,""c"', b"7,NA,")
    defaults = [i32([0]), np.array([0.5], np.float32), s(b"none")]
    add("DecodeCSV", records=records, record_defaults=defaults, na_value="NA")
    add("DecodeCSV", records=records, record_defaults=defaults[:2], na_value="NA", select_cols=[0, 1])
    add("DecodeCSV", records=s(b"1 2 3"), record_defaults=[i64([])] * 3, field_delim=" ")
    add("DecodeCSV", records=s(b"1,2"), record_defaults=defaults, error="")
    add("DecodeCSV", records=s(b"x,2,c"), record_defaults=defaults, error="")
    add("DecodeCSV", records=s(b",2,c"), record_defaults=[i32([])] + defaults[1:], error="")
    add("DecodeCSV", records=s(b'"a'), record_defaults=[s(b"")], error="")
    grid = s([[b"a", b"b"], [b"c", b""]])
    for axes in (i32([0]), i32([1]), i32([0, 1]), i32([1, 0]), i32([-1]), i32([])):
        for keep in (False, True):
            add("ReduceJoin", inputs=grid, reduction_indices=axes, keep_dims=keep, separator="-")
    add("ReduceJoin", inputs=grid, reduction_indices=i32([2]), error="")
    add("ReduceJoin", inputs=grid, reduction_indices=i32([0, 0]), error="")
    add("UnsortedSegmentJoin", inputs=s(b"a", b"b", b"c"), segment_ids=i32(1, 0, 1), num_segments=i32(3), separator="-")
    add("UnsortedSegmentJoin", inputs=grid, segment_ids=i64(1, 1), num_segments=i64(2))
    add("UnsortedSegmentJoin", inputs=s(b"a"), segment_ids=i32([5]), num_segments=i32(3), error="")
    widths = {"left_pad": "<", "right_pad": ">", "separator": " "}
    for pad in (-1, 0, 1):
        for short in (False, True):
            add(
                "StringNGrams",
                data=s(b"a", b"b", b"c", b"d"),
                data_splits=i64(0, 3, 3, 4),
                ngram_widths=[2, 3],
                pad_width=pad,
                preserve_short_sequences=short,
                **widths,
            )
    add(
        "StringNGrams",
        data=s(b"a", b"b"),
        data_splits=i64(0, 5),
        ngram_widths=[2],
        pad_width=0,
        preserve_short_sequences=False,
        error="",
        **widths,
    )
    texts = s(b"", b"abc", b"\xc3\xa4\xe2\x82\xac", b"\xff\xfeA", b"\x01b")
    for errors in ("replace", "ignore"):
        for encoding in ("UTF-8", "UTF-16-BE"):
            for op in ("UnicodeDecode", "UnicodeDecodeWithOffsets"):
                add(op, input=texts, input_encoding=encoding, errors=errors)
            add("UnicodeTranscode", input=texts, input_encoding="UTF-8", output_encoding=encoding, errors=errors)
    add("UnicodeDecode", input=s(b"\xff"), input_encoding="UTF-8", errors="strict", error="")
    add("UnicodeDecode", input=s(b"a"), input_encoding="nonsense", error="")
    for encoding in ("UTF-8", "UTF-16-BE", "UTF-32-BE"):
        add(
            "UnicodeEncode",
            input_values=i32(97, 0x20AC, 0x1F600),
            input_splits=i64(0, 1, 1, 3),
            output_encoding=encoding,
        )
    add(
        "UnicodeEncode",
        input_values=i32(97, 0x110000),
        input_splits=i64(0, 2),
        output_encoding="UTF-8",
        errors="strict",
        error="",
    )
    add("UnicodeEncode", input_values=i32(97, 98), input_splits=i64(0, 5), output_encoding="UTF-8", error="")
    add("UnicodeScript", input=i32(97, 0x4E00, 0x431, 0x30, -1))
    for shape in ((), (2, 3), (0,)):
        add("SerializeTensor", tensor=V(*shape), types=("float32", "int32", "bool", "int64"))
    add(
        "ParseTensor",
        serialized=one(b"\x08\x03\x12\x04\x12\x02\x08\x02\x22\x08\x01\x00\x00\x00\x02\x00\x00\x00"),
        out_type=Type("int32"),
    )
    add(
        "ParseTensor",
        serialized=one(b"\x08\x03\x12\x04\x12\x02\x08\x02\x22\x08\x01\x00\x00\x00\x02\x00\x00\x00"),
        out_type=Type("float32"),
        error="",
    )
    add("ParseTensor", serialized=one(b"\xff\xff"), out_type=Type("int32"), error="")

    sets = ("int8", "int16", "int32", "int64", "uint8", "uint16", "string")
    a, b = V(values=[[1, 2, 2], [3, 4, 5]]), V(values=[[2, 3], [5, 6]])
    indices = i64([[0, 0], [0, 1], [1, 0]])
    for operation in ("intersection", "union", "a-b", "b-a"):
        add("DenseToDenseSetOperation", set1=a, set2=b, set_operation=operation, types=sets[:-1])
        add(
            "DenseToSparseSetOperation",
            set1=a,
            set2_indices=indices,
            set2_values=V(values=[2, 9, 3]),
            set2_shape=i64(2, 2),
            set_operation=operation,
            types=sets[:-1],
        )
        add(
            "SparseToSparseSetOperation",
            set1_indices=indices,
            set1_values=V(values=[1, 2, 3]),
            set1_shape=i64(2, 2),
            set2_indices=indices,
            set2_values=V(values=[2, 9, 3]),
            set2_shape=i64(2, 2),
            set_operation=operation,
            types=sets[:-1],
        )
    add("DenseToDenseSetOperation", set1=a, set2=b, set_operation="nonsense", types=("int32",), error="")
    add("DenseToDenseSetOperation", set1=V(2, 3), set2=V(3, 3), set_operation="union", types=("int32",), error="")
    add("SetSize", set_indices=indices, set_values=V(values=[1, 1, 3]), set_shape=i64(2, 2), types=sets[:-1])
    add("SetSize", set_indices=i64([[0, 9]]), set_values=V(values=[1]), set_shape=i64(2, 2), types=("int32",), error="")
    for starts, limits, deltas in ((0, 5, 1), ([2, 5, 8], [3, 5, 12], 1), ([0, 0], [10, -3], [3, -2]), ([], [], [])):
        add(
            "RaggedRange",
            starts=V(values=starts),
            limits=V(values=limits),
            deltas=V(values=deltas),
            types=("int32", "int64", "float32", "float64"),
        )
    add("RaggedRange", starts=V(values=0), limits=V(values=5), deltas=V(values=0), types=("int32",), error="")
    add(
        "RaggedRange",
        starts=V(values=[0, 1]),
        limits=V(values=[5, 2, 3]),
        deltas=V(values=1),
        types=("int32",),
        error="",
    )
    for make in (i32, i64):
        add(
            "RaggedTensorToSparse",
            rt_nested_splits=[i64(0, 2, 2, 3)],
            rt_dense_values=V(3),
            types=("int32", "float32", "string"),
        )
        add(
            "RaggedTensorToTensor",
            shape=make(-1, -1),
            values=V(3),
            default_value=V(),
            row_partition_tensors=[make(0, 2, 2, 3)],
            row_partition_types=["ROW_SPLITS"],
            types=("int32", "float32", "string"),
        )
        add(
            "RaggedTensorToTensor",
            shape=make(2, 1),
            values=V(3),
            default_value=V(),
            row_partition_tensors=[make(0, 2, 2, 3)],
            row_partition_types=["ROW_SPLITS"],
            types=("int32", "float32", "string"),
        )
        add(
            "RaggedGather",
            params_nested_splits=[make(0, 2, 2, 3)],
            params_dense_values=V(3),
            indices=make(2, 0, 0),
            OUTPUT_RAGGED_RANK=1,
            types=("int32", "float32", "string"),
        )
    add(
        "RaggedGather",
        params_nested_splits=[i64(0, 2, 2, 3)],
        params_dense_values=V(3),
        indices=i64([3]),
        OUTPUT_RAGGED_RANK=1,
        error="",
    )
    add("RaggedTensorToSparse", rt_nested_splits=[i64(0, 2, 2, 9)], rt_dense_values=V(3), error="")

    at, shape = i64([[0, 0], [0, 1], [2, 0]]), i64(3, 2)
    numbers, letters = i64([7, 8, -9]), s([[b"a", b"b"], [b"c", b""], [b"d", b"e"]])
    for hashed, buckets in ((False, 0), (True, 0), (True, 10)):
        types = dict(hashed_output=hashed, num_buckets=buckets, hash_key=956888297470, out_type=Type(
            "int64" if hashed else "string"), internal_type=Type("int64"))
        add("SparseCross", indices=[at, at], values=[s(b"x", b"y", b"zz"), numbers], shapes=[shape, shape],
            dense_inputs=[letters], **types)
        add("SparseCross", indices=[], values=[], shapes=[], dense_inputs=[letters, i64([[1], [2], [3]])], **types)
        add("SparseCross", indices=[at], values=[numbers], shapes=[i64(2, 2)], dense_inputs=[letters], error="",
            **types)
    add("SparseCrossHashed", indices=[at, at], values=[s(b"x", b"y", b"zz"), numbers], shapes=[shape, shape],
        dense_inputs=[letters, i64([[1], [2**40], [3]])], num_buckets=i64(1000), strong_hash=np.False_, salt=i64(1, 2))
    add("SparseCrossHashed", indices=[], values=[], shapes=[], dense_inputs=[letters], num_buckets=i64(0),
        strong_hash=np.False_, salt=i64(1, 2))
    add("SparseCrossV2", indices=[at, at], values=[s(b"x", b"y", b"zz"), numbers], shapes=[shape, shape],
        dense_inputs=[letters], sep=one(b"-"))
    return made


CASES = _cases()
