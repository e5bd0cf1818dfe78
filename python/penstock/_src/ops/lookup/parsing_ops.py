"""Example messages, CSV and raw bytes into tensors."""
import numpy as np

from penstock._src.graph import gen, ops, sparse_tensor
from penstock._src.base import tf2
from penstock._src.core_ops.arguments import pick
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.lookup import parsing_ragged
from penstock._src.ops.sparse import sparse_ops
from penstock._src.ops.lookup.parsing_config import (
    FixedLenFeature, FixedLenSequenceFeature, RaggedFeature, RawFeatures, SparseFeature, VarLenFeature, name_of,
    with_unknown_length)
from penstock._src.ops.ragged import ragged_tensor

_EXAMPLE_KINDS = (VarLenFeature, SparseFeature, FixedLenFeature, FixedLenSequenceFeature, RaggedFeature)


def _sparse(indices, values, shapes):
    return [sparse_tensor.SparseTensor(*parts) for parts in zip(indices, values, shapes)]


def _by_key(raw, sparse, dense):
    return dict(zip(raw.sparse_keys + raw.dense_keys, list(sparse) + list(dense)))


def _with_composite_features(features, tensors):
    """The tensors of sparse and ragged features made of those of their parts; what was not asked for is left out."""
    made = dict(tensors)
    for key in sorted(features):
        feature = features[key]
        if isinstance(feature, SparseFeature):
            index_keys = feature.index_key
            ids = made[index_keys] if isinstance(index_keys, str) else [made[k] for k in index_keys]
            made[key] = sparse_ops.sparse_merge(ids, made[feature.value_key], vocab_size=feature.size,
                                                already_sorted=feature.already_sorted)
        elif isinstance(feature, RaggedFeature):
            made[key] = parsing_ragged.assembled(key, feature, tensors)
    return {key: value for key, value in made.items() if key in features}


def parse_example(serialized, features, name=None, example_names=None):
    """The features of a batch of serialized Examples."""
    return parse_example_v2(serialized, features, example_names, name)


def parse_example_v2(serialized, features, example_names=None, name=None):
    """The features of a batch of serialized Examples."""
    if not features:
        raise ValueError(f"Missing: features was {features}.")
    features = with_unknown_length(features)
    raw = RawFeatures.of(features, _EXAMPLE_KINDS)
    return _with_composite_features(features, _parse_example(serialized, example_names, raw, name))


def _parse_example(serialized, names, raw, name):
    with ops.name_scope(name, "ParseExample", [serialized, names]):
        raw.check()
        if not len(raw):
            raise ValueError("Must provide at least one sparse key or dense key")
        defaults = raw.defaults()
        if raw.ragged_keys:
            return _parse_with_ragged(serialized, names, raw, defaults, name)
        indices, values, shapes, dense = gen.parse_example(
            serialized=serialized, names=[] if names is None else names, dense_defaults=defaults,
            sparse_keys=raw.sparse_keys, sparse_types=raw.sparse_types, dense_keys=raw.dense_keys,
            dense_shapes=raw.shapes(), name=name)
        return _by_key(raw, _sparse(indices, values, shapes), dense)


def _parse_with_ragged(serialized, names, raw, defaults, name):
    """The features of a batch of Examples or, without rows, of a single one."""
    serialized = ops.convert_to_tensor(serialized, name="serialized")
    indices, values, shapes, dense, ragged, splits = gen.parse_example_v2(
        serialized=serialized, names=[] if names is None else names, sparse_keys=raw.sparse_keys,
        dense_keys=raw.dense_keys, ragged_keys=raw.ragged_keys, dense_defaults=defaults,
        num_sparse=len(raw.sparse_keys), sparse_types=raw.sparse_types, ragged_value_types=raw.ragged_types,
        ragged_split_types=raw.ragged_split_types, dense_shapes=raw.shapes(), name=name)
    made = _by_key(raw, _sparse(indices, values, shapes), dense)
    if serialized.shape.rank != 0:
        ragged = _in_rows(ragged, splits)
    return {**made, **dict(zip(raw.ragged_keys, ragged))}


