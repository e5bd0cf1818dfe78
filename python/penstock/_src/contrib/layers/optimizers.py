"""tf.contrib.layers.optimize_loss: a training step with learning rate, clipping, noise and summaries in one call."""
from penstock._src.contrib.framework import variables as contrib_variables
from penstock._src.contrib.training.training import of_values
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import graph_keys
from penstock._src.graph import indexed_slices
from penstock._src.graph import ops
from penstock._src.graph import tensor
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import check_ops
from penstock._src.core_ops import clip_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.state import init_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.random import random_ops
from penstock._src.ops.state import variable_scope as vs
from penstock._src.ops.state import variables as tf_variables
from penstock._src.summary import summary
from penstock._src.training import adagrad
from penstock._src.training import adam
from penstock._src.training import ftrl
from penstock._src.training import gradient_descent
from penstock._src.training import momentum
from penstock._src.training import moving_averages
from penstock._src.training import optimizer as tf_optimizer
from penstock._src.training import rmsprop
from penstock._src.checkpoint import training_util

__all__ = ["OPTIMIZER_CLS_NAMES", "OPTIMIZER_SUMMARIES", "adaptive_clipping_fn", "optimize_loss"]

OPTIMIZER_CLS_NAMES = {
    "Adagrad": adagrad.AdagradOptimizer,
    "Adam": adam.AdamOptimizer,
    "Ftrl": ftrl.FtrlOptimizer,
    "Momentum": lambda learning_rate: momentum.MomentumOptimizer(learning_rate, momentum=0.9),
    "RMSProp": rmsprop.RMSPropOptimizer,
    "SGD": gradient_descent.GradientDescentOptimizer,
}

OPTIMIZER_SUMMARIES = ["learning_rate", "loss", "gradients", "gradient_norm", "global_gradient_norm"]


def optimize_loss(loss, global_step, learning_rate, optimizer, gradient_noise_scale=None, gradient_multipliers=None,
                  clip_gradients=None, learning_rate_decay_fn=None, update_ops=None, variables=None, name=None,
                  summaries=None, colocate_gradients_with_ops=False, increment_global_step=True):
    """A tensor that makes one training step and gives the loss.

    Args: `learning_rate`, a float (it becomes the variable "learning_rate"), a scalar tensor, or None for an optimizer
    that has one. `optimizer`, a name of OPTIMIZER_CLS_NAMES, a class, an instance, or a function of the rate.
    `clip_gradients`, a float for their global norm or a function of (gradient, variable) pairs. `gradient_multipliers`
    by variable or name. `learning_rate_decay_fn(rate, global_step)`. `summaries`, of OPTIMIZER_SUMMARIES.
    ValueError for what is none of these.
    """
    loss = ops.convert_to_tensor(loss)
    check_ops.assert_scalar(loss)
    if global_step is None:
        global_step = training_util.get_global_step()
    else:
        contrib_variables.assert_global_step(global_step)
    with vs.variable_scope(name, "OptimizeLoss", [loss, global_step]):
        if update_ops is None:
            update_ops = set(ops.get_collection(graph_keys.GraphKeys.UPDATE_OPS))
        if update_ops:
            loss = control_flow_ops.with_dependencies(list(update_ops), loss)
        rate = _learning_rate(learning_rate)
        if summaries is None:
            summaries = ["loss", "learning_rate", "global_gradient_norm"]
        for wanted in summaries:
            if wanted not in OPTIMIZER_SUMMARIES:
                raise ValueError("Summaries should be one of [%s], you provided %s." %
                                 (", ".join(OPTIMIZER_SUMMARIES), wanted))
        if learning_rate is not None and learning_rate_decay_fn is not None:
            if global_step is None:
                raise ValueError("global_step is required for learning_rate_decay_fn.")
            rate = learning_rate_decay_fn(rate, global_step)
            if "learning_rate" in summaries:
                summary.scalar("learning_rate", rate)
        opt = _optimizer(optimizer, rate)
        gradients = opt.compute_gradients(
            loss, tf_variables.trainable_variables() if variables is None else variables,
            colocate_gradients_with_ops=colocate_gradients_with_ops)
        if gradient_noise_scale is not None:
            gradients = [(_with_noise(grad, gradient_noise_scale), var) for grad, var in gradients]
        if gradient_multipliers is not None:
            gradients = _multiplied(gradients, gradient_multipliers)
        with_norms = "global_gradient_norm" in summaries or "gradient_norm" in summaries
        if with_norms:
            summary.scalar("global_norm/gradient_norm", clip_ops.global_norm([grad for grad, _ in gradients]))
        gradients = _clipped(gradients, clip_gradients)
        if "loss" in summaries:
            summary.scalar("loss", loss)
        _summarize(gradients, summaries)
        if clip_gradients is not None and with_norms:
            summary.scalar("global_norm/clipped_gradient_norm", clip_ops.global_norm([grad for grad, _ in gradients]))
        updates = opt.apply_gradients(gradients, global_step=global_step if increment_global_step else None,
                                      name="train")
        return control_flow_ops.with_dependencies([updates], loss)


