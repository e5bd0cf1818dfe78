"""Taking parts: slices, `tensor[...]`, gather, boolean masks, where."""
import sys

import numpy as np

from penstock._src.graph import constant_op, defaults, dtypes, gen, indexed_slices, ops, tensor_shape, tensor_util
from penstock._src.base import tf2
from penstock._src.base.mode import mode
from penstock._src.core_ops.array_create import meshgrid, ones, ones_like, zeros
from penstock._src.core_ops.array_join import concat, stack, unstack
from penstock._src.core_ops.array_shape import rank, reshape, shape, squeeze, transpose
from penstock._src.base import hooks

__all__ = [
    "_slice_helper", "_SliceHelperVar", "batch_gather", "batch_gather_nd", "boolean_mask", "boolean_mask_v2", "gather",
    "gather_nd", "gather_nd_v2", "gather_v2", "newaxis", "scatter_nd_v1", "slice", "sparse_mask",
    "strided_slice", "tensor_scatter_add_v1", "tensor_scatter_nd_update", "tensor_scatter_sub_v1", "where", "where_v2",
]

newaxis = None
_Slice = slice

_SLICE_TYPE_ERROR = ("Only integers, slices (`:`), ellipsis (`...`), tf.newaxis (`None`) and scalar tf.int32/tf.int64 "
                     "tensors are valid indices")


def slice(input_, begin, size, name=None):
    """The block of shape `size` that starts at `begin`; a size of -1 means up to the end.

    begin, size: vectors of int32 or int64, a number for each dimension.
    InvalidArgumentError, or ValueError while a graph is built: the block is not inside.
    """
    return gen.slice(input_, begin, size, name=name)


def strided_slice(input_, begin, end, strides=None, begin_mask=0, end_mask=0, ellipsis_mask=0, new_axis_mask=0,
                  shrink_axis_mask=0, var=None, name=None):
    """input_[begin:end:strides] with the masks of the op. The result's `assign` writes into `var`."""
    if strides is None:
        strides = ones_like(begin)
    masks = dict(begin_mask=begin_mask, end_mask=end_mask, ellipsis_mask=ellipsis_mask, new_axis_mask=new_axis_mask,
                 shrink_axis_mask=shrink_axis_mask)
    result = gen.strided_slice(input_, begin, end, strides, name=name, **masks)
    scope = name

    def assign(val, name=None):
        """Assigns to the part of the variable that was sliced."""
        if var is None:
            raise ValueError("Sliced assignment is only supported for variables")
        return var._strided_slice_assign(begin=begin, end=end, strides=strides, value=val,
                                         name=scope + "_assign" if name is None else name, **masks)

    result.assign = assign
    return result


def _check_index(index):
    """Refuses values other than integers and integer scalar tensors."""
    if isinstance(index, (int, tensor_shape.Dimension)) or isinstance(index, np.integer) and tf2.enabled():
        return
    dtype = getattr(index, "dtype", None)
    if dtype is not None:
        dtype = dtypes.as_dtype(dtype).base_dtype
    if dtype not in (dtypes.int16, dtypes.int32, dtypes.int64) or (index.shape and len(index.shape) == 1):
        raise TypeError(f"{_SLICE_TYPE_ERROR}, got {index!r}")


def _is_unknown(index):
    return isinstance(index, tensor_shape.Dimension) and index.value is None


def _is_mask(index):
    if isinstance(index, bool):
        return True
    return isinstance(index, (ops.Tensor, np.ndarray)) and index.dtype == (
        dtypes.bool if isinstance(index, ops.Tensor) else bool)


class _Spec:
    """The arguments of StridedSlice, gathered index by index."""

    def __init__(self, indices):
        self.begin, self.end, self.strides = [], [], []
        self.masks = dict.fromkeys(("begin_mask", "end_mask", "ellipsis_mask", "new_axis_mask", "shrink_axis_mask"), 0)
        for bit, index in enumerate(indices):
            self._add(1 << bit, index)

    def _mark(self, name, bit):
        self.masks[name] |= bit

    def _bound(self, value, mask, bit):
        if value is None or (isinstance(value, (int, np.integer)) and value == sys.maxsize) or _is_unknown(value):
            self._mark(mask, bit)
            return 0
        _check_index(value)
        return value

    def _add(self, bit, index):
        begin, end, stride = 0, 0, 1
        if isinstance(index, _Slice):
            begin = self._bound(index.start, "begin_mask", bit)
            end = self._bound(index.stop, "end_mask", bit)
            if index.step is not None and not _is_unknown(index.step):
                _check_index(index.step)
                stride = index.step
        elif index is Ellipsis:
            self._mark("ellipsis_mask", bit)
        elif index is newaxis:
            self._mark("new_axis_mask", bit)
        else:
            _check_index(index)
            begin, end = index, index + 1
            self._mark("shrink_axis_mask", bit)
        self.begin.append(begin)
        self.end.append(end)
        self.strides.append(stride)


