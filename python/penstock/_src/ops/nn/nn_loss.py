"""Cross-entropy and other losses by element."""
import math

import numpy as np

from penstock import _core
from penstock._src.graph import constant_op, dtypes, gen, ops
from penstock._src.base import tf2
from penstock._src.graph.tensor import Tensor
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import check_ops
from penstock._src.core_ops.arguments import pick

__all__ = [
    "log_poisson_loss", "sigmoid_cross_entropy_with_logits", "sigmoid_cross_entropy_with_logits_v2",
    "softmax_cross_entropy_with_logits", "softmax_cross_entropy_with_logits_v2",
    "softmax_cross_entropy_with_logits_v2_helper", "sparse_softmax_cross_entropy_with_logits",
    "sparse_softmax_cross_entropy_with_logits_v2", "weighted_cross_entropy_with_logits",
    "weighted_cross_entropy_with_logits_v2",
]


def _require_named(name, sentinel, labels, logits):
    """Keeps labels and logits from being exchanged by position."""
    if sentinel is not None:
        raise ValueError(f"Only call `{name}` with named arguments (labels=..., logits=..., ...)")
    if labels is None or logits is None:
        if tf2.enabled():
            raise ValueError(f"Both `labels` and `logits` must be provided for {name}. Received: labels={labels} and "
                             f"logits={logits}")
        raise ValueError("Both labels and logits must be provided.")


def _require_same_shape(a, b, a_name, b_name):
    try:
        b.get_shape().merge_with(a.get_shape())
    except ValueError:
        if tf2.enabled():
            raise ValueError(f"`{a_name}` and `{b_name}` must have the same shape, received "
                             f"({a.get_shape()} vs {b.get_shape()}).") from None
        raise ValueError(f"{a_name} and {b_name} must have the same shape "
                         f"({a.get_shape()} vs {b.get_shape()})") from None


# Softmax


def _as_matrix(logits):
    """All but the last dimension in one."""
    rank = array_ops.rank(logits)
    last = array_ops.slice(array_ops.shape(logits), [math_ops.subtract(rank, 1)], [1])
    output = array_ops.reshape(logits, array_ops.concat([[-1], last], 0))
    known = logits.get_shape()
    if known.ndims is not None and None not in known.as_list()[:-1]:
        output.set_shape([int(np.prod(known.as_list()[:-1])), known.as_list()[-1]])
    return output


def softmax_cross_entropy_with_logits_v2(labels, logits, axis=-1, name=None):
    """The cross-entropy between `labels` (distributions) and softmax(logits); differentiable by both."""
    return softmax_cross_entropy_with_logits_v2_helper(labels, logits, axis, name)


def softmax_cross_entropy_with_logits_v2_helper(labels, logits, axis=None, name=None, dim=None):
    """The cross-entropy between `labels` (distributions) and softmax(logits); differentiable by both.

    labels, logits: floats of one shape, [..., classes], of which each row of labels should add up to 1. The result has
      the shape without `axis`, the last if none is given, and the logits' type.
    """
    axis = pick("axis", axis, "dim", dim)
    axis = -1 if axis is None else axis
    with ops.name_scope(name, "softmax_cross_entropy_with_logits", [logits, labels]) as name:
        logits = ops.convert_to_tensor(logits, name="logits")
        labels = ops.convert_to_tensor(labels, name="labels")
        small = logits.dtype in (dtypes.float16, dtypes.bfloat16)  # computed in float32
        precise = math_ops.cast(logits, dtypes.float32) if small else logits
        labels = math_ops.cast(labels, precise.dtype)
        rank = array_ops.rank(precise)
        known = logits.get_shape()
        if axis != -1:

            def to_end(tensor):
                order = [math_ops.range(axis), math_ops.range(axis + 1, rank), [axis]]
                return array_ops.transpose(tensor, array_ops.concat(order, 0))

            precise, labels = to_end(precise), to_end(labels)
        shape = array_ops.shape(precise)
        precise, labels = _as_matrix(precise), _as_matrix(labels)
        cost, _ = gen.softmax_cross_entropy_with_logits(precise, labels, name=name)
        cost = array_ops.reshape(cost, array_ops.slice(shape, [0], [math_ops.subtract(rank, 1)]))
        if known.ndims is not None:
            dims = known.as_list()
            del dims[axis]
            cost.set_shape(dims)
        return math_ops.cast(cost, logits.dtype) if small else cost


