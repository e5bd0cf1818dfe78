"""`tf.feature_column`: the functions that make columns."""
import math

import numpy as np

from penstock._src.graph import context
from penstock._src.feature_column import base
from penstock._src.feature_column import utils as fc_utils
from penstock._src.feature_column.base import (  # noqa: F401
    CategoricalColumn, DenseColumn, FeatureColumn, FeatureTransformationCache, SequenceDenseColumn, StateManager,
    _CategoricalColumn, to_sparse_input as _to_sparse_input_and_drop_ignore_values,
    verify_static_batch_size_equality as _verify_static_batch_size_equality)
from penstock._src.feature_column.categorical_columns import (  # noqa: F401
    CrossedColumn, HashedCategoricalColumn, IdentityCategoricalColumn, SequenceCategoricalColumn,
    VocabularyFileCategoricalColumn, VocabularyListCategoricalColumn, WeightedCategoricalColumn)
from penstock._src.feature_column.dense_columns import (  # noqa: F401
    BucketizedColumn, EmbeddingColumn, IndicatorColumn, NumericColumn, SharedEmbeddingColumn,
    SharedEmbeddingColumnCreator, _SharedEmbeddingColumn)
from penstock._src.feature_column.layers import (  # noqa: F401
    BaseFeaturesLayer as _BaseFeaturesLayer, LinearModel, LinearModelLayer as _LinearModelLayer,
    StateManagerImpl as _StateManagerImpl, StateManagerImplV2 as _StateManagerImplV2, sorted_columns)
from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.files import tf_record
from penstock._src.ops.state import init_ops
from penstock._src.files import gfile
from penstock._src.base import tf_logging as logging

_check_shape = fc_utils.check_shape


def is_feature_column_v2(feature_columns):
    """Whether all columns, and those below them, can be used by layers."""
    return all(isinstance(column, FeatureColumn) and column._is_v2_column for column in feature_columns)


def make_parse_example_spec_v2(feature_columns):
    """What `tf.io.parse_example` needs for the columns."""
    return base.example_spec(feature_columns, FeatureColumn, lambda column: column.parse_example_spec)


def _normalize_feature_columns(feature_columns):
    return sorted_columns(feature_columns)


def _transform_features_v2(features, feature_columns, state_manager):
    """The columns' transformed features."""
    outputs = {}
    with ops.name_scope(None, default_name="transform_features", values=features.values()):
        cache = FeatureTransformationCache(features)
        for column in sorted_columns(feature_columns):
            with ops.name_scope(None, default_name=column.name):
                outputs[column] = cache.get(column, state_manager)
    return outputs


def numeric_column(key, shape=(1,), default_value=None, dtype=dtypes.float32, normalizer_fn=None):
    """Numbers, each example with the same `shape` of them."""
    shape = fc_utils.check_shape(shape, key)
    if not (dtype.is_integer or dtype.is_floating):
        raise ValueError("dtype must be convertible to float. dtype: {}, key: {}".format(dtype, key))
    default_value = fc_utils.check_default_value(shape, default_value, dtype, key)
    if normalizer_fn is not None and not callable(normalizer_fn):
        raise TypeError("normalizer_fn must be a callable. Given: {}".format(normalizer_fn))
    fc_utils.assert_key_is_string(key)
    return NumericColumn(key, shape=shape, default_value=default_value, dtype=dtype, normalizer_fn=normalizer_fn)


def bucketized_column(source_column, boundaries):
    """The range between two `boundaries` in which each number of a numeric column lies."""
    if not isinstance(source_column, NumericColumn):
        raise ValueError("source_column must be a column generated with numeric_column(). Given: {}".format(
            source_column))
    if len(source_column.shape) > 1:
        raise ValueError("source_column must be one-dimensional column. Given: {}".format(source_column))
    if boundaries is not None and not boundaries:
        raise ValueError("boundaries must not be empty.")
    if not isinstance(boundaries, (list, tuple)) or any(a >= b for a, b in zip(boundaries, boundaries[1:])):
        raise ValueError("boundaries must be a sorted list.")
    return BucketizedColumn(source_column, tuple(boundaries))


