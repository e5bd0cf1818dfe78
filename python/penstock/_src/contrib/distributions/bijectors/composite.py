"""Bijectors made of others, or of functions."""
from penstock._src.graph import constant_op
from penstock._src.ops.distributions import bijector

__all__ = ["Chain", "ConditionalBijector", "Inline", "Invert"]


class ConditionalBijector(bijector.Bijector):
    """One whose `_forward` and its like take further arguments by name."""

    def forward(self, x, name="forward", **condition_kwargs):
        """The image of x."""
        return self._call_forward(x, name, **condition_kwargs)

    def inverse(self, y, name="inverse", **condition_kwargs):
        """The point whose image is y."""
        return self._call_inverse(y, name, **condition_kwargs)

    def inverse_log_det_jacobian(self, y, event_ndims, name="inverse_log_det_jacobian", **condition_kwargs):
        """log |det J| of the inverse at y."""
        return self._call_inverse_log_det_jacobian(y, event_ndims, name, **condition_kwargs)

    def forward_log_det_jacobian(self, x, event_ndims, name="forward_log_det_jacobian", **condition_kwargs):
        """log |det J| of the map at x."""
        return self._call_forward_log_det_jacobian(x, event_ndims, name, **condition_kwargs)


class Chain(bijector.Bijector):
    """One bijector after another: the last of the list is applied first.

    Arguments for a bijector are given to the chain as a dict by the bijector's name. NotImplementedError for one that
    is not injective.
    """

    def __init__(self, bijectors=None, validate_args=False, name=None):
        bijectors = list(bijectors or ())
        for b in bijectors:
            if not b._is_injective:
                raise NotImplementedError("Invert is not implemented for non-injective bijector (%s)" % b.name)
        dtypes = list(dict.fromkeys(b.dtype for b in bijectors if b.dtype is not None))
        if len(dtypes) > 1:
            raise ValueError("incompatible dtypes: %s" % dtypes)
        # Event axes that the first to be applied has more, or fewer, than the whole: what comes before adds some.
        least, added = 0, 0
        for b in reversed(bijectors):
            least = max(least, b.forward_min_event_ndims - added)
            added += b.inverse_min_event_ndims - b.forward_min_event_ndims
        self._bijectors = bijectors
        super().__init__(
            graph_parents=[parent for b in bijectors for parent in b.graph_parents],
            forward_min_event_ndims=least, inverse_min_event_ndims=least + added,
            is_constant_jacobian=all(b.is_constant_jacobian for b in bijectors), validate_args=validate_args,
            dtype=dtypes[0] if dtypes else None,
            name=name or ("identity" if not bijectors else "_of_".join(["chain"] + [b.name for b in bijectors])))

    @property
    def bijectors(self):
        """The bijectors; the last is applied first."""
        return self._bijectors

    def _forward_event_shape(self, input_shape):
        for b in reversed(self.bijectors):
            input_shape = b.forward_event_shape(input_shape)
        return input_shape

    def _forward_event_shape_tensor(self, input_shape):
        for b in reversed(self.bijectors):
            input_shape = b.forward_event_shape_tensor(input_shape)
        return input_shape

    def _inverse_event_shape(self, output_shape):
        for b in self.bijectors:
            output_shape = b.inverse_event_shape(output_shape)
        return output_shape

    def _inverse_event_shape_tensor(self, output_shape):
        for b in self.bijectors:
            output_shape = b.inverse_event_shape_tensor(output_shape)
        return output_shape

    def _forward(self, x, **kwargs):
        for b in reversed(self.bijectors):
            x = b.forward(x, **kwargs.get(b.name, {}))
        return x

    def _inverse(self, y, **kwargs):
        for b in self.bijectors:
            y = b.inverse(y, **kwargs.get(b.name, {}))
        return y

    def _inverse_log_det_jacobian(self, y, **kwargs):
        total, ndims = constant_op.constant(0., dtype=y.dtype, name="inverse_log_det_jacobian"), \
            self.inverse_min_event_ndims
        for b in self.bijectors:
            total += b.inverse_log_det_jacobian(y, event_ndims=ndims, **kwargs.get(b.name, {}))
            y, ndims = b.inverse(y, **kwargs.get(b.name, {})), self._ndims(b.inverse_event_shape, y, ndims, b, -1)
        return total

    def _forward_log_det_jacobian(self, x, **kwargs):
        total, ndims = constant_op.constant(0., dtype=x.dtype, name="forward_log_det_jacobian"), \
            self.forward_min_event_ndims
        for b in reversed(self.bijectors):
            total += b.forward_log_det_jacobian(x, event_ndims=ndims, **kwargs.get(b.name, {}))
            x, ndims = b.forward(x, **kwargs.get(b.name, {})), self._ndims(b.forward_event_shape, x, ndims, b, 1)
        return total

    @staticmethod
    def _ndims(event_shape, at, ndims, b, sign):
        """How many axes an event has behind a bijector; one may change their number without saying so beforehand."""
        if at.shape.ndims is not None:
            known = event_shape(at.shape[at.shape.ndims - ndims:]).ndims
            if known is not None:
                return known
        return ndims + sign * (b.inverse_min_event_ndims - b.forward_min_event_ndims)


