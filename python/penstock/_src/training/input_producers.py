"""Queues that give the elements of a tensor, again and again: tf.train.string_input_producer and its kin."""
from penstock._src.graph import context
from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.queues import data_flow_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.random import random_ops
from penstock._src.ops.state import variable_scope as vs
from penstock._src.summary import summary
from penstock._src.training import queue_runner


def require_graph_mode(error=RuntimeError):
    """Raises in eager mode, where nobody runs queues."""
    if context.executing_eagerly():
        raise error("Input pipelines based on Queues are not supported when eager execution is enabled. Please use "
                    "tf.data to ingest data into your model instead.")


def match_filenames_once(pattern, name=None):
    """A local variable with the files that match a pattern, looked up when it is initialized."""
    with ops.name_scope(name, "matching_filenames", [pattern]) as name:
        return vs.variable(name=name, initial_value=gen.matching_files(pattern), trainable=False, validate_shape=False,
                           collections=[ops.GraphKeys.LOCAL_VARIABLES])


def limit_epochs(tensor, num_epochs=None, name=None):
    """The tensor, `num_epochs` times; then OutOfRangeError."""
    if num_epochs is None:
        return tensor
    if num_epochs <= 0:
        raise ValueError("num_epochs must be > 0 not %d." % num_epochs)
    with ops.name_scope(name, "limit_epochs", [tensor]) as name:
        epochs = vs.variable(constant_op.constant(0, dtype=dtypes.int64), name="epochs", trainable=False,
                             collections=[ops.GraphKeys.LOCAL_VARIABLES])
        with ops.control_dependencies([epochs.count_up_to(num_epochs)]):
            return array_ops.identity(tensor, name=name)


def input_producer(input_tensor, element_shape=None, num_epochs=None, shuffle=True, seed=None, capacity=32,
                   shared_name=None, summary_name=None, name=None, cancel_op=None):
    """A queue with the rows of a tensor, shuffled anew for each epoch; its runner is added to the graph."""
    require_graph_mode()
    with ops.name_scope(name, "input_producer", [input_tensor]):
        input_tensor = ops.convert_to_tensor(input_tensor, name="input_tensor")
        element_shape = input_tensor.shape[1:].merge_with(element_shape)
        if not element_shape.is_fully_defined():
            raise ValueError("Either `input_tensor` must have a fully defined shape or `element_shape` must be "
                             "specified")
        if shuffle:
            input_tensor = random_ops.random_shuffle(input_tensor, seed=seed)
        input_tensor = limit_epochs(input_tensor, num_epochs)
        queue = data_flow_ops.FIFOQueue(capacity=capacity, dtypes=[input_tensor.dtype.base_dtype],
                                        shapes=[element_shape], shared_name=shared_name, name=name)
        enqueue = queue.enqueue_many([input_tensor])
        queue_runner.add_queue_runner(queue_runner.QueueRunner(queue, [enqueue], cancel_op=cancel_op))
        if summary_name is not None:
            summary.scalar(summary_name, math_ops.cast(queue.size(), dtypes.float32) * (1. / capacity))
        return queue


def string_input_producer(string_tensor, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None,
                          name=None, cancel_op=None):
    """A queue of strings, such as names of files."""
    message = "string_input_producer requires a non-null input tensor"
    if not isinstance(string_tensor, ops.Tensor) and not string_tensor:
        raise ValueError(message)
    with ops.name_scope(name, "input_producer", [string_tensor]) as name:
        string_tensor = ops.convert_to_tensor(string_tensor, dtype=dtypes.string)
        with ops.control_dependencies([
                control_flow_ops.Assert(gen.greater(array_ops.size(string_tensor), 0), [message])]):
            string_tensor = array_ops.identity(string_tensor)
        return input_producer(
            input_tensor=string_tensor, element_shape=[], num_epochs=num_epochs, shuffle=shuffle, seed=seed,
            capacity=capacity, shared_name=shared_name, name=name, summary_name="fraction_of_%d_full" % capacity,
            cancel_op=cancel_op)


def range_input_producer(limit, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None, name=None):
    """A queue of the numbers below `limit`."""
    with ops.name_scope(name, "input_producer", [limit]) as name:
        return input_producer(math_ops.range(limit), [], num_epochs, shuffle, seed, capacity, shared_name,
                              "fraction_of_%d_full" % capacity, name)


def slice_input_producer(tensor_list, num_epochs=None, shuffle=True, seed=None, capacity=32, shared_name=None,
                         name=None):
    """For each tensor one of its rows; the same row of all."""
    with ops.name_scope(name, "input_producer", tensor_list):
        tensor_list = ops.convert_n_to_tensor_or_indexed_slices(tensor_list)
        if not tensor_list:
            raise ValueError("Expected at least one tensor in slice_input_producer().")
        size = array_ops.shape(tensor_list[0])[0]
        index = range_input_producer(size, num_epochs=num_epochs, shuffle=shuffle, seed=seed, capacity=capacity,
                                     shared_name=shared_name).dequeue()
        return [array_ops.gather(t, index) for t in tensor_list]
