"""What columns are: their interfaces, and the cache through which they see features and one another.

A column has two interfaces: that of layers, which ask a StateManager for variables, and that of `input_layer` and
`linear_model`, whose methods begin with an underscore and which find variables through variable scopes. A column
computes in the first; `ScopedColumn` is the second in terms of the first.
"""
import abc
import collections
from collections import abc as collections_abc

from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.graph import sparse_tensor as sparse_tensor_lib
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import check_ops
from penstock._src.control_flow import cond as cond_lib
from penstock._src.ops.nn import embedding_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.sparse import sparse_ops
from penstock._src.ops.state import variable_scope
from penstock._src.base import tf_logging as logging


class StateManager:
    """Makes and finds the variables and resources of columns."""

    def create_variable(self, feature_column, name, shape, dtype=None, trainable=True, use_resource=True,
                        initializer=None):
        """A new variable of the column."""
        raise NotImplementedError("StateManager.create_variable")

    def add_variable(self, feature_column, var):
        """Takes a variable that was made elsewhere."""
        raise NotImplementedError("StateManager.add_variable")

    def get_variable(self, feature_column, name):
        """The column's variable of that name."""
        raise NotImplementedError("StateManager.get_var")

    def add_resource(self, feature_column, name, resource):
        """Keeps a resource, such as a table, of the column."""
        raise NotImplementedError("StateManager.add_resource")

    def get_resource(self, feature_column, name):
        """The column's resource of that name."""
        raise NotImplementedError("StateManager.get_resource")


class ScopeState(StateManager):
    """Variables through the variable scope: what `input_layer` gives to columns."""

    def __init__(self, weight_collections=None, trainable=True):
        self._collections = weight_collections and list(weight_collections)
        self._trainable = trainable
        self._made = None

    def create_variable(self, feature_column, name, shape, dtype=None, trainable=True, use_resource=True,
                        initializer=None):
        if self._collections and ops.GraphKeys.GLOBAL_VARIABLES not in self._collections:
            self._collections.append(ops.GraphKeys.GLOBAL_VARIABLES)
        self._made = variable_scope.get_variable(name=name, shape=shape, dtype=dtype, initializer=initializer,
                                                 trainable=self._trainable and trainable,
                                                 collections=self._collections)
        return self._made

    def get_variable(self, feature_column, name):
        feature_column.create_state(self)
        return self._made


class _Ordered(abc.ABC):
    """Columns are sorted where they come from dictionaries and sets."""

    def __lt__(self, other):
        return str(self) < str(other)

    def __gt__(self, other):
        return str(self) > str(other)


class FeatureColumn(_Ordered):
    """A column, as layers use it."""

    @property
    @abc.abstractmethod
    def name(self):
        """Names its variables and operations."""

    @abc.abstractmethod
    def transform_feature(self, transformation_cache, state_manager):
        """The column's tensors from those that the cache has."""

    @property
    @abc.abstractmethod
    def parse_example_spec(self):
        """Names of features to what `tf.io.parse_example` takes."""

    def create_state(self, state_manager):
        """Makes the column's variables."""

    @property
    @abc.abstractmethod
    def _is_v2_column(self):
        """Whether the column and those below it are of this kind."""

    @property
    @abc.abstractmethod
    def parents(self):
        """What the column is computed from: columns and names of features."""

    # Version 1 has them with an underscore, version 2 without; a column defines either.

    def get_config(self):
        """The arguments of the constructor, as what JSON can say."""
        return self._get_config()

    def _get_config(self):
        if type(self).get_config is FeatureColumn.get_config:
            raise NotImplementedError("Must be implemented in subclasses.")
        return self.get_config()

    @classmethod
    def from_config(cls, config, custom_objects=None, columns_by_name=None):
        """A column of such arguments."""
        return cls._from_config(config, custom_objects, columns_by_name)

    @classmethod
    def _from_config(cls, config, custom_objects=None, columns_by_name=None):
        if cls.from_config.__func__ is FeatureColumn.from_config.__func__:
            raise NotImplementedError("Must be implemented in subclasses.")
        return cls.from_config(config, custom_objects, columns_by_name)


