"""A session that passes each run on to another one, with watches added."""
import re

from penstock.client import session
from penstock.debug.lib import debug_utils
from penstock.proto import config_pb2


class WatchOptions:
    """What is watched: regular expressions that node names, ops and types must match, and the debug ops."""

    def __init__(self, debug_ops=None, node_name_regex_whitelist=None, op_type_regex_whitelist=None,
                 tensor_dtype_regex_whitelist=None, tolerate_debug_op_creation_failures=False):
        self.debug_ops = [debug_ops] if isinstance(debug_ops, str) else debug_ops or ["DebugIdentity"]
        self.node_name_regex_whitelist = node_name_regex_whitelist
        self.op_type_regex_whitelist = op_type_regex_whitelist
        self.tensor_dtype_regex_whitelist = tensor_dtype_regex_whitelist
        self.tolerate_debug_op_creation_failures = tolerate_debug_op_creation_failures

    def __repr__(self):
        return ("WatchOptions(debug_ops=%r, node_name_regex_whitelist=%r, op_type_regex_whitelist=%r, "
                "tensor_dtype_regex_whitelist=%r, tolerate_debug_op_creation_failures=%r)" % (
                    self.debug_ops, self.node_name_regex_whitelist, self.op_type_regex_whitelist,
                    self.tensor_dtype_regex_whitelist, self.tolerate_debug_op_creation_failures))


def watch_of(watch_fn, fetches, feed_dict):
    """The WatchOptions that a program's function gives for a run, or a tuple of their first fields; None without."""
    watch = watch_fn(fetches, feed_dict) if watch_fn is not None else None
    return WatchOptions(*watch) if isinstance(watch, tuple) else watch


def watched_options(options, graph, url, watch=None):
    """A copy of RunOptions that sends what `watch` (default: everything) names to `url`."""
    result = config_pb2.RunOptions()
    if options is not None:
        result.CopyFrom(options)
    watch = watch or WatchOptions()
    debug_utils.watch_graph(result, graph, debug_ops=watch.debug_ops, debug_urls=url,
                            node_name_regex_whitelist=watch.node_name_regex_whitelist,
                            op_type_regex_whitelist=watch.op_type_regex_whitelist,
                            tensor_dtype_regex_whitelist=watch.tensor_dtype_regex_whitelist,
                            tolerate_debug_op_creation_failures=watch.tolerate_debug_op_creation_failures)
    return result


class BaseDebugWrapperSession(session.SessionInterface):
    """What the debugging sessions have in common. Threads whose names do not match the filter run undisturbed."""

    def __init__(self, sess, thread_name_filter=None, pass_through_operrors=False):
        if not isinstance(sess, session.SessionInterface) and not hasattr(sess, "run"):
            raise TypeError("Expected type %s; got type %s" % (session.BaseSession, type(sess)))
        self._sess = sess
        self._thread_name_filter = re.compile(thread_name_filter) if thread_name_filter else None
        self._pass_through_operrors = pass_through_operrors
        self._run_call_count = 0
        self._default_session = None

    session = property(lambda self: self._sess, doc="The session that runs.")
    graph = property(lambda self: self._sess.graph, doc="Its graph.")
    graph_def = property(lambda self: self._sess.graph_def, doc="Its graph as a message.")
    sess_str = property(lambda self: self._sess.sess_str, doc="Its target.")
    run_call_count = property(lambda self: self._run_call_count, doc="The number of runs so far.")

    def __getattr__(self, name):
        return getattr(self._sess, name)

    def _disturbs(self):
        import threading
        return self._thread_name_filter is None or self._thread_name_filter.match(threading.current_thread().name)

    def run(self, fetches, feed_dict=None, options=None, run_metadata=None, callable_runner=None,
            callable_runner_args=None, callable_options=None):
        """Session.run, watched."""
        del callable_options
        if callable_runner is not None:
            return callable_runner(*(callable_runner_args or ()))
        self._run_call_count += 1
        if not self._disturbs():
            return self._sess.run(fetches, feed_dict=feed_dict, options=options, run_metadata=run_metadata)
        return self._debugged_run(fetches, feed_dict, options, run_metadata)

    def partial_run_setup(self, fetches, feeds=None):
        """NotImplementedError: runs in pieces are not debugged."""
        raise NotImplementedError("partial_run_setup is not implemented for debug-wrapper sessions.")

    def partial_run(self, handle, fetches, feed_dict=None):
        """NotImplementedError: runs in pieces are not debugged."""
        raise NotImplementedError("partial_run is not implemented for debug-wrapper sessions.")

    def make_callable(self, fetches, feed_list=None, accept_options=False):
        """A function that runs `fetches`, watched."""
        names = list(feed_list or ())

        def runner(*values, **kwargs):
            return self.run(fetches, feed_dict=dict(zip(names, values)), **(kwargs if accept_options else {}))

        return runner

    def as_default(self):
        """Makes it the default session in a `with` block."""
        from penstock.framework import defaults
        return defaults.default_session(self)

    def __enter__(self):
        self._default_session = self.as_default()
        self._default_session.__enter__()
        return self

    def __exit__(self, *exc):
        self._default_session.__exit__(*exc)

    def close(self):
        """Closes the session."""
        self._sess.close()
