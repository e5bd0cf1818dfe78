"""Queues and barriers; dynamic_partition and dynamic_stitch are made from their definitions."""
import contextlib
import functools
import hashlib
from collections import abc

from penstock._src.graph import dtypes as _dtypes
from penstock._src.graph import defaults, gen, ops, random_seed, tensor_shape, tensor_util
from penstock._src.function import func_graph
from penstock._src.graph.conversion import executing_eagerly
from penstock._src.core_ops import array_ops
from penstock._src.ops.queues.accumulators import *  # noqa: F401, F403
from penstock._src.ops.queues.record_input import RecordInput  # noqa: F401
from penstock._src.ops.queues.staging_area import *  # noqa: F401, F403



def _as_type_list(dtypes):
    return list(dtypes) if isinstance(dtypes, (list, tuple)) else [dtypes]


def _as_shape_list(shapes, unknown_dim_allowed=False):
    """A list of shapes, from one or several; fully defined unless unknown dimensions are allowed."""
    if unknown_dim_allowed and (not isinstance(shapes, abc.Sequence) or not shapes
                                or any(shape is None or isinstance(shape, int) for shape in shapes)):
        raise ValueError("When providing partial shapes, a list of shapes must be provided.")
    if shapes is None:
        return None
    if isinstance(shapes, tensor_shape.TensorShape):
        shapes = [shapes]
    if not isinstance(shapes, (tuple, list)):
        raise TypeError("shapes must be a TensorShape or a list or tuple of TensorShapes.")
    if all(shape is None or isinstance(shape, int) for shape in shapes):
        shapes = [shapes]  # the dimensions of one
    shapes = [tensor_shape.as_shape(shape) for shape in shapes]
    if not unknown_dim_allowed and not all(shape.is_fully_defined() for shape in shapes):
        raise ValueError(f"All shapes must be fully defined: {shapes}")
    if any(shape.ndims is None for shape in shapes):
        raise ValueError(f"All shapes must have a defined rank: {shapes}")
    return shapes


def _as_name_list(names, dtypes):
    if names is None:
        return None
    names = list(names) if isinstance(names, (list, tuple)) else [names]
    if len(names) != len(dtypes):
        raise ValueError("List of names must have the same length as the list of dtypes")
    return names


def _common_shape(a, b):
    """What two shapes have in common."""
    a, b = tensor_shape.as_shape(a), tensor_shape.as_shape(b)
    if a.ndims is None or a.ndims != b.ndims:
        return tensor_shape.unknown_shape()
    return tensor_shape.TensorShape([x if x == y else None for x, y in zip(a.as_list(), b.as_list())])


def _attrs(dtypes, shapes, shared_name, name):
    if executing_eagerly():  # as TensorFlow: such a queue is shared with nobody, and ends with its handle
        shared_name = ""
    return dict(component_types=dtypes, shapes=shapes or [], shared_name=shared_name or "", name=name)


