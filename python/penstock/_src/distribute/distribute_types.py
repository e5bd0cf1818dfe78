"""Types and functions of what is spread over replicas and workers. With one replica values, datasets and iterators are
the ordinary ones, so nothing is of these types; programs ask all the same."""
import contextlib

from penstock._src.graph import errors


class DistributedValues:
    """A value of each replica."""


class DistributedDataset:
    """A dataset whose elements are cut for the replicas."""


class DistributedIterator:
    """An iterator over such a dataset."""


class _Refused:
    def __init__(self, *args, **kwargs):
        raise errors.UnimplementedError(None, None, f"{type(self).__name__} is not there: strategies have one replica, "
                                        "on a CPU of this process")


class TPUStrategy(_Refused):
    """A replica on each core of a TPU. UnimplementedError: there is none."""


class ParameterServerStrategy(_Refused):
    """Variables on parameter servers, replicas on workers. UnimplementedError: there are none."""


class ShardedVariable:
    """A variable whose rows lie on several parameter servers."""


def _get_dataset_attributes(dataset):
    """The batch size and the like of a distributed dataset: none."""
    return None, None


def auto_shard_dataset(dataset, num_shards, index, num_replicas_in_sync=None):
    """The part of a dataset that one of several workers has; with one worker the dataset itself."""
    return dataset


def cache_variable_reads():
    """Context manager under which a variable on servers is read once: variables are here."""
    return contextlib.nullcontext()


class ClusterCoordinator(_Refused):
    """Sends work to the workers of parameter servers."""


class RemoteValue:
    """A value on a worker."""
