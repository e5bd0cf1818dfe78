"""RunConfig: where and how an estimator runs."""
import copy
import json
import os

from penstock._src.base import tf_logging as logging
from penstock.proto import config_pb2
from penstock.proto import rewriter_config_pb2
from penstock._src.session import server_lib
from penstock._src.base import compat
from penstock._src.base import function_utils

_USE_DEFAULT = object()
_REPLACEABLE = [
    "model_dir", "tf_random_seed", "save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs",
    "session_config", "keep_checkpoint_max", "keep_checkpoint_every_n_hours", "log_step_count_steps",
    "train_distribute", "device_fn", "protocol", "eval_distribute", "experimental_distribute",
    "experimental_max_worker_delay_secs", "session_creation_timeout_secs"]
_SAVE_CKPT_ERR = "`save_checkpoints_steps` and `save_checkpoints_secs` cannot be both set."
_LOCAL_MASTER = ""
_FROM_ENVIRONMENT = "\n\nNote that these values may be coming from the TF_CONFIG environment variable."


class TaskType:
    """Jobs of a cluster."""

    MASTER = "master"
    PS = "ps"
    WORKER = "worker"
    CHIEF = "chief"
    EVALUATOR = "evaluator"


def path_to_str(path):
    """A path object as a string."""
    return compat.as_str_any(path.__fspath__()) if hasattr(path, "__fspath__") else path


def get_default_session_config():
    """Soft placement, and one round of the optimizer."""
    return _session_config(None)


def _session_config(device_filters):
    rewrite = rewriter_config_pb2.RewriterConfig(
        meta_optimizer_iterations=rewriter_config_pb2.RewriterConfig.ONE)
    return config_pb2.ConfigProto(allow_soft_placement=True, device_filters=device_filters,
                                  graph_options=config_pb2.GraphOptions(rewrite_options=rewrite))


def _get_session_master(cluster_spec, task_type, task_id, tf_config):
    if "session_master" in tf_config:
        return tf_config["session_master"]
    jobs = cluster_spec.jobs
    if len(jobs) == 1 and len(cluster_spec.job_tasks(jobs[0])) == 1:
        return _LOCAL_MASTER
    return "grpc://" + cluster_spec.job_tasks(task_type)[task_id]


def _count(cluster_spec, *jobs):
    return sum(len(cluster_spec.as_dict().get(job, [])) for job in jobs)


def _validate_task(cluster_spec, task_env, chief):
    """Type and number of this process's task."""
    if chief not in cluster_spec.jobs:
        raise ValueError('If "cluster" is set in TF_CONFIG, it must have one "%s" node.' % chief)
    if len(cluster_spec.job_tasks(chief)) > 1:
        raise ValueError('The "cluster" in TF_CONFIG must have only one "%s" node.' % chief)
    task_type, task_id = task_env.get("type"), task_env.get("index")
    if not task_type:
        raise ValueError('If "cluster" is set in TF_CONFIG, task type must be set.')
    if task_id is None:
        raise ValueError('If "cluster" is set in TF_CONFIG, task index must be set.')
    task_id = int(task_id)
    if task_id < 0:
        raise ValueError("Task index must be non-negative number.")
    # The evaluator is no part of the cluster.
    if task_type == TaskType.EVALUATOR:
        return task_type, task_id
    if task_type not in cluster_spec.jobs:
        raise ValueError("%s is not a valid task_type in the cluster_spec:\n%s" % (task_type, cluster_spec) +
                         _FROM_ENVIRONMENT)
    if task_id >= len(cluster_spec.job_tasks(task_type)):
        raise ValueError("%d is not a valid task_id for task_type %s in the cluster_spec:\n%s" %
                         (task_id, task_type, cluster_spec) + _FROM_ENVIRONMENT)
    return task_type, task_id


def _global_id(cluster_spec, task_type, task_id, chief):
    """The task's number among all: the chief first, parameter servers last."""
    others = sorted(job for job in cluster_spec.jobs if job not in (chief, TaskType.PS))
    before = 0
    for job in [chief] + others + [TaskType.PS]:
        if job == task_type:
            return before + task_id
        before += _count(cluster_spec, job)
    raise RuntimeError("Internal Error: `task_type` ({}) is not in cluster_spec ({}).".format(task_type, cluster_spec))


def _model_dir(tf_config, model_dir):
    if model_dir == "":
        raise ValueError("model_dir should be non-empty.")
    given = tf_config.get("model_dir")
    if given == "":
        raise ValueError("model_dir in TF_CONFIG should be non-empty.")
    if given:
        if model_dir and given != model_dir:
            raise ValueError("`model_dir` provided in RunConfig construct, if set, must have the same value as the "
                             "model_dir in TF_CONFIG. model_dir: {}\nTF_CONFIG[\"model_dir\"]: {}.\n".format(
                                 model_dir, given))
        logging.info("Using model_dir in TF_CONFIG: %s", given)
    return model_dir or given


