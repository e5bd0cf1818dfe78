"""Arrays: making, reducing, reshaping, joining and picking parts of them, as NumPy does."""
import builtins
import math

import numpy as np

from penstock._src.graph import constant_op, dtypes, gen, ops
from penstock._src.core_ops import array_ops, clip_ops, manip_ops, math_ops
from penstock._src.ops.linalg import linalg_ops
from penstock._src.ops.numpy import np_arrays, np_dtypes, np_indexing, np_utils
from penstock._src.ops.numpy.np_arrays import (  # noqa: F401
    _atleast, _dtype, _pad_left_to, _promote_dtype, _promote_dtype_binary, array, asanyarray, asarray,
    ascontiguousarray, copy)

newaxis = None
_getitem = np_indexing.getitem


# Making arrays.


def zeros(shape, dtype=float):
    """Zeros of a shape (an int, a sequence or a tensor)."""
    return array_ops.zeros(_as_shape(shape), _dtype(dtype) or np_dtypes.default_float_type())


def zeros_like(a, dtype=None):
    """Zeros of the shape of `a`, and of its type unless another is given."""
    return array_ops.zeros_like(a, dtypes.as_dtype(np_utils.result_type_unary(a, dtype)))


def empty(shape, dtype=float):
    """The same as `zeros`."""
    return zeros(shape, dtype)


def empty_like(a, dtype=None):
    """The same as `zeros_like`."""
    return zeros_like(a, dtype)


def ones(shape, dtype=float):
    """Ones of a shape (an int, a sequence or a tensor)."""
    return array_ops.ones(_as_shape(shape), _dtype(dtype) or np_dtypes.default_float_type())


def ones_like(a, dtype=None):
    """Ones of the shape of `a`, and of its type unless another is given."""
    return array_ops.ones_like(a, dtypes.as_dtype(np_utils.result_type_unary(a, dtype)))


def _as_shape(shape):
    return [shape] if isinstance(shape, (int, np.integer)) else shape


def eye(N, M=None, k=0, dtype=float):
    """An N x M matrix with ones on its k-th diagonal."""
    rows, columns, k = int(N), int(M or N), int(k)
    dtype = _dtype(dtype) or np_dtypes.default_float_type()
    if k >= columns or -k >= rows:
        return zeros([rows, columns], dtype)
    if k == 0:
        return linalg_ops.eye(rows, columns, dtype=dtype)
    length = builtins.min(rows, columns - k) if k > 0 else builtins.min(rows + k, columns)
    return array_ops.matrix_diag(array_ops.ones([length], dtype), k=k, num_rows=rows, num_cols=columns)


def identity(n, dtype=float):
    """The n x n identity matrix."""
    return eye(n, n, dtype=dtype)


def full(shape, fill_value, dtype=None):
    """`fill_value`, broadcast to a shape."""
    if not isinstance(shape, ops.Tensor):
        shape = np_arrays.convert_to_tensor(shape, dtype_hint=np.int32)
        if shape.dtype.is_floating:  # an empty list
            shape = math_ops.cast(shape, dtypes.int32)
    return gen.broadcast_to(asarray(fill_value, dtype), atleast_1d(shape))


def full_like(a, fill_value, dtype=None, order="K", subok=True, shape=None):
    """`fill_value`, broadcast to the shape of `a`, in its type unless another is given. ValueError for any other
    `order`, `subok` or `shape`."""
    if order != "K":
        raise ValueError("Non-standard orders are not supported.")
    if not subok:
        raise ValueError("subok being False is not supported.")
    if shape:
        raise ValueError("Overriding the shape is not supported.")
    a = asarray(a)
    return gen.broadcast_to(asarray(fill_value, dtype or a.dtype), array_ops.shape(a))


def arange(start, stop=None, step=1, dtype=None):
    """The numbers from `start` (or 0) to `stop`, without it. ValueError if `step` is 0."""
    if not step:
        raise ValueError("step must be non-zero.")
    if stop is None:
        dtype = _dtype(dtype) or np_utils.result_type(start, step)
        start, stop = 0, start
    else:
        dtype = _dtype(dtype) or np_utils.result_type(start, step, stop)
    if (start > stop) if step > 0 else (start < stop):
        return array([], dtype=dtype)
    return math_ops.cast(math_ops.range(start, stop, step), dtype)


