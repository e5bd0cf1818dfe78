"""Records of many files, read by several readers at once."""
from penstock._src.graph import dtypes as tf_dtypes
from penstock._src.graph import ops
from penstock._src.ops.queues import data_flow_ops
from penstock._src.ops.queues import io_ops
from penstock._src.core_ops import math_ops
from penstock._src.files import gfile
from penstock._src.summary import summary
from penstock._src.training import input as tf_input
from penstock._src.training import queue_runner


class ParallelReader(io_ops.ReaderBase):
    """Several readers that put (key, record) into one queue. TypeError unless that takes two strings."""

    def __init__(self, reader_class, common_queue, num_readers=4, reader_kwargs=None):
        types = common_queue.dtypes
        if len(types) != 2 or not all(dtype.is_compatible_with(tf_dtypes.string) for dtype in types):
            raise TypeError("common_queue.dtypes must be [tf.string, tf.string]")
        self._readers = [reader_class(**(reader_kwargs or {})) for _ in range(num_readers)]
        self._common_queue = common_queue

    @property
    def num_readers(self):
        """The number of readers."""
        return len(self._readers)

    @property
    def common_queue(self):
        """The queue that the readers fill."""
        return self._common_queue

    def read(self, queue, name=None):
        """The next (key, record) of the files that `queue` names."""
        self._start(queue)
        return self._common_queue.dequeue(name=name)

    def read_up_to(self, queue, num_records, name=None):
        """The next keys and records, at most `num_records`."""
        self._start(queue)
        return self._common_queue.dequeue_up_to(num_records, name)

    def _start(self, queue):
        enqueues = [self._common_queue.enqueue(reader.read(queue)) for reader in self._readers]
        queue_runner.add_queue_runner(queue_runner.QueueRunner(self._common_queue, enqueues))

    def num_records_produced(self, name=None):
        """How many records all readers have produced."""
        return math_ops.add_n([reader.num_records_produced() for reader in self._readers], name=name)

    def num_work_units_completed(self, name=None):
        """How many files all readers have finished."""
        return math_ops.add_n([reader.num_work_units_completed() for reader in self._readers], name=name)


def parallel_read(data_sources, reader_class, num_epochs=None, num_readers=4, reader_kwargs=None, shuffle=True,
                  dtypes=None, capacity=256, min_after_dequeue=128, seed=None, scope=None):
    """(key, record): the next record of the files, which are read by `num_readers` readers, shuffled if asked."""
    files = get_data_files(data_sources)
    with ops.name_scope(scope, "parallel_read"):
        filenames = tf_input.string_input_producer(files, num_epochs=num_epochs, shuffle=shuffle, seed=seed,
                                                   name="filenames")
        dtypes = dtypes or [tf_dtypes.string, tf_dtypes.string]
        if shuffle:
            common_queue = data_flow_ops.RandomShuffleQueue(
                capacity=capacity, min_after_dequeue=min_after_dequeue, dtypes=dtypes, seed=seed, name="common_queue")
        else:
            common_queue = data_flow_ops.FIFOQueue(capacity=capacity, dtypes=dtypes, name="common_queue")
        summary.scalar("fraction_of_%d_full" % capacity,
                       math_ops.cast(common_queue.size(), tf_dtypes.float32) * (1. / capacity))
        return ParallelReader(reader_class, common_queue, num_readers=num_readers,
                              reader_kwargs=reader_kwargs).read(filenames)


def single_pass_read(data_sources, reader_class, reader_kwargs=None, scope=None):
    """(key, record): the next record of the files, each read once and in order."""
    files = get_data_files(data_sources)
    with ops.name_scope(scope, "single_pass_read"):
        filenames = tf_input.string_input_producer(files, num_epochs=1, shuffle=False, capacity=1, name="filenames")
        return reader_class(**(reader_kwargs or {})).read(filenames)


def get_data_files(data_sources):
    """The files of a name, a pattern, or a list of those. ValueError if there are none."""
    if isinstance(data_sources, (list, tuple)):
        files = [file for source in data_sources for file in get_data_files(source)]
    elif any(mark in data_sources for mark in "*?["):
        files = gfile.Glob(data_sources)
    else:
        files = [data_sources]
    if not files:
        raise ValueError("No data files found in %s" % (data_sources,))
    return files