def _validate(config):
    """ValueError if a value of the configuration is impossible."""

    def require(name, ok, message):
        value = getattr(config, "_" + name)
        if value is not None and not ok(value):
            raise ValueError(message)

    require("model_dir", bool, "model_dir should be non-empty")
    for name in ("save_summary_steps", "save_checkpoints_steps", "save_checkpoints_secs", "keep_checkpoint_max"):
        require(name, lambda value: value >= 0, name + " should be >= 0")
    for name in ("keep_checkpoint_every_n_hours", "log_step_count_steps", "session_creation_timeout_secs"):
        require(name, lambda value: value > 0, name + " should be > 0")
    require("session_config", lambda value: isinstance(value, config_pb2.ConfigProto),
            "session_config must be instance of ConfigProto")
    require("tf_random_seed", lambda value: isinstance(value, int), "tf_random_seed must be integer.")
    require("experimental_max_worker_delay_secs", lambda value: isinstance(value, int),
            "experimental_max_worker_delay_secs must be an integer if set.")
    require("device_fn", lambda fn: callable(fn) and set(function_utils.fn_args(fn)) == {"op"},
            'device_fn must be callable with exactly one argument "op".')
    require("protocol", lambda value: value in ("grpc", "grpc+verbs"), "protocol should be grpc or grpc+verbs")