def categorical_column_with_hash_bucket(key, hash_bucket_size, dtype=dtypes.string):
    """Words, or integers, by their hashes."""
    if hash_bucket_size is None:
        raise ValueError("hash_bucket_size must be set. key: {}".format(key))
    if hash_bucket_size < 1:
        raise ValueError("hash_bucket_size must be at least 1. hash_bucket_size: {}, key: {}".format(
            hash_bucket_size, key))
    fc_utils.assert_key_is_string(key)
    fc_utils.assert_string_or_int(dtype, prefix="column_name: {}".format(key))
    return HashedCategoricalColumn(key, hash_bucket_size, dtype)


def categorical_column_with_vocabulary_file(key, vocabulary_file, vocabulary_size=None, num_oov_buckets=0,
                                            default_value=None, dtype=dtypes.string):
    """Words by their lines in a file; others in `num_oov_buckets` by their hashes, or `default_value`."""
    return categorical_column_with_vocabulary_file_v2(key, vocabulary_file, vocabulary_size, dtype, default_value,
                                                      num_oov_buckets)


def categorical_column_with_vocabulary_file_v2(key, vocabulary_file, vocabulary_size=None, dtype=dtypes.string,
                                               default_value=None, num_oov_buckets=0, file_format=None):
    """Words by their lines in a file; others in `num_oov_buckets` by their hashes, or `default_value`.

    file_format: "tfrecord_gzip" for a file of compressed records, one for each word.
    """
    if not vocabulary_file:
        raise ValueError("Missing vocabulary_file in {}.".format(key))
    if vocabulary_size is None:
        if not gfile.Exists(vocabulary_file):
            raise ValueError("vocabulary_file in {} does not exist.".format(key))
        if file_format == "tfrecord_gzip":
            vocabulary_size = sum(1 for _ in tf_record.tf_record_iterator(
                vocabulary_file, tf_record.TFRecordOptions(tf_record.TFRecordCompressionType.GZIP)))
        else:
            with gfile.GFile(vocabulary_file) as f:
                vocabulary_size = sum(1 for _ in f)
        logging.info("vocabulary_size = %d in %s is inferred from the number of elements in the vocabulary_file %s.",
                     vocabulary_size, key, vocabulary_file)
    if vocabulary_size < 1:
        raise ValueError("Invalid vocabulary_size in {}.".format(key))
    _check_oov(num_oov_buckets, default_value is not None, key)
    fc_utils.assert_string_or_int(dtype, prefix="column_name: {}".format(key))
    fc_utils.assert_key_is_string(key)
    return VocabularyFileCategoricalColumn(
        key=key, vocabulary_file=vocabulary_file, vocabulary_size=vocabulary_size,
        num_oov_buckets=0 if num_oov_buckets is None else num_oov_buckets,
        default_value=-1 if default_value is None else default_value, dtype=dtype,
        file_format=file_format)


def _check_oov(num_oov_buckets, has_default, key):
    if num_oov_buckets:
        if has_default:
            raise ValueError("Can't specify both num_oov_buckets and default_value in {}.".format(key))
        if num_oov_buckets < 0:
            raise ValueError("Invalid num_oov_buckets {} in {}.".format(num_oov_buckets, key))


