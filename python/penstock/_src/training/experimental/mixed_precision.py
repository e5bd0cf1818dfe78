"""tf.train.experimental.enable_mixed_precision_graph_rewrite."""
from penstock._src.training import optimizer
from penstock._src.training.experimental import loss_scale_optimizer

_wrappers = []  # (class of optimizers, function that wraps one and a loss scale)
_wrapped = ()


def register_loss_scale_wrapper(optimizer_cls, wrapper_fn, wrapper_cls=None):
    """Makes `wrapper_fn(optimizer, loss_scale)` wrap optimizers of a library's class, in a `wrapper_cls`."""
    global _wrapped
    _wrappers.append((optimizer_cls, wrapper_fn))
    _wrapped += (wrapper_cls or wrapper_fn,)


def is_mixed_precision_graph_rewrite_enabled():
    """Whether graphs are rewritten: never."""
    return False


def set_using_mixed_precision_policy(is_using):
    """Accepted: policies and a rewriting of graphs would exclude each other."""


def enable_mixed_precision_graph_rewrite(opt, loss_scale="dynamic"):
    """An optimizer that scales the loss of `opt`. Graphs stay as they are: on the CPU, half precision is no faster.

    ValueError if `opt` is no tf.train.Optimizer, or scales the loss already.
    """
    if isinstance(opt, tuple(kind for kind in _wrapped if isinstance(kind, type))):
        raise ValueError(f'"opt" must not already be an instance of a {type(opt).__name__}. Got {opt}')
    for kind, wrap in _wrappers:
        if isinstance(opt, kind):
            return wrap(opt, loss_scale)
    if not isinstance(opt, optimizer.Optimizer):
        raise ValueError('"opt" must be an instance of a tf.train.Optimizer or a tf.keras.optimizers.Optimizer, '
                         f"but got: {opt}")
    if isinstance(opt, loss_scale_optimizer.MixedPrecisionLossScaleOptimizer):
        raise ValueError(f'"opt" must not already be an instance of a MixedPrecisionLossScaleOptimizer. Got {opt}')
    return loss_scale_optimizer.MixedPrecisionLossScaleOptimizer(opt, loss_scale)


enable_mixed_precision_graph_rewrite_v1 = enable_mixed_precision_graph_rewrite


def disable_mixed_precision_graph_rewrite():
    """Ends it: nothing is rewritten."""


disable_mixed_precision_graph_rewrite_v1 = disable_mixed_precision_graph_rewrite
