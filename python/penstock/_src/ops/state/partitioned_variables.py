"""Partitioners: functions (shape, dtype) -> number of slices for each axis, for get_variable and variable_scope."""
import math

from penstock._src.graph import dtypes
from penstock._src.graph import tensor_shape
from penstock._src.ops.state import variable_scope


def _element_size(dtype, bytes_per_string):
    return bytes_per_string if dtype.base_dtype == dtypes.string else dtype.size


def variable_axis_size_partitioner(max_shard_bytes, axis=0, bytes_per_string_element=16, max_shards=None):
    """Slices along `axis` so that none is larger than `max_shard_bytes` (or one row, if that is larger)."""
    if max_shard_bytes < 1 or bytes_per_string_element < 1:
        raise ValueError("Both max_shard_bytes and bytes_per_string_element must be positive.")
    if max_shards and max_shards < 1:
        raise ValueError("max_shards must be positive.")

    def _partitioner(shape, dtype):
        if not isinstance(shape, tensor_shape.TensorShape):
            raise ValueError("shape is not a TensorShape: %s" % shape)
        if not shape.is_fully_defined():
            raise ValueError("shape is not fully defined: %s" % shape)
        if not isinstance(dtype, dtypes.DType):
            raise ValueError("dtype is not a DType: %s" % dtype)
        length = shape.dims[axis].value
        row_bytes = 1.0 * (shape.num_elements() / length) * _element_size(dtype, bytes_per_string_element)
        rows = max(1, math.floor(max_shard_bytes / row_bytes))
        shards = int(math.ceil(1.0 * length / rows))
        partitions = [1] * shape.ndims
        partitions[axis] = min(max_shards, shards) if max_shards else shards
        return partitions

    return _partitioner


def min_max_variable_partitioner(max_partitions=1, axis=0, min_slice_size=256 << 10, bytes_per_string_element=16):
    """At most `max_partitions` slices along `axis`, fewer if they would be smaller than `min_slice_size` bytes."""

    def _partitioner(shape, dtype):
        if axis >= len(shape):
            raise ValueError("Can not partition variable along axis %d when shape is only %s" % (axis, shape))
        slices = shape.num_elements() * _element_size(dtype, bytes_per_string_element) / min_slice_size
        partitions = [1] * len(shape)
        partitions[axis] = max(1, min(shape.dims[axis].value, max_partitions, int(math.ceil(slices))))
        return partitions

    return _partitioner


def fixed_size_partitioner(num_shards, axis=0):
    """`num_shards` slices along `axis`."""

    def _partitioner(shape, **unused_args):
        partitions = [1] * len(shape)
        partitions[axis] = min(num_shards, shape.dims[axis].value)
        return partitions

    return _partitioner


def create_partitioned_variables(shape, slicing, initializer, dtype=dtypes.float32, trainable=True, collections=None,
                                 name=None, reuse=None):
    """The variables that `slicing` cuts a variable of `shape` into, as a list. get_variable's partitioner is newer."""
    if len(shape) != len(slicing):
        raise ValueError("The 'shape' and 'slicing' of a partitioned Variable must have the length: shape: %s, "
                         "slicing: %s" % (shape, slicing))
    if len(shape) < 1:
        raise ValueError("A partitioned Variable must have rank at least 1: shape: %s" % shape)
    with variable_scope.variable_scope(name, "PartitionedVariable", reuse=reuse):
        return list(variable_scope._get_partitioned_variable(
            name=None, shape=shape, dtype=dtype, initializer=initializer, trainable=trainable,
            partitioner=lambda **unused: slicing, collections=collections))
