"""Pooling layers in one, two and three dimensions, as classes and as functions."""
from penstock._src.graph import tensor_shape
from penstock._src.layers import base
from penstock._src.layers import utils
from penstock._src.core_ops import array_ops
from penstock._src.ops.nn import nn_pool


class _Pooling(base.Layer):
    """Pools over windows of `pool_size` moved by `strides`."""

    _rank = None
    _functions = None

    def __init__(self, pool_size, strides, padding="valid", data_format="channels_last", name=None, **kwargs):
        if strides is None:
            raise ValueError("Argument `strides` must not be None.")
        super().__init__(name=name, **kwargs)
        self.pool_size = utils.normalize_tuple(pool_size, self._rank, "pool_size")
        self.strides = utils.normalize_tuple(strides, self._rank, "strides")
        self.padding = utils.normalize_padding(padding)
        self.data_format = utils.normalize_data_format(data_format)
        self.input_spec = base.InputSpec(ndim=self._rank + 2)

    def _function(self):
        raise NotImplementedError

    def _windows(self, sizes):
        return (1,) + sizes + (1,) if self.data_format == "channels_last" else (1, 1) + sizes

    def call(self, inputs):
        return self._function()(
            inputs, ksize=self._windows(self.pool_size), strides=self._windows(self.strides),
            padding=self.padding.upper(), data_format=utils.convert_data_format(self.data_format, self._rank + 2))

    def compute_output_shape(self, input_shape):
        sizes = tensor_shape.TensorShape(input_shape).as_list()
        first = 1 if self.data_format == "channels_last" else 2
        for i in range(self._rank):
            sizes[first + i] = utils.conv_output_length(sizes[first + i], self.pool_size[i], self.padding,
                                                        self.strides[i])
        return tensor_shape.TensorShape(sizes)


class _Pooling1D(_Pooling):
    """Pools along one dimension, as an image of width one."""

    _rank = 1

    def call(self, inputs):
        axis = 2 if self.data_format == "channels_last" else 3
        image = array_ops.expand_dims(inputs, axis)
        pooled = self._function()(
            image, ksize=self._windows(self.pool_size + (1,)), strides=self._windows(self.strides + (1,)),
            padding=self.padding.upper(), data_format=utils.convert_data_format(self.data_format, 4))
        return array_ops.squeeze(pooled, axis)


class AveragePooling1D(_Pooling1D):
    """Averages over windows."""

    def _function(self):
        return nn_pool.avg_pool


class MaxPooling1D(_Pooling1D):
    """Maxima over windows."""

    def _function(self):
        return nn_pool.max_pool


class AveragePooling2D(_Pooling):
    """Averages over windows of an image."""
    _rank = 2

    def _function(self):
        return nn_pool.avg_pool


class MaxPooling2D(_Pooling):
    """Maxima over windows of an image."""
    _rank = 2

    def _function(self):
        return nn_pool.max_pool


class AveragePooling3D(_Pooling):
    """Averages over windows of a volume."""
    _rank = 3

    def _function(self):
        return nn_pool.avg_pool3d


class MaxPooling3D(_Pooling):
    """Maxima over windows of a volume."""
    _rank = 3

    def _function(self):
        return nn_pool.max_pool3d


def average_pooling1d(inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None):
    """A new AveragePooling1D layer, applied to `inputs`. Likewise the functions below."""
    return AveragePooling1D(pool_size, strides, padding, data_format, name).apply(inputs)


def max_pooling1d(inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None):
    """Largest elements of windows of sequences [batch, steps, channels]."""
    return MaxPooling1D(pool_size, strides, padding, data_format, name).apply(inputs)


def average_pooling2d(inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None):
    """Means of windows of images [batch, height, width, channels]."""
    return AveragePooling2D(pool_size, strides, padding, data_format, name).apply(inputs)


def max_pooling2d(inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None):
    """Largest elements of windows of images [batch, height, width, channels]."""
    return MaxPooling2D(pool_size, strides, padding, data_format, name).apply(inputs)


def average_pooling3d(inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None):
    """Means of windows of volumes [batch, depth, height, width, channels]."""
    return AveragePooling3D(pool_size, strides, padding, data_format, name).apply(inputs)


def max_pooling3d(inputs, pool_size, strides, padding="valid", data_format="channels_last", name=None):
    """Largest elements of windows of volumes [batch, depth, height, width, channels]."""
    return MaxPooling3D(pool_size, strides, padding, data_format, name).apply(inputs)


AvgPool2D = AveragePooling2D
MaxPool2D = MaxPooling2D
max_pool2d = max_pooling2d
avg_pool2d = average_pooling2d
