"""Batches of examples through queues: tf.train.batch, tf.train.shuffle_batch and their kin."""
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.control_flow import smart_cond
from penstock._src.graph import tensor_shape
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.queues import data_flow_ops
from penstock._src.core_ops import math_ops
from penstock._src.summary import summary
from penstock._src.training import input_sparse
from penstock._src.training import queue_runner
from penstock._src.training.input_producers import (  # noqa: F401
    input_producer, limit_epochs, match_filenames_once, range_input_producer, require_graph_mode, slice_input_producer,
    string_input_producer)


def _flatten(lists):
    return [tensor for tensors in lists for tensor in tensors]


def _as_tensor_list(tensors):
    return [tensors[k] for k in sorted(tensors, key=str)] if isinstance(tensors, dict) else tensors


def _as_tensor_list_list(tensors_list):
    if not tensors_list:
        raise ValueError("Expected at least one set of tensors")
    if isinstance(tensors_list[0], dict) and any(set(t) != set(tensors_list[0]) for t in tensors_list[1:]):
        raise ValueError("All dictionaries in tensors_list must have the same keys")
    return [_as_tensor_list(tensors) for tensors in tensors_list]


def _as_original_type(original, tensors):
    """A dictionary if one was given."""
    if not isinstance(original, dict):
        return tensors
    if len(original) == 1:
        tensors = [tensors]
    return dict(zip(sorted(original, key=str), tensors))


def _validate(tensors):
    tensors = ops.convert_n_to_tensor_or_indexed_slices(tensors)
    if not tensors:
        raise ValueError("Expected at least one tensor in batch().")
    return tensors


def _validate_join(lists):
    lists = [ops.convert_n_to_tensor_or_indexed_slices(tensors) for tensors in lists]
    if not lists:
        raise ValueError("Expected at least one input in batch_join().")
    return lists


def _validate_keep_input(keep_input, enqueue_many):
    keep_input = ops.convert_to_tensor(keep_input)
    if keep_input.shape.ndims is None:
        raise ValueError("`keep_input` dimensions must be known at graph construction.")
    if not enqueue_many and keep_input.shape.ndims == 1:
        raise ValueError("`keep_input` cannot be a vector when `enqueue_many=False`.")
    if keep_input.shape.ndims > 1:
        raise ValueError("`keep_input` must be 0 or 1 dimensions.")
    return keep_input


def _dtypes(lists):
    types = [t.dtype for t in lists[0]]
    for tensors in lists[1:]:
        other = [t.dtype for t in tensors]
        if other != types:
            raise TypeError("Expected types to be consistent: %s vs. %s." %
                            (", ".join(x.name for x in types), ", ".join(x.name for x in other)))
    return types


def _merge_shapes(shapes, enqueue_many):
    shapes = [tensor_shape.as_shape(s) for s in shapes]
    if enqueue_many:
        shapes = [s.with_rank_at_least(1)[1:] for s in shapes]
    merged = shapes[0]
    for shape in shapes[1:]:
        merged.merge_with(shape)  # checked; what is unknown in the first stays so
    return merged.as_list()


def _shapes(lists, shapes, enqueue_many):
    if shapes is not None:
        return shapes
    for tensors in lists:
        for tensor in tensors:
            if tensor.shape.ndims is None:
                raise ValueError("Cannot infer Tensor's rank: %s" % tensor)
    return [_merge_shapes([t.shape.as_list() for t in same], enqueue_many) for same in zip(*lists)]


def _kept(tensors, keep_input):
    """The rows for which `keep_input` is true."""
    which = math_ops.cast(keep_input, dtypes.int32)
    return [gen.dynamic_partition(x, which, num_partitions=2)[1] for x in tensors]


def _enqueue_op(queue, tensors, enqueue_many, keep_input):
    enqueue = queue.enqueue_many if enqueue_many else queue.enqueue
    if keep_input.shape.ndims == 1:
        return enqueue(_kept(tensors, keep_input))
    return smart_cond.smart_cond(keep_input, lambda: enqueue(tensors), control_flow_ops.no_op)


