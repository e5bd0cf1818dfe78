"""A session that passes each run on to another one, and asks its subclass what to do before and behind it."""
import re
import threading

from penstock._src.session import session
from penstock._src.debug.lib import debug_utils
from penstock._src.graph import defaults
from penstock._src.graph import errors
from penstock._src.base import tf_logging as logging
from penstock.proto import config_pb2
from penstock._src.training import monitored_session
from penstock._src.base import nest


def _check_type(value, types):
    if not isinstance(value, types):
        raise TypeError("Expected type %s; got type %s" % (types, type(value)))


class OnSessionInitRequest:
    """What a wrapper is asked when it is made."""

    def __init__(self, sess):
        _check_type(sess, (session.BaseSession, monitored_session.MonitoredSession))
        self.session = sess


class OnSessionInitAction:
    """What it may answer."""
    PROCEED, REMOTE_INSTR_LOOP = "proceed", "remote_instr_loop"


class OnSessionInitResponse:
    """Its answer."""

    def __init__(self, action):
        _check_type(action, str)
        self.action = action


class OnRunStartRequest:
    """What a wrapper is asked before a run."""

    def __init__(self, fetches, feed_dict, run_options, run_metadata, run_call_count, is_callable_runner=False):
        self.fetches, self.feed_dict = fetches, feed_dict
        self.run_options, self.run_metadata = run_options, run_metadata
        self.run_call_count, self.is_callable_runner = run_call_count, is_callable_runner


class OnRunStartAction:
    """What it may answer: run with watches, with times, or as it is."""
    DEBUG_RUN, PROFILE_RUN, NON_DEBUG_RUN = "debug_run", "profile_run", "non_debug_run"


class WatchOptions:
    """What is watched: regular expressions that node names, ops and types must match, and the debug ops."""

    def __init__(self, debug_ops=None, node_name_regex_whitelist=None, op_type_regex_whitelist=None,
                 tensor_dtype_regex_whitelist=None, tolerate_debug_op_creation_failures=False):
        self.debug_ops = debug_ops or ["DebugIdentity"]
        self.node_name_regex_whitelist = node_name_regex_whitelist
        self.op_type_regex_whitelist = op_type_regex_whitelist
        self.tensor_dtype_regex_whitelist = tensor_dtype_regex_whitelist
        self.tolerate_debug_op_creation_failures = tolerate_debug_op_creation_failures

    def __repr__(self):
        return "WatchOptions(%s)" % ", ".join("%s=%r" % item for item in vars(self).items())


class OnRunStartResponse(WatchOptions):
    """The answer: an OnRunStartAction, where dumps go, and what is watched."""

    def __init__(self, action, debug_urls, debug_ops="DebugIdentity", node_name_regex_whitelist=None,
                 op_type_regex_whitelist=None, tensor_dtype_regex_whitelist=None,
                 tolerate_debug_op_creation_failures=False):
        _check_type(action, str)
        _check_type(debug_urls, list)
        super().__init__(debug_ops, node_name_regex_whitelist, op_type_regex_whitelist, tensor_dtype_regex_whitelist,
                         tolerate_debug_op_creation_failures)
        self.action, self.debug_urls = action, debug_urls

    __repr__ = object.__repr__


class OnRunEndRequest:
    """What a wrapper is told behind a run."""

    def __init__(self, performed_action, run_metadata=None, client_graph_def=None, tf_error=None):
        _check_type(performed_action, str)
        if run_metadata is not None:
            _check_type(run_metadata, config_pb2.RunMetadata)
        self.performed_action, self.run_metadata = performed_action, run_metadata
        self.client_graph_def, self.tf_error = client_graph_def, tf_error


class OnRunEndResponse:
    """Its answer, which says nothing."""


def _is_empty(value):
    """Whether nested fetches hold nothing."""
    if isinstance(value, dict):
        value = list(value.values())
    return nest.is_nested(value) and all(_is_empty(item) for item in value)


