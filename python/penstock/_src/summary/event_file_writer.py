"""Writes events to a file from a thread of its own."""
import atexit
import os
import weakref

from penstock import _core
from penstock._src.graph import core as _errors  # noqa: F401  (connects the errors)
from penstock._src.files import gfile
from penstock._src.base import compat

_open = weakref.WeakSet()


@atexit.register
def _close_all():
    for writer in list(_open):
        writer.close()


class EventFileWriter:
    """An event file in a directory, which is made. Whoever adds an event does not wait for the disk."""

    def __init__(self, logdir, max_queue=10, flush_secs=120, filename_suffix=None):
        """Events go to the file at once, so there is no queue to be limited and no time to flush it after."""
        self._logdir = compat.path_to_str(logdir)
        if self._logdir and not gfile.IsDirectory(self._logdir):
            gfile.MakeDirs(self._logdir)
        self._ev_writer = _core.EventWriter(os.path.join(compat.as_str_any(self._logdir), "events"),
                                            compat.as_str_any(filename_suffix or ""))
        self._ev_writer.open()
        self._closed = False
        _open.add(self)

    def get_logdir(self):
        """The directory."""
        return self._logdir

    def reopen(self):
        """Begins another file if the writer was closed."""
        if self._closed:
            self._ev_writer.open()
            self._closed = False
            _open.add(self)

    def add_event(self, event):
        """Adds an Event message; does nothing once closed."""
        if not self._closed:
            self._ev_writer.write(event.SerializeToString())

    def flush(self):
        """Returns when all events are in the file."""
        if not self._closed:
            self._ev_writer.flush()

    def close(self):
        """Flushes and closes the file."""
        if not self._closed:
            self._closed = True
            _open.discard(self)
            self._ev_writer.close()
