"""`input_layer` and `linear_model`: columns as functions with variable scopes."""
from penstock._src.feature_column import base
from penstock._src.feature_column import feature_column_v2 as v2
from penstock._src.feature_column.base import (  # noqa: F401
    _CategoricalColumn, _DenseColumn, _FeatureColumn, _LazyBuilder, _SequenceDenseColumn,
    to_sparse_input as _to_sparse_input_and_drop_ignore_values,
    verify_static_batch_size_equality as _verify_static_batch_size_equality)
from penstock._src.feature_column.categorical_columns import (  # noqa: F401
    CrossedColumn as _CrossedColumn, HashedCategoricalColumn as _HashedCategoricalColumn,
    IdentityCategoricalColumn as _IdentityCategoricalColumn, SequenceCategoricalColumn as _SequenceCategoricalColumn,
    VocabularyFileCategoricalColumn as _VocabularyFileCategoricalColumn,
    VocabularyListCategoricalColumn as _VocabularyListCategoricalColumn,
    WeightedCategoricalColumn as _WeightedCategoricalColumn)
from penstock._src.feature_column.dense_columns import (  # noqa: F401
    BucketizedColumn as _BucketizedColumn, EmbeddingColumn as _EmbeddingColumn, IndicatorColumn as _IndicatorColumn,
    NumericColumn as _NumericColumn, _SharedEmbeddingColumn)
from penstock._src.feature_column.layers import KerasModel
from penstock._src.graph import ops
from penstock._src.layers import base as base_layer
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import init_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.nn import nn_activation
from penstock._src.ops.state import partitioned_variable
from penstock._src.checkpoint import template
from penstock._src.ops.state import variable_scope

# One kind of column serves both interfaces.
_numeric_column = v2.numeric_column
_bucketized_column = v2.bucketized_column
_categorical_column_with_hash_bucket = v2.categorical_column_with_hash_bucket
_categorical_column_with_identity = v2.categorical_column_with_identity
_categorical_column_with_vocabulary_file = v2.categorical_column_with_vocabulary_file
_categorical_column_with_vocabulary_list = v2.categorical_column_with_vocabulary_list
_crossed_column = v2.crossed_column
_embedding_column = v2.embedding_column
_indicator_column = v2.indicator_column
_weighted_categorical_column = v2.weighted_categorical_column


def _normalize_feature_columns(feature_columns):
    return base.normalize_feature_columns(feature_columns, _FeatureColumn)


def make_parse_example_spec(feature_columns):
    """What `tf.io.parse_example` needs for the columns."""
    return base.example_spec(feature_columns, _FeatureColumn, lambda column: column._parse_example_spec)


def _transform_features(features, feature_columns):
    """The columns' transformed features."""
    outputs = {}
    with ops.name_scope(None, default_name="transform_features", values=features.values()):
        builder = _LazyBuilder(features)
        for column in sorted(_normalize_feature_columns(feature_columns), key=lambda column: column.name):
            with ops.name_scope(None, default_name=column.name):
                outputs[column] = builder.get(column)
    return outputs


def _collections(weight_collections):
    weight_collections = list(weight_collections or [])
    for name in (ops.GraphKeys.GLOBAL_VARIABLES, ops.GraphKeys.MODEL_VARIABLES):
        if name not in weight_collections:
            weight_collections.append(name)
    return weight_collections


