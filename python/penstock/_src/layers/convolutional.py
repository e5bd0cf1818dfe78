"""Convolution layers, as classes and as functions; the separable and the transposed ones are in files of their own."""
from penstock._src.graph import tensor_shape
from penstock._src.layers import base
from penstock._src.layers import identifiers
from penstock._src.layers import utils
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import init_ops
from penstock._src.ops.nn import nn_activation, nn_conv


class _Conv(base.Layer):
    """A convolution in `rank` spatial dimensions, a bias and an activation."""

    def __init__(self, rank, filters, kernel_size, strides=1, padding="valid", data_format="channels_last",
                 dilation_rate=1, activation=None, use_bias=True, kernel_initializer=None,
                 bias_initializer=init_ops.zeros_initializer(), kernel_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True, name=None,
                 **kwargs):
        super().__init__(trainable=trainable, name=name, activity_regularizer=activity_regularizer, **kwargs)
        self.rank = rank
        self.filters = filters
        self.kernel_size = utils.normalize_tuple(kernel_size, rank, "kernel_size")
        self.strides = utils.normalize_tuple(strides, rank, "strides")
        self.padding = utils.normalize_padding(padding)
        if self.padding == "causal" and rank != 1:
            raise ValueError("Causal padding is only supported for `Conv1D`and ``SeparableConv1D`.")
        self.data_format = utils.normalize_data_format(data_format)
        self.dilation_rate = utils.normalize_tuple(dilation_rate, rank, "dilation_rate")
        self.activation = identifiers.activation(activation)
        self.use_bias = use_bias
        self.kernel_initializer = identifiers.initializer(kernel_initializer)
        self.bias_initializer = identifiers.initializer(bias_initializer)
        self.kernel_regularizer = kernel_regularizer
        self.bias_regularizer = bias_regularizer
        self.kernel_constraint = kernel_constraint
        self.bias_constraint = bias_constraint
        self.input_spec = base.InputSpec(ndim=rank + 2)

    def _channels(self, input_shape):
        """The number of input channels, which from now on is demanded of all inputs."""
        axis = 1 if self.data_format == "channels_first" else -1
        channels = tensor_shape.TensorShape(input_shape).dims[axis].value
        if channels is None:
            raise ValueError("The channel dimension of the inputs should be defined. Found `None`.")
        self.input_spec = base.InputSpec(ndim=self.rank + 2, axes={axis: channels})
        return channels

    def _add_kernel_and_bias(self, kernel_shape):
        self.kernel = self.add_weight(
            name="kernel", shape=kernel_shape, initializer=self.kernel_initializer,
            regularizer=self.kernel_regularizer, constraint=self.kernel_constraint, trainable=True, dtype=self.dtype)
        self._add_bias()

    def _add_bias(self):
        self.bias = None
        if self.use_bias:
            self.bias = self.add_weight(
                name="bias", shape=(self.filters,), initializer=self.bias_initializer,
                regularizer=self.bias_regularizer, constraint=self.bias_constraint, trainable=True, dtype=self.dtype)

    def build(self, input_shape):
        input_shape = tensor_shape.TensorShape(input_shape)
        self._add_kernel_and_bias(self.kernel_size + (self._channels(input_shape), self.filters))
        padding = "valid" if self.padding == "causal" else self.padding
        self._convolution_op = nn_conv.Convolution(
            input_shape, filter_shape=self.kernel.get_shape(), dilation_rate=self.dilation_rate, strides=self.strides,
            padding=padding if isinstance(padding, (list, tuple)) else padding.upper(),
            data_format=utils.convert_data_format(self.data_format, self.rank + 2))
        self.built = True

    def call(self, inputs):
        outputs = self._convolution_op(inputs, self.kernel)
        if self.use_bias:
            if self.data_format != "channels_first":
                outputs = nn_activation.bias_add(outputs, self.bias, data_format="NHWC")
            elif self.rank == 1:
                outputs += array_ops.reshape(self.bias, (1, self.filters, 1))
            else:
                outputs = nn_activation.bias_add(outputs, self.bias, data_format="NCHW")
        return outputs if self.activation is None else self.activation(outputs)

    def compute_output_shape(self, input_shape):
        sizes = tensor_shape.TensorShape(input_shape).as_list()
        last = self.data_format == "channels_last"
        space = [utils.conv_output_length(size, k, self.padding, s, d) for size, k, s, d in zip(
            sizes[1:-1] if last else sizes[2:], self.kernel_size, self.strides, self.dilation_rate)]
        return tensor_shape.TensorShape([sizes[0]] + space + [self.filters] if last
                                        else [sizes[0], self.filters] + space)

    def _causally_padded(self, inputs):
        before = self.dilation_rate[0] * (self.kernel_size[0] - 1)
        pads = [[0, 0], [0, 0], [0, 0]]
        pads[1 if self.data_format == "channels_last" else 2][0] = before
        return array_ops.pad(inputs, pads)


