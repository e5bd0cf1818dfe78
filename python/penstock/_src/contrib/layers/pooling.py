"""Maxima and averages over windows."""
from penstock._src.contrib.framework.arg_scope import add_arg_scope
from penstock._src.contrib.layers import utils
from penstock._src.graph import ops
from penstock._src.layers import pooling as pooling_layers
from penstock._src.ops.nn import nn_pool


def _pool(inputs, layer_class, name, kernel_size, stride, padding, data_format, outputs_collections, scope):
    with ops.name_scope(scope, name, [inputs]) as sc:
        inputs = ops.convert_to_tensor(inputs)
        layer = layer_class(pool_size=kernel_size, strides=stride, padding=padding,
                            data_format=utils.keras_format(data_format), _scope=sc)
        return utils.collect_named_outputs(outputs_collections, sc, layer.apply(inputs))


@add_arg_scope
def max_pool2d(inputs, kernel_size, stride=2, padding="VALID", data_format=utils.DATA_FORMAT_NHWC,
               outputs_collections=None, scope=None):
    """Maxima over windows of images."""
    utils.check_image_format(data_format)
    return _pool(inputs, pooling_layers.MaxPooling2D, "MaxPool2D", kernel_size, stride, padding, data_format,
                 outputs_collections, scope)


@add_arg_scope
def avg_pool2d(inputs, kernel_size, stride=2, padding="VALID", data_format=utils.DATA_FORMAT_NHWC,
               outputs_collections=None, scope=None):
    """Averages over windows of images."""
    utils.check_image_format(data_format)
    return _pool(inputs, pooling_layers.AveragePooling2D, "AvgPool2D", kernel_size, stride, padding, data_format,
                 outputs_collections, scope)


@add_arg_scope
def max_pool3d(inputs, kernel_size, stride=2, padding="VALID", data_format="NDHWC", outputs_collections=None,
               scope=None):
    """Maxima over windows of volumes."""
    utils.check_volume_format(data_format)
    return _pool(inputs, pooling_layers.MaxPooling3D, "MaxPool3D", kernel_size, stride, padding, data_format,
                 outputs_collections, scope)


@add_arg_scope
def avg_pool3d(inputs, kernel_size, stride=2, padding="VALID", data_format="NDHWC", outputs_collections=None,
               scope=None):
    """Averages over windows of volumes."""
    utils.check_volume_format(data_format)
    return _pool(inputs, pooling_layers.AveragePooling3D, "AvgPool3D", kernel_size, stride, padding, data_format,
                 outputs_collections, scope)


@add_arg_scope
def pool(inputs, kernel_size, pooling_type, padding="VALID", data_format=None, dilation_rate=1, stride=1,
         outputs_collections=None, scope=None):
    """Pooling of a type ("MAX" or "AVG") over any number of spatial dimensions. ValueError for a rank below 3."""
    with ops.name_scope(scope, "%s_pool" % pooling_type.lower(), [inputs]) as sc:
        inputs = ops.convert_to_tensor(inputs)
        rank = inputs.get_shape().ndims
        if rank is None:
            raise ValueError("Rank of inputs must be known")
        if rank < 3:
            raise ValueError("Rank of inputs must be >= 3")
        outputs = nn_pool.pool(
            inputs, utils.n_positive_integers(rank - 2, kernel_size), pooling_type, padding,
            dilation_rate=utils.n_positive_integers(rank - 2, dilation_rate),
            strides=utils.n_positive_integers(rank - 2, stride), name=sc, data_format=data_format)
        return utils.collect_named_outputs(outputs_collections, sc, outputs)