class OfFeature:
    """What columns of one feature, called `key`, share."""

    _is_v2_column = True

    @property
    def name(self):
        return self.key

    @property
    def parents(self):
        return [self.key]


class OfColumn:
    """What columns share that are made of another one: the field that `_source` names."""

    _source = "categorical_column"

    @property
    def _below(self):
        return getattr(self, self._source)

    @property
    def _is_v2_column(self):
        return isinstance(self._below, FeatureColumn) and self._below._is_v2_column

    @property
    def parents(self):
        return [self._below]

    @property
    def parse_example_spec(self):
        return self._below.parse_example_spec

    @property
    def _parse_example_spec(self):
        return self._below._parse_example_spec


class DenseColumn(FeatureColumn):
    """A column that gives a dense tensor."""

    @property
    @abc.abstractmethod
    def variable_shape(self):
        """The shape for one example."""

    @abc.abstractmethod
    def get_dense_tensor(self, transformation_cache, state_manager):
        """The tensor: batch, then `variable_shape`."""


class CategoricalColumn(FeatureColumn):
    """A column that gives numbers of categories."""

    IdWeightPair = collections.namedtuple("IdWeightPair", ("id_tensor", "weight_tensor"))

    @property
    @abc.abstractmethod
    def num_buckets(self):
        """How many categories there are."""

    @abc.abstractmethod
    def get_sparse_tensors(self, transformation_cache, state_manager):
        """An IdWeightPair of sparse tensors; weights may be None."""


class SequenceDenseColumn(FeatureColumn):
    """A column that gives a dense tensor for each step of a sequence."""

    TensorSequenceLengthPair = collections.namedtuple("TensorSequenceLengthPair", ("dense_tensor", "sequence_length"))

    @abc.abstractmethod
    def get_sequence_dense_tensor(self, transformation_cache, state_manager):
        """A TensorSequenceLengthPair: batch, steps, then `variable_shape`; and lengths."""


# The same as `input_layer` and `linear_model` use it.


class _FeatureColumn(_Ordered):

    @property
    @abc.abstractmethod
    def name(self):
        """Names its variables and operations."""

    @property
    def _var_scope_name(self):
        return self.name

    @abc.abstractmethod
    def _transform_feature(self, inputs):
        """The column's tensors from those of the builder."""

    @property
    @abc.abstractmethod
    def _parse_example_spec(self):
        """Names of features to what `tf.io.parse_example` takes."""

    def _reset_config(self):
        """Forgets what the column remembers of graphs."""


class _DenseColumn(_FeatureColumn):

    @property
    @abc.abstractmethod
    def _variable_shape(self):
        """The shape for one example."""

    @abc.abstractmethod
    def _get_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        """The tensor: batch, then `_variable_shape`."""


class _CategoricalColumn(_FeatureColumn):

    IdWeightPair = CategoricalColumn.IdWeightPair

    @property
    @abc.abstractmethod
    def _num_buckets(self):
        """How many categories there are."""

    @abc.abstractmethod
    def _get_sparse_tensors(self, inputs, weight_collections=None, trainable=None):
        """An IdWeightPair of sparse tensors; weights may be None."""


class _SequenceDenseColumn(_FeatureColumn):

    TensorSequenceLengthPair = SequenceDenseColumn.TensorSequenceLengthPair

    @abc.abstractmethod
    def _get_sequence_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        """A TensorSequenceLengthPair: batch, steps, then `_variable_shape`; and lengths."""


class ScopedColumn(_FeatureColumn):
    """The old interface by means of the new one."""

    @property
    def _parse_example_spec(self):
        return self.parse_example_spec

    def _transform_feature(self, inputs):
        return self.transform_feature(inputs, None)


