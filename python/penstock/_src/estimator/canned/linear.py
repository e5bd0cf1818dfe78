"""Linear estimators."""
import math

from penstock._src.estimator import estimator
from penstock._src.estimator.canned import head as head_lib
from penstock._src.estimator.canned import optimizers
from penstock._src.feature_column import feature_column
from penstock._src.feature_column import feature_column_v2
from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import cond as cond_lib
from penstock._src.core_ops import math_ops
from penstock._src.ops.nn import nn_impl
from penstock._src.ops.state import partitioned_variable
from penstock._src.ops.state import partitioned_variables
from penstock._src.ops.state import variable_scope
from penstock._src.ops.metrics import losses_impl
from penstock._src.summary import summary
from penstock._src.training import ftrl
from penstock._src.base import nest

_LEARNING_RATE = 0.2


def require_dict(features):
    """ValueError unless the features have names."""
    if not isinstance(features, dict):
        raise ValueError("features should be a dictionary of `Tensor`s. Given type: {}".format(type(features)))


def _get_default_optimizer(feature_columns):
    return ftrl.FtrlOptimizer(learning_rate=min(_LEARNING_RATE, 1.0 / math.sqrt(len(feature_columns))))


def _parts(variables):
    """The variables, each part of a partitioned one by itself."""
    parts = []
    for variable in variables:
        parts.extend(variable if isinstance(variable, (list, partitioned_variable.PartitionedVariable)) else
                     [variable])
    return parts


def _zero_count(x, size):
    return cond_lib.cond(
        math_ops.equal(size, constant_op.constant(0, dtype=dtypes.int64)),
        true_fn=lambda: constant_op.constant(0, dtype=dtypes.float32),
        false_fn=lambda: nn_impl.zero_fraction(x) * math_ops.to_float(size), name="zero_count")


def _compute_fraction_of_zero(variables):
    """The fraction of weights that are zero."""
    with ops.name_scope("zero_fraction"):
        variables = nest.flatten(variables)
        with ops.name_scope("total_size"):
            sizes = [array_ops.size(x, out_type=dtypes.int64) for x in variables]
            total_size = math_ops.add_n(sizes)
        with ops.name_scope("total_zero"):
            total_zero = math_ops.add_n([_zero_count(x, size) for x, size in zip(variables, sizes)])
        with ops.name_scope("compute"):
            fraction = total_zero / math_ops.cast(total_size, dtype=dtypes.float32, name="float32_size")
        return array_ops.identity(fraction, name="zero_fraction_or_nan")


def linear_logit_fn_builder(units, feature_columns, sparse_combiner="sum"):
    """A function from features to the logits of a linear model."""

    def linear_logit_fn(features):
        arguments = dict(feature_columns=feature_columns, units=units, sparse_combiner=sparse_combiner,
                         name="linear_model")
        if feature_column_v2.is_feature_column_v2(feature_columns):
            model = feature_column_v2.LinearModel(**arguments)
            logits = model(features)
            bias = _parts([model.bias])
            variables = [v for v in model.variables if v is not model.bias]
        else:
            model = feature_column._LinearModel(**arguments)
            logits = model(features)
            by_column = dict(model.cols_to_vars())
            bias = by_column.pop("bias")
            variables = by_column.values()
        variables = _parts(variables)
        if units > 1:
            summary.histogram("bias", bias)
        else:
            # A variable with one element would be a vector.
            summary.scalar("bias", bias[0][0])
        summary.scalar("fraction_of_zero_weights", _compute_fraction_of_zero(variables))
        return logits

    return linear_logit_fn


def _linear_model_fn(features, labels, mode, head, feature_columns, optimizer, partitioner, config,
                     sparse_combiner="sum"):
    require_dict(features)
    partitioner = partitioner or partitioned_variables.min_max_variable_partitioner(
        max_partitions=config.num_ps_replicas if config else 0, min_slice_size=64 << 20)
    with variable_scope.variable_scope("linear", values=tuple(features.values()), partitioner=partitioner):
        logit_fn = linear_logit_fn_builder(units=head.logits_dimension, feature_columns=feature_columns,
                                           sparse_combiner=sparse_combiner)
        logits = logit_fn(features=features)
        optimizer = optimizers.get_optimizer_instance(optimizer or _get_default_optimizer(feature_columns),
                                                      learning_rate=_LEARNING_RATE)
        return head.create_estimator_spec(features=features, mode=mode, labels=labels, optimizer=optimizer,
                                          logits=logits)


class LinearEstimator(estimator.Estimator):
    """A linear model with any head."""

    def __init__(self, head, feature_columns, model_dir=None, optimizer="Ftrl", config=None, partitioner=None,
                 sparse_combiner="sum", warm_start_from=None):

        def _model_fn(features, labels, mode, config):
            return _linear_model_fn(
                features=features, labels=labels, mode=mode, head=head, feature_columns=tuple(feature_columns or []),
                optimizer=optimizer, partitioner=partitioner, config=config, sparse_combiner=sparse_combiner)

        super().__init__(model_fn=_model_fn, model_dir=model_dir, config=config, warm_start_from=warm_start_from)


class LinearClassifier(LinearEstimator):
    """A linear classifier.

    sparse_combiner: How weights of an example's categories are joined: sum, mean or sqrtn.
    """

    def __init__(self, feature_columns, model_dir=None, n_classes=2, weight_column=None, label_vocabulary=None,
                 optimizer="Ftrl", config=None, partitioner=None, warm_start_from=None,
                 loss_reduction=losses_impl.Reduction.SUM, sparse_combiner="sum"):
        head = head_lib._binary_logistic_or_multi_class_head(n_classes, weight_column, label_vocabulary,
                                                             loss_reduction)
        super().__init__(head, feature_columns, model_dir=model_dir, optimizer=optimizer, config=config,
                         partitioner=partitioner, sparse_combiner=sparse_combiner, warm_start_from=warm_start_from)


class LinearRegressor(LinearEstimator):
    """Linear regression."""

    def __init__(self, feature_columns, model_dir=None, label_dimension=1, weight_column=None, optimizer="Ftrl",
                 config=None, partitioner=None, warm_start_from=None, loss_reduction=losses_impl.Reduction.SUM,
                 sparse_combiner="sum"):
        head = head_lib._regression_head(label_dimension=label_dimension, weight_column=weight_column,
                                         loss_reduction=loss_reduction)
        super().__init__(head, feature_columns, model_dir=model_dir, optimizer=optimizer, config=config,
                         partitioner=partitioner, sparse_combiner=sparse_combiner, warm_start_from=warm_start_from)
