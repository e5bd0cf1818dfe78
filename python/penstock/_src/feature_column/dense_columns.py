"""Columns that give dense tensors."""
import collections

from penstock._src.feature_column import utils
from penstock._src.feature_column.base import (
    CategoricalColumn, DenseColumn, OfColumn, OfFeature, ScopedCategorical, ScopedDense, ScopedSequenceDense,
    SequenceDenseColumn, _DenseColumn, _LazyBuilder, _SequenceDenseColumn, buckets_of)
from penstock._src.feature_column.categorical_columns import SequenceCategoricalColumn
from penstock._src.feature_column.configs import Configured, an_object, columns, dtype
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import sparse_tensor as sparse_tensor_lib
from penstock._src.graph import tensor_shape
from penstock._src.base import tf2
from penstock._src.core_ops import array_ops
from penstock._src.ops.nn import embedding_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.lookup import parsing_ops
from penstock._src.ops.state import partitioned_variable
from penstock._src.ops.sparse import sparse_ops
from penstock._src.ops.state import variable_scope
from penstock._src.checkpoint import checkpoint_utils
from penstock._src.ops.state import tracking


class NumericColumn(
        Configured, OfFeature, DenseColumn, ScopedDense,
        collections.namedtuple("NumericColumn", ("key", "shape", "default_value", "dtype", "normalizer_fn"))):
    """A feature's values."""

    _coders = {"normalizer_fn": an_object, "dtype": dtype}
    @property
    def parse_example_spec(self):
        return {self.key: parsing_ops.FixedLenFeature(self.shape, self.dtype, self.default_value)}

    @property
    def variable_shape(self):
        return tensor_shape.TensorShape(self.shape)

    def transform_feature(self, transformation_cache, state_manager):
        tensor = transformation_cache.get(self.key, state_manager)
        if isinstance(tensor, sparse_tensor_lib.SparseTensor):
            raise ValueError("The corresponding Tensor of numerical column must be a Tensor. SparseTensor is not "
                             "supported. key: {}".format(self.key))
        if self.normalizer_fn is not None:
            tensor = self.normalizer_fn(tensor)
        return math_ops.cast(tensor, dtypes.float32)

    def get_dense_tensor(self, transformation_cache, state_manager):
        return transformation_cache.get(self, state_manager)


class BucketizedColumn(
        Configured, OfColumn, DenseColumn, CategoricalColumn, ScopedDense, ScopedCategorical,
        collections.namedtuple("BucketizedColumn", ("source_column", "boundaries"))):
    """In which range each value of a numeric column lies."""

    _coders = {"source_column": columns}
    _source = "source_column"

    @property
    def name(self):
        return "{}_bucketized".format(self.source_column.name)

    @property
    def _ranges(self):
        return len(self.boundaries) + 1

    @property
    def variable_shape(self):
        return tensor_shape.TensorShape(tuple(self.source_column.shape) + (self._ranges,))

    @property
    def num_buckets(self):
        return self._ranges * self.source_column.shape[0]

    def transform_feature(self, transformation_cache, state_manager):
        source = transformation_cache.get(self.source_column, state_manager)
        return gen._bucketize(source, boundaries=self.boundaries)

    def get_dense_tensor(self, transformation_cache, state_manager):
        numbers = transformation_cache.get(self, state_manager)
        return array_ops.one_hot(indices=math_ops.cast(numbers, dtypes.int64), depth=self._ranges, on_value=1.0,
                                 off_value=0.0)

    def get_sparse_tensors(self, transformation_cache, state_manager):
        numbers = transformation_cache.get(self, state_manager)
        batch_size, dimension = array_ops.shape(numbers)[0], self.source_column.shape[0]
        rows = array_ops.reshape(
            gen.tile(array_ops.expand_dims(math_ops.range(0, batch_size), 1), [1, dimension]), (-1,))
        places = gen.tile(math_ops.range(0, dimension), [batch_size])
        # Each place of the vector has ids of its own.
        ids = array_ops.reshape(numbers, (-1,)) + self._ranges * places
        indices = math_ops.cast(array_ops.transpose(array_ops.stack((rows, places))), dtypes.int64)
        dense_shape = math_ops.cast(array_ops.stack([batch_size, dimension]), dtypes.int64)
        return CategoricalColumn.IdWeightPair(sparse_tensor_lib.SparseTensor(indices, ids, dense_shape), None)