class ScopedDense(ScopedColumn, _DenseColumn):

    """A dense column that makes its variables in a scope of its own."""
    @property
    def _variable_shape(self):
        return self.variable_shape

    def _get_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        return self.get_dense_tensor(inputs, ScopeState(weight_collections, trainable))


class ScopedCategorical(ScopedColumn, _CategoricalColumn):

    """A categorical column that makes its variables in a scope of its own."""
    @property
    def _num_buckets(self):
        return self.num_buckets

    def _get_sparse_tensors(self, inputs, weight_collections=None, trainable=None):
        return self.get_sparse_tensors(inputs, None)


class ScopedSequenceDense(ScopedColumn, _SequenceDenseColumn):

    """A dense column of sequences that makes its variables in a scope of its own."""
    @property
    def _variable_shape(self):
        return self.variable_shape

    def _get_sequence_dense_tensor(self, inputs, weight_collections=None, trainable=None):
        return self.get_sequence_dense_tensor(inputs, ScopeState(weight_collections, trainable))


class FeatureTransformationCache:
    """Features, and what columns made of them: each column is computed once."""

    _KIND, _KIND_NAME = FeatureColumn, "FeatureColumn"

    def __init__(self, features):
        self._features = features.copy()
        self._feature_tensors = {}

    def get(self, key, state_manager=None):
        """The tensor of a feature, with a batch and at least one more dimension, or of a column."""
        if key in self._feature_tensors:
            return self._feature_tensors[key]
        if key in self._features:
            tensor = self._get_raw_feature_as_tensor(key)
            self._feature_tensors[key] = tensor
            return tensor
        if isinstance(key, str):
            raise ValueError("Feature {} is not in features dictionary.".format(key))
        if not isinstance(key, self._KIND):
            raise TypeError('"key" must be either a "str" or "{}". Provided: {}'.format(self._KIND_NAME, key))
        logging.debug("Transforming feature_column %s.", key)
        transformed = self.transform(key, state_manager)
        if transformed is None:
            raise ValueError("Column {} is not supported.".format(key.name))
        self._feature_tensors[key] = transformed
        return transformed

    def transform(self, column, state_manager):
        """The column's tensors, computed anew."""
        return column.transform_feature(self, state_manager)

    def sparse_tensors(self, column, state_manager):
        """The column's ids and weights."""
        return column.get_sparse_tensors(self, state_manager)

    def _get_raw_feature_as_tensor(self, key):
        tensor = sparse_tensor_lib.convert_to_tensor_or_sparse_tensor(self._features[key])

        def expand_dims(x):
            if isinstance(x, sparse_tensor_lib.SparseTensor):
                return sparse_ops.sparse_reshape(x, [array_ops.shape(x)[0], 1])
            return array_ops.expand_dims(x, -1)

        rank = tensor.get_shape().ndims
        message = "Feature (key: {}) cannot have rank 0. Given: {}".format(key, tensor)
        if rank is not None:
            if rank == 0:
                raise ValueError(message)
            return tensor if rank != 1 else expand_dims(tensor)
        with ops.control_dependencies([check_ops.assert_positive(array_ops.rank(tensor), message=message)]):
            return cond_lib.cond(math_ops.equal(1, array_ops.rank(tensor)), lambda: expand_dims(tensor),
                                 lambda: tensor)


class _LazyBuilder(FeatureTransformationCache):
    """The same for columns of the old interface."""

    _KIND, _KIND_NAME = _FeatureColumn, "_FeatureColumn"

    def transform(self, column, state_manager):
        return column._transform_feature(self)

    def sparse_tensors(self, column, state_manager):
        return column._get_sparse_tensors(self)


def buckets_of(column):
    """How many categories a column of either interface has."""
    return column.num_buckets if isinstance(column, FeatureColumn) else column._num_buckets


