"""Lists of NumPy values as arrays of the type that eager execution gives them.

The first number decides, as in TensorFlow 2: a NumPy float keeps its type, whatever floats follow; integers of any
width become int32, int64 if they do not fit, or float32 if a float follows; complex numbers become complex128.
"""
import numpy as np

from penstock._src.graph import dtypes
from penstock._src.graph import tensor_values
from penstock._src.graph.tensor import Tensor

_NUMPY = (np.ndarray, np.generic)
_KINDS = {bool: "b", int: "i", float: "f", complex: "c", str: "s", bytes: "s"}


def holds_numpy(sequence):
    """Whether NumPy's arrays or scalars are in nested lists, and no tensors."""
    types = tensor_values.leaf_types(sequence)
    return any(issubclass(t, _NUMPY) for t in types) and not any(issubclass(t, Tensor) for t in types)


def _as_lists(value):
    if isinstance(value, (list, tuple)):
        return [_as_lists(item) for item in value]
    return value.tolist() if isinstance(value, _NUMPY) else value


def _kind(leaf):
    if not isinstance(leaf, _NUMPY):
        return _KINDS.get(type(leaf), "O")
    if leaf.dtype.kind in "OUS":
        return "s"
    return {"u": "i"}.get(leaf.dtype.kind, leaf.dtype.kind)


def _natural_type(first, kinds):
    """NumPy's type for a sequence whose leaves are of these kinds; None: what NumPy finds."""
    of_first = _kind(first)
    if of_first == "f":
        return first.dtype if isinstance(first, _NUMPY) else np.float32
    if of_first == "c":
        return np.complex128
    if of_first == "i":
        return np.float32 if "f" in kinds else np.int64
    return None


def to_array(sequence, dtype):
    """The array of a sequence of which `holds_numpy` is true, or the sequence itself if it is for others to refuse.

    ValueError: rows of different lengths, or kinds that do not mix; TypeError: `dtype` cannot hold the values.
    """
    leaves = list(tensor_values.leaves(sequence))
    kinds = {_kind(leaf) for leaf in leaves}
    if "O" in kinds or "V" in kinds:
        return sequence
    mixed = len(kinds) > 1 and ("b" in kinds or "s" in kinds or "c" in kinds and _kind(leaves[0]) != "c")
    if mixed:
        raise ValueError("Can't convert Python sequence with mixed types to Tensor.")
    if dtype is not None and not _fits(kinds, dtype):
        raise TypeError(f"Cannot convert {sequence!r} to EagerTensor of dtype {dtypes.text_of(dtype)}")
    wanted = _natural_type(leaves[0], kinds) if dtype is None else None
    try:
        array = np.array(_as_lists(sequence), object) if kinds == {"s"} else np.array(sequence, wanted)
    except OverflowError:
        raise ValueError("Can't convert Python sequence with out-of-range integer to Tensor.") from None
    except ValueError:
        raise ValueError("Can't convert non-rectangular Python sequence to Tensor.") from None
    if array.size == 0:  # TensorFlow looks no further than the first dimension that is 0
        array = np.empty(array.shape[:array.shape.index(0) + 1], np.float32)
    return tensor_values.narrowed(array) if dtype is None else array


def _fits(kinds, dtype):
    if dtype.is_floating:
        return kinds <= {"i", "f"}
    if dtype.is_complex:
        return kinds <= {"i", "f", "c"}
    if dtype.is_integer:
        return kinds <= {"i"}
    return {"bool": kinds == {"b"}, "string": kinds == {"s"}}.get(dtype.name, True)
