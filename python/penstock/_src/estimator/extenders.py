"""Estimators made of others: with more metrics, with features among the predictions."""
from penstock._src.estimator import estimator as estimator_lib
from penstock._src.estimator import model_fn as model_fn_lib
from penstock._src.saved_model.model_utils.export_output import PredictOutput
from penstock._src.saved_model.model_utils.mode_keys import EstimatorModeKeys as ModeKeys
from penstock._src.graph import ops
from penstock._src.graph import sparse_tensor as sparse_tensor_lib
from penstock._src.core_ops import clip_ops
from penstock._src.ops.sparse import sparse_ops
from penstock._src.training import optimizer as optimizer_lib
from penstock._src.base import function_utils

_VALID_METRIC_FN_ARGS = {"features", "labels", "predictions", "config"}


def add_metrics(estimator, metric_fn):
    """The estimator with more metrics: `metric_fn`, of features, labels, predictions and config or some of these."""
    unknown = list(set(function_utils.fn_args(metric_fn)) - _VALID_METRIC_FN_ARGS)
    if unknown:
        raise ValueError("metric_fn (%s) has following not expected args: %s" % (metric_fn, unknown))

    def new_model_fn(features, labels, mode, config):
        spec = estimator.model_fn(features, labels, mode, config)
        if mode != ModeKeys.EVAL:
            return spec
        more = metric_fn(**model_fn_lib.accepted(metric_fn, features=features, labels=labels,
                                                 predictions=spec.predictions, config=config))
        return spec._replace(eval_metric_ops={**(spec.eval_metric_ops or {}), **more})

    return estimator_lib.Estimator(model_fn=new_model_fn, model_dir=estimator.model_dir, config=estimator.config,
                                   warm_start_from=estimator._warm_start_settings)


def clip_gradients_by_norm(optimizer, clip_norm):
    """The optimizer with gradients whose joint norm is at most `clip_norm`."""

    def clip_grads(grads_and_vars):
        gradients, variables = zip(*grads_and_vars)
        return list(zip(clip_ops.clip_by_global_norm(gradients, clip_norm)[0], variables))

    return _TransformGradients(optimizer=optimizer, transform_grads_fn=clip_grads,
                               name="ClipByNorm" + optimizer.get_name())


class _TransformGradients(optimizer_lib.Optimizer):
    """Another optimizer with changed gradients."""

    def __init__(self, optimizer, transform_grads_fn, name=None):
        super().__init__(use_locking=False, name=name or optimizer.get_name())
        self._optimizer = optimizer
        self._transform_grads_fn = transform_grads_fn

    def compute_gradients(self, *args, **kwargs):
        return self._optimizer.compute_gradients(*args, **kwargs)

    def apply_gradients(self, grads_and_vars, global_step=None, name=None):
        return self._optimizer.apply_gradients(self._transform_grads_fn(grads_and_vars), global_step, name)

    def get_slot(self, *args, **kwargs):
        return self._optimizer.get_slot(*args, **kwargs)

    def get_slot_names(self, *args, **kwargs):
        return self._optimizer.get_slot_names(*args, **kwargs)


def forward_features(estimator, keys=None, sparse_default_values=None):
    """The estimator with features (all, or those of `keys`) among its predictions.

    sparse_default_values: {key: what sparse features are filled up with}.
    """
    keys = [keys] if isinstance(keys, str) else keys
    if keys is not None:
        if not isinstance(keys, (list, tuple)):
            raise TypeError("keys should be either a string or a list of strings. Given: {}".format(type(keys)))
        for key in keys:
            if not isinstance(key, str):
                raise TypeError("All items in the given keys list should be a string. There exist an item with type: "
                                "{}".format(type(key)))

    def forwarded(features, predictions):
        if not isinstance(predictions, dict):
            raise ValueError("Predictions should be a dict to be able to forward features. Given: {}".format(
                type(predictions)))
        chosen = {}
        for key in features if keys is None else keys:
            if key not in features:
                raise ValueError('keys should be exist in features. Key "{}" is not in features dict. features dict '
                                 "has following keys: {}. Please check arguments of forward_features.".format(
                                     key, features.keys()))
            if key in predictions:
                raise ValueError("Cannot forward feature key ({}). Since it does exist in predictions. Existing "
                                 "prediction keys: {}. Please check arguments of forward_features.".format(
                                     key, predictions.keys()))
            chosen[key] = _dense(key, features[key], sparse_default_values)
        return chosen

    def new_model_fn(features, labels, mode, config):
        spec = estimator.model_fn(features, labels, mode, config)
        if spec.predictions is None:
            return spec
        more = forwarded(features, spec.predictions)
        spec = spec._replace(predictions={**spec.predictions, **more})
        for name in ("predict", "serving_default"):
            output = (spec.export_outputs or {}).get(name)
            if isinstance(output, PredictOutput):
                output.outputs.update(more)
        return spec

    return estimator_lib.Estimator(model_fn=new_model_fn, model_dir=estimator.model_dir, config=estimator.config)


def _dense(key, feature, sparse_default_values):
    feature = sparse_tensor_lib.convert_to_tensor_or_sparse_tensor(feature)
    if sparse_default_values and key in sparse_default_values:
        if not isinstance(feature, sparse_tensor_lib.SparseTensor):
            raise ValueError("Feature ({}) is expected to be a `SparseTensor`.".format(key))
        feature = sparse_ops.sparse_tensor_to_dense(feature, default_value=sparse_default_values[key])
    if not isinstance(feature, ops.Tensor):
        raise ValueError("Feature ({}) should be a Tensor. Please use `keys` argument of forward_features to filter "
                         "unwanted features, or add key to argument `sparse_default_values`. Type of features[{}] is "
                         "{}.".format(key, key, type(feature)))
    return feature
