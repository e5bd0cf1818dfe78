"""Several heads on one model, each with its labels."""
from penstock._src.estimator import model_fn
from penstock._src.estimator.canned import head as head_lib
from penstock._src.estimator.canned.metric_keys import MetricKeys
from penstock._src.saved_model.model_utils import export_output as export_output_lib
from penstock._src.saved_model.model_utils.mode_keys import EstimatorModeKeys as ModeKeys
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.metrics import metrics_means
from penstock._src.summary import summary


def multi_head(heads, head_weights=None):
    """A head made of named heads; labels and logits are dicts of their names. Losses are added up with weights."""
    if head_weights and len(head_weights) != len(heads):
        raise ValueError("heads and head_weights must have the same size. Given len(heads): {}. Given "
                         "len(head_weights): {}.".format(len(heads), len(head_weights)))
    if not heads:
        raise ValueError("Must specify heads. Given: {}".format(heads))
    for head in heads:
        if not head.name:
            raise ValueError("All given heads must have name specified. Given: {}".format(head))
    return _MultiHead(heads=tuple(heads), head_weights=tuple(head_weights or ()))


def _merge_losses(losses, head_weights):
    losses = tuple(losses)
    with ops.name_scope("merge_losses", values=losses + head_weights):
        if head_weights:
            losses = [math_ops.multiply(loss, weight) for loss, weight in zip(losses, head_weights)]
        return math_ops.add_n(losses)


def _default_export_output(export_outputs, head_name):
    if len(export_outputs) == 1:
        return next(iter(export_outputs.values()))
    if head_lib.DEFAULT_SERVING_KEY not in export_outputs:
        raise ValueError("{} did not specify default export_outputs. Given: {} Suggested fix: Use one of the heads in "
                         "tf.contrib.estimator, or include key {} in export_outputs.".format(
                             head_name, export_outputs, head_lib.DEFAULT_SERVING_KEY))
    return export_outputs[head_lib.DEFAULT_SERVING_KEY]


class _MultiHead(head_lib._Head):
    """Several heads."""

    def __init__(self, heads, head_weights):
        self._heads = heads
        self._head_weights = head_weights

    @property
    def name(self):
        return "_".join(head.name for head in self._heads)

    @property
    def logits_dimension(self):
        return sum(head.logits_dimension for head in self._heads)

    def _no_parts(self, *args):
        raise NotImplementedError("Each head by itself predicts, exports and has metrics.")

    _predict = _export_outputs = _eval_metric_ops = _no_parts

    def _by_head(self, logits):
        return logits if isinstance(logits, dict) else self._split_logits(logits)

    def create_loss(self, features, mode, logits, labels):
        logits = self._by_head(logits)
        specs = {head.name: head.create_loss(features, mode, logits[head.name], labels[head.name])
                 for head in self._heads}
        unreduced = {name: spec.unreduced_loss for name, spec in specs.items()}
        weights = {name: spec.weights for name, spec in specs.items()}
        for head, weight in zip(self._heads, self._head_weights):
            unreduced[head.name] = math_ops.multiply(unreduced[head.name], weight)
            weights[head.name] = math_ops.multiply(weights[head.name], weight)
        loss = _merge_losses([spec.training_loss for spec in specs.values()], self._head_weights)
        return head_lib.LossSpec(training_loss=loss, unreduced_loss=unreduced, weights=weights,
                                 processed_labels={name: spec.processed_labels for name, spec in specs.items()})

    def create_estimator_spec(self, features, mode, logits, labels=None, optimizer=None, train_op_fn=None,
                              regularization_losses=None):
        logits = self._by_head(logits)
        if labels and not isinstance(labels, dict):
            raise ValueError("labels must be a dict. Given: {}".format(labels))
        specs = [head.create_estimator_spec(
            features=features, mode=mode, logits=logits[head.name], labels=labels[head.name] if labels else None,
            train_op_fn=lambda loss: control_flow_ops.no_op()) for head in self._heads]
        if mode == ModeKeys.TRAIN:
            spec = self._merge_train(specs, optimizer, train_op_fn)
            with ops.name_scope(""):
                summary.scalar(MetricKeys.LOSS, spec.loss)
            return spec
        if mode == ModeKeys.PREDICT:
            return self._merge_predict(specs)
        if mode == ModeKeys.EVAL:
            return self._merge_eval(specs)
        raise ValueError("mode={} unrecognized".format(mode))

    def _split_logits(self, logits):
        """The logits of each head from those of all."""
        sizes, parts, first = [head.logits_dimension for head in self._heads], {}, 0
        with ops.name_scope(None, "split_logits", values=[logits]):
            logits = ops.convert_to_tensor(logits)
            last = logits.shape.as_list()[-1]
            if last is not None and last != sum(sizes):
                raise ValueError(
                    "Could not split logits of shape %r among the heads with individual logits dimensions: %r. The "
                    "last dimension of the logits tensor should equal %d but is %d." %
                    (logits.shape.as_list(), sizes, sum(sizes), last))
            batch_shape = array_ops.shape(logits)[:-1]
            zeros = array_ops.zeros_like(batch_shape)
            minus_ones = -1 * array_ops.ones_like(batch_shape)
            for head, size in zip(self._heads, sizes):
                begin = array_ops.concat([zeros, [first]], axis=0)
                parts[head.name] = array_ops.slice(logits, begin=begin,
                                                   size=array_ops.concat([minus_ones, [size]], axis=0))
                first += size
        return parts

    def _predictions(self, specs):
        return {(head.name, key): value for head, spec in zip(self._heads, specs)
                for key, value in spec.predictions.items()}

    def _merge_train(self, specs, optimizer, train_op_fn):
        metrics = {}
        for spec in specs:
            metrics.update(spec.eval_metric_ops or {})
        loss = _merge_losses([spec.loss for spec in specs], self._head_weights)
        train_op = head_lib.minimizing_op(loss, optimizer, train_op_fn)
        return model_fn.EstimatorSpec(mode=ModeKeys.TRAIN, loss=loss, train_op=train_op,
                                      predictions=self._predictions(specs), eval_metric_ops=metrics)

    def _merge_predict(self, specs):
        outputs = {head_lib.DEFAULT_SERVING_KEY: _default_export_output(specs[0].export_outputs, self._heads[0].name)}
        merged = {}
        for head, spec in zip(self._heads, specs):
            for key, value in spec.export_outputs.items():
                is_default = key == head_lib.DEFAULT_SERVING_KEY
                outputs[head.name if is_default else "%s/%s" % (head.name, key)] = value
                if key == head_lib.PREDICT_SERVING_KEY and isinstance(value, export_output_lib.PredictOutput):
                    merged.update({"%s/%s" % (head.name, name): t for name, t in value.outputs.items()})
        outputs[head_lib.PREDICT_SERVING_KEY] = export_output_lib.PredictOutput(merged)
        return model_fn.EstimatorSpec(mode=ModeKeys.PREDICT, predictions=self._predictions(specs),
                                      export_outputs=outputs)

    def _merge_eval(self, specs):
        metrics = {}
        with ops.name_scope("merge_eval"):
            for head, spec in zip(self._heads, specs):
                name = head_lib.summary_key(head.name, MetricKeys.LOSS)
                metrics[name] = metrics_means.mean(spec.loss, name=name)
                metrics.update(spec.eval_metric_ops or {})
            loss = _merge_losses([spec.loss for spec in specs], self._head_weights)
        return model_fn.EstimatorSpec(mode=ModeKeys.EVAL, predictions=self._predictions(specs), loss=loss,
                                      eval_metric_ops=metrics)
