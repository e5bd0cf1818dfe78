"""Blocks and windows of arrays, sets of values, and quantisation: the rest of `array_ops`."""
import numpy as np

from penstock._src.graph import dtypes, gen, ops, sparse_tensor, tensor_util
from penstock._src.core_ops.arguments import pick
from penstock._src.core_ops.array_create import zeros
from penstock._src.core_ops.array_join import stack
from penstock._src.core_ops.array_shape import reshape, shape_internal

__all__ = [
    "batch_to_space", "batch_to_space_v2", "depth_to_space", "depth_to_space_v2", "edit_distance",
    "dequantize", "extract_image_patches", "extract_image_patches_v2", "fingerprint", "listdiff", "matrix_diag",
    "matrix_diag_part", "matrix_set_diag", "quantize", "quantize_and_dequantize", "quantize_and_dequantize_v2",
    "quantize_v2", "required_space_to_batch_paddings", "reverse_sequence", "reverse_sequence_v2", "searchsorted",
    "setdiff1d", "space_to_batch", "space_to_batch_v2", "space_to_depth", "space_to_depth_v2", "unique",
    "unique_with_counts",
]


def setdiff1d(x, y, index_dtype=dtypes.int32, name=None):
    """The values of `x` that are not in `y`, in order, and their places in `x`."""
    return gen.list_diff(x, y, out_idx=index_dtype, name=name)


def listdiff(x, y, out_idx=None, name=None):
    """(elements of `x` that are not in `y`, their positions in `x`), both vectors."""
    return gen.list_diff(x, y, out_idx=dtypes.int32 if out_idx is None else out_idx, name=name)


def unique(x, out_idx=dtypes.int32, name=None):
    """The different values of a vector in order of appearance, and for each element its place among them."""
    return gen.unique(x, out_idx=out_idx, name=name)


def unique_with_counts(x, out_idx=dtypes.int32, name=None):
    """`unique`, and how often each value is there."""
    return gen.unique_with_counts(x, out_idx=out_idx, name=name)


def edit_distance(hypothesis, truth, normalize=True, name="edit_distance"):
    """Levenshtein's distance between the sequences along the last dimension of two SparseTensors."""
    for label, value in (("Hypothesis", hypothesis), ("Truth", truth)):
        if not isinstance(value, (sparse_tensor.SparseTensor, sparse_tensor.SparseTensorValue)):
            raise TypeError(f"{label} must be a SparseTensor.")
    return gen.edit_distance(hypothesis.indices, hypothesis.values, hypothesis.dense_shape, truth.indices,
                             truth.values, truth.dense_shape, normalize=normalize, name=name)


def searchsorted(sorted_sequence, values, side="left", out_type=dtypes.int32, name=None):
    """Where each value would have to be put into the sorted last dimension."""
    if side not in ("left", "right"):
        raise ValueError(f"side must be either 'right' or 'left'.  Saw: {side}.")
    length = shape_internal(sorted_sequence)[-1]
    count = shape_internal(values)[-1]
    rows = reshape(sorted_sequence, [-1, length])
    wanted = reshape(values, [-1, count])
    bound = gen.upper_bound if side == "right" else gen.lower_bound
    return reshape(bound(rows, wanted, out_type=out_type, name=name), shape_internal(values))


def fingerprint(data, method="farmhash64", name=None):
    """The hash of each row."""
    return gen.fingerprint(data, method, name=name)


# Reversal and diagonals


def reverse_sequence(input, seq_lengths, seq_axis=None, batch_axis=None, name=None,
                     seq_dim=None, batch_dim=None):
    """Reverses the first seq_lengths[i] entries along `seq_axis` of the i-th slice along `batch_axis`."""
    seq_axis = pick("seq_axis", seq_axis, "seq_dim", seq_dim)
    batch_axis = pick("batch_axis", batch_axis, "batch_dim", batch_dim)
    return reverse_sequence_v2(input, seq_lengths, seq_axis, batch_axis, name)


def reverse_sequence_v2(input, seq_lengths, seq_axis=None, batch_axis=None, name=None):
    """Reverses the first seq_lengths[i] entries along `seq_axis` of the i-th slice along `batch_axis`."""
    return gen.reverse_sequence(input, seq_lengths, seq_dim=seq_axis, batch_dim=0 if batch_axis is None else batch_axis,
                                name=name)


