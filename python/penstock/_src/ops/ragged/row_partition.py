"""RowPartition: how a sequence of values is divided into rows."""
import numpy as np

from penstock._src.graph import composite_tensor, dtypes, gen, ops, tensor_shape, tensor_util
from penstock._src.graph import type_spec_registry
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.graph.type_spec import TypeSpec
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import check_ops, control_flow_ops
from penstock._src.ops.ragged import ragged_checks

__all__ = ["RowPartition", "RowPartitionSpec"]


class RowPartition(composite_tensor.CompositeTensor):
    """Where each row of some values begins and ends. Made by the class methods `from_...`.

    Each of them checks its argument unless `validate` is false; `dtype` (int32 or int64) is that of all its tensors.
    """

    def __init__(self, row_splits, row_lengths=None, value_rowids=None, nrows=None, uniform_row_length=None, nvals=None,
                 internal=False):
        if not internal:
            raise ValueError("RowPartition constructor is private; please use one of the factory methods instead "
                             "(e.g., RowPartition.from_row_lengths())")
        self._row_splits = row_splits
        self._row_lengths = row_lengths
        self._value_rowids = value_rowids
        self._nrows = nrows
        self._uniform_row_length = uniform_row_length
        self._nvals = nvals

    @classmethod
    def from_value_rowids(cls, value_rowids, nrows=None, validate=True, dtype=None, dtype_hint=None):
        """From the number of the row that each value belongs to, in ascending order; `nrows` counts empty rows at the
        end too. ValueError if it is too small."""
        ragged_checks.require_bool(validate)
        with ops.name_scope(None, "RowPartitionFromValueRowIds", [value_rowids, nrows]):
            ids = _converted(value_rowids, "value_rowids", dtype, dtype_hint)
            known = tensor_util.constant_value(ids)
            if nrows is None and known is not None:
                nrows = int(known[-1]) + 1 if known.size else 0
            elif nrows is None:
                nrows = math_ops.reduce_max(array_ops.concat([ids, [-1]], axis=0)) + 1
            known_rows = tensor_util.constant_value(nrows) if isinstance(nrows, ops.Tensor) else nrows
            ragged_checks.require_enough_rows(known_rows, known)
            nrows = ops.convert_to_tensor(nrows, ids.dtype, name="nrows")
            nrows.shape.assert_has_rank(0)
            if validate:
                message = "Arguments to from_value_rowids do not form a valid RowPartition"
                ids = control_flow_ops.with_dependencies(
                    [check_ops.assert_non_negative(ids[:1], message=message), _ascending(ids, message),
                     check_ops.assert_less(ids[-1:], nrows, message=message)], ids)
            rows32 = math_ops.cast(nrows, dtypes.int32)
            lengths = math_ops.bincount(math_ops.cast(ids, dtypes.int32), minlength=rows32, maxlength=rows32,
                                        dtype=ids.dtype)
            if known_rows is not None:
                lengths.set_shape([int(known_rows)])
            return cls(_splits_of(lengths), lengths, ids, nrows, internal=True)

    @classmethod
    def from_row_splits(cls, row_splits, validate=True, dtype=None, dtype_hint=None):
        """From the beginnings of the rows and the end of the last. ValueError if there are none."""
        ragged_checks.require_bool(validate)
        if isinstance(row_splits, (list, tuple)) and not row_splits:
            raise ValueError("row_splits tensor may not be empty.")
        with ops.name_scope(None, "RowPartitionFromRowSplits", [row_splits]):
            splits = _converted(row_splits, "row_splits", dtype, dtype_hint)
            if validate:
                message = "Arguments to from_row_splits do not form a valid RaggedTensor"
                splits = control_flow_ops.with_dependencies(
                    [_zero(splits[0], message + ":zero"), _ascending(splits, message + ":monotonic")], splits)
            return cls(splits, internal=True)

    @classmethod
    def from_row_lengths(cls, row_lengths, validate=True, dtype=None, dtype_hint=None):
        """From the rows' lengths."""
        ragged_checks.require_bool(validate)
        with ops.name_scope(None, "RowPartitionFromRowLengths", [row_lengths]):
            lengths = _converted(row_lengths, "row_lengths", dtype, dtype_hint)
            if validate:
                message = "Arguments to from_row_lengths do not form a valid RowPartition"
                lengths = control_flow_ops.with_dependencies(
                    [check_ops.assert_non_negative(lengths, message=message)], lengths)
            return cls(_splits_of(lengths), lengths, internal=True)

    @classmethod
    def from_row_starts(cls, row_starts, nvals, validate=True, dtype=None, dtype_hint=None):
        """From the beginnings of the rows and the number of values."""
        ragged_checks.require_bool(validate)
        with ops.name_scope(None, "RowPartitionFromRowStarts", [row_starts]):
            starts = _converted(row_starts, "row_starts", dtype or _type_of(row_starts, nvals), dtype_hint)
            nvals = ops.convert_to_tensor(nvals, starts.dtype)
            if validate:
                message = "Arguments to from_row_starts do not form a valid RaggedTensor"
                starts = control_flow_ops.with_dependencies(
                    [_zero(starts[:1], message), _ascending(starts, message),
                     check_ops.assert_less_equal(starts[-1:], nvals, message=message)], starts)
            return cls(array_ops.concat([starts, [nvals]], axis=0), nvals=nvals, internal=True)

    @classmethod
    def from_row_limits(cls, row_limits, validate=True, dtype=None, dtype_hint=None):
        """From the ends of the rows."""
        ragged_checks.require_bool(validate)
        with ops.name_scope(None, "RowPartitionFromRowLimits", [row_limits]):
            limits = _converted(row_limits, "row_limits", dtype, dtype_hint)
            if validate:
                message = "Arguments to from_row_limits do not form a valid RaggedTensor"
                limits = control_flow_ops.with_dependencies(
                    [check_ops.assert_non_negative(limits[:1], message=message), _ascending(limits, message)], limits)
            return cls(array_ops.concat([array_ops.zeros([1], limits.dtype), limits], axis=0), internal=True)

    @classmethod
    def from_uniform_row_length(cls, uniform_row_length, nvals=None, nrows=None, validate=True, dtype=None,
                                dtype_hint=None):
        """From rows that are all as long, and the number of values, or of rows, or both. ValueError if neither is given
        or they do not fit."""
        ragged_checks.require_bool(validate)
        if nrows is None and nvals is None:
            raise ValueError("Either (or both) of nvals and nrows must be specified")
        with ops.name_scope(None, "RowPartitionFromUniformRowLength", [uniform_row_length, nrows]):
            length = _converted(uniform_row_length, "uniform_row_length",
                                dtype or _type_of(uniform_row_length, nvals, nrows), dtype_hint, rank=0)
            known = tensor_util.constant_value(length)
            if known is not None and known < 0:
                raise ValueError(f"Expected uniform_row_length >= 0; got {known}")
            if nvals is not None:
                nvals = ops.convert_to_tensor(nvals, length.dtype, name="nvals")
            if nrows is None:
                nrows = array_ops.where_v2(math_ops.equal(length, 0), array_ops.zeros_like(nvals),
                                           nvals // gen.maximum(length, 1))
            nrows = ops.convert_to_tensor(nrows, length.dtype, name="nrows")
            splits = math_ops.range(nrows + 1) * length
            if nvals is None:
                nvals = nrows * length
            elif validate:
                values = [tensor_util.constant_value(x) for x in (length, nrows, nvals)]
                if None not in values and values[0] * values[1] != values[2]:
                    raise ValueError(f"uniform_row_length={values[0]} times nrows={values[1]} must equal "
                                     f"nvals={values[2]}")
                splits = control_flow_ops.with_dependencies([check_ops.assert_equal(nrows * length, nvals)], splits)
            return cls(splits, nrows=nrows, uniform_row_length=length, nvals=nvals, internal=True)

    @classmethod
    def _of_ragged(cls, ragged):
        """The outermost partition of a ragged tensor."""
        return cls(ragged._row_splits, ragged._cached_row_lengths, ragged._cached_value_rowids, ragged._cached_nrows,
                   ragged._uniform_row_length, internal=True)

    def _applied(self, values):
        """The ragged tensor of these rows of `values`."""
        from penstock._src.ops.ragged.ragged_tensor import RaggedTensor
        return RaggedTensor(values, self._row_splits, self._row_lengths, self._value_rowids, self._nrows, internal=True,
                            uniform_row_length=self._uniform_row_length)

    @property
    def _type_spec(self):
        return RowPartitionSpec.from_value(self)

    @property
    def dtype(self):
        """The type of its tensors, int32 or int64."""
        return self._row_splits.dtype

    def row_splits(self):
        """Where each row begins, and the end of the last."""
        return self._row_splits

    def value_rowids(self):
        """The number of the row that each value belongs to."""
        return ragged_checks.rowids_of(self._row_splits) if self._value_rowids is None else self._value_rowids

    def nvals(self):
        """The number of values."""
        return self._row_splits[-1] if self._nvals is None else self._nvals

    def nrows(self):
        """The number of rows."""
        if self._nrows is not None:
            return self._nrows
        return array_ops.shape(self._row_splits, out_type=self.dtype)[0] - 1

    def uniform_row_length(self):
        """The length of all rows if it was made so, else None."""
        return self._uniform_row_length

    def is_uniform(self):
        """Whether it was made of rows that are all as long."""
        return self._uniform_row_length is not None

    def row_starts(self):
        """Where each row begins."""
        return self._row_splits[:-1]

    def row_limits(self):
        """Where each row ends."""
        return self._row_splits[1:]

    def row_lengths(self):
        """The length of each row."""
        return self._row_splits[1:] - self._row_splits[:-1] if self._row_lengths is None else self._row_lengths

    def offsets_in_rows(self):
        """The place of each value in its row."""
        return math_ops.range(self.nvals()) - array_ops.gather(self.row_starts(), self.value_rowids())

    @property
    def static_nrows(self):
        """The number of rows if it is known, else None."""
        rows = tensor_shape.dimension_value(self._row_splits.shape[0])
        if rows is not None:
            return rows - 1
        return None if self._nrows is None else tensor_util.constant_value(self._nrows)

    @property
    def static_nvals(self):
        """The number of values if it is known without looking at the splits, else None."""
        if self._nvals is not None:
            return tensor_util.constant_value(self._nvals)
        return None if self._value_rowids is None else tensor_shape.dimension_value(self._value_rowids.shape[0])

    @property
    def static_uniform_row_length(self):
        """The length of all rows if it was made so and that is known, else None."""
        return None if self._uniform_row_length is None else tensor_util.constant_value(self._uniform_row_length)

    def with_dtype(self, dtype):
        """The same with tensors of a type, int32 or int64; ValueError for others."""
        dtype = dtypes.as_dtype(dtype)
        if dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError("dtype must be int32 or int64")
        if dtype == self.dtype:
            return self
        parts = (self._row_splits, self._row_lengths, self._value_rowids, self._nrows, self._uniform_row_length,
                 self._nvals)
        return RowPartition(*[None if part is None else math_ops.cast(part, dtype) for part in parts], internal=True)

    def __repr__(self):
        if self._uniform_row_length is not None:
            text = f"nrows={_text(self.nrows())}, uniform_row_length={_text(self._uniform_row_length)}"
        else:
            text = f"row_splits={_text(self._row_splits)}"
        return f"tf.RowPartition({text})"


def _text(tensor):
    return str(tensor.numpy()) if tensor._is_eager else str(tensor)


def _type_of(*values):
    """The type of the first tensor among them, or None."""
    return next((value.dtype for value in values if isinstance(value, ops.Tensor)), None)


def _converted(partition, name, dtype, hint, rank=1):
    if dtype is None and hint is None and not (isinstance(partition, np.ndarray) and partition.dtype == np.int32):
        hint = dtypes.int64
    result = ops.convert_to_tensor(partition, dtype, preferred_dtype=hint, name=name)
    if result.dtype not in (dtypes.int32, dtypes.int64):
        raise ValueError(f"{name} must have dtype int32 or int64")
    result.shape.assert_has_rank(rank)
    return result


def _splits_of(lengths):
    splits = ragged_checks.splits_of(lengths)
    rows = tensor_shape.dimension_value(lengths.shape[0])
    splits.set_shape([None if rows is None else rows + 1])
    return splits


def _ascending(tensor, message):
    return check_ops.assert_non_negative(tensor[1:] - tensor[:-1], message=message)


def _zero(tensor, message):
    return check_ops.assert_equal(tensor, array_ops.zeros([], tensor.dtype), message=message)


@type_spec_registry.register("tf.RowPartitionSpec")
class RowPartitionSpec(TypeSpec):
    """Of RowPartition: its numbers of rows and values and the length of all rows, as far as they are known, and its
    type."""

    __slots__ = ("_nrows", "_nvals", "_uniform_row_length", "_dtype")

    def __init__(self, nrows=None, nvals=None, uniform_row_length=None, dtype=dtypes.int64):
        self._nrows, self._nvals, self._uniform_row_length = (
            tensor_shape.TensorShape([x]) for x in (nrows, nvals, uniform_row_length))
        self._dtype = dtypes.as_dtype(dtype)
        if self._dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError("dtype must be tf.int32 or tf.int64")
        rows, values, length = self.nrows, self.nvals, self.uniform_row_length
        if None not in (rows, values, length) and rows * length != values:
            raise ValueError("Contradictory RowPartitionSpec")

    value_type = property(lambda self: RowPartition, doc="RowPartition.")
    nrows = property(lambda self: tensor_shape.dimension_value(self._nrows[0]), doc="The number of rows, or None.")
    nvals = property(lambda self: tensor_shape.dimension_value(self._nvals[0]), doc="The number of values, or None.")
    uniform_row_length = property(lambda self: tensor_shape.dimension_value(self._uniform_row_length[0]),
                                  doc="The length of all rows, or None.")
    dtype = property(lambda self: self._dtype, doc="The type of the partition's tensors.")

    def _serialize(self):
        return self._nrows, self._nvals, self._uniform_row_length, self._dtype

    @classmethod
    def _deserialize(cls, serialization):
        nrows, nvals, length, dtype = serialization
        return cls(*(tensor_shape.dimension_value(x[0]) for x in (nrows, nvals, length)), dtype)

    @property
    def _component_specs(self):
        rows = self.nrows
        return TensorSpec([None if rows is None else rows + 1], self._dtype)

    def _to_components(self, value):
        return value.row_splits()

    def _from_components(self, components):
        if self.uniform_row_length is None:
            return RowPartition.from_row_splits(components, validate=False, dtype=self._dtype)
        splits = ops.convert_to_tensor(components, self._dtype)
        return RowPartition(splits, uniform_row_length=ops.convert_to_tensor(self.uniform_row_length, self._dtype),
                            internal=True)

    @classmethod
    def from_value(cls, value):
        """The spec of a RowPartition. TypeError for anything else."""
        if not isinstance(value, RowPartition):
            raise TypeError("Expected `value` to be a `RowPartition`.")
        return cls(value.static_nrows, value.static_nvals, value.static_uniform_row_length, value.dtype)

    def __repr__(self):
        return (f"RowPartitionSpec(nrows={self.nrows}, nvals={self.nvals}, "
                f"uniform_row_length={self.uniform_row_length}, dtype={self._dtype!r})")
