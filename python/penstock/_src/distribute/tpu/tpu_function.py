"""Among how many shards a computation is cut."""
import contextlib
import threading


class TpuContext(threading.local):
    """What a thread knows of the computation that it builds."""

    def __init__(self):
        self._number_of_shards = None

    @property
    def number_of_shards(self):
        """How many shards there are, or None outside of a computation for TPUs."""
        return self._number_of_shards

    def set_number_of_shards(self, number_of_shards):
        """Sets how many shards there are."""
        self._number_of_shards = number_of_shards


_current = TpuContext()


def get_tpu_context():
    """This thread's TpuContext."""
    return _current


@contextlib.contextmanager
def tpu_shard_context(number_of_shards):
    """What is built within belongs to a computation in so many shards. NotImplementedError within another."""
    if _current.number_of_shards is not None:
        raise NotImplementedError("tpu_shard_context cannot be nested.")
    _current.set_number_of_shards(number_of_shards)
    try:
        yield
    finally:
        _current.set_number_of_shards(None)


def on_device_training_loop(func):
    """The function, marked as having a training loop of its own."""
    func.step_marker_location = "STEP_MARK_AT_TOP_LEVEL_WHILE_LOOP"
    return func
