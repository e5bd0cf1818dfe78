"""Eager values as DLPack capsules, and back, without copies."""
from penstock import _core
from penstock._src.graph.eager_tensor import EagerTensor


def to_dlpack(tf_tensor):
    """A capsule that shares the tensor's memory. TypeError if it is no eager tensor."""
    if not isinstance(tf_tensor, EagerTensor):
        raise TypeError("The argument to `to_dlpack` must be a TF tensor, not Python object")
    return _core.eager_to_dlpack(tf_tensor)


def from_dlpack(dlcapsule):
    """A tensor over the memory of a capsule, which is used up by it."""
    return _core.eager_from_dlpack(dlcapsule)