def _are(number, *values):
    """Whether all values are that number (tensors and lists are none)."""
    return all(isinstance(value, (int, float)) and value == number for value in values)


def _padding(value, tensor):
    return bool(value) if getattr(tensor, "dtype", None) == "bool" else value


def matrix_diag(diagonal, name="diag", k=0, num_rows=-1, num_cols=-1, padding_value=0, align="RIGHT_LEFT"):
    """Matrices that have the given diagonals (from k[0] to k[1]) and `padding_value` elsewhere.

    Diagonals shorter than the longest are packed to the side that `align` says for those above and below the main one.
    """
    if _are(0, k, padding_value) and _are(-1, num_rows, num_cols):
        return gen.matrix_diag(diagonal, name=name)
    return gen.matrix_diag_v3(diagonal, k, num_rows, num_cols, _padding(padding_value, diagonal), align=align,
                              name=name)


def matrix_diag_part(input, name="diag_part", k=0, padding_value=0, align="RIGHT_LEFT"):
    """The diagonals of the last two dimensions, packed as in `matrix_diag`."""
    if _are(0, k, padding_value):
        return gen.matrix_diag_part(input, name=name)
    return gen.matrix_diag_part_v3(input, k, _padding(padding_value, input), align=align, name=name)


def matrix_set_diag(input, diagonal, name="set_diag", k=0, align="RIGHT_LEFT"):
    """The matrices with other diagonals, packed as in `matrix_diag`."""
    if _are(0, k):
        return gen.matrix_set_diag(input, diagonal, name=name)
    return gen.matrix_set_diag_v3(input, diagonal, k, align=align, name=name)


# Blocks


def required_space_to_batch_paddings(input_shape, block_shape, base_paddings=None, name=None):
    """(paddings, crops) that make each dimension, with its base padding, a multiple of its block."""
    with ops.name_scope(name, "required_space_to_batch_paddings", [input_shape, block_shape]):
        input_shape = ops.convert_to_tensor(input_shape, dtype=dtypes.int32, name="input_shape")
        block_shape = ops.convert_to_tensor(block_shape, dtype=dtypes.int32, name="block_shape")
        block_shape.get_shape().assert_is_fully_defined()
        block_shape.get_shape().assert_has_rank(1)
        count = block_shape.get_shape().as_list()[0]
        if count == 0:
            return zeros([0, 2], dtypes.int32), zeros([0, 2], dtypes.int32)
        input_shape.get_shape().assert_is_compatible_with([count])
        if base_paddings is None:
            base_paddings = zeros([count, 2], dtypes.int32)
        else:
            base_paddings = ops.convert_to_tensor(base_paddings, dtype=dtypes.int32, name="base_paddings")
            base_paddings.get_shape().assert_is_compatible_with([count, 2])
        known = [tensor_util.constant_value(x) for x in (block_shape, input_shape, base_paddings)]
        if all(value is not None for value in known):
            block_shape, input_shape, base_paddings = known
        before, after = base_paddings[:, 0], base_paddings[:, 1]
        rest = (input_shape + before + after) % block_shape
        extra = (block_shape - rest) % block_shape
        end = after + extra
        paddings = stack([[before[i], end[i]] for i in range(count)], name="paddings")
        crops = stack([[0, extra[i]] for i in range(count)], name="crops")
        return paddings, crops


def space_to_batch(input, paddings, block_size=None, name=None, block_shape=None):
    """Moves blocks of the two image dimensions into the batch dimension."""
    size = pick("block_shape", block_shape, "block_size", block_size)
    result = gen.space_to_batch_nd(input, paddings=paddings, block_shape=np.array([size, size], dtype=np.int64),
                                   name=name)
    result.set_shape(result.get_shape().with_rank(4))
    return result


def space_to_batch_v2(input, block_shape, paddings, name=None):
    """Moves blocks of the two image dimensions into the batch dimension."""
    return gen.space_to_batch_nd(input, block_shape, paddings, name=name)


def batch_to_space(input, crops, block_size, name=None, block_shape=None):
    """The inverse of `space_to_batch`; `crops` is cut off at the borders."""
    size = pick("block_shape", block_shape, "block_size", block_size)
    result = gen.batch_to_space_nd(input, crops=crops, block_shape=np.array([size, size], dtype=np.int64), name=name)
    result.set_shape(result.get_shape().with_rank(4))
    return result


