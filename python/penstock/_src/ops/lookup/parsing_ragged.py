"""Features of Example messages that are ragged tensors, their rows told by other features."""
import collections

from penstock._src.graph import dtypes, gen, ops
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import check_ops
from penstock._src.ops.ragged import ragged_math_ops
from penstock._src.ops.ragged.ragged_tensor import RaggedTensor


class RaggedFeature(collections.namedtuple(
        "RaggedFeature", ["dtype", "value_key", "partitions", "row_splits_dtype", "validate"])):
    """Any number of values, as a ragged tensor. `value_key`: of the feature with the values, the feature's own key by
    default. `partitions`, from the outermost on, divide each Example's values into rows; `row_splits_dtype` is the type
    of the row splits, which are checked if `validate`.
    """

    RowSplits = collections.namedtuple("RowSplits", ["key"])
    RowLengths = collections.namedtuple("RowLengths", ["key"])
    RowStarts = collections.namedtuple("RowStarts", ["key"])
    RowLimits = collections.namedtuple("RowLimits", ["key"])
    ValueRowIds = collections.namedtuple("ValueRowIds", ["key"])
    UniformRowLength = collections.namedtuple("UniformRowLength", ["length"])

    def __new__(cls, dtype, value_key=None, partitions=(), row_splits_dtype=dtypes.int32, validate=False):
        if value_key is not None and not isinstance(value_key, str):
            raise ValueError(f"Argument `value_key` must be a string; got {value_key}")
        dtype, row_splits_dtype = dtypes.as_dtype(dtype), dtypes.as_dtype(row_splits_dtype)
        if row_splits_dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError(f"Argument `row_splits_dtype` must be int32 or int64; got {row_splits_dtype!r}")
        if not isinstance(partitions, (list, tuple)):
            raise TypeError("Argument `partitions` must be a list or tuple")
        for partition in partitions:
            if not isinstance(partition, _PARTITIONS):
                raise TypeError(f"Argument `partitions` must be a list of partition objects {_PARTITIONS}; got: "
                                f"{partition}")
        if not isinstance(validate, bool):
            raise TypeError("Argument `validate` must be a bool")
        return super().__new__(cls, dtype, value_key, tuple(partitions), row_splits_dtype, validate)


_PARTITIONS = (RaggedFeature.RowSplits, RaggedFeature.RowLengths, RaggedFeature.RowStarts, RaggedFeature.RowLimits,
               RaggedFeature.ValueRowIds, RaggedFeature.UniformRowLength)


def parts(key, feature):
    """(key, type, type of the row splits) of all features of the message that a ragged one is made of."""
    made = [(feature.value_key or key, feature.dtype, feature.row_splits_dtype)]
    return made + [(p.key, dtypes.int64, feature.row_splits_dtype) for p in feature.partitions
                   if not isinstance(p, RaggedFeature.UniformRowLength)]


def assembled(key, feature, tensors):
    """The feature made of the tensors of its parts: ragged ones of a batch of Examples, vectors of a single one.

    The parts of a batch of feature lists are ragged twice: the rows of all lists are divided as those of one batch.
    """
    made = tensors[feature.value_key or key]
    outer = made.row_splits if isinstance(made, RaggedTensor) and made.ragged_rank > 1 else None
    if outer is not None:
        keys = [p.key for p in feature.partitions if not isinstance(p, RaggedFeature.UniformRowLength)]
        checks = [check_ops.assert_equal(outer, math_ops.cast(tensors[k].row_splits, outer.dtype),
                                         message=f"Feature {key}: values and partitions are not aligned")
                  for k in keys if feature.validate]
        with ops.control_dependencies(checks):
            made, tensors = made.values, {k: tensors[k].values for k in keys}
            outer = array_ops.identity(outer)
    add = _divided_rows if isinstance(made, RaggedTensor) else _divided
    for partition in reversed(feature.partitions):
        made = add(made, partition, tensors, feature)
    return made if outer is None else RaggedTensor.from_row_splits(made, outer, validate=feature.validate)


def _uniform(values, length, validate):
    if isinstance(values, RaggedTensor):
        return RaggedTensor.from_uniform_row_length(values, math_ops.cast(length, values.row_splits.dtype),
                                                    validate=validate)
    return array_ops.reshape(values, array_ops.concat([[-1, length], array_ops.shape(values)[1:]], axis=0))


def _divided(values, partition, tensors, feature):
    """The values of one Example in rows."""
    if isinstance(partition, RaggedFeature.UniformRowLength):
        return _uniform(values, partition.length, feature.validate)
    rows = math_ops.cast(tensors[partition.key], feature.row_splits_dtype)
    return _FROM[type(partition)](values, rows, validate=feature.validate)


_FROM = {
    RaggedFeature.RowSplits: RaggedTensor.from_row_splits, RaggedFeature.RowLengths: RaggedTensor.from_row_lengths,
    RaggedFeature.RowStarts: RaggedTensor.from_row_starts, RaggedFeature.RowLimits: RaggedTensor.from_row_limits,
    RaggedFeature.ValueRowIds: RaggedTensor.from_value_rowids}


def _divided_rows(batch, partition, tensors, feature):
    """The values of each Example of a batch in rows."""
    validate = feature.validate
    if isinstance(partition, RaggedFeature.UniformRowLength):
        length = math_ops.cast(partition.length, batch.row_splits.dtype)
        return RaggedTensor.from_row_splits(_uniform(batch.values, partition.length, validate),
                                            batch.row_splits // length, validate=validate)
    rows = tensors[partition.key]
    if rows.values.dtype != batch.row_splits.dtype:
        rows = rows.with_values(math_ops.cast(rows.values, batch.row_splits.dtype))
    if isinstance(partition, RaggedFeature.RowLengths):
        return rows.with_values(RaggedTensor.from_row_lengths(batch.values, rows.values, validate=validate))
    if isinstance(partition, RaggedFeature.ValueRowIds):
        counts = gen.maximum(ragged_math_ops.reduce_max(rows + 1, axis=1), 0)
        ids = rows.values + array_ops.repeat(math_ops.cumsum(counts, exclusive=True), rows.row_lengths())
        return RaggedTensor.from_row_lengths(
            RaggedTensor.from_value_rowids(batch.values, ids, validate=validate), counts, validate=validate)
    if isinstance(partition, RaggedFeature.RowSplits):
        rows = rows[:, 1:]
    places = rows.values + array_ops.repeat(batch.row_starts(), rows.row_lengths())
    make = (RaggedTensor.from_row_starts if isinstance(partition, RaggedFeature.RowStarts)
            else RaggedTensor.from_row_limits)
    return rows.with_values(make(batch.values, places, validate=validate))
