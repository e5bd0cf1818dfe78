"""Sums and products over the GPUs of a machine. The nodes are TensorFlow's; nothing here runs them."""
import itertools

from penstock._src.graph import device
from penstock._src.graph import gen
from penstock._src.graph import ops

_names = itertools.count()


def all_sum(tensors):
    """A list with the sum of the tensors for each of their devices. ValueError if one has no device."""
    return _all_reduce("sum", tensors)


def all_prod(tensors):
    """A list with the product of the tensors for each of their devices."""
    return _all_reduce("prod", tensors)


def all_min(tensors):
    """A list with the smallest elements of the tensors for each of their devices."""
    return _all_reduce("min", tensors)


def all_max(tensors):
    """A list with the largest elements of the tensors for each of their devices."""
    return _all_reduce("max", tensors)


def reduce_sum(tensors):
    """The sum of tensors on several devices, on the current one, which must be one of these (ValueError)."""
    if not tensors:
        raise ValueError("Must pass >0 tensors to reduce operations")
    for tensor in tensors:
        _check_device(tensor)
    result = gen.nccl_reduce(input=tensors, reduction="sum")
    if all(tensor.device != result.device for tensor in tensors):
        raise ValueError("One input tensor must be assigned to current device")
    return result


def broadcast(tensor):
    """A tensor of which every device gets a copy."""
    _check_device(tensor)
    with ops.device(tensor.device):
        return gen.nccl_broadcast(input=tensor, shape=tensor.shape)


def _all_reduce(reduction, tensors):
    if not tensors:
        raise ValueError("Must pass >0 tensors to all reduce operations")
    name = "c%d" % next(_names)
    results = []
    for tensor in tensors:
        _check_device(tensor)
        with ops.device(tensor.device):
            results.append(gen.nccl_all_reduce(input=tensor, reduction=reduction, num_devices=len(tensors),
                                               shared_name=name))
    return results


def _check_device(tensor):
    if not device.canonical_name(tensor.device):
        raise ValueError("Device assignment required for nccl collective ops")
