"""A strategy with a replica on each of several workers, which here is one."""
import enum
import json
import os

from penstock._src.distribute.mirrored_strategy import MirroredStrategy
from penstock._src.graph import errors


class CommunicationImplementation(enum.Enum):
    """By what workers talk to each other."""

    AUTO = "AUTO"
    RING = "RING"
    NCCL = "NCCL"


CollectiveCommunication = CommunicationImplementation  # its first name


class CommunicationOptions:
    """How workers talk to each other: in packs of so many bytes, and when they give up. ValueError: negative packs."""

    def __init__(self, bytes_per_pack=0, timeout_seconds=None, implementation=CommunicationImplementation.AUTO):
        if bytes_per_pack < 0:
            raise ValueError(f"Argument `bytes_per_pack` must be >=0, Received {bytes_per_pack}.")
        self.bytes_per_pack, self.timeout_seconds = bytes_per_pack, timeout_seconds
        self.implementation = CommunicationImplementation(getattr(implementation, "value", implementation))


class MultiWorkerMirroredStrategy(MirroredStrategy):
    """A replica on each worker of the cluster that `cluster_resolver` or TF_CONFIG names; without either there is one
    worker. UnimplementedError: several workers."""

    def __init__(self, cluster_resolver=None, communication_options=None):
        cluster = (cluster_resolver.cluster_spec().as_dict() if cluster_resolver is not None else
                   json.loads(os.environ.get("TF_CONFIG") or "{}").get("cluster", {}))
        workers = [task for job in ("chief", "master", "worker") for task in cluster.get(job, ())]
        if len(workers) > 1:
            raise errors.UnimplementedError(None, None, "MultiWorkerMirroredStrategy has one worker; the cluster has "
                                            f"{len(workers)}: {', '.join(workers)}")
        super().__init__()
        self._cluster_resolver = cluster_resolver

    @property
    def cluster_resolver(self):
        """The resolver that it was given."""
        return self._cluster_resolver


class ExperimentalMultiWorkerMirroredStrategy(MultiWorkerMirroredStrategy):
    """The same, with the arguments of its first version."""

    def __init__(self, communication=CommunicationImplementation.AUTO, cluster_resolver=None):
        super().__init__(cluster_resolver, CommunicationOptions(implementation=communication))