def _run(queue, enqueue_ops):
    queue_runner.add_queue_runner(queue_runner.QueueRunner(queue, enqueue_ops))


def _fill_summary(queue, capacity, min_after_dequeue=None):
    if min_after_dequeue is None:
        full = math_ops.cast(queue.size(), dtypes.float32) * (1. / capacity)
        summary.scalar("fraction_of_%d_full" % capacity, full)
        return
    room = capacity - min_after_dequeue
    full = math_ops.cast(gen.maximum(0, queue.size() - min_after_dequeue), dtypes.float32) * (1. / room)
    summary.scalar("fraction_over_%d_of_%d_full" % (min_after_dequeue, room), full)


def _dequeue(queue, batch_size, allow_smaller_final_batch, name):
    dequeue = queue.dequeue_up_to if allow_smaller_final_batch else queue.dequeue_many
    return dequeue(batch_size, name=name)


def _batch(tensors, batch_size, keep_input, make_queue, default_name, num_threads, capacity, enqueue_many, shapes,
           allow_smaller_final_batch, name, min_after_dequeue=None):
    """Batches of what one set of tensors gives."""
    require_graph_mode(ValueError)
    tensor_list = _as_tensor_list(tensors)
    with ops.name_scope(name, default_name, list(tensor_list) + [keep_input]) as name:
        _check_capacity(capacity, min_after_dequeue)
        tensor_list = _validate(tensor_list)
        keep_input = _validate_keep_input(keep_input, enqueue_many)
        tensor_list, infos = input_sparse.store_sparse_tensors(tensor_list, enqueue_many, keep_input)
        queue = make_queue(_dtypes([tensor_list]), _shapes([tensor_list], shapes, enqueue_many))
        _run(queue, [_enqueue_op(queue, tensor_list, enqueue_many, keep_input)] * num_threads)
        _fill_summary(queue, capacity, min_after_dequeue)
        dequeued = _dequeue(queue, batch_size, allow_smaller_final_batch, name)
        return _as_original_type(tensors, input_sparse.restore_sparse_tensors(dequeued, infos))


def _batch_join(tensors_list, batch_size, keep_input, make_queue, default_name, capacity, enqueue_many, shapes,
                allow_smaller_final_batch, name, min_after_dequeue=None):
    """Batches of what several sets of tensors give, a thread for each."""
    require_graph_mode(ValueError)
    lists = _as_tensor_list_list(tensors_list)
    with ops.name_scope(name, default_name, _flatten(lists) + [keep_input]) as name:
        lists = _validate_join(lists)
        keep_input = _validate_keep_input(keep_input, enqueue_many)
        lists, infos = input_sparse.store_sparse_tensors_join(lists, enqueue_many, keep_input)
        queue = make_queue(_dtypes(lists), _shapes(lists, shapes, enqueue_many))
        _run(queue, [_enqueue_op(queue, tensors, enqueue_many, keep_input) for tensors in lists])
        _fill_summary(queue, capacity, min_after_dequeue)
        dequeued = _dequeue(queue, batch_size, allow_smaller_final_batch, name)
        return _as_original_type(tensors_list[0], input_sparse.restore_sparse_tensors(dequeued, infos))


def _check_capacity(capacity, min_after_dequeue):
    if min_after_dequeue is not None and capacity <= min_after_dequeue:
        raise ValueError("capacity %d must be bigger than min_after_dequeue %d." % (capacity, min_after_dequeue))


def _in_order(capacity, dynamic_pad, shared_name):
    kind = data_flow_ops.PaddingFIFOQueue if dynamic_pad else data_flow_ops.FIFOQueue
    return lambda types, shapes: kind(capacity=capacity, dtypes=types, shapes=shapes, shared_name=shared_name)


def _shuffled(capacity, min_after_dequeue, seed, shared_name):
    return lambda types, shapes: data_flow_ops.RandomShuffleQueue(
        capacity=capacity, min_after_dequeue=min_after_dequeue, seed=seed, dtypes=types, shapes=shapes,
        shared_name=shared_name)


