"""A session that stops before and behind each run, in a terminal."""
import os
import shutil
import tempfile

from penstock.debug.cli import shell
from penstock.debug.lib import debug_data
from penstock.debug.wrappers import framework
from penstock.framework import errors
from penstock.platform import gfile


class LocalCLIDebugWrapperSession(framework.BaseDebugWrapperSession):
    """Before each run the debugger asks what to do (`help` lists it); behind a debugged run it shows what happened.

    dump_root: where dumps are kept, by default nowhere. ui_type: "curses" and "readline" both are a prompt.
    """

    def __init__(self, sess, dump_root=None, log_usage=True, ui_type="curses", thread_name_filter=None):
        del log_usage
        super().__init__(sess, thread_name_filter)
        if ui_type not in ("curses", "readline"):
            raise ValueError("Invalid ui_type: '%s'" % ui_type)
        if dump_root:
            dump_root = dump_root.rstrip("/")
            if gfile.Exists(dump_root) and (not gfile.IsDirectory(dump_root) or gfile.ListDirectory(dump_root)):
                raise ValueError("dump_root path points to a file or a non-empty directory: %s" % dump_root)
        self._dump_root = dump_root
        self._filters = {"has_inf_or_nan": debug_data.has_inf_or_nan}
        self._plan = shell.Plan()
        self._run_root = None

    def add_tensor_filter(self, filter_name, tensor_filter):
        """A filter for `run -f NAME` and `lt -f NAME`: tensor_filter(datum, value) is true of what it shows."""
        if not isinstance(filter_name, str) or not filter_name:
            raise ValueError("filter_name must be a name")
        if not callable(tensor_filter):
            raise TypeError("Input argument tensor_filter is expected to be callable, but is not.")
        self._filters[filter_name] = tensor_filter

    def _debugged_run(self, fetches, feed_dict, options, run_metadata):
        watched = self.begin(fetches, feed_dict, options)
        values, failure = None, None
        try:
            values = self._sess.run(fetches, feed_dict=feed_dict, options=watched, run_metadata=run_metadata)
        except errors.OpError as e:
            failure = e
        self.end(feed_dict, failure)
        if failure is not None:
            raise failure
        return values

    def begin(self, fetches, feed_dict, options):
        """Asks, if it is time to, what to do with a run; returns the options that it is to have."""
        if self._plan.asks:
            self._plan = shell.before_run(self._run_call_count, fetches, feed_dict, sorted(self._filters))
        self._plan.times -= 1
        self._run_root = None
        if not self._plan.debugs:
            return options
        self._run_root = "%s/run_%d" % (self._dump_root or tempfile.mkdtemp(prefix="tfdbg_"), self._run_call_count)
        return framework.watched_options(options, self.graph, "file://" + self._run_root, self._plan.watch)

    def end(self, feed_dict, failure=None):
        """Shows what a run gave, if that was asked for."""
        if self._run_root is None:
            return
        try:
            if gfile.IsDirectory(self._run_root):
                dump = debug_data.DebugDumpDir(self._run_root, validate=False)
                dump.set_python_graph(self.graph)
                self._show(dump, feed_dict, failure)
        finally:
            if not self._dump_root:
                shutil.rmtree(os.path.dirname(self._run_root), ignore_errors=True)

    def _show(self, dump, feed_dict, failure):
        plan, found = self._plan, None
        if plan.filter is not None:
            found = dump.find(self._filters[plan.filter], exclude_node_names=plan.exclude)
            if not found and failure is None:
                return
        self._plan = shell.after_run(self._run_call_count, dump, self._filters, feed_dict, plan.filter, found, failure)