def _require_plain(kind, column, cache):
    """ValueError if the categories of a column are sequences."""
    if isinstance(column.categorical_column, SequenceCategoricalColumn):
        old = "_" if isinstance(cache, _LazyBuilder) else ""
        raise ValueError(
            "In {}: {}. categorical_column must not be of type {}SequenceCategoricalColumn. Suggested fix A: If you "
            "wish to use {}, use a non-sequence categorical_column_with_*. Suggested fix B: If you wish to create "
            "sequence input, use {} instead of {}. Given (type {}): {}".format(
                kind, column.name, old, "input_layer" if old else "DenseFeatures",
                "sequence_input_layer" if old else "SequenceFeatures", "input_layer" if old else "DenseFeatures",
                type(column.categorical_column), column.categorical_column))


def _require_sequence(kind, column, cache):
    """ValueError unless the categories of a column are sequences."""
    if not isinstance(column.categorical_column, SequenceCategoricalColumn):
        old = "_" if isinstance(cache, _LazyBuilder) else ""
        raise ValueError(
            "In {}: {}. categorical_column must be of type {}SequenceCategoricalColumn to use {}. Suggested fix: Use "
            "one of sequence_categorical_column_with_*. Given (type {}): {}".format(
                kind, column.name, old, "sequence_input_layer" if old else "SequenceFeatures",
                type(column.categorical_column), column.categorical_column))


def _init_from_checkpoint(column, weights):
    """Lets the variable start with a tensor of a checkpoint, if the column names one."""
    if column.ckpt_to_load_from is None:
        return
    if isinstance(weights, partitioned_variable.PartitionedVariable):
        weights = list(weights)
    checkpoint_utils.init_from_checkpoint(column.ckpt_to_load_from, {column.tensor_name_in_ckpt: weights})


def _lookup(column, weights, pair):
    """The embeddings of each example's ids, combined."""
    name, rank = "%s_weights" % column.name, pair.id_tensor.shape.rank
    if not column.use_safe_embedding_lookup and rank is not None and rank <= 2:
        return embedding_ops.embedding_lookup_sparse(
            weights, pair.id_tensor, pair.weight_tensor, partition_strategy="div", name=name, combiner=column.combiner,
            max_norm=column.max_norm)
    return embedding_ops.safe_embedding_lookup_sparse(
        embedding_weights=weights, sparse_ids=pair.id_tensor, sparse_weights=pair.weight_tensor,
        combiner=column.combiner, name=name, max_norm=column.max_norm)


def _with_length(dense_tensor, pair):
    length = utils.sequence_length_from_sparse_tensor(pair.id_tensor)
    return SequenceDenseColumn.TensorSequenceLengthPair(dense_tensor=dense_tensor, sequence_length=length)


class _OfCategories(Configured, OfColumn, DenseColumn, SequenceDenseColumn, ScopedDense, ScopedSequenceDense):
    """A dense tensor made of a column's categories."""

    _coders = {"categorical_column": columns}


class EmbeddingColumn(
        _OfCategories,
        collections.namedtuple("EmbeddingColumn", (
            "categorical_column", "dimension", "combiner", "initializer", "ckpt_to_load_from", "tensor_name_in_ckpt",
            "max_norm", "trainable", "use_safe_embedding_lookup"), defaults=(True,))):
    """A vector that is learned for each category."""

    _coders = {"categorical_column": columns, "initializer": an_object}

    def _get_config(self):
        config = super()._get_config()
        if self.use_safe_embedding_lookup and not tf2.enabled():
            del config["use_safe_embedding_lookup"]  # version 1 does not know it
        return config

    @property
    def name(self):
        return "{}_embedding".format(self.categorical_column.name)

    @property
    def variable_shape(self):
        return tensor_shape.TensorShape([self.dimension])

    def transform_feature(self, transformation_cache, state_manager):
        return transformation_cache.get(self.categorical_column, state_manager)

    def create_state(self, state_manager):
        state_manager.create_variable(
            self, name="embedding_weights", shape=(buckets_of(self.categorical_column), self.dimension),
            dtype=dtypes.float32, trainable=self.trainable, use_resource=True, initializer=self.initializer)

    def _embed(self, pair, state_manager):
        weights = state_manager.get_variable(self, name="embedding_weights")
        _init_from_checkpoint(self, weights)
        return _lookup(self, weights, pair)

    def get_dense_tensor(self, transformation_cache, state_manager):
        _require_plain("embedding_column", self, transformation_cache)
        return self._embed(transformation_cache.sparse_tensors(self.categorical_column, state_manager), state_manager)

    def get_sequence_dense_tensor(self, transformation_cache, state_manager):
        _require_sequence("embedding_column", self, transformation_cache)
        pair = transformation_cache.sparse_tensors(self.categorical_column, state_manager)
        return _with_length(self._embed(pair, state_manager), pair)


