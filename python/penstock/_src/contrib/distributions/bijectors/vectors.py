"""Bijectors of vectors, and of events' shapes."""
import numpy as np

from penstock._src.graph import constant_op, dtypes, gen, ops, tensor_shape, tensor_util
from penstock._src.core_ops import array_ops, math_ops, sort_ops
from penstock._src.control_flow import check_ops, control_flow_ops
from penstock._src.ops.nn import nn_activation
from penstock._src.ops.distributions import bijector

__all__ = ["Ordered", "Permute", "Reshape", "SoftmaxCentered"]


class Ordered(bijector.Bijector):
    """Increasing vectors as any vectors: the first number, and the logarithms of the steps."""

    def __init__(self, validate_args=False, name="ordered"):
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _increasing(self, x):
        if not self.validate_args:
            return x
        check = check_ops.assert_positive(x[..., 1:] - x[..., :-1],
                                          message="Forward transformation input must be strictly increasing.")
        return control_flow_ops.with_dependencies([check], x)

    def _forward(self, x):
        x = self._increasing(x)
        return array_ops.concat([x[..., :1], gen.log(x[..., 1:] - x[..., :-1])], axis=-1)

    def _inverse(self, y):
        return math_ops.cumsum(array_ops.concat([y[..., :1], gen.exp(y[..., 1:])], axis=-1), axis=-1)

    def _inverse_log_det_jacobian(self, y):
        return math_ops.reduce_sum(y[..., 1:], axis=-1)

    def _forward_log_det_jacobian(self, x):
        x = self._increasing(x)
        return -math_ops.reduce_sum(gen.log(x[..., 1:] - x[..., :-1]), axis=-1)


class Permute(bijector.Bijector):
    """Vectors in another order: y[i] = x[permutation[i]].

    TypeError for what is no integers, ValueError for what is no order of all places.
    """

    def __init__(self, permutation, validate_args=False, name=None):
        with ops.name_scope(name, "permute", values=[permutation]):
            permutation = ops.convert_to_tensor(permutation, name="permutation")
            if not permutation.dtype.is_integer:
                raise TypeError("permutation.dtype (%s) should be `int`-like." % permutation.dtype.name)
            known = tensor_util.constant_value(permutation)
            message = "Permutation over `d` must contain exactly one of each of `{0, 1, ..., d}`."
            if known is not None:
                if sorted(known) != list(range(known.size)):
                    raise ValueError(message)
            elif validate_args:
                check = check_ops.assert_equal(
                    sort_ops.sort(permutation), math_ops.range(array_ops.size(permutation)), message=message)
                permutation = control_flow_ops.with_dependencies([check], permutation)
        self._permutation = permutation
        super().__init__(forward_min_event_ndims=1, is_constant_jacobian=True, validate_args=validate_args,
                         name=name or "permute")

    @property
    def permutation(self):
        """Where each number comes from."""
        return self._permutation

    def _forward(self, x):
        return array_ops.gather(x, self.permutation, axis=-1)

    def _inverse(self, y):
        return array_ops.gather(y, gen.invert_permutation(self.permutation), axis=-1)

    def _inverse_log_det_jacobian(self, y):
        return constant_op.constant(0., dtype=y.dtype.base_dtype)

    def _forward_log_det_jacobian(self, x):
        return constant_op.constant(0., dtype=x.dtype.base_dtype)


