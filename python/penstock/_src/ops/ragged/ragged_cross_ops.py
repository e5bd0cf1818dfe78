"""Combinations of the features of each row, as ragged tensors."""
from penstock._src.graph import dtypes, gen, ops, sparse_tensor
from penstock._src.core_ops import math_ops
from penstock._src.ops.ragged.ragged_tensor import RaggedTensor, convert_to_tensor_or_ragged_tensor, is_ragged

__all__ = ["cross", "cross_hashed"]
_HASH_KEY = 0xDECAFCAFFE  # models depend on it


def cross(inputs, name=None):
    """For each row the combinations of one value of each input, joined by "_X_".

    inputs: a list of tensors of rank 2, ragged, sparse or neither, of strings or integers, with the same number of
    rows. ValueError, TypeError: they are not.
    """
    return _crossed(inputs, False, 0, None, name)


def cross_hashed(inputs, num_buckets=0, hash_key=None, name=None):
    """`cross`, of which the values are hashes: below `num_buckets`, or any if that is 0. hash_key: begins the hash."""
    return _crossed(inputs, True, num_buckets, hash_key, name)


def _features(values, i):
    """The values as a type that the op takes."""
    if values.dtype != dtypes.string and not values.dtype.is_integer:
        raise ValueError(f"Unexpected dtype for inputs[{i}]: {values.dtype}")
    return values if values.dtype == dtypes.string else math_ops.cast(values, dtypes.int64)


def _crossed(inputs, hashed, num_buckets, hash_key, name):
    if not isinstance(inputs, (tuple, list)):
        raise TypeError("Inputs must be a list")
    with ops.name_scope(name, "RaggedCross", inputs):
        ragged, sparse, dense, order = [], [], [], ""
        for i, value in enumerate(inputs):
            if sparse_tensor.is_sparse(value):
                value = sparse_tensor.convert_to_tensor_or_sparse_tensor(value)
                sparse.append((value.indices, _features(value.values, i), value.dense_shape))
                order += "S"
            elif is_ragged(value):
                value = convert_to_tensor_or_ragged_tensor(value)
                if value.ragged_rank != 1:
                    raise ValueError("tf.ragged.cross only supports inputs with rank=2")
                ragged.append((_features(value.values, i), value.row_splits))
                order += "R"
            else:
                dense.append(_features(ops.convert_to_tensor(value), i))
                order += "D"
        splits = [s for _, s in ragged]
        wide = not splits or any(s.dtype == dtypes.int64 for s in splits)
        values, row_splits = gen.ragged_cross(
            ragged_values=[v for v, _ in ragged], ragged_row_splits=splits, sparse_indices=[s[0] for s in sparse],
            sparse_values=[s[1] for s in sparse], sparse_shape=[s[2] for s in sparse], dense_inputs=dense,
            input_order=order, hashed_output=hashed, num_buckets=num_buckets,
            hash_key=_HASH_KEY if hash_key is None else hash_key,
            out_values_type=dtypes.int64 if hashed else dtypes.string,
            out_row_splits_type=dtypes.int64 if wide else dtypes.int32)
        return RaggedTensor.from_row_splits(values, row_splits, validate=False)
