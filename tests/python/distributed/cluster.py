"""Clusters for tests: their tasks are processes."""
import json
import os
import signal
import socket
import subprocess
import sys

# An interpreter with TensorFlow 2, or one with 1.15, whose tasks and clients take part in clusters if it is named.
TENSORFLOW = os.environ.get("PENSTOCK_TEST_TENSORFLOW")
TENSORFLOW_1 = os.environ.get("PENSTOCK_TEST_TENSORFLOW_1")

_IMPORT = {"penstock": "import penstock.v1 as tf", "tensorflow": "import tensorflow.compat.v1 as tf"}
_TASK = """
import sys, json
{load}
job, task, cluster = sys.argv[1:]
server = tf.train.Server(json.loads(cluster), job_name=job, task_index=int(task))
print("serving", flush=True)
sys.stdin.read()
"""


def free_ports(count):
    """Ports that nobody listens on."""
    sockets = [socket.socket() for _ in range(count)]
    for s in sockets:
        s.bind(("localhost", 0))
    ports = [s.getsockname()[1] for s in sockets]
    for s in sockets:
        s.close()
    return ports


def _python(library):
    return [{"penstock": sys.executable, "tensorflow": TENSORFLOW, "tensorflow1": TENSORFLOW_1}[library], "-u"]


def _environment(library):
    if library == "penstock":
        return dict(os.environ)
    return dict({k: v for k, v in os.environ.items() if k != "PYTHONPATH"}, TF_CPP_MIN_LOG_LEVEL="2")


def _load(library):
    return _IMPORT["penstock" if library == "penstock" else "tensorflow"]


class Cluster:
    """Processes, one for each task of `jobs` (job -> number of tasks). `libraries`: job -> "penstock", "tensorflow" or
    "tensorflow1". A context that ends them; a task ends with the test's process."""

    def __init__(self, jobs, libraries=None):
        self._libraries = libraries or {}
        ports = iter(free_ports(sum(jobs.values())))
        self.spec = {job: [f"localhost:{next(ports)}" for _ in range(count)] for job, count in jobs.items()}
        self._processes = {}

    def __enter__(self):
        for job, tasks in self.spec.items():
            for task in range(len(tasks)):
                self.start(job, task)
        for process in self._processes.values():
            assert process.stdout.readline() == b"serving\n"
        return self

    def __exit__(self, *_):
        for process in self._processes.values():
            process.kill()
            process.wait()
            process.stdin.close()
            process.stdout.close()

    def start(self, job, task):
        """Starts a task, again if it was killed."""
        library = self._libraries.get(job, "penstock")
        self._processes[job, task] = subprocess.Popen(
            [*_python(library), "-c", _TASK.format(load=_load(library)), job, str(task), json.dumps(self.spec)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=_environment(library))

    def wait_for(self, job, task):
        """Waits until a task that was started serves."""
        assert self._processes[job, task].stdout.readline() == b"serving\n"

    def signal(self, job, task, number):
        """Sends a task a signal; waits for its end if that is SIGKILL."""
        self._processes[job, task].send_signal(number)
        if number == signal.SIGKILL:
            self._processes[job, task].wait()

    def target(self, job, task=0):
        """The target of sessions whose master is on a task."""
        return "grpc://" + self.spec[job][task]

    def run_client(self, library, path, *args):
        """Returns the output of a program that runs as a process; it gets `library`'s module as its argument `tf`."""
        code = f"import sys; sys.argv = {[str(path), *args]!r}\n{_load(library)}\n"
        code += f"exec(compile(open({str(path)!r}).read(), {str(path)!r}, 'exec'), {{'tf': tf}})"
        done = subprocess.run([*_python(library), "-c", code], env=_environment(library), timeout=120,
                              capture_output=True, text=True)
        assert done.returncode == 0, done.stderr[-3000:]
        return done.stdout
