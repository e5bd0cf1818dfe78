"""tf.contrib.learn.RunConfig: the estimators' own, with the arguments of Experiment's time."""
import json
import os

from penstock._src.estimator import run_config
from penstock.proto import config_pb2
from penstock._src.session import server_lib

_USE_DEFAULT = 0
# What may differ between a configuration and the one that its estimator has.
_NOT_IN_UID = ("tf_random_seed", "save_summary_steps", "save_checkpoints_secs", "save_checkpoints_steps",
               "session_config", "keep_checkpoint_max", "keep_checkpoint_every_n_hours", "log_step_count_steps")


class Environment:
    """Where a cluster runs."""
    CLOUD, GOOGLE, LOCAL = "cloud", "google", "local"


class TaskType:
    """The jobs of a cluster."""
    MASTER, PS, WORKER = "master", "ps", "worker"


class RunConfig(run_config.RunConfig):
    """How an estimator runs; see tf.estimator.RunConfig.

    master, evaluation_master: the target of sessions, by default TF_CONFIG's. num_cores, log_device_placement,
    gpu_memory_fraction: of `tf_config`, a ConfigProto for servers.
    """

    def __init__(self, master=None, num_cores=0, log_device_placement=False, gpu_memory_fraction=1,
                 tf_random_seed=None, save_summary_steps=100, save_checkpoints_secs=_USE_DEFAULT,
                 save_checkpoints_steps=None, keep_checkpoint_max=5, keep_checkpoint_every_n_hours=10000,
                 log_step_count_steps=100, protocol=None, evaluation_master="", model_dir=None, session_config=None,
                 session_creation_timeout_secs=7200):
        if save_checkpoints_secs == _USE_DEFAULT:
            save_checkpoints_secs = 600 if save_checkpoints_steps is None else None
        self._wanted_master = master
        super().__init__(
            model_dir=model_dir, tf_random_seed=tf_random_seed, save_summary_steps=save_summary_steps,
            save_checkpoints_secs=None, save_checkpoints_steps=save_checkpoints_steps,
            keep_checkpoint_max=keep_checkpoint_max, keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            log_step_count_steps=log_step_count_steps, protocol=protocol,
            session_creation_timeout_secs=session_creation_timeout_secs)
        self._save_checkpoints_secs, self._session_config = save_checkpoints_secs, session_config
        self._evaluation_master = evaluation_master
        self._tf_config = config_pb2.ConfigProto(
            log_device_placement=log_device_placement, inter_op_parallelism_threads=num_cores,
            intra_op_parallelism_threads=num_cores,
            gpu_options=config_pb2.GPUOptions(per_process_gpu_memory_fraction=gpu_memory_fraction))

    def _init_distributed(self, tf_config):
        """Cluster and task from TF_CONFIG: a cluster of that time need not have a chief."""
        task = tf_config.get("task", {})
        self._service = None
        self._task_type, self._task_id = task.get("type"), self.get_task_id()
        self._cluster_spec = server_lib.ClusterSpec(tf_config.get("cluster", {}))
        self._environment = tf_config.get("environment", Environment.LOCAL)
        jobs = self._cluster_spec.as_dict()
        self._master = self._wanted_master if self._wanted_master is not None else self._address()
        self._num_ps_replicas = len(jobs.get(TaskType.PS, ()))
        self._num_worker_replicas = len(jobs.get(TaskType.WORKER, ())) + len(jobs.get(TaskType.MASTER, ()))
        chief = TaskType.MASTER if self._environment == Environment.CLOUD else TaskType.WORKER
        self._is_chief = self._task_id == 0 and self._task_type in (None, chief)
        self._evaluation_master, self._global_id_in_cluster = "", None

    def _address(self):
        """The target of this task's sessions. ValueError if the cluster does not have the task."""
        jobs = self._cluster_spec.jobs
        if not jobs or len(jobs) == 1 and len(self._cluster_spec.job_tasks(jobs[0])) == 1 or not self._task_type:
            return ""
        hint = "Note that these values may be coming from the TF_CONFIG environment variable."
        if self._task_type not in jobs:
            raise ValueError("%s is not a valid task_type in the cluster_spec:\n%s\n\n%s" %
                             (self._task_type, self._cluster_spec, hint))
        addresses = self._cluster_spec.job_tasks(self._task_type)
        if not 0 <= self._task_id < len(addresses):
            raise ValueError("%d is not a valid task_id for task_type %s in the cluster_spec:\n%s\n\n%s" %
                             (self._task_id, self._task_type, self._cluster_spec, hint))
        return "grpc://" + addresses[self._task_id]

    @property
    def environment(self):
        """One of Environment's."""
        return self._environment

    @property
    def tf_config(self):
        """A ConfigProto."""
        return self._tf_config

    @staticmethod
    def get_task_id():
        """The number of this task, 0 by default."""
        task = json.loads(os.environ.get("TF_CONFIG") or "{}").get("task", {})
        return int(task.get("index") or 0)

    def uid(self, whitelist=None):
        """A string that two configurations have in common if they differ only in what `whitelist` names."""
        free = [*(_NOT_IN_UID if whitelist is None else whitelist), "wanted_master"]
        state = {name: value for name, value in vars(self).items()
                 if not name.startswith("__") and name[1:] not in free}
        if "_cluster_spec" in state:
            state["_cluster_spec"] = dict(sorted(state["_cluster_spec"].as_dict().items()))
        return ", ".join("%s=%r" % item for item in sorted(state.items()))
