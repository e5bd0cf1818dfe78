"""Estimators of deep neural networks."""
from penstock._src.estimator import estimator
from penstock._src.estimator.canned import head as head_lib
from penstock._src.estimator.canned import optimizers
from penstock._src.estimator.canned.linear import require_dict
from penstock._src.saved_model.model_utils.mode_keys import EstimatorModeKeys as ModeKeys
from penstock._src.feature_column import dense_features
from penstock._src.feature_column import feature_column
from penstock._src.feature_column import feature_column_v2
from penstock._src.feature_column.layers import KerasModel
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.layers import core as core_layers
from penstock._src.layers import normalization
from penstock._src.ops.state import init_ops
from penstock._src.ops.nn import nn_impl
from penstock._src.ops.state import partitioned_variables
from penstock._src.ops.state import variable_scope
from penstock._src.ops.metrics import losses_impl
from penstock._src.summary import summary

_LEARNING_RATE = 0.05


def add_layer_summary(value, tag):
    """How many of a layer's values are zero, and which it has."""
    summary.scalar("%s/fraction_of_zero_values" % tag, nn_impl.zero_fraction(value))
    summary.histogram("%s/activation" % tag, value)


def dnn_logit_fn_builder(units, hidden_units, feature_columns, activation_fn, dropout, input_layer_partitioner,
                         batch_norm):
    """A function from features to the logits of a network."""
    if not isinstance(units, int):
        raise ValueError("units must be an int.  Given type: {}".format(type(units)))

    def dnn_logit_fn(features, mode):
        model = _DNNModel(units, hidden_units, feature_columns, activation_fn, dropout, input_layer_partitioner,
                          batch_norm, name="dnn")
        return model(features, mode)

    return dnn_logit_fn


class _DNNModel(KerasModel):
    """Hidden layers, one after the other."""

    def __init__(self, units, hidden_units, feature_columns, activation_fn, dropout, input_layer_partitioner,
                 batch_norm, name=None, **kwargs):
        super().__init__(name=name, **kwargs)
        if feature_column_v2.is_feature_column_v2(feature_columns):
            self._input_layer = dense_features.DenseFeatures(feature_columns=feature_columns, name="input_layer")
        else:
            self._input_layer = feature_column.InputLayer(feature_columns=feature_columns, name="input_layer",
                                                          create_scope_now=False)
        self._add_layer(self._input_layer, "input_layer")
        self._dropout = dropout
        self._batch_norm = batch_norm
        self._hidden_layers = []
        self._dropout_layers = []
        self._batch_norm_layers = []
        self._hidden_layer_scope_names = []
        for i, size in enumerate(hidden_units):
            with variable_scope.variable_scope("hiddenlayer_%d" % i) as scope:
                layer = self._dense(size, activation_fn, scope)
                self._hidden_layer_scope_names.append(scope.name)
                self._hidden_layers.append(layer)
                if dropout is not None:
                    layer = core_layers.Dropout(rate=dropout)
                    self._add_layer(layer, layer.name)
                    self._dropout_layers.append(layer)
                if batch_norm:
                    # The old layer trains much like this with so long a memory.
                    layer = normalization.BatchNormalization(momentum=0.999, trainable=True, name="batchnorm_%d" % i,
                                                             _scope="batchnorm_%d" % i)
                    self._add_layer(layer, layer.name)
                    self._batch_norm_layers.append(layer)
        with variable_scope.variable_scope("logits") as scope:
            self._logits_layer = self._dense(units, None, scope)
            self._logits_scope_name = scope.name
        self._input_layer_partitioner = input_layer_partitioner

    def _dense(self, units, activation, scope):
        layer = core_layers.Dense(units=units, activation=activation,
                                  kernel_initializer=init_ops.glorot_uniform_initializer(), name=scope, _scope=scope)
        self._add_layer(layer, scope.name)
        return layer

    def _add_layer(self, layer, layer_name):
        # An attribute's layers are the model's.
        setattr(self, layer_name, layer)

    def call(self, features, mode):
        """The logits."""
        is_training = mode == ModeKeys.TRAIN
        # A model has a name scope of its own, but the network has that of its variables.
        outer = ops.get_default_graph().get_name_scope().rsplit("/", 1)[0] + "/"
        with ops.name_scope(name=outer):
            with variable_scope.variable_scope("input_from_feature_columns",
                                               partitioner=self._input_layer_partitioner):
                net = self._input_layer(features)
            for i, layer in enumerate(self._hidden_layers):
                net = layer(net)
                if self._dropout is not None and is_training:
                    net = self._dropout_layers[i](net, training=True)
                if self._batch_norm:
                    net = self._batch_norm_layers[i](net, training=is_training)
                add_layer_summary(net, self._hidden_layer_scope_names[i])
            logits = self._logits_layer(net)
            add_layer_summary(logits, self._logits_scope_name)
            return logits


