"""Tensors that stay in a session from one run to the next."""
from penstock._src.session.tensor_handle import TensorHandle, device_of
from penstock._src.graph import dtypes, gen, ops
from penstock._src.core_ops import array_ops

__all__ = ["TensorHandle", "delete_session_tensor", "get_session_handle", "get_session_tensor"]


def get_session_handle(data, name=None):
    """Keeps a tensor in the session: a run gives a TensorHandle, which can be fed in place of any tensor of its type.

    TypeError if `data` is no tensor.
    """
    if not isinstance(data, ops.Tensor):
        raise TypeError("`data` must be of type Tensor.")
    with ops.colocate_with(data):
        return gen.get_session_handle(data, name=name)


def get_session_tensor(handle, dtype, name=None):
    """(placeholder of a handle, the tensor that is kept under it)."""
    with ops.device(device_of(handle)):
        holder = array_ops.placeholder(dtypes.string)
        return holder, gen.get_session_tensor(holder, dtype, name=name)


def delete_session_tensor(handle, name=None):
    """(placeholder of a handle, an op that deletes its tensor)."""
    with ops.device(device_of(handle)):
        holder = array_ops.placeholder(dtypes.string)
        return holder, gen.delete_session_tensor(holder, name=name)
