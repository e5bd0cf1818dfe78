"""Ragged tensors from and to tensors, as functions; the methods of RaggedTensor do the same."""
from penstock._src.graph import dtypes
from penstock._src.ops.ragged.ragged_tensor import RaggedTensor, convert_to_tensor_or_ragged_tensor, is_ragged


def from_tensor(tensor, lengths=None, padding=None, ragged_rank=1, row_splits_dtype=dtypes.int64, name=None):
    """`RaggedTensor.from_tensor`, unless the tensor is ragged."""
    if is_ragged(tensor):
        return tensor
    return RaggedTensor.from_tensor(tensor, lengths, padding, ragged_rank, name, row_splits_dtype)


def to_tensor(rt_input, default_value=None, name=None):
    """`RaggedTensor.to_tensor`, if the tensor is ragged."""
    rt_input = convert_to_tensor_or_ragged_tensor(rt_input)
    return rt_input.to_tensor(default_value, name) if is_ragged(rt_input) else rt_input


def ragged_to_dense(rt_input, default_value=None, shape=None):
    """`RaggedTensor.to_tensor` of a shape."""
    return rt_input.to_tensor(default_value=default_value, shape=shape)


def to_sparse(rt_input, name=None):
    """`RaggedTensor.to_sparse`. TypeError for a tensor that is not ragged."""
    if not is_ragged(rt_input):
        raise TypeError(f"Expected RaggedTensor, got {type(rt_input).__name__}")
    return convert_to_tensor_or_ragged_tensor(rt_input).to_sparse(name)


def from_sparse(st_input, name=None):
    """`RaggedTensor.from_sparse`."""
    return RaggedTensor.from_sparse(st_input, name)