class BaseDebugWrapperSession(session.SessionInterface):
    """What the debugging sessions have in common; subclasses answer `on_session_init`, `on_run_start`, `on_run_end`.

    thread_name_filter: a regular expression; threads of other names run undisturbed. pass_through_operrors: errors of
    a run are raised at once, where `on_run_end` is told of them otherwise, and the run returns them.
    """

    def __init__(self, sess, thread_name_filter=None, pass_through_operrors=False):
        _check_type(sess, (session.BaseSession, monitored_session.MonitoredSession))
        self._sess = sess
        self._thread_name_filter_pattern = re.compile(thread_name_filter) if thread_name_filter else None
        self._pass_through_operrors = pass_through_operrors
        self._run_call_count = 0
        self._default_session_context_manager = None
        self._cached_callables_from_options = {}
        response = self.on_session_init(OnSessionInitRequest(sess))
        _check_type(response, OnSessionInitResponse)
        if response.action == OnSessionInitAction.REMOTE_INSTR_LOOP:
            raise NotImplementedError("OnSessionInitAction REMOTE_INSTR_LOOP has not been implemented.")
        if response.action != OnSessionInitAction.PROCEED:
            raise ValueError("Invalid OnSessionInitAction value: %s" % response.action)

    session = property(lambda self: self._sess, doc="The session that runs.")
    graph = property(lambda self: self._sess.graph, doc="Its graph.")
    graph_def = property(lambda self: self._sess.graph_def, doc="Its graph as a message.")
    sess_str = property(lambda self: self._sess.sess_str, doc="Its target.")
    run_call_count = property(lambda self: self._run_call_count, doc="The number of runs so far.")

    def __getattr__(self, name):
        if name == "_sess":
            raise AttributeError(name)
        return getattr(self._sess, name)

    def on_session_init(self, request):
        """An OnSessionInitResponse to an OnSessionInitRequest."""
        raise NotImplementedError("on_session_init is a subclass's")

    def on_run_start(self, request):
        """An OnRunStartResponse to an OnRunStartRequest."""
        raise NotImplementedError("on_run_start is a subclass's")

    def on_run_end(self, request):
        """An OnRunEndResponse to an OnRunEndRequest."""
        raise NotImplementedError("on_run_end is a subclass's")

    def increment_run_call_count(self):
        """Counts a run that somebody else makes."""
        self._run_call_count += 1

    def _is_disabled_thread(self):
        pattern = self._thread_name_filter_pattern
        return pattern is not None and not pattern.match(threading.current_thread().name or "")

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None, callable_runner=None,
            callable_runner_args=None, callable_options=None):
        """Session.run as the subclass has it; of a callable or of CallableOptions in place of fetches and feeds.

        ValueError for more than one of them, or an unknown answer.
        """
        if callable_runner and callable_options:
            raise ValueError("callable_runner and callable_options are mutually exclusive, but are both specified in "
                             "this call to BaseDebugWrapperSession.run().")
        for name, value in (("callable_runner", callable_runner), ("callable_options", callable_options)):
            if value and (fetches or feed_dict):
                raise ValueError("%s and fetches/feed_dict are mutually exclusive, but are used simultaneously." % name)
        self.increment_run_call_count()
        call = _Call(self._sess, fetches, feed_dict, options, run_metadata, callable_runner, callable_runner_args or (),
                     callable_options)
        empty = not (callable_runner or callable_options) and _is_empty(fetches)
        if empty:
            logging.info("Due to empty fetches, tfdbg Session wrapper is letting a Session.run pass through without "
                         "any debugging actions.")
        if empty or self._is_disabled_thread():
            return call.run()
        start = self.on_run_start(OnRunStartRequest(fetches, feed_dict, options, run_metadata, self._run_call_count,
                                                    is_callable_runner=bool(callable_runner)))
        _check_type(start, OnRunStartResponse)
        if start.action == OnRunStartAction.DEBUG_RUN:
            result, end = self._run_with_debugging(call, start)
        elif start.action == OnRunStartAction.PROFILE_RUN:
            result = call.run(self._decorate_run_options_for_profile, {})
            end = OnRunEndRequest(start.action, call.run_metadata, self._sess.graph.as_graph_def())
        elif start.action == OnRunStartAction.NON_DEBUG_RUN:
            result, end = call.run(), OnRunEndRequest(start.action)
        else:
            raise ValueError("Invalid OnRunStartAction value: %s" % start.action)
        _check_type(self.on_run_end(end), OnRunEndResponse)
        return result

    def _run_with_debugging(self, call, start):
        error = None
        try:
            result = call.run(lambda options: self._decorate_for(options, start), self._cached_callables_from_options)
        except errors.OpError as e:
            if self._pass_through_operrors:
                raise
            result = error = e
        return result, OnRunEndRequest(start.action, call.run_metadata, self._sess.graph.as_graph_def(), error)

    def run_step_fn(self, step_fn):
        """MonitoredSession.run_step_fn, whose runs are this session's."""
        return step_fn(monitored_session.MonitoredSession.StepContext(self._sess, self.run))

    def partial_run_setup(self, fetches, feeds=None):
        """NotImplementedError: runs in pieces are not debugged."""
        raise NotImplementedError("partial_run_setup is not implemented for debug-wrapper sessions.")

    def partial_run(self, handle, fetches, feed_dict=None):
        """NotImplementedError: runs in pieces are not debugged."""
        raise NotImplementedError("partial_run is not implemented for debug-wrapper sessions.")

    def list_devices(self, *args, **kwargs):
        """The session's devices."""
        return self._sess.list_devices(*args, **kwargs)

    def reset(self, *args, **kwargs):
        """The session's reset."""
        return self._sess.reset(*args, **kwargs)

    def make_callable(self, fetches, feed_list=None, accept_options=False):
        """A function that runs `fetches` as the subclass has it."""
        runner = self._sess.make_callable(fetches, feed_list=feed_list, accept_options=True)

        def run(*args, **kwargs):
            return self.run(None, options=kwargs.get("options"), run_metadata=kwargs.get("run_metadata"),
                            callable_runner=runner, callable_runner_args=args)

        return run

    def _make_callable_from_options(self, callable_options):
        def run(*args, **kwargs):
            return self.run(None, run_metadata=kwargs.get("run_metadata"), callable_options=callable_options,
                            callable_runner_args=args)

        return run

    def _is_disk_usage_reset_each_run(self):
        return False

    def _decorate_for(self, run_options, start):
        """Adds the watches of an OnRunStartResponse."""
        self._decorate_run_options_for_debug(
            run_options, start.debug_urls, start.debug_ops, start.node_name_regex_whitelist,
            start.op_type_regex_whitelist, start.tensor_dtype_regex_whitelist,
            start.tolerate_debug_op_creation_failures)

    def _decorate_run_options_for_debug(self, run_options, debug_urls, debug_ops="DebugIdentity",
                                        node_name_regex_whitelist=None, op_type_regex_whitelist=None,
                                        tensor_dtype_regex_whitelist=None, tolerate_debug_op_creation_failures=False):
        run_options.output_partition_graphs = True
        debug_utils.watch_graph(
            run_options, self._sess.graph, debug_urls=debug_urls, debug_ops=debug_ops,
            node_name_regex_whitelist=node_name_regex_whitelist, op_type_regex_whitelist=op_type_regex_whitelist,
            tensor_dtype_regex_whitelist=tensor_dtype_regex_whitelist,
            tolerate_debug_op_creation_failures=tolerate_debug_op_creation_failures,
            reset_disk_byte_usage=self._run_call_count == 1 or self._is_disk_usage_reset_each_run())

    def _decorate_run_options_for_profile(self, run_options):
        run_options.trace_level = config_pb2.RunOptions.FULL_TRACE

    def as_default(self):
        """Makes it the default session in a `with` block."""
        return defaults.default_session(self)

    def __enter__(self):
        if self._default_session_context_manager is None:
            self._default_session_context_manager = self.as_default()
        return self._default_session_context_manager.__enter__()

    def __exit__(self, *exc):
        self._default_session_context_manager.__exit__(*exc)

    def close(self):
        """Closes the session."""
        self._sess.close()

    def should_stop(self):
        """MonitoredSession.should_stop. ValueError for other sessions."""
        if hasattr(self._sess, "should_stop"):
            return self._sess.should_stop()
        raise ValueError("The wrapped session %r does not have a method called 'should_stop'. Do you intend to wrap a "
                         "tf.MonitoredSession instead?" % self._sess)


