"""One FileWriter for each directory."""
import threading

from penstock._src.graph import ops
from penstock._src.summary.writer import FileWriter


class FileWriterCache:
    """The writers that hooks of sessions share."""

    _cache = {}
    _lock = threading.RLock()

    @staticmethod
    def clear():
        """Closes all writers and forgets them."""
        with FileWriterCache._lock:
            for writer in FileWriterCache._cache.values():
                if writer is not None:
                    writer.close()
            FileWriterCache._cache = {}

    @staticmethod
    def get(logdir):
        """The writer of a directory."""
        with FileWriterCache._lock:
            if logdir not in FileWriterCache._cache:
                FileWriterCache._cache[logdir] = FileWriter(logdir, graph=ops.get_default_graph())
            return FileWriterCache._cache[logdir]
