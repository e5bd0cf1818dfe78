"""Separable convolutions: one filter a channel, then a mixture of the channels."""
from penstock._src.graph import tensor_shape
from penstock._src.layers import identifiers
from penstock._src.layers import utils
from penstock._src.layers.convolutional import _Conv
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import init_ops
from penstock._src.ops.nn import nn_impl
from penstock._src.ops.nn import nn_activation


class _SeparableConv(_Conv):
    """Depthwise, then pointwise convolution, a bias and an activation."""

    def __init__(self, rank, filters, kernel_size, strides, padding, data_format, dilation_rate, depth_multiplier,
                 activation, use_bias, depthwise_initializer, pointwise_initializer, bias_initializer,
                 depthwise_regularizer, pointwise_regularizer, bias_regularizer, activity_regularizer,
                 depthwise_constraint, pointwise_constraint, bias_constraint, trainable, name, **kwargs):
        super().__init__(
            rank, filters, kernel_size, strides=strides, padding=padding, data_format=data_format,
            dilation_rate=dilation_rate, activation=activation, use_bias=use_bias, bias_initializer=bias_initializer,
            bias_regularizer=bias_regularizer, activity_regularizer=activity_regularizer,
            bias_constraint=bias_constraint, trainable=trainable, name=name, **kwargs)
        self.depth_multiplier = depth_multiplier
        self.depthwise_initializer = identifiers.initializer(depthwise_initializer)
        self.pointwise_initializer = identifiers.initializer(pointwise_initializer)
        self.depthwise_regularizer = depthwise_regularizer
        self.pointwise_regularizer = pointwise_regularizer
        self.depthwise_constraint = depthwise_constraint
        self.pointwise_constraint = pointwise_constraint

    def build(self, input_shape):
        channels = self._channels(tensor_shape.TensorShape(input_shape))
        self.depthwise_kernel = self.add_weight(
            name="depthwise_kernel", shape=self.kernel_size + (channels, self.depth_multiplier),
            initializer=self.depthwise_initializer, regularizer=self.depthwise_regularizer,
            constraint=self.depthwise_constraint, trainable=True, dtype=self.dtype)
        self.pointwise_kernel = self.add_weight(
            name="pointwise_kernel", shape=(1,) * self.rank + (self.depth_multiplier * channels, self.filters),
            initializer=self.pointwise_initializer, regularizer=self.pointwise_regularizer,
            constraint=self.pointwise_constraint, trainable=True, dtype=self.dtype)
        self._add_bias()
        self.built = True

    def _convolved(self, inputs, depthwise, pointwise, strides, padding, rate):
        data_format = utils.convert_data_format(self.data_format, 4)
        outputs = nn_impl.separable_conv2d(inputs, depthwise, pointwise, strides=strides, padding=padding.upper(),
                                           rate=rate, data_format=data_format)
        return nn_activation.bias_add(outputs, self.bias, data_format=data_format) if self.use_bias else outputs


class SeparableConv1D(_SeparableConv):
    """A separable convolution along one dimension."""

    def __init__(self, filters, kernel_size, strides=1, padding="valid", data_format="channels_last", dilation_rate=1,
                 depth_multiplier=1, activation=None, use_bias=True, depthwise_initializer=None,
                 pointwise_initializer=None, bias_initializer=init_ops.zeros_initializer(), depthwise_regularizer=None,
                 pointwise_regularizer=None, bias_regularizer=None, activity_regularizer=None,
                 depthwise_constraint=None, pointwise_constraint=None, bias_constraint=None, trainable=True, name=None,
                 **kwargs):
        super().__init__(1, filters, kernel_size, strides, padding, data_format, dilation_rate, depth_multiplier,
                         activation, use_bias, depthwise_initializer, pointwise_initializer, bias_initializer,
                         depthwise_regularizer, pointwise_regularizer, bias_regularizer, activity_regularizer,
                         depthwise_constraint, pointwise_constraint, bias_constraint, trainable, name, **kwargs)

    def call(self, inputs):
        if self.padding == "causal":
            inputs = self._causally_padded(inputs)
        if self.data_format == "channels_last":
            strides, axis = (1,) + self.strides * 2 + (1,), 1
        else:
            strides, axis = (1, 1) + self.strides * 2, 2
        # An image of height one.
        inputs = array_ops.expand_dims(inputs, axis)
        depthwise = array_ops.expand_dims(self.depthwise_kernel, 0)
        pointwise = array_ops.expand_dims(self.pointwise_kernel, 0)
        outputs = self._convolved(inputs, depthwise, pointwise, strides,
                                  "valid" if self.padding == "causal" else self.padding, (1,) + self.dilation_rate)
        outputs = array_ops.squeeze(outputs, [axis])
        return outputs if self.activation is None else self.activation(outputs)


