"""Estimators that look at labels only: what others have to be better than."""
from penstock._src.estimator import estimator
from penstock._src.estimator.canned import head as head_lib
from penstock._src.estimator.canned import optimizers
from penstock._src.feature_column import feature_column_v2
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import check_ops
from penstock._src.ops.state import init_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.state import variable_scope
from penstock._src.ops.metrics import losses_impl
from penstock._src.checkpoint import training_util

_LEARNING_RATE = 0.3


def _weight_key(weight_column):
    if weight_column is None or isinstance(weight_column, str):
        return weight_column
    if not isinstance(weight_column, feature_column_v2.NumericColumn):
        raise TypeError("Weight column must be either a string or _NumericColumn. Given type: {}.".format(
            type(weight_column)))
    return weight_column.key


def _batch_size(features, weight_key):
    """The size of the batch, and checks that all features have it."""
    checks, size = [], None
    for key, feature in features.items():
        if key == weight_key:
            continue
        first = array_ops.shape(feature)[0]
        if size is None:
            size = first
        else:
            checks.append(check_ops.assert_equal(size, first))
    return checks, size


def _baseline_model_fn(features, labels, mode, head, optimizer, weight_column=None):
    checks, size = _batch_size(features, _weight_key(weight_column))
    with ops.control_dependencies(checks):
        with variable_scope.variable_scope("baseline"):
            bias = variable_scope.get_variable("bias", shape=[head.logits_dimension], initializer=init_ops.Zeros)
            logits = math_ops.multiply(bias, array_ops.ones([size, head.logits_dimension]))

    def train_op_fn(loss):
        chosen = optimizers.get_optimizer_instance(optimizer, learning_rate=_LEARNING_RATE)
        return chosen.minimize(loss, global_step=training_util.get_global_step())

    return head.create_estimator_spec(features=features, mode=mode, logits=logits, labels=labels,
                                      train_op_fn=train_op_fn)


class BaselineEstimator(estimator.Estimator):
    """The best constant, with any head."""

    def __init__(self, head, model_dir=None, optimizer="Ftrl", config=None, weight_column=None):

        def _model_fn(features, labels, mode, config):
            return _baseline_model_fn(features=features, labels=labels, mode=mode, head=head, optimizer=optimizer,
                                      weight_column=weight_column)

        super().__init__(model_fn=_model_fn, model_dir=model_dir, config=config)


class BaselineClassifier(BaselineEstimator):
    """How frequent each class is."""

    def __init__(self, model_dir=None, n_classes=2, weight_column=None, label_vocabulary=None, optimizer="Ftrl",
                 config=None, loss_reduction=losses_impl.Reduction.SUM):
        head = head_lib._binary_logistic_or_multi_class_head(n_classes, weight_column, label_vocabulary,
                                                             loss_reduction)
        super().__init__(head, model_dir, optimizer, config, weight_column)


class BaselineRegressor(BaselineEstimator):
    """The mean of the labels."""

    def __init__(self, model_dir=None, label_dimension=1, weight_column=None, optimizer="Ftrl", config=None,
                 loss_reduction=losses_impl.Reduction.SUM):
        head = head_lib._regression_head(label_dimension=label_dimension, weight_column=weight_column,
                                         loss_reduction=loss_reduction)
        super().__init__(head, model_dir, optimizer, config, weight_column)
