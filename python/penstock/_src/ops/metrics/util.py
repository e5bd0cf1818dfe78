"""The collection of losses."""
from penstock._src.graph import constant_op
from penstock._src.graph import ops
from penstock._src.core_ops import math_ops


def add_loss(loss, loss_collection=ops.GraphKeys.LOSSES):
    """Adds a loss made elsewhere to the collection; not in eager mode, where the collection would keep it for ever."""
    if loss_collection and not ops.executing_eagerly():
        ops.add_to_collection(loss_collection, loss)


def get_losses(scope=None, loss_collection=ops.GraphKeys.LOSSES):
    """The losses whose names match `scope`."""
    return ops.get_collection(loss_collection, scope)


def get_regularization_losses(scope=None):
    """The regularization losses whose names match `scope`."""
    return ops.get_collection(ops.GraphKeys.REGULARIZATION_LOSSES, scope)


def get_regularization_loss(scope=None, name="total_regularization_loss"):
    """The sum of the regularization losses."""
    losses = get_regularization_losses(scope)
    return math_ops.add_n(losses, name=name) if losses else constant_op.constant(0.0)


def get_total_loss(add_regularization_losses=True, name="total_loss", scope=None):
    """The sum of the losses, by default with the regularization losses."""
    losses = get_losses(scope=scope)
    if add_regularization_losses:
        losses += get_regularization_losses(scope=scope)
    return math_ops.add_n(losses, name=name)
