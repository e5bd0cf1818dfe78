"""Tensors made ahead of their use."""
from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.ops.queues import data_flow_ops
from penstock._src.core_ops import math_ops
from penstock._src.summary import summary
from penstock._src.training import queue_runner


def prefetch_queue(tensors, capacity=8, num_threads=1, dynamic_pad=False, shared_name=None, name=None):
    """A queue, of a list or a dict of tensors, that `num_threads` threads keep filled; padding if the shapes vary."""
    names = sorted(tensors) if isinstance(tensors, dict) else None
    values = tensors if names is None else [tensors[key] for key in names]
    with ops.name_scope(name, "prefetch_queue", values):
        queue_class = data_flow_ops.PaddingFIFOQueue if dynamic_pad else data_flow_ops.FIFOQueue
        queue = queue_class(capacity=capacity, dtypes=[value.dtype for value in values],
                            shapes=[value.get_shape() for value in values], names=names, shared_name=shared_name)
        queue_runner.add_queue_runner(queue_runner.QueueRunner(queue, [queue.enqueue(tensors)] * num_threads))
        summary.scalar("fraction_of_%d_full" % capacity,
                       math_ops.cast(queue.size(), dtypes.float32) * (1. / capacity))
        return queue
