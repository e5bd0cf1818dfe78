"""RaggedTensor: rows of different lengths."""
import functools

import numpy as np

from penstock._src.graph import composite_tensor, constant_op, dispatch, dtypes, fetch_conversions, gen, ops
from penstock._src.graph import sparse_tensor, tensor_shape
from penstock._src.graph import tensor_util
from penstock._src.base import tf2
from penstock._src.gradient.composite_tensor_gradient import WithValuesCompositeTensorGradient
from penstock._src.graph.conversion import executing_eagerly
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.ops.ragged import ragged_checks, ragged_operators
from penstock._src.ops.ragged.ragged_tensor_value import RaggedTensorValue
from penstock._src.base.foreign_names import known_as
from penstock._src.base import hooks

__all__ = ["RaggedTensor", "convert_to_tensor_or_ragged_tensor", "is_ragged", "match_row_splits_dtypes"]


_for_statements = hooks.Hook("autograph.for_statements")


@known_as("tensorflow.python.ops.ragged.ragged_tensor.RaggedTensor")
class RaggedTensor(composite_tensor.CompositeTensor):
    """Values, a tensor or a ragged one, and where each row of them begins. Made by the class methods `from_...`."""

    is_tensor_like = True
    __composite_gradient__ = WithValuesCompositeTensorGradient()

    def __init__(self, values, row_splits, cached_row_lengths=None, cached_value_rowids=None, cached_nrows=None,
                 internal=False, uniform_row_length=None):
        if not internal:
            raise ValueError("RaggedTensor constructor is private; please use one of the factory methods instead "
                             "(e.g., RaggedTensor.from_row_lengths())")
        if not isinstance(row_splits, ops.Tensor):
            raise TypeError(f"Row-partitioning argument must be a Tensor, got {row_splits!r}")
        if not isinstance(values, (RaggedTensor, ops.Tensor)):
            raise TypeError(f"values must be a Tensor or RaggedTensor, got {values!r}")
        if row_splits.dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError("Row-partitioning argument must be int32 or int64")
        row_splits.shape.assert_has_rank(1)
        for cached in (cached_row_lengths, cached_value_rowids, cached_nrows):
            if cached is not None and not isinstance(cached, ops.Tensor):
                raise TypeError("Cached value must be a Tensor or None.")
        values.shape.with_rank_at_least(1)
        if isinstance(values, RaggedTensor) and values.row_splits.dtype != row_splits.dtype:
            raise ValueError("row_splits and values.row_splits must have the same dtype")
        self._values = values
        self._row_splits = row_splits
        self._cached_row_lengths = cached_row_lengths
        self._cached_value_rowids = cached_value_rowids
        self._cached_nrows = cached_nrows
        self._uniform_row_length = uniform_row_length

    @property
    def _type_spec(self):
        from penstock._src.ops.ragged.ragged_tensor_spec import RaggedTensorSpec
        return RaggedTensorSpec.from_value(self)

    def _shape_invariant_to_type_spec(self, shape):
        from penstock._src.ops.ragged.ragged_tensor_spec import RaggedTensorSpec
        return RaggedTensorSpec(shape, self.dtype, self.ragged_rank, self.row_splits.dtype)

    # --- made of values and a partition of them into rows

    @classmethod
    def from_value_rowids(cls, values, value_rowids, nrows=None, name=None, validate=True):
        """From the number of the row that each value belongs to."""
        ragged_checks.require_bool(validate)
        with ops.name_scope(name, "RaggedFromValueRowIds", [values, value_rowids, nrows]):
            values, value_rowids = cls._convert(values, value_rowids, "value_rowids")
            known = tensor_util.constant_value(value_rowids)
            known_rows = None
            if nrows is None:
                if known is None:
                    nrows = array_ops.concat([value_rowids[-1:], constant_op.constant([-1], value_rowids.dtype)],
                                             axis=0)[0] + 1
                else:
                    known_rows = int(known[-1]) + 1 if known.size else 0
                    nrows = ops.convert_to_tensor(known_rows, value_rowids.dtype, name="nrows")
            else:
                nrows = ops.convert_to_tensor(nrows, value_rowids.dtype, "nrows")
                known_rows = tensor_util.constant_value(nrows)
                ragged_checks.require_enough_rows(known_rows, known)
            value_rowids.shape.assert_has_rank(1)
            nrows.shape.assert_has_rank(0)
            values.shape[:1].assert_is_compatible_with(value_rowids.shape)
            if validate:
                value_rowids = ragged_checks.checked_rowids(values, value_rowids, nrows)
            rows32 = math_ops.cast(nrows, dtypes.int32)
            lengths = math_ops.bincount(math_ops.cast(value_rowids, dtypes.int32), minlength=rows32, maxlength=rows32,
                                        dtype=value_rowids.dtype)
            splits = ragged_checks.splits_of(lengths)
            if known_rows is not None:
                lengths.set_shape([int(known_rows)])
                splits.set_shape([int(known_rows) + 1])
            return cls(values, splits, cached_row_lengths=lengths, cached_value_rowids=value_rowids, cached_nrows=nrows,
                       internal=True)

    @classmethod
    def from_row_splits(cls, values, row_splits, name=None, validate=True):
        """From the beginnings of the rows and the end of the last."""
        ragged_checks.require_bool(validate)
        if isinstance(row_splits, (list, tuple)) and not row_splits:
            raise ValueError("row_splits tensor may not be empty.")
        with ops.name_scope(name, "RaggedFromRowSplits", [values, row_splits]):
            values, row_splits = cls._convert(values, row_splits, "row_splits")
            row_splits.shape.assert_has_rank(1)
            if validate:
                row_splits = ragged_checks.checked_splits(values, row_splits)
            return cls(values, row_splits, internal=True)

    @classmethod
    def from_row_lengths(cls, values, row_lengths, name=None, validate=True):
        """From the rows' lengths."""
        ragged_checks.require_bool(validate)
        with ops.name_scope(name, "RaggedFromRowLengths", [values, row_lengths]):
            values, row_lengths = cls._convert(values, row_lengths, "row_lengths")
            row_lengths.shape.assert_has_rank(1)
            if validate:
                row_lengths = ragged_checks.checked_lengths(values, row_lengths)
            return cls(values, ragged_checks.splits_of(row_lengths), cached_row_lengths=row_lengths, internal=True)

    @classmethod
    def from_row_starts(cls, values, row_starts, name=None, validate=True):
        """From the beginnings of the rows."""
        ragged_checks.require_bool(validate)
        with ops.name_scope(name, "RaggedFromRowStarts", [values, row_starts]):
            values, row_starts = cls._convert(values, row_starts, "row_starts")
            row_starts.shape.assert_has_rank(1)
            count = ragged_checks.nrows_of(values, row_starts.dtype)
            if validate:
                row_starts = ragged_checks.checked_starts(values, row_starts, count)
            return cls(values, array_ops.concat([row_starts, [count]], axis=0), internal=True)

    @classmethod
    def from_row_limits(cls, values, row_limits, name=None, validate=True):
        """From the ends of the rows."""
        ragged_checks.require_bool(validate)
        with ops.name_scope(name, "RaggedFromRowLimits", [values, row_limits]):
            values, row_limits = cls._convert(values, row_limits, "row_limits")
            row_limits.shape.assert_has_rank(1)
            if validate:
                row_limits = ragged_checks.checked_limits(values, row_limits)
            return cls(values, array_ops.concat([array_ops.zeros([1], row_limits.dtype), row_limits], axis=0),
                       internal=True)

    @classmethod
    def from_uniform_row_length(cls, values, uniform_row_length, nrows=None, validate=True, name=None):
        """From rows that are all as long. `nrows` is needed only where that length is 0."""
        ragged_checks.require_bool(validate)
        with ops.name_scope(name, "RaggedFromUniformRowLength", [values, uniform_row_length, nrows]):
            values, length = cls._convert(values, uniform_row_length, "uniform_row_length")
            length.shape.assert_has_rank(0)
            count = ragged_checks.nrows_of(values, length.dtype)
            known = tensor_util.constant_value(length)
            if known is not None and known < 0:
                raise ValueError(f"Expected uniform_row_length >= 0; got {known}")
            if nrows is None:
                if known == 0 and tensor_shape.dimension_value(values.shape[0]) != 0:
                    raise ValueError("nrows must be specified if uniform_row_length==0")
                nrows = array_ops.where_v2(math_ops.equal(length, 0), array_ops.zeros_like(count),
                                           count // gen.maximum(length, 1))
            nrows = ops.convert_to_tensor(nrows, length.dtype, name="nrows")
            splits = math_ops.range(nrows + 1) * length
            if validate:
                splits = ragged_checks.checked_uniform(splits, nrows * length, count)
            return cls(values, splits, cached_nrows=nrows, internal=True, uniform_row_length=length)

    @classmethod
    def _from_nested(cls, make, what, flat_values, nested, name, scope, validate):
        ragged_checks.require_bool(validate)
        if isinstance(nested, ops.Tensor):
            raise TypeError(f"{what} must be a list of Tensors")
        with ops.name_scope(name, scope, [flat_values] + list(nested)):
            result = flat_values
            for partition in reversed(list(nested)):
                result = make(result, partition, validate=validate)
            return result

    @classmethod
    def from_nested_row_splits(cls, flat_values, nested_row_splits, name=None, validate=True):
        """From the splits of all ragged dimensions, the outermost first."""
        return cls._from_nested(cls.from_row_splits, "nested_row_splits", flat_values, nested_row_splits, name,
                                "RaggedFromNestedRowSplits", validate)

    @classmethod
    def from_nested_row_lengths(cls, flat_values, nested_row_lengths, name=None, validate=True):
        """From the lengths of all ragged dimensions' rows."""
        return cls._from_nested(cls.from_row_lengths, "nested_row_lengths", flat_values, nested_row_lengths, name,
                                "RaggedFromNestedRowlengths", validate)

    @classmethod
    def from_nested_value_rowids(cls, flat_values, nested_value_rowids, nested_nrows=None, name=None, validate=True):
        """From the rows' numbers of all ragged dimensions."""
        ragged_checks.require_bool(validate)
        if isinstance(nested_value_rowids, ops.Tensor):
            raise TypeError("nested_value_rowids must be a list of Tensors")
        if isinstance(nested_nrows, ops.Tensor):
            raise TypeError("nested_nrows must be a list of Tensors")
        counts = [None] * len(nested_value_rowids) if nested_nrows is None else list(nested_nrows)
        if len(counts) != len(nested_value_rowids):
            raise ValueError("nested_nrows must have the same length as nested_value_rowids")
        with ops.name_scope(name, "RaggedFromNestedValueRowIds", [flat_values] + list(nested_value_rowids) + counts):
            result = flat_values
            for rowids, nrows in reversed(list(zip(nested_value_rowids, counts))):
                result = cls.from_value_rowids(result, rowids, nrows, validate=validate)
            return result

    @classmethod
    def _convert(cls, values, partition, name):
        """Values and partition as tensors; the partition is int32 or int64."""
        if is_ragged(values):
            values = convert_to_tensor_or_ragged_tensor(values)
            if not isinstance(partition, ops.Tensor):
                partition = ops.convert_to_tensor(partition, values.row_splits.dtype, name=name)
            if partition.dtype not in (dtypes.int32, dtypes.int64):
                raise ValueError(f"{name} must have dtype int32 or int64")
            if values.row_splits.dtype != partition.dtype:
                raise ValueError(f"dtype mismatch: {name} ({partition.dtype}) vs values.row_splits "
                                 f"({values.row_splits.dtype})")
            return values, partition
        values = ops.convert_to_tensor(values, name="values")
        if isinstance(partition, np.ndarray) and partition.dtype == np.int32:
            partition = ops.convert_to_tensor(partition, name=name)
        else:
            partition = ops.convert_to_tensor(partition, preferred_dtype=dtypes.int64, name=name)
        if partition.dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError(f"{name} must have dtype int32 or int64")
        return values, partition

    # --- what it is made of

    @property
    def dtype(self):
        """The type of the values."""
        return self._values.dtype

    @property
    def shape(self):
        """The shape as far as it is known; ragged dimensions are None."""
        rows = tensor_shape.dimension_value(tensor_shape.dimension_at_index(self._row_splits.shape, 0) - 1)
        length = self._uniform_row_length
        length = None if length is None else tensor_util.constant_value(length)
        return tensor_shape.TensorShape([rows, length]).concatenate(self._values.shape[1:])

    def get_shape(self):
        """The shape."""
        return self.shape

    def _set_shape(self, shape):
        """Takes over what `shape` says more. ValueError if it cannot be the shape of this one."""
        shape = tensor_shape.as_shape(shape)
        if shape.ndims is None:
            return
        if shape.ndims <= self.ragged_rank:
            raise ValueError(f"Shape {shape} must have rank greater than {self.ragged_rank}")
        rows, length, *inner = shape.as_list()
        self._row_splits.set_shape([None if rows is None else rows + 1])
        if length is not None:
            known = tensor_shape.dimension_value(self.shape[1])
            if known not in (None, length):
                raise ValueError(f"Inconsistent size for axis 1: {length} vs {known}.")
            if self._uniform_row_length is None:
                self._uniform_row_length = constant_op.constant(length, self._row_splits.dtype)
        of_values = [None if None in (rows, length) else rows * length, *inner]
        if isinstance(self._values, RaggedTensor):
            self._values._set_shape(of_values)
        else:
            self._values.set_shape(of_values)

    @property
    def ragged_rank(self):
        """The number of ragged dimensions."""
        return 1 + (self._values.ragged_rank if isinstance(self._values, RaggedTensor) else 0)

    @property
    def values(self):
        """The rows, one behind the other."""
        return self._values

    @property
    def row_splits(self):
        """Where each row begins, and the end of the last."""
        return self._row_splits

    @property
    def flat_values(self):
        """The innermost values."""
        return self._values.flat_values if isinstance(self._values, RaggedTensor) else self._values

    @property
    def nested_row_splits(self):
        """The splits of all ragged dimensions."""
        return (self._row_splits,) + (self._values.nested_row_splits if isinstance(self._values, RaggedTensor) else ())

    @property
    def uniform_row_length(self):
        """The length of all rows if the tensor was made so, else None."""
        return self._uniform_row_length

    def value_rowids(self, name=None):
        """The number of the row that each value belongs to."""
        if self._cached_value_rowids is not None:
            return self._cached_value_rowids
        with ops.name_scope(name, "RaggedValueRowIds", [self]):
            return ragged_checks.rowids_of(self._row_splits)

    def nested_value_rowids(self, name=None):
        """The rows' numbers of all ragged dimensions."""
        with ops.name_scope(name, "RaggedNestedValueRowIds", [self]):
            inner = self._values.nested_value_rowids() if isinstance(self._values, RaggedTensor) else ()
            return (self.value_rowids(),) + inner

    def __ag_for_stmt__(self, extra_test, body, get_state, set_state, symbol_names, opts):
        """The loop that `for row in ragged` becomes in converted code."""
        control_flow = _for_statements.get()
        if self.row_splits._is_eager:
            control_flow.python_for(self, extra_test, body)
            return
        control_flow.rows_for(self.nrows(dtypes.int32), self.__getitem__, extra_test, body, get_state, set_state,
                              symbol_names, opts)

    def nrows(self, out_type=None, name=None):
        """The number of rows."""
        out_type = self._row_splits.dtype if out_type is None else dtypes.as_dtype(out_type)
        if self._cached_nrows is not None:
            return math_ops.cast(self._cached_nrows, out_type)
        with ops.name_scope(name, "RaggedNRows", [self]):
            return array_ops.shape(self._row_splits, out_type=out_type)[0] - 1

    def row_starts(self, name=None):
        """Where each row begins."""
        with ops.name_scope(name, "RaggedRowStarts", [self]):
            return self._row_splits[:-1]

    def row_limits(self, name=None):
        """Where each row ends."""
        with ops.name_scope(name, "RaggedRowLimits", [self]):
            return self._row_splits[1:]

    def row_lengths(self, axis=1, name=None):
        """The lengths of the rows along an axis."""
        if axis == 1 and self._cached_row_lengths is not None:
            return self._cached_row_lengths
        with ops.name_scope(name, "RaggedRowLengths", [self]):
            if axis < 0:
                if self.shape.ndims is None:
                    raise ValueError("axis may only be negative if ndims is statically known.")
                axis += self.shape.ndims
            if axis == 0:
                return self.nrows()
            if axis == 1:
                return self._row_splits[1:] - self._row_splits[:-1]
            if isinstance(self._values, RaggedTensor):
                return self.with_values(self._values.row_lengths(axis - 1))
            shape = array_ops.shape(self._values, out_type=self._row_splits.dtype)
            return self.with_values(array_ops.ones(shape[:axis - 1], self._row_splits.dtype) * shape[axis - 1])

    def nested_row_lengths(self, name=None):
        """The lengths of all ragged dimensions' rows."""
        with ops.name_scope(name, "RaggedNestedRowLengths", [self]):
            inner = self._values.nested_row_lengths() if isinstance(self._values, RaggedTensor) else ()
            return (self.row_lengths(),) + inner

    def bounding_shape(self, axis=None, name=None, out_type=None):
        """The shape of the smallest dense tensor that has room for it."""
        out_type = self._row_splits.dtype if out_type is None else dtypes.as_dtype(out_type)
        with ops.name_scope(name, "RaggedBoundingBox", [self, axis]):
            longest = [math_ops.cast(gen.maximum(math_ops.reduce_max(s[1:] - s[:-1]), 0), out_type)
                       for s in self.nested_row_splits]
            rows = array_ops.shape(self._row_splits, out_type=out_type)[0] - 1
            inner = array_ops.shape(self.flat_values, out_type=out_type)[1:]
            box = array_ops.concat([array_ops.stack([rows] + longest), inner], axis=0)
            return box if axis is None else array_ops.gather(box, axis)

    @property
    def _row_partition(self):
        """The division of the values into rows, as a RowPartition."""
        from penstock._src.ops.ragged.row_partition import RowPartition
        return RowPartition._of_ragged(self)

    @property
    def _nested_row_partitions(self):
        """The RowPartitions of all ragged dimensions, the outermost first."""
        inner = self._values._nested_row_partitions if isinstance(self._values, RaggedTensor) else []
        return [self._row_partition, *inner]

    @classmethod
    def _from_row_partition(cls, values, row_partition, validate=True):
        """Values divided into the rows of a RowPartition."""
        ragged_checks.require_bool(validate)
        values, _ = cls._convert(values, row_partition.row_splits(), "row_partition")
        if validate:
            return cls.from_row_splits(values, row_partition.row_splits())
        return row_partition._applied(values)

    # --- changed

    def with_values(self, new_values):
        """The same rows of other values."""
        new_values = convert_to_tensor_or_ragged_tensor(new_values)
        new_values.shape.with_rank_at_least(1)
        self._values.shape[:1].assert_is_compatible_with(new_values.shape[:1])
        if isinstance(new_values, RaggedTensor) and self._row_splits.dtype != new_values.row_splits.dtype:
            raise ValueError("self and new_values have mismatched row_splits dtypes; use "
                             "RaggedTensor.with_row_splits_dtype() to convert them to compatible dtypes.")
        return RaggedTensor(new_values, self._row_splits, self._cached_row_lengths, self._cached_value_rowids,
                            self._cached_nrows, internal=True, uniform_row_length=self._uniform_row_length)

    def merge_dims(self, outer_axis, inner_axis):
        """The dimensions from one axis to another as one. ValueError: outer_axis behind inner_axis, or out of range."""
        ndims = self.shape.ndims
        outer = ragged_checks.get_positive_axis(outer_axis, ndims, "outer_axis")
        inner = ragged_checks.get_positive_axis(inner_axis, ndims, "inner_axis")
        if outer > inner:
            raise ValueError(f"Expected outer_axis ({outer_axis}) to be less than or equal to inner_axis "
                             f"({inner_axis})")
        with ops.name_scope(None, "RaggedMergeDims", [self]):
            return _merged(self, outer, inner)

    def with_flat_values(self, new_values):
        """The same rows of other innermost values."""
        if isinstance(self._values, RaggedTensor):
            return self.with_values(self._values.with_flat_values(new_values))
        return self.with_values(new_values)

    def with_row_splits_dtype(self, dtype):
        """The same with splits of a type."""
        dtype = dtypes.as_dtype(dtype)
        if dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError("dtype must be int32 or int64")
        if self._row_splits.dtype == dtype:
            return self
        values = self._values.with_row_splits_dtype(dtype) if isinstance(self._values, RaggedTensor) else self._values
        cached = [None if c is None else math_ops.cast(c, dtype)
                  for c in (self._cached_row_lengths, self._cached_value_rowids, self._cached_nrows)]
        return RaggedTensor(values, math_ops.cast(self._row_splits, dtype), *cached, internal=True)

    # --- to and from dense and sparse tensors

    @classmethod
    def from_tensor(cls, tensor, lengths=None, padding=None, ragged_rank=1, name=None, row_splits_dtype=dtypes.int64):
        """The rows of a dense tensor: whole, the first `lengths` of each, or without `padding` at the end."""
        dtype = dtypes.as_dtype(row_splits_dtype)
        if lengths is not None and padding is not None:
            raise ValueError("Specify argument `lengths` or `padding`, but not both.")
        if not isinstance(ragged_rank, int):
            raise TypeError(f"Argument `ragged_rank` must be an int. Received {ragged_rank}.")
        if ragged_rank <= 0:
            raise ValueError(f"Argument `ragged_rank` must be greater than 0. Received {ragged_rank}.")
        with ops.name_scope(name, "RaggedFromTensor", [tensor, lengths, padding]):
            tensor = ops.convert_to_tensor(tensor, name="tensor")
            tensor.shape.with_rank_at_least(ragged_rank + 1)
            shape = array_ops.shape(tensor, out_type=dtype)
            columns = shape[1]
            if ragged_rank > 1:
                rows = functools.reduce(lambda n, axis: n * shape[axis], range(1, ragged_rank), shape[0])
                flat = array_ops.reshape(tensor, array_ops.concat([[rows], shape[ragged_rank:]], axis=0))
                values = cls.from_tensor(flat, lengths, padding, row_splits_dtype=dtype)
                sizes = math_ops.cumprod(shape)
                splits = [math_ops.range(0, sizes[d - 1] + 1) * shape[d] for d in range(1, ragged_rank)]
                result = inner = cls.from_nested_row_splits(values, splits, validate=False)
                for axis in range(1, ragged_rank):
                    inner._take_length(tensor.shape[axis], shape[axis])
                    inner = inner.values
                return result
            if padding is not None:
                lengths = cls._lengths_without(tensor, padding, columns, dtype)
            if lengths is not None:
                nested = isinstance(lengths, (list, tuple)) and lengths and not isinstance(lengths[0], (int, float))
                if nested:
                    tensor.shape.with_rank_at_least(len(lengths) + 1)
                    ones = array_ops.ones([math_ops.reduce_sum(lengths[-1])], dtype=dtypes.bool)
                    mask = cls.from_nested_row_lengths(ones, lengths, validate=False).to_tensor(default_value=False)
                    return cls.from_nested_row_lengths(array_ops.boolean_mask(tensor, mask), lengths, validate=False)
                lengths = math_ops.cast(ops.convert_to_tensor(lengths, name="lengths"), dtype)
                lengths.shape.assert_has_rank(1)
                lengths = gen.maximum(gen.minimum(lengths, columns), 0)
                splits = array_ops.concat([array_ops.zeros([1], dtype), math_ops.cumsum(lengths)], axis=0)
                mask = array_ops.sequence_mask(lengths, maxlen=columns)
                return cls.from_row_splits(array_ops.boolean_mask(tensor, mask), splits, validate=False)
            count = shape[0] * columns
            splits = math_ops.range(shape[0] + 1) * columns
            values = array_ops.reshape(tensor, array_ops.concat([[count], shape[2:]], axis=0))
            result = cls.from_row_splits(values, splits, validate=False)
            result._take_length(tensor.shape[1], columns)
            return result

    def _take_length(self, known, length):
        """Remembers that all rows are of one length, which version 1 forgets."""
        if tf2.enabled():
            known = tensor_shape.dimension_value(known)
            self._uniform_row_length = length if known is None else constant_op.constant(known, self._row_splits.dtype)

    @staticmethod
    def _lengths_without(tensor, padding, columns, dtype):
        """Each row's length up to the last element that is not padding."""
        padding = ops.convert_to_tensor(padding, name="padding", dtype=tensor.dtype)
        padding.shape.assert_is_compatible_with(tensor.shape[2:])
        same = math_ops.equal(padding, tensor)
        is_padding = math_ops.reduce_all(same, axis=math_ops.range(2, array_ops.rank(tensor)))
        is_padding.set_shape(tensor.shape[:2])
        kept = math_ops.cast(gen.logical_not(is_padding), dtype)
        places = array_ops.expand_dims(math_ops.range(1, columns + 1), 0)
        return gen.maximum(math_ops.reduce_max(kept * places, axis=1), 0)

    def to_tensor(self, default_value=None, name=None, shape=None):
        """A dense tensor, filled up with a default."""
        with ops.name_scope(name, "RaggedToTensor", [self, default_value]):
            if default_value is not None:
                default_value = ops.convert_to_tensor(default_value, name="default_value", dtype=self.dtype)
            else:
                default_value = array_ops.zeros((), self.dtype)
            wanted = constant_op.constant(-1, self._row_splits.dtype)
            if isinstance(shape, ops.Tensor):
                wanted = math_ops.cast(shape, self._row_splits.dtype)
            elif isinstance(shape, (list, tuple)) and any(isinstance(size, ops.Tensor) for size in shape):
                wanted = math_ops.cast(array_ops.stack([-1 if size is None else size for size in shape]),
                                       self._row_splits.dtype)
            elif shape is not None:
                wanted = tensor_shape.as_shape(shape).as_list()
                wanted = constant_op.constant([-1 if d is None else d for d in wanted], self._row_splits.dtype)
            partitions = self.nested_row_splits
            return gen.ragged_tensor_to_tensor(shape=wanted, values=self.flat_values, default_value=default_value,
                                               row_partition_types=["ROW_SPLITS"] * len(partitions),
                                               row_partition_tensors=partitions)

    @classmethod
    def from_sparse(cls, st_input, name=None, row_splits_dtype=dtypes.int64):
        """The rows of a sparse matrix, which must begin at column 0 and have no gaps."""
        dtype = dtypes.as_dtype(row_splits_dtype)
        if not sparse_tensor.is_sparse(st_input):
            raise TypeError(f"Expected SparseTensor, got {type(st_input).__name__}")
        with ops.name_scope(name, "RaggedFromSparse", [st_input]):
            st = sparse_tensor.convert_to_tensor_or_sparse_tensor(st_input, name="st_input")
            ranks = (tensor_shape.dimension_value(st.dense_shape.shape.with_rank(1)[0]),
                     tensor_shape.dimension_value(st.indices.shape.with_rank(2)[1]))
            if 2 not in ranks:
                raise ValueError("rank(st_input) must be 2")
            with ops.control_dependencies([ragged_checks.assert_without_gaps(st.indices)]):
                rowids = math_ops.cast(st.indices[:, 0], dtype)
                return cls.from_value_rowids(st.values, rowids, math_ops.cast(st.dense_shape[0], dtype), validate=False)

    def to_sparse(self, name=None):
        """A sparse tensor."""
        with ops.name_scope(name, "RaggedToSparse", [self]):
            indices, values, shape = gen.ragged_tensor_to_sparse(self.nested_row_splits, self.flat_values, name=name)
            return sparse_tensor.SparseTensor(indices, values, shape)

    def _to_variant(self, batched_input=False, name=None):
        """As a scalar variant, or as a vector of variants, one for each row."""
        with ops.name_scope(name, "RaggedToVariant", [self, batched_input]):
            return gen.ragged_tensor_to_variant(self.nested_row_splits, self.flat_values, batched_input, name=name)

    @classmethod
    def _from_variant(cls, variant, dtype, output_ragged_rank, input_ragged_rank=None, row_splits_dtype=dtypes.int64,
                      name=None):
        """What `_to_variant` gave, or a stack of that: input_ragged_rank is that of one variant."""
        variant = ops.convert_to_tensor(variant, name="variant", dtype=dtypes.variant)
        if variant.shape.ndims is not None and input_ragged_rank is not None and \
                output_ragged_rank != input_ragged_rank + variant.shape.ndims:
            raise ValueError("output_ragged_rank must be equal to input_ragged_rank + variant.shape.ndims; "
                             f"output_ragged_rank: {output_ragged_rank}, variant.shape.ndims: {variant.shape.ndims}, "
                             f"input_ragged_rank: {input_ragged_rank}")
        with ops.name_scope(name, "RaggedFromVariant", [variant]):
            splits, values = gen.ragged_tensor_from_variant(
                variant, -1 if input_ragged_rank is None else input_ragged_rank, output_ragged_rank, dtype,
                row_splits_dtype, name=name)
            return cls.from_nested_row_splits(values, splits, validate=False)

    # --- values

    def _is_eager(self):
        return executing_eagerly() and hasattr(self._row_splits, "numpy")

    def numpy(self):
        """The value in an eager program: an array of rows, or a plain array if all rows are as long."""
        if not self._is_eager():
            raise ValueError("RaggedTensor.numpy() is only supported in eager mode.")
        values = self._values.numpy()
        rows = np.split(values, self._row_splits.numpy())[1:-1]
        if not rows:
            return np.zeros((0, 0) + values.shape[1:], dtype=values.dtype)
        if len({len(row) for row in rows}) == 1:
            return np.stack(rows)
        result = np.empty(len(rows), dtype=object)
        result[:] = rows
        return result

    def _value(self):
        value = self.flat_values.numpy()
        for splits in reversed(self.nested_row_splits):
            value = RaggedTensorValue(value, splits.numpy())
        return value

    def to_list(self):
        """Nested lists, in an eager program."""
        if not self._is_eager():
            raise ValueError("RaggedTensor.to_list() is only supported in eager mode; in graph mode, evaluate the "
                             "RaggedTensor first and then use RaggedTensorValue.to_list().")
        return self._value().to_list()

    def eval(self, feed_dict=None, session=None):
        """The value in the default session."""
        return (session or ops.get_default_session()).run(self, feed_dict)

    def __repr__(self):
        if self._is_eager():
            with np.printoptions(formatter={"all": _text}):
                return f"<tf.RaggedTensor {_text(self.numpy())}>"
        return f"tf.RaggedTensor(values={self._values}, row_splits={self._row_splits})"

    def __getitem__(self, key):
        if not isinstance(self, RaggedTensor):
            return dispatch.of_borrowed("__operators__.ragged_getitem", self, key)
        from penstock._src.ops.ragged import ragged_getitem
        return ragged_getitem.ragged_tensor_getitem(self, key)

    @property
    def op(self):
        """The operation that makes the values."""
        return self.flat_values.op

    @property
    def graph(self):
        """The graph of the values."""
        return self.flat_values.graph

    def consumers(self):
        """The operations that use one of the parts."""
        return [c for t in self._components() for c in t.consumers()]

    def _components(self):
        return [self.flat_values] + list(self.nested_row_splits)


ragged_operators.overload(RaggedTensor)


def _text(value):
    """A value as NumPy prints it, with commas."""
    if not isinstance(value, np.ndarray):
        return str(value)
    return np.array2string(value, separator=", ") if value.size else repr(value.tolist())


def _merged(value, outer, inner):
    if outer == inner:
        return value
    if outer > 1 and isinstance(value, RaggedTensor):
        return value.with_values(_merged(value.values, outer - 1, inner - 1))
    if not isinstance(value, RaggedTensor):
        shape = array_ops.shape(value)
        return array_ops.reshape(value, array_ops.concat([shape[:outer], [-1], shape[inner + 1:]], axis=0))
    splits, rows = (None, value) if outer == 0 else (value.row_splits, value.values)
    for _ in range(inner - outer):
        if isinstance(rows, RaggedTensor):
            splits = None if splits is None else array_ops.gather(rows.row_splits, splits)
            rows = rows.values
        else:
            splits = None if splits is None else splits * array_ops.shape(rows, out_type=splits.dtype)[1]
            rows = _merged(rows, 0, 1)
    return rows if splits is None else RaggedTensor.from_row_splits(rows, splits, validate=False)


def is_ragged(value):
    """Whether it is a ragged tensor or the value of one."""
    return isinstance(value, (RaggedTensor, RaggedTensorValue))


def match_row_splits_dtypes(*tensors, return_dtype=False):
    """The tensors, of which the ragged ones must have splits of one type; and that type, if it is asked for."""
    found = {t.row_splits.dtype for t in tensors if isinstance(t, RaggedTensor)}
    if len(found) > 1:
        raise ValueError("Input RaggedTensors have mismatched row_splits dtypes; use "
                         "RaggedTensor.with_row_splits_dtype() to convert them to compatible dtypes.")
    return (found.pop() if found else dtypes.int64, tensors) if return_dtype else tensors


def convert_to_tensor_or_ragged_tensor(value, dtype=None, preferred_dtype=None, name=None):
    """A tensor, unless it is ragged."""
    if isinstance(value, RaggedTensor):
        if dtype and not dtype.is_compatible_with(value.dtype):
            raise ValueError(f"Tensor conversion requested dtype {dtype.name} for RaggedTensor with dtype "
                             f"{value.dtype.name}: {value!r}")
        return value
    if isinstance(value, RaggedTensorValue):
        with ops.name_scope(name, "ConvertToTensorOrRaggedTensor", []):
            flat = ops.convert_to_tensor(value.flat_values, dtype=dtype, preferred_dtype=preferred_dtype,
                                         name="flat_values")
            return RaggedTensor.from_nested_row_splits(flat, value.nested_row_splits, validate=False)
    return ops.convert_to_tensor(value, dtype=dtype, preferred_dtype=preferred_dtype, name=name)


def _parts(ragged):
    return list(ragged.nested_row_splits) + [ragged.flat_values]


def _value(parts):
    parts = list(parts)
    value = parts.pop()
    while parts:
        value = RaggedTensorValue(value, parts.pop())
    return value


dispatch.register("ragged", hooks.Hook("ragged.dispatch"))
fetch_conversions.register_session_run_conversion_functions(
    RaggedTensor, lambda ragged: (_parts(ragged), _value),
    lambda ragged, value: list(zip(_parts(ragged), _parts(value))), _parts)
