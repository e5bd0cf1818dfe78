"""When a value's own type counts before the default of an op's type attribute."""
import numpy as np

from penstock.framework import defaults, dtypes, tf2

# Ops that run at once with the type that an array has, not with their default one.
_OF_ARRAYS_TYPES = frozenset("CTCBeamSearchDecoder CTCGreedyDecoder EncodePng FFT IRFFT IRFFT2D IRFFT3D LRN RFFT "
                             "RFFT2D RFFT3D".split())
_COMPLEX64 = dtypes.complex64.as_datatype_enum
_INT32 = dtypes.int32.as_datatype_enum


def keeps_type(op_name, value):
    """Whether the type of what NumPy made counts before the op's default: for ops that run at once that of numbers
    does, that of arrays for a few ops only."""
    if not isinstance(value, (np.ndarray, np.generic)) or not defaults.get_default_graph()._eager:
        return False
    return isinstance(value, np.generic) or op_name in _OF_ARRAYS_TYPES


def prefers_own_type(value, default):
    """Whether the value's own type, if the definition lists it, counts before the default: in version 2's graphs, and
    for complex numbers of Python, which eager TensorFlow does not round."""
    if defaults.get_default_graph()._eager:
        return default == _COMPLEX64 and not isinstance(value, (np.ndarray, np.generic))
    return tf2.enabled()


def needs_int64(value, default):
    """Whether Python's integers are too large for the default int32. In version 1 they wrap, as does a number of its
    own for an op that runs at once."""
    if default != _INT32 or not tf2.enabled():
        return False
    if isinstance(value, int):
        return not -2**31 <= value < 2**31 and not defaults.get_default_graph()._eager
    return isinstance(value, (list, tuple)) and _holds_large_integer(value)


def _holds_large_integer(values):
    return any(_holds_large_integer(v) if isinstance(v, (list, tuple)) else
               isinstance(v, (int, np.integer)) and not -2**31 <= v < 2**31 for v in values)
