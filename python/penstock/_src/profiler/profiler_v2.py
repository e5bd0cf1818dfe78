"""tf.profiler.experimental: records what the whole process runs, for TensorBoard's profile plugin."""
import collections
import os
import socket
import sys
import threading
import time

from penstock import _core
from penstock._src.graph import errors
from penstock._src.files import gfile
from penstock.proto import RunMetadata, message
from penstock._src.base import locks

ProfilerOptions = collections.namedtuple(
    "ProfilerOptions", ["host_tracer_level", "python_tracer_level", "device_tracer_level", "delay_ms"],
    defaults=[2, 0, 1, None])
ProfilerOptions.__doc__ = """How much is recorded.

host_tracer_level: 0 leaves out the ops. python_tracer_level: 1 records calls of Python functions in the thread that
started. device_tracer_level, delay_ms: without meaning on the CPU.
"""

# An event of Python's side: times in nanoseconds since the epoch.
Event = collections.namedtuple("Event", ["name", "values", "thread", "start", "end"])

_lock = locks.lock()
_session = None


class _Session:
    """What is recorded from its making on."""

    def __init__(self, logdir, options):
        self.logdir, self.options = logdir, options
        self.events = []
        self.start = time.time_ns()
        self._calls = []
        if options.host_tracer_level:
            _core.process_trace_start()
        if options.python_tracer_level:
            sys.setprofile(self._python_call)

    def stop(self):
        """A RunMetadata of what ran."""
        if self.options.python_tracer_level:
            sys.setprofile(None)
        return RunMetadata.FromString(_core.process_trace_stop() if self.options.host_tracer_level else b"")

    def _python_call(self, frame, kind, arg):
        if kind == "call":
            self._calls.append((frame, time.time_ns()))
        elif kind == "return" and self._calls and self._calls[-1][0] is frame:
            _, start = self._calls.pop()
            code = frame.f_code
            name = f"${os.path.basename(code.co_filename)}:{code.co_firstlineno} {code.co_name}"
            self.events.append(Event(name, {}, threading.get_native_id(), start, time.time_ns()))


def running():
    """Whether the process is being recorded."""
    return _session is not None


def record(name, values, start):
    """Adds an event of this thread that began at `start` and ends now."""
    session = _session
    if session is not None:
        session.events.append(Event(name, values, threading.get_native_id(), start, time.time_ns()))


def start(logdir, options=None):
    """Records whatever the process runs, until `stop`: ops of eager execution, functions and sessions, and Trace.

    logdir: where `stop` writes. AlreadyExistsError if it is being recorded already.
    """
    global _session
    with _lock:
        if _session is not None:
            raise errors.AlreadyExistsError(None, None, "Another profiler is running.")
        _session = _Session(logdir, options or ProfilerOptions())


def stop(save=True):
    """Ends the recording, and writes it for TensorBoard unless `save` is false. UnavailableError if there is none.

    Returns nothing; the file is `plugins/profile/TIME/HOST.xplane.pb` in the directory that `start` was given.
    """
    finish(save)


def finish(save):
    """`stop`; returns the RunMetadata of what ran."""
    global _session
    with _lock:
        if _session is None:
            raise errors.UnavailableError(None, None,
                                          "Cannot export profiling results. No profiler is running.")
        session, _session = _session, None
        metadata = session.stop()
        if save:
            _write(session, metadata)
        return metadata


def warmup():
    """Starts and stops once."""
    start("")
    stop(save=False)


class Profile:
    """Context manager that records what runs inside:

        with tf.profiler.experimental.Profile("/tmp/log"):
            train()
    """

    def __init__(self, logdir, options=None):
        self._logdir, self._options = logdir, options

    def __enter__(self):
        start(self._logdir, self._options)

    def __exit__(self, exc_type, exc_value, traceback):
        stop()


def start_server(port):
    """Would serve recordings to others; there is no such server here. UnimplementedError."""
    raise errors.UnimplementedError(None, None, f"no profiler server can be started on port {port}: "
                                                "use tf.profiler.experimental.start and stop")


def trace(service_addr, logdir, duration_ms, worker_list="", num_tracing_attempts=3, options=None):
    """Would ask other processes for recordings. UnimplementedError."""
    raise errors.UnimplementedError(None, None, f"profiler servers ({service_addr}) cannot be asked")


def monitor(service_addr, duration_ms, level=1):
    """Would ask another process how it does. UnimplementedError."""
    raise errors.UnimplementedError(None, None, f"profiler servers ({service_addr}) cannot be asked")


# --- The file


def _write(session, metadata):
    host = socket.gethostname()
    space = message("tensorflow.profiler.XSpace")(hostnames=[host])
    _fill_host(space.planes.add(name="/host:CPU"), session.events, metadata)
    environment = _Plane(space.planes.add(id=1, name="Task Environment"))
    environment.add_stat(environment.message.stats, "profile_start_time", session.start)
    environment.add_stat(environment.message.stats, "profile_stop_time", time.time_ns())
    folder = os.path.join(session.logdir, "plugins", "profile", time.strftime("%Y_%m_%d_%H_%M_%S"))
    gfile.MakeDirs(folder)
    gfile.write_atomically(os.path.join(folder, f"{host}.xplane.pb"), space.SerializeToString())


class _Plane:
    """An XPlane, whose names of events and values are numbered."""

    def __init__(self, plane):
        self.message = plane
        self._events, self._stats = {}, {}

    def event(self, name, display_name=""):
        """The number of a name of events."""
        number = self._events.setdefault(name, len(self._events) + 1)
        metadata = self.message.event_metadata[number]
        metadata.id, metadata.name, metadata.display_name = number, name, display_name
        return number

    def add_stat(self, stats, name, value):
        """Adds a value to a list of XStat."""
        number = self._stats.setdefault(name, len(self._stats) + 1)
        metadata = self.message.stat_metadata[number]
        metadata.id, metadata.name = number, name
        stat = stats.add(metadata_id=number)
        if isinstance(value, int) and -2**63 <= value < 2**63:
            stat.int64_value = value
        elif isinstance(value, float):
            stat.double_value = value
        else:
            stat.str_value = str(value)


def _fill_host(plane, events, metadata):
    """A line for each thread: of Python's events, and of ops."""
    made = _Plane(plane)
    lines = collections.defaultdict(list)  # (kind, thread) -> [(start, end, name, display name, values)]
    for event in events:
        lines["python", event.thread].append((event.start, event.end, event.name, "", event.values))
    for device in metadata.step_stats.dev_stats:
        for node in device.node_stats:
            op = node.timeline_label.partition(" = ")[2].partition("(")[0] or "unknown"
            lines["tf_Compute", node.thread_id].append(
                (node.all_start_nanos, node.all_start_nanos + node.all_end_rel_nanos, f"{node.node_name}:{op}", op, {}))
    for number, ((kind, thread), found) in enumerate(sorted(lines.items())):
        found.sort(key=lambda event: event[0])
        begin = found[0][0]
        line = plane.lines.add(id=number + 1, display_id=thread, name=f"{kind}/{thread}", timestamp_ns=begin)
        for start, end, name, display_name, values in found:
            event = line.events.add(metadata_id=made.event(name, display_name), offset_ps=(start - begin) * 1000,
                                    duration_ps=(end - start) * 1000)
            for key, value in values.items():
                made.add_stat(event.stats, key, value)
