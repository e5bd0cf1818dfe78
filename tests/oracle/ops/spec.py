"""The language in which calls of ops are described, so that real TensorFlow and Penstock can make the same ones.

A case is an op with arguments: `V` is a value of the type that the case is swept over, arrays are constants, `Ref` and
`Res` put a value in a variable, lists are lists of arguments. Values follow from the case alone.
"""

import zlib

import numpy as np

REAL = ("half", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128")
FLOATING = REAL + COMPLEX
SIGNED = ("int8", "int16", "int32", "int64")
UNSIGNED = ("uint8", "uint16", "uint32", "uint64")
INTEGERS = SIGNED + UNSIGNED
NUMBERS = FLOATING + INTEGERS
ALL = NUMBERS + ("bool", "string")
_SPECIAL = [np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, -2.5, 100.0]


class V:
    """A value of the type swept over: numbers from [low, high), sixteenths where the type has fractions."""

    def __init__(self, *shape, low=-2, high=2, special=None, values=None, dtype=None, sort=False):
        self.shape, self.low, self.high, self.special = shape, low, high, special
        self.values, self.dtype, self.sort = values, dtype, sort
        if special is not None:
            self.shape = (len(_SPECIAL),)
        if values is not None:
            self.shape = np.shape(values)

    def __repr__(self):
        return (
            f"V({self.shape},{self.low},{self.high},{self.special},"
            f"{None if self.values is None else np.asarray(self.values).tolist()},{self.dtype},{self.sort})"
        )

    def make(self, dtype, seed):
        """The array; bfloat16 comes as float32."""
        dtype = self.dtype or dtype
        random = np.random.RandomState(seed % 2**32)
        if self.values is not None:
            values = np.asarray(self.values)
            return values.astype(object if dtype == "string" else numpy_type(dtype))
        if dtype == "string":
            words = np.array([b"", b"a", b"bc", b"\xff\x00z", b"a long one beyond inline text, surely"], object)
            return words[np.asarray(random.randint(0, len(words), self.shape), int).reshape(-1)].reshape(self.shape)
        if dtype == "bool":
            return np.asarray(random.randint(0, 2, self.shape)).astype(bool).reshape(self.shape)
        if self.special is not None:
            return self._special(dtype)
        low, high = self.low, self.high
        if dtype in INTEGERS:
            low, high = int(np.floor(low)), int(np.ceil(high))
            if dtype in UNSIGNED:
                low, high = max(low, 0), max(high, 1)
            values = random.randint(low, max(high, low + 1), self.shape)
        else:
            values = random.randint(int(low * 16), max(int(high * 16), int(low * 16) + 1), self.shape) / 16
            if dtype in COMPLEX:
                values = values + 1j * (random.randint(int(low * 16), int(high * 16), self.shape) / 16)
        values = np.asarray(values)
        if self.sort:
            values = np.sort(values)
        return values.astype(numpy_type(dtype)).reshape(self.shape)

    def _special(self, dtype):
        values = np.roll(np.array(_SPECIAL), self.special)
        if dtype in INTEGERS:
            info = np.iinfo(dtype)
            values = [info.min, info.max, 0, 1, info.max - 1, info.min + 1, 7, 3, 2, 5, 100, info.max // 2]
            return np.roll(np.array(values, dtype), self.special)
        if dtype in COMPLEX:
            values = np.where(np.isfinite(values), values, 3.0)
        return values.astype(numpy_type(dtype))


class Ref:
    """A reference variable holding a V."""

    def __init__(self, value):
        self.value = value

    def __repr__(self):
        return f"{type(self).__name__}({self.value!r})"


class Res(Ref):
    """A resource variable holding a V."""


class Type:
    """A type as attribute; Type("T") is the one swept over."""

    def __init__(self, name):
        self.name = name

    def __repr__(self):
        return f"Type({self.name})"


T = Type("T")


class Case:
    """One call. `types` None: every type that TensorFlow has a CPU kernel for. `error`: a phrase of its error.
    `rough`: how many times as much half and bfloat16 may be off, where their sums of many terms are rounded."""

    def __init__(self, op, args, types=None, error=None, grad=True, shapes=True, tolerance=None, outputs=None, rough=1):
        self.op, self.args, self.types, self.error = op, args, types, error
        self.grad, self.shapes, self.tolerance, self.outputs = grad, shapes, tolerance, outputs
        self.rough = rough
        self.key = f"{op}/{zlib.crc32(self.text().encode()):08x}"

    def text(self):
        return f"{self.op}({', '.join(f'{k}={_text(v)}' for k, v in self.args.items())}){self.types}{self.grad}"

    def sweep(self):
        return self.types or (ALL if not self.error else ("float32",))


def _text(value):
    if isinstance(value, np.ndarray):
        return f"{value.dtype}{value.shape}{value.tolist()}"
    if isinstance(value, (list, tuple)):
        return "[" + ",".join(_text(v) for v in value) + "]"
    return repr(value)


def numpy_type(dtype):
    return np.dtype({"half": "float16", "bfloat16": "float32", "string": object}.get(dtype, dtype))


def i32(*values):
    return np.array(values[0] if len(values) == 1 else values, np.int32)


def i64(*values):
    return np.array(values[0] if len(values) == 1 else values, np.int64)
