"""Batch normalization (Ioffe and Szegedy, 2015) and its renormalizing variant (Ioffe, 2017)."""
from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.layers import base
from penstock._src.layers import identifiers
from penstock._src.layers import utils
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import init_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.nn import nn_impl
from penstock._src.ops.state import state_ops
from penstock._src.ops.state import variables as tf_variables


class BatchNormalization(base.Layer):
    """Normalizes each channel: by the batch's mean and variance in training, by their moving averages otherwise.

    The updates of the moving averages are in UPDATE_OPS; training must run them.

    Args:
      axis: The axis or axes of the channels.
      center, scale: Whether to add `beta` and to multiply by `gamma`.
      renorm: Correct the batch's statistics towards the moving ones, within `renorm_clipping` (rmin, rmax, dmax).
      fused: Use the fused op; None: where it can be used.
      virtual_batch_size: Normalize groups of that many examples by themselves.
      adjustment: A function of the input's shape -> (scale, bias), applied in training before gamma and beta.
    """

    def __init__(self, axis=-1, momentum=0.99, epsilon=1e-3, center=True, scale=True,
                 beta_initializer=init_ops.zeros_initializer(), gamma_initializer=init_ops.ones_initializer(),
                 moving_mean_initializer=init_ops.zeros_initializer(),
                 moving_variance_initializer=init_ops.ones_initializer(), beta_regularizer=None,
                 gamma_regularizer=None, beta_constraint=None, gamma_constraint=None, renorm=False,
                 renorm_clipping=None, renorm_momentum=0.99, fused=None, trainable=True, virtual_batch_size=None,
                 adjustment=None, name=None, **kwargs):
        super().__init__(name=name, trainable=trainable, **kwargs)
        if isinstance(axis, list):
            self.axis = axis[:]
        elif isinstance(axis, int):
            self.axis = axis
        else:
            raise TypeError("axis must be int or list, type given: %s" % type(axis))
        self.momentum = momentum
        self.epsilon = epsilon
        self.center = center
        self.scale = scale
        self.beta_initializer = identifiers.initializer(beta_initializer)
        self.gamma_initializer = identifiers.initializer(gamma_initializer)
        self.moving_mean_initializer = identifiers.initializer(moving_mean_initializer)
        self.moving_variance_initializer = identifiers.initializer(moving_variance_initializer)
        self.beta_regularizer = beta_regularizer
        self.gamma_regularizer = gamma_regularizer
        self.beta_constraint = beta_constraint
        self.gamma_constraint = gamma_constraint
        self.renorm = renorm
        self.virtual_batch_size = virtual_batch_size
        self.adjustment = adjustment
        self.fused = True if fused is None else fused
        self.supports_masking = True
        self._bessels_correction_test_only = True
        if renorm:
            self.renorm_clipping = renorm_clipping or {}
            self.renorm_momentum = renorm_momentum
            keys = ["rmax", "rmin", "dmax"]
            if set(self.renorm_clipping) - set(keys):
                raise ValueError("renorm_clipping %s contains keys not in %s" % (self.renorm_clipping, keys))

    def _fused_can_be_used(self):
        return (self.axis in ([1], [3]) and not self.renorm and self.virtual_batch_size is None and
                self.adjustment is None)

    @property
    def _param_dtype(self):
        # Statistics of half-precision inputs are kept in float32.
        if self.dtype in (dtypes.float16, dtypes.bfloat16):
            return dtypes.float32
        return self.dtype or dtypes.float32

    def _check_axis(self, rank):
        if isinstance(self.axis, int):
            self.axis = [self.axis]
        self.axis = [rank + a if a < 0 else a for a in self.axis]
        for a in self.axis:
            if a < 0 or a >= rank:
                raise ValueError("Invalid axis: %d" % a)
        if len(self.axis) != len(set(self.axis)):
            raise ValueError("Duplicate axis: %s" % self.axis)
        if self.virtual_batch_size is not None:
            if self.virtual_batch_size <= 0:
                raise ValueError("virtual_batch_size must be a positive integer that divides the true batch size of "
                                 "the input Tensor")
            if 0 in self.axis:
                raise ValueError("When using virtual_batch_size, the batch dimension must be 0 and thus axis cannot "
                                 "include 0")
            if self.adjustment is not None:
                raise ValueError("When using virtual_batch_size, adjustment cannot be specified")

    def build(self, input_shape):
        input_shape = tensor_shape.TensorShape(input_shape)
        if not input_shape.ndims:
            raise ValueError("Input has undefined rank:", input_shape)
        rank = input_shape.ndims
        self._check_axis(rank)
        if self.fused:
            self.fused = rank == 4 and self._fused_can_be_used()
        lengths = {a: input_shape.dims[a].value for a in self.axis}
        if None in lengths.values():
            raise ValueError("Input has undefined `axis` dimension. Input shape: ", input_shape)
        self.input_spec = base.InputSpec(ndim=rank, axes=lengths)
        if len(lengths) == 1 and self.virtual_batch_size is None:
            param_shape = tuple(lengths.values())
        else:
            param_shape = [lengths.get(i, 1) for i in range(rank)]
            if self.virtual_batch_size is not None:
                param_shape.insert(1, 1)
                self.axis = [a + 1 for a in self.axis]
        self.gamma = self._parameter(self.scale, "gamma", param_shape, 1.0)
        self.beta = self._parameter(self.center, "beta", param_shape, 0.0)
        self._add_statistics(param_shape)
        self.built = True

    def _parameter(self, wanted, name, shape, constant):
        if wanted:
            return self.add_weight(
                name=name, shape=shape, dtype=self._param_dtype, initializer=getattr(self, name + "_initializer"),
                regularizer=getattr(self, name + "_regularizer"), constraint=getattr(self, name + "_constraint"),
                trainable=True)
        if self.fused:
            setattr(self, "_%s_const" % name, constant_op.constant(constant, dtype=self._param_dtype, shape=shape))
        return None

    def _add_statistics(self, param_shape):

        def statistic(name, initializer):
            return self.add_weight(
                name=name, shape=param_shape, dtype=self._param_dtype, initializer=initializer, trainable=False,
                synchronization=tf_variables.VariableSynchronization.ON_READ,
                aggregation=tf_variables.VariableAggregation.MEAN)

        def stddev_initializer(*args, **kwargs):
            return math_ops.sqrt(self.moving_variance_initializer(*args, **kwargs))

        # The updates assign whole variables, so these must not be partitioned.
        partitioner = self._scope.partitioner if self._scope else None
        if self._scope:
            self._scope.set_partitioner(None)
        try:
            self.moving_mean = statistic("moving_mean", self.moving_mean_initializer)
            self.moving_variance = statistic("moving_variance", self.moving_variance_initializer)
            if self.renorm:
                with ops.colocate_with(self.moving_variance):
                    self.moving_stddev = statistic("moving_stddev", stddev_initializer)
                with ops.colocate_with(self.moving_mean):
                    self.renorm_mean = statistic("renorm_mean", self.moving_mean_initializer)
                with ops.colocate_with(self.moving_stddev):
                    self.renorm_stddev = statistic("renorm_stddev", stddev_initializer)
        finally:
            if partitioner:
                self._scope.set_partitioner(partitioner)

    # Updates of the statistics

    def _assign_moving_average(self, variable, value, momentum):
        with ops.name_scope_v2("AssignMovingAvg") as scope, ops.colocate_with(variable):
            decay = ops.convert_to_tensor(1.0 - momentum, name="decay")
            if decay.dtype != variable.dtype.base_dtype:
                decay = math_ops.cast(decay, variable.dtype.base_dtype)
            delta = (variable - math_ops.cast(value, variable.dtype)) * decay
            return state_ops.assign_sub(variable, delta, name=scope)

    def _assign_new_value(self, variable, value):
        with ops.name_scope_v2("AssignNewValue") as scope, ops.colocate_with(variable):
            return state_ops.assign(variable, value, name=scope)

    def _update_variance_from_stddev(self, variance, momentum):
        stddev = self._assign_moving_average(self.moving_stddev, math_ops.sqrt(variance + self.epsilon), momentum)
        return self._assign_new_value(self.moving_variance, gen.relu(stddev * stddev - self.epsilon))

    # The fused op

    def _fused_batch_norm(self, inputs, training):
        beta = self.beta if self.center else self._beta_const
        gamma = self.gamma if self.scale else self._gamma_const
        data_format = "NCHW" if self.axis == [1] else "NHWC"

        def in_training():
            return nn_impl.fused_batch_norm(inputs, gamma, beta, epsilon=self.epsilon, data_format=data_format)

        def in_inference():
            return nn_impl.fused_batch_norm(
                inputs, gamma, beta, mean=self.moving_mean, variance=self.moving_variance, epsilon=self.epsilon,
                is_training=False, data_format=data_format)

        output, mean, variance = utils.smart_cond(training, in_training, in_inference)
        if not self._bessels_correction_test_only:
            # The op corrects the variance of a sample; without the correction it is the population's.
            count = math_ops.cast(array_ops.size(inputs) / array_ops.size(variance), variance.dtype)
            variance *= (count - math_ops.cast(1.0, variance.dtype)) / count
        known = utils.constant_value(training)
        if known is None:
            # Momentum one leaves the averages as they are.
            momentum = utils.smart_cond(training, lambda: self.momentum, lambda: 1.0)
        else:
            momentum = ops.convert_to_tensor(self.momentum)
        if known or known is None:
            self.add_update(lambda: self._assign_moving_average(self.moving_mean, mean, momentum))
            self.add_update(lambda: self._assign_moving_average(self.moving_variance, variance, momentum))
        return output

    # Ops one by one

    def _renorm_correction_and_moments(self, mean, variance, training):
        """(r, d, mean, variance): the correction, and the batch's statistics after the update of the renorm
        averages."""
        stddev = math_ops.sqrt(variance + self.epsilon)
        renorm_mean = self.renorm_mean
        # An average that starts at zero is no divisor.
        renorm_stddev = gen.maximum(self.renorm_stddev, math_ops.sqrt(self.epsilon))
        r = stddev / renorm_stddev
        d = (mean - renorm_mean) / renorm_stddev
        with ops.control_dependencies([r, d]):
            mean = array_ops.identity(mean)
            stddev = array_ops.identity(stddev)
        rmin, rmax, dmax = [self.renorm_clipping.get(key) for key in ("rmin", "rmax", "dmax")]
        if rmin is not None:
            r = gen.maximum(r, rmin)
        if rmax is not None:
            r = gen.minimum(r, rmax)
        if dmax is not None:
            d = gen.maximum(d, -dmax)
            d = gen.minimum(d, dmax)
        r = utils.smart_cond(training, lambda: r, lambda: array_ops.ones_like(r))
        d = utils.smart_cond(training, lambda: d, lambda: array_ops.zeros_like(d))

        def updated(variable, value):
            value = array_ops.identity(value)
            return utils.smart_cond(
                training, lambda: self._assign_moving_average(variable, value, self.renorm_momentum),
                lambda: array_ops.identity(variable))

        new_mean = updated(self.renorm_mean, mean)
        new_stddev = updated(self.renorm_stddev, stddev)
        with ops.control_dependencies([new_mean, new_stddev]):
            return r, d, array_ops.identity(mean), array_ops.identity(variance)

    def call(self, inputs, training=False):
        original_shape = None
        if self.virtual_batch_size is not None:
            original_shape = [-1] + inputs.shape.as_list()[1:]
            inputs = array_ops.reshape(inputs, [self.virtual_batch_size, -1] + original_shape[1:])
        outputs = (self._fused_batch_norm if self.fused else self._plain_batch_norm)(inputs, training)
        return outputs if original_shape is None else array_ops.reshape(outputs, original_shape)

    def _plain_batch_norm(self, inputs, training):
        input_shape = inputs.shape
        rank = input_shape.ndims
        reduced = [i for i in range(rank) if i not in self.axis]
        if self.virtual_batch_size is not None:
            del reduced[1]  # groups stay apart
        broadcast_shape = [1] * rank
        broadcast_shape[self.axis[0]] = input_shape.dims[self.axis[0]].value

        def broadcast(v):
            if v is not None and v.get_shape().ndims != rank and reduced != list(range(rank - 1)):
                return array_ops.reshape(v, broadcast_shape)
            return v

        scale, offset = broadcast(self.gamma), broadcast(self.beta)
        if utils.constant_value(training) == False:  # noqa: E712, also a NumPy bool
            mean, variance = self.moving_mean, self.moving_variance
        else:
            mean, variance, scale, offset = self._training_moments(inputs, training, reduced, scale, offset, broadcast)
        mean = math_ops.cast(mean, inputs.dtype)
        variance = math_ops.cast(variance, inputs.dtype)
        if offset is not None:
            offset = math_ops.cast(offset, inputs.dtype)
        if scale is not None:
            scale = math_ops.cast(scale, inputs.dtype)
        outputs = nn_impl.batch_normalization(inputs, broadcast(mean), broadcast(variance), offset, scale,
                                              self.epsilon)
        outputs.set_shape(input_shape)
        return outputs

    def _training_moments(self, inputs, training, reduced, scale, offset, broadcast):

        def composed(scale, offset, then_scale, then_offset):
            if then_scale is not None:
                scale *= then_scale
                offset *= then_scale
            if then_offset is not None:
                offset += then_offset
            return scale, offset

        if self.adjustment:
            adj_scale, adj_bias = self.adjustment(array_ops.shape(inputs))
            adj_scale = utils.smart_cond(training, lambda: adj_scale, lambda: array_ops.ones_like(adj_scale))
            adj_bias = utils.smart_cond(training, lambda: adj_bias, lambda: array_ops.zeros_like(adj_bias))
            scale, offset = composed(adj_scale, adj_bias, scale, offset)
        keep_dims = self.virtual_batch_size is not None or len(self.axis) > 1
        batch_mean, batch_variance = nn_impl.moments(
            math_ops.cast(inputs, self._param_dtype), reduced, keep_dims=keep_dims)
        mean = utils.smart_cond(training, lambda: batch_mean, lambda: ops.convert_to_tensor(self.moving_mean))
        variance = utils.smart_cond(training, lambda: batch_variance,
                                    lambda: ops.convert_to_tensor(self.moving_variance))
        new_mean, new_variance = mean, variance
        if self.virtual_batch_size is not None:
            # The averages follow the mean over all groups.
            new_mean = math_ops.reduce_mean(mean, axis=1, keepdims=True)
            new_variance = math_ops.reduce_mean(variance, axis=1, keepdims=True)
        if self.renorm:
            r, d, new_mean, new_variance = self._renorm_correction_and_moments(new_mean, new_variance, training)
            # The correction is a constant to the gradient.
            r = broadcast(gen.stop_gradient(r, name="renorm_r"))
            d = broadcast(gen.stop_gradient(d, name="renorm_d"))
            scale, offset = composed(r, d, scale, offset)

        def mean_update():
            return utils.smart_cond(
                training, lambda: self._assign_moving_average(self.moving_mean, new_mean, self.momentum),
                lambda: self.moving_mean)

        def new_variance_assigned():
            if self.renorm:
                return self._update_variance_from_stddev(new_variance, self.momentum)
            return self._assign_moving_average(self.moving_variance, new_variance, self.momentum)

        self.add_update(mean_update)
        self.add_update(lambda: utils.smart_cond(training, new_variance_assigned, lambda: self.moving_variance))
        return mean, variance, scale, offset

    def compute_output_shape(self, input_shape):
        return input_shape