def parse_single_example(serialized, features, name=None, example_names=None):
    """The features of one serialized Example."""
    return parse_single_example_v2(serialized, features, example_names, name)


def parse_single_example_v2(serialized, features, example_names=None, name=None):
    """The features of one serialized Example."""
    if not features:
        raise ValueError("Missing features.")
    features = with_unknown_length(features)
    raw = RawFeatures.of(features, _EXAMPLE_KINDS)
    parse = _parse_single if example_names is None else _parse_batch_of_one
    return _with_composite_features(features, parse(serialized, example_names, raw, name))


def _parse_single(serialized, names, raw, name):
    with ops.name_scope(name, "ParseSingleExample", [serialized]):
        serialized = ops.convert_to_tensor(serialized, name="serialized")
        raw.check()
        if not len(raw):
            raise ValueError("Must provide at least one sparse key or dense key")
        defaults = raw.defaults()
        if raw.ragged_keys:
            return _parse_with_ragged(serialized, None, raw, defaults, name)
        indices, values, shapes, dense = gen.parse_single_example(
            serialized=serialized, dense_defaults=defaults, num_sparse=len(raw.sparse_keys),
            sparse_keys=raw.sparse_keys, sparse_types=raw.sparse_types, dense_keys=raw.dense_keys,
            dense_shapes=raw.shapes(), name=name)
        return _by_key(raw, _sparse(indices, values, shapes), dense)


def _scalar(tensor, what, prefix):
    """The tensor as a batch of one."""
    tensor = ops.convert_to_tensor(tensor)
    ndims = tensor.get_shape().ndims
    message = f"Input {what} must be a scalar"
    if ndims is None:
        check = control_flow_ops.Assert(math_ops.equal(array_ops.rank(tensor), 0), [message], name=f"{prefix}IsScalar")
        tensor = control_flow_ops.with_dependencies([check], tensor, name=f"{prefix}Dependencies")
    elif ndims != 0:
        raise ValueError(message)
    return array_ops.expand_dims(tensor, 0)


def _parse_batch_of_one(serialized, names, raw, name):
    with ops.name_scope(name, "ParseSingleExample", [serialized, names]):
        serialized = _scalar(serialized, "serialized", "Serialized")
        names = _scalar(names, "names", "Names")
        outputs = _parse_example(serialized, names, raw, name)
        for key in raw.dense_keys:
            outputs[key] = array_ops.squeeze(outputs[key], [0], name=f"Squeeze_{name_of(key)}")
        for key in raw.sparse_keys:
            sparse = outputs[key]
            outputs[key] = sparse_tensor.SparseTensor(
                array_ops.slice(sparse.indices, [0, 1], [-1, -1], name=f"Slice_Indices_{name_of(key)}"), sparse.values,
                array_ops.slice(sparse.dense_shape, [1], [-1], name=f"Squeeze_Shape_{name_of(key)}"))
        return outputs


def _sequence_features(context_features, sequence_features):
    if not (context_features or sequence_features):
        raise ValueError("Missing features.")
    context = RawFeatures.of(context_features, (VarLenFeature, FixedLenFeature, RaggedFeature))
    lists = RawFeatures.of(sequence_features, (VarLenFeature, FixedLenSequenceFeature, RaggedFeature))
    context.check("context_")
    lists.check("feature_list_")
    for key, value in lists.dense_defaults.items():
        if value is not None:
            raise ValueError(f"Value feature_list_dense_defaults[{key}] must be None")
    return context, lists


def _sequence_arguments(context, lists, reshape):
    return dict(
        context_dense_defaults=context.defaults(reshape), context_sparse_keys=context.sparse_keys,
        context_sparse_types=context.sparse_types, context_dense_keys=context.dense_keys,
        context_dense_shapes=context.shapes(), feature_list_sparse_keys=lists.sparse_keys,
        feature_list_sparse_types=lists.sparse_types, feature_list_dense_keys=lists.dense_keys,
        feature_list_dense_types=lists.dense_types, feature_list_dense_shapes=lists.shapes(),
        feature_list_dense_missing_assumed_empty=list(lists.dense_defaults))


