"""tf.train.experimental.enable_mixed_precision_graph_rewrite."""
from penstock.training import optimizer
from penstock.training.experimental import loss_scale_optimizer


def enable_mixed_precision_graph_rewrite(opt, loss_scale="dynamic"):
    """An optimizer that scales the loss of `opt`. Graphs stay as they are: on the CPU, half precision is no faster.

    ValueError if `opt` is no tf.train.Optimizer, or scales the loss already.
    """
    if not isinstance(opt, optimizer.Optimizer):
        raise ValueError(f'"opt" must be an instance of a tf.train.Optimizer, but got: {opt}')
    if isinstance(opt, loss_scale_optimizer.MixedPrecisionLossScaleOptimizer):
        raise ValueError(f'"opt" must not already be an instance of a MixedPrecisionLossScaleOptimizer. Got {opt}')
    return loss_scale_optimizer.MixedPrecisionLossScaleOptimizer(opt, loss_scale)


def disable_mixed_precision_graph_rewrite():
    """Ends it: nothing is rewritten."""
