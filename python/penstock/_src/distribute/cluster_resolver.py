"""Who takes part in a cluster: from a ClusterSpec, from the environment, from Slurm."""
import abc
import collections
import json
import os
import re
import subprocess

from penstock._src.session import session
from penstock._src.graph import ops
from penstock._src.session.server_lib import ClusterSpec
from penstock._src.base import compat


def format_master_url(master, rpc_layer=None):
    """A session's target."""
    return "%s://%s" % (rpc_layer, master) if rpc_layer else master


class ClusterResolver(abc.ABC):
    """Says who takes part."""

    environment = ""

    @abc.abstractmethod
    def cluster_spec(self):
        """The ClusterSpec as it is now."""

    @abc.abstractmethod
    def master(self, task_type=None, task_id=None, rpc_layer=None):
        """The target for sessions, of a task or of the one that the resolver was made for."""

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        """How many devices of each type, besides CPUs, a task has."""
        with ops.Graph().as_default():
            with session.Session(self.master(task_type, task_id), config=config_proto) as sess:
                devices = sess.list_devices()
        found = collections.defaultdict(int)
        for device in devices:
            of_task = task_type is None or task_id is None or (
                "/job:%s" % task_type in device.name and "/task:%s" % task_id in device.name)
            if of_task and "CPU" not in device.device_type:
                found[device.device_type] += 1
        return found


class _Task(ClusterResolver):
    """A resolver that knows its own task."""

    def __init__(self, task_type=None, task_id=None, rpc_layer=None, environment=""):
        self.task_type = task_type
        self.task_id = task_id
        self.rpc_layer = rpc_layer
        self.environment = environment


class SimpleClusterResolver(_Task):
    """A given ClusterSpec."""

    def __init__(self, cluster_spec, master="", task_type=None, task_id=None, environment="", num_accelerators=None,
                 rpc_layer=None):
        super().__init__(task_type, task_id, rpc_layer, environment)
        if not isinstance(cluster_spec, ClusterSpec):
            raise TypeError("cluster_spec must be a ClusterSpec.")
        if not isinstance(master, str):
            raise TypeError("master must be a string.")
        self._cluster_spec = cluster_spec
        self._master = master
        self._num_accelerators = num_accelerators

    def cluster_spec(self):
        return self._cluster_spec

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        master = self._master
        if task_type is not None and task_id is not None:
            master = self.cluster_spec().task_address(task_type, task_id)
        return format_master_url(master, rpc_layer or self.rpc_layer)

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        return self._num_accelerators or {}


class UnionClusterResolver(ClusterResolver):
    """Several resolvers; the first one says what the session's target is."""

    def __init__(self, *args, rpc_layer=None, task_type=None, task_id=None):
        if not args:
            raise ValueError("At least one ClusterResolver is required.")
        if not all(isinstance(resolver, ClusterResolver) for resolver in args):
            raise TypeError("All arguments must be a sub-class of `ClusterResolver.`")
        self._cluster_resolvers = args
        self.rpc_layer = rpc_layer or getattr(args[0], "rpc_layer", None)
        self.task_type = task_type or getattr(args[0], "task_type", None)
        self.task_id = task_id or getattr(args[0], "task_id", None)
        self.environment = args[0].environment

    def cluster_spec(self):
        parts = collections.defaultdict(list)
        for resolver in self._cluster_resolvers:
            for job, tasks in resolver.cluster_spec().as_dict().items():
                parts[job].append(tasks)
        return ClusterSpec({job: self._merged(tasks) for job, tasks in parts.items()})

    @staticmethod
    def _merged(parts):
        """Lists one after the other; with a dict among them, lists begin at 0."""
        if all(isinstance(tasks, list) for tasks in parts):
            return [task for tasks in parts for task in tasks]
        merged = {}
        for tasks in parts:
            tasks = dict(enumerate(tasks)) if isinstance(tasks, list) else tasks
            both = set(tasks) & set(merged)
            if both:
                raise KeyError("Duplicate keys detected when merging two ClusterSpecs: %s" % repr(both))
            merged.update(tasks)
        return merged

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        if task_type is not None and task_id is not None:
            master = self.cluster_spec().task_address(task_type, task_id)
            return format_master_url(master, rpc_layer or self.rpc_layer)
        return self._cluster_resolvers[0].master(rpc_layer=rpc_layer)

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        return self._cluster_resolvers[0].num_accelerators(task_type, task_id, config_proto)