def _internal_input_layer(features, feature_columns, weight_collections=None, trainable=True, cols_to_vars=None,
                          scope=None, cols_to_output_tensors=None, from_template=False):
    feature_columns = _normalize_feature_columns(feature_columns)
    for column in feature_columns:
        if not isinstance(column, _DenseColumn):
            raise ValueError("Items of feature_columns must be a _DenseColumn. You can wrap a categorical column with "
                             "an embedding_column or indicator_column. Given: {}".format(column))
    weight_collections = _collections(weight_collections)

    def joined():
        builder = _LazyBuilder(features)
        outputs = []
        ordered = sorted(feature_columns, key=lambda column: column.name)
        for column in ordered:
            with variable_scope.variable_scope(None, default_name=column._var_scope_name):
                tensor = column._get_dense_tensor(builder, weight_collections=weight_collections, trainable=trainable)
                batch_size = array_ops.shape(tensor)[0]
                tensor = array_ops.reshape(tensor, shape=(batch_size, column._variable_shape.num_elements()))
                outputs.append(tensor)
                if cols_to_vars is not None:
                    cols_to_vars[column] = ops.get_collection(ops.GraphKeys.GLOBAL_VARIABLES,
                                                              scope=variable_scope.get_variable_scope().name)
                if cols_to_output_tensors is not None:
                    cols_to_output_tensors[column] = tensor
        _verify_static_batch_size_equality(outputs, ordered)
        return array_ops.concat(outputs, 1)

    if from_template:
        return joined()
    with variable_scope.variable_scope(scope, default_name="input_layer", values=features.values()):
        return joined()


def input_layer(features, feature_columns, weight_collections=None, trainable=True, cols_to_vars=None,
                cols_to_output_tensors=None):
    """A matrix with what dense columns make of the features, columns by name.

    cols_to_vars, cols_to_output_tensors: dicts that get the variables and the part of each column.
    """
    return _internal_input_layer(features, feature_columns, weight_collections=weight_collections, trainable=trainable,
                                 cols_to_vars=cols_to_vars, cols_to_output_tensors=cols_to_output_tensors)


class InputLayer:
    """`input_layer` as an object: all calls use the same variables."""

    def __init__(self, feature_columns, weight_collections=None, trainable=True, cols_to_vars=None,
                 name="feature_column_input_layer", create_scope_now=True):
        self._feature_columns = feature_columns
        self._weight_collections = weight_collections
        self._trainable = trainable
        self._cols_to_vars = cols_to_vars
        self._name = name
        self._input_layer_template = template.make_template(name, _internal_input_layer,
                                                            create_scope_now_=create_scope_now)
        self._scope = self._input_layer_template.variable_scope

    def __call__(self, features):
        return self._input_layer_template(
            features=features, feature_columns=self._feature_columns, weight_collections=self._weight_collections,
            trainable=self._trainable, cols_to_vars=None, from_template=True)

    @property
    def name(self):
        """The name of its variable scope."""
        return self._name

    def __getattr__(self, name):
        if name in ("variables", "weights", "trainable_variables", "trainable_weights", "non_trainable_variables",
                    "non_trainable_weights"):
            return getattr(self._input_layer_template, name)
        raise AttributeError(name)


def _strip_leading_slashes(name):
    return name.rsplit("/", 1)[-1]


def linear_model(features, feature_columns, units=1, sparse_combiner="sum", weight_collections=None, trainable=True,
                 cols_to_vars=None):
    """A linear combination of columns: [batch, units].

    sparse_combiner: How the weights of an example's categories are joined: sum, mean or sqrtn.
    cols_to_vars: A dict that gets the variables of each column and, as "bias", that of the bias.
    """
    with variable_scope.variable_scope(None, "linear_model") as vs:
        model_name = _strip_leading_slashes(vs.name)
    model = _LinearModel(feature_columns=feature_columns, units=units, sparse_combiner=sparse_combiner,
                         weight_collections=weight_collections, trainable=trainable, name=model_name)
    result = model(features)
    if cols_to_vars is not None:
        cols_to_vars.update(model.cols_to_vars())
    return result


def _parts(variable):
    return list(variable) if isinstance(variable, partitioned_variable.PartitionedVariable) else [variable]


def _add_to_collections(variable, weight_collections):
    for name in weight_collections:
        # The layer has put it there.
        if name != ops.GraphKeys.GLOBAL_VARIABLES:
            for part in _parts(variable):
                ops.add_to_collection(name, part)


