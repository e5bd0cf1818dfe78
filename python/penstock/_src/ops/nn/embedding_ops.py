"""Rows of large tables, which may lie in several parts."""
import logging

from penstock._src.graph import constant_op, dtypes, gen, ops, sparse_tensor, tensor_shape
from penstock._src.base import tf2
from penstock._src.core_ops import array_ops, clip_ops, math_ops
from penstock._src.ops.sparse import sparse_ops

__all__ = ["embedding_lookup", "embedding_lookup_sparse", "embedding_lookup_sparse_v2", "embedding_lookup_v2",
           "safe_embedding_lookup_sparse", "safe_embedding_lookup_sparse_v2"]


def as_list(params):
    """One table or the parts of a partitioned one as a list."""
    if isinstance(params, list):
        return params
    if isinstance(params, tuple) or hasattr(params, "_get_variable_list") or hasattr(params, "_variable_list"):
        return list(params)
    return [params]


def _is_ragged(value):
    return hasattr(value, "value_rowids") and hasattr(value, "to_sparse")


def _is_resource(params):
    return hasattr(params, "handle") and hasattr(params, "sparse_read")


def _clip(rows, ids, max_norm):
    """Scales rows down to a norm of at most `max_norm`."""
    if max_norm is None:
        return rows

    def rank(x):
        known = ops.convert_to_tensor(x).get_shape().ndims
        return known or array_ops.rank(x)

    first, end = rank(ids), rank(rows)
    known = isinstance(first, int) and isinstance(end, int)
    return clip_ops.clip_by_norm(rows, max_norm, axes=list(range(first, end)) if known else math_ops.range(first, end))


