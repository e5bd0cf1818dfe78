"""Heads: from logits to predictions, loss, training operation and metrics."""
import abc
import collections

from penstock._src.estimator import model_fn
from penstock._src.estimator.canned import head_util
from penstock._src.estimator.canned.metric_keys import MetricKeys
from penstock._src.estimator.canned.prediction_keys import PredictionKeys
from penstock._src.graph import gen
from penstock._src.saved_model.model_utils import export_output
from penstock._src.saved_model.model_utils.mode_keys import EstimatorModeKeys as ModeKeys
from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.lookup import lookup_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.metrics import metrics_counts, metrics_means
from penstock._src.ops.nn import nn_activation, nn_loss
from penstock._src.ops.metrics import losses_impl
from penstock._src.saved_model import signature_constants
from penstock._src.summary import summary
from penstock._src.checkpoint import training_util

DEFAULT_SERVING_KEY = signature_constants.DEFAULT_SERVING_SIGNATURE_DEF_KEY
CLASSIFY_SERVING_KEY = "classification"
REGRESS_SERVING_KEY = "regression"
PREDICT_SERVING_KEY = "predict"

# A scalar, weighted and reduced; the loss of each example; weights; labels as the loss takes them.
LossSpec = collections.namedtuple("LossSpec", ["training_loss", "unreduced_loss", "weights", "processed_labels"])


def summary_key(head_name, val):
    """The name of a summary: with the head's, if that has one."""
    return "%s/%s" % (val, head_name) if head_name else val


class _Head(abc.ABC):
    """What is on top of a model. A subclass has `_predict`, `_export_outputs`, `create_loss`, `_eval_metric_ops`."""

    _loss_reduction = losses_impl.Reduction.SUM

    @property
    def name(self):
        """Part of the names of summaries and metrics."""
        return self._name

    @property
    @abc.abstractmethod
    def logits_dimension(self):
        """How many logits an example has."""

    @abc.abstractmethod
    def create_loss(self, features, mode, logits, labels):
        """A LossSpec."""

    @abc.abstractmethod
    def _predict(self, logits):
        """The predictions as a dict, and the logits, checked."""

    @abc.abstractmethod
    def _export_outputs(self, predictions):
        """Names to ExportOutputs."""

    @abc.abstractmethod
    def _eval_metric_ops(self, predictions, labels, loss, regularization_loss):
        """Names to pairs of value and update operation; `labels` as given, `loss` a LossSpec."""

    def create_estimator_spec(self, features, mode, logits, labels=None, optimizer=None, train_op_fn=None,
                              regularization_losses=None):
        """An EstimatorSpec. For training: an optimizer, or a function from the loss to the operation."""
        with ops.name_scope(self._name, "head"):
            predictions, logits = self._predict(logits)
            if mode == ModeKeys.PREDICT:
                return model_fn.EstimatorSpec(mode=mode, predictions=predictions,
                                              export_outputs=self._export_outputs(predictions))
            loss = self.create_loss(features=features, mode=mode, logits=logits, labels=labels)
            regularization_loss, total = None, loss.training_loss
            if regularization_losses:
                regularization_loss = math_ops.add_n(regularization_losses)
                total = math_ops.add_n([loss.training_loss, regularization_loss])
            if mode == ModeKeys.TRAIN:
                train_op = make_train_op(total, optimizer, train_op_fn)
                mean_loss = None
                if self._loss_reduction == losses_impl.Reduction.SUM:
                    weight_sum = math_ops.reduce_sum(loss.weights * array_ops.ones_like(loss.unreduced_loss))
                    mean_loss = loss.training_loss / weight_sum
        if mode == ModeKeys.EVAL:
            return model_fn.EstimatorSpec(
                mode=mode, predictions=predictions, loss=total,
                eval_metric_ops=self._eval_metric_ops(predictions, labels, loss, regularization_loss))
        with ops.name_scope(""):
            for key, value in ((MetricKeys.LOSS, total), (MetricKeys.LOSS_MEAN, mean_loss),
                               (MetricKeys.LOSS_REGULARIZATION, regularization_loss)):
                if value is not None:
                    summary.scalar(summary_key(self._name, key), value)
        return model_fn.EstimatorSpec(mode=mode, predictions=predictions, loss=total, train_op=train_op)

    def _reduced(self, unweighted_loss, features, logits, labels, per_logit_weights=False):
        """The LossSpec of an unweighted loss."""
        weights = head_util.weights_like_logits(features=features, weight_column=self._weight_column, logits=logits,
                                                allow_per_logit_weights=per_logit_weights)
        training_loss = losses_impl.compute_weighted_loss(unweighted_loss, weights=weights,
                                                          reduction=self._loss_reduction)
        return LossSpec(training_loss=training_loss, unreduced_loss=unweighted_loss, weights=weights,
                        processed_labels=labels)

    def _add_metric(self, metrics, key, metric):
        metrics[summary_key(self._name, key)] = metric

    def _add_regularization_metric(self, metrics, regularization_loss):
        if regularization_loss is not None:
            self._add_metric(metrics, MetricKeys.LOSS_REGULARIZATION, metrics_means.mean(
                values=regularization_loss, name=MetricKeys.LOSS_REGULARIZATION))

    def _add_threshold_metrics(self, metrics, labels, predictions, weights):
        for threshold in self._thresholds:
            for key, metric in ((MetricKeys.ACCURACY_AT_THRESHOLD, head_util.accuracy_at_threshold),
                                (MetricKeys.PRECISION_AT_THRESHOLD, head_util.precision_at_threshold),
                                (MetricKeys.RECALL_AT_THRESHOLD, head_util.recall_at_threshold)):
                key %= threshold
                self._add_metric(metrics, key, metric(labels=labels, predictions=predictions, weights=weights,
                                                      threshold=threshold, name=key))