class TFConfigClusterResolver(_Task):
    """The environment variable TF_CONFIG."""

    def __init__(self, task_type=None, task_id=None, rpc_layer=None, environment=None):
        config = self._config()
        task = config.get("task", {})
        task_type = task.get("type") if task_type is None else task_type
        task_id = task.get("index") if task_id is None else task_id
        super().__init__(task_type and str(task_type), None if task_id is None else int(task_id),
                         config.get("rpc_layer") if rpc_layer is None else rpc_layer, environment)

    @staticmethod
    def _config():
        return json.loads(os.environ.get("TF_CONFIG") or "{}")

    def cluster_spec(self):
        return ClusterSpec(self._config().get("cluster", {}))

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        given = self._config().get("session_master")
        if given is not None:
            return given
        cluster = self.cluster_spec()
        if sum(len(cluster.job_tasks(job)) for job in cluster.jobs) <= 1:
            return ""
        address = cluster.task_address(self.task_type if task_type is None else task_type,
                                       self.task_id if task_id is None else task_id)
        return format_master_url(address, rpc_layer or self.rpc_layer)


class SlurmClusterResolverV1(_Task):
    """The tasks of a Slurm job, in order: those of the first job in alphabetical order are first.

    jobs: {name: number of tasks}.
    """

    def __init__(self, jobs, port_base=8888, gpus_per_node=1, gpus_per_task=1, tasks_per_node=None, auto_set_gpu=True,
                 rpc_layer="grpc"):
        super().__init__(rpc_layer=rpc_layer)
        if "OMPI_COMM_WORLD_RANK" in os.environ:
            self._rank, tasks = int(os.environ["OMPI_COMM_WORLD_RANK"]), int(os.environ["OMPI_COMM_WORLD_SIZE"])
        else:
            self._rank, tasks = int(os.environ["SLURM_PROCID"]), int(os.environ["SLURM_NTASKS"])
        self._jobs = sorted(jobs.items())
        self._port_base = port_base
        if tasks_per_node is None:
            if "SLURM_NTASKS_PER_NODE" not in os.environ:
                raise RuntimeError("Neither `tasks_per_node` or SLURM_NTASKS_PER_NODE is set.")
            tasks_per_node = int(os.environ["SLURM_NTASKS_PER_NODE"])
        self._tasks_per_node = tasks_per_node
        self._gpus_per_node = gpus_per_node
        self._gpus_per_task = gpus_per_task
        self._auto_set_gpu = auto_set_gpu
        if tasks_per_node * gpus_per_task > gpus_per_node:
            raise RuntimeError("Requested more GPUs per node then available.")
        if sum(jobs.values()) != tasks:
            raise RuntimeError("Requested more tasks then assigned tasks.")

    def _resolve_hostnames(self):
        return subprocess.check_output(["scontrol", "show", "hostname"]).decode().strip().split("\n")

    def _tasks_of_hosts(self):
        return [(host, self._tasks_per_node) for host in self._resolve_hostnames()]

    def cluster_spec(self):
        addresses, gpus = [], []
        for host, tasks in self._tasks_of_hosts():
            for i in range(tasks):
                addresses.append("%s:%d" % (host, self._port_base + i))
                first = i * self._gpus_per_task
                gpus.append(",".join(str(gpu) for gpu in range(first, first + self._gpus_per_task)))
        spec, first = {}, 0
        for job, count in self._jobs:
            spec[job] = addresses[first:first + count]
            if first <= self._rank < first + count:
                self.task_type, self.task_id = job, self._rank - first
            first += count
        if self._auto_set_gpu:
            os.environ["CUDA_VISIBLE_DEVICES"] = gpus[self._rank]
        return ClusterSpec(spec)

    def get_task_info(self):
        """Type and number of this task, once the cluster has been asked for."""
        return self.task_type, self.task_id

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        task_type = self.task_type if task_type is None else task_type
        task_id = self.task_id if task_id is None else task_id
        if task_type is None or task_id is None:
            return ""
        return format_master_url(self.cluster_spec().task_address(task_type, task_id), rpc_layer or self.rpc_layer)

    def num_accelerators(self, task_type=None, task_id=None, config_proto=None):
        return {"GPU": self._gpus_per_node}


def _slurm(name):
    """What Slurm says in the environment. RuntimeError if this is no step of a job."""
    try:
        return os.environ["SLURM_" + name]
    except KeyError:
        raise RuntimeError(f"SLURM_{name} not found in environment. Not running inside a SLURM step?") from None


def expand_hostlist(hostlist):
    """The hosts of Slurm's short form: "a1,b[2-3,07]" is a1, b2, b3, b07."""
    found = []
    for prefix, ranges in re.findall(r"([^,\[\]]+)(?:\[([^\]]*)\])?", hostlist):
        for part in ranges.split(",") if ranges else [""]:
            first, _, last = part.partition("-")
            numbers = [part] if not last else [str(i).zfill(len(first)) for i in range(int(first), int(last) + 1)]
            found += [prefix + number for number in numbers]
    return found