class QueueBase:
    """A queue of tuples of tensors that lives in the session (or, with a shared name, on the device)."""

    def __init__(self, dtypes, shapes, names, queue_ref):
        self._dtypes = dtypes
        if shapes is not None and len(shapes) != len(dtypes):
            raise ValueError("Queue shapes must have the same length as dtypes")
        if names is not None and len(names) != len(dtypes):
            raise ValueError("Queue names must have the same length as dtypes")
        self._shapes = [tensor_shape.unknown_shape() for _ in dtypes] if shapes is None \
            else [tensor_shape.TensorShape(shape) for shape in shapes]
        self._names = names
        self._queue_ref = queue_ref
        self._name = (ops.get_name_scope() or type(self).__name__) if queue_ref._is_eager \
            else queue_ref.op.name.split("/")[-1]

    @staticmethod
    def from_list(index, queues):
        """The queue at a place in a list that is known at run time only."""
        if not queues or not isinstance(queues, list) or not all(isinstance(q, QueueBase) for q in queues):
            raise TypeError("A list of queues expected")
        first = queues[0]
        if any(q.dtypes != first.dtypes for q in queues):
            raise TypeError("Queues do not have matching component dtypes.")
        if any(q.names != first.names for q in queues):
            raise TypeError("Queues do not have matching component names.")
        shapes = [functools.reduce(_common_shape, same) for same in zip(*[q.shapes for q in queues])]
        selected = array_ops.gather(array_ops.stack([q.queue_ref for q in queues]), index)
        return QueueBase(dtypes=first.dtypes, shapes=shapes, names=first.names, queue_ref=selected)

    @property
    def queue_ref(self):
        """The tensor that stands for the queue."""
        return self._queue_ref

    @property
    def name(self):
        """The name of the queue's operation."""
        return self._name if self._queue_ref._is_eager else self._queue_ref.op.name

    @property
    def dtypes(self):
        """The types of the components."""
        return self._dtypes

    @property
    def shapes(self):
        """The shapes of the components."""
        return self._shapes

    @property
    def names(self):
        """The names of the components, or None."""
        return self._names

    def _op(self, name):
        """The made function for this kind of queue (resource or reference)."""
        resource = self._queue_ref.dtype == _dtypes.resource
        return getattr(gen, name + "_v2" if resource else name)

    def _as_tensors(self, vals):
        if isinstance(vals, dict):
            if not self._names:
                raise ValueError("Queue must have names to enqueue a dictionary")
            if sorted(self._names, key=str) != sorted(vals, key=str):
                raise ValueError("Keys in dictionary to enqueue do not match names of Queue.  "
                                 f"Dictionary: ({sorted(vals)}), Queue: ({sorted(self._names)})")
            vals = [vals[name] for name in self._names]
        else:
            if self._names:
                raise ValueError("You must enqueue a dictionary in a Queue with names")
            vals = vals if isinstance(vals, (list, tuple)) else [vals]
        return [ops.convert_to_tensor(value, dtype=dtype, name=f"component_{i}")
                for i, (value, dtype) in enumerate(zip(vals, self._dtypes))]

    @staticmethod
    def _values(vals):
        if isinstance(vals, dict):
            return list(vals.values())
        return vals if isinstance(vals, (list, tuple)) else [vals]

    def enqueue(self, vals, name=None):
        """An operation that adds one element; it waits while the queue is full."""
        with ops.name_scope(name, f"{self._name}_enqueue", self._values(vals)) as scope:
            tensors = self._as_tensors(vals)
            for tensor, shape in zip(tensors, self._shapes):
                tensor.get_shape().assert_is_compatible_with(shape)
            return self._op("queue_enqueue")(self._queue_ref, tensors, name=scope)

    def enqueue_many(self, vals, name=None):
        """An operation that adds each slice along dimension 0 as an element."""
        with ops.name_scope(name, f"{self._name}_EnqueueMany", self._values(vals)) as scope:
            tensors = self._as_tensors(vals)
            count = tensor_shape.Dimension(None)
            for tensor, shape in zip(tensors, self._shapes):
                rows = tensor.get_shape().with_rank_at_least(1)
                count = count.merge_with(tensor_shape.Dimension(tensor_shape.dimension_value(rows[0])))
                rows[1:].assert_is_compatible_with(shape)
            return self._op("queue_enqueue_many")(self._queue_ref, tensors, name=scope)

    def _result(self, outputs, batch=None):
        """Dequeued tensors with their shapes, as the user wants them; `batch`: [size of the batch]."""
        outputs = list(outputs) if isinstance(outputs, (list, tuple)) else [outputs]
        for output, shape in zip(outputs, self._shapes):
            output.set_shape(shape if batch is None else tensor_shape.TensorShape(batch).concatenate(shape))
        if self._names:
            return dict(zip(self._names, outputs))
        return outputs[0] if len(outputs) == 1 else outputs

    def dequeue(self, name=None):
        """Takes one element; waits while the queue is empty, fails with OutOfRangeError if it is closed and empty."""
        outputs = self._op("queue_dequeue")(self._queue_ref, self._dtypes, name=name or f"{self._name}_Dequeue")
        return self._result(outputs)

    def dequeue_many(self, n, name=None):
        """Takes n elements, stacked along a new dimension 0."""
        outputs = self._op("queue_dequeue_many")(self._queue_ref, n, self._dtypes,
                                                 name=name or f"{self._name}_DequeueMany")
        if ops.executing_eagerly():
            return self._result(outputs, [None])
        op = (outputs[0] if isinstance(outputs, (list, tuple)) else outputs).op
        known = tensor_util.constant_value(op.inputs[1])
        return self._result(outputs, [None if known is None else int(known)])

    def dequeue_up_to(self, n, name=None):
        """Takes n elements, or what is left once the queue is closed."""
        outputs = self._op("queue_dequeue_up_to")(self._queue_ref, n, self._dtypes,
                                                  name=name or f"{self._name}_DequeueUpTo")
        return self._result(outputs, [None])

    def close(self, cancel_pending_enqueues=False, name=None):
        """An operation after which nothing more can be added."""
        return self._op("queue_close")(self._queue_ref, cancel_pending_enqueues=cancel_pending_enqueues,
                                       name=name or f"{self._name}_Close")

    def is_closed(self, name=None):
        """Whether the queue is closed."""
        return self._op("queue_is_closed")(self._queue_ref, name=name or f"{self._name}_Is_Closed")

    def size(self, name=None):
        """The number of elements in the queue."""
        return self._op("queue_size")(self._queue_ref, name=name or f"{self._name}_Size")


def _lasting():
    """Where queues are made: outside of a tf.function, whose calls share them."""
    inside = isinstance(defaults.get_default_graph(), func_graph.FuncGraph)
    return ops.init_scope() if inside else contextlib.nullcontext()


class FIFOQueue(QueueBase):
    """First in, first out."""

    def __init__(self, capacity, dtypes, shapes=None, names=None, shared_name=None, name="fifo_queue"):
        dtypes = _as_type_list(dtypes)
        shapes = _as_shape_list(shapes)
        names = _as_name_list(names, dtypes)
        with _lasting():
            ref = gen.fifo_queue_v2(capacity=capacity, **_attrs(dtypes, shapes, shared_name, name))
        super().__init__(dtypes, shapes, names, ref)


