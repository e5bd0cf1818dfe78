"""Shapes, and giving values another one: shape, rank, reshape, squeeze, transpose, broadcasting."""
import numpy as np

from penstock import _core
from penstock._src.graph import common_shapes, constant_op, defaults, dtypes, gen, ops, sparse_tensor
from penstock._src.graph import tensor_util, types
from penstock._src.graph.eager_tensor import EagerTensor
from penstock._src.core_ops.arguments import pick
from penstock._src.base import nest

__all__ = [
    "all_dimensions", "broadcast_dynamic_shape", "broadcast_static_shape", "expand_dims", "expand_dims_v2", "identity",
    "matrix_transpose", "rank", "rank_internal", "reshape", "shape", "shape_internal", "shape_n", "shape_v2", "size",
    "size_internal", "size_v2", "squeeze", "squeeze_v2", "transpose", "transpose_v2",
]

_SPARSE = (sparse_tensor.SparseTensor, sparse_tensor.SparseTensorValue)


def identity(input, name=None):
    """Returns a tensor with the same value; of a composite value, each of its tensors."""
    if not isinstance(input, types.AnyTensor) and getattr(input, "_is_composite_tensor", False):
        return nest.map_structure(identity, input, expand_composites=True)
    return gen.identity(input, name=name)


def reshape(tensor, shape, name=None):
    """The same elements in row-major order under another shape.

    shape: integers, or a vector of int32 or int64; one of them may be -1, which is then as large as the elements ask.
    InvalidArgumentError, or ValueError while a graph is built: the elements do not fill the shape.
    """
    return tensor_util.maybe_set_static_shape(gen.reshape(tensor, shape, name=name), shape)


def expand_dims(input, axis=None, name=None, dim=None):
    """Inserts a dimension of size 1 at `axis`.

    axis: an integer from -rank - 1 to rank; a negative one counts from the end, so -1 is a new last dimension.
    InvalidArgumentError, or ValueError while a graph is built: it is beyond.
    """
    axis = pick("axis", axis, "dim", dim)
    if axis is None:
        raise ValueError("Must specify an axis argument to tf.expand_dims()")
    return gen.expand_dims(input, axis, name=name)


def expand_dims_v2(input, axis, name=None):
    return gen.expand_dims(input, axis, name=name)


expand_dims_v2.__doc__ = expand_dims.__doc__


def squeeze(input, axis=None, name=None, squeeze_dims=None):
    """Removes dimensions of size 1: those in `axis`, an integer or a list of them, or all.

    InvalidArgumentError, or ValueError while a graph is built: a dimension in `axis` has another size.
    """
    axis = pick("axis", axis, "squeeze_dims", squeeze_dims)
    if np.isscalar(axis):
        axis = [axis]
    return gen.squeeze(input, [] if axis is None else axis, name=name)


def squeeze_v2(input, axis=None, name=None):
    return squeeze(input, axis, name)


squeeze_v2.__doc__ = squeeze.__doc__


def broadcast_dynamic_shape(shape_x, shape_y):
    """The shape, as a tensor, that two shapes given as tensors broadcast to."""
    return gen.broadcast_args(shape_x, shape_y)


def broadcast_static_shape(shape_x, shape_y):
    """The TensorShape that two TensorShapes broadcast to."""
    return common_shapes.broadcast_shape(shape_x, shape_y)


def shape(input, name=None, out_type=None):
    """The shape as a vector, of int32 if no type is given; a constant if it is known when the graph is built.

    out_type: int32 or int64. For the static shape, which may be partly unknown, see `Tensor.shape`.
    """
    return shape_internal(input, name, optimize=True, out_type=out_type or dtypes.int32)


def shape_v2(input, out_type=None, name=None):
    return shape(input, name, out_type)


shape_v2.__doc__ = shape.__doc__


def shape_internal(input, name=None, optimize=True, out_type=dtypes.int32):
    """`shape`; with `optimize` false always the op."""
    if type(input) is EagerTensor and defaults.get_default_graph()._eager:
        return gen.shape(input, out_type=out_type)
    with ops.name_scope(name, "Shape", [input]) as name:
        if isinstance(input, _SPARSE):
            return gen.cast(input.dense_shape, out_type)
        known = ops.convert_to_tensor(input).get_shape()
        if optimize and known.is_fully_defined():
            return constant_op.constant(known.as_list(), out_type, name=name)
        return gen.shape(input, name=name, out_type=out_type)


