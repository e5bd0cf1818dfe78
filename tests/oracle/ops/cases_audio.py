"""Sound, and what a debugger makes of tensors."""

import struct

import numpy as np
from spec import Case, Type, V, i32


def _wav(samples, channels=1, rate=8000, before=b"", kind=1, bits=16):
    frame = channels * bits // 8
    body = b"WAVE" + before + b"fmt " + struct.pack("<IHHIIHH", 16, kind, channels, rate, rate * frame, frame, bits)
    body += b"data" + struct.pack("<I", 2 * len(samples)) + np.array(samples, "<i2").tobytes()
    return b"RIFF" + struct.pack("<I", len(body)) + body


def _file(contents):
    return np.array(contents, object)


def _sound(*shape, seed=0):
    return V(values=np.round(np.random.RandomState(seed).uniform(-1, 1, shape) * 2**14) / 2**14, dtype="float32")


def _cases():
    made = []

    def add(op, error=None, types=("float32",), tolerance=None, **args):
        made.append(
            Case(op, args, error=error, types=types if error is None else ("float32",), grad=False, tolerance=tolerance)
        )

    samples = [0, 256, -32768, 32767, 5, -7]
    for channels in (1, 2, 3):
        for wanted in (
            {},
            {"desired_channels": 1},
            {"desired_channels": 4},
            {"desired_samples": 2},
            {"desired_samples": 9},
        ):
            add("DecodeWav", contents=_file(_wav(samples, channels)), **wanted)
    add("DecodeWav", contents=_file(_wav(samples, before=b"JUNK" + struct.pack("<I", 3) + b"abc")))
    whole = _wav(samples)
    for phrase, contents in (
        ("Data too short", b""),
        ("Data too short", whole[:-1]),
        ("Header mismatch", b"RIFX" + whole[4:]),
        ("No data chunk", whole[:36]),
        ("More than one data chunk", whole + b"data\2\0\0\0ab"),
        ("Unexpected field", _wav(samples, before=b"what\0\0\0\0")),
        ("Bad audio format", _wav(samples, kind=3)),
        ("Can only read 16-bit", _wav(samples, bits=8)),
        ("Bad number of channels", _wav(samples, channels=0)),
    ):
        add("DecodeWav", contents=_file(contents), error=phrase)
    for shape in ((6, 1), (3, 2), (0, 1)):
        add("EncodeWav", audio=_sound(*shape), sample_rate=i32(16000))
    add("EncodeWav", audio=V(values=[[1.5], [-2.0], [np.nan], [0.99999]], dtype="float32"), sample_rate=i32(8000))
    add("EncodeWav", audio=_sound(2, 2), sample_rate=i32(0), error="sample_rate must be in (0, 2^32)")
    add("EncodeWav", audio=_sound(2, 0), sample_rate=i32(8), error="num_channels must be in (0, 2^16)")
    for window, stride in ((8, 4), (12, 5), (2, 1), (40, 3)):
        for squared in (False, True):
            add(
                "AudioSpectrogram",
                input=_sound(32, 2),
                window_size=window,
                stride=stride,
                magnitude_squared=squared,
                tolerance=1e-4,
            )
    add("AudioSpectrogram", input=_sound(8, 1), window_size=1, stride=1, error="")
    add("AudioSpectrogram", input=_sound(8, 1), window_size=4, stride=0, error="")
    for bins, wanted in (
        (257, {}),
        (129, {"filterbank_channel_count": 20, "dct_coefficient_count": 5}),
        (9, {"upper_frequency_limit": 8000.0}),
        (9, {"upper_frequency_limit": 9000.0}),
        (65, {"lower_frequency_limit": 500.0, "upper_frequency_limit": 3000.0}),
    ):
        spectrogram = V(values=np.abs(np.random.RandomState(bins).uniform(0, 4, (2, 3, bins))), dtype="float32")
        add("Mfcc", spectrogram=spectrogram, sample_rate=i32(16000), tolerance=1e-4, **wanted)
    for shape, wanted in (
        ((1, 1, 1), {}),
        ((1, 1, 9), {"dct_coefficient_count": 50}),
        ((1, 1, 9), {"upper_frequency_limit": 10.0}),
    ):
        add("Mfcc", spectrogram=V(*shape), sample_rate=i32(16000), **wanted, error="Mfcc initialization failed")
    special = [np.nan, np.inf, -np.inf, 0.0, -1.5, 2.0, 7.0, np.nan]
    real = ("half", "bfloat16", "float32", "float64")
    for values in (V(values=special), V(2, 3), V(0), V()):
        add("DebugNanCount", input=values, tensor_name="a:0", types=real)
        add("DebugNumericSummary", input=values, tensor_name="a:0", types=("float32", "float64"))
        add(
            "DebugNumericSummary",
            input=values,
            tensor_name="a:0",
            lower_bound=-1.0,
            upper_bound=6.0,
            types=("float32", "float64"),
        )
        add("DebugIdentity", input=values, tensor_name="a:1", types=real)
        add("DebugIdentityV2", input=values, types=real)
        for mode in (2, 3, 4, 5, 8):
            for out in ("float32", "float64"):
                add(
                    "DebugNumericSummaryV2",
                    input=values,
                    tensor_debug_mode=mode,
                    tensor_id=7,
                    output_dtype=Type(out),
                    types=real,
                )
    add("DebugNumericSummaryV2", input=V(1, 2, 3, 1, 1, 1, 2), tensor_debug_mode=5, tensor_id=7, types=real)
    for op in ("DebugNanCount", "DebugNumericSummary"):
        add(op, input=V(2, 3), tensor_name="a:0", types=("int32", "uint8", "int64"))
    add("DebugIdentity", input=V(2), tensor_name="a:b", error="Invalid string value")
    add("DebugNanCount", input=V(2), error="Failed to parse tensor name")
    return made


CASES = _cases()