class Reshape(bijector.Bijector):
    """Events of shape `event_shape_in` as events of `event_shape_out`, in each of which one size may be -1.

    TypeError for shapes that are no integers; ValueError for impossible ones, and for events of another shape.
    """

    def __init__(self, event_shape_out, event_shape_in=(-1,), validate_args=False, name=None):
        with ops.name_scope(name, "reshape", values=[event_shape_out, event_shape_in]):
            self._event_shape_out = ops.convert_to_tensor(event_shape_out, name="event_shape_out",
                                                          preferred_dtype=dtypes.int32)
            self._event_shape_in = ops.convert_to_tensor(event_shape_in, name="event_shape_in",
                                                         preferred_dtype=dtypes.int32)
            self._checks = [check for shape in (self._event_shape_out, self._event_shape_in)
                            for check in self._check_shape(shape, validate_args)]
        super().__init__(forward_min_event_ndims=0, is_constant_jacobian=True, validate_args=validate_args,
                         name=name or "reshape")

    @staticmethod
    def _check_shape(shape, validate_args):
        if not shape.dtype.is_integer:
            raise TypeError("%s dtype (%s) should be `int`-like." % (shape, shape.dtype.name))
        if shape.shape.ndims is not None and shape.shape.ndims > 1:
            raise ValueError("`%s` rank (%d) should be <= 1." % (shape, shape.shape.ndims))
        known = tensor_util.constant_value(shape)
        if known is not None:
            if np.sum(known == -1) > 1:
                raise ValueError("`%s` must have at most one `-1` (given %s)" % (shape, known))
            if np.any(known < -1):
                raise ValueError("`%s` elements must be either positive integers or `-1`(given %s)." % (shape, known))
            return []
        if not validate_args:
            return []
        free = math_ops.reduce_sum(math_ops.cast(math_ops.equal(shape, -1), dtypes.int32))
        return [check_ops.assert_less_equal(free, 1, message="`%s` elements must have at most one `-1`." % shape),
                check_ops.assert_greater_equal(
                    shape, -1, message="`%s` elements must be either positive integers or `-1`." % shape)]

    def _reshape(self, x, before, after):
        with ops.control_dependencies(self._checks):
            known, ndims = tensor_util.constant_value(before), tensor_shape.dimension_value(before.shape[0])
            if ndims is None or x.shape.ndims is None:
                first = array_ops.rank(x) - array_ops.size(before)
            else:
                x.shape.with_rank_at_least(ndims)
                first = x.shape.ndims - ndims
                event = x.shape[first:]
                if known is not None and event.is_fully_defined():
                    event = np.array(event.as_list())
                    if np.any(event[known >= 0] != known[known >= 0]):
                        raise ValueError("Input `event_shape` does not match `event_shape_in` (%s vs %s)." %
                                         (event, known))
            if not isinstance(first, int) or first:
                after = array_ops.concat([array_ops.shape(x)[:first], math_ops.cast(after, dtypes.int32)], axis=0)
            return array_ops.reshape(x, after)

    def _forward(self, x):
        return self._reshape(x, self._event_shape_in, self._event_shape_out)

    def _inverse(self, y):
        return self._reshape(y, self._event_shape_out, self._event_shape_in)

    def _inverse_log_det_jacobian(self, y):
        return constant_op.constant(0., dtype=y.dtype)

    def _forward_log_det_jacobian(self, x):
        return constant_op.constant(0., dtype=x.dtype)

    # Another shape is what zeros of the first one get.

    def _forward_event_shape(self, input_shape):
        return self._forward(array_ops.zeros(input_shape)).shape

    def _inverse_event_shape(self, output_shape):
        return self._inverse(array_ops.zeros(output_shape)).shape

    def _forward_event_shape_tensor(self, input_shape):
        return array_ops.shape(self._forward(array_ops.zeros(input_shape)))

    def _inverse_event_shape_tensor(self, output_shape):
        return array_ops.shape(self._inverse(array_ops.zeros(output_shape)))


class SoftmaxCentered(bijector.Bijector):
    """softmax of vectors with a 0 behind: n numbers as n + 1 that sum up to 1."""

    def __init__(self, validate_args=False, name="softmax_centered"):
        super().__init__(forward_min_event_ndims=1, validate_args=validate_args, name=name)

    def _forward_event_shape(self, input_shape):
        if input_shape.ndims is None or tensor_shape.dimension_value(input_shape[-1]) is None:
            return input_shape
        return tensor_shape.TensorShape([tensor_shape.dimension_value(input_shape[-1]) + 1])

    def _forward_event_shape_tensor(self, input_shape):
        return (input_shape[-1] + 1)[..., None]

    def _inverse_event_shape(self, output_shape):
        size = None if output_shape.ndims is None else tensor_shape.dimension_value(output_shape[-1])
        if size is None:
            return output_shape
        if size <= 1:
            raise ValueError("output_shape[-1] = %d <= 1" % size)
        return tensor_shape.TensorShape([size - 1])

    def _inverse_event_shape_tensor(self, output_shape):
        if self.validate_args:
            check = check_ops.assert_greater(output_shape[-1], 1, message="Need last dimension greater than 1.")
            output_shape = control_flow_ops.with_dependencies([check], output_shape)
        return (output_shape[-1] - 1)[..., None]

    def _forward(self, x):
        return nn_activation.softmax(array_ops.concat([x, array_ops.zeros_like(x[..., :1])], axis=-1))

    def _inverse(self, y):
        logs = gen.log(y)
        return logs[..., :-1] - logs[..., -1:]

    def _inverse_log_det_jacobian(self, y):
        return -math_ops.reduce_sum(gen.log(y), axis=-1)

    def _forward_log_det_jacobian(self, x):
        total = gen.softplus(math_ops.reduce_logsumexp(x, axis=-1, keepdims=True))
        return array_ops.squeeze(math_ops.reduce_sum(x - total, axis=-1, keepdims=True) - total, axis=-1)