def batch_to_space_v2(input, block_shape, crops, name=None):
    """The inverse of `space_to_batch`; `crops` is cut off at the borders."""
    if isinstance(block_shape, int):
        block_shape = np.array([block_shape, block_shape], dtype=np.int64)
    return gen.batch_to_space_nd(input=input, block_shape=block_shape, crops=crops, name=name)


def space_to_depth(input, block_size, name=None, data_format="NHWC"):
    """Moves blocks of the two image dimensions into the channels."""
    return gen.space_to_depth(input, block_size, data_format=data_format, name=name)


def space_to_depth_v2(input, block_size, data_format="NHWC", name=None):
    """Moves blocks of the two image dimensions into the channels."""
    return space_to_depth(input, block_size, name, data_format)


def depth_to_space(input, block_size, name=None, data_format="NHWC"):
    """The inverse of `space_to_depth`."""
    return gen.depth_to_space(input, block_size, data_format=data_format, name=name)


def depth_to_space_v2(input, block_size, data_format="NHWC", name=None):
    """The inverse of `space_to_depth`."""
    return depth_to_space(input, block_size, name, data_format)


def extract_image_patches(images, ksizes=None, strides=None, rates=None, padding=None, name=None, sizes=None):
    """The windows of images, each flattened into the channels."""
    ksizes = pick("sizes", sizes, "ksizes", ksizes)
    return gen.extract_image_patches(images, ksizes, strides, rates, padding, name=name)


def extract_image_patches_v2(images, sizes, strides, rates, padding, name=None):
    """The windows of images, each flattened into the channels."""
    return gen.extract_image_patches(images, sizes, strides, rates, padding, name=name)


# Quantisation


def quantize_v2(input, min_range, max_range, T, mode="MIN_COMBINED", name=None, round_mode="HALF_AWAY_FROM_ZERO",
                narrow_range=False, axis=None, ensure_minimum_range=0.01):
    """(values, min, max) in the quantised type T; with an axis, each slice along it has a separate range."""
    return gen.quantize_v2(input, min_range, max_range, T=T, mode=mode, round_mode=round_mode,
                           narrow_range=narrow_range, axis=_axis_or_all(input, axis),
                           ensure_minimum_range=ensure_minimum_range, name=name)


def quantize(input, min_range, max_range, T, mode="MIN_COMBINED", round_mode="HALF_AWAY_FROM_ZERO", name=None,
             narrow_range=False, axis=None, ensure_minimum_range=0.01):
    """(numbers of type `T`, min, max): floats as levels of a range that is widened so that zero is in it."""
    return quantize_v2(input, min_range, max_range, T, mode, name, round_mode, narrow_range, axis,
                       ensure_minimum_range)


def dequantize(input, min_range, max_range, mode="MIN_COMBINED", name=None, axis=None, narrow_range=False,
               dtype=dtypes.float32):
    """Converts quantised numbers to floats."""
    return gen.dequantize(input, min_range, max_range, mode=mode, narrow_range=narrow_range,
                          axis=_axis_or_all(input, axis), dtype=dtype, name=name)


def quantize_and_dequantize(input, input_min, input_max, signed_input=True, num_bits=8, range_given=False,
                            round_mode="HALF_TO_EVEN", name=None, narrow_range=False, axis=None):
    """Quantises `input` and converts it back."""
    return gen.quantize_and_dequantize_v2(
        input, input_min=input_min, input_max=input_max, signed_input=signed_input, num_bits=num_bits,
        range_given=range_given, round_mode=round_mode, narrow_range=narrow_range, axis=_axis_or_all(input, axis),
        name=name)


def quantize_and_dequantize_v2(input, input_min, input_max, signed_input=True, num_bits=8, range_given=False,
                               round_mode="HALF_TO_EVEN", name=None, narrow_range=False, axis=None):
    """`quantize_and_dequantize` whose gradient is 0 for numbers outside of the range."""
    return gen.quantize_and_dequantize_v4(
        input, input_min=input_min, input_max=input_max, signed_input=signed_input, num_bits=num_bits,
        range_given=range_given, round_mode=round_mode, narrow_range=narrow_range, axis=_axis_or_all(input, axis),
        name=name)


def _axis_or_all(input, axis):
    """The axis as the ops have it: from the front, -1 for none."""
    if axis is None or axis >= 0:
        return -1 if axis is None else axis
    count = ops.convert_to_tensor(input).shape.ndims
    if count is None:
        raise ValueError("input should have known rank to use negative axis.")
    return axis % count