def minimizing_op(loss, optimizer, train_op_fn):
    """The operation of an optimizer, or of a function. ValueError unless exactly one of them is given."""
    if optimizer is not None:
        if train_op_fn is not None:
            raise ValueError("train_op_fn and optimizer cannot both be set.")
        return optimizer.minimize(loss, global_step=training_util.get_global_step())
    if train_op_fn is None:
        raise ValueError("train_op_fn and optimizer cannot both be None.")
    return train_op_fn(loss)


def make_train_op(loss, optimizer, train_op_fn):
    """`minimizing_op` with the updates of the graph."""
    train_op = minimizing_op(loss, optimizer, train_op_fn)
    update_ops = ops.get_collection(ops.GraphKeys.UPDATE_OPS)
    return control_flow_ops.group(train_op, *update_ops) if update_ops else train_op


def check_reduction(loss_reduction):
    """ValueError unless the reduction gives a scalar."""
    if loss_reduction not in losses_impl.Reduction.all() or loss_reduction == losses_impl.Reduction.NONE:
        raise ValueError("Invalid loss_reduction: {}".format(loss_reduction))


# Classes


def _class_names(n_classes, label_vocabulary):
    return label_vocabulary if label_vocabulary else gen.as_string(math_ops.range(n_classes))


def classification_output(scores, n_classes, label_vocabulary=None):
    """Scores with the names of classes."""
    classes = _all_classes(scores, n_classes, label_vocabulary)
    return export_output.ClassificationOutput(scores=scores, classes=classes)


def _for_each_example(logits, make_items):
    batch_size = array_ops.shape(logits)[0]
    return gen.tile(input=array_ops.expand_dims(input=make_items(), axis=0), multiples=[batch_size, 1])


def _all_class_ids(logits, n_classes):
    return _for_each_example(logits, lambda: math_ops.range(n_classes))


def _all_classes(logits, n_classes, label_vocabulary):
    return _for_each_example(logits, lambda: _class_names(n_classes, label_vocabulary))


def _classes(class_ids, label_vocabulary):
    """Names of classes."""
    if not label_vocabulary:
        return gen.as_string(class_ids, name="str_classes")
    return lookup_ops.index_to_string_table_from_tensor(vocabulary_list=label_vocabulary,
                                                        name="class_string_lookup").lookup(class_ids)


def label_table(label_vocabulary):
    """The table from names of classes to numbers."""
    return lookup_ops.index_table_from_tensor(vocabulary_list=tuple(label_vocabulary), name="class_id_lookup")