class Invert(ConditionalBijector):
    """The inverse of a bijector. NotImplementedError for one that is not injective."""

    def __init__(self, bijector, validate_args=False, name=None):
        if not bijector._is_injective:
            raise NotImplementedError("Invert is not implemented for non-injective bijectors.")
        self._bijector = bijector
        super().__init__(
            graph_parents=bijector.graph_parents, forward_min_event_ndims=bijector.inverse_min_event_ndims,
            inverse_min_event_ndims=bijector.forward_min_event_ndims,
            is_constant_jacobian=bijector.is_constant_jacobian, validate_args=validate_args, dtype=bijector.dtype,
            name=name or "invert_" + bijector.name)

    @property
    def bijector(self):
        """What is inverted."""
        return self._bijector

    def _forward_event_shape(self, input_shape):
        return self.bijector._inverse_event_shape(input_shape)

    def _forward_event_shape_tensor(self, input_shape):
        return self.bijector._inverse_event_shape_tensor(input_shape)

    def _inverse_event_shape(self, output_shape):
        return self.bijector._forward_event_shape(output_shape)

    def _inverse_event_shape_tensor(self, output_shape):
        return self.bijector._forward_event_shape_tensor(output_shape)

    def _forward(self, x, **kwargs):
        return self.bijector._inverse(x, **kwargs)

    def _inverse(self, y, **kwargs):
        return self.bijector._forward(y, **kwargs)

    def _inverse_log_det_jacobian(self, y, **kwargs):
        return self.bijector._forward_log_det_jacobian(y, **kwargs)

    def _forward_log_det_jacobian(self, x, **kwargs):
        return self.bijector._inverse_log_det_jacobian(x, **kwargs)


class Inline(ConditionalBijector):
    """A bijector of functions; what is asked for of one that is not given is not implemented."""

    def __init__(self, forward_fn=None, inverse_fn=None, inverse_log_det_jacobian_fn=None,
                 forward_log_det_jacobian_fn=None, forward_event_shape_fn=None, forward_event_shape_tensor_fn=None,
                 inverse_event_shape_fn=None, inverse_event_shape_tensor_fn=None, is_constant_jacobian=False,
                 validate_args=False, forward_min_event_ndims=None, inverse_min_event_ndims=None, name="inline"):
        super().__init__(
            forward_min_event_ndims=forward_min_event_ndims, inverse_min_event_ndims=inverse_min_event_ndims,
            is_constant_jacobian=is_constant_jacobian, validate_args=validate_args, name=name)
        self._functions = {
            "forward": forward_fn, "inverse": inverse_fn, "inverse_log_det_jacobian": inverse_log_det_jacobian_fn,
            "forward_log_det_jacobian": forward_log_det_jacobian_fn}
        self._shapes = {
            "forward_event_shape": forward_event_shape_fn, "inverse_event_shape": inverse_event_shape_fn,
            "forward_event_shape_tensor": forward_event_shape_tensor_fn,
            "inverse_event_shape_tensor": inverse_event_shape_tensor_fn}

    def _apply(self, name, value, kwargs):
        if not callable(self._functions[name]):
            raise NotImplementedError("%s_fn is not a callable function." % name)
        return self._functions[name](value, **kwargs)

    def _shape(self, name, shape):
        return shape if self._shapes[name] is None else self._shapes[name](shape)

    def _forward_event_shape(self, input_shape):
        return self._shape("forward_event_shape", input_shape)

    def _forward_event_shape_tensor(self, input_shape):
        return self._shape("forward_event_shape_tensor", input_shape)

    def _inverse_event_shape(self, output_shape):
        return self._shape("inverse_event_shape", output_shape)

    def _inverse_event_shape_tensor(self, output_shape):
        return self._shape("inverse_event_shape_tensor", output_shape)

    def _forward(self, x, **kwargs):
        return self._apply("forward", x, kwargs)

    def _inverse(self, y, **kwargs):
        return self._apply("inverse", y, kwargs)

    def _inverse_log_det_jacobian(self, y, **kwargs):
        return self._apply("inverse_log_det_jacobian", y, kwargs)

    def _forward_log_det_jacobian(self, x, **kwargs):
        return self._apply("forward_log_det_jacobian", x, kwargs)