def categorical_column_with_vocabulary_list(key, vocabulary_list, dtype=None, default_value=-1, num_oov_buckets=0):
    """Words by their places in a list; others in `num_oov_buckets` by their hashes, or `default_value`."""
    if vocabulary_list is None or len(vocabulary_list) < 1:
        raise ValueError("vocabulary_list {} must be non-empty, column_name: {}".format(vocabulary_list, key))
    if len(set(vocabulary_list)) != len(vocabulary_list):
        raise ValueError("Duplicate keys in vocabulary_list {}, column_name: {}".format(vocabulary_list, key))
    vocabulary_dtype = dtypes.as_dtype(np.array(vocabulary_list).dtype)
    _check_oov(num_oov_buckets, default_value != -1, key)
    fc_utils.assert_string_or_int(vocabulary_dtype, prefix="column_name: {} vocabulary".format(key))
    if dtype is None:
        dtype = vocabulary_dtype
    elif dtype.is_integer != vocabulary_dtype.is_integer:
        raise ValueError("dtype {} and vocabulary dtype {} do not match, column_name: {}".format(
            dtype, vocabulary_dtype, key))
    fc_utils.assert_string_or_int(dtype, prefix="column_name: {}".format(key))
    fc_utils.assert_key_is_string(key)
    return VocabularyListCategoricalColumn(key=key, vocabulary_list=tuple(vocabulary_list), dtype=dtype,
                                           default_value=default_value, num_oov_buckets=num_oov_buckets)


def categorical_column_with_identity(key, num_buckets, default_value=None):
    """Integers from 0 to below `num_buckets`; others are `default_value`, or an error."""
    if num_buckets < 1:
        raise ValueError("num_buckets {} < 1, column_name {}".format(num_buckets, key))
    if default_value is not None and not 0 <= default_value < num_buckets:
        raise ValueError("default_value {} not in range [0, {}), column_name {}".format(default_value, num_buckets,
                                                                                        key))
    fc_utils.assert_key_is_string(key)
    return IdentityCategoricalColumn(key=key, number_buckets=num_buckets, default_value=default_value)


def indicator_column(categorical_column):
    """A vector with the number of times that each category occurs."""
    return IndicatorColumn(categorical_column)


def weighted_categorical_column(categorical_column, weight_feature_key, dtype=dtypes.float32):
    """Categories with weights, which another feature gives."""
    if dtype is None or not (dtype.is_integer or dtype.is_floating):
        raise ValueError("dtype {} is not convertible to float.".format(dtype))
    return WeightedCategoricalColumn(categorical_column=categorical_column, weight_feature_key=weight_feature_key,
                                     dtype=dtype)


def crossed_column(keys, hash_bucket_size, hash_key=None):
    """Combinations of features and columns by their hashes."""
    if not hash_bucket_size or hash_bucket_size < 1:
        raise ValueError("hash_bucket_size must be > 1. hash_bucket_size: {}".format(hash_bucket_size))
    if not keys or len(keys) < 2:
        raise ValueError("keys must be a list with length > 1. Given: {}".format(keys))
    for key in keys:
        if not isinstance(key, (str, CategoricalColumn, _CategoricalColumn)):
            raise ValueError("Unsupported key type. All keys must be either string, or categorical column except "
                             "HashedCategoricalColumn. Given: {}".format(key))
        if isinstance(key, HashedCategoricalColumn):
            raise ValueError("categorical_column_with_hash_bucket is not supported for crossing. Hashing before "
                             "crossing will increase probability of collision. Instead, use the feature name as a "
                             "string. Given: {}".format(key))
    return CrossedColumn(keys=tuple(keys), hash_bucket_size=hash_bucket_size, hash_key=hash_key)


def _embedding_initializer(dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, complaint):
    """The initializer, after checks of what all embeddings take."""
    if dimension is None or dimension < 1:
        raise ValueError("Invalid dimension {}.".format(dimension))
    if (ckpt_to_load_from is None) != (tensor_name_in_ckpt is None):
        raise ValueError("Must specify both `ckpt_to_load_from` and `tensor_name_in_ckpt` or none of them.")
    if initializer is None:
        return init_ops.truncated_normal_initializer(mean=0.0, stddev=1 / math.sqrt(dimension))
    if not callable(initializer):
        raise ValueError("initializer must be callable if specified." + complaint)
    return initializer


