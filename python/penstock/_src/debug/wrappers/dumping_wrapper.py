"""A session whose runs are dumped."""
import itertools
import os
import time

from penstock._src.debug.lib import debug_data
from penstock._src.debug.wrappers import framework
from penstock._src.files import gfile
from penstock.proto import event_pb2

_counter = itertools.count()


def _new_run_directory(root, fetches, feed_dict):
    """A new directory run_TIME_NUMBER for one run, with what it was asked for (DebugDumpDir.run_fetches_info)."""
    directory = os.path.join(root, "run_%d_%d" % (int(time.time() * 1e6), next(_counter)))
    gfile.MkDir(directory)
    for tag, text in ((debug_data.FETCHES_INFO_FILE_TAG, repr(fetches)),
                      (debug_data.FEED_KEYS_INFO_FILE_TAG, repr(feed_dict.keys() if feed_dict else feed_dict))):
        event = event_pb2.Event()
        event.log_message.message = text
        with gfile.GFile(os.path.join(directory, debug_data.METADATA_FILE_PREFIX + tag), "wb") as f:
            f.write(event.SerializeToString())
    return directory


class DumpingDebugWrapperSession(framework.NonInteractiveDebugWrapperSession):
    """Each run is dumped into a directory run_TIME_NUMBER of its own below `session_root`, for DebugDumpDir.

    ValueError if `session_root` is a file, or a directory that is not empty.
    """

    def __init__(self, sess, session_root, watch_fn=None, thread_name_filter=None, pass_through_operrors=None,
                 log_usage=True):
        del log_usage
        super().__init__(sess, watch_fn=watch_fn, thread_name_filter=thread_name_filter,
                         pass_through_operrors=pass_through_operrors)
        session_root = os.path.expanduser(session_root)
        if gfile.Exists(session_root):
            if not gfile.IsDirectory(session_root):
                raise ValueError("session_root path points to a file: %s" % session_root)
            if gfile.ListDirectory(session_root):
                raise ValueError("session_root path points to a non-empty directory: %s" % session_root)
        else:
            gfile.MakeDirs(session_root)
        self._session_root = session_root

    def prepare_run_debug_urls(self, fetches, feed_dict):
        """The URL of a new directory."""
        return ["file://" + _new_run_directory(self._session_root, fetches, feed_dict)]
