"""Columns that give numbers of categories."""
import collections

from penstock._src.feature_column import utils
from penstock._src.feature_column.base import (
    CategoricalColumn, FeatureColumn, OfColumn, OfFeature, ScopedCategorical, _CategoricalColumn, _FeatureColumn,
    buckets_of, to_sparse_input)
from penstock._src.feature_column.configs import Configured, columns, dtype
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import sparse_tensor as sparse_tensor_lib
from penstock._src.base import tf2
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import check_ops
from penstock._src.ops.lookup import lookup_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.lookup import parsing_ops
from penstock._src.ops.sparse import sparse_ops
from penstock._src.ops.strings import string_ops


class _KeyedColumn(Configured, OfFeature, CategoricalColumn, ScopedCategorical):
    """A column of one feature, whose values become ids."""

    @property
    def parse_example_spec(self):
        return {self.key: parsing_ops.VarLenFeature(self.dtype)}

    def transform_feature(self, transformation_cache, state_manager):
        return self._ids(to_sparse_input(transformation_cache.get(self.key, state_manager)), state_manager)

    def _ids(self, input_tensor, state_manager):
        raise NotImplementedError

    def get_sparse_tensors(self, transformation_cache, state_manager):
        return CategoricalColumn.IdWeightPair(transformation_cache.get(self, state_manager), None)

    def _check_dtype(self, input_tensor):
        if self.dtype.is_integer != input_tensor.dtype.is_integer:
            raise ValueError("Column dtype and SparseTensors dtype must be compatible. key: {}, column dtype: {}, "
                             "tensor dtype: {}".format(self.key, self.dtype, input_tensor.dtype))

    def _check_string_or_int(self, input_tensor):
        utils.assert_string_or_int(input_tensor.dtype, prefix="column_name: {} input_tensor".format(self.key))


class HashedCategoricalColumn(
        _KeyedColumn, collections.namedtuple("HashedCategoricalColumn", ("key", "hash_bucket_size", "dtype"))):
    """Ids are hashes."""

    _coders = {"dtype": dtype}

    @property
    def num_buckets(self):
        return self.hash_bucket_size

    def _ids(self, input_tensor, state_manager):
        self._check_string_or_int(input_tensor)
        self._check_dtype(input_tensor)
        values = input_tensor.values
        if self.dtype != dtypes.string:
            values = gen.as_string(values)
        ids = gen.string_to_hash_bucket_fast(values, self.hash_bucket_size, name="lookup")
        return sparse_tensor_lib.SparseTensor(input_tensor.indices, ids, input_tensor.dense_shape)


class _VocabularyColumn(_KeyedColumn):
    """Ids are places in a vocabulary."""

    _coders = {"dtype": dtype}

    def _ids(self, input_tensor, state_manager):
        self._check_dtype(input_tensor)
        self._check_string_or_int(input_tensor)
        key_dtype = self.dtype
        if input_tensor.dtype.is_integer:
            # Tables of integers have keys of int64.
            key_dtype = dtypes.int64
            input_tensor = math_ops.cast(input_tensor, dtypes.int64)
        name = "{}_lookup".format(self.key)
        table = self._table(key_dtype, name)
        if state_manager is not None:
            state_manager.add_resource(self, name, table)
        return table.lookup(input_tensor)


def _records(path, dtype):
    """The records of a compressed file as a dataset of keys."""
    from penstock._src.data.ops import readers
    records = readers.TFRecordDatasetV2(path, compression_type="GZIP")
    return records if dtype == dtypes.string else records.map(lambda key: string_ops.string_to_number(key, dtype))


class VocabularyFileCategoricalColumn(
        _VocabularyColumn,
        collections.namedtuple("VocabularyFileCategoricalColumn", (
            "key", "vocabulary_file", "vocabulary_size", "num_oov_buckets", "dtype", "default_value", "file_format"),
            defaults=(None,))):
    """Ids are lines of a file, or, where `file_format` is "tfrecord_gzip", its records."""

    @property
    def num_buckets(self):
        return self.vocabulary_size + self.num_oov_buckets

    def get_config(self):
        config = super().get_config()
        if not tf2.enabled():
            del config["file_format"]  # version 1 has only text
        return config

    def _table(self, key_dtype, name):
        if self.file_format == "tfrecord_gzip":
            from penstock._src.data.experimental.ops import lookup_ops as dataset_lookup
            return dataset_lookup.index_table_from_dataset(
                _records(self.vocabulary_file, key_dtype), num_oov_buckets=self.num_oov_buckets,
                vocab_size=self.vocabulary_size, default_value=self.default_value, key_dtype=key_dtype, name=name)
        return lookup_ops.index_table_from_file(
            vocabulary_file=self.vocabulary_file, num_oov_buckets=self.num_oov_buckets,
            vocab_size=self.vocabulary_size, default_value=self.default_value, key_dtype=key_dtype, name=name)


