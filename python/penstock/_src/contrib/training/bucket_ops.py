"""Batches of elements that are alike: each goes into one of several queues, and full ones are handed on."""
import numpy as np

from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.graph import errors
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.control_flow import smart_cond
from penstock._src.graph import tensor_shape
from penstock._src.graph import tensor_util
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import cond as cond_lib
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.queues import data_flow_ops
from penstock._src.core_ops import math_ops
from penstock._src.summary import summary
from penstock._src.training import input as input_py
from penstock._src.training import queue_runner


def _runner(queue, enqueue_ops, closed):
    """A QueueRunner that closes the queues `closed` when it ends."""
    return queue_runner.QueueRunner(
        queue, enqueue_ops, close_op=control_flow_ops.group(*[q.close() for q in closed]),
        cancel_op=control_flow_ops.group(*[q.close(cancel_pending_enqueues=True) for q in closed]),
        queue_closed_exception_types=(errors.OutOfRangeError, errors.CancelledError))


def bucket(tensors, which_bucket, batch_size, num_buckets, num_threads=1, capacity=32, bucket_capacities=None,
           shapes=None, dynamic_pad=False, allow_smaller_final_batch=False, keep_input=True, shared_name=None,
           name=None):
    """(bucket, batch): the next full batch of elements that went into the same of `num_buckets` buckets.

    `batch_size` may be a list, a size for each bucket. ValueError for lists of another length and without tensors.
    """
    sizes = list(batch_size) if isinstance(batch_size, (list, tuple)) else None
    if sizes is not None and len(sizes) != num_buckets:
        raise ValueError("If batch_size is a list it must have num_buckets elements")
    capacities = [capacity] * num_buckets if bucket_capacities is None else bucket_capacities
    if len(capacities) != num_buckets:
        raise ValueError("The list bucket_capacities (%s) must have exactly num_buckets (%d) elements." %
                         (capacities, num_buckets))
    values = input_py._as_tensor_list(tensors)
    with ops.name_scope(name, "bucket", values):
        values = input_py._validate(values)
        keep_input = input_py._validate_keep_input(keep_input, enqueue_many=False)
        in_all = [ops.convert_to_tensor(size, dtype=dtypes.int32, name="batch_size")
                  for size in (sizes or [batch_size] * num_buckets)]
        known = [tensor_util.constant_value(size) for size in in_all]
        types = input_py._dtypes([values])
        shapes = input_py._shapes([values], shapes, enqueue_many=False)
        which_bucket = ops.convert_to_tensor(which_bucket, dtype=dtypes.int32, name="which_bucket")
        queue_class = data_flow_ops.PaddingFIFOQueue if dynamic_pad else data_flow_ops.FIFOQueue
        queues = [queue_class(capacity=capacities[i], dtypes=types, shapes=shapes,
                              shared_name=None if shared_name is None else "%s_%d" % (shared_name, i),
                              name="bucket_queue_%d" % i) for i in range(num_buckets)]
        size = None if allow_smaller_final_batch or sizes is not None else known[0]
        of_batches = [tensor_shape.TensorShape([size]).concatenate(shape) for shape in queues[0].shapes]
        top = data_flow_ops.PaddingFIFOQueue(capacity=capacity, dtypes=[dtypes.int32] + types,
                                             shapes=[tensor_shape.TensorShape([])] + of_batches,
                                             shared_name=shared_name, name="top_queue")

        def enqueue():
            return control_flow_ops.group(
                *[cond_lib.cond(math_ops.equal(which_bucket, i), lambda q=q: q.enqueue(values),
                                control_flow_ops.no_op) for i, q in enumerate(queues)],
                name="group_enqueues")

        def full(i):
            dequeue = queues[i].dequeue_up_to if allow_smaller_final_batch else queues[i].dequeue_many
            batch = dequeue(in_all[i] if known[i] is None else known[i], name="read_bucket_%d" % i)
            return [constant_op.constant(i)] + (list(batch) if isinstance(batch, (list, tuple)) else [batch])

        maybe_enqueue = smart_cond.smart_cond(keep_input, enqueue, control_flow_ops.no_op)
        to_top = [top.enqueue(full(i), name="enqueue_from_bucket_%d" % i) for i in range(num_buckets)]
        queue_runner.add_queue_runner(_runner(queues[0], to_top, [top]))
        queue_runner.add_queue_runner(_runner(top, [maybe_enqueue] * num_threads, queues))
        for q in queues:
            summary.scalar("bucket/%s/size" % q.name, math_ops.cast(top.size(), dtypes.float32))
        summary.scalar("bucket/%s/fraction_of_%d_full" % (top.name, capacity),
                       math_ops.cast(top.size(), dtypes.float32) * (1. / capacity))
        which, *batch = top.dequeue(name="dequeue_top")
        return which, input_py._as_original_type(tensors, batch[0] if len(batch) == 1 else batch)


def bucket_by_sequence_length(input_length, tensors, batch_size, bucket_boundaries, num_threads=1, capacity=32,
                              bucket_capacities=None, shapes=None, dynamic_pad=False, allow_smaller_final_batch=False,
                              keep_input=True, shared_name=None, name=None):
    """(lengths, batch): the next batch of sequences whose lengths lie between the same two boundaries.

    ValueError unless the boundaries grow, TypeError unless they are a list of integers.
    """
    if not isinstance(bucket_boundaries, (list, tuple)):
        raise TypeError("bucket_boundaries must be a list or tuple, but received: %s" % (bucket_boundaries,))
    if not bucket_boundaries:
        raise ValueError("bucket_boundaries must not be empty")
    for before, after in zip(bucket_boundaries, bucket_boundaries[1:]):
        if not isinstance(before, int) or not isinstance(after, int):
            raise TypeError("bucket boundaries must be integers, but saw: %s and %s" % (before, after))
        if before >= after:
            raise ValueError("Buckets must contain sequential increasing lengths, but saw: %d before %d" %
                             (before, after))
    values = input_py._as_tensor_list(tensors)
    with ops.name_scope(name, "bucket_by_sequence_length", [input_length] + list(values)):
        input_length = ops.convert_to_tensor(input_length, dtype=dtypes.int32, name="input_length")
        least = [np.iinfo(np.int32).min] + list(bucket_boundaries)
        most = list(bucket_boundaries) + [np.iinfo(np.int32).max]
        inside = gen.logical_and(gen.less_equal(least, input_length), gen.less(input_length, most))
        which = math_ops.cast(math_ops.reduce_min(array_ops.where(inside)), dtypes.int32)
        _, batch = bucket(
            tensors=[input_length] + list(values), which_bucket=which, batch_size=batch_size,
            num_buckets=len(bucket_boundaries) + 1, num_threads=num_threads, capacity=capacity,
            bucket_capacities=bucket_capacities,
            shapes=None if shapes is None else [tensor_shape.TensorShape([])] + list(shapes), dynamic_pad=dynamic_pad,
            allow_smaller_final_batch=allow_smaller_final_batch, keep_input=keep_input, shared_name=shared_name)
        lengths, *rest = batch
        return lengths, input_py._as_original_type(tensors, rest)
