"""Estimators that join a linear model and a network (wide and deep)."""
import math

from penstock._src.estimator import estimator
from penstock._src.estimator.canned import dnn
from penstock._src.estimator.canned import head as head_lib
from penstock._src.estimator.canned import linear
from penstock._src.estimator.canned import optimizers
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.state import partitioned_variables
from penstock._src.ops.state import state_ops
from penstock._src.ops.state import variable_scope
from penstock._src.ops.metrics import losses_impl
from penstock._src.training import sync_replicas_optimizer
from penstock._src.checkpoint import training_util

# Two optimizers at the same weights' sum: slower than each alone.
_DNN_LEARNING_RATE = 0.001
_LINEAR_LEARNING_RATE = 0.005


def _optimizer(optimizer, learning_rate):
    optimizer = optimizers.get_optimizer_instance(optimizer, learning_rate=learning_rate)
    if isinstance(optimizer, sync_replicas_optimizer.SyncReplicasOptimizer):
        raise ValueError("SyncReplicasOptimizer does not support multi optimizers case. Therefore, it is not supported "
                         "in DNNLinearCombined model. If you want to use this optimizer, please use either DNN or "
                         "Linear model.")
    return optimizer


def _linear_learning_rate(num_linear_feature_columns):
    return min(_LINEAR_LEARNING_RATE, 1. / math.sqrt(num_linear_feature_columns))


def _require_columns(linear_feature_columns, dnn_feature_columns):
    if not linear_feature_columns and not dnn_feature_columns:
        raise ValueError("Either linear_feature_columns or dnn_feature_columns must be defined.")


def _dnn_linear_combined_model_fn(features, labels, mode, head, linear_feature_columns=None, linear_optimizer="Ftrl",
                                  dnn_feature_columns=None, dnn_optimizer="Adagrad", dnn_hidden_units=None,
                                  dnn_activation_fn=gen.relu, dnn_dropout=None, input_layer_partitioner=None,
                                  config=None, batch_norm=False, linear_sparse_combiner="sum"):
    linear.require_dict(features)
    _require_columns(linear_feature_columns, dnn_feature_columns)
    replicas = config.num_ps_replicas if config else 0
    values = tuple(features.values())
    input_layer_partitioner = input_layer_partitioner or partitioned_variables.min_max_variable_partitioner(
        max_partitions=replicas, min_slice_size=64 << 20)
    parts = []  # logits, optimizer, scope
    if dnn_feature_columns:
        optimizer = _optimizer(dnn_optimizer, _DNN_LEARNING_RATE)
        if not dnn_hidden_units:
            raise ValueError("dnn_hidden_units must be defined when dnn_feature_columns is specified.")
        partitioner = partitioned_variables.min_max_variable_partitioner(max_partitions=replicas)
        with variable_scope.variable_scope("dnn", values=values, partitioner=partitioner) as scope:
            logit_fn = dnn.dnn_logit_fn_builder(
                units=head.logits_dimension, hidden_units=dnn_hidden_units, feature_columns=dnn_feature_columns,
                activation_fn=dnn_activation_fn, dropout=dnn_dropout, batch_norm=batch_norm,
                input_layer_partitioner=input_layer_partitioner)
            parts.append((logit_fn(features=features, mode=mode), optimizer, scope.name))
    if linear_feature_columns:
        optimizer = _optimizer(linear_optimizer, _linear_learning_rate(len(linear_feature_columns)))
        with variable_scope.variable_scope("linear", values=values, partitioner=input_layer_partitioner) as scope:
            logit_fn = linear.linear_logit_fn_builder(
                units=head.logits_dimension, feature_columns=linear_feature_columns,
                sparse_combiner=linear_sparse_combiner)
            logits = logit_fn(features=features)
            dnn.add_layer_summary(logits, scope.name)
            parts.append((logits, optimizer, scope.name))
    logits = parts[0][0] if len(parts) == 1 else parts[0][0] + parts[1][0]

    def _train_op_fn(loss):
        global_step = training_util.get_global_step()
        train_op = control_flow_ops.group(*[
            optimizer.minimize(loss, var_list=ops.get_collection(ops.GraphKeys.TRAINABLE_VARIABLES, scope=scope))
            for _, optimizer, scope in parts])
        with ops.control_dependencies([train_op]):
            return state_ops.assign_add(global_step, 1).op

    return head.create_estimator_spec(features=features, mode=mode, labels=labels, train_op_fn=_train_op_fn,
                                      logits=logits)