_numpy_indexing = hooks.Hook("numpy.indexing")


def _slice_helper(tensor, slice_spec, var=None):
    """`tensor[slice_spec]`, NumPy's indexing with integers, slices, `...`, newaxis and boolean masks."""
    if _is_mask(slice_spec):
        return boolean_mask(tensor=tensor, mask=slice_spec)
    if mode.numpy_slicing and var is None:
        numpy = _numpy_indexing.get()
        if numpy.has_arrays(slice_spec):
            return numpy.getitem(tensor, slice_spec)
    spec = _Spec(slice_spec if isinstance(slice_spec, (list, tuple)) else [slice_spec])
    if var is None and spec.begin and getattr(tensor, "_is_eager", False) and defaults.get_default_graph()._eager \
            and all(type(x) is int and -2**31 <= x < 2**31 for x in spec.begin + spec.end + spec.strides):
        return gen.strided_slice(tensor, spec.begin, spec.end, spec.strides, **spec.masks)
    with ops.name_scope(None, "strided_slice", [tensor] + spec.begin + spec.end + spec.strides) as name:
        if spec.begin:
            parts = [stack(spec.begin), stack(spec.end), stack(spec.strides)]
            types = {part.dtype for part in parts}
            if dtypes.int64 in types or len(types) > 1 and dtypes.bool not in types:
                parts = [part if part.dtype == dtypes.int64 else gen.cast(part, dtypes.int64) for part in parts]
        else:
            parts = [constant_op.constant([], dtype=dtypes.int32)] * 3
        return strided_slice(tensor, *parts, var=var, name=name, **spec.masks)


def _SliceHelperVar(var, slice_spec):
    """`variable[slice_spec]`, to which one can assign."""
    return _slice_helper(var.value(), slice_spec, var)


def boolean_mask(tensor, mask, name="boolean_mask", axis=None):
    """The slices of `tensor` for which `mask` is true; the mask covers the dimensions from `axis` on."""
    with ops.name_scope(name, values=[tensor, mask]):
        tensor = ops.convert_to_tensor(tensor, name="tensor")
        mask = ops.convert_to_tensor(mask, name="mask")
        covered = mask.get_shape().ndims
        if covered == 0:
            raise ValueError("mask cannot be scalar.")
        if covered is None:
            raise ValueError("Number of mask dimensions must be specified, even if some dimensions are None. "
                             "E.g. shape=[None] is ok, but shape=None is not.")
        axis = 0 if axis is None else axis
        if tensor_util.is_tensor(axis):
            known_axis = tensor_util.constant_value(axis)
            axis = axis if known_axis is None else int(known_axis)
        end = axis + covered
        if tensor_util.is_tensor(axis):
            flat = reshape(tensor, concat([shape(tensor)[:axis], [-1], shape(tensor)[end:]], 0))
            return gather(flat, squeeze(where(reshape(mask, [-1])), axis=[1]), axis=axis)
        known = tensor.get_shape()
        known[axis:end].assert_is_compatible_with(mask.get_shape())
        count = gen.prod(shape(tensor)[axis:end], [0])
        flat = reshape(tensor, concat([shape(tensor)[:axis], [count], shape(tensor)[end:]], 0))
        flat.set_shape(tensor_shape.as_shape(known[:axis]).concatenate([known[axis:end].num_elements()])
                       .concatenate(known[end:]))
        places = squeeze(where(reshape(mask, [-1])), axis=[1])
        return gather(flat, places, axis=axis)


def boolean_mask_v2(tensor, mask, axis=None, name="boolean_mask"):
    """The slices of `tensor` for which `mask` is true; the mask covers the dimensions from `axis` on."""
    return boolean_mask(tensor, mask, name, axis)


