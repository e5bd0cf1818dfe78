"""Bijectors that learn: normalization over a batch, and shifts and scales that functions give for each number."""
import numpy as np

from penstock._src.graph import constant_op, gen, ops, tensor_shape
from penstock._src.core_ops import array_ops, clip_ops, math_ops
from penstock._src.ops.state import init_ops, variable_scope
from penstock._src.ops.nn import nn_impl
from penstock._src.checkpoint import template
from penstock._src.ops.distributions import bijector
from penstock._src.control_flow import while_loop as while_lib

__all__ = ["BatchNormalization", "MaskedAutoregressiveFlow", "RealNVP", "masked_autoregressive_default_template",
           "masked_dense", "real_nvp_default_template"]


class BatchNormalization(bijector.Bijector):
    """The inverse of batch normalization by a layer: from normalized values to those that the layer would see.

    ValueError for another layer, and for one that renormalizes or has virtual batches.
    """

    def __init__(self, batchnorm_layer=None, training=True, validate_args=False, name="batch_normalization"):
        from penstock._src.layers import normalization
        layer = batchnorm_layer or normalization.BatchNormalization(gamma_constraint=lambda x: gen.relu(x) + 1e-6)
        if not isinstance(layer, normalization.BatchNormalization):
            raise ValueError("batchnorm_layer must be an instance of BatchNormalization layer.")
        if layer.renorm:
            raise ValueError("BatchNorm Bijector does not support renormalization.")
        if layer.virtual_batch_size:
            raise ValueError("BatchNorm Bijector does not support virtual batch sizes.")
        self.batchnorm = layer
        self._training = training
        super().__init__(forward_min_event_ndims=1 if isinstance(layer.axis, int) else len(layer.axis),
                         validate_args=validate_args, name=name)

    def _build(self, x):
        if not x.shape.is_fully_defined():
            raise ValueError("Input must have shape known at graph construction.")
        if not self.batchnorm.built:
            self.batchnorm.build(x.shape)

    def _axes(self, x):
        axes = [self.batchnorm.axis] if isinstance(self.batchnorm.axis, int) else list(self.batchnorm.axis)
        return [axis % x.shape.ndims for axis in axes]

    def _forward(self, x):
        self._build(x)
        layer, axes = self.batchnorm, self._axes(x)
        shape = [size if i in axes else 1 for i, size in enumerate(x.shape.as_list())]
        scale = math_ops.sqrt(array_ops.reshape(layer.moving_variance, shape) + layer.epsilon)
        if layer.scale:
            scale /= array_ops.reshape(layer.gamma, shape)
        shift = array_ops.reshape(layer.moving_mean, shape)
        if layer.center:
            shift -= array_ops.reshape(layer.beta, shape) * scale
        return x * scale + shift

    def _inverse(self, y):
        return self.batchnorm.apply(y, training=self._training)

    def _log_det(self, y, saved):
        self._build(y)
        if saved:
            variance = self.batchnorm.moving_variance
        else:
            axes = self._axes(y)
            variance = nn_impl.moments(y, axes=[i for i in range(y.shape.ndims) if i not in axes], keep_dims=True)[1]
        return (math_ops.reduce_sum(gen.log(self.batchnorm.gamma)) -
                0.5 * math_ops.reduce_sum(gen.log(variance + self.batchnorm.epsilon)))

    def _forward_log_det_jacobian(self, x):
        return -self._log_det(x, saved=True)

    def _inverse_log_det_jacobian(self, y):
        return self._log_det(y, saved=not self._training)


def _depth(x):
    """The size of the last axis. NotImplementedError if it is not known."""
    size = tensor_shape.dimension_value(x.shape.with_rank_at_least(1)[-1])
    if size is None:
        raise NotImplementedError("Rightmost dimension must be known prior to graph execution.")
    return size


def _scaled_and_shifted(x, shift, log_scale):
    if log_scale is not None:
        x = x * gen.exp(log_scale)
    return x if shift is None else x + shift


