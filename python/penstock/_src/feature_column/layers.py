"""Layers of feature columns, which follow Keras in that they own their variables and open no variable scope."""
import collections

from penstock._src.feature_column import base
from penstock._src.feature_column.base import CategoricalColumn, DenseColumn, StateManager
from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.keras.engine import training
from penstock._src.layers import base as base_layer
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import init_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.nn import nn_activation
from penstock._src.ops.state import variable_scope


class KerasLayer(base_layer.Layer):
    """A layer that is named and that names what it makes as Keras does, whatever the mode of `tf.layers`."""

    def __init__(self, *args, **kwargs):
        super().__init__(*args, **kwargs)
        self._keras_style = True

    def _init_set_name(self, name):
        self._base_name = self._name = name
        if not name:
            self._name, self._base_name = self._make_unique_name(zero_based=True)


class KerasModel(KerasLayer, training.Model):
    """A model of the same kind."""


class StateManagerImpl(StateManager):
    """Variables of a layer that stand in the current variable scope."""

    def __init__(self, layer, trainable):
        self._trainable = trainable
        self._layer = layer
        if layer is not None and not hasattr(layer, "_resources"):
            layer._resources = []
        self._cols_to_vars_map = collections.defaultdict(dict)
        self._cols_to_resources_map = collections.defaultdict(dict)

    def create_variable(self, feature_column, name, shape, dtype=None, trainable=True, use_resource=True,
                        initializer=None):
        if name in self._cols_to_vars_map[feature_column]:
            raise ValueError("Variable already exists.")
        variable = self._make(name, shape, dtype, self._trainable and trainable, use_resource, initializer)
        self._cols_to_vars_map[feature_column][name] = variable
        return variable

    def _make(self, name, shape, dtype, trainable, use_resource, initializer):
        if not isinstance(self._layer, KerasLayer):  # a layer of the package tf_keras
            return self._layer.add_weight(name=name, shape=shape, dtype=dtype, initializer=initializer,
                                          trainable=trainable, use_resource=use_resource,
                                          getter=variable_scope.get_variable)
        return add_scoped_variable(self._layer, name, shape, dtype, initializer, trainable, use_resource)

    def get_variable(self, feature_column, name):
        if name not in self._cols_to_vars_map[feature_column]:
            raise ValueError("Variable does not exist.")
        return self._cols_to_vars_map[feature_column][name]

    def add_resource(self, feature_column, name, resource):
        self._cols_to_resources_map[feature_column][name] = resource
        if self._layer is not None:
            self._layer._resources.append(resource)

    def has_resource(self, feature_column, name):
        return name in self._cols_to_resources_map[feature_column]

    def get_resource(self, feature_column, name):
        if name not in self._cols_to_resources_map[feature_column]:
            raise ValueError("Resource does not exist.")
        return self._cols_to_resources_map[feature_column][name]


class StateManagerImplV2(StateManagerImpl):
    """Variables that the layer names itself."""

    def _make(self, name, shape, dtype, trainable, use_resource, initializer):
        return self._layer.add_variable(name=name, shape=shape, dtype=dtype, initializer=initializer,
                                        trainable=trainable, use_resource=use_resource)


def add_scoped_variable(layer, name, shape, dtype, initializer, trainable, use_resource=True):
    """A variable of a Keras layer that is made by `tf.get_variable`, so that scopes name and partition it."""
    variable = variable_scope.get_variable(name=name, shape=shape, dtype=dtype, initializer=initializer,
                                           trainable=trainable, use_resource=use_resource)
    layer._weight_added(name, variable, trainable, None, set())
    return variable


class BaseFeaturesLayer(KerasLayer):
    """Joins what dense columns give."""

    def __init__(self, feature_columns, expected_column_type, trainable, name, **kwargs):
        super().__init__(name=name, trainable=trainable, **kwargs)
        self._feature_columns = sorted_columns(feature_columns)
        self._state_manager = StateManagerImpl(self, self.trainable)
        for column in self._feature_columns:
            if not isinstance(column, expected_column_type):
                raise ValueError("Items of feature_columns must be a {}. You can wrap a categorical column with an "
                                 "embedding_column or indicator_column. Given: {}".format(expected_column_type, column))

    def build(self, _):
        """Makes the columns' variables."""
        for column in self._feature_columns:
            with variable_scope._pure_variable_scope(self.name):
                with variable_scope._pure_variable_scope(column.name):
                    column.create_state(self._state_manager)
        self.built = True

    def _target_shape(self, input_shape, num_elements):
        raise NotImplementedError("Calling an abstract method.")

    def compute_output_shape(self, input_shape):
        """The shape of the result."""
        total = sum(column.variable_shape.num_elements() for column in self._feature_columns)
        return self._target_shape(input_shape, total)

    def _process_dense_tensor(self, column, tensor):
        shape = self._target_shape(array_ops.shape(tensor), column.variable_shape.num_elements())
        return array_ops.reshape(tensor, shape=shape)

    def _verify_and_concat_tensors(self, output_tensors):
        base.verify_static_batch_size_equality(output_tensors, self._feature_columns)
        return array_ops.concat(output_tensors, -1)

    def get_config(self):
        """The layer as a configuration."""
        from penstock._src.feature_column import serialization
        config = super().get_config()
        config["feature_columns"] = serialization.serialize_feature_columns(self._feature_columns)
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """The layer of a configuration."""
        from penstock._src.feature_column import serialization
        columns = serialization.deserialize_feature_columns(config["feature_columns"], custom_objects=custom_objects)
        return cls(**dict(config, feature_columns=columns))


