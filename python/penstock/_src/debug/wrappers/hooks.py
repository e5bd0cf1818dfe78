"""The debugger for monitored sessions and estimators."""
from penstock._src.debug.lib import debug_utils
from penstock._src.debug.wrappers import dumping_wrapper
from penstock._src.debug.wrappers import framework
from penstock._src.debug.wrappers import local_cli_wrapper
from penstock.proto import config_pb2
from penstock._src.training import session_run_hook


class DumpingDebugHook(session_run_hook.SessionRunHook):
    """Dumps each run into a directory of its own below `session_root`."""

    def __init__(self, session_root, watch_fn=None, thread_name_filter=None, log_usage=True):
        del log_usage
        self._arguments = session_root, watch_fn, thread_name_filter
        self._session_wrapper = None

    def before_run(self, run_context):
        """Adds watches."""
        first = self._session_wrapper is None
        if first:
            root, watch_fn, thread_name_filter = self._arguments
            self._session_wrapper = dumping_wrapper.DumpingDebugWrapperSession(run_context.session, root, watch_fn,
                                                                               thread_name_filter)
        self._session_wrapper.increment_run_call_count()
        arguments, options = run_context.original_args, config_pb2.RunOptions()
        urls, watch = self._session_wrapper._prepare_run_watch_config(arguments.fetches, arguments.feed_dict)
        debug_utils.watch_graph(options, run_context.session.graph, debug_urls=urls, reset_disk_byte_usage=first,
                                **vars(watch))
        return session_run_hook.SessionRunArgs(None, feed_dict=None, options=options)


class LocalCLIDebugHook(session_run_hook.SessionRunHook):
    """Stops in a terminal before and behind each run, as LocalCLIDebugWrapperSession does."""

    def __init__(self, ui_type="curses", dump_root=None, thread_name_filter=None, config_file_path=None):
        self._arguments = {"ui_type": ui_type, "dump_root": dump_root, "thread_name_filter": thread_name_filter,
                           "config_file_path": config_file_path}
        self._pending_tensor_filters, self._session_wrapper, self._performed_action = {}, None, None

    def add_tensor_filter(self, filter_name, tensor_filter):
        """A filter for `run -f` and `lt -f`."""
        if self._session_wrapper is not None:
            self._session_wrapper.add_tensor_filter(filter_name, tensor_filter)
        else:
            self._pending_tensor_filters[filter_name] = tensor_filter

    def before_run(self, run_context):
        """Asks what to do, and adds watches."""
        if self._session_wrapper is None:
            self._session_wrapper = local_cli_wrapper.LocalCLIDebugWrapperSession(run_context.session,
                                                                                  **self._arguments)
            for name, tensor_filter in self._pending_tensor_filters.items():
                self._session_wrapper.add_tensor_filter(name, tensor_filter)
        wrapper, arguments = self._session_wrapper, run_context.original_args
        wrapper.increment_run_call_count()
        start = wrapper.on_run_start(framework.OnRunStartRequest(arguments.fetches, arguments.feed_dict, None, None,
                                                                 wrapper.run_call_count))
        self._performed_action = start.action
        options = config_pb2.RunOptions()
        if start.action == framework.OnRunStartAction.DEBUG_RUN:
            wrapper._decorate_for(options, start)
        elif start.action == framework.OnRunStartAction.PROFILE_RUN:
            wrapper._decorate_run_options_for_profile(options)
        return session_run_hook.SessionRunArgs(None, feed_dict=None, options=options)

    def after_run(self, run_context, run_values):
        """Shows what happened."""
        self._session_wrapper.on_run_end(framework.OnRunEndRequest(self._performed_action, run_values.run_metadata))