class RunConfig:
    """How an estimator runs; the environment variable TF_CONFIG says where.

    Args:
      model_dir: Of checkpoints and summaries.
      tf_random_seed: The graphs' seed.
      save_summary_steps: Steps between two summaries.
      save_checkpoints_steps, save_checkpoints_secs: Between two checkpoints; by default 600 seconds.
      session_config: A ConfigProto.
      keep_checkpoint_max, keep_checkpoint_every_n_hours: As of tf.train.Saver.
      log_step_count_steps: Steps between two lines with loss and speed.
      device_fn: Where operations go.
    """

    def __init__(self, model_dir=None, tf_random_seed=None, save_summary_steps=100,
                 save_checkpoints_steps=_USE_DEFAULT, save_checkpoints_secs=_USE_DEFAULT, session_config=None,
                 keep_checkpoint_max=5, keep_checkpoint_every_n_hours=10000, log_step_count_steps=100,
                 train_distribute=None, device_fn=None, protocol=None, eval_distribute=None,
                 experimental_distribute=None, experimental_max_worker_delay_secs=None,
                 session_creation_timeout_secs=7200):
        if save_checkpoints_steps is _USE_DEFAULT and save_checkpoints_secs is _USE_DEFAULT:
            save_checkpoints_steps, save_checkpoints_secs = None, 600
        elif save_checkpoints_secs is _USE_DEFAULT:
            save_checkpoints_secs = None
        elif save_checkpoints_steps is _USE_DEFAULT:
            save_checkpoints_steps = None
        elif save_checkpoints_steps is not None and save_checkpoints_secs is not None:
            raise ValueError(_SAVE_CKPT_ERR)
        tf_config = json.loads(os.environ.get("TF_CONFIG") or "{}")
        if tf_config:
            logging.info("TF_CONFIG environment variable: %s", tf_config)
        if experimental_distribute:
            raise ValueError("Estimators do not run with configurations of distribution (experimental_distribute).")
        RunConfig._replace(
            self, _REPLACEABLE, model_dir=_model_dir(tf_config, path_to_str(model_dir)), tf_random_seed=tf_random_seed,
            save_summary_steps=save_summary_steps, save_checkpoints_steps=save_checkpoints_steps,
            save_checkpoints_secs=save_checkpoints_secs, session_config=session_config,
            keep_checkpoint_max=keep_checkpoint_max, keep_checkpoint_every_n_hours=keep_checkpoint_every_n_hours,
            log_step_count_steps=log_step_count_steps, train_distribute=train_distribute, device_fn=device_fn,
            protocol=protocol, eval_distribute=eval_distribute, experimental_distribute=None,
            experimental_max_worker_delay_secs=experimental_max_worker_delay_secs,
            session_creation_timeout_secs=session_creation_timeout_secs)
        self._init_distributed(tf_config)
        if not self._session_config and self._cluster_spec:
            self._session_config = self._cluster_session_config()

    def _init_distributed(self, tf_config):
        """Cluster and task from TF_CONFIG."""
        self._service = tf_config.get("service")
        if self._service is not None and not isinstance(self._service, dict):
            raise TypeError('If "service" is set in TF_CONFIG, it must be a dict. Given %s' % type(self._service))
        self._cluster_spec = server_lib.ClusterSpec(tf_config.get("cluster", {}))
        task = tf_config.get("task", {})
        if not self._cluster_spec:
            self._init_local(tf_config, task)
            return
        chief = TaskType.MASTER if TaskType.MASTER in self._cluster_spec.jobs else TaskType.CHIEF
        if chief == TaskType.MASTER and TaskType.CHIEF in self._cluster_spec.jobs:
            raise ValueError("If `master` node exists in `cluster`, job `chief` is not supported.")
        self._task_type, self._task_id = _validate_task(self._cluster_spec, task, chief)
        is_evaluator = self._task_type == TaskType.EVALUATOR
        if is_evaluator and chief == TaskType.MASTER:
            raise ValueError("If `master` node exists in `cluster`, task_type `evaluator` is not supported.")
        self._is_chief = self._task_type == chief
        self._evaluation_master = (tf_config.get("eval_session_master", _LOCAL_MASTER) if is_evaluator else
                                   _LOCAL_MASTER)
        if is_evaluator:
            self._cluster_spec = server_lib.ClusterSpec({})
            self._master = _LOCAL_MASTER
            self._num_ps_replicas = self._num_worker_replicas = 0
            self._global_id_in_cluster = None
            return
        self._global_id_in_cluster = _global_id(self._cluster_spec, self._task_type, self._task_id, chief)
        self._master = _get_session_master(self._cluster_spec, self._task_type, self._task_id, tf_config)
        self._num_ps_replicas = _count(self._cluster_spec, TaskType.PS)
        self._num_worker_replicas = _count(self._cluster_spec, TaskType.WORKER, chief)

    def _init_local(self, tf_config, task):
        self._task_type = task.get("type", TaskType.WORKER)
        self._task_id = int(task.get("index", 0))
        self._global_id_in_cluster = 0
        if self._task_type != TaskType.WORKER:
            raise ValueError('If "cluster" is not set in TF_CONFIG, task type must be WORKER.')
        if self._task_id != 0:
            raise ValueError('If "cluster" is not set in TF_CONFIG, task index must be 0.')
        self._master = tf_config.get("session_master", _LOCAL_MASTER)
        self._evaluation_master = tf_config.get("eval_session_master", _LOCAL_MASTER)
        self._is_chief = True
        self._num_ps_replicas = 0
        self._num_worker_replicas = 1

    def _cluster_session_config(self):
        """A worker sees parameter servers and itself only, so that it need not wait for other workers."""
        filters = {
            TaskType.MASTER: ["/job:ps", "/job:master"],
            TaskType.CHIEF: ["/job:ps", "/job:chief"],
            TaskType.WORKER: ["/job:ps", "/job:worker/task:%d" % self._task_id],
            TaskType.PS: ["/job:ps", "/job:worker", "/job:chief", "/job:master"],
        }.get(self._task_type)
        return filters and _session_config(filters)

    def replace(self, **kwargs):
        """A copy with other values."""
        return RunConfig._replace(copy.deepcopy(self), _REPLACEABLE, **kwargs)

    @staticmethod
    def _replace(config, allowed_properties_list=None, **kwargs):
        allowed = allowed_properties_list or []
        for key, value in kwargs.items():
            if key not in allowed:
                raise ValueError("Replacing {} is not supported. Allowed properties are {}.".format(key, allowed))
            setattr(config, "_" + key, value)
        steps, secs = config._save_checkpoints_steps, config._save_checkpoints_secs
        if "save_checkpoints_steps" in kwargs and "save_checkpoints_secs" in kwargs:
            if steps is not None and secs is not None:
                raise ValueError(_SAVE_CKPT_ERR)
        elif "save_checkpoints_steps" in kwargs and steps is not None:
            config._save_checkpoints_secs = None
        elif "save_checkpoints_secs" in kwargs and secs is not None:
            config._save_checkpoints_steps = None
        _validate(config)
        return config


def _readable(name):
    return property(lambda self: getattr(self, "_" + name), doc="`%s`." % name)


for _name in ("cluster_spec", "device_fn", "evaluation_master", "is_chief", "master", "num_ps_replicas",
              "num_worker_replicas", "task_id", "global_id_in_cluster", "experimental_max_worker_delay_secs",
              "task_type", "tf_random_seed", "save_summary_steps", "save_checkpoints_secs", "session_config",
              "save_checkpoints_steps", "keep_checkpoint_max", "session_creation_timeout_secs",
              "keep_checkpoint_every_n_hours", "log_step_count_steps", "model_dir", "service", "train_distribute",
              "eval_distribute", "protocol"):
    setattr(RunConfig, _name, _readable(_name))