def normalize_feature_columns(feature_columns, kind=FeatureColumn):
    """A list of columns with different names."""
    if isinstance(feature_columns, kind):
        feature_columns = [feature_columns]
    if isinstance(feature_columns, collections_abc.Iterator):
        feature_columns = list(feature_columns)
    if isinstance(feature_columns, dict):
        raise ValueError("Expected feature_columns to be iterable, found dict.")
    for column in feature_columns:
        if not isinstance(column, kind):
            raise ValueError("Items of feature_columns must be a {}. Given (type {}): {}.".format(
                kind.__name__, type(column), column))
    if not feature_columns:
        raise ValueError("feature_columns must not be empty.")
    named = {}
    for column in feature_columns:
        if column.name in named:
            raise ValueError("Duplicate feature column name found for columns: {} and {}. This usually means that "
                             "these columns refer to same base feature. Either one must be discarded or a duplicated "
                             "but renamed item must be inserted in features dict.".format(column, named[column.name]))
        named[column.name] = column
    return feature_columns


def example_spec(feature_columns, kind, spec_of):
    """The joined specifications of columns for `tf.io.parse_example`; ValueError if two disagree."""
    result = {}
    for column in feature_columns:
        if not isinstance(column, kind):
            raise ValueError("All feature_columns must be {} instances. Given: {}".format(kind.__name__, column))
        for key, value in spec_of(column).items():
            if key in result and value != result[key]:
                raise ValueError("feature_columns contain different parse_spec for key {}. Given {} and {}".format(
                    key, value, result[key]))
            result[key] = value
    return result


def verify_static_batch_size_equality(tensors, columns):
    """ValueError if two tensors have batches of different sizes."""
    first = expected = None
    for tensor, column in zip(tensors, columns):
        size = tensor.shape[0]
        size = getattr(size, "value", size)
        if size is None:
            continue
        if expected is None:
            first, expected = column, size
        elif size != expected:
            raise ValueError("Batch size (first dimension) of each feature must be same. Batch size of columns ({}, "
                             "{}): ({}, {})".format(first.name, column.name, expected, size))


def to_sparse_input(input_tensor, ignore_value=None):
    """A sparse tensor of what is not `ignore_value` (the empty string, -1, 0.0); a sparse tensor as it is."""
    input_tensor = sparse_tensor_lib.convert_to_tensor_or_sparse_tensor(input_tensor)
    if isinstance(input_tensor, sparse_tensor_lib.SparseTensor):
        return input_tensor
    with ops.name_scope(None, "to_sparse_input", (input_tensor, ignore_value)):
        if ignore_value is None:
            if input_tensor.dtype == dtypes.string:
                ignore_value = ""
            elif input_tensor.dtype.is_integer:
                ignore_value = -1
            else:
                ignore_value = input_tensor.dtype.as_numpy_dtype()
        ignore_value = math_ops.cast(ignore_value, input_tensor.dtype, name="ignore_value")
        indices = array_ops.where_v2(math_ops.not_equal(input_tensor, ignore_value), name="indices")
        return sparse_tensor_lib.SparseTensor(
            indices=indices, values=array_ops.gather_nd(input_tensor, indices, name="values"),
            dense_shape=array_ops.shape(input_tensor, out_type=dtypes.int64, name="dense_shape"))



def dense_weighted_sum(tensor, num_elements, weight_var):
    """A dense column's part of a linear model."""
    batch_size = array_ops.shape(tensor)[0]
    tensor = array_ops.reshape(tensor, shape=(batch_size, num_elements))
    return math_ops.matmul(tensor, weight_var, name="weighted_sum")


def categorical_weighted_sum(sparse_tensors, sparse_combiner, weight_var):
    """A categorical column's part of a linear model."""

    def as_matrix(tensor):
        return sparse_ops.sparse_reshape(tensor, [array_ops.shape(tensor)[0], -1])

    ids, weights = as_matrix(sparse_tensors.id_tensor), sparse_tensors.weight_tensor
    if weights is not None:
        weights = as_matrix(weights)
    return embedding_ops.safe_embedding_lookup_sparse(weight_var, ids, sparse_weights=weights, combiner=sparse_combiner,
                                                      name="weighted_sum")