def _assign_to_parts(ids, params, strategy):
    """(part, id within the part) of each id."""
    count = len(params)
    if strategy == "mod":
        return ids % count, ids // count
    if strategy != "div":
        raise ValueError("Unrecognized partition strategy: " + strategy)
    sizes = [tensor_shape.dimension_value(part.get_shape()[0]) for part in params]
    if None not in sizes and sum(sizes):
        total = constant_op.constant(sum(sizes), ids.dtype)
    else:
        dynamic = []
        for part, size in zip(params, sizes):
            if size is None:
                with ops.colocate_with(part):
                    size = array_ops.shape(part)[0]
            dynamic.append(size)
        total = math_ops.reduce_sum(math_ops.cast(array_ops.stack(dynamic), ids.dtype))
    each = total // count
    extras = total % count  # so many of the first parts have one row more
    assigned = gen.maximum(ids // (each + 1), (ids - extras) // each)
    within = array_ops.where(assigned < extras, ids % (each + 1), (ids - extras) % each)
    return assigned, within


def _embedding_lookup_and_transform(params, ids, partition_strategy="mod", name=None, max_norm=None, transform_fn=None):
    if params is None:
        raise ValueError("params must be specified")
    if isinstance(params, (list, tuple)) and not params:
        raise ValueError("Need at least one param")
    params = as_list(params)
    with ops.name_scope(name, "embedding_lookup", params + [ids]) as name:
        if not any(_is_resource(part) for part in params):
            params = ops.convert_n_to_tensor_or_indexed_slices(params, name="params")
        ids = ops.convert_to_tensor(ids, name="ids")
        if len(params) == 1 and (not transform_fn or ids.get_shape().ndims == 1):
            with ops.colocate_with(params[0]):
                result = _clip(array_ops.gather(params[0], ids, name=name), ids, max_norm)
                if transform_fn:
                    result = transform_fn(result)
            return array_ops.identity(result)
        return _lookup_in_parts(params, ids, partition_strategy, name, max_norm, transform_fn)


def _lookup_in_parts(params, ids, strategy, name, max_norm, transform_fn):
    flat = array_ops.reshape(ids, [-1])
    places = math_ops.range(array_ops.size(flat))
    assigned, within = _assign_to_parts(flat, params, strategy)
    assigned = math_ops.cast(assigned, dtypes.int32)
    ids_of_part = gen.dynamic_partition(within, assigned, len(params))
    places_of_part = gen.dynamic_partition(places, assigned, len(params))
    rows = []
    for part, part_ids in zip(params, ids_of_part):
        with ops.colocate_with(part):
            found = array_ops.gather(part, part_ids)
            if transform_fn:
                found = transform_fn(_clip(found, part_ids, max_norm))
        rows.append(found)
    result = gen.parallel_dynamic_stitch(places_of_part, rows, name=name)
    if transform_fn is None:
        static = params[0].get_shape()[1:]
        for part in params[1:]:
            static = static.merge_with(part.get_shape()[1:])
    else:
        static = result.get_shape()[1:]
    if static.is_fully_defined():
        row_shape = static
    elif transform_fn is None:
        with ops.colocate_with(params[0]):
            row_shape = array_ops.shape(params[0])
        row_shape = row_shape[1:]
    else:
        row_shape = array_ops.shape(result)[1:]
    result = array_ops.reshape(result, array_ops.concat([array_ops.shape(ids), row_shape], 0))
    result.set_shape(ids.get_shape().concatenate(static))
    return result if transform_fn else _clip(result, ids, max_norm)


def embedding_lookup(params, ids, partition_strategy="mod", name=None, validate_indices=True, max_norm=None):
    """The rows of `params` with these ids; a list of tables is one table, divided by "mod" or "div".

    ids: a tensor of integers, or a ragged one, for which the result is ragged. ValueError without any table.
    """
    del validate_indices
    if _is_ragged(ids):
        if ids.dtype not in (dtypes.int32, dtypes.int64):
            raise ValueError(f"The values contained by the inputs have type {ids.dtype} and cannot be processed. All "
                             "values should be indices, either of type `int32` or `int64`.")
        with ops.name_scope(name, "embedding_lookup_ragged", [ids]):
            return ids.with_flat_values(embedding_lookup(params, ids.flat_values, partition_strategy,
                                                         max_norm=max_norm))
    return _embedding_lookup_and_transform(params, ids, partition_strategy, name, max_norm)


def embedding_lookup_v2(params, ids, max_norm=None, name=None):
    """The rows of `params` with these ids; a list of tables is one table, divided by "mod" or "div"."""
    return embedding_lookup(params, ids, "div", name, max_norm=max_norm)


def embedding_lookup_sparse(params, sp_ids, sp_weights, partition_strategy="mod", name=None, combiner=None,
                            max_norm=None, allow_fast_lookup=False):
    """The rows for the ids in each row of a SparseTensor or RaggedTensor, joined to one ("sum", "mean", "sqrtn").

    sp_weights: None or what each id counts, of the kind and shape of `sp_ids` (else TypeError, ValueError).
    `allow_fast_lookup` changes nothing: rows are joined as they are read.
    """
    if combiner is None:
        logging.getLogger("tensorflow").warning('The default value of combiner is "mean".')
        combiner = "mean"
    if combiner not in ("mean", "sqrtn", "sum"):
        raise ValueError("combiner must be one of 'mean', 'sqrtn' or 'sum'")
    params = as_list(params)
    if _is_ragged(sp_ids):
        if sp_weights is not None and not _is_ragged(sp_weights):
            raise TypeError(f"sp_ids must be of the same type as sp_weights, received {type(sp_ids).__name__!r} for "
                            f"sp_ids and {type(sp_weights).__name__!r} for sp_weights.")
        sp_ids, sp_weights = sp_ids.to_sparse(), None if sp_weights is None else sp_weights.to_sparse()
    if not isinstance(sp_ids, sparse_tensor.SparseTensor):
        raise TypeError(f"sp_ids must be SparseTensor, got {type(sp_ids)}")
    if sp_weights is not None:
        if not isinstance(sp_weights, sparse_tensor.SparseTensor):
            raise TypeError("sp_weights must be either None or SparseTensor")
        for part in ("values", "indices", "dense_shape"):
            getattr(sp_ids, part).get_shape().assert_is_compatible_with(getattr(sp_weights, part).get_shape())
    with ops.name_scope(name, "embedding_lookup_sparse", params + [sp_ids]) as name:
        segments = sp_ids.indices[:, 0]
        if segments.dtype != dtypes.int32:
            segments = math_ops.cast(segments, dtypes.int32)
        ids, places = array_ops.unique(sp_ids.values)
        rows = embedding_lookup(params, ids, partition_strategy=partition_strategy, max_norm=max_norm)
        kind = rows.dtype
        short = kind in (dtypes.float16, dtypes.bfloat16)
        if short and not (tf2.enabled() and sp_weights is None):
            rows = math_ops.cast(rows, dtypes.float32)
        if sp_weights is not None:
            joined = _join_weighted(rows, places, segments, sp_weights.values, combiner, name)
            return math_ops.cast(joined, kind) if short and tf2.enabled() else joined
        op = {"sum": math_ops.sparse_segment_sum, "mean": math_ops.sparse_segment_mean,
              "sqrtn": math_ops.sparse_segment_sqrt_n}[combiner]
        return op(rows, places, segments, name=name)


def _join_weighted(rows, places, segments, weights, combiner, name):
    if weights.dtype != rows.dtype:
        weights = math_ops.cast(weights, rows.dtype)
    rows = array_ops.gather(rows, places)
    ones = array_ops.fill(array_ops.expand_dims(array_ops.rank(rows) - 1, 0), 1)
    static = weights.get_shape()
    weights = array_ops.reshape(weights, array_ops.concat([array_ops.shape(weights), ones], 0))
    if rows.get_shape().ndims is not None:
        weights.set_shape(static.concatenate([1] * (rows.get_shape().ndims - 1)))
    rows *= weights
    if combiner == "sum":
        return gen.segment_sum(rows, segments, name=name)
    rows = gen.segment_sum(rows, segments)
    divide = gen.div_no_nan if tf2.enabled() else math_ops.div
    if combiner == "mean":
        return divide(rows, gen.segment_sum(weights, segments), name=name)
    squares = gen.segment_sum(math_ops.pow(weights, 2), segments)
    return divide(rows, gen.sqrt(squares), name=name)


def embedding_lookup_sparse_v2(params, sp_ids, sp_weights, combiner=None, max_norm=None, name=None,
                               allow_fast_lookup=False):
    """The rows for the ids in each row of a SparseTensor or RaggedTensor, joined to one ("sum", "mean", "sqrtn")."""
    return embedding_lookup_sparse(params, sp_ids, sp_weights, "div", name, combiner, max_norm)


def safe_embedding_lookup_sparse(embedding_weights, sparse_ids, sparse_weights=None, combiner="mean", default_id=None,
                                 name=None, partition_strategy="div", max_norm=None, allow_fast_lookup=False):
    """`embedding_lookup_sparse` that ignores negative ids and weights below 0, and fills rows without any id."""
    if embedding_weights is None or (isinstance(embedding_weights, (list, tuple)) and not embedding_weights):
        raise ValueError(f"Missing embedding_weights {embedding_weights}.")
    if _is_ragged(sparse_ids):
        sparse_ids = sparse_ids.to_sparse()
        sparse_weights = None if sparse_weights is None else sparse_weights.to_sparse()
    dtype = None if sparse_weights is None else sparse_weights.dtype
    tables = [w if _is_resource(w) and dtype in (None, w.dtype) else ops.convert_to_tensor(w, dtype=dtype)
              for w in as_list(embedding_weights)]
    with ops.name_scope(name, "embedding_lookup", tables + [sparse_ids, sparse_weights]) as scope:
        shape = sparse_ids.dense_shape
        known_rank = tensor_shape.dimension_value(shape.get_shape()[0])
        rank = array_ops.size(shape) if known_rank is None else known_rank
        sparse_ids = sparse_ops.sparse_reshape(sparse_ids, [
            math_ops.reduce_prod(array_ops.slice(shape, [0], [rank - 1])), array_ops.gather(shape, rank - 1)])
        if sparse_weights is not None:
            sparse_weights = sparse_tensor.SparseTensor(sparse_ids.indices, sparse_weights.values,
                                                        sparse_ids.dense_shape)
        sparse_ids, sparse_weights = _without_bad_ids(sparse_ids, sparse_weights)
        if combiner != "sum" and sparse_weights is not None:
            positive = gen.greater(sparse_weights.values, 0)
            sparse_ids = sparse_ops.sparse_retain(sparse_ids, positive)
            sparse_weights = sparse_ops.sparse_retain(sparse_weights, positive)
        sparse_ids, empty = sparse_ops.sparse_fill_empty_rows(sparse_ids, default_id or 0)
        if sparse_weights is not None:
            sparse_weights, _ = sparse_ops.sparse_fill_empty_rows(sparse_weights, 1.0)
        result = embedding_lookup_sparse(tables, sparse_ids, sparse_weights, combiner=combiner,
                                         partition_strategy=partition_strategy,
                                         name=None if default_id is None else scope, max_norm=max_norm)
        if default_id is None:
            empty = gen.tile(array_ops.reshape(empty, [-1, 1]), array_ops.stack([1, array_ops.shape(result)[1]]))
            result = array_ops.where(empty, array_ops.zeros_like(result), result, name=scope)
        final = array_ops.reshape(result, array_ops.concat([
            array_ops.slice(math_ops.cast(shape, dtypes.int32), [0], [rank - 1]),
            array_ops.slice(array_ops.shape(result), [1], [-1])], 0))
        outer = tensor_shape.unknown_shape(None if known_rank is None else known_rank - 1)
        final.set_shape(outer.concatenate(result.get_shape()[1:]))
        return final


def _without_bad_ids(sparse_ids, sparse_weights):
    good = gen.greater_equal(sparse_ids.values, 0)
    if sparse_weights is not None:
        good = gen.logical_and(good, array_ops.ones_like(sparse_weights.values, dtype=dtypes.bool))
    sparse_ids = sparse_ops.sparse_retain(sparse_ids, good)
    if sparse_weights is not None:
        sparse_weights = sparse_ops.sparse_retain(sparse_weights, good)
    return sparse_ids, sparse_weights


def safe_embedding_lookup_sparse_v2(embedding_weights, sparse_ids, sparse_weights=None, combiner="mean",
                                    default_id=None, max_norm=None, name=None, allow_fast_lookup=False):
    """`embedding_lookup_sparse` that ignores negative ids and weights below 0, and fills rows without any id."""
    return safe_embedding_lookup_sparse(embedding_weights, sparse_ids, sparse_weights, combiner, default_id, name,
                                        "div",
                                        max_norm)