def _dnn_model_fn(features, labels, mode, head, hidden_units, feature_columns, optimizer="Adagrad",
                  activation_fn=gen.relu, dropout=None, input_layer_partitioner=None, config=None, batch_norm=False):
    optimizer = optimizers.get_optimizer_instance(optimizer, learning_rate=_LEARNING_RATE)
    require_dict(features)
    replicas = config.num_ps_replicas if config else 0
    partitioner = partitioned_variables.min_max_variable_partitioner(max_partitions=replicas)
    with variable_scope.variable_scope("dnn", values=tuple(features.values()), partitioner=partitioner):
        input_layer_partitioner = input_layer_partitioner or partitioned_variables.min_max_variable_partitioner(
            max_partitions=replicas, min_slice_size=64 << 20)
        logit_fn = dnn_logit_fn_builder(
            units=head.logits_dimension, hidden_units=hidden_units, feature_columns=feature_columns,
            activation_fn=activation_fn, dropout=dropout, input_layer_partitioner=input_layer_partitioner,
            batch_norm=batch_norm)
        logits = logit_fn(features=features, mode=mode)
        return head.create_estimator_spec(features=features, mode=mode, labels=labels, optimizer=optimizer,
                                          logits=logits)


class DNNEstimator(estimator.Estimator):
    """A network with any head.

    hidden_units: Sizes of the hidden layers.
    """

    def __init__(self, head, hidden_units, feature_columns, model_dir=None, optimizer="Adagrad", activation_fn=gen.relu,
                 dropout=None, input_layer_partitioner=None, config=None, warm_start_from=None, batch_norm=False):

        def _model_fn(features, labels, mode, config):
            return _dnn_model_fn(
                features=features, labels=labels, mode=mode, head=head, hidden_units=hidden_units,
                feature_columns=tuple(feature_columns or []), optimizer=optimizer, activation_fn=activation_fn,
                dropout=dropout, input_layer_partitioner=input_layer_partitioner, config=config, batch_norm=batch_norm)

        super().__init__(model_fn=_model_fn, model_dir=model_dir, config=config, warm_start_from=warm_start_from)


class DNNClassifier(DNNEstimator):
    """A network that classifies."""

    def __init__(self, hidden_units, feature_columns, model_dir=None, n_classes=2, weight_column=None,
                 label_vocabulary=None, optimizer="Adagrad", activation_fn=gen.relu, dropout=None,
                 input_layer_partitioner=None, config=None, warm_start_from=None,
                 loss_reduction=losses_impl.Reduction.SUM, batch_norm=False):
        head = head_lib._binary_logistic_or_multi_class_head(n_classes, weight_column, label_vocabulary,
                                                             loss_reduction)
        super().__init__(head, hidden_units, feature_columns, model_dir=model_dir, optimizer=optimizer,
                         activation_fn=activation_fn, dropout=dropout,
                         input_layer_partitioner=input_layer_partitioner, config=config,
                         warm_start_from=warm_start_from, batch_norm=batch_norm)


class DNNRegressor(DNNEstimator):
    """A network that gives numbers."""

    def __init__(self, hidden_units, feature_columns, model_dir=None, label_dimension=1, weight_column=None,
                 optimizer="Adagrad", activation_fn=gen.relu, dropout=None, input_layer_partitioner=None, config=None,
                 warm_start_from=None, loss_reduction=losses_impl.Reduction.SUM, batch_norm=False):
        head = head_lib._regression_head(label_dimension=label_dimension, weight_column=weight_column,
                                         loss_reduction=loss_reduction)
        super().__init__(head, hidden_units, feature_columns, model_dir=model_dir, optimizer=optimizer,
                         activation_fn=activation_fn, dropout=dropout,
                         input_layer_partitioner=input_layer_partitioner, config=config,
                         warm_start_from=warm_start_from, batch_norm=batch_norm)
