"""Types of what is spread over replicas. With one replica values, datasets and iterators are the ordinary ones, so
nothing is of these types; programs ask all the same."""
from penstock.framework import errors


class DistributedValues:
    """A value of each replica."""


class DistributedDataset:
    """A dataset whose elements are cut for the replicas."""


class DistributedIterator:
    """An iterator over such a dataset."""


class TPUStrategy:
    """A replica on each core of a TPU. UnimplementedError: there is none."""

    def __init__(self, tpu_cluster_resolver=None, experimental_device_assignment=None,
                 experimental_spmd_xla_partitioning=False):
        raise errors.UnimplementedError(None, None, "TPUStrategy needs a TPU, and there is none")