class _Call:
    """One call of `run`: of fetches, of a callable, or of CallableOptions."""

    def __init__(self, sess, fetches, feed_dict, options, run_metadata, runner, args, callable_options):
        self._sess, self._fetches, self._feed_dict, self._options = sess, fetches, feed_dict, options
        self._runner, self._args, self._callable_options = runner, args, callable_options
        self.run_metadata = run_metadata

    def run(self, decorate=None, cache=None):
        """Runs; decorate(RunOptions) changes the options, and metadata is kept. cache: callables by their options."""
        if decorate is None:
            if self._runner:
                return self._runner(*self._args)
            if self._callable_options:
                return self._sess._make_callable_from_options(self._callable_options)(*self._args)
            return self._sess.run(self._fetches, feed_dict=self._feed_dict, options=self._options,
                                  run_metadata=self.run_metadata)
        self.run_metadata = self.run_metadata or config_pb2.RunMetadata()
        if self._callable_options:
            key = id(self._callable_options)
            if key not in cache:
                options = config_pb2.CallableOptions()
                options.CopyFrom(self._callable_options)
                decorate(options.run_options)
                cache[key] = self._sess._make_callable_from_options(options)
            return cache[key](*self._args, run_metadata=self.run_metadata)
        options = self._options or config_pb2.RunOptions()
        decorate(options)
        if self._runner:
            return self._runner(*self._args, options=options, run_metadata=self.run_metadata)
        return self._sess.run(self._fetches, feed_dict=self._feed_dict, options=options,
                              run_metadata=self.run_metadata)


