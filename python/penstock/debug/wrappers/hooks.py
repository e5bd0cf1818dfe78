"""The debugger for monitored sessions and estimators."""
from penstock.debug.wrappers import dumping_wrapper
from penstock.debug.wrappers import framework
from penstock.debug.wrappers import local_cli_wrapper
from penstock.training import session_run_hook


class DumpingDebugHook(session_run_hook.SessionRunHook):
    """Dumps each run into a directory of its own below `session_root`."""

    def __init__(self, session_root, watch_fn=None, thread_name_filter=None, log_usage=True):
        del log_usage
        self._arguments = session_root, watch_fn, thread_name_filter
        self._wrapper = None

    def before_run(self, run_context):
        """Adds watches."""
        if self._wrapper is None:
            root, watch_fn, thread_name_filter = self._arguments
            self._wrapper = dumping_wrapper.DumpingDebugWrapperSession(run_context.session, root, watch_fn,
                                                                       thread_name_filter)
        arguments = run_context.original_args
        watch = framework.watch_of(self._wrapper._watch_fn, arguments.fetches, arguments.feed_dict)
        url = "file://" + dumping_wrapper.new_run_directory(self._wrapper._session_root, arguments.fetches,
                                                            arguments.feed_dict)
        return session_run_hook.SessionRunArgs(
            None, feed_dict=None, options=framework.watched_options(None, run_context.session.graph, url, watch))


class LocalCLIDebugHook(session_run_hook.SessionRunHook):
    """Stops in a terminal before and behind each run, as LocalCLIDebugWrapperSession does."""

    def __init__(self, ui_type="curses", dump_root=None, thread_name_filter=None):
        self._arguments = {"ui_type": ui_type, "dump_root": dump_root, "thread_name_filter": thread_name_filter}
        self._filters, self._wrapper = {}, None

    def add_tensor_filter(self, filter_name, tensor_filter):
        """A filter for `run -f` and `lt -f`."""
        self._filters[filter_name] = tensor_filter
        if self._wrapper is not None:
            self._wrapper.add_tensor_filter(filter_name, tensor_filter)

    def before_run(self, run_context):
        """Asks what to do, and adds watches."""
        if self._wrapper is None:
            self._wrapper = local_cli_wrapper.LocalCLIDebugWrapperSession(run_context.session, **self._arguments)
            for name, tensor_filter in self._filters.items():
                self._wrapper.add_tensor_filter(name, tensor_filter)
        arguments = run_context.original_args
        self._wrapper._run_call_count += 1
        return session_run_hook.SessionRunArgs(
            None, feed_dict=None, options=self._wrapper.begin(arguments.fetches, arguments.feed_dict, None))

    def after_run(self, run_context, run_values):
        """Shows what happened."""
        self._wrapper.end(run_context.original_args.feed_dict)
