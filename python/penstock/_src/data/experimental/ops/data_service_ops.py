"""`tf.data.experimental.service`: what programs name of it. There is no such service here; who asks for one is told.

A pipeline runs in the process that reads it; several processes each read their part with `Dataset.shard`.
"""
import enum
import typing

from penstock._src.graph import errors


def _missing(what):
    return errors.UnimplementedError(
        None, None, f"{what}: Penstock has no tf.data service; the pipeline can run in the process that reads it, and "
                    "several processes can share the elements by Dataset.shard")


class ShardingPolicy(enum.IntEnum):
    """How workers would divide a dataset."""
    OFF = 0
    DYNAMIC = 1
    FILE = 2
    DATA = 3
    FILE_OR_DATA = 4
    HINT = 5


class DispatcherConfig(typing.NamedTuple):
    """What a dispatcher would be started with."""
    port: int = 0
    protocol: typing.Optional[str] = "grpc"
    work_dir: typing.Optional[str] = None
    fault_tolerant_mode: bool = False
    worker_addresses: typing.Optional[list[str]] = None
    job_gc_check_interval_ms: typing.Optional[int] = 0
    job_gc_timeout_ms: typing.Optional[int] = 0
    worker_timeout_ms: typing.Optional[int] = None
    worker_max_concurrent_snapshots: int = 0


class WorkerConfig(typing.NamedTuple):
    """What a worker would be started with."""
    dispatcher_address: str
    worker_address: typing.Optional[str] = "localhost:%port%"
    port: int = 0
    protocol: typing.Optional[str] = "grpc"
    heartbeat_interval_ms: typing.Optional[int] = 0
    dispatcher_timeout_ms: typing.Optional[int] = 0
    data_transfer_protocol: typing.Optional[str] = None
    data_transfer_address: typing.Optional[str] = "localhost:%dts_port%"


class CrossTrainerCache:
    """What trainers would share by one name. ValueError: no name."""

    def __init__(self, trainer_id):
        if not trainer_id:
            raise ValueError("tf.data service cross-trainer cache requires a non-empty trainer ID.")
        self.trainer_id = trainer_id


class DispatchServer:
    """Would hand work to workers. UnimplementedError."""

    def __init__(self, config=None, start=True):
        raise _missing("DispatchServer")


class WorkerServer:
    """Would compute elements for others. UnimplementedError."""

    def __init__(self, config, start=True):
        raise _missing("WorkerServer")


def distribute(processing_mode, service, job_name=None, consumer_index=None, num_consumers=None,
               max_outstanding_requests=None, data_transfer_protocol=None, compression="AUTO",
               cross_trainer_cache=None, target_workers="AUTO"):
    """Would let a service compute a dataset's elements. UnimplementedError."""
    raise _missing(f"distribute to {service}")


def register_dataset(service, dataset, compression="AUTO", dataset_id=None):
    """Would make a dataset known to a service. UnimplementedError."""
    raise _missing(f"register_dataset at {service}")


def from_dataset_id(processing_mode, service, dataset_id, element_spec=None, job_name=None, consumer_index=None,
                    num_consumers=None, max_outstanding_requests=None, data_transfer_protocol=None,
                    cross_trainer_cache=None, target_workers="AUTO"):
    """Would read a dataset that a service knows. UnimplementedError."""
    raise _missing(f"from_dataset_id of {service}")
