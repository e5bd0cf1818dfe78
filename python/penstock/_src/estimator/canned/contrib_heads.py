"""The heads of tf.contrib.estimator: losses are means, not sums."""
from penstock._src.estimator.canned import head as head_lib
from penstock._src.estimator.canned import head_util
from penstock._src.estimator.canned.metric_keys import MetricKeys
from penstock._src.estimator.canned.prediction_keys import PredictionKeys
from penstock._src.graph import gen
from penstock._src.saved_model.model_utils import export_output
from penstock._src.graph import dtypes
from penstock._src.graph import ops
from penstock._src.graph import sparse_tensor
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import check_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.metrics import metrics_counts, metrics_means
from penstock._src.ops.nn import nn_loss
from penstock._src.ops.sparse import sparse_ops
from penstock._src.ops.metrics import losses_impl

_MEAN = losses_impl.Reduction.SUM_OVER_BATCH_SIZE


def multi_class_head(n_classes, weight_column=None, label_vocabulary=None, loss_reduction=_MEAN, loss_fn=None,
                     name=None):
    """One of more than two classes."""
    return head_lib._multi_class_head_with_softmax_cross_entropy_loss(
        n_classes=n_classes, weight_column=weight_column, label_vocabulary=label_vocabulary,
        loss_reduction=loss_reduction, loss_fn=loss_fn, name=name)


def binary_classification_head(weight_column=None, thresholds=None, label_vocabulary=None, loss_reduction=_MEAN,
                               loss_fn=None, name=None):
    """Yes or no."""
    return head_lib._binary_logistic_head_with_sigmoid_cross_entropy_loss(
        weight_column=weight_column, thresholds=thresholds, label_vocabulary=label_vocabulary,
        loss_reduction=loss_reduction, loss_fn=loss_fn, name=name)


def regression_head(weight_column=None, label_dimension=1, loss_reduction=_MEAN, loss_fn=None, inverse_link_fn=None,
                    name=None):
    """Numbers."""
    return head_lib._regression_head(
        weight_column=weight_column, label_dimension=label_dimension, loss_reduction=loss_reduction, loss_fn=loss_fn,
        inverse_link_fn=inverse_link_fn, name=name)


def poisson_regression_head(weight_column=None, label_dimension=1, loss_reduction=_MEAN, compute_full_loss=True,
                            name=None):
    """Counts."""

    def _poisson_loss(labels, logits):
        return nn_loss.log_poisson_loss(targets=labels, log_input=logits, compute_full_loss=compute_full_loss)

    return head_lib._regression_head(
        weight_column=weight_column, label_dimension=label_dimension, loss_reduction=loss_reduction,
        loss_fn=_poisson_loss, inverse_link_fn=gen.exp, name=name)


def logistic_regression_head(weight_column=None, loss_reduction=_MEAN, name=None):
    """Probabilities."""

    def _logistic_loss(labels, logits):
        labels = head_util.assert_range(labels, n_classes=2, message="Labels must be in range [0, 1]")
        return nn_loss.sigmoid_cross_entropy_with_logits(labels=labels, logits=logits)

    return head_lib._regression_head(
        weight_column=weight_column, label_dimension=1, loss_reduction=loss_reduction, loss_fn=_logistic_loss,
        inverse_link_fn=math_ops.sigmoid, name=name)


def _class_ids(classes, label_vocabulary, n_classes):
    """Numbers of classes that are given by number or by name."""
    classes = tuple(classes or ())
    if classes and isinstance(classes[0], str):
        if not label_vocabulary:
            raise ValueError("label_vocabulary must be provided when classes_for_class_based_metrics are sting.")
        return tuple(label_vocabulary.index(name) for name in classes)
    for class_id in classes:
        if not 0 <= class_id < n_classes:
            raise ValueError("All classes_for_class_based_metrics must be in range [0, {}]. Given: {}".format(
                n_classes - 1, class_id))
    return classes


def multi_label_head(n_classes, weight_column=None, thresholds=None, label_vocabulary=None, loss_reduction=_MEAN,
                     loss_fn=None, classes_for_class_based_metrics=None, name=None):
    """Any of several classes; labels are vectors of 0 and 1, or sparse."""
    if n_classes is None or n_classes < 2:
        raise ValueError("n_classes must be > 1 for multi-class classification. Given: {}".format(n_classes))
    for threshold in thresholds or ():
        if not 0 < threshold < 1:
            raise ValueError("thresholds must be in (0, 1) range. Given: {}".format(threshold))
    if label_vocabulary is not None:
        if not isinstance(label_vocabulary, (list, tuple)):
            raise ValueError("label_vocabulary must be a list or tuple. Given type: {}".format(type(label_vocabulary)))
        if len(label_vocabulary) != n_classes:
            raise ValueError("Length of label_vocabulary must be n_classes ({}). Given: {}".format(
                n_classes, len(label_vocabulary)))
    if loss_fn:
        head_util.validate_loss_fn_args(loss_fn)
    head_lib.check_reduction(loss_reduction)
    return _MultiLabelHead(
        n_classes=n_classes, weight_column=weight_column, thresholds=tuple(thresholds or ()),
        label_vocabulary=label_vocabulary, loss_reduction=loss_reduction, loss_fn=loss_fn,
        classes_for_class_based_metrics=_class_ids(classes_for_class_based_metrics, label_vocabulary, n_classes),
        name=name)