def diag(v, k=0):
    """The matrix with `v` on its k-th diagonal, or the k-th diagonal of the matrix `v`. ValueError for another rank."""
    v = asarray(v)
    v.shape.with_rank_at_most(2)
    if np_utils.known_rank(v, "diag") == 1:
        return np_utils.cond(math_ops.equal(array_ops.size(v), 0),
                             lambda: array_ops.zeros([builtins.abs(k)] * 2, v.dtype),
                             lambda: array_ops.matrix_diag(v, k=k))
    v.shape.with_rank(2)
    return diagonal(v, k)


def diagonal(a, offset=0, axis1=0, axis2=1):
    """The diagonals of the matrices in two dimensions of `a`, as its last dimension."""
    a = moveaxis(asarray(a), (axis1, axis2), (-2, -1))
    if offset == 0:
        return array_ops.matrix_diag_part(a)
    *outer, rows, columns = np_utils.dims(a, "diagonal")
    outside = np_utils.logical_or(np_utils._maybe_static(offset <= -rows), np_utils._maybe_static(offset >= columns))
    a, offset = np_utils.cond(outside, lambda: (array_ops.zeros([*outer, 0, 0], a.dtype), 0), lambda: (a, offset))
    return array_ops.matrix_diag_part(a, k=offset)


def diagflat(v, k=0):
    """The matrix with the elements of `v` on its k-th diagonal."""
    return diag(ravel(v), k)


def diag_indices(n, ndim=2):
    """The indices of the diagonal of an array of `ndim` dimensions of size `n`. ValueError for negative ones."""
    for name, value in (("n", n), ("ndim", ndim)):
        if value < 0:
            raise ValueError(f"{name} argument to diag_indices must be nonnegative, got {value}")
    return (math_ops.range(n),) * ndim


def tri(N, M=None, k=0, dtype=None):
    """An N x M matrix with ones at and below its k-th diagonal."""
    below = math_ops.range(N)[:, None] + k >= math_ops.range(N if M is None else M)
    return math_ops.cast(below, _dtype(dtype) or np_utils.result_type(float))


def _triangle(m, k, function):
    """`m` as a tensor, and the mask of what is at or below its k-th diagonal. ValueError unless it is of matrices."""
    m = asarray(m)
    if m.shape.rank is None:
        raise ValueError(f"Argument to {function} should have known rank")
    if m.shape.rank < 2:
        raise ValueError(f"Argument to {function} must have rank at least 2")
    rows, columns = m.shape.as_list()[-2:]
    if rows is None or columns is None:
        raise ValueError("Currently, the last two dimensions of the input array need to be known.")
    return m, tri(rows, columns, k, bool)


def tril(m, k=0):
    """The matrices with zeros above their k-th diagonal. ValueError if their sizes are not known."""
    m, lower = _triangle(m, k, "tril")
    return array_ops.where_v2(lower, m, array_ops.zeros([], m.dtype))


def triu(m, k=0):
    """The matrices with zeros below their k-th diagonal. ValueError if their sizes are not known."""
    m, lower = _triangle(m, k - 1, "triu")
    return array_ops.where_v2(lower, array_ops.zeros([], m.dtype), m)


def vander(x, N=None, increasing=False):
    """The matrix of powers of the vector `x`: those below N (or its length), the highest first unless `increasing`.
    ValueError if `x` is no vector or N negative."""
    x = asarray(x)
    if np_utils.known_rank(x, "vander") != 1:
        raise ValueError("x must be a one-dimensional array")
    count = np_utils.dims(x, "vander")[0] if N is None else np_utils._maybe_static(N)
    if not isinstance(count, ops.Tensor) and count < 0:
        raise ValueError("N must be nonnegative")
    powers = math_ops.range(count) if increasing else math_ops.range(count - 1, -1, -1)
    return math_ops.pow(array_ops.expand_dims(x, -1), math_ops.cast(powers, x.dtype))


# Reducing.

_KEEP, _TO_INT, _TO_FLOAT = range(3)


def _wide_integer(dtype):
    """The type in which NumPy adds up integers and bools of a type."""
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return np.int_
    return np.promote_types(dtype, np.uint if dtype.kind == "u" else np.int_)