def batch(tensors, batch_size, num_threads=1, capacity=32, enqueue_many=False, shapes=None, dynamic_pad=False,
          allow_smaller_final_batch=False, shared_name=None, name=None):
    """Batches of `tensors` in order. `enqueue_many`: these are batches already; `dynamic_pad`: shapes may differ."""
    return maybe_batch(tensors, True, batch_size, num_threads, capacity, enqueue_many, shapes, dynamic_pad,
                       allow_smaller_final_batch, shared_name, name)


def maybe_batch(tensors, keep_input, batch_size, num_threads=1, capacity=32, enqueue_many=False, shapes=None,
                dynamic_pad=False, allow_smaller_final_batch=False, shared_name=None, name=None):
    """The same of those examples for which `keep_input` is true."""
    return _batch(tensors, batch_size, keep_input, _in_order(capacity, dynamic_pad, shared_name), "batch", num_threads,
                  capacity, enqueue_many, shapes, allow_smaller_final_batch, name)


def batch_join(tensors_list, batch_size, capacity=32, enqueue_many=False, shapes=None, dynamic_pad=False,
               allow_smaller_final_batch=False, shared_name=None, name=None):
    """Batches of what several sets of tensors give, a thread for each set."""
    return maybe_batch_join(tensors_list, True, batch_size, capacity, enqueue_many, shapes, dynamic_pad,
                            allow_smaller_final_batch, shared_name, name)


def maybe_batch_join(tensors_list, keep_input, batch_size, capacity=32, enqueue_many=False, shapes=None,
                     dynamic_pad=False, allow_smaller_final_batch=False, shared_name=None, name=None):
    """The same of those examples for which `keep_input` is true."""
    return _batch_join(tensors_list, batch_size, keep_input, _in_order(capacity, dynamic_pad, shared_name),
                       "batch_join", capacity, enqueue_many, shapes, allow_smaller_final_batch, name)


def shuffle_batch(tensors, batch_size, capacity, min_after_dequeue, num_threads=1, seed=None, enqueue_many=False,
                  shapes=None, allow_smaller_final_batch=False, shared_name=None, name=None):
    """Batches of `tensors` in random order, out of at least `min_after_dequeue` examples."""
    return maybe_shuffle_batch(tensors, batch_size, capacity, min_after_dequeue, True, num_threads, seed, enqueue_many,
                               shapes, allow_smaller_final_batch, shared_name, name)


def maybe_shuffle_batch(tensors, batch_size, capacity, min_after_dequeue, keep_input, num_threads=1, seed=None,
                        enqueue_many=False, shapes=None, allow_smaller_final_batch=False, shared_name=None, name=None):
    """The same of those examples for which `keep_input` is true."""
    return _batch(tensors, batch_size, keep_input, _shuffled(capacity, min_after_dequeue, seed, shared_name),
                  "shuffle_batch", num_threads, capacity, enqueue_many, shapes, allow_smaller_final_batch, name,
                  min_after_dequeue)


def shuffle_batch_join(tensors_list, batch_size, capacity, min_after_dequeue, seed=None, enqueue_many=False,
                       shapes=None, allow_smaller_final_batch=False, shared_name=None, name=None):
    """Batches in random order of what several sets of tensors give, a thread for each set."""
    return maybe_shuffle_batch_join(tensors_list, batch_size, capacity, min_after_dequeue, True, seed, enqueue_many,
                                    shapes, allow_smaller_final_batch, shared_name, name)


def maybe_shuffle_batch_join(tensors_list, batch_size, capacity, min_after_dequeue, keep_input, seed=None,
                             enqueue_many=False, shapes=None, allow_smaller_final_batch=False, shared_name=None,
                             name=None):
    """The same of those examples for which `keep_input` is true."""
    return _batch_join(tensors_list, batch_size, keep_input,
                       _shuffled(capacity, min_after_dequeue, seed, shared_name), "shuffle_batch_join", capacity,
                       enqueue_many, shapes, allow_smaller_final_batch, name, min_after_dequeue)
