"""How values of replicas become one and get back to them: with one replica they stay as they are."""
from penstock._src.distribute.reduce_util import as_reduce_op


class CrossDeviceOps:
    """A way to reduce over devices and to copy to them."""

    def reduce(self, reduce_op, per_replica_value, destinations, options=None):
        """The sum or mean of a value over the replicas."""
        as_reduce_op(reduce_op)
        return self.reduce_implementation(reduce_op, per_replica_value, destinations, options)

    def batch_reduce(self, reduce_op, value_destination_pairs, options=None):
        """`reduce` of each of several (value, destinations)."""
        as_reduce_op(reduce_op)
        return self.batch_reduce_implementation(reduce_op, value_destination_pairs, options)

    def broadcast(self, tensor, destinations):
        """A tensor on all devices."""
        return self.broadcast_implementation(tensor, destinations)

    def reduce_implementation(self, reduce_op, per_replica_value, destinations, options=None):
        """What subclasses fill in."""
        return per_replica_value

    def batch_reduce_implementation(self, reduce_op, value_destination_pairs, options=None):
        """What subclasses fill in."""
        return [self.reduce_implementation(reduce_op, value, to, options) for value, to in value_destination_pairs]

    def broadcast_implementation(self, tensor, destinations):
        """What subclasses fill in."""
        return tensor


class ReductionToOneDevice(CrossDeviceOps):
    """Reduces on one device: on `reduce_to_device`, by `accumulation_fn`."""

    def __init__(self, reduce_to_device=None, accumulation_fn=None):
        self.reduce_to_device, self.accumulation_fn = reduce_to_device, accumulation_fn


class _AllReduce(CrossDeviceOps):
    def __init__(self, num_packs=1):
        if num_packs < 0:
            raise ValueError(f"NCCL all-reduce requires num_packs >= 0, but {num_packs} is specified")
        self.num_packs = num_packs


class NcclAllReduce(_AllReduce):
    """Reduces by NCCL, in so many packs. ValueError: fewer than none."""


class HierarchicalCopyAllReduce(_AllReduce):
    """Reduces within groups of devices first, in so many packs. ValueError: fewer than none."""
