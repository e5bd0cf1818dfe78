"""Servers and the clusters that they belong to: tf.train.ClusterSpec and tf.train.Server."""
import threading

from penstock import _core
from penstock import proto
from penstock._src.graph import errors
from penstock._src.base import compat


class ClusterSpec:
    """The tasks of a cluster: job -> addresses, by task.

    cluster: a dict from names of jobs to lists of addresses or dicts from task to address; a ClusterDef; a ClusterSpec.
    TypeError if it is something else.
    """

    def __init__(self, cluster):
        cluster_def = proto.message("tensorflow.ClusterDef")
        if isinstance(cluster, dict):
            self._cluster_spec = {job: _tasks(job, tasks) for job, tasks in cluster.items()}
            self._cluster_def = self._make_cluster_def(cluster_def())
            return
        if isinstance(cluster, ClusterSpec):
            cluster = cluster.as_cluster_def()
        if not isinstance(cluster, cluster_def):
            raise TypeError("`cluster` must be a dictionary mapping one or more job names to lists of network "
                            "addresses, or a `ClusterDef` protocol buffer")
        self._cluster_def = cluster_def()
        self._cluster_def.CopyFrom(cluster)
        self._cluster_spec = {job.name: dict(job.tasks) for job in cluster.job}

    def _make_cluster_def(self, message):
        for name, tasks in sorted(self._cluster_spec.items()):
            try:
                job = message.job.add(name=compat.as_str(name))
            except TypeError:
                raise TypeError(f"Job name {name!r} must be bytes or unicode") from None
            for task, address in sorted(tasks.items()):
                try:
                    job.tasks[task] = compat.as_str(address)
                except TypeError:
                    raise TypeError(f"Task address {address!r} must be bytes or unicode") from None
        return message

    def __bool__(self):
        return bool(self._cluster_spec)

    def __eq__(self, other):
        return self._cluster_spec == (other._cluster_spec if isinstance(other, ClusterSpec) else other)

    def __ne__(self, other):
        return not self == other

    __hash__ = None

    def __str__(self):
        return "ClusterSpec({%s})" % ", ".join(f"{job!r}: {tasks!r}" for job, tasks in sorted(self.as_dict().items()))

    def as_dict(self):
        """job -> list of addresses, or dict from task to address where tasks are missing."""
        return {job: self.job_tasks(job) if tasks and max(tasks) + 1 == len(tasks) else dict(sorted(tasks.items()))
                for job, tasks in self._cluster_spec.items()}

    def as_cluster_def(self):
        """The ClusterDef."""
        return self._cluster_def

    @property
    def jobs(self):
        """Names of the jobs."""
        return list(self._cluster_spec)

    def _job(self, job_name):
        try:
            return self._cluster_spec[job_name]
        except KeyError:
            raise ValueError(f"No such job in cluster: {job_name!r}") from None

    def num_tasks(self, job_name):
        """How many tasks a job has. ValueError if there is no such job."""
        return len(self._job(job_name))

    def task_indices(self, job_name):
        """The tasks of a job, sorted. ValueError if there is no such job."""
        return sorted(self._job(job_name))

    def task_address(self, job_name, task_index):
        """The address of a task. ValueError if there is no such task."""
        try:
            return self._job(job_name)[task_index]
        except KeyError:
            raise ValueError(f"No task with index {task_index!r} in job {job_name!r}") from None

    def job_tasks(self, job_name):
        """The addresses of a job, by task; None where a task is missing. ValueError if there is no such job."""
        tasks = self._job(job_name)
        return [tasks.get(i) for i in range(max(tasks, default=-1) + 1)]


def _tasks(job, tasks):
    if isinstance(tasks, (list, tuple)):
        return dict(enumerate(tasks))
    if isinstance(tasks, dict):
        try:
            return {int(task): address for task, address in tasks.items()}  # JSON has no numbers as keys
        except (TypeError, ValueError):
            pass
    raise TypeError(f"The tasks for job {job!r} must be a list or a dictionary from integers to strings.")


def _make_server_def(server_or_cluster_def, job_name, task_index, protocol, config):
    kind = proto.message("tensorflow.ServerDef")
    if isinstance(server_or_cluster_def, kind):
        server_def = kind()
        server_def.CopyFrom(server_or_cluster_def)
        given = {"job_name": job_name, "task_index": task_index, "protocol": protocol}
        server_def.MergeFrom(kind(**{key: value for key, value in given.items() if value is not None}))
        if task_index is not None:
            server_def.task_index = task_index
    else:
        try:
            spec = ClusterSpec(server_or_cluster_def)
        except TypeError:
            raise TypeError("Could not convert `server_or_cluster_def` to a `tf.train.ServerDef` or "
                            "`tf.train.ClusterSpec`.") from None
        if job_name is None:
            if len(spec.jobs) != 1:
                raise ValueError("Must specify an explicit `job_name`.")
            job_name = spec.jobs[0]
        if task_index is None:
            if spec.num_tasks(job_name) != 1:
                raise ValueError("Must specify an explicit `task_index`.")
            task_index = spec.task_indices(job_name)[0]
        server_def = kind(cluster=spec.as_cluster_def(), job_name=job_name, task_index=task_index,
                          protocol="grpc" if protocol is None else protocol)
    if config is not None:
        server_def.default_session_config.MergeFrom(config)
    return server_def


class Server:
    """A task of a cluster: it serves sessions of this and of other processes, whose target is the server's, and runs
    the parts of their steps that are placed on its devices. Variables, queues and tables belong to the task: sessions
    share them, and they stay when a session closes. A server lives as long as its process.

    server_or_cluster_def: a ServerDef, or what a ClusterSpec is made of. job_name, task_index: which task it is, if
    that leaves a choice. config: a ConfigProto; start: whether to start it at once. InvalidArgumentError: no such task,
    a malformed address; UnknownError: its port cannot be had.
    """

    def __init__(self, server_or_cluster_def, job_name=None, task_index=None, protocol=None, config=None, start=True):
        self._server_def = _make_server_def(server_or_cluster_def, job_name, task_index, protocol, config)
        server_def = self._server_def
        if server_def.protocol.partition("+")[0] != "grpc":
            raise errors.NotFoundError(None, None, f"No server factory registered for the given ServerDef: {server_def}"
                                                   "\nThe available server factories are: [ GRPC_SERVER ]")
        spec = ClusterSpec(server_def.cluster)
        try:
            address = spec.task_address(server_def.job_name, server_def.task_index)
        except ValueError as e:
            raise errors.InvalidArgumentError(None, None, str(e)) from None
        host, _, port = address.rpartition(":")
        if not host or not port.isdigit():
            raise errors.InvalidArgumentError(None, None, f'Could not parse port for local server from "{address}".')
        self._server = _core.Server(server_def.SerializeToString())
        self._stopped = threading.Event()
        if start:
            self.start()

    def start(self):
        """Serves from now on. A server that was made has its port and serves already."""

    def join(self):
        """Waits for ever: a server ends with its process."""
        self._stopped.wait()

    @property
    def server_def(self):
        """The ServerDef."""
        return self._server_def

    @property
    def target(self):
        """What a session takes as its target to run on this server."""
        return self._server.target

    @staticmethod
    def create_local_server(config=None, start=True):
        """A server of a cluster with one job, "local", of one task; any free port."""
        return Server({"local": ["localhost:0"]}, protocol="grpc", config=config, start=start)