class _MultiLabelHead(head_lib._Head):
    """Any of several classes."""

    def __init__(self, n_classes, weight_column=None, thresholds=(), label_vocabulary=None, loss_reduction=_MEAN,
                 loss_fn=None, classes_for_class_based_metrics=(), name=None):
        self._n_classes = n_classes
        self._weight_column = weight_column
        self._thresholds = thresholds
        self._label_vocabulary = label_vocabulary
        self._loss_reduction = loss_reduction
        self._loss_fn = loss_fn
        self._classes_for_class_based_metrics = classes_for_class_based_metrics
        self._name = name

    @property
    def logits_dimension(self):
        return self._n_classes

    def _process_labels(self, labels):
        """Labels as vectors of 0 and 1."""
        head_util.require_labels(labels)
        if not isinstance(labels, sparse_tensor.SparseTensor):
            return head_util.assert_range(
                labels, 2, message="labels must be an integer indicator Tensor with values in [0, 1]")
        if labels.dtype == dtypes.string:
            ids = sparse_tensor.SparseTensor(
                indices=labels.indices, values=head_lib.label_table(self._label_vocabulary).lookup(labels.values),
                dense_shape=labels.dense_shape)
            return math_ops.to_int64(sparse_ops.sparse_to_indicator(ids, self._n_classes))
        message = "labels must be an integer SparseTensor with values in [0, {})".format(self._n_classes)
        checks = [check_ops.assert_integer(labels.values, message=message),
                  check_ops.assert_less(labels.values, ops.convert_to_tensor(self._n_classes, dtype=labels.dtype),
                                        message=message),
                  check_ops.assert_non_negative(labels.values, message=message)]
        with ops.control_dependencies(checks):
            return math_ops.to_int64(sparse_ops.sparse_to_indicator(labels, self._n_classes))

    def create_loss(self, features, mode, logits, labels):
        logits = ops.convert_to_tensor(logits)
        labels = head_util.check_dense_labels(labels=self._process_labels(labels), logits=logits,
                                              expected_labels_dimension=self.logits_dimension)
        if self._loss_fn:
            loss = head_util.call_loss_fn(loss_fn=self._loss_fn, labels=labels, logits=logits, features=features)
        else:
            loss = losses_impl.sigmoid_cross_entropy(multi_class_labels=labels, logits=logits,
                                                     reduction=losses_impl.Reduction.NONE)
            loss = math_ops.reduce_mean(loss, axis=-1, keepdims=True)
        return self._reduced(loss, features, logits, labels)

    def _predict(self, logits):
        logits = head_util.check_logits_final_dim(logits, self.logits_dimension)
        with ops.name_scope(None, "predictions", (logits,)):
            probabilities = math_ops.sigmoid(logits, name=PredictionKeys.PROBABILITIES)
            return {PredictionKeys.LOGITS: logits, PredictionKeys.PROBABILITIES: probabilities}, logits

    def _export_outputs(self, predictions):
        output = head_lib.classification_output(predictions[PredictionKeys.PROBABILITIES], self._n_classes,
                                                self._label_vocabulary)
        return {head_lib.DEFAULT_SERVING_KEY: output, head_lib.CLASSIFY_SERVING_KEY: output,
                head_lib.PREDICT_SERVING_KEY: export_output.PredictOutput(predictions)}

    def _eval_metric_ops(self, predictions, labels, loss, regularization_loss):
        labels, weights, keys = loss.processed_labels, loss.weights, MetricKeys
        probabilities = predictions[PredictionKeys.PROBABILITIES]
        with ops.name_scope(None, "metrics", [labels, probabilities, weights, loss.unreduced_loss,
                                              regularization_loss]):
            metrics = {}
            self._add_metric(metrics, keys.LOSS_MEAN, metrics_means.mean(
                values=loss.unreduced_loss, weights=weights, name=keys.LOSS_MEAN))
            for key, curve in ((keys.AUC, "ROC"), (keys.AUC_PR, "PR")):
                self._add_metric(metrics, key, metrics_counts.auc(labels=labels, predictions=probabilities,
                                                                  weights=weights, curve=curve, name=key))
            self._add_regularization_metric(metrics, regularization_loss)
            self._add_threshold_metrics(metrics, labels, probabilities, weights)
            for class_id in self._classes_for_class_based_metrics:
                self._add_class_metrics(metrics, class_id, labels, probabilities, weights)
        return metrics

    def _add_class_metrics(self, metrics, class_id, labels, probabilities, weights):
        batch_rank = array_ops.rank(probabilities) - 1
        begin = array_ops.concat([array_ops.zeros([batch_rank], dtype=dtypes.int32), [class_id]], axis=0)
        size = array_ops.concat([-1 * array_ops.ones([batch_rank], dtype=dtypes.int32), [1]], axis=0)
        probability = array_ops.slice(probabilities, begin=begin, size=size)
        label = array_ops.slice(labels, begin=begin, size=size)
        keys = MetricKeys
        if self._label_vocabulary is None:
            mean_key, auc_key, pr_key = (key % class_id for key in (
                keys.PROBABILITY_MEAN_AT_CLASS, keys.AUC_AT_CLASS, keys.AUC_PR_AT_CLASS))
        else:
            mean_key, auc_key, pr_key = (key % self._label_vocabulary[class_id] for key in (
                keys.PROBABILITY_MEAN_AT_NAME, keys.AUC_AT_NAME, keys.AUC_PR_AT_NAME))
        self._add_metric(metrics, mean_key, head_util.predictions_mean(predictions=probability, weights=weights,
                                                                       name=mean_key))
        for key, curve in ((auc_key, "ROC"), (pr_key, "PR")):
            self._add_metric(metrics, key, head_util.auc(labels=label, predictions=probability, weights=weights,
                                                         curve=curve, name=key))