def _reduce(function, a, axis, dtype=None, keepdims=None, integers=_TO_INT, bools=None, keep_bools=False):
    """A reduction; `integers` says what becomes of them where no type is given, `bools` what reduces bools."""
    dtype = _dtype(dtype)
    keepdims = bool(keepdims)
    a = asarray(a, dtype)
    if bools and (dtype == dtypes.bool or keep_bools and a.dtype == dtypes.bool):
        return bools(a, axis=axis, keepdims=keepdims)
    if dtype is None and (a.dtype.is_integer or a.dtype == dtypes.bool):
        if integers == _TO_INT:
            a = math_ops.cast(a, _wide_integer(a.dtype.as_numpy_dtype))
        elif integers == _TO_FLOAT:
            a = math_ops.cast(a, np_utils.result_type(float))
    if isinstance(axis, ops.Tensor) and axis.dtype not in (dtypes.int32, dtypes.int64):
        axis = math_ops.cast(axis, dtypes.int64)
    return function(a, axis=axis, keepdims=keepdims)


def _refuse_out(out):
    if out is not None:
        raise ValueError("Setting out is not supported.")


def all(a, axis=None, keepdims=None):
    """Whether all elements along `axis`, an int or a tuple of them, are true."""
    return math_ops.reduce_all(asarray(a, bool), axis=axis, keepdims=bool(keepdims))


def any(a, axis=None, keepdims=None):
    """Whether any element along `axis`, an int or a tuple of them, is true."""
    return math_ops.reduce_any(asarray(a, bool), axis=axis, keepdims=bool(keepdims))


def sum(a, axis=None, dtype=None, keepdims=None):
    """The sum along `axis`; narrow integers are added up as wide ones."""
    return _reduce(math_ops.reduce_sum, a, axis, dtype, keepdims, bools=math_ops.reduce_any)


def prod(a, axis=None, dtype=None, keepdims=None):
    """The product along `axis`; narrow integers are multiplied as wide ones."""
    return _reduce(math_ops.reduce_prod, a, axis, dtype, keepdims, bools=math_ops.reduce_all)


def mean(a, axis=None, dtype=None, out=None, keepdims=None):
    """The mean along `axis`; that of integers is a float. ValueError if `out` is given."""
    _refuse_out(out)
    return _reduce(math_ops.reduce_mean, a, axis, dtype, keepdims, _TO_FLOAT)


def amax(a, axis=None, out=None, keepdims=None):
    """The greatest element along `axis`. ValueError if `out` is given."""
    _refuse_out(out)
    return _reduce(math_ops.reduce_max, a, axis, None, keepdims, _KEEP, math_ops.reduce_any, keep_bools=True)


def amin(a, axis=None, out=None, keepdims=None):
    """The smallest element along `axis`. ValueError if `out` is given."""
    _refuse_out(out)
    return _reduce(math_ops.reduce_min, a, axis, None, keepdims, _KEEP, math_ops.reduce_all, keep_bools=True)


def max(a, axis=None, keepdims=None):
    """The greatest element along `axis`."""
    return amax(a, axis=axis, keepdims=keepdims)


def min(a, axis=None, keepdims=None):
    """The smallest element along `axis`."""
    return amin(a, axis=axis, keepdims=keepdims)


def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=None):
    """The variance along `axis`: the squared distances from the mean, added up and divided by their number less
    `ddof`. ValueError if `out` is given."""
    _refuse_out(out)

    def variance(a, axis, keepdims):
        if not ddof:
            return math_ops.reduce_variance(a, axis=axis, keepdims=keepdims)
        distances = math_ops.abs(a - math_ops.reduce_mean(a, axis=axis, keepdims=True))
        total = math_ops.reduce_sum(math_ops.square(distances), axis=axis, keepdims=keepdims)
        number = array_ops.size(a)
        if axis is not None:
            axis = np_utils._canonicalize_axes(np.ravel(axis).tolist(), array_ops.rank(a))
            number = math_ops.reduce_prod(array_ops.gather(array_ops.shape(a), axis))
        return total / math_ops.cast(number - ddof, total.dtype)

    result = _reduce(variance, a, axis, np_utils.result_type(a, dtype) if dtype else None, keepdims, _TO_FLOAT)
    return math_ops.cast(result, _dtype(dtype)) if dtype else result


def std(a, axis=None, keepdims=None):
    """The standard deviation along `axis`."""
    return _reduce(math_ops.reduce_std, a, axis, None, keepdims, _TO_FLOAT)


