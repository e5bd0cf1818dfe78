"""DynamicRaggedShape: the shape of a ragged tensor, with the partition of each ragged dimension into rows."""
import numpy as np

from penstock._src.graph import composite_tensor, dtypes, gen, ops, tensor_shape, tensor_util
from penstock._src.graph import type_spec_registry
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.graph.type_spec import TypeSpec
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import check_ops, control_flow_ops
from penstock._src.ops.ragged import ragged_functional_ops
from penstock._src.ops.ragged.ragged_tensor import convert_to_tensor_or_ragged_tensor, is_ragged
from penstock._src.ops.ragged.row_partition import RowPartition, RowPartitionSpec

__all__ = ["DynamicRaggedShape"]


@type_spec_registry.register("tf.DynamicRaggedShape.Spec")
class _Spec(TypeSpec):
    """Of DynamicRaggedShape: the specs of its row partitions, its inner shape as far as it is known, and its type."""

    __slots__ = ("_row_partitions", "_static_inner_shape", "_dtype")

    def __init__(self, row_partitions, static_inner_shape, dtype):
        self._row_partitions = tuple(row_partitions)
        self._static_inner_shape = tensor_shape.as_shape(static_inner_shape)
        self._dtype = dtypes.as_dtype(dtype)

    value_type = property(lambda self: DynamicRaggedShape, doc="DynamicRaggedShape.")
    row_partitions = property(lambda self: self._row_partitions, doc="The specs of the row partitions.")
    static_inner_shape = property(lambda self: self._static_inner_shape, doc="What is known of the inner shape.")
    dtype = property(lambda self: self._dtype, doc="The type of the row partitions and of the inner shape.")
    num_row_partitions = property(lambda self: len(self._row_partitions), doc="The number of row partitions.")
    inner_rank = property(lambda self: self._static_inner_shape.rank, doc="The rank of the inner shape, or None.")

    @property
    def rank(self):
        """The number of dimensions, or None."""
        return None if self.inner_rank is None else self.num_row_partitions + self.inner_rank

    def _serialize(self):
        return self._row_partitions, self._static_inner_shape, self._dtype

    @property
    def _component_specs(self):
        return [*self._row_partitions, TensorSpec([self.inner_rank], self._dtype)]

    def _to_components(self, value):
        return [*value.row_partitions, value.inner_shape]

    def _from_components(self, components):
        *partitions, inner_shape = components
        return DynamicRaggedShape(partitions, inner_shape, self._dtype, static_inner_shape=self._static_inner_shape)

    def __repr__(self):
        return (f"DynamicRaggedShape.Spec(row_partitions={self._row_partitions!r}, "
                f"static_inner_shape={self._static_inner_shape!r}, dtype={self._dtype!r})")