class DNNLinearCombinedEstimator(estimator.Estimator):
    """A linear model and a network, with any head."""

    def __init__(self, head, model_dir=None, linear_feature_columns=None, linear_optimizer="Ftrl",
                 dnn_feature_columns=None, dnn_optimizer="Adagrad", dnn_hidden_units=None, dnn_activation_fn=gen.relu,
                 dnn_dropout=None, input_layer_partitioner=None, config=None, batch_norm=False,
                 linear_sparse_combiner="sum", warm_start_from=None):
        linear_feature_columns, dnn_feature_columns = linear_feature_columns or [], dnn_feature_columns or []
        _require_columns(linear_feature_columns, dnn_feature_columns)
        self._feature_columns = list(linear_feature_columns) + list(dnn_feature_columns)

        def _model_fn(features, labels, mode, config):
            return _dnn_linear_combined_model_fn(
                features=features, labels=labels, mode=mode, head=head, linear_feature_columns=linear_feature_columns,
                linear_optimizer=linear_optimizer, dnn_feature_columns=dnn_feature_columns,
                dnn_optimizer=dnn_optimizer, dnn_hidden_units=dnn_hidden_units, dnn_activation_fn=dnn_activation_fn,
                dnn_dropout=dnn_dropout, input_layer_partitioner=input_layer_partitioner, config=config,
                batch_norm=batch_norm, linear_sparse_combiner=linear_sparse_combiner)

        super().__init__(model_fn=_model_fn, model_dir=model_dir, config=config, warm_start_from=warm_start_from)


class DNNLinearCombinedClassifier(DNNLinearCombinedEstimator):
    """A linear model and a network that classify together."""

    def __init__(self, model_dir=None, linear_feature_columns=None, linear_optimizer="Ftrl", dnn_feature_columns=None,
                 dnn_optimizer="Adagrad", dnn_hidden_units=None, dnn_activation_fn=gen.relu, dnn_dropout=None,
                 n_classes=2, weight_column=None, label_vocabulary=None, input_layer_partitioner=None, config=None,
                 warm_start_from=None, loss_reduction=losses_impl.Reduction.SUM, batch_norm=False,
                 linear_sparse_combiner="sum"):
        head = head_lib._binary_logistic_or_multi_class_head(n_classes, weight_column, label_vocabulary,
                                                             loss_reduction)
        super().__init__(head, model_dir, linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer,
                         dnn_hidden_units, dnn_activation_fn, dnn_dropout, input_layer_partitioner, config, batch_norm,
                         linear_sparse_combiner, warm_start_from)


class DNNLinearCombinedRegressor(DNNLinearCombinedEstimator):
    """A linear model and a network that give numbers together."""

    def __init__(self, model_dir=None, linear_feature_columns=None, linear_optimizer="Ftrl", dnn_feature_columns=None,
                 dnn_optimizer="Adagrad", dnn_hidden_units=None, dnn_activation_fn=gen.relu, dnn_dropout=None,
                 label_dimension=1, weight_column=None, input_layer_partitioner=None, config=None,
                 warm_start_from=None, loss_reduction=losses_impl.Reduction.SUM, batch_norm=False,
                 linear_sparse_combiner="sum"):
        head = head_lib._regression_head(label_dimension=label_dimension, weight_column=weight_column,
                                         loss_reduction=loss_reduction)
        super().__init__(head, model_dir, linear_feature_columns, linear_optimizer, dnn_feature_columns, dnn_optimizer,
                         dnn_hidden_units, dnn_activation_fn, dnn_dropout, input_layer_partitioner, config, batch_norm,
                         linear_sparse_combiner, warm_start_from)