def _running(function, a, axis, dtype):
    a = asarray(a, dtype)
    if dtype is None and a.dtype.is_integer:
        a = asarray(a, np.promote_types(a.dtype.as_numpy_dtype, int))
    if axis is None:
        return function(ravel(a), 0)
    return function(a, np_utils._canonicalize_axis(axis, array_ops.rank(a)))


def cumsum(a, axis=None, dtype=None):
    """The running sum along `axis`, or of the flat array."""
    return _running(math_ops.cumsum, a, axis, dtype)


def cumprod(a, axis=None, dtype=None):
    """The running product along `axis`, or of the flat array."""
    return _running(math_ops.cumprod, a, axis, dtype)


def size(x, axis=None):
    """The number of elements: an int where it is known. NotImplementedError if `axis` is given."""
    if axis is not None:
        raise NotImplementedError("axis argument is not supported in the current `np.size` implementation")
    if isinstance(x, (int, float, np.integer, np.floating)):
        return 1
    x = asarray(x)
    return np.prod(x.shape.as_list(), dtype=int) if x.shape.is_fully_defined() else array_ops.size_v2(x)


def shape(a):
    """The static shape, a TensorShape."""
    return asarray(a).shape


def ndim(a):
    """The static rank."""
    return asarray(a).shape.rank


def isscalar(num):
    """Whether it has no dimensions."""
    return ndim(num) == 0


# Elements.


def real(val):
    """The real part."""
    return math_ops.real(asarray(val))


def imag(val):
    """The imaginary part; zeros for real numbers."""
    return math_ops.imag(asarray(val))


def around(a, decimals=0):
    """The elements rounded to so many decimals, halves to even; a negative number rounds tens, hundreds..."""
    a = asarray(a)
    dtype = a.dtype
    work = dtype if np.issubdtype(dtype.as_numpy_dtype, np.inexact) else np_utils.result_type(float)
    factor = constant_op.constant(math.pow(10, decimals), work)
    return math_ops.cast(math_ops.round(math_ops.cast(a, work) * factor) / factor, dtype)


def round(a, decimals=0):
    """The same as `around`."""
    return around(a, decimals=decimals)


def sign(x, out=None, where=None, **kwargs):
    """-1, 0 or 1 for each element; of complex numbers the number divided by its absolute value. ValueError for any
    further argument."""
    for name, given in (("out", out), ("where", where)):
        if given:
            raise ValueError(f"tf.numpy doesnt support setting {name}.")
    if kwargs:
        raise ValueError(f"tf.numpy doesnt support setting {kwargs.keys()}")
    return math_ops.sign(asarray(x))


def where(condition, x=None, y=None):
    """Elements of x where the condition holds, else of y; the indices of true elements without x and y. ValueError if
    only one of them is given."""
    condition = asarray(condition, np.bool_)
    if x is None and y is None:
        return nonzero(condition)
    if x is None or y is None:
        raise ValueError("Both x and y must be ndarrays, or both must be None.")
    x, y = _promote_dtype(x, y)
    return array_ops.where_v2(condition, x, y)


def select(condlist, choicelist, default=0):
    """Each element from the first of the choices whose condition holds there, else `default`. ValueError if the lists
    are of different lengths or empty."""
    if len(condlist) != len(choicelist):
        raise ValueError(f"condlist must have length equal to choicelist ({len(condlist)} vs {len(choicelist)})")
    if not condlist:
        raise ValueError("condlist must be non-empty")
    output, *choices = _promote_dtype(default, *choicelist)
    for condition, choice in zip(reversed(condlist), reversed(choices)):
        output = where(condition, choice, output)
    return output


def nonzero(a):
    """The indices of elements that are not zero: a list with a vector for each dimension. ValueError if the rank is
    not known."""
    a = atleast_1d(a)
    if a.shape.rank is None:
        raise ValueError("The rank of `a` is unknown, so we can't decide how many arrays to return.")
    return array_ops.unstack(array_ops.where_v2(math_ops.cast(a, dtypes.bool)), a.shape.rank, axis=1)