class DynamicRaggedShape(composite_tensor.CompositeTensor):
    """The row partitions of the outer dimensions, and the shape of what is partitioned.

    The first dimension is the number of rows of the first partition, the next ones the lengths of the rows of each
    partition, the last ones those of `inner_shape` behind its first. Without partitions all are those of `inner_shape`.
    """

    Spec = _Spec

    def __init__(self, row_partitions, inner_shape, dtype=None, validate=False, static_inner_shape=None):
        if not isinstance(row_partitions, (list, tuple)) or \
                not all(isinstance(p, RowPartition) for p in row_partitions):
            raise TypeError(f"row_partitions should be a list of RowPartitions; got {row_partitions!r}")
        if dtype is None:
            kinds = {p.dtype for p in row_partitions}
            if isinstance(inner_shape, (ops.Tensor, np.ndarray)):
                kinds.add(dtypes.as_dtype(inner_shape.dtype))
            if len(kinds) > 1:
                raise ValueError("row_partitions and inner_shape have different dtypes: give the `dtype` that they "
                                 "shall have")
            dtype = kinds.pop() if kinds else dtypes.int64
        dtype = dtypes.as_dtype(dtype)
        if dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError("dtype must be int32 or int64")
        if isinstance(inner_shape, tensor_shape.TensorShape):
            inner_shape = inner_shape.as_list()
        if isinstance(inner_shape, ops.Tensor):
            inner_shape = math_ops.cast(inner_shape, dtype)
        self._inner_shape = ops.convert_to_tensor(inner_shape, dtype, name="inner_shape")
        self._inner_shape.shape.assert_has_rank(1)
        self._row_partitions = tuple(p.with_dtype(dtype) for p in row_partitions)
        self._static_inner_shape = tensor_util.constant_value_as_shape(self._inner_shape)
        if static_inner_shape is not None:
            self._static_inner_shape = self._static_inner_shape.merge_with(static_inner_shape)
        if row_partitions and self.inner_rank == 0:
            raise ValueError("inner_shape must have a dimension for the values of the last row partition")
        if validate:
            self._inner_shape = control_flow_ops.with_dependencies(self._checks(), self._inner_shape)

    def _checks(self):
        following = [p.nrows() for p in self._row_partitions[1:]] + [self._inner_shape[0]] * bool(self._row_partitions)
        return [check_ops.assert_equal(p.nvals(), count, message="RowPartitions in DynamicRaggedShape do not align.")
                for p, count in zip(self._row_partitions, following)]

    @classmethod
    def from_lengths(cls, lengths, num_row_partitions=None, dtype=dtypes.int64):
        """From the lengths of all dimensions: an int for a uniform one, a list with the length of each row for a ragged
        one. `num_row_partitions`: how many of the dimensions behind the first have a row partition; as few as possible
        if left out. ValueError for lengths that do not fit, or too few partitions."""
        if not isinstance(lengths, (list, tuple)):
            raise ValueError("lengths should be a list")
        ragged = [i for i, length in enumerate(lengths) if not isinstance(length, (int, np.integer))]
        least = ragged[-1] if ragged else 0
        if lengths and 0 in ragged:
            raise ValueError("The first of lengths must be an int")
        count = least if num_row_partitions is None else num_row_partitions
        if not isinstance(count, int):
            raise ValueError("num_row_partitions should be an int or None")
        if not least <= count < max(len(lengths), 1):
            raise ValueError(f"num_row_partitions={count} should be from {least} to {len(lengths) - 1}")
        if not lengths:
            return cls([], [], dtype)
        total, partitions = lengths[0], []
        for length in lengths[1:count + 1]:
            if isinstance(length, (int, np.integer)):
                partitions.append(RowPartition.from_uniform_row_length(length, nrows=total, dtype=dtype))
                total *= length
            else:
                if len(length) != total:
                    raise ValueError("Shape not consistent.")
                partitions.append(RowPartition.from_row_lengths(length, dtype=dtype))
                total = sum(length)
        return cls(partitions, [total, *lengths[count + 1:]], dtype)

    @classmethod
    def from_row_partitions(cls, row_partitions, dtype=None):
        """Of a ragged tensor whose innermost values are scalars. ValueError without a partition."""
        if not row_partitions:
            raise ValueError("row_partitions cannot be empty")
        last = row_partitions[-1]
        return cls(row_partitions, array_ops.expand_dims(last.nvals(), 0), dtype,
                   static_inner_shape=[last.static_nvals])

    @classmethod
    def from_tensor(cls, t, dtype=None):
        """Of a tensor, ragged or not."""
        if isinstance(t, DynamicRaggedShape):
            raise TypeError("DynamicRaggedShape.from_tensor takes a tensor, no shape")
        t = convert_to_tensor_or_ragged_tensor(t)
        if not is_ragged(t):
            return cls([], array_ops.shape(t, out_type=dtype or dtypes.int32), dtype, static_inner_shape=t.shape)
        dtype = dtypes.as_dtype(dtype or t.row_splits.dtype)
        flat = t.flat_values
        return cls(t._nested_row_partitions, array_ops.shape(flat, out_type=dtype), dtype,
                   static_inner_shape=flat.shape)

    @property
    def _type_spec(self):
        return _Spec([RowPartitionSpec.from_value(p) for p in self._row_partitions], self._static_inner_shape,
                     self.dtype)

    @property
    def dtype(self):
        """The type of the row partitions and of the inner shape."""
        return self._inner_shape.dtype

    @property
    def row_partitions(self):
        """The row partitions, the outermost first."""
        return self._row_partitions

    @property
    def num_row_partitions(self):
        """The number of row partitions."""
        return len(self._row_partitions)

    @property
    def inner_shape(self):
        """The shape of what is partitioned, a vector."""
        return self._inner_shape

    @property
    def inner_rank(self):
        """The rank of what is partitioned, None if it is not known."""
        return self._static_inner_shape.rank

    @property
    def rank(self):
        """The number of dimensions, None if it is not known."""
        return None if self.inner_rank is None else self.num_row_partitions + self.inner_rank

    def static_lengths(self, ragged_lengths=True):
        """The lengths of all dimensions as far as they are known, else None: ints, for ragged dimensions tuples (None
        unless `ragged_lengths`). An unknown rank ends it with `...`."""
        lengths = []
        for i, partition in enumerate(self._row_partitions):
            if i == 0:
                lengths.append(_as_int(partition.static_nrows))
            known = None
            if partition.is_uniform():
                known = _as_int(partition.static_uniform_row_length)
            elif ragged_lengths:
                known = tensor_util.constant_value(partition.row_lengths())
                known = None if known is None else tuple(known.tolist())
            lengths.append(known)
        if self.inner_rank is None:
            return lengths + [...]
        return lengths + self._static_inner_shape.as_list()[1 if lengths else 0:]

    def is_uniform(self, axis):
        """Whether all rows of a dimension are made to be of one length. IndexError for an axis out of range."""
        if not isinstance(axis, int):
            raise TypeError("axis must be an integer")
        if axis < 0 or self.rank is not None and axis >= self.rank:
            raise IndexError(f"Expected axis={axis} to be from 0 to {self.rank} (the rank)")
        return not 1 <= axis <= self.num_row_partitions or self._row_partitions[axis - 1].is_uniform()

    def with_dtype(self, dtype):
        """The same with tensors of a type, int32 or int64."""
        dtype = dtypes.as_dtype(dtype)
        if dtype == self.dtype:
            return self
        return DynamicRaggedShape([p.with_dtype(dtype) for p in self._row_partitions],
                                  math_ops.cast(self._inner_shape, dtype), dtype,
                                  static_inner_shape=self._static_inner_shape)

    def __getitem__(self, index):
        """The length of a uniform dimension, a scalar; or the shape of several dimensions: of the first ones, or of
        uniform ones. ValueError for ragged dimensions; IndexError for what is no index of a dimension."""
        if isinstance(index, slice):
            return self._slice(index)
        if not isinstance(index, int):
            raise TypeError("index is not an int or a slice")
        rank = self.rank
        if index < 0 and rank is None:
            raise ValueError("Rank must be known to use __getitem__ with a negative index.")
        if rank is not None and not -rank <= index < rank:
            raise IndexError(f"Index {index} is out of range for a shape of rank {rank}")
        index = index + rank if index < 0 else index
        if index == 0 and self._row_partitions:
            return self._row_partitions[0].nrows()
        if not self.is_uniform(index):
            raise ValueError(f"Index {index} is not uniform")
        if 1 <= index <= self.num_row_partitions:
            return self._row_partitions[index - 1].uniform_row_length()
        return self._inner_shape[index - self.num_row_partitions]

    def _slice(self, index):
        if index.step not in (None, 1):
            raise IndexError("Cannot stride through a shape")
        if self.rank is None:
            raise ValueError("Rank must be known to slice a shape")
        start, stop, _ = index.indices(self.rank)
        count = self.num_row_partitions
        if start == 0 and stop > count:
            return DynamicRaggedShape(self._row_partitions, self._inner_shape[:stop - count], self.dtype)
        if start == 0 and stop > 1:
            return DynamicRaggedShape.from_row_partitions(self._row_partitions[:stop - 1], self.dtype)
        if not all(self.is_uniform(i) for i in range(start, stop)):
            raise ValueError("All relevant dimensions must be uniform")
        lengths = [self[i] for i in range(start, stop)]
        return DynamicRaggedShape([], array_ops.stack(lengths) if lengths else [], self.dtype)

    def _num_elements(self):
        return math_ops.reduce_prod(self._inner_shape)

    def _applied(self, flat_values):
        """The ragged tensor of `flat_values`, which have the inner shape."""
        for partition in reversed(self._row_partitions):
            flat_values = partition._applied(flat_values)
        return flat_values

    def __repr__(self):
        lengths = ", ".join("..." if length is ... else repr(length) for length in self.static_lengths())
        return f"<DynamicRaggedShape lengths=[{lengths}] num_row_partitions={self.num_row_partitions}>"