def sparse_mask(a, mask_indices, name=None):
    """IndexedSlices without the rows listed in `mask_indices`."""
    with ops.name_scope(name, "sparse_mask", [a, mask_indices]) as name:
        indices, places = gen.list_diff(a.indices, mask_indices)
        return indexed_slices.IndexedSlices(gather(a.values, places, name=name), indices, a.dense_shape)


def _where(select):
    def function(condition, x=None, y=None, name=None):
        if x is None and y is None:
            with ops.name_scope(name, "Where", [condition]) as name:
                condition = ops.convert_to_tensor(condition, preferred_dtype=dtypes.bool, name="condition")
                return gen.where(condition, name=name)
        if x is None or y is None:
            raise ValueError("x and y must both be non-None or both be None.")
        return select(condition, x, y, name=name)

    return function


where = _where(lambda *arguments, name: gen.select(*arguments, name=name))
where.__name__ = where.__qualname__ = "where"
where.__doc__ = "x where the condition is true and y elsewhere (same shapes, or a vector of rows); or the true places."
where_v2 = _where(lambda *arguments, name: gen.select_v2(*arguments, name=name))
where_v2.__name__ = where_v2.__qualname__ = "where_v2"
where_v2.__doc__ = "x where the condition is true and y elsewhere, broadcast together; without x and y the true places."


def gather(params, indices, validate_indices=None, name=None, axis=None, batch_dims=0):
    """The slices of `params` along `axis` at `indices`; a variable is read where it is.

    indices: int32 or int64, of any shape, in [0, params.shape[axis]).
    batch_dims: how many leading dimensions both have in common; `axis` is that if it is not given.
    Shape: params.shape[:axis] + indices.shape[batch_dims:] + params.shape[axis + 1:].
    InvalidArgumentError when run: an index is beyond.
    """
    del validate_indices
    if axis is None:
        axis = batch_dims
    if tensor_util.constant_value(axis) if tensor_util.is_tensor(axis) else axis:
        return gen.gather_v2(params, indices, axis, batch_dims=batch_dims, name=name)
    if tensor_util.is_tensor(axis) and tensor_util.constant_value(axis) is None:
        return gen.gather_v2(params, indices, axis, batch_dims=batch_dims, name=name)
    try:
        return params.sparse_read(indices, name=name)
    except AttributeError:  # not a variable, or one that is read as a whole
        return gen.gather_v2(params, indices, axis, name=name)


def gather_v2(params, indices, validate_indices=None, axis=None, batch_dims=0, name=None):
    return gather(params, indices, validate_indices, name, axis, batch_dims)


gather_v2.__doc__ = gather.__doc__


def batch_gather(params, indices, name=None):
    """result[..., i] = params[..., indices[..., i]] for all leading dimensions of `indices`."""
    with ops.name_scope(name, "BatchGather", [params, indices]):
        indices = ops.convert_to_tensor(indices, name="indices")
        params = ops.convert_to_tensor(params, name="params")
        if indices.shape.ndims is None:
            raise ValueError("batch_gather does not allow indices with unknown shape.")
        return _batch_gather(params, indices, indices.shape.ndims - 1)


def _batch_gather(params, indices, batch_dims):
    """Gathers within the first `batch_dims` dimensions by turning the indices into those of a flat tensor."""
    indices = ops.convert_to_tensor(indices, name="indices")
    params = ops.convert_to_tensor(params, name="params")
    ndims = indices.shape.ndims
    for what, count in (("indices", ndims), ("params", params.shape.ndims)):
        if count is not None and batch_dims >= count:
            raise ValueError(f"batch_dims = {batch_dims} must be less than rank({what}) = {count}")
    indices_shape, params_shape = shape(indices), shape(params)
    dtype = indices.dtype.base_dtype
    flat = indices
    stride = ones((), dtype=dtype)
    dims = gen.cast(params_shape, dtype)
    for dim in range(batch_dims, 0, -1):
        count = dims[dim - 1]
        stride *= dims[dim]
        offsets = gen.range(zeros((), dtype=dtype), count, ones((), dtype=dtype)) * stride
        flat += reshape(offsets, stack([1] * (dim - 1) + [count] + [1] * (ndims - dim), axis=0))
    flat = reshape(flat, [-1])
    inner = params_shape[batch_dims + 1:]
    rows = gen.prod(params_shape[:batch_dims + 1], [0], False)
    flat_params = reshape(params, concat([[rows], inner], axis=0))
    result = reshape(gather(flat_params, flat), concat([indices_shape, inner], axis=0))
    known = indices.get_shape()[:batch_dims].merge_with(params.get_shape()[:batch_dims])
    known = known.concatenate(indices.get_shape()[batch_dims:]).concatenate(params.get_shape()[batch_dims + 1:])
    result.set_shape(known)
    return result