class NonInteractiveDebugWrapperSession(BaseDebugWrapperSession):
    """Watches every run; subclasses say in `prepare_run_debug_urls` where dumps go.

    watch_fn(fetches, feeds): WatchOptions, or a tuple of their first fields: debug ops, expression for node names,
    for ops, for types.
    """

    def __init__(self, sess, watch_fn=None, thread_name_filter=None, pass_through_operrors=False):
        super().__init__(sess, thread_name_filter=thread_name_filter, pass_through_operrors=pass_through_operrors)
        if watch_fn is not None and not callable(watch_fn):
            raise TypeError("watch_fn is not callable")
        self._watch_fn = watch_fn

    def on_session_init(self, request):
        """Goes on."""
        return OnSessionInitResponse(OnSessionInitAction.PROCEED)

    def prepare_run_debug_urls(self, fetches, feed_dict):
        """A list of URLs for one run."""
        raise NotImplementedError("prepare_run_debug_urls is a subclass's")

    def on_run_start(self, request):
        """A debugged run."""
        urls, watch = self._prepare_run_watch_config(request.fetches, request.feed_dict)
        return OnRunStartResponse(OnRunStartAction.DEBUG_RUN, urls, **vars(watch))

    def _prepare_run_watch_config(self, fetches, feed_dict):
        """(URLs, WatchOptions) of a run."""
        urls = self.prepare_run_debug_urls(fetches, feed_dict)
        watch = self._watch_fn(fetches, feed_dict) if self._watch_fn is not None else WatchOptions()
        return urls, WatchOptions(*watch) if isinstance(watch, tuple) else watch

    def on_run_end(self, request):
        """Nothing to do."""
        return OnRunEndResponse()