class VocabularyListCategoricalColumn(
        _VocabularyColumn,
        collections.namedtuple("VocabularyListCategoricalColumn", (
            "key", "vocabulary_list", "dtype", "default_value", "num_oov_buckets"))):
    """Ids are places in a list."""

    @property
    def num_buckets(self):
        return len(self.vocabulary_list) + self.num_oov_buckets

    def _table(self, key_dtype, name):
        return lookup_ops.index_table_from_tensor(
            vocabulary_list=tuple(self.vocabulary_list), default_value=self.default_value,
            num_oov_buckets=self.num_oov_buckets, dtype=key_dtype, name=name)


class IdentityCategoricalColumn(
        _KeyedColumn, collections.namedtuple("IdentityCategoricalColumn", ("key", "number_buckets", "default_value"))):
    """Ids are the feature's values."""

    dtype = dtypes.int64

    @property
    def num_buckets(self):
        return self.number_buckets

    def _ids(self, input_tensor, state_manager):
        if not input_tensor.dtype.is_integer:
            raise ValueError("Invalid input, not integer. key: {} dtype: {}".format(self.key, input_tensor.dtype))
        values = math_ops.cast(input_tensor.values, dtypes.int64, name="values")
        num_buckets = math_ops.cast(self.num_buckets, dtypes.int64, name="num_buckets")
        zero = math_ops.cast(0, dtypes.int64, name="zero")
        if self.default_value is None:
            less = check_ops.assert_less(
                values, num_buckets, data=(values, num_buckets), name="assert_less_than_num_buckets",
                message='Bucket index for categorical column "{}" exceeds number of buckets'.format(self.name))
            greater = check_ops.assert_greater_equal(
                values, zero, data=(values,), name="assert_greater_or_equal_0",
                message='Negative bucket index for categorical column "{}"'.format(self.name))
            with ops.control_dependencies((less, greater)):
                values = array_ops.identity(values)
        else:
            outside = gen.logical_or(values < zero, values >= num_buckets, name="out_of_range")
            default = array_ops.fill(dims=array_ops.shape(values),
                                     value=math_ops.cast(self.default_value, dtypes.int64), name="default_values")
            values = array_ops.where_v2(outside, default, values)
        return sparse_tensor_lib.SparseTensor(input_tensor.indices, values, input_tensor.dense_shape)


class WeightedCategoricalColumn(
        Configured, CategoricalColumn, ScopedCategorical,
        collections.namedtuple("WeightedCategoricalColumn", ("categorical_column", "weight_feature_key", "dtype"))):
    """Another column's ids with the values of a feature as weights."""

    _coders = {"categorical_column": columns, "dtype": dtype}

    @property
    def _is_v2_column(self):
        return isinstance(self.categorical_column, FeatureColumn) and self.categorical_column._is_v2_column

    @property
    def name(self):
        return "{}_weighted_by_{}".format(self.categorical_column.name, self.weight_feature_key)

    @property
    def parents(self):
        return [self.categorical_column, self.weight_feature_key]

    @property
    def parse_example_spec(self):
        return self._with_weights(self.categorical_column.parse_example_spec)

    @property
    def _parse_example_spec(self):
        return self._with_weights(self.categorical_column._parse_example_spec)

    def _with_weights(self, config):
        if self.weight_feature_key in config:
            raise ValueError("Parse config {} already exists for {}.".format(config[self.weight_feature_key],
                                                                             self.weight_feature_key))
        config[self.weight_feature_key] = parsing_ops.VarLenFeature(self.dtype)
        return config

    @property
    def num_buckets(self):
        return buckets_of(self.categorical_column)

    def transform_feature(self, transformation_cache, state_manager):
        weights = transformation_cache.get(self.weight_feature_key, state_manager)
        if weights is None:
            raise ValueError("Missing weights {}.".format(self.weight_feature_key))
        weights = sparse_tensor_lib.convert_to_tensor_or_sparse_tensor(weights)
        if self.dtype != weights.dtype.base_dtype:
            raise ValueError("Bad dtype, expected {}, but got {}.".format(self.dtype, weights.dtype))
        if not isinstance(weights, sparse_tensor_lib.SparseTensor):
            weights = to_sparse_input(weights, ignore_value=0.0)
        if not weights.dtype.is_floating:
            weights = math_ops.cast(weights, dtypes.float32)
        return transformation_cache.get(self.categorical_column, state_manager), weights

    def get_sparse_tensors(self, transformation_cache, state_manager):
        return CategoricalColumn.IdWeightPair(*transformation_cache.get(self, state_manager))


