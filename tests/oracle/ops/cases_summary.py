"""Summaries: messages for TensorBoard, byte for byte."""

import numpy as np
from spec import Case, V

_REAL = (
    "half",
    "bfloat16",
    "float32",
    "float64",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
)


def s(value):
    return np.array(value, object)


def _cases():
    made = []

    def add(op, error=None, types=_REAL, **args):
        made.append(Case(op, args, error=error, types=types if error is None else ("float32",), grad=False))

    add("ScalarSummary", tags=s(b"loss"), values=V())
    add("ScalarSummary", tags=s([b"a", b"b"]), values=V(2))
    add("ScalarSummary", tags=s([]), values=V(0))
    add("ScalarSummary", tags=s([b"a", b"b"]), values=V(3), error="")
    for shape in ((), (5,), (3, 4)):
        add("HistogramSummary", tag=s(b"h"), values=V(*shape, low=-3, high=3))
    add("HistogramSummary", tag=s([b"h", b"i"]), values=V(3), error="")
    add("HistogramSummary", tag=s(b"h"), values=V(values=[1.0, np.nan]), error="")
    for shape in ((), (2, 3), (0,)):
        add(
            "TensorSummaryV2",
            tag=s(b"t"),
            tensor=V(*shape),
            serialized_summary_metadata=s(b""),
            types=("float32", "int32", "string"),
        )
    add("TensorSummaryV2", tag=s([b"t"]), tensor=V(2), serialized_summary_metadata=s(b""), error="")
    add(
        "MergeSummary",
        inputs=[s(b""), s([b"\n\x08\n\x01a\x15\x00\x00\x80?", b"\n\x08\n\x01b\x15\x00\x00\x80?"])],
        types=("float32",),
    )
    add("MergeSummary", inputs=[s(b"\n\x08\n\x01a\x15\x00\x00\x80?"), s(b"\n\x08\n\x01a\x15\x00\x00\x80?")], error="")
    add("MergeSummary", inputs=[s(b"nonsense")], error="")
    for shape in ((2, 8), (1, 4, 2)):
        add(
            "AudioSummaryV2",
            tag=s(b"a"),
            tensor=V(*shape, low=-1, high=1),
            sample_rate=np.float32(8000).reshape(()),
            max_outputs=2,
            types=("float32",),
        )
        add(
            "AudioSummary",
            tag=s(b"a"),
            tensor=V(*shape, low=-1, high=1),
            sample_rate=8000.0,
            max_outputs=1,
            types=("float32",),
        )
    add("AudioSummaryV2", tag=s(b"a"), tensor=V(8), sample_rate=np.float32(8000).reshape(()), error="")
    return made


CASES = _cases()