def _learning_rate(rate):
    if rate is None or (isinstance(rate, tensor.Tensor) and rate.shape.ndims == 0):
        return rate
    if not isinstance(rate, float):
        raise ValueError("Learning rate should be 0d Tensor or float. Got %s of type %s" % (rate, type(rate)))
    if rate < 0.0:
        raise ValueError("Invalid learning_rate %s." % rate)
    return vs.get_variable("learning_rate", [], trainable=False, initializer=init_ops.constant_initializer(rate))


def _optimizer(optimizer, rate):
    if isinstance(optimizer, tf_optimizer.Optimizer):
        return optimizer
    by_name, by_class = isinstance(optimizer, str), isinstance(optimizer, type) and issubclass(
        optimizer, tf_optimizer.Optimizer)
    if (by_name or by_class) and rate is None:
        raise ValueError("Learning rate is None, but should be specified if optimizer is %s (%s)." %
                         ("string" if by_name else "class", optimizer))
    if by_name:
        if optimizer not in OPTIMIZER_CLS_NAMES:
            raise ValueError("Optimizer name should be one of [%s], you provided %s." %
                             (", ".join(OPTIMIZER_CLS_NAMES), optimizer))
        return OPTIMIZER_CLS_NAMES[optimizer](learning_rate=rate)
    if by_class:
        return optimizer(learning_rate=rate)
    if not callable(optimizer):
        raise ValueError("Unrecognized optimizer: should be string, subclass of Optimizer, instance of subclass of "
                         "Optimizer or function with one argument. Got %s." % optimizer)
    made = optimizer() if rate is None else optimizer(rate)
    if not isinstance(made, tf_optimizer.Optimizer):
        raise ValueError("Unrecognized optimizer: function should return subclass of Optimizer. Got %s." % made)
    return made


def _with_noise(grad, scale):
    if grad is None:
        return None
    shape = grad.dense_shape if isinstance(grad, indexed_slices.IndexedSlices) else grad.shape
    return grad + random_ops.truncated_normal(shape) * scale


def _multiplied(gradients, multipliers):
    def one(grad, var):
        for key in (var, var.name):
            if grad is not None and key in multipliers:
                return of_values(lambda values: values * math_ops.cast(multipliers[key], values.dtype), grad)
        return grad

    return [(one(grad, var), var) for grad, var in gradients]


def _clipped(gradients, clip):
    if clip is None:
        return gradients
    if isinstance(clip, float):
        values, variables = zip(*gradients)
        return list(zip(clip_ops.clip_by_global_norm(values, clip)[0], variables))
    if callable(clip):
        return clip(gradients)
    raise ValueError("Unknown type %s for clip_gradients" % type(clip))


def _summarize(gradients, summaries):
    for grad, variable in gradients:
        values = grad.values if isinstance(grad, indexed_slices.IndexedSlices) else grad
        if values is not None:
            name = variable.name.replace(":", "_")
            if "gradients" in summaries:
                summary.histogram("gradients/%s" % name, values)
            if "gradient_norm" in summaries:
                summary.scalar("gradient_norm/%s" % name, clip_ops.global_norm([values]))


def adaptive_clipping_fn(std_factor=2., decay=0.95, static_max_norm=None, global_step=None, report_summary=False,
                         epsilon=1e-8, name=None):
    """A function for `clip_gradients`: scales gradients whose global norm is far above its moving average.

    Far is `std_factor` standard deviations of the norm's logarithm; such a norm becomes the average.
    """
    def clip(grads_and_vars):
        norm = clip_ops.global_norm([grad for grad, _ in grads_and_vars])
        largest, log_mean = _adaptive_max_norm(norm, std_factor, decay, global_step, epsilon, name)
        if report_summary:
            summary.scalar("global_norm/adaptive_max_gradient_norm", largest)
        factor = array_ops.where(norm < largest, array_ops.ones_like(norm), gen.exp(log_mean) / norm)
        if static_max_norm is not None:
            factor = gen.minimum(static_max_norm / norm, factor)
        return [(of_values(lambda values: values * factor, grad), var) for grad, var in grads_and_vars]

    return clip


def _adaptive_max_norm(norm, std_factor, decay, global_step, epsilon, name):
    with vs.variable_scope(name, "AdaptiveMaxNorm", [norm]):
        log_norm = gen.log(norm + epsilon)
        if global_step is not None:
            n = math_ops.cast(global_step, dtypes.float32)
            decay = gen.minimum(decay, n / (n + 1.))

        def average(name, value):
            variable = vs.get_variable(name, shape=value.shape, dtype=value.dtype,
                                       initializer=init_ops.zeros_initializer(), trainable=False)
            return moving_averages.assign_moving_average(variable, value, decay, zero_debias=False)

        mean = average("mean", log_norm)
        variance = average("sq_mean", math_ops.square(log_norm)) - math_ops.square(mean)
        std = math_ops.sqrt(gen.maximum(epsilon, variance))
        return gen.exp(mean + std_factor * std), mean