def embedding_column(categorical_column, dimension, combiner="mean", initializer=None, ckpt_to_load_from=None,
                     tensor_name_in_ckpt=None, max_norm=None, trainable=True,
                     use_safe_embedding_lookup=True):
    """A learned vector for each category, those of an example joined by `combiner`.

    use_safe_embedding_lookup: whether examples without categories get zeros; otherwise each has to have some.
    """
    initializer = _embedding_initializer(
        dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt,
        " Embedding of column_name: {}".format(getattr(categorical_column, "name", categorical_column)))
    return EmbeddingColumn(categorical_column=categorical_column, dimension=dimension, combiner=combiner,
                           initializer=initializer, ckpt_to_load_from=ckpt_to_load_from,
                           tensor_name_in_ckpt=tensor_name_in_ckpt, max_norm=max_norm, trainable=trainable,
                           use_safe_embedding_lookup=use_safe_embedding_lookup)


def _check_shareable(categorical_columns, kind):
    """The columns' number of buckets and a name for their collection; ValueError if they cannot share a variable."""

    def unweighted(column):
        return column.categorical_column if isinstance(column, WeightedCategoricalColumn) else column

    ordered = sorted(categorical_columns, key=lambda column: column.name)
    first = ordered[0]
    num_buckets = base.buckets_of(first)
    if not isinstance(first, kind):
        raise ValueError("All categorical_columns must be subclasses of {}. Given: {}, of type: {}".format(
            kind.__name__, first, type(first)))
    first = unweighted(first)
    for column in ordered[1:]:
        plain = unweighted(column)
        if not isinstance(plain, type(first)):
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same type, or be "
                "weighted_categorical_column of the same type. Given column: {} of type: {} does not match given "
                "column: {} of type: {}".format(first, type(first), plain, type(plain)))
        if base.buckets_of(plain) != num_buckets:
            raise ValueError(
                "To use shared_embedding_column, all categorical_columns must have the same number of buckets. Given "
                "column: {} with buckets: {} does  not match column: {} with buckets: {}".format(
                    first, num_buckets, plain, base.buckets_of(plain)))
    return num_buckets, "_".join(column.name for column in ordered) + "_shared_embedding"


def _check_graph_mode():
    if context.executing_eagerly():
        raise RuntimeError("shared_embedding_columns are not supported when eager execution is enabled.")


def shared_embedding_columns(categorical_columns, dimension, combiner="mean", initializer=None,
                             shared_embedding_collection_name=None, ckpt_to_load_from=None, tensor_name_in_ckpt=None,
                             max_norm=None, trainable=True, use_safe_embedding_lookup=True):
    """Embeddings of several columns with one variable, for `input_layer`."""
    _check_graph_mode()
    initializer = _embedding_initializer(dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, "")
    _, name = _check_shareable(categorical_columns, _CategoricalColumn)
    return [_SharedEmbeddingColumn(
        categorical_column=column, initializer=initializer, dimension=dimension, combiner=combiner,
        shared_embedding_collection_name=shared_embedding_collection_name or name, ckpt_to_load_from=ckpt_to_load_from,
        tensor_name_in_ckpt=tensor_name_in_ckpt, max_norm=max_norm, trainable=trainable,
        use_safe_embedding_lookup=use_safe_embedding_lookup)
            for column in categorical_columns]


def shared_embedding_columns_v2(categorical_columns, dimension, combiner="mean", initializer=None,
                                shared_embedding_collection_name=None, ckpt_to_load_from=None,
                                tensor_name_in_ckpt=None, max_norm=None, trainable=True,
                                use_safe_embedding_lookup=True):
    """Embeddings of several columns with one variable, for layers."""
    _check_graph_mode()
    initializer = _embedding_initializer(dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, "")
    num_buckets, name = _check_shareable(categorical_columns, CategoricalColumn)
    creator = SharedEmbeddingColumnCreator(dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, num_buckets,
                                           trainable, shared_embedding_collection_name or name,
                                           use_safe_embedding_lookup)
    return [creator(categorical_column=column, combiner=combiner, max_norm=max_norm) for column in categorical_columns]