class _MultiClassHeadWithSoftmaxCrossEntropyLoss(_Head):
    """One of several classes."""

    def __init__(self, n_classes, weight_column=None, label_vocabulary=None, loss_reduction=losses_impl.Reduction.SUM,
                 loss_fn=None, name=None):
        if n_classes is None:
            raise ValueError("n_classes cannot be None")
        if n_classes <= 2:
            raise ValueError("n_classes must be > 2: %s." % n_classes)
        self._n_classes = n_classes
        self._weight_column = weight_column
        self._label_vocabulary = label_vocabulary
        self._loss_reduction = loss_reduction
        self._loss_fn = loss_fn
        self._name = name

    @property
    def logits_dimension(self):
        return self._n_classes

    def _label_ids(self, labels):
        if self._label_vocabulary is None:
            if not labels.dtype.is_integer:
                raise ValueError("Labels dtype should be integer. Instead got {}.".format(labels.dtype))
            label_ids = labels
        else:
            if labels.dtype != dtypes.string:
                raise ValueError("Labels dtype should be string if there is a vocabulary. Instead got {}".format(
                    labels.dtype))
            label_ids = label_table(self._label_vocabulary).lookup(labels)
        return head_util.assert_range(label_ids, self._n_classes)

    def create_loss(self, features, mode, logits, labels):
        logits = ops.convert_to_tensor(logits)
        labels = head_util.check_dense_labels(labels=labels, logits=logits, expected_labels_dimension=1)
        label_ids = self._label_ids(labels)
        if self._loss_fn:
            loss = head_util.call_loss_fn(loss_fn=self._loss_fn, labels=label_ids, logits=logits, features=features)
        else:
            loss = losses_impl.sparse_softmax_cross_entropy(labels=label_ids, logits=logits,
                                                            reduction=losses_impl.Reduction.NONE)
            # That takes the last dimension away.
            loss = array_ops.expand_dims(loss, axis=-1)
        return self._reduced(loss, features, logits, label_ids)

    def _predict(self, logits):
        logits = head_util.check_logits_final_dim(logits, self.logits_dimension)
        keys = PredictionKeys
        with ops.name_scope(None, "predictions", (logits,)):
            all_class_ids = _all_class_ids(logits, self._n_classes)
            all_classes = _all_classes(logits, self._n_classes, self._label_vocabulary)
            class_ids = math_ops.argmax(logits, axis=-1, name=keys.CLASS_IDS)
            class_ids = array_ops.expand_dims(class_ids, axis=-1)
            classes = _classes(class_ids, self._label_vocabulary)
            probabilities = nn_activation.softmax(logits, name=keys.PROBABILITIES)
            return {keys.LOGITS: logits, keys.PROBABILITIES: probabilities, keys.CLASS_IDS: class_ids,
                    keys.CLASSES: classes, keys.ALL_CLASS_IDS: all_class_ids, keys.ALL_CLASSES: all_classes}, logits

    def _export_outputs(self, predictions):
        output = classification_output(predictions[PredictionKeys.PROBABILITIES], self._n_classes,
                                       self._label_vocabulary)
        return {DEFAULT_SERVING_KEY: output, CLASSIFY_SERVING_KEY: output,
                PREDICT_SERVING_KEY: export_output.PredictOutput(predictions)}

    def _eval_metric_ops(self, predictions, labels, loss, regularization_loss):
        class_ids = predictions[PredictionKeys.CLASS_IDS]
        with ops.name_scope(None, "metrics", (loss.processed_labels, class_ids, loss.weights, loss.unreduced_loss,
                                              regularization_loss)):
            metrics = {}
            self._add_metric(metrics, MetricKeys.LOSS_MEAN, metrics_means.mean(
                values=loss.unreduced_loss, weights=loss.weights, name=MetricKeys.LOSS_MEAN))
            self._add_metric(metrics, MetricKeys.ACCURACY, metrics_means.accuracy(
                labels=loss.processed_labels, predictions=class_ids, weights=loss.weights, name=MetricKeys.ACCURACY))
            self._add_regularization_metric(metrics, regularization_loss)
        return metrics