def batch_normalization(inputs, axis=-1, momentum=0.99, epsilon=1e-3, center=True, scale=True,
                        beta_initializer=init_ops.zeros_initializer(), gamma_initializer=init_ops.ones_initializer(),
                        moving_mean_initializer=init_ops.zeros_initializer(),
                        moving_variance_initializer=init_ops.ones_initializer(), beta_regularizer=None,
                        gamma_regularizer=None, beta_constraint=None, gamma_constraint=None, training=False,
                        trainable=True, name=None, reuse=None, renorm=False, renorm_clipping=None,
                        renorm_momentum=0.99, fused=None, virtual_batch_size=None, adjustment=None):
    """A new BatchNormalization layer, applied to `inputs`; `training` may be a bool or a scalar bool tensor."""
    layer = BatchNormalization(
        axis=axis, momentum=momentum, epsilon=epsilon, center=center, scale=scale, beta_initializer=beta_initializer,
        gamma_initializer=gamma_initializer, moving_mean_initializer=moving_mean_initializer,
        moving_variance_initializer=moving_variance_initializer, beta_regularizer=beta_regularizer,
        gamma_regularizer=gamma_regularizer, beta_constraint=beta_constraint, gamma_constraint=gamma_constraint,
        renorm=renorm, renorm_clipping=renorm_clipping, renorm_momentum=renorm_momentum, fused=fused,
        trainable=trainable, virtual_batch_size=virtual_batch_size, adjustment=adjustment, name=name, _reuse=reuse,
        _scope=name)
    return layer.apply(inputs, training=training)


BatchNorm = BatchNormalization
batch_norm = batch_normalization