def _as_int(value):
    return None if value is None else int(value)


def _as_ragged_shape(shape, dtype=None):
    if isinstance(shape, DynamicRaggedShape):
        return shape if dtype is None else shape.with_dtype(dtype)
    return DynamicRaggedShape([], shape, dtype)


# What public functions do where a shape is a ragged one, or is asked of a ragged tensor.


def shape(input, name=None, out_type=dtypes.int32):
    """The shape of a ragged tensor."""
    with ops.name_scope(name, "RaggedShape", [input]):
        return DynamicRaggedShape.from_tensor(input, out_type or dtypes.int32)


def shape_v2(input, out_type=dtypes.int32, name=None):
    """The shape of a ragged tensor."""
    return shape(input, name, out_type)


def reshape(tensor, shape, name=None):
    """The innermost values of a tensor, ragged or not, in another shape, ragged or not."""
    with ops.name_scope(name, "RaggedReshape", [tensor]):
        flat = ragged_functional_ops.flat(convert_to_tensor_or_ragged_tensor(tensor))
        if isinstance(shape, DynamicRaggedShape):
            return shape._applied(array_ops.reshape(flat, shape.inner_shape))
        return array_ops.reshape(flat, shape)


def fill(dims, value, name=None, layout=None):
    """A ragged tensor of one value."""
    return dims._applied(array_ops.fill(dims.inner_shape, value, name=name))