class _BinaryLogisticHeadWithSigmoidCrossEntropyLoss(_Head):
    """Yes or no."""

    def __init__(self, weight_column=None, thresholds=None, label_vocabulary=None,
                 loss_reduction=losses_impl.Reduction.SUM, loss_fn=None, name=None):
        self._weight_column = weight_column
        self._thresholds = tuple(thresholds) if thresholds else ()
        self._label_vocabulary = label_vocabulary
        self._loss_reduction = loss_reduction
        self._loss_fn = loss_fn
        self._name = name

    @property
    def logits_dimension(self):
        return 1

    def create_loss(self, features, mode, logits, labels):
        logits = ops.convert_to_tensor(logits)
        labels = head_util.check_dense_labels(labels=labels, logits=logits, expected_labels_dimension=1)
        if self._label_vocabulary is not None:
            labels = label_table(self._label_vocabulary).lookup(labels)
        labels = head_util.assert_range(math_ops.to_float(labels), n_classes=2)
        if self._loss_fn:
            loss = head_util.call_loss_fn(loss_fn=self._loss_fn, labels=labels, logits=logits, features=features)
        else:
            loss = nn_loss.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)
        return self._reduced(loss, features, logits, labels)

    def _predict(self, logits):
        keys = PredictionKeys
        with ops.name_scope(None, "predictions", (logits,)):
            logits = head_util.check_logits_final_dim(logits, self.logits_dimension)
            logistic = math_ops.sigmoid(logits, name=keys.LOGISTIC)
            both = array_ops.concat((array_ops.zeros_like(logits), logits), axis=-1, name="two_class_logits")
            probabilities = nn_activation.softmax(both, name=keys.PROBABILITIES)
            class_ids = math_ops.argmax(both, axis=-1, name=keys.CLASS_IDS)
            class_ids = array_ops.expand_dims(class_ids, axis=-1)
            all_class_ids = _all_class_ids(logits, 2)
            all_classes = _all_classes(logits, 2, self._label_vocabulary)
            classes = _classes(class_ids, self._label_vocabulary)
            return {keys.LOGITS: logits, keys.LOGISTIC: logistic, keys.PROBABILITIES: probabilities,
                    keys.CLASS_IDS: class_ids, keys.CLASSES: classes, keys.ALL_CLASS_IDS: all_class_ids,
                    keys.ALL_CLASSES: all_classes}, logits

    def _export_outputs(self, predictions):
        output = classification_output(predictions[PredictionKeys.PROBABILITIES], 2, self._label_vocabulary)
        return {DEFAULT_SERVING_KEY: output, CLASSIFY_SERVING_KEY: output,
                REGRESS_SERVING_KEY: export_output.RegressionOutput(value=predictions[PredictionKeys.LOGISTIC]),
                PREDICT_SERVING_KEY: export_output.PredictOutput(predictions)}

    def _eval_metric_ops(self, predictions, labels, loss, regularization_loss):
        labels, weights, keys = loss.processed_labels, loss.weights, MetricKeys
        logistic, class_ids = predictions[PredictionKeys.LOGISTIC], predictions[PredictionKeys.CLASS_IDS]
        with ops.name_scope(None, "metrics", (labels, predictions[PredictionKeys.LOGITS], logistic, class_ids, weights,
                                              loss.unreduced_loss, regularization_loss)):
            mean_label = head_util.labels_mean(labels=labels, weights=weights, name=keys.LABEL_MEAN)
            metrics = {}
            self._add_metric(metrics, keys.LOSS_MEAN, metrics_means.mean(
                values=loss.unreduced_loss, weights=weights, name=keys.LOSS_MEAN))
            for key, metric in ((keys.ACCURACY, metrics_means.accuracy), (keys.PRECISION, metrics_counts.precision),
                                (keys.RECALL, metrics_counts.recall)):
                self._add_metric(metrics, key, metric(labels=labels, predictions=class_ids, weights=weights, name=key))
            self._add_metric(metrics, keys.PREDICTION_MEAN, head_util.predictions_mean(
                predictions=logistic, weights=weights, name=keys.PREDICTION_MEAN))
            self._add_metric(metrics, keys.LABEL_MEAN, mean_label)
            self._add_metric(metrics, keys.ACCURACY_BASELINE, head_util.accuracy_baseline(mean_label))
            for key, curve in ((keys.AUC, "ROC"), (keys.AUC_PR, "PR")):
                self._add_metric(metrics, key, head_util.auc(labels=labels, predictions=logistic, weights=weights,
                                                             curve=curve, name=key))
            self._add_regularization_metric(metrics, regularization_loss)
            self._add_threshold_metrics(metrics, labels, logistic, weights)
            return metrics


