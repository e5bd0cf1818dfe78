"""A session that dumps every run into a directory."""
import os
import threading
import time

from penstock.debug.wrappers import framework
from penstock.platform import gfile


def new_run_directory(root, lock=threading.Lock(), _last=[0]):
    """A directory for one run, which does not exist yet."""
    with lock:
        _last[0] = max(_last[0] + 1, int(time.time() * 1e6))
        return os.path.join(root, "run_%d" % _last[0])


class DumpingDebugWrapperSession(framework.BaseDebugWrapperSession):
    """Each run is dumped into a directory run_TIME of its own below `session_root`, for DebugDumpDir.

    watch_fn(fetches, feeds): WatchOptions, or a tuple of their first fields: debug ops, expression for node names,
    for types.
    """

    def __init__(self, sess, session_root, watch_fn=None, thread_name_filter=None, pass_through_operrors=None,
                 log_usage=True):
        del log_usage
        super().__init__(sess, thread_name_filter, bool(pass_through_operrors))
        session_root = os.path.expanduser(session_root)
        if gfile.Exists(session_root):
            if not gfile.IsDirectory(session_root):
                raise ValueError("session_root path points to a file: %s" % session_root)
            if gfile.ListDirectory(session_root):
                raise ValueError("session_root path points to a non-empty directory: %s" % session_root)
        else:
            gfile.MakeDirs(session_root)
        if watch_fn is not None and not callable(watch_fn):
            raise TypeError("watch_fn is not callable")
        self._session_root, self._watch_fn = session_root, watch_fn

    def _debugged_run(self, fetches, feed_dict, options, run_metadata):
        watch = framework.watch_of(self._watch_fn, fetches, feed_dict)
        url = "file://" + new_run_directory(self._session_root)
        return self._sess.run(fetches, feed_dict=feed_dict, run_metadata=run_metadata,
                              options=framework.watched_options(options, self.graph, url, watch))