def sorted_columns(feature_columns):
    """The columns by name."""
    return sorted(base.normalize_feature_columns(feature_columns), key=lambda column: column.name)


def require_dict(features):
    """ValueError unless the features have names."""
    if not isinstance(features, dict):
        raise ValueError("We expected a dictionary here. Instead we got: ", features)


class LinearModelLayer(KerasLayer):
    """A linear combination of columns."""

    def __init__(self, feature_columns, units=1, sparse_combiner="sum", trainable=True, name=None, **kwargs):
        super().__init__(name=name, trainable=trainable, **kwargs)
        self._feature_columns = sorted_columns(feature_columns)
        for column in self._feature_columns:
            if not isinstance(column, (DenseColumn, CategoricalColumn)):
                raise ValueError("Items of feature_columns must be either a DenseColumn or CategoricalColumn. Given: "
                                 "{}".format(column))
        self._units = units
        self._sparse_combiner = sparse_combiner
        self._state_manager = StateManagerImpl(self, self.trainable)
        self.bias = None

    def build(self, _):
        """Makes the weights of each column and the bias."""
        with variable_scope._pure_variable_scope(self.name):
            for column in self._feature_columns:
                with variable_scope._pure_variable_scope(column.name):
                    column.create_state(self._state_manager)
                    rows = (column.num_buckets if isinstance(column, CategoricalColumn) else
                            column.variable_shape.num_elements())
                    self._state_manager.create_variable(
                        column, name="weights", dtype=dtypes.float32, shape=(rows, self._units),
                        initializer=init_ops.zeros_initializer(), trainable=self.trainable)
            self.bias = add_scoped_variable(self, "bias_weights", [self._units], dtypes.float32,
                                            init_ops.zeros_initializer(), self.trainable)
        self.built = True

    def _weighted_sum(self, column, cache):
        weights = self._state_manager.get_variable(column, "weights")
        if isinstance(column, CategoricalColumn):
            pair = column.get_sparse_tensors(cache, self._state_manager)
            return base.categorical_weighted_sum(pair, self._sparse_combiner, weights)
        tensor = column.get_dense_tensor(cache, self._state_manager)
        return base.dense_weighted_sum(tensor, column.variable_shape.num_elements(), weights)

    def call(self, features):
        """The sums, one row an example."""
        require_dict(features)
        with ops.name_scope(self.name):
            cache = base.FeatureTransformationCache(features)
            sums = []
            for column in self._feature_columns:
                with ops.name_scope(column.name):
                    sums.append(self._weighted_sum(column, cache))
            base.verify_static_batch_size_equality(sums, self._feature_columns)
            without_bias = math_ops.add_n(sums, name="weighted_sum_no_bias")
            return nn_activation.bias_add(without_bias, self.bias, name="weighted_sum")

    def get_config(self):
        """The layer as a configuration."""
        from penstock._src.feature_column import serialization
        config = super().get_config()
        config.update(feature_columns=serialization.serialize_feature_columns(self._feature_columns),
                      units=self._units, sparse_combiner=self._sparse_combiner)
        return config

    @classmethod
    def from_config(cls, config, custom_objects=None):
        """The layer of a configuration."""
        from penstock._src.feature_column import serialization
        columns = serialization.deserialize_feature_columns(config["feature_columns"], custom_objects=custom_objects)
        return cls(**dict(config, feature_columns=columns))


class LinearModel(KerasModel):
    """A linear combination of columns, as a model."""

    def __init__(self, feature_columns, units=1, sparse_combiner="sum", trainable=True, name=None, **kwargs):
        super().__init__(name=name, **kwargs)
        self.layer = LinearModelLayer(feature_columns, units, sparse_combiner, trainable, name=self.name, **kwargs)

    def call(self, features):
        """The sums, one row an example."""
        return self.layer(features)

    @property
    def bias(self):
        """The variable that is added to each sum."""
        return self.layer.bias