def _unshifted_and_unscaled(y, shift, log_scale):
    if shift is not None:
        y = y - shift
    return y if log_scale is None else y * gen.exp(-log_scale)


def _sum_of_logs(log_scale, like, sign):
    if log_scale is None:
        return constant_op.constant(0., dtype=like.dtype)
    return sign * math_ops.reduce_sum(log_scale, axis=-1)


class MaskedAutoregressiveFlow(bijector.Bijector):
    """y[i] = x[i] * exp(log_scale[i]) + shift[i], these two of `shift_and_log_scale_fn(y)` (Papamakarios et al., 2017).

    The function must see only y[:i] for the i-th number; either result may be None. The map itself takes as many calls
    of it as there are numbers, in a loop or, with `unroll_loop`, one after the other; the inverse takes one.
    """

    def __init__(self, shift_and_log_scale_fn, is_constant_jacobian=False, validate_args=False, unroll_loop=False,
                 name=None):
        self._shift_and_log_scale_fn = shift_and_log_scale_fn
        self._unroll_loop = unroll_loop
        super().__init__(forward_min_event_ndims=1, is_constant_jacobian=is_constant_jacobian,
                         validate_args=validate_args, name=name or "masked_autoregressive_flow")

    def _forward(self, x):
        size = tensor_shape.dimension_value(x.shape.with_rank_at_least(1)[-1])
        y = array_ops.zeros_like(x, name="y0")
        if self._unroll_loop:
            if size is None:
                raise ValueError("The final dimension of `x` must be known at graph construction time if "
                                 "`unroll_loop=True`. `x.shape: %r`" % x.shape)
            for _ in range(size):
                y = _scaled_and_shifted(x, *self._shift_and_log_scale_fn(y))
            return y
        self._shift_and_log_scale_fn(y)  # makes its variables outside of the loop

        def body(index, y):
            with variable_scope.variable_scope(variable_scope.get_variable_scope()) as scope:
                if scope.caching_device is None and not ops.executing_eagerly():
                    scope.set_caching_device(lambda op: op.device)
                shift, log_scale = self._shift_and_log_scale_fn(y)
            return index + 1, _scaled_and_shifted(x, shift, log_scale)

        count = array_ops.shape(x)[-1]
        return while_lib.while_loop(lambda index, _: index < count, body, (0, y), maximum_iterations=size)[1]

    def _inverse(self, y):
        return _unshifted_and_unscaled(y, *self._shift_and_log_scale_fn(y))

    def _inverse_log_det_jacobian(self, y):
        return _sum_of_logs(self._shift_and_log_scale_fn(y)[1], y, -1.)


class RealNVP(bijector.Bijector):
    """The first `num_masked` numbers as they are; the others scaled and shifted by what a function makes of these.

    `shift_and_log_scale_fn(x0, n)` gives (shift, log_scale) for n numbers, either of which may be None (Dinh et al.,
    2017). ValueError if no number is masked, or all of them are.
    """

    def __init__(self, num_masked, shift_and_log_scale_fn, is_constant_jacobian=False, validate_args=False, name=None):
        if num_masked <= 0:
            raise ValueError("num_masked must be a positive integer.")
        self._num_masked = num_masked
        self._shift_and_log_scale_fn = shift_and_log_scale_fn
        super().__init__(forward_min_event_ndims=1, is_constant_jacobian=is_constant_jacobian,
                         validate_args=validate_args, name=name or "real_nvp")

    def _parts(self, x):
        """(the masked numbers, the others, (shift, log_scale))."""
        depth = _depth(x)
        if self._num_masked >= depth:
            raise ValueError("Number of masked units must be smaller than the event size.")
        first = x[:, :self._num_masked]
        return first, x[:, self._num_masked:], self._shift_and_log_scale_fn(first, depth - self._num_masked)

    def _forward(self, x):
        first, rest, by = self._parts(x)
        return array_ops.concat([first, _scaled_and_shifted(rest, *by)], axis=-1)

    def _inverse(self, y):
        first, rest, by = self._parts(y)
        return array_ops.concat([first, _unshifted_and_unscaled(rest, *by)], axis=-1)

    def _inverse_log_det_jacobian(self, y):
        return _sum_of_logs(self._parts(y)[2][1], y, -1.)

    def _forward_log_det_jacobian(self, x):
        return _sum_of_logs(self._parts(x)[2][1], x, 1.)