def _takes_second_version(context, lists):
    return tf2.enabled() or context.ragged_keys or lists.ragged_keys


def _parse_sequences(serialized, names, context, lists, context_features, sequence_features, name):
    """By the op that also takes a single message, and makes ragged tensors."""
    ragged = context.ragged_keys or lists.ragged_keys
    if ragged and serialized.shape.rank is None:
        raise ValueError("serialized must have statically-known rank to parse ragged features.")
    (indices, values, shapes, dense, rows, splits, list_indices, list_values, list_shapes, list_dense, lengths,
     list_rows, outer, inner) = gen.parse_sequence_example_v2(
        serialized=serialized, debug_name=[] if names is None else names, context_sparse_keys=context.sparse_keys,
        context_dense_keys=context.dense_keys, context_ragged_keys=context.ragged_keys,
        feature_list_sparse_keys=lists.sparse_keys, feature_list_dense_keys=lists.dense_keys,
        feature_list_ragged_keys=lists.ragged_keys,
        feature_list_dense_missing_assumed_empty=[key in lists.dense_defaults for key in lists.dense_keys],
        context_dense_defaults=context.defaults(False), Ncontext_sparse=len(context.sparse_keys),
        Nfeature_list_sparse=len(lists.sparse_keys), Nfeature_list_dense=len(lists.dense_keys),
        context_sparse_types=context.sparse_types, context_ragged_value_types=context.ragged_types,
        context_ragged_split_types=context.ragged_split_types, feature_list_dense_types=lists.dense_types,
        feature_list_sparse_types=lists.sparse_types, feature_list_ragged_value_types=lists.ragged_types,
        feature_list_ragged_split_types=lists.ragged_split_types, context_dense_shapes=context.shapes(),
        feature_list_dense_shapes=lists.shapes(), name=name)
    list_rows = _in_rows(list_rows, inner)
    if serialized.shape.rank != 0:
        rows, list_rows = _in_rows(rows, splits), _in_rows(list_rows, outer)
    made = {**_by_key(context, _sparse(indices, values, shapes), dense), **dict(zip(context.ragged_keys, rows))}
    made_lists = {**_by_key(lists, _sparse(list_indices, list_values, list_shapes), list_dense),
                  **dict(zip(lists.ragged_keys, list_rows))}
    if context.ragged_keys:
        made = _with_composite_features(context_features, made)
    if lists.ragged_keys:
        made_lists = _with_composite_features(sequence_features, made_lists)
    return made, made_lists, dict(zip(lists.dense_keys, lengths))


def _in_rows(values, splits):
    return [ragged_tensor.RaggedTensor.from_row_splits(*both, validate=False) for both in zip(values, splits)]


def parse_sequence_example(serialized, context_features=None, sequence_features=None, example_names=None, name=None):
    """Of a batch of serialized SequenceExamples: the context's features, the feature lists, and their lengths.

    In version 2 `serialized` may also be a single one, a scalar, and features may be ragged.
    """
    context, lists = _sequence_features(context_features, sequence_features)
    if _takes_second_version(context, lists):
        with ops.name_scope(name, "ParseSequenceExample", [serialized, example_names]):
            serialized = ops.convert_to_tensor(serialized, name="serialized")
            return _parse_sequences(serialized, example_names, context, lists, context_features, sequence_features,
                                    name)
    with ops.name_scope(name, "ParseSequenceExample", [serialized]):
        outputs = gen.parse_sequence_example(
            serialized=serialized, debug_name=[] if example_names is None else example_names,
            Ncontext_sparse=len(context.sparse_keys), Ncontext_dense=len(context.dense_keys),
            Nfeature_list_sparse=len(lists.sparse_keys), Nfeature_list_dense=len(lists.dense_keys), name=name,
            **_sequence_arguments(context, lists, False))
        (indices, values, shapes, dense, list_indices, list_values, list_shapes, list_dense, lengths) = outputs
        return (_by_key(context, _sparse(indices, values, shapes), dense),
                _by_key(lists, _sparse(list_indices, list_values, list_shapes), list_dense),
                dict(zip(lists.dense_keys, lengths)))