class SeparableConv2D(_SeparableConv):
    """A separable convolution of images."""

    def __init__(self, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last",
                 dilation_rate=(1, 1), depth_multiplier=1, activation=None, use_bias=True, depthwise_initializer=None,
                 pointwise_initializer=None, bias_initializer=init_ops.zeros_initializer(), depthwise_regularizer=None,
                 pointwise_regularizer=None, bias_regularizer=None, activity_regularizer=None,
                 depthwise_constraint=None, pointwise_constraint=None, bias_constraint=None, trainable=True, name=None,
                 **kwargs):
        super().__init__(2, filters, kernel_size, strides, padding, data_format, dilation_rate, depth_multiplier,
                         activation, use_bias, depthwise_initializer, pointwise_initializer, bias_initializer,
                         depthwise_regularizer, pointwise_regularizer, bias_regularizer, activity_regularizer,
                         depthwise_constraint, pointwise_constraint, bias_constraint, trainable, name, **kwargs)

    def call(self, inputs):
        strides = (1,) + self.strides + (1,) if self.data_format == "channels_last" else (1, 1) + self.strides
        outputs = self._convolved(inputs, self.depthwise_kernel, self.pointwise_kernel, strides, self.padding,
                                  self.dilation_rate)
        return outputs if self.activation is None else self.activation(outputs)


def separable_conv1d(inputs, filters, kernel_size, strides=1, padding="valid", data_format="channels_last",
                     dilation_rate=1, depth_multiplier=1, activation=None, use_bias=True, depthwise_initializer=None,
                     pointwise_initializer=None, bias_initializer=init_ops.zeros_initializer(),
                     depthwise_regularizer=None, pointwise_regularizer=None, bias_regularizer=None,
                     activity_regularizer=None, depthwise_constraint=None, pointwise_constraint=None,
                     bias_constraint=None, trainable=True, name=None, reuse=None):
    """A new SeparableConv1D layer, applied to `inputs`."""
    return SeparableConv1D(
        filters, kernel_size, strides, padding, data_format, dilation_rate, depth_multiplier, activation, use_bias,
        depthwise_initializer, pointwise_initializer, bias_initializer, depthwise_regularizer, pointwise_regularizer,
        bias_regularizer, activity_regularizer, depthwise_constraint, pointwise_constraint, bias_constraint, trainable,
        name, _reuse=reuse, _scope=name).apply(inputs)


def separable_conv2d(inputs, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last",
                     dilation_rate=(1, 1), depth_multiplier=1, activation=None, use_bias=True,
                     depthwise_initializer=None, pointwise_initializer=None,
                     bias_initializer=init_ops.zeros_initializer(), depthwise_regularizer=None,
                     pointwise_regularizer=None, bias_regularizer=None, activity_regularizer=None,
                     depthwise_constraint=None, pointwise_constraint=None, bias_constraint=None, trainable=True,
                     name=None, reuse=None):
    """A new SeparableConv2D layer, applied to `inputs`."""
    return SeparableConv2D(
        filters, kernel_size, strides, padding, data_format, dilation_rate, depth_multiplier, activation, use_bias,
        depthwise_initializer, pointwise_initializer, bias_initializer, depthwise_regularizer, pointwise_regularizer,
        bias_regularizer, activity_regularizer, depthwise_constraint, pointwise_constraint, bias_constraint, trainable,
        name, _reuse=reuse, _scope=name).apply(inputs)


SeparableConvolution2D = SeparableConv2D
separable_convolution2d = separable_conv2d
