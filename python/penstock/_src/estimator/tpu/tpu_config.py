"""RunConfig of a TPUEstimator."""
import collections
import json
import os

from penstock._src.estimator import run_config as run_config_lib
from penstock._src.estimator.tpu import util as util_lib
from penstock._src.base import tf_logging as logging
from penstock.proto import config_pb2


class InputPipelineConfig:
    """How often the input function is called; on the CPU once."""

    PER_SHARD_V1 = 1
    PER_HOST_V1 = 2
    PER_HOST_V2 = 3
    BROADCAST = 4
    SLICED = 5


class TPUConfig(
        collections.namedtuple("TPUConfig", [
            "iterations_per_loop", "num_shards", "num_cores_per_replica", "per_host_input_for_training",
            "tpu_job_name", "initial_infeed_sleep_secs", "input_partition_dims", "eval_training_input_configuration",
            "experimental_host_call_every_n_steps"])):
    """What a TPU would do."""

    def __new__(cls, iterations_per_loop=2, num_shards=None, num_cores_per_replica=None,
                per_host_input_for_training=True, tpu_job_name=None, initial_infeed_sleep_secs=None,
                input_partition_dims=None, eval_training_input_configuration=InputPipelineConfig.PER_HOST_V1,
                experimental_host_call_every_n_steps=1):
        util_lib.parse_iterations_per_loop(iterations_per_loop)
        if num_shards is not None:
            util_lib.check_positive_integer(num_shards, "TPUConfig num_shards")
        if input_partition_dims is not None:
            if len(input_partition_dims) not in (1, 2):
                raise ValueError("input_partition_dims must be a list/tuple with one or two elements.")
            if per_host_input_for_training is not InputPipelineConfig.PER_HOST_V2:
                raise ValueError("input_partition_dims is only supported in PER_HOST_V2 mode.")
            if num_cores_per_replica is None:
                raise ValueError("input_partition_dims requires setting num_cores_per_replica.")
        if num_cores_per_replica not in (None, 1, 2, 4, 8, 16, 32, 64, 128):
            raise ValueError("num_cores_per_replica must be 1, 2, 4, 8, 16, 32, 64, 128; got {}".format(
                num_cores_per_replica))
        if eval_training_input_configuration not in (InputPipelineConfig.PER_HOST_V1, InputPipelineConfig.SLICED):
            raise ValueError("eval_training_input_configuration must be PER_HOST_V1 or SLICED; got {}.".format(
                eval_training_input_configuration))
        if isinstance(per_host_input_for_training, bool):
            per_host_input_for_training = (InputPipelineConfig.PER_HOST_V1 if per_host_input_for_training else
                                           InputPipelineConfig.PER_SHARD_V1)
        if initial_infeed_sleep_secs:
            util_lib.check_positive_integer(initial_infeed_sleep_secs, "TPUConfig initial_infeed_sleep_secs")
        return super().__new__(
            cls, iterations_per_loop=iterations_per_loop, num_shards=num_shards,
            num_cores_per_replica=num_cores_per_replica, per_host_input_for_training=per_host_input_for_training,
            tpu_job_name=tpu_job_name or _job_name(), initial_infeed_sleep_secs=initial_infeed_sleep_secs,
            input_partition_dims=input_partition_dims,
            eval_training_input_configuration=eval_training_input_configuration,
            experimental_host_call_every_n_steps=experimental_host_call_every_n_steps)


class RunConfig(run_config_lib.RunConfig):
    """A RunConfig with a TPUConfig.

    cluster: A ClusterResolver that says what the session's target is, instead of `master`.
    """

    def __init__(self, tpu_config=None, evaluation_master=None, master=None, cluster=None, **kwargs):
        super().__init__(**kwargs)
        self._tpu_config = tpu_config or TPUConfig()
        self._cluster = cluster
        if master is not None:
            if cluster is not None:
                raise ValueError("Both master and cluster are set.")
            self._master = master
        elif cluster:
            self._master = cluster.master()
        if evaluation_master is not None:
            self._evaluation_master = evaluation_master
        elif not self._evaluation_master and self.task_type != run_config_lib.TaskType.EVALUATOR:
            self._evaluation_master = self._master
        if cluster:
            self._use_cluster(cluster)

    def _use_cluster(self, cluster):
        self._cluster_spec = cluster.cluster_spec()
        if self._session_config is None:
            self._session_config = config_pb2.ConfigProto(allow_soft_placement=True, isolate_session_state=True)
        if self._session_config.HasField("cluster_def"):
            raise ValueError("You cannot provide a ClusterResolver and session_config.cluster_def.")
        if self._cluster_spec:
            self._session_config.cluster_def.CopyFrom(self._cluster_spec.as_cluster_def())

    @property
    def tpu_config(self):
        """The TPUConfig."""
        return self._tpu_config

    @property
    def cluster(self):
        """The ClusterResolver."""
        return self._cluster

    def replace(self, **kwargs):
        """A copy with other values."""
        tpu_config = kwargs.pop("tpu_config", self._tpu_config)
        copy = super().replace(**kwargs)
        copy._tpu_config = tpu_config
        return copy


def _job_name():
    name = json.loads(os.environ.get("TF_CONFIG") or "{}").get("service", {}).get("tpu_worker_job_name")
    if name:
        logging.info("Load TPU job name from TF_CONFIG: %s", name)
    return name