def compress(condition, a, axis=None):
    """The slices along `axis`, or the elements, for which the condition, a vector of bools, holds. ValueError if it is
    no vector."""
    condition = asarray(condition, bool)
    a = asarray(a)
    if condition.shape.rank != 1:
        raise ValueError("condition must be a 1-d array.")
    if axis is None or a.shape.rank == 0:
        a, axis = ravel(a), 0
    axis = np_utils._canonicalize_axis(axis, np_utils.known_rank(a, "compress"))
    missing = np_utils.dims(a, "compress")[axis] - np_utils.dims(condition, "compress")[0]
    return array_ops.boolean_mask(a, array_ops.pad(condition, [[0, gen.maximum(missing, 0)]]), axis=axis)


def take(a, indices, axis=None, out=None, mode="clip"):
    """Slices along `axis` (elements of the flat array without one); `mode`, "clip" or "wrap", says what an index
    outside means. ValueError for "raise" or if `out` is given."""
    if out is not None:
        raise ValueError("out argument is not supported in take.")
    if mode not in ("raise", "clip", "wrap"):
        raise ValueError(f"Invalid mode '{mode}' for take")
    if mode == "raise":
        raise ValueError("The 'raise' mode to take is not supported.")
    a, indices = asarray(a), asarray(indices)
    if axis is None:
        a, axis = ravel(a), 0
    length = array_ops.shape(a, out_type=indices.dtype)[axis]
    indices = clip_ops.clip_by_value(indices, 0, length - 1) if mode == "clip" else gen.floor_mod(indices, length)
    return array_ops.gather(a, indices, axis=axis)


def take_along_axis(arr, indices, axis):
    """Element by element, what `indices` pick along `axis` (of the flat array if it is None)."""
    arr, indices = asarray(arr), asarray(indices)
    if axis is None:
        arr, axis = ravel(arr), 0
    arr, indices = swapaxes(arr, axis, -1), swapaxes(indices, axis, -1)
    outer = array_ops.broadcast_dynamic_shape(array_ops.shape(arr)[:-1], array_ops.shape(indices)[:-1])
    length, count = array_ops.shape(arr)[-1:], array_ops.shape(indices)[-1:]
    arr = gen.broadcast_to(arr, array_ops.concat([outer, length], 0))
    indices = gen.broadcast_to(indices, array_ops.concat([outer, count], 0))
    indices = array_ops.where_v2(indices < 0, indices + math_ops.cast(length, indices.dtype), indices)
    picked = array_ops.gather(array_ops.reshape(arr, array_ops.concat([[-1], length], 0)),
                              array_ops.reshape(indices, array_ops.concat([[-1], count], 0)), batch_dims=1)
    result = array_ops.reshape(picked, array_ops.shape(indices))
    result.set_shape(indices.shape)
    return swapaxes(result, axis, -1)


def ix_(*args):
    """The vectors of indices or bools, shaped so that together they pick a grid. ValueError for another rank or
    type."""
    output = []
    for i, a in enumerate(args):
        a = asarray(a)
        if np_utils.known_rank(a, "ix_") != 1:
            raise ValueError(f"Arguments must be 1-d, got arg {i} of rank {a.shape.rank}")
        if a.dtype == dtypes.bool:
            a, = nonzero(a)
        elif not a.dtype.is_integer:
            raise ValueError(f"Only integer and bool dtypes are supported, got {a.dtype}")
        output.append(array_ops.reshape(a, [-1 if j == i else 1 for j in range(len(args))]))
    return output


# Shapes.


def ravel(a):
    """The elements as a vector."""
    return array_ops.reshape(asarray(a), [-1])


def flatten(a, order="C"):
    """The elements as a vector, the last index running fastest, or the first for order "F". ValueError for another
    order."""
    if order not in ("C", "A", "K", "F"):
        raise ValueError("order can only be C, A, K (all row major) or F (column major).")
    return ravel(array_ops.transpose(asarray(a)) if order == "F" else a)


def reshape(a, newshape, order="C"):
    """The elements in another shape (one size may be -1), the last index running fastest, or the first for order "F".
    ValueError for another order."""
    if order not in ("C", "F"):
        raise ValueError(f"Unsupported order argument {order}")
    a = asarray(a)
    newshape = _as_shape(newshape)
    if order == "F":
        return array_ops.transpose(array_ops.reshape(array_ops.transpose(a), newshape[::-1]))
    return array_ops.reshape(a, newshape)


def _reshape_method_wrapper(a, *newshape, **kwargs):
    """`reshape` as a method: the sizes may stand one by one."""
    order = kwargs.pop("order", "C")
    if kwargs:
        raise ValueError(f"Unsupported arguments: {kwargs.keys()}")
    if len(newshape) == 1 and not isinstance(newshape[0], int):
        newshape = newshape[0]
    return reshape(a, newshape, order=order)