def softmax_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, dim=-1, name=None, axis=None):
    """The cross-entropy between `labels` (distributions) and softmax(logits); labels count as constants.

    labels, logits: floats of one shape, [..., classes], of which each row of labels should add up to 1. The result has
      the shape without `axis`, the last if none is given. ValueError: arguments without their names.
    """
    dim = _axis_or_dim(axis, dim)
    _require_named("softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    with ops.name_scope(name, "softmax_cross_entropy_with_logits_sg", [logits, labels]) as name:
        labels = gen.stop_gradient(labels, name="labels_stop_gradient")
    return softmax_cross_entropy_with_logits_v2(labels=labels, logits=logits, axis=dim, name=name)


def _axis_or_dim(axis, dim):
    """`dim` has a default, so only another value of it clashes with `axis`."""
    if axis is None:
        return dim
    if dim not in (None, -1):
        raise ValueError("Cannot specify both 'dim' and 'axis'")
    return axis


def _are_rows_of_classes(labels, logits):
    """Whether they are eager tensors that the op takes as they are."""
    if not (isinstance(labels, Tensor) and isinstance(logits, Tensor) and labels._is_eager and logits._is_eager):
        return False
    shape = logits._shape_tuple()
    return len(shape) == 2 and labels._shape_tuple() == shape[:1] and logits.dtype != dtypes.float16


def sparse_softmax_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, name=None):
    """The cross-entropy between classes given by number and softmax(logits).

    labels: int32 or int64 in [0, classes), [...]. logits: floats, [..., classes]. The result has the labels' shape and
      the logits' type. ValueError: shapes that do not go together, or arguments without their names.
    """
    _require_named("sparse_softmax_cross_entropy_with_logits", _sentinel, labels, logits)
    if _core.executes_eagerly() and _are_rows_of_classes(labels, logits):
        return gen.sparse_softmax_cross_entropy_with_logits(logits, labels, name=name)[0]
    with ops.name_scope(name, "SparseSoftmaxCrossEntropyWithLogits", [labels, logits]):
        labels = ops.convert_to_tensor(labels)
        logits = ops.convert_to_tensor(logits)
        half = logits.dtype.base_dtype == dtypes.float16
        precise = math_ops.cast(logits, dtypes.float32) if half else logits
        of_labels, of_logits = labels.get_shape(), logits.get_shape()
        shape = array_ops.shape(labels)
        if of_logits.ndims == 0:
            if tf2.enabled():
                raise ValueError(f"`logits` cannot be a scalar. Received logits={logits}`")
            raise ValueError(f"Logits cannot be scalars - received shape {of_logits}.")
        if None not in (of_logits.ndims, of_labels.ndims) and of_labels.ndims != of_logits.ndims - 1:
            if tf2.enabled():
                raise ValueError("`labels.shape.rank` must equal `logits.shape.rank - 1`. Received: labels.shape="
                                 f"{of_labels} of rank {of_labels.ndims} and logits.shape={of_logits} of rank "
                                 f"{of_logits.ndims}")
            raise ValueError(f"Rank mismatch: Rank of labels (received {of_labels.ndims}) should equal rank of logits "
                             f"minus 1 (received {of_logits.ndims}).")
        known = of_labels.is_fully_defined() and of_logits[:-1].is_fully_defined()
        if known and of_labels.as_list() != of_logits.as_list()[:-1]:
            if tf2.enabled():
                raise ValueError("`labels.shape` must equal `logits.shape` except for the last dimension. Received: "
                                 f"labels.shape={of_labels} and logits.shape={of_logits}")
            raise ValueError(f"Shape mismatch: The shape of labels (received {of_labels}) should equal the shape of "
                             f"logits except for the last dimension (received {of_logits}).")
        if of_logits.ndims == 2:
            cost, _ = gen.sparse_softmax_cross_entropy_with_logits(precise, labels, name=name)
            return math_ops.cast(cost, dtypes.float16) if half else cost
        checks = []
        if not known:
            checks.append(check_ops.assert_equal(array_ops.shape(labels), array_ops.shape(logits)[:-1]))
        with ops.control_dependencies(checks):
            classes = array_ops.shape(logits)[array_ops.rank(logits) - 1]
            precise = array_ops.reshape(precise, [-1, classes])
            labels = array_ops.reshape(labels, [-1])
            cost, _ = gen.sparse_softmax_cross_entropy_with_logits(precise, labels, name=name)
            cost = array_ops.reshape(cost, shape)
            cost.set_shape(of_labels)
            return math_ops.cast(cost, dtypes.float16) if half else cost