def shape_n(input, out_type=dtypes.int32, name=None):
    """The shapes of a list of tensors."""
    return gen.shape_n(input, out_type=out_type, name=name)


def size(input, name=None, out_type=None):
    """The number of elements (int32 if no type is given); a constant if it is known when the graph is built."""
    return size_internal(input, name, optimize=True, out_type=out_type or dtypes.int32)


def size_v2(input, out_type=None, name=None):
    """The number of elements (int32 if no type is given); a constant if it is known when the graph is built."""
    return size(input, name, out_type)


def size_internal(input, name=None, optimize=True, out_type=dtypes.int32):
    """`size`; with `optimize` false always the op."""
    with ops.name_scope(name, "Size", [input]) as name:
        if isinstance(input, _SPARSE):
            return gen.prod(gen.cast(input.dense_shape, out_type), 0, name=name)
        known = ops.convert_to_tensor(input).get_shape()
        if optimize:
            count = known.num_elements()
            if count is None and known.ndims and 0 in known.as_list():
                count = 0
            if count is not None:
                return constant_op.constant(count, out_type, name=name)
        return gen.size(input, name=name, out_type=out_type)


def rank(input, name=None):
    """The number of dimensions; a constant if it is known when the graph is built."""
    return rank_internal(input, name, optimize=True)


def rank_internal(input, name=None, optimize=True):
    """`rank`; with `optimize` false always the op."""
    with ops.name_scope(name, "Rank", [input]) as name:
        if isinstance(input, _SPARSE):
            return gen.size(input.dense_shape, name=name)
        ndims = ops.convert_to_tensor(input).get_shape().ndims
        if optimize and ndims is not None:
            return constant_op.constant(ndims, dtypes.int32, name=name)
        return gen.rank(input, name=name)


def all_dimensions(x):
    """[0 .. rank) of a dense or sparse tensor; a constant if the rank is known."""
    count = None
    if isinstance(x, sparse_tensor.SparseTensor):
        count = x.dense_shape.get_shape().num_elements()
    elif isinstance(x, ops.Tensor):
        count = x.get_shape().ndims
    if count is not None:
        return constant_op.constant(np.arange(count), dtype=dtypes.int32)
    return gen.range(0, rank(x), 1)


def transpose(a, perm=None, name="transpose", conjugate=False):
    """Reorders the dimensions: dimension i of the result is dimension perm[i] of `a`.

    perm: a vector of int32 or int64 that has each dimension once; without it the order is reversed.
    conjugate: whether complex elements are conjugated too.
    """
    if isinstance(a, ops.Tensor) and a._is_eager and not conjugate and _core.executes_eagerly():
        return gen.transpose(a, list(range(a._rank() - 1, -1, -1)) if perm is None else perm)
    with ops.name_scope(name, "transpose", [a]) as name:
        op = gen.conjugate_transpose if conjugate and a.dtype.is_complex else gen.transpose
        if perm is not None:
            return op(a, perm, name=name)
        a = ops.convert_to_tensor(a, name="a")
        dims = a.get_shape().dims
        if dims:
            perm = len(dims) - 1 - np.arange(len(dims))
        else:
            ndims = gen.rank(a)
            perm = ndims - 1 - gen.range(0, ndims, 1)
        result = op(a, perm, name=name)
        if dims is not None:
            result.set_shape(dims[::-1])
        return result


def transpose_v2(a, perm=None, conjugate=False, name="transpose"):
    return transpose(a, perm, name, conjugate)


transpose_v2.__doc__ = transpose.__doc__


def matrix_transpose(a, name="matrix_transpose", conjugate=False):
    """Exchanges the last two dimensions."""
    from penstock._src.core_ops.array_join import concat  # array_join is built on this module
    with ops.name_scope(name, values=[a]):
        a = ops.convert_to_tensor(a, name="a")
        ndims = a.get_shape().ndims
        if ndims is None:
            count = rank(a)
            perm = concat((gen.range(0, count - 2, 1), [count - 1, count - 2]), 0)
        elif ndims < 2:
            raise ValueError(f"Argument 'a' should be a (batch) matrix, with rank >= 2. Found: {a.get_shape()}")
        else:
            perm = [*range(ndims - 2), ndims - 1, ndims - 2]
        return transpose(a, perm=perm, conjugate=conjugate)