class Conv1D(_Conv):
    """A convolution along one dimension; "causal" padding lets an output see no later input."""

    def __init__(self, filters, kernel_size, strides=1, padding="valid", data_format="channels_last", dilation_rate=1,
                 activation=None, use_bias=True, kernel_initializer=None,
                 bias_initializer=init_ops.zeros_initializer(), kernel_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True, name=None,
                 **kwargs):
        super().__init__(1, filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
                         kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
                         activity_regularizer, kernel_constraint, bias_constraint, trainable, name, **kwargs)

    def call(self, inputs):
        return super().call(self._causally_padded(inputs) if self.padding == "causal" else inputs)


class Conv2D(_Conv):
    """A convolution of images."""

    def __init__(self, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last",
                 dilation_rate=(1, 1), activation=None, use_bias=True, kernel_initializer=None,
                 bias_initializer=init_ops.zeros_initializer(), kernel_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True, name=None,
                 **kwargs):
        super().__init__(2, filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
                         kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
                         activity_regularizer, kernel_constraint, bias_constraint, trainable, name, **kwargs)


class Conv3D(_Conv):
    """A convolution of volumes."""

    def __init__(self, filters, kernel_size, strides=(1, 1, 1), padding="valid", data_format="channels_last",
                 dilation_rate=(1, 1, 1), activation=None, use_bias=True, kernel_initializer=None,
                 bias_initializer=init_ops.zeros_initializer(), kernel_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True, name=None,
                 **kwargs):
        super().__init__(3, filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
                         kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
                         activity_regularizer, kernel_constraint, bias_constraint, trainable, name, **kwargs)


def conv1d(inputs, filters, kernel_size, strides=1, padding="valid", data_format="channels_last", dilation_rate=1,
           activation=None, use_bias=True, kernel_initializer=None, bias_initializer=init_ops.zeros_initializer(),
           kernel_regularizer=None, bias_regularizer=None, activity_regularizer=None, kernel_constraint=None,
           bias_constraint=None, trainable=True, name=None, reuse=None):
    """A new Conv1D layer, applied to `inputs`."""
    return Conv1D(filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
                  kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer,
                  kernel_constraint, bias_constraint, trainable, name, _reuse=reuse, _scope=name).apply(inputs)


def conv2d(inputs, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last",
           dilation_rate=(1, 1), activation=None, use_bias=True, kernel_initializer=None,
           bias_initializer=init_ops.zeros_initializer(), kernel_regularizer=None, bias_regularizer=None,
           activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True, name=None,
           reuse=None):
    """A new Conv2D layer, applied to `inputs`.

    inputs: [batch, height, width, channels], or [batch, channels, height, width] with `data_format` "channels_first".
    filters: how many channels the result has.
    kernel_size, strides, dilation_rate: an integer, or one for height and width each. padding: "valid" or "same".
    The variables "kernel" and "bias" are made in the variable scope `name`; `reuse` takes those there.
    ValueError: the number of channels is not known.
    """
    return Conv2D(filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
                  kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer,
                  kernel_constraint, bias_constraint, trainable, name, _reuse=reuse, _scope=name).apply(inputs)


def conv3d(inputs, filters, kernel_size, strides=(1, 1, 1), padding="valid", data_format="channels_last",
           dilation_rate=(1, 1, 1), activation=None, use_bias=True, kernel_initializer=None,
           bias_initializer=init_ops.zeros_initializer(), kernel_regularizer=None, bias_regularizer=None,
           activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True, name=None,
           reuse=None):
    """A new Conv3D layer, applied to `inputs`."""
    return Conv3D(filters, kernel_size, strides, padding, data_format, dilation_rate, activation, use_bias,
                  kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer,
                  kernel_constraint, bias_constraint, trainable, name, _reuse=reuse, _scope=name).apply(inputs)


Convolution1D, Convolution2D, Convolution3D = Conv1D, Conv2D, Conv3D
convolution1d, convolution2d, convolution3d = conv1d, conv2d, conv3d
