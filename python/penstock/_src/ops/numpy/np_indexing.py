"""NumPy's indexing of tensors with arrays of integers and bools."""
import numpy as np

from penstock._src.graph import dtypes, ops
from penstock._src.core_ops import array_ops, array_slice, math_ops
from penstock._src.ops.numpy import np_arrays, np_utils

_VALID = ("only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are "
          "valid indices")


def _is_array(index):
    """Whether it picks along a dimension with an array, and is no number, slice, `...` or None."""
    if isinstance(index, (list, tuple)):
        return True
    return isinstance(index, (np.ndarray, ops.Tensor)) and len(index.shape) > 0


def _as_tuple(spec):
    """The indices of the dimensions; a list of numbers is one index."""
    if isinstance(spec, tuple):
        return spec
    if isinstance(spec, list) and any(x is None or x is Ellipsis or isinstance(x, slice) or _is_array(x) for x in spec):
        return tuple(spec)
    return (spec,)


def _as_integers(index):
    """An array index as a tensor of int32 or int64; bools become the indices of those that are true."""
    data = np_arrays.asarray(index)
    if data.dtype == dtypes.bool:
        if data.shape.rank != 1:
            raise NotImplementedError(f"Need rank 1 for bool index {index}")
        data = array_ops.reshape(array_ops.where_v2(data), [-1])
    if not isinstance(index, ops.Tensor) and np.size(index) == 0:
        data = math_ops.cast(data, dtypes.int32)
    if not data.dtype.is_integer or data.dtype == dtypes.uint64:
        raise IndexError(f"{_VALID}, got {index!r}")
    if data.dtype not in (dtypes.int32, dtypes.int64):
        data = math_ops.cast(data, dtypes.int64 if data.dtype == dtypes.uint32 else dtypes.int32)
    return data


def _places(spec):
    """For each array index the dimension that it picks from, after numbers took theirs away; after `...` counted from
    the end."""
    def width(part):
        return sum(1 for x in part if x is None or isinstance(x, slice) or _is_array(x))

    dots = next((i for i, x in enumerate(spec) if x is Ellipsis), len(spec))
    return [width(spec[:i]) if i < dots else -width(spec[i:]) for i, x in enumerate(spec) if _is_array(x)]


def has_arrays(spec):
    """Whether an index of `spec` is an array or a list."""
    return any(_is_array(x) for x in _as_tuple(spec))


def getitem(tensor, spec):
    """`tensor[spec]` as NumPy has it: bools for all of the tensor, or an index for each dimension, of which several may
    be arrays of integers (broadcast together) or vectors of bools. IndexError for indices of other types."""
    if array_slice._is_mask(spec) or not has_arrays(spec):
        return array_slice._slice_helper(tensor, spec)
    spec = _as_tuple(spec)
    arrays = [_as_integers(x) for x in spec if _is_array(x)]
    places = _places(spec)
    tensor = array_slice._slice_helper(tensor, tuple(slice(None) if _is_array(x) else x for x in spec))
    return _pick(tensor, arrays, places)


def _pick(tensor, arrays, places):
    from penstock._src.ops.numpy import np_array_ops  # which is built on this module
    if len({a.dtype for a in arrays}) > 1:
        arrays = [math_ops.cast(a, dtypes.int64) for a in arrays]
    if tensor.shape.rank is not None:
        places = np_utils._canonicalize_axes(places, tensor.shape.rank)
    sizes = array_ops.shape(tensor, out_type=arrays[0].dtype)
    arrays = [array_ops.where_v2(a < 0, a + sizes[place], a) for a, place in zip(arrays, places)]
    if len(arrays) == 1:
        return array_ops.gather(tensor, arrays[0], axis=places[0])
    indices = array_ops.stack(np_utils.tf_broadcast(*arrays), axis=-1)
    count = len(arrays)
    if places != list(range(count)):
        tensor = np_array_ops.moveaxis(tensor, places, range(count))
    picked = array_ops.gather_nd(tensor, indices)
    together = places == list(range(places[0], places[0] + count))
    if together and places[0]:  # else the dimensions of the indices come first
        width = np_utils.known_rank(indices, "tensor[...]") - 1
        picked = np_array_ops.moveaxis(picked, range(width), range(places[0], places[0] + width))
    return picked