class _RegressionHeadWithMeanSquaredErrorLoss(_Head):
    """Numbers."""

    def __init__(self, label_dimension, weight_column=None, loss_reduction=losses_impl.Reduction.SUM, loss_fn=None,
                 inverse_link_fn=None, name=None):
        if label_dimension < 1:
            raise ValueError("Invalid label_dimension %s." % label_dimension)
        self._logits_dimension = label_dimension
        self._weight_column = weight_column
        self._loss_reduction = loss_reduction
        self._loss_fn = loss_fn
        self._inverse_link_fn = inverse_link_fn
        self._name = name

    @property
    def logits_dimension(self):
        return self._logits_dimension

    def create_loss(self, features, mode, logits, labels):
        logits = ops.convert_to_tensor(logits)
        labels = head_util.check_dense_labels(labels=labels, logits=logits,
                                              expected_labels_dimension=self._logits_dimension)
        labels = math_ops.to_float(labels)
        if self._loss_fn:
            loss = head_util.call_loss_fn(loss_fn=self._loss_fn, labels=labels, logits=logits, features=features,
                                          expected_loss_dim=self._logits_dimension)
        else:
            loss = losses_impl.mean_squared_error(labels=labels, predictions=logits,
                                                  reduction=losses_impl.Reduction.NONE)
        return self._reduced(loss, features, logits, labels, per_logit_weights=True)

    def _predict(self, logits):
        logits = head_util.check_logits_final_dim(logits, self._logits_dimension)
        if not self._inverse_link_fn:
            return {PredictionKeys.PREDICTIONS: logits}, logits
        return {PredictionKeys.PREDICTIONS: self._inverse_link_fn(logits), PredictionKeys.LOGITS: logits}, logits

    def _export_outputs(self, predictions):
        output = export_output.RegressionOutput(value=predictions[PredictionKeys.PREDICTIONS])
        return {DEFAULT_SERVING_KEY: output, REGRESS_SERVING_KEY: output,
                PREDICT_SERVING_KEY: export_output.PredictOutput(predictions)}

    def _eval_metric_ops(self, predictions, labels, loss, regularization_loss):
        keys, metrics = MetricKeys, {}
        self._add_metric(metrics, keys.LOSS_MEAN, metrics_means.mean(values=loss.unreduced_loss, weights=loss.weights))
        self._add_metric(metrics, keys.PREDICTION_MEAN, head_util.predictions_mean(
            predictions=predictions[PredictionKeys.PREDICTIONS], weights=loss.weights, name=keys.PREDICTION_MEAN))
        self._add_metric(metrics, keys.LABEL_MEAN, metrics_means.mean(values=labels, weights=loss.weights))
        self._add_regularization_metric(metrics, regularization_loss)
        return metrics


def _multi_class_head_with_softmax_cross_entropy_loss(n_classes, weight_column=None, label_vocabulary=None,
                                                      loss_reduction=losses_impl.Reduction.SUM, loss_fn=None,
                                                      name=None):
    """A head for one of several classes."""
    if label_vocabulary is not None and not isinstance(label_vocabulary, (list, tuple)):
        raise ValueError("label_vocabulary should be a list or a tuple. Given type: {}".format(type(label_vocabulary)))
    check_reduction(loss_reduction)
    if loss_fn:
        head_util.validate_loss_fn_args(loss_fn)
    return _MultiClassHeadWithSoftmaxCrossEntropyLoss(
        n_classes=n_classes, weight_column=weight_column, label_vocabulary=label_vocabulary,
        loss_reduction=loss_reduction, loss_fn=loss_fn, name=name)


def check_thresholds(thresholds):
    """The thresholds as a tuple; ValueError if one is no probability."""
    thresholds = tuple(thresholds) if thresholds else ()
    for threshold in thresholds:
        if not 0 < threshold < 1:
            raise ValueError("thresholds not in (0, 1): {}.".format((thresholds,)))
    return thresholds


def _binary_logistic_head_with_sigmoid_cross_entropy_loss(weight_column=None, thresholds=None, label_vocabulary=None,
                                                          loss_reduction=losses_impl.Reduction.SUM, loss_fn=None,
                                                          name=None):
    """A head for yes or no."""
    if label_vocabulary is not None and not isinstance(label_vocabulary, (list, tuple)):
        raise TypeError("label_vocabulary should be a list or tuple. Given type: {}".format(type(label_vocabulary)))
    thresholds = check_thresholds(thresholds)
    check_reduction(loss_reduction)
    if loss_fn:
        head_util.validate_loss_fn_args(loss_fn)
    return _BinaryLogisticHeadWithSigmoidCrossEntropyLoss(
        weight_column=weight_column, thresholds=thresholds, label_vocabulary=label_vocabulary,
        loss_reduction=loss_reduction, loss_fn=loss_fn, name=name)


def _regression_head(weight_column=None, label_dimension=1, loss_reduction=losses_impl.Reduction.SUM, loss_fn=None,
                     inverse_link_fn=None, name=None):
    """A head for numbers."""
    check_reduction(loss_reduction)
    if loss_fn:
        head_util.validate_loss_fn_args(loss_fn)
    return _RegressionHeadWithMeanSquaredErrorLoss(
        weight_column=weight_column, label_dimension=label_dimension, loss_reduction=loss_reduction, loss_fn=loss_fn,
        inverse_link_fn=inverse_link_fn, name=name)


def _binary_logistic_or_multi_class_head(n_classes, weight_column, label_vocabulary, loss_reduction):
    if n_classes == 2:
        return _binary_logistic_head_with_sigmoid_cross_entropy_loss(
            weight_column=weight_column, label_vocabulary=label_vocabulary, loss_reduction=loss_reduction)
    return _multi_class_head_with_softmax_cross_entropy_loss(
        n_classes, weight_column=weight_column, label_vocabulary=label_vocabulary, loss_reduction=loss_reduction)