class RandomShuffleQueue(QueueBase):
    """Elements come out in random order; at least `min_after_dequeue` stay to choose from."""

    def __init__(self, capacity, min_after_dequeue, dtypes, shapes=None, names=None, seed=None, shared_name=None,
                 name="random_shuffle_queue"):
        dtypes = _as_type_list(dtypes)
        shapes = _as_shape_list(shapes)
        names = _as_name_list(names, dtypes)
        seed1, seed2 = random_seed.get_seed(seed)
        if seed1 is None and seed2 is None:
            seed1, seed2 = 0, 0
        elif seed is None and shared_name is not None:
            # The same seed in every graph that shares the queue.
            text = (str(seed1) + shared_name).encode("utf-8")
            seed2 = int(hashlib.md5(text).hexdigest()[:8], 16) & 0x7FFFFFFF
        with _lasting():
            ref = gen.random_shuffle_queue_v2(capacity=capacity, min_after_dequeue=min_after_dequeue, seed=seed1,
                                              seed2=seed2, **_attrs(dtypes, shapes, shared_name, name))
        super().__init__(dtypes, shapes, names, ref)


class PaddingFIFOQueue(QueueBase):
    """A FIFOQueue whose elements may vary in size; batches are padded with zeros."""

    def __init__(self, capacity, dtypes, shapes, names=None, shared_name=None, name="padding_fifo_queue"):
        dtypes = _as_type_list(dtypes)
        shapes = _as_shape_list(shapes, unknown_dim_allowed=True)
        names = _as_name_list(names, dtypes)
        if len(dtypes) != len(shapes):
            raise ValueError(f"Shapes must be provided for all components, but received {len(dtypes)} dtypes and "
                             f"{len(shapes)} shapes.")
        with _lasting():
            ref = gen.padding_fifo_queue_v2(capacity=capacity, **_attrs(dtypes, shapes, shared_name, name))
        super().__init__(dtypes, shapes, names, ref)


class PriorityQueue(QueueBase):
    """Elements come out in the order of their first component, an int64 priority."""

    def __init__(self, capacity, types, shapes=None, names=None, shared_name=None, name="priority_queue"):
        types = _as_type_list(types)
        shapes = _as_shape_list(shapes)
        with _lasting():
            ref = gen.priority_queue_v2(capacity=capacity, **_attrs(types, shapes, shared_name, name))
        super().__init__([_dtypes.int64] + types, [()] + shapes if shapes else shapes, names, ref)


class Barrier:
    """Tuples whose components come one by one under a key; they leave together when they are complete."""

    def __init__(self, types, shapes=None, shared_name=None, name="barrier"):
        self._types = _as_type_list(types)
        if shapes is None:
            self._shapes = [tensor_shape.unknown_shape() for _ in self._types]
        else:
            self._shapes = [tensor_shape.TensorShape(shape) for shape in _as_shape_list(shapes)]
            for i, shape in enumerate(self._shapes):
                if shape.num_elements() == 0:
                    raise ValueError(f"Empty tensors are not supported, but received shape '{shape}' at index {i}")
        self._barrier_ref = gen.barrier(component_types=self._types, shapes=self._shapes, shared_name=shared_name or "",
                                        name=name)
        self._name = self._barrier_ref.op.name.split("/")[-1]

    @property
    def barrier_ref(self):
        """The tensor that stands for the barrier."""
        return self._barrier_ref

    @property
    def name(self):
        """The name of the barrier's operation."""
        return self._barrier_ref.op.name

    def insert_many(self, component_index, keys, values, name=None):
        """An operation that gives keys their values for one component."""
        return gen.barrier_insert_many(self._barrier_ref, keys, values, component_index,
                                       name=name or f"{self._name}_BarrierInsertMany")

    def take_many(self, num_elements, allow_small_batch=False, timeout=None, name=None):
        """Complete tuples: numbers in the order of insertion, keys, and a list of the components."""
        taken = gen.barrier_take_many(self._barrier_ref, num_elements, self._types, allow_small_batch,
                                      timeout_ms=-1 if timeout is None else timeout,
                                      name=name or f"{self._name}_BarrierTakeMany")
        op = taken[0].op
        count = None if allow_small_batch else tensor_util.constant_value(op.inputs[1])
        batch = tensor_shape.TensorShape([None if count is None else int(count)])
        for output in op.outputs[:2]:
            output.set_shape(batch)
        for output, shape in zip(op.outputs[2:], self._shapes):
            output.set_shape(batch.concatenate(shape))
        return taken

    def close(self, cancel_pending_enqueues=False, name=None):
        """An operation after which no new key can be added."""
        return gen.barrier_close(self._barrier_ref, cancel_pending_enqueues=cancel_pending_enqueues,
                                 name=name or f"{self._name}_BarrierClose")

    def ready_size(self, name=None):
        """The number of complete tuples."""
        return gen.barrier_ready_size(self._barrier_ref, name=name or f"{self._name}_BarrierReadySize")

    def incomplete_size(self, name=None):
        """The number of tuples that are not complete yet."""
        return gen.barrier_incomplete_size(self._barrier_ref, name=name or f"{self._name}_BarrierIncompleteSize")
