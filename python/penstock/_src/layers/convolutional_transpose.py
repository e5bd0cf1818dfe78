"""Transposed convolutions ("deconvolutions") of images and volumes."""
from penstock._src.graph import tensor_shape
from penstock._src.layers import utils
from penstock._src.layers.convolutional import _Conv
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import init_ops
from penstock._src.ops.nn import nn_activation, nn_conv


class _ConvTranspose(_Conv):
    """The gradient of a convolution as a layer; the kernel is [sizes..., filters, input channels]."""

    def build(self, input_shape):
        shape = tensor_shape.TensorShape(input_shape)
        if len(shape) != self.rank + 2:
            raise ValueError("Inputs should have rank %d. Received input shape: %s" % (self.rank + 2, shape))
        self._add_kernel_and_bias(self.kernel_size + (self.filters, self._channels(shape)))
        self.built = True

    def _transposed(self, inputs, output_shape):
        raise NotImplementedError

    def call(self, inputs):
        shape = array_ops.shape(inputs)
        batch = shape[0]
        first = 2 if self.data_format == "channels_first" else 1
        sizes = [shape[first + i] for i in range(self.rank)]
        lengths = [utils.deconv_output_length(size, k, self.padding, s)
                   for size, k, s in zip(sizes, self.kernel_size, self.strides)]
        if self.data_format == "channels_first":
            output_shape = [batch, self.filters] + lengths
        else:
            output_shape = [batch] + lengths + [self.filters]
        outputs = self._transposed(inputs, array_ops.stack(output_shape))
        outputs.set_shape(self.compute_output_shape(inputs.shape))
        if self.use_bias:
            outputs = nn_activation.bias_add(outputs, self.bias,
                                             data_format=utils.convert_data_format(self.data_format, 4))
        return outputs if self.activation is None else self.activation(outputs)

    def _spread(self, sizes):
        return (1, 1) + sizes if self.data_format == "channels_first" else (1,) + sizes + (1,)

    def compute_output_shape(self, input_shape):
        sizes = tensor_shape.TensorShape(input_shape).as_list()
        first = 2 if self.data_format == "channels_first" else 1
        sizes[1 if self.data_format == "channels_first" else -1] = self.filters
        for i in range(self.rank):
            sizes[first + i] = utils.deconv_output_length(sizes[first + i], self.kernel_size[i], self.padding,
                                                          self.strides[i])
        return tensor_shape.TensorShape(sizes)


class Conv2DTranspose(_ConvTranspose):
    """A transposed convolution of images."""

    def __init__(self, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last",
                 activation=None, use_bias=True, kernel_initializer=None,
                 bias_initializer=init_ops.zeros_initializer(), kernel_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True, name=None,
                 **kwargs):
        super().__init__(2, filters, kernel_size, strides, padding, data_format, 1, activation, use_bias,
                         kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
                         activity_regularizer, kernel_constraint, bias_constraint, trainable, name, **kwargs)

    def _transposed(self, inputs, output_shape):
        output_shape[0]  # TensorFlow looks at the batch size here too, and later nodes are named after that
        return nn_conv.conv2d_transpose(
            inputs, self.kernel, output_shape, self._spread(self.strides), padding=self.padding.upper(),
            data_format=utils.convert_data_format(self.data_format, 4))


class Conv3DTranspose(_ConvTranspose):
    """A transposed convolution of volumes."""

    def __init__(self, filters, kernel_size, strides=(1, 1, 1), padding="valid", data_format="channels_last",
                 activation=None, use_bias=True, kernel_initializer=None,
                 bias_initializer=init_ops.zeros_initializer(), kernel_regularizer=None, bias_regularizer=None,
                 activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True, name=None,
                 **kwargs):
        super().__init__(3, filters, kernel_size, strides, padding, data_format, 1, activation, use_bias,
                         kernel_initializer, bias_initializer, kernel_regularizer, bias_regularizer,
                         activity_regularizer, kernel_constraint, bias_constraint, trainable, name, **kwargs)

    def _transposed(self, inputs, output_shape):
        return nn_conv.conv3d_transpose(
            inputs, self.kernel, output_shape, self._spread(self.strides), padding=self.padding.upper(),
            data_format=utils.convert_data_format(self.data_format, 5))


def conv2d_transpose(inputs, filters, kernel_size, strides=(1, 1), padding="valid", data_format="channels_last",
                     activation=None, use_bias=True, kernel_initializer=None,
                     bias_initializer=init_ops.zeros_initializer(), kernel_regularizer=None, bias_regularizer=None,
                     activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True,
                     name=None, reuse=None):
    """A new Conv2DTranspose layer, applied to `inputs`."""
    return Conv2DTranspose(
        filters, kernel_size, strides, padding, data_format, activation, use_bias, kernel_initializer,
        bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint,
        bias_constraint, trainable, name, _reuse=reuse, _scope=name).apply(inputs)


def conv3d_transpose(inputs, filters, kernel_size, strides=(1, 1, 1), padding="valid", data_format="channels_last",
                     activation=None, use_bias=True, kernel_initializer=None,
                     bias_initializer=init_ops.zeros_initializer(), kernel_regularizer=None, bias_regularizer=None,
                     activity_regularizer=None, kernel_constraint=None, bias_constraint=None, trainable=True,
                     name=None, reuse=None):
    """A new Conv3DTranspose layer, applied to `inputs`."""
    return Conv3DTranspose(
        filters, kernel_size, strides, padding, data_format, activation, use_bias, kernel_initializer,
        bias_initializer, kernel_regularizer, bias_regularizer, activity_regularizer, kernel_constraint,
        bias_constraint, trainable, name, _reuse=reuse, _scope=name).apply(inputs)


Deconvolution2D = Deconv2D = Convolution2DTranspose = Conv2DTranspose
Deconvolution3D = Deconv3D = Convolution3DTranspose = Conv3DTranspose
deconvolution2d = deconv2d = convolution2d_transpose = conv2d_transpose
deconvolution3d = deconv3d = convolution3d_transpose = conv3d_transpose
