"""tf.contrib.tfprof.ProfileContext: profiles the runs of all sessions inside of it."""
import os
import random
import sys
import threading

from penstock._src.session import session
from penstock._src.graph import errors
from penstock._src.graph import ops
from penstock._src.files import gfile
from penstock._src.profiler import model_analyzer
from penstock.proto import RunMetadata, RunOptions

WARMUP_STEPS = 10
MAX_TRACED_STEPS = 100
_METHODS = {"graph": "profile_graph", "scope": "profile_name_scope", "op": "profile_operations",
            "code": "profile_python"}


class ProfileContext:
    """Traces some of the steps (runs of sessions) inside of it, and writes or shows their profiles:

        with tf.contrib.tfprof.ProfileContext("/tmp/profiles", trace_steps=range(100, 200, 3), dump_steps=[200]) as ctx:
            ctx.add_auto_profiling("op", tf.profiler.ProfileOptionBuilder.time_and_memory(), [150, 200])
            train()
    """

    def __init__(self, profile_dir, trace_steps=None, dump_steps=None, enabled=True, debug=False):
        """profile_dir: where the files profile_N go. trace_steps, dump_steps: which steps are traced (at most 100), and
        after which ones a file is written; by default new fetches from the eleventh step on, and step 100.
        enabled: whether it does anything. debug: writes each RunMetadata as text, too.

        ValueError without a directory, or for too many steps.
        """
        self._enabled = enabled
        if not enabled:
            return
        if not profile_dir:
            raise ValueError("Must have a directory for profile.\n")
        if trace_steps is not None and len(trace_steps) > MAX_TRACED_STEPS:
            raise ValueError("Only support tracing up to 100 steps.\n")
        self._profiler_dir, self._debug = profile_dir, debug
        self._auto_tracing = trace_steps is None
        self._trace_steps = set(trace_steps or ())
        self._dump_steps = {MAX_TRACED_STEPS} if dump_steps is None else set(dump_steps)
        self._slow_path_steps = self._dump_steps | self._trace_steps
        self._trace_next_step = self._dump_next_step = False
        self._step = self._traced_steps = 0
        self._auto_profiles, self._views = [], {}
        self._fetched, self._rng = set(), random.Random(111)
        self._profiler = None
        self._lock = threading.Lock()

    def get_profiles(self, cmd):
        """step -> message of the profiles that `add_auto_profiling` asked for. ValueError if none was made."""
        if cmd not in self._views:
            raise ValueError(f"No autoprofiler for command: {cmd}, was run")
        return self._views[cmd]

    def add_auto_profiling(self, cmd, options, profile_steps):
        """Traces the steps and shows their profile: `cmd` is "scope", "graph", "op" or "code"."""
        if not self._enabled:
            return
        self._auto_profiles.append((cmd, options, list(profile_steps)))
        self._slow_path_steps |= set(profile_steps)
        self._trace_steps |= set(profile_steps)

    @property
    def profiler(self):
        """The tf.profiler.Profiler that has the traced steps; None if not enabled."""
        if not self._enabled:
            return None
        if not self._profiler:
            self._profiler = model_analyzer.Profiler(ops.get_default_graph())
        return self._profiler

    def trace_next_step(self):
        """Traces the next step."""
        if self._enabled:
            self._trace_next_step = True
            self._slow_path_steps.add(self._step)

    def dump_next_step(self):
        """Writes a file after the next step."""
        if self._enabled:
            self._dump_next_step = True
            self._slow_path_steps.add(self._step)

    def __enter__(self):
        if self._enabled:
            if session.BaseSession.__dict__.get("profile_context") is not None:
                raise errors.InternalError(None, None, "Already in context or context not cleaned.")
            self._run_before = session.BaseSession.run
            session.BaseSession.profile_context = self

            def run(sess, fetches, feed_dict=None, options=None, run_metadata=None):
                return self._run(sess, fetches, feed_dict, options, run_metadata)

            session.BaseSession.run = run
        return self

    def __exit__(self, exc_type, exc_value, traceback):
        if self._enabled:
            session.BaseSession.run = self._run_before
            session.BaseSession.profile_context = None

    def _run(self, sess, fetches, feed_dict, options, run_metadata):
        """What Session.run is inside: counts steps; runs at the same time as another are not profiled."""
        is_first = self._lock.acquire(blocking=False)
        try:
            step = self._step
            if not is_first or self._is_fast_path(step):
                return self._run_before(sess, fetches, feed_dict, options, run_metadata)
            return self._profiled_run(step, sess, fetches, feed_dict, options, run_metadata)
        finally:
            self._step += 1
            self._trace_next_step = self._dump_next_step = False
            if is_first:
                self._lock.release()

    def _profiled_run(self, step, sess, fetches, feed_dict, options, run_metadata):
        if self._should_trace(step, fetches):
            run_metadata = RunMetadata() if run_metadata is None else run_metadata
            traced = RunOptions()
            traced.CopyFrom(options or RunOptions())
            traced.trace_level = RunOptions.FULL_TRACE
            result = self._run_before(sess, fetches, feed_dict, traced, run_metadata)
            if self._debug:
                sys.stderr.write(f"debug: traced step: {step}\n")
                self._write(f"run_meta_{step}", str(run_metadata))
            self.profiler._graph = sess.graph
            self.profiler.add_step(step, run_metadata)
        else:
            result = self._run_before(sess, fetches, feed_dict, options, run_metadata)
        if step in self._dump_steps or self._dump_next_step:
            self._write(f"profile_{step}", self.profiler.serialize_to_string())
        for cmd, profile_options, steps in self._auto_profiles:
            if step not in steps:
                continue
            if cmd not in _METHODS:
                raise ValueError(f"Unknown cmd: {cmd}\n")
            self._views.setdefault(cmd, {})[step] = getattr(self.profiler, _METHODS[cmd])(profile_options)
        return result

    def _is_fast_path(self, step):
        if step in self._slow_path_steps:
            return False
        return not (self._auto_tracing and step > WARMUP_STEPS and self._traced_steps <= MAX_TRACED_STEPS)

    def _should_trace(self, step, fetches):
        if self._traced_steps > MAX_TRACED_STEPS:
            return False
        wanted = step in self._trace_steps or self._trace_next_step
        if not wanted and self._auto_tracing and step > WARMUP_STEPS:
            # Fetches that are new, and some others at random while few nodes have been seen.
            wanted = str(fetches) not in self._fetched or (
                self.profiler._coverage < 0.5 and step < MAX_TRACED_STEPS and self._rng.randint(0, 10) < 2)
            self._fetched.add(str(fetches))
        self._traced_steps += wanted
        return wanted

    def _write(self, name, content):
        gfile.MakeDirs(self._profiler_dir)
        gfile.write_atomically(os.path.join(self._profiler_dir, name), content)