def _mask(blocks, n_in, n_out, exclusive, dtype):
    """[n_in, n_out]: 1 where an output may see an input. Both are cut into blocks; none is seen by an earlier one."""
    step_in, step_out = n_in // blocks, n_out // blocks
    mask = np.zeros([n_in, n_out], dtype)
    for i in range(blocks):
        mask[i * step_in:(i + 1) * step_in, (i + exclusive) * step_out:] = 1
    return mask


def masked_dense(inputs, units, num_blocks=None, exclusive=False, kernel_initializer=None, reuse=None, name=None, *args,
                 **kwargs):
    """A dense layer in which a block of outputs sees only the blocks of inputs up to its own, or before it if
    `exclusive`. NotImplementedError if the last size of the inputs is not known."""
    from penstock._src.layers import core
    dtype = inputs.dtype.base_dtype
    mask = _mask(num_blocks, _depth(inputs), units, bool(exclusive), dtype.as_numpy_dtype)
    kernel_initializer = kernel_initializer or init_ops.glorot_normal_initializer()

    def initializer(shape, dtype=None, partition_info=None):
        return mask * kernel_initializer(shape, dtype, partition_info)

    with ops.name_scope(name, "masked_dense", [inputs, units, num_blocks]):
        layer = core.Dense(units, *args, kernel_initializer=initializer, kernel_constraint=lambda x: mask * x,
                           name=name, dtype=dtype, _scope=name, _reuse=reuse, **kwargs)
        return layer.apply(inputs)


def masked_autoregressive_default_template(
        hidden_layers, shift_only=False, activation=gen.relu, log_scale_min_clip=-5., log_scale_max_clip=3.,
        log_scale_clip_gradient=False, name=None, *args, **kwargs):
    """A function for `MaskedAutoregressiveFlow`: masked dense layers, whose variables all its calls share."""
    name = name or "masked_autoregressive_default_template"
    with ops.name_scope(name, values=[log_scale_min_clip, log_scale_max_clip]):
        def shift_and_log_scale(x):
            depth = _depth(x)
            shape = x.shape.as_list() if x.shape.is_fully_defined() else array_ops.shape(x)
            for i, units in enumerate(hidden_layers):
                x = masked_dense(*args, inputs=x, units=units, num_blocks=depth, exclusive=i == 0,
                                 activation=activation, **kwargs)
            x = masked_dense(*args, inputs=x, units=(1 if shift_only else 2) * depth, num_blocks=depth,
                             activation=None, **kwargs)
            if shift_only:
                return array_ops.reshape(x, shape), None
            x = array_ops.reshape(x, array_ops.concat([shape, [2]], axis=0))
            shift, log_scale = array_ops.unstack(x, num=2, axis=-1)
            clipped = clip_ops.clip_by_value(log_scale, log_scale_min_clip, log_scale_max_clip)
            if not log_scale_clip_gradient:
                clipped = log_scale + gen.stop_gradient(clipped - log_scale)
            return shift, clipped

        return template.make_template(name, shift_and_log_scale)


def real_nvp_default_template(hidden_layers, shift_only=False, activation=gen.relu, name=None, *args, **kwargs):
    """A function for `RealNVP`: dense layers, whose variables all its calls share."""
    from penstock._src.layers import core
    with ops.name_scope(name, "real_nvp_default_template"):
        def shift_and_log_scale(x, output_units):
            for units in hidden_layers:
                x = core.dense(*args, inputs=x, units=units, activation=activation, **kwargs)
            x = core.dense(*args, inputs=x, units=(1 if shift_only else 2) * output_units, activation=None, **kwargs)
            return (x, None) if shift_only else tuple(array_ops.split(x, 2, axis=-1))

        return template.make_template("real_nvp_default_template", shift_and_log_scale)