def sparse_softmax_cross_entropy_with_logits_v2(labels, logits, name=None):
    return sparse_softmax_cross_entropy_with_logits(labels=labels, logits=logits, name=name)


sparse_softmax_cross_entropy_with_logits_v2.__doc__ = sparse_softmax_cross_entropy_with_logits.__doc__


# Sigmoid


def sigmoid_cross_entropy_with_logits(_sentinel=None, labels=None, logits=None, name=None):
    """The cross-entropy between probabilities and sigmoid(logits): max(x, 0) - x * z + log(1 + exp(-|x|)).

    labels (z), logits (x): floats of one shape, which is the result's. ValueError: their shapes differ, or arguments
    without their names.
    """
    _require_named("sigmoid_cross_entropy_with_logits", _sentinel, labels, logits)
    with ops.name_scope(name, "logistic_loss", [logits, labels]) as name:
        logits = ops.convert_to_tensor(logits, name="logits")
        labels = ops.convert_to_tensor(labels, name="labels")
        _require_same_shape(logits, labels, "logits", "labels")
        zeros = array_ops.zeros_like(logits, dtype=logits.dtype)
        # Written with select rather than relu and abs, whose gradients at 0 do not add up to the right one.
        positive = logits >= zeros
        relu = array_ops.where(positive, logits, zeros)
        minus_abs = array_ops.where(positive, -logits, logits)
        return gen.add(relu - logits * labels, gen.log1p(gen.exp(minus_abs)), name=name)


def sigmoid_cross_entropy_with_logits_v2(labels=None, logits=None, name=None):
    return sigmoid_cross_entropy_with_logits(logits=logits, labels=labels, name=name)


sigmoid_cross_entropy_with_logits_v2.__doc__ = sigmoid_cross_entropy_with_logits.__doc__


def weighted_cross_entropy_with_logits_v2(labels, logits, pos_weight, name=None):
    """`sigmoid_cross_entropy_with_logits` in which positive examples count `pos_weight` times."""
    with ops.name_scope(name, "logistic_loss", [logits, labels]) as name:
        logits = ops.convert_to_tensor(logits, name="logits")
        labels = ops.convert_to_tensor(labels, name="labels")
        _require_same_shape(logits, labels, "logits", "labels")
        weight = 1 + (pos_weight - 1) * labels
        rest = (1 - labels) * logits
        log = gen.log1p(gen.exp(-math_ops.abs(logits))) + gen.relu(-logits)
        return gen.add(rest, weight * log, name=name)


def weighted_cross_entropy_with_logits(labels=None, logits=None, pos_weight=None, name=None, targets=None):
    """`sigmoid_cross_entropy_with_logits` in which positive examples count `pos_weight` times."""
    return weighted_cross_entropy_with_logits_v2(pick("labels", labels, "targets", targets), logits, pos_weight, name)


def log_poisson_loss(targets, log_input, compute_full_loss=False, name=None):
    """exp(c) - c * z; in full also Stirling's approximation of log(z!)."""
    with ops.name_scope(name, "log_poisson_loss", [log_input, targets]) as name:
        log_input = ops.convert_to_tensor(log_input, name="log_input")
        targets = ops.convert_to_tensor(targets, name="targets")
        _require_same_shape(log_input, targets, "log_input", "targets")
        result = gen.exp(log_input) - log_input * targets
        if compute_full_loss:
            half = constant_op.constant(0.5, dtype=targets.dtype)
            two_pi = constant_op.constant(2 * math.pi, dtype=targets.dtype)
            stirling = targets * gen.log(targets) - targets + half * gen.log(two_pi * targets)
            zeros = array_ops.zeros_like(targets, dtype=targets.dtype)
            ones = array_ops.ones_like(targets, dtype=targets.dtype)
            below = gen.logical_and(targets >= zeros, targets <= ones)  # where the approximation does not hold
            result += array_ops.where(below, zeros, stirling)
        return result