class SharedEmbeddingColumnCreator(tracking.AutoTrackable):
    """Makes the variable that several columns share, one in each graph."""

    def __init__(self, dimension, initializer, ckpt_to_load_from, tensor_name_in_ckpt, num_buckets, trainable,
                 name="shared_embedding_column_creator", use_safe_embedding_lookup=True):
        self._dimension = dimension
        self._initializer = initializer
        self.ckpt_to_load_from = ckpt_to_load_from
        self.tensor_name_in_ckpt = tensor_name_in_ckpt
        self._num_buckets = num_buckets
        self._trainable = trainable
        self._name = name
        self._use_safe_embedding_lookup = use_safe_embedding_lookup
        self._embedding_weights = {}

    def __call__(self, categorical_column, combiner, max_norm):
        return SharedEmbeddingColumn(categorical_column, self, combiner, max_norm, self._use_safe_embedding_lookup)

    @property
    def embedding_weights(self):
        """The variable of the current graph."""
        key = ops.get_default_graph()._graph_key
        if key not in self._embedding_weights:
            weights = variable_scope.get_variable(
                name=self._name, shape=(self._num_buckets, self._dimension), dtype=dtypes.float32,
                initializer=self._initializer, trainable=self._trainable)
            _init_from_checkpoint(self, weights)
            self._embedding_weights[key] = weights
        return self._embedding_weights[key]

    @property
    def dimension(self):
        """The size of a vector."""
        return self._dimension


class SharedEmbeddingColumn(
        DenseColumn, SequenceDenseColumn, _DenseColumn, _SequenceDenseColumn,
        collections.namedtuple("SharedEmbeddingColumn", (
            "categorical_column", "shared_embedding_column_creator", "combiner", "max_norm",
            "use_safe_embedding_lookup"), defaults=(True,))):
    """As EmbeddingColumn, with a variable that several columns share. For layers only."""

    _is_v2_column = True

    @property
    def name(self):
        return "{}_shared_embedding".format(self.categorical_column.name)

    @property
    def parents(self):
        return [self.categorical_column]

    @property
    def parse_example_spec(self):
        return self.categorical_column.parse_example_spec

    @property
    def variable_shape(self):
        return tensor_shape.TensorShape([self.shared_embedding_column_creator.dimension])

    def _refuse(self, *args, **kwargs):
        raise ValueError("SharedEmbeddingColumns are not supported in `linear_model` or `input_layer`. Please use "
                         "`DenseFeatures` or `LinearModel` instead.")

    _transform_feature = _get_dense_tensor = _get_sequence_dense_tensor = _refuse
    _parse_example_spec = _variable_shape = property(_refuse)

    def transform_feature(self, transformation_cache, state_manager):
        return transformation_cache.get(self.categorical_column, state_manager)

    def _embed(self, transformation_cache, state_manager):
        with ops.name_scope(None, default_name=self.name):
            pair = transformation_cache.sparse_tensors(self.categorical_column, state_manager)
            return _lookup(self, self.shared_embedding_column_creator.embedding_weights, pair)

    def get_dense_tensor(self, transformation_cache, state_manager):
        _require_plain("embedding_column", self, transformation_cache)
        return self._embed(transformation_cache, state_manager)

    def get_sequence_dense_tensor(self, transformation_cache, state_manager):
        _require_sequence("embedding_column", self, transformation_cache)
        dense_tensor = self._embed(transformation_cache, state_manager)
        return _with_length(dense_tensor, transformation_cache.sparse_tensors(self.categorical_column, state_manager))

    def _get_config(self):
        raise NotImplementedError("A column that shares its variable cannot be written as a configuration.")

    @classmethod
    def _from_config(cls, config, custom_objects=None, columns_by_name=None):
        raise NotImplementedError("A column that shares its variable cannot be made from a configuration.")