def zeros(shape, dtype=dtypes.float32, name=None, layout=None):
    """A ragged tensor of zeros."""
    return shape._applied(array_ops.zeros(shape.inner_shape, dtype, name=name))


def ones(shape, dtype=dtypes.float32, name=None, layout=None):
    """A ragged tensor of ones."""
    return shape._applied(array_ops.ones(shape.inner_shape, dtype, name=name))


def broadcast_to(input, shape, name=None):
    """A tensor, ragged or not, stretched to a shape, ragged or not. InvalidArgumentError if it does not fit."""
    with ops.name_scope(name, "RaggedBroadcastTo", [input]):
        shape = _as_ragged_shape(shape)
        input = convert_to_tensor_or_ragged_tensor(input)
        if not shape.row_partitions and not is_ragged(input):
            return gen.broadcast_to(input, shape.inner_shape)
        if is_ragged(input):
            shape = shape.with_dtype(input.row_splits.dtype)
        result, _ = ragged_functional_ops.stretch(input, fill(shape, False))
        return shape._applied(gen.broadcast_to(ragged_functional_ops.flat(result), shape.inner_shape))


def broadcast_dynamic_shape(shape_x, shape_y):
    """The shape to which both shapes, ragged or not, are stretched together."""
    dtype = next(x.dtype for x in (shape_x, shape_y) if isinstance(x, DynamicRaggedShape))
    x, y = _as_ragged_shape(shape_x, dtype), _as_ragged_shape(shape_y, dtype)
    if not x.row_partitions and not y.row_partitions:
        return DynamicRaggedShape([], array_ops.broadcast_dynamic_shape(x.inner_shape, y.inner_shape), dtype)
    x, y = ragged_functional_ops.stretch(fill(x, False), fill(y, False))
    flat = gen.logical_or(ragged_functional_ops.flat(x), ragged_functional_ops.flat(y))
    return DynamicRaggedShape.from_tensor(x.with_flat_values(flat), dtype)
