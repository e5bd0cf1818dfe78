"""Queue runners that run while a block does."""
import contextlib
import threading

from penstock._src.graph import ops
from penstock._src.training import coordinator

_running = threading.Lock()


class NestedQueueRunnerError(Exception):
    """A block within such a block."""


@contextlib.contextmanager
def QueueRunners(session):
    """Runs all queue runners of the default graph until the block ends. NestedQueueRunnerError if some run already."""
    if not _running.acquire(False):
        raise NestedQueueRunnerError("QueueRunners cannot be nested")
    coord = coordinator.Coordinator()
    threads = []
    for runner in ops.get_collection(ops.GraphKeys.QUEUE_RUNNERS):
        threads.extend(runner.create_threads(session, coord=coord, daemon=True, start=True))
    try:
        yield
    finally:
        coord.request_stop()
        try:
            coord.join(threads, stop_grace_period_secs=120)
        except RuntimeError:
            session.close()
        _running.release()