class _SharedEmbeddingColumn(
        _DenseColumn, _SequenceDenseColumn,
        collections.namedtuple("_SharedEmbeddingColumn", (
            "categorical_column", "dimension", "combiner", "initializer", "shared_embedding_collection_name",
            "ckpt_to_load_from", "tensor_name_in_ckpt", "max_norm", "trainable", "use_safe_embedding_lookup"),
            defaults=(True,))):
    """As EmbeddingColumn, with a variable that several columns find through a collection. For `input_layer` only."""

    @property
    def name(self):
        return "{}_shared_embedding".format(self.categorical_column.name)

    @property
    def _var_scope_name(self):
        return self.shared_embedding_collection_name

    @property
    def _parse_example_spec(self):
        return self.categorical_column._parse_example_spec

    @property
    def _variable_shape(self):
        return tensor_shape.TensorShape([self.dimension])

    def _transform_feature(self, inputs):
        return inputs.get(self.categorical_column)

    _FIX = ("Suggested fix A: Choose a unique name for this collection. Suggested fix B: Do not add any variables to "
            "this collection. The feature_column library already adds a variable under the hood.")

    def _weights(self, weight_collections, trainable):
        shape = (self.categorical_column._num_buckets, self.dimension)
        found = ops.get_collection(self.shared_embedding_collection_name)
        if len(found) > 1:
            raise ValueError("Collection {} can only contain one variable. {}".format(found, self._FIX))
        if found:
            if found[0].get_shape() != shape:
                raise ValueError(
                    "Shared embedding collection {} contains variable {} of unexpected shape {}. Expected shape is {}. "
                    "{}".format(self.shared_embedding_collection_name, found[0].name, found[0].get_shape(), shape,
                                self._FIX))
            return found[0]
        weights = variable_scope.get_variable(
            name="embedding_weights", shape=shape, dtype=dtypes.float32, initializer=self.initializer,
            trainable=self.trainable and trainable, collections=weight_collections)
        ops.add_to_collection(self.shared_embedding_collection_name, weights)
        return weights

    def _embed(self, inputs, weight_collections, trainable):
        with ops.name_scope(None, default_name=self.name):
            pair = self.categorical_column._get_sparse_tensors(inputs, weight_collections, trainable)
            weights = self._weights(weight_collections, trainable)
            _init_from_checkpoint(self, weights)
            return _lookup(self, weights, pair)

    def _get_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        _require_plain("embedding_column", self, inputs)
        return self._embed(inputs, weight_collections, trainable)

    def _get_sequence_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        _require_sequence("embedding_column", self, inputs)
        dense_tensor = self._embed(inputs, weight_collections, trainable)
        return _with_length(dense_tensor, self.categorical_column._get_sparse_tensors(inputs))


class IndicatorColumn(_OfCategories, collections.namedtuple("IndicatorColumn", ("categorical_column",))):
    """How often each category occurs."""

    @property
    def name(self):
        return "{}_indicator".format(self.categorical_column.name)

    @property
    def variable_shape(self):
        return tensor_shape.TensorShape([1, buckets_of(self.categorical_column)])

    def transform_feature(self, transformation_cache, state_manager):
        pair = transformation_cache.sparse_tensors(self.categorical_column, state_manager)
        depth = buckets_of(self.categorical_column)
        if pair.weight_tensor is not None:
            weighted = sparse_ops.sparse_merge(sp_ids=pair.id_tensor, sp_values=pair.weight_tensor, vocab_size=depth)
            # Ids of -1 are outside.
            weighted = sparse_ops.sparse_slice(weighted, [0, 0], weighted.dense_shape)
            return gen.scatter_nd(weighted.indices, weighted.values, weighted.dense_shape)
        dense_ids = sparse_ops.sparse_tensor_to_dense(pair.id_tensor, default_value=-1)
        one_hot = array_ops.one_hot(dense_ids, depth=depth, on_value=1.0, off_value=0.0)
        return math_ops.reduce_sum(one_hot, axis=[-2])

    def get_dense_tensor(self, transformation_cache, state_manager):
        _require_plain("indicator_column", self, transformation_cache)
        return transformation_cache.get(self, state_manager)

    def get_sequence_dense_tensor(self, transformation_cache, state_manager):
        _require_sequence("indicator_column", self, transformation_cache)
        dense_tensor = transformation_cache.get(self, state_manager)
        return _with_length(dense_tensor, transformation_cache.sparse_tensors(self.categorical_column, state_manager))