def expand_tasks_per_node(tasks_per_node):
    """The numbers of Slurm's short form: "3(x2),1" is 3, 3, 1."""
    return [int(tasks) for tasks, times in re.findall(r"(\d+)(?:\(x(\d+)\))?", tasks_per_node)
            for _ in range(int(times or 1))]


class SlurmClusterResolverV2(SlurmClusterResolverV1):
    """The tasks of a step of a Slurm job; what is left out is found in the step's environment.

    jobs: {name: number of tasks}; all are workers by default. tasks_per_node: a number, or one for each
    host. gpus_per_node: none by default. gpus_per_task: an equal share of them by default. RuntimeError if the tasks
    are not as many as those of the jobs, or need more GPUs than a node has.
    """

    def __init__(self, jobs=None, port_base=8888, gpus_per_node=None, gpus_per_task=None, tasks_per_node=None,
                 auto_set_gpu=True, rpc_layer="grpc"):
        _Task.__init__(self, rpc_layer=rpc_layer)
        self._rank = int(_slurm("PROCID"))
        jobs = {"worker": int(_slurm("STEP_NUM_TASKS"))} if jobs is None else jobs
        self._jobs = sorted(jobs.items())
        self._port_base = port_base
        if not isinstance(tasks_per_node, dict):
            hosts = self._resolve_hostnames()
            each = expand_tasks_per_node(_slurm("STEP_TASKS_PER_NODE")) if tasks_per_node is None else \
                [int(tasks_per_node)] * len(hosts)
            tasks_per_node = dict(zip(hosts, each))
        self._tasks_per_node = tasks_per_node
        self._gpus_per_node = gpus_per_node or 0
        most = max(tasks_per_node.values())
        self._gpus_per_task = self._gpus_per_node // most if gpus_per_task is None else gpus_per_task
        self._auto_set_gpu = auto_set_gpu
        if most * self._gpus_per_task > self._gpus_per_node:
            raise RuntimeError("Requested more GPUs per node than available.")
        wanted, assigned = sum(jobs.values()), sum(tasks_per_node.values())
        if wanted != assigned:
            raise RuntimeError(f"Requested {wanted} tasks but only {assigned} were assigned.")

    def _resolve_hostnames(self):
        return expand_hostlist(_slurm("STEP_NODELIST"))

    def _tasks_of_hosts(self):
        return sorted(self._tasks_per_node.items())


class TPUClusterResolver(_Task):
    """A TPU by its address (`grpc://host:port`), or "local" or "" for this process.

    Names that are to be looked up in Google's cloud are refused.
    """

    _LOCAL = re.compile(r"|local|localhost:.*|/bns.*|uptc://.*")

    def __init__(self, tpu=None, zone=None, project=None, job_name="worker", coordinator_name=None,
                 coordinator_address=None, credentials="default", service=None, discovery_url=None):
        if isinstance(tpu, list):
            if not tpu:
                raise ValueError("At least one TPU must be specified.")
            if len(tpu) != 1:
                raise NotImplementedError("Using multiple TPUs in a single session is not yet implemented")
            tpu = tpu[0]
        if tpu is None:
            tpu = os.environ.get("KUBE_GOOGLE_CLOUD_TPU_ENDPOINTS") or os.environ.get("TPU_NAME")
        if tpu is None:
            raise ValueError("Please provide a TPU Name to connect to.")
        tpu = compat.as_text(tpu)
        is_local = self._LOCAL.fullmatch(tpu) is not None
        if not is_local and not tpu.startswith("grpc://"):
            raise ValueError("Could not lookup TPU metadata from name '%s'. Please give the address of the TPU as "
                             "grpc://host:port: Google's cloud is not asked." % tpu)
        super().__init__(job_name, 0, None if is_local else "grpc", "google" if is_local else "")
        self._addresses = [address[len("grpc://"):] if address.startswith("grpc://") else address
                           for address in tpu.split(",")]
        self._coordinator = {coordinator_name: [coordinator_address]} if coordinator_address else {}

    def master(self, task_type=None, task_id=None, rpc_layer=None):
        return format_master_url(self._addresses[0], rpc_layer or self.rpc_layer)

    def get_master(self):
        """The session's target."""
        return self.master()

    def get_job_name(self):
        """The job of the TPU; None for this process."""
        return None if self.rpc_layer is None else self.task_type

    def cluster_spec(self):
        if self.rpc_layer is None:
            return None
        return ClusterSpec({self.task_type: self._addresses, **self._coordinator})