class CrossedColumn(
        Configured, CategoricalColumn, ScopedCategorical,
        collections.namedtuple("CrossedColumn", ("keys", "hash_bucket_size", "hash_key"))):
    """Ids are hashes of combinations."""

    _coders = {"keys": columns}

    @property
    def _is_v2_column(self):
        return all(isinstance(key, str) or isinstance(key, FeatureColumn) and key._is_v2_column
                   for key in _leaves(self))

    @property
    def name(self):
        return "_X_".join(sorted(key if isinstance(key, str) else key.name for key in _leaves(self)))

    @property
    def parents(self):
        return list(self.keys)

    @property
    def parse_example_spec(self):
        config = {}
        for key in self.keys:
            if isinstance(key, FeatureColumn):
                config.update(key.parse_example_spec)
            elif isinstance(key, _FeatureColumn):
                config.update(key._parse_example_spec)
            else:
                config[key] = parsing_ops.VarLenFeature(dtypes.string)
        return config

    @property
    def num_buckets(self):
        return self.hash_bucket_size

    def transform_feature(self, transformation_cache, state_manager):
        tensors = []
        for key in _leaves(self):
            if isinstance(key, str):
                tensors.append(transformation_cache.get(key, state_manager))
            elif isinstance(key, (_CategoricalColumn, CategoricalColumn)):
                pair = transformation_cache.sparse_tensors(key, state_manager)
                if pair.weight_tensor is not None:
                    raise ValueError("crossed_column does not support weight_tensor, but the given column populates "
                                     "weight_tensor. Given column: {}".format(key.name))
                tensors.append(pair.id_tensor)
            else:
                raise ValueError("Unsupported column type. Given: {}".format(key))
        return sparse_ops.sparse_cross_hashed(inputs=tensors, num_buckets=self.hash_bucket_size,
                                              hash_key=self.hash_key)

    def get_sparse_tensors(self, transformation_cache, state_manager):
        return CategoricalColumn.IdWeightPair(transformation_cache.get(self, state_manager), None)


def _leaves(cross):
    """The keys of a crossed column, and of those among them that are crossed."""
    leaves = []
    for key in cross.keys:
        leaves += _leaves(key) if isinstance(key, CrossedColumn) else [key]
    return leaves


class SequenceCategoricalColumn(
        Configured, OfColumn, CategoricalColumn, ScopedCategorical,
        collections.namedtuple("SequenceCategoricalColumn", ("categorical_column",))):
    """Another column's ids as sequences."""

    _coders = {"categorical_column": columns}

    @property
    def name(self):
        return self.categorical_column.name

    @property
    def num_buckets(self):
        return buckets_of(self.categorical_column)

    def transform_feature(self, transformation_cache, state_manager):
        return transformation_cache.transform(self.categorical_column, state_manager)

    def get_sparse_tensors(self, transformation_cache, state_manager):
        pair = transformation_cache.sparse_tensors(self.categorical_column, state_manager)
        shape = array_ops.shape(pair.id_tensor)
        target = [shape[0], shape[1], math_ops.reduce_prod(shape[2:])]
        ids, weights = sparse_ops.sparse_reshape(pair.id_tensor, target), pair.weight_tensor
        if weights is not None:
            weights = sparse_ops.sparse_reshape(weights, target)
        return CategoricalColumn.IdWeightPair(ids, weights)
