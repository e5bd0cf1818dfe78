"""Regularizers: functions of weights whose results are added to the loss."""
import numbers

from penstock._src.graph import constant_op
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import math_ops
from penstock._src.base import tf_logging as logging


def _checked_scale(scale):
    """Whether the regularizer does anything."""
    if isinstance(scale, numbers.Integral):
        raise ValueError("scale cannot be an integer: %s" % (scale,))
    if isinstance(scale, numbers.Real):
        if scale < 0.:
            raise ValueError("Setting a scale less than 0 on a regularizer: %g." % scale)
        if scale == 0.:
            logging.info("Scale of 0 disables regularizer.")
            return False
    return True


def _scaled(name_, scale, scope, penalty):
    if not _checked_scale(scale):
        return lambda _: None

    def regularizer(weights, name=None):
        with ops.name_scope(scope, name_, [weights]) as name:
            factor = ops.convert_to_tensor(scale, dtype=weights.dtype.base_dtype, name="scale")
            return math_ops.multiply(factor, penalty(weights), name=name)

    return regularizer


def l1_regularizer(scale, scope=None):
    """scale * sum(|weights|)."""
    return _scaled("l1_regularizer", scale, scope, lambda w: math_ops.reduce_sum(math_ops.abs(w)))


def l2_regularizer(scale, scope=None):
    """scale * sum(weights^2) / 2."""
    return _scaled("l2_regularizer", scale, scope, gen.l2_loss)


def l1_l2_regularizer(scale_l1=1.0, scale_l2=1.0, scope=None):
    """The sum of both."""
    for what, scale in (("scale_l1", scale_l1), ("scale_l2", scale_l2)):
        if isinstance(scale, numbers.Integral):
            raise ValueError("%s cannot be an integer: %s" % (what, scale))
    scope = scope or "l1_l2_regularizer"
    if scale_l1 == 0.:
        return l2_regularizer(scale_l2, scope)
    if scale_l2 == 0.:
        return l1_regularizer(scale_l1, scope)
    return sum_regularizer([l1_regularizer(scale_l1), l2_regularizer(scale_l2)], scope=scope)


def sum_regularizer(regularizer_list, scope=None):
    """The sum of several; None if there are none."""
    regularizers = [r for r in regularizer_list if r is not None]
    if not regularizers:
        return None

    def sum_reg(weights):
        with ops.name_scope(scope, "sum_regularizer", [weights]) as name:
            penalties = [p for p in (r(weights) for r in regularizers) if p is not None]
            return math_ops.add_n(penalties, name=name) if penalties else None

    return sum_reg


def apply_regularization(regularizer, weights_list=None):
    """The sum over the weights (the collection WEIGHTS if None), added to REGULARIZATION_LOSSES."""
    weights_list = weights_list or ops.get_collection(ops.GraphKeys.WEIGHTS)
    if not weights_list:
        raise ValueError("No weights to regularize.")
    with ops.name_scope("get_regularization_penalty", values=weights_list) as scope:
        penalties = [regularizer(w) for w in weights_list]
        penalties = [constant_op.constant(0.0) if p is None else p for p in penalties]
        for p in penalties:
            if p.get_shape().ndims != 0:
                raise ValueError("regularizer must return a scalar Tensor instead of a Tensor with rank %d." %
                                 p.get_shape().ndims)
        total = math_ops.add_n(penalties, name=scope)
        ops.add_to_collection(ops.GraphKeys.REGULARIZATION_LOSSES, total)
        return total