def gather_nd(params, indices, name=None, batch_dims=0, bad_indices_policy=""):
    """params[indices[..., :]]: the last dimension of `indices` is a place in `params`.

    An index outside of `params` is an error, or 0 where `bad_indices_policy` is "IGNORE".
    """
    known = tensor_util.constant_value(batch_dims) if tensor_util.is_tensor(batch_dims) else batch_dims
    if known is not None:
        if np.size(known) != 1:
            raise TypeError(f"batch_dims must be an int; got {batch_dims!r}")
        batch_dims = int(np.asarray(known).item())
    if not isinstance(batch_dims, int) or batch_dims != 0:
        return batch_gather_nd(params, indices, batch_dims=batch_dims, name=name)
    if bad_indices_policy == "" and hasattr(params, "gather_nd"):
        return params.gather_nd(indices, name=name)
    return gen.gather_nd(params, indices, bad_indices_policy=bad_indices_policy, name=name)


def gather_nd_v2(params, indices, batch_dims=0, name=None, bad_indices_policy=""):
    """params[indices[..., :]]: the last dimension of `indices` is a place in `params`."""
    return gather_nd(params, indices, name, batch_dims, bad_indices_policy)


def tensor_scatter_nd_update(tensor, indices, updates, name=None):
    """`tensor` with `updates` at the places `indices`."""
    return gen.tensor_scatter_update(tensor, indices, updates, name=name)


def scatter_nd_v1(indices, updates, shape, name=None):
    """Zeros of a shape with `updates` added at the places `indices`."""
    return gen.scatter_nd(indices, updates, shape, name=name)


def tensor_scatter_add_v1(tensor, indices, updates, name=None):
    """`tensor` with `updates` added at the places `indices`."""
    return gen.tensor_scatter_add(tensor, indices, updates, name=name)


def tensor_scatter_sub_v1(tensor, indices, updates, name=None):
    """`tensor` with `updates` subtracted at the places `indices`."""
    return gen.tensor_scatter_sub(tensor, indices, updates, name=name)


def batch_gather_nd(params, indices, batch_dims, name=None):
    """`gather_nd` within the first `batch_dims` dimensions, which both have."""
    with ops.name_scope(name, "BatchGatherND", [params, indices]):
        indices = ops.convert_to_tensor(indices, name="indices")
        params = ops.convert_to_tensor(params, name="params")
        if not isinstance(batch_dims, int):
            raise TypeError(f"batch_dims must be an int; got {batch_dims!r}")
        if batch_dims < 0:
            raise ValueError("tf.gather_nd does not allow negative batch_dims.")
        for what, tensor in (("indices", indices), ("params", params)):
            if tensor.shape.ndims is not None and batch_dims >= tensor.shape.ndims:
                raise ValueError(f"batch_dims = {batch_dims} must be less than rank({what}) = {tensor.shape.ndims}")
        expand = batch_dims == 0
        if expand:
            params, indices, batch_dims = gen.expand_dims(params, 0), gen.expand_dims(indices, 0), 1
        params_shape, indices_shape = shape(params), shape(indices)
        batch_shape = params_shape[:batch_dims]
        batch_size = gen.prod(batch_shape, [0])
        inner_rank = rank(indices) - batch_dims - 1
        inner_shape = indices_shape[batch_dims:-1]
        ranges = [gen.cast(gen.range(0, count, 1), indices.dtype) for count in unstack(batch_shape, axis=0)]
        grid = [reshape(x, shape=(-1,)) for x in meshgrid(*ranges, indexing="ij")]
        grid = transpose(stack(grid, axis=0))
        grid_shape = shape(grid)
        grid = reshape(grid, concat([grid_shape[:1], ones(inner_rank, dtype=dtypes.int32), grid_shape[1:]], axis=0))
        grid = gen.tile(grid, concat(((1,), inner_shape, (1,)), axis=0))
        flat = reshape(indices, shape=concat(([batch_size], indices_shape[batch_dims:]), axis=0))
        result = gen.gather_nd(params, concat((grid, flat), axis=-1))
        result = reshape(result, shape=concat((batch_shape, shape(result)[1:]), axis=0))
        return squeeze(result, axis=0) if expand else result