def expand_dims(a, axis):
    """`a` with a further dimension of size 1."""
    return array_ops.expand_dims(asarray(a), axis=axis)


def squeeze(a, axis=None):
    """`a` without its dimensions of size 1, or those that `axis` names."""
    return array_ops.squeeze(asarray(a), axis)


def transpose(a, axes=None):
    """`a` with its dimensions in another order: turned around unless `axes` are given."""
    return array_ops.transpose(asarray(a), None if axes is None else asarray(axes))


def swapaxes(a, axis1, axis2):
    """`a` with two dimensions exchanged."""
    a = asarray(a)
    rank = np_utils.tf_rank(a)
    axis1, axis2 = np_utils._canonicalize_axes([axis1, axis2], rank)
    if isinstance(rank, int) and isinstance(axis1, int) and isinstance(axis2, int):
        order = list(range(rank))
        order[axis1], order[axis2] = order[axis2], order[axis1]
    else:
        order = gen.tensor_scatter_update(math_ops.range(rank), [[axis1], [axis2]], [axis2, axis1])
    return array_ops.transpose(a, order)


def moveaxis(a, source, destination):
    """`a` with the dimensions `source` (an int or several) at the places `destination`. ValueError if they are not
    equally many."""
    a = asarray(a)
    source, destination = ([x] if isinstance(x, int) else list(x) for x in (source, destination))
    if len(source) != len(destination):
        raise ValueError("The lengths of source and destination must equal")
    if not source:
        return a
    rank = np_utils.known_rank(a, "moveaxis")
    source, destination = (np_utils._canonicalize_axes(x, rank) for x in (source, destination))
    order = [i for i in range(rank) if i not in source]
    for place, axis in sorted(zip(destination, source)):
        order.insert(place, axis)
    return a if order == list(range(rank)) else array_ops.transpose(a, order)


def broadcast_to(array, shape):
    """`array`, broadcast to a shape."""
    return full(shape, array)


def broadcast_arrays(*args, **kwargs):
    """The arrays, broadcast to their common shape. ValueError for any further argument."""
    if kwargs.pop("subok", False):
        raise ValueError("subok=True is not supported.")
    if kwargs:
        raise ValueError(f"Received unsupported arguments {kwargs.keys()}")
    return np_utils.tf_broadcast(*[asarray(arg) for arg in args])


def _each(function, arrays):
    results = [function(a) for a in arrays]
    return results[0] if len(results) == 1 else results


def atleast_1d(*arys):
    """The arrays; scalars become vectors."""
    return _each(lambda a: _atleast(1, a), arys)


def atleast_2d(*arys):
    """The arrays with at least two dimensions; new ones come first."""
    return _each(lambda a: _atleast(2, a), arys)


def atleast_3d(*arys):
    """The arrays with at least three dimensions; a vector of N becomes 1 x N x 1, a matrix gets a last dimension."""
    def three(a):
        a = asarray(a)
        rank = np_utils.known_rank(a, "atleast_3d")
        if rank >= 3:
            return a
        return array_ops.expand_dims(a if rank == 2 else _atleast(2, a), -1)
    return _each(three, arys)


def pad(array, pad_width, mode, **kwargs):
    """`array` with further elements around it: `constant_values` (0), or its own for mode "reflect" and "symmetric".
    ValueError for another mode."""
    if mode not in ("constant", "reflect", "symmetric"):
        raise ValueError("Unsupported padding mode: " + mode)
    return array_ops.pad(asarray(array), asarray(pad_width, dtypes.int32), mode=mode.upper(),
                         constant_values=kwargs.get("constant_values", 0))


def repeat(a, repeats, axis=None):
    """Each element (each slice along `axis`) as often as `repeats` says: a number for all or one for each."""
    a = asarray(a)
    if not isinstance(repeats, ops.Tensor) and np.size(repeats) == 1:
        repeats = np.ravel(repeats)[0]
    result = array_ops.repeat(a, asarray(repeats), axis)
    sizes = a.shape.as_list() if a.shape.is_fully_defined() else None
    if sizes is None or isinstance(repeats, ops.Tensor):
        return result
    counts = np.ravel(repeats)
    sizes, axis = ([math.prod(sizes)], 0) if axis is None else (sizes, axis)
    sizes[axis] = counts[0] * sizes[axis] if len(counts) == 1 else counts.sum()
    result.set_shape(sizes)
    return result