class _FCLinearWrapper(base_layer.Layer):
    """One column's part of a linear model."""

    def __init__(self, feature_column, units=1, sparse_combiner="sum", weight_collections=None, trainable=True,
                 name=None, **kwargs):
        super().__init__(trainable=trainable, name=name, **kwargs)
        self._feature_column = feature_column
        self._units = units
        self._sparse_combiner = sparse_combiner
        self._weight_collections = weight_collections

    def build(self, _):
        """Makes the weights."""
        column = self._feature_column
        rows = (column._num_buckets if isinstance(column, _CategoricalColumn) else
                column._variable_shape.num_elements())
        self._weight_var = self.add_variable(name="weights", shape=[rows, self._units],
                                             initializer=init_ops.zeros_initializer(), trainable=self.trainable)
        _add_to_collections(self._weight_var, self._weight_collections)
        self.built = True

    def call(self, builder):
        """The column's weighted sum."""
        column, given = self._feature_column, (builder, self._weight_collections, self.trainable)
        if isinstance(column, _CategoricalColumn):
            return base.categorical_weighted_sum(column._get_sparse_tensors(*given), self._sparse_combiner,
                                                 self._weight_var)
        return base.dense_weighted_sum(column._get_dense_tensor(*given), column._variable_shape.num_elements(),
                                       self._weight_var)


class _BiasLayer(base_layer.Layer):

    def __init__(self, units=1, trainable=True, weight_collections=None, name=None, **kwargs):
        super().__init__(trainable=trainable, name=name, **kwargs)
        self._units = units
        self._weight_collections = weight_collections

    def build(self, _):
        """Makes the variable."""
        self._bias_variable = self.add_variable("bias_weights", shape=[self._units],
                                                initializer=init_ops.zeros_initializer(), trainable=self.trainable)
        _add_to_collections(self._bias_variable, self._weight_collections)
        self.built = True

    def call(self, _):
        """The variable."""
        return self._bias_variable


class _LinearModel(KerasModel):
    """A linear combination of columns with variable scopes."""

    def __init__(self, feature_columns, units=1, sparse_combiner="sum", weight_collections=None, trainable=True,
                 name=None, **kwargs):
        super().__init__(name=name, **kwargs)
        self._feature_columns = _normalize_feature_columns(feature_columns)
        self._weight_collections = _collections(weight_collections)
        column_layers = {}
        for column in sorted(self._feature_columns, key=lambda column: column.name):
            with variable_scope.variable_scope(None, default_name=column._var_scope_name) as vs:
                column_name = _strip_leading_slashes(vs.name)
            column_layers[column_name] = _FCLinearWrapper(column, units, sparse_combiner, self._weight_collections,
                                                          trainable, column_name, **kwargs)
        for layer_name, layer in column_layers.items():
            setattr(self, "layer-%s" % layer_name, layer)
        self._column_layers = column_layers
        self._bias_layer = _BiasLayer(units=units, trainable=trainable, weight_collections=self._weight_collections,
                                      name="bias_layer", **kwargs)
        self._cols_to_vars = {}

    def cols_to_vars(self):
        """The variables of each column and of the bias."""
        return self._cols_to_vars

    def call(self, features):
        """The sums, one row an example."""
        with variable_scope.variable_scope(self.name):
            for column in self._feature_columns:
                if not isinstance(column, (_DenseColumn, _CategoricalColumn)):
                    raise ValueError("Items of feature_columns must be either a _DenseColumn or _CategoricalColumn. "
                                     "Given: {}".format(column))
            sums, ordered = [], []
            builder = _LazyBuilder(features)
            for layer in sorted(self._column_layers.values(), key=lambda layer: layer.name):
                column = layer._feature_column
                ordered.append(column)
                sums.append(layer(builder))
                self._cols_to_vars[column] = ops.get_collection(ops.GraphKeys.GLOBAL_VARIABLES, scope=layer.scope_name)
            _verify_static_batch_size_equality(sums, ordered)
            without_bias = math_ops.add_n(sums, name="weighted_sum_no_bias")
            bias = self._bias_layer(builder, scope=variable_scope.get_variable_scope())
            self._cols_to_vars["bias"] = _parts(self._bias_layer.variables[0])
            return nn_activation.bias_add(without_bias, bias, name="weighted_sum")
