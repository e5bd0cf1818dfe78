"""EstimatorSpec: what a model function gives."""
import collections

from penstock._src.saved_model.model_utils import export_utils
from penstock._src.saved_model.model_utils.mode_keys import EstimatorModeKeys as ModeKeys
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import variables
from penstock._src.base import tf_logging as logging
from penstock._src.training import monitored_session
from penstock._src.training import session_run_hook
from penstock._src.base import function_utils
from penstock._src.base import nest

LOSS_METRIC_KEY = "loss"
AVERAGE_LOSS_METRIC_KEY = "average_loss"

_VALID_MODEL_FN_ARGS = {"features", "labels", "mode", "params", "self", "config"}


class EstimatorSpec(
        collections.namedtuple("EstimatorSpec", [
            "mode", "predictions", "loss", "train_op", "eval_metric_ops", "export_outputs", "training_chief_hooks",
            "training_hooks", "scaffold", "evaluation_hooks", "prediction_hooks"])):
    """The operations of a model.

    Args:
      mode: One of ModeKeys.
      predictions: A tensor or a dict of tensors; needed for PREDICT.
      loss: A scalar; needed for TRAIN and EVAL.
      train_op: Needed for TRAIN.
      eval_metric_ops: {name: (value, update op)}.
      export_outputs: {name: ExportOutput}; by default the predictions.
      training_chief_hooks, training_hooks, evaluation_hooks, prediction_hooks: SessionRunHooks.
      scaffold: A tf.train.Scaffold.
    """

    def __new__(cls, mode, predictions=None, loss=None, train_op=None, eval_metric_ops=None, export_outputs=None,
                training_chief_hooks=None, training_hooks=None, scaffold=None, evaluation_hooks=None,
                prediction_hooks=None):
        train_op = _checked_train_op(train_op, mode)
        loss = _checked_loss(loss, mode)
        predictions = _checked_predictions(predictions, mode)
        if mode == ModeKeys.PREDICT:
            export_outputs = export_utils.get_export_outputs(export_outputs, predictions)
        scaffold = scaffold or monitored_session.Scaffold()
        if not isinstance(scaffold, monitored_session.Scaffold):
            raise TypeError("scaffold must be tf.train.Scaffold. Given: {}".format(scaffold))
        return super().__new__(
            cls, mode=mode, predictions=predictions, loss=loss, train_op=train_op,
            eval_metric_ops=_checked_metrics(eval_metric_ops), export_outputs=export_outputs,
            training_chief_hooks=_checked_hooks(training_chief_hooks), training_hooks=_checked_hooks(training_hooks),
            scaffold=scaffold, evaluation_hooks=_checked_hooks(evaluation_hooks),
            prediction_hooks=_checked_hooks(prediction_hooks))

    def _replace(self, **kwds):
        if kwds.get("mode", self.mode) != self.mode:
            raise ValueError("mode of EstimatorSpec cannot be changed.")
        return EstimatorSpec(*[kwds.pop(field, value) for field, value in zip(self._fields, self)])


def _require_current(graph, what, name):
    if graph is not ops.get_default_graph():
        raise ValueError('{0} with "{1}" must be from the default graph. Possible causes of this error include: \n\n'
                         "1) {0} was created outside the context of the default graph.\n\n2) The object passed "
                         "through to EstimatorSpec was not created in the most recent call to \"model_fn\".".format(
                             what, name))


def _require_tensor(x, name):
    if not ops.is_dense_tensor_like(x):
        raise TypeError("{} must be Tensor, given: {}".format(name, x))
    return x


def _checked_train_op(train_op, mode):
    if train_op is None:
        if mode == ModeKeys.TRAIN:
            raise ValueError("Missing train_op.")
        return None
    if not (isinstance(train_op, ops.Operation) or ops.is_dense_tensor_like(train_op)):
        raise TypeError("train_op must be Operation or Tensor, given: {}".format(train_op))
    if isinstance(train_op, variables.Variable):
        train_op = train_op.op
    _require_current(train_op.graph, "train_op", train_op.name)
    return train_op


def _checked_loss(loss, mode):
    if loss is None:
        if mode in (ModeKeys.TRAIN, ModeKeys.EVAL):
            raise ValueError("Missing loss.")
        return None
    _require_tensor(loss, "loss")
    shape = loss.get_shape()
    if shape.num_elements() not in (None, 1):
        raise ValueError("Loss must be scalar, given: {}".format(loss))
    if not shape.is_compatible_with(tensor_shape.TensorShape([])):
        loss = array_ops.reshape(loss, [])
    _require_current(loss.graph, "loss", loss.name)
    return loss


def _checked_predictions(predictions, mode):
    if predictions is None:
        if mode == ModeKeys.PREDICT:
            raise ValueError("Missing predictions.")
        return {}
    if not isinstance(predictions, dict):
        _require_tensor(predictions, "predictions")
        _require_current(predictions.graph, "prediction values", predictions.name)
        return predictions
    for key, value in predictions.items():
        _require_tensor(value, "predictions[{}]".format(key))
    for key, value in predictions.items():
        _require_current(value.graph, "prediction values", "{0}: {1}".format(key, value.name))
    return dict(predictions)


def _checked_hooks(hooks):
    hooks = tuple(hooks or [])
    for hook in hooks:
        if not isinstance(hook, session_run_hook.SessionRunHook):
            raise TypeError("All hooks must be SessionRunHook instances, given: {}".format(hook))
    return hooks


def _checked_metrics(eval_metric_ops):
    if eval_metric_ops is None:
        return {}
    if not isinstance(eval_metric_ops, dict):
        raise TypeError("eval_metric_ops must be a dict, given: {}".format(eval_metric_ops))
    for key, value in eval_metric_ops.items():
        if not isinstance(value, tuple) or len(value) != 2:
            raise TypeError("Values of eval_metric_ops must be (metric_value, update_op) tuples, given: {} for key: "
                            "{}".format(value, key))
        for part in nest.flatten(value):
            _require_current(part.graph, "eval_metric_ops", "{0}: {1}".format(key, part.name))
    return eval_metric_ops


def accepted(fn, **available):
    """Those of the arguments that `fn` has parameters for."""
    names = function_utils.fn_args(fn)
    return {name: value for name, value in available.items() if name in names}


def call_logit_fn(logit_fn, features, mode, params, config):
    """Calls a function that gives logits, with those of the arguments that it takes."""
    logits = logit_fn(features=features, **accepted(logit_fn, mode=mode, params=params, config=config))
    is_dict = isinstance(logits, dict) and all(isinstance(key, str) and isinstance(value, ops.Tensor)
                                               for key, value in logits.items())
    if not (is_dict or isinstance(logits, ops.Tensor)):
        raise ValueError("logit_fn should return a Tensor or a dictionary mapping strings to Tensors.  logit_fn "
                         "returned: %s" % logits)
    return logits


def verify_model_fn_args(model_fn, params):
    """ValueError unless the function has the parameters of a model function."""
    args = set(function_utils.fn_args(model_fn))
    if "features" not in args:
        raise ValueError("model_fn (%s) must include features argument." % model_fn)
    if params is not None and "params" not in args:
        raise ValueError("model_fn (%s) does not include params argument, but params (%s) is passed to Estimator." %
                         (model_fn, params))
    if params is None and "params" in args:
        logging.warning("Estimator's model_fn (%s) includes params argument, but params are not passed to Estimator.",
                        model_fn)
    unknown = list(args - _VALID_MODEL_FN_ARGS)
    if unknown:
        raise ValueError("model_fn (%s) has following not expected args: %s" % (model_fn, unknown))