def flip(m, axis=None):
    """`m` with its elements in the opposite order along `axis`, or along all dimensions."""
    m = asarray(m)
    rank = np_utils.tf_rank(m)
    axes = math_ops.range(rank) if axis is None else [np_utils._canonicalize_axis(axis, rank)]
    return array_ops.reverse(m, axes)


def flipud(m):
    """`m` with its first dimension turned around."""
    return flip(m, 0)


def fliplr(m):
    """`m` with its second dimension turned around."""
    return flip(m, 1)


def roll(a, shift, axis=None):
    """`a` with its elements shifted along `axis` (as a flat array without one); what leaves at the end comes back."""
    a = asarray(a)
    if axis is not None:
        return manip_ops.roll(a, shift, axis)
    return array_ops.reshape(manip_ops.roll(ravel(a), shift, 0), array_ops.shape(a))


def rot90(m, k=1, axes=(0, 1)):
    """`m`, turned k times by 90 degrees from the first to the second of the two axes."""
    m = asarray(m)
    first, second = np_utils._canonicalize_axes(axes, np_utils.known_rank(m, "rot90"))
    if k % 4 == 0:
        return m
    if k % 4 == 2:
        return flip(flip(m, first), second)
    if k % 4 == 1:
        return swapaxes(flip(m, second), first, second)
    return flip(swapaxes(m, first, second), second)


# Joining and splitting.


def stack(arrays, axis=0):
    """The arrays, which are of one shape, along a new dimension."""
    if isinstance(arrays, ops.Tensor):
        return arrays if axis == 0 else swapaxes(arrays, 0, axis)
    return array_ops.stack(_promote_dtype(*arrays), axis)


def _joined(arrays, axis):
    return array_ops.concat(_promote_dtype(*arrays), axis)


def vstack(tup):
    """The arrays one below the other; vectors are rows."""
    return _joined([atleast_2d(a) for a in tup], 0)


def hstack(tup):
    """The arrays one beside the other: along the second dimension, vectors along their only one."""
    arrays = [atleast_1d(a) for a in tup]
    return _joined(arrays, 0 if np_utils.known_rank(arrays[0], "hstack") == 1 else 1)


def dstack(tup):
    """The arrays along the third dimension."""
    return _joined([atleast_3d(a) for a in tup], 2)


def split(ary, indices_or_sections, axis=0):
    """The array in so many equal parts along `axis`, or cut before the given indices. ValueError for indices that go
    back."""
    ary = asarray(ary)
    if isinstance(indices_or_sections, int):
        return array_ops.split(ary, indices_or_sections, axis=axis)
    if np_utils.known_rank(ary, "split") <= axis:
        raise ValueError(f"axis {axis} is out of bound for shape {ary.shape}")
    total = np_utils.dims(ary, "split")[axis]
    bounds = [0, *indices_or_sections]
    for i, (before, bound) in enumerate(zip(bounds, bounds[1:])):
        if bound < before:
            raise ValueError(f"The {i}-th boundary {bound} is smaller than the previous boundary {before}")
    if isinstance(total, int):
        bounds = [builtins.min(bound, total) for bound in bounds]
    sizes = [after - before for before, after in zip(bounds, [*bounds[1:], total])]
    return array_ops.split(ary, sizes, axis=axis)


def _split_along(ary, parts, axis):
    ary = asarray(ary)
    length = ary.shape.as_list()[axis]
    if isinstance(parts, int) and length is not None and length % parts:
        raise ValueError("array split does not result in an equal division")
    return split(ary, parts, axis)


def vsplit(ary, indices_or_sections):
    """`split` along the first dimension. ValueError if the parts are not equal."""
    return _split_along(ary, indices_or_sections, 0)


def hsplit(ary, indices_or_sections):
    """`split` along the second dimension, or a vector's only one. ValueError if the parts are not equal."""
    ary = asarray(ary)
    return _split_along(ary, indices_or_sections, 0 if np_utils.known_rank(ary, "hsplit") == 1 else 1)


def dsplit(ary, indices_or_sections):
    """`split` along the third dimension. ValueError if the parts are not equal."""
    return _split_along(ary, indices_or_sections, 2)