def parse_single_sequence_example(serialized, context_features=None, sequence_features=None, example_name=None,
                                  name=None):
    """Of one serialized SequenceExample: the context's features and the feature lists."""
    context, lists = _sequence_features(context_features, sequence_features)
    if _takes_second_version(context, lists):
        with ops.name_scope(name, "ParseSingleSequenceExample", [serialized, example_name]):
            serialized = ops.convert_to_tensor(serialized, name="serialized")
            if serialized.shape.rank is None:
                check = control_flow_ops.Assert(math_ops.equal(array_ops.rank(serialized), 0),
                                                ["Input serialized must be a scalar"])
                serialized = control_flow_ops.with_dependencies([check], serialized)
                serialized.set_shape([])
            elif serialized.shape.rank:
                raise ValueError("Input serialized must be a scalar")
            return _parse_sequences(serialized, example_name, context, lists, context_features, sequence_features,
                                    name)[:2]
    with ops.name_scope(name, "ParseSingleSequenceExample", [serialized]):
        outputs = gen.parse_single_sequence_example(
            serialized=serialized, debug_name="" if example_name is None else example_name, name=name,
            **_sequence_arguments(context, lists, True))
        indices, values, shapes, dense, list_indices, list_values, list_shapes, list_dense = outputs
        return (_by_key(context, _sparse(indices, values, shapes), dense),
                _by_key(lists, _sparse(list_indices, list_values, list_shapes), list_dense))


def decode_raw(input_bytes, out_type, little_endian=True, fixed_length=None, name=None):
    """The bytes of strings as numbers."""
    if fixed_length is not None:
        return gen.decode_padded_raw(input_bytes, fixed_length=fixed_length, out_type=out_type,
                                     little_endian=little_endian, name=name)
    return gen.decode_raw(input_bytes, out_type, little_endian=little_endian, name=name)


def decode_raw_v1(input_bytes=None, out_type=None, little_endian=True, name=None, bytes=None):
    """The bytes of strings as numbers."""
    input_bytes = pick("input_bytes", input_bytes, "bytes", bytes)
    if out_type is None:
        raise ValueError("decode_raw_v1() missing 1 positional argument: 'out_type'")
    return gen.decode_raw(input_bytes, out_type, little_endian=little_endian, name=name)


def decode_csv(records, record_defaults, field_delim=",", use_quote_delim=True, name=None, na_value="",
               select_cols=None):
    """The columns of lines of comma-separated values."""
    return decode_csv_v2(records, record_defaults, field_delim, use_quote_delim, na_value, select_cols, name)


def decode_csv_v2(records, record_defaults, field_delim=",", use_quote_delim=True, na_value="", select_cols=None,
                  name=None):
    """The columns of lines of comma-separated values.

    record_defaults: a vector for each column, whose type the column has; an empty one where a value must be given.
    ValueError: `select_cols` does not rise, or names more or fewer columns than there are defaults.
    """
    if isinstance(record_defaults, np.ndarray):
        record_defaults = list(record_defaults)
    if select_cols is not None:
        if any(a >= b for a, b in zip(select_cols, select_cols[1:])):
            raise ValueError("select_cols is not strictly increasing.")
        if select_cols[0] < 0:
            raise ValueError("select_cols contains negative values.")
        if len(select_cols) != len(record_defaults):
            raise ValueError("Length of select_cols and record_defaults do not match.")
    return gen.decode_csv(records=records, record_defaults=record_defaults, field_delim=field_delim,
                          use_quote_delim=use_quote_delim, na_value=na_value, name=name, select_cols=select_cols or [])
