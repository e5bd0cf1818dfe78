"""Layers that rearrange or normalize what they get, most of them without a variable."""
from penstock._src.contrib.framework import variables
from penstock._src.contrib.framework.arg_scope import add_arg_scope
from penstock._src.contrib.layers import utils
from penstock._src.graph import constant_op
from penstock._src.graph import dtypes
from penstock._src.function import defun
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import sparse_tensor
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import init_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.nn import nn_activation
from penstock._src.ops.state import variable_scope


@add_arg_scope
def dense_to_sparse(tensor, eos_token=0, outputs_collections=None, scope=None):
    """The elements that differ from `eos_token` as a SparseTensor."""
    with variable_scope.variable_scope(scope, "dense_to_sparse", [tensor]) as sc:
        tensor = ops.convert_to_tensor(tensor)
        indices = array_ops.where(math_ops.not_equal(tensor, constant_op.constant(eos_token, tensor.dtype)))
        values = array_ops.gather_nd(tensor, indices)
        outputs = sparse_tensor.SparseTensor(indices, values, array_ops.shape(tensor, out_type=dtypes.int64))
        return utils.collect_named_outputs(outputs_collections, sc.name, outputs)


@add_arg_scope
def images_to_sequence(inputs, data_format=utils.DATA_FORMAT_NHWC, outputs_collections=None, scope=None):
    """Images as sequences of columns: [width, batch * height, depth]."""
    utils.check_image_format(data_format)
    with ops.name_scope(scope, "ImagesToSequence", [inputs]) as sc:
        inputs = ops.convert_to_tensor(inputs)
        if data_format == utils.DATA_FORMAT_NCHW:
            inputs = array_ops.transpose(inputs, [0, 2, 3, 1])
        _, _, width, depth = inputs.get_shape().as_list()
        shape = array_ops.shape(inputs)
        batch, height = shape[0], shape[1]
        columns = array_ops.transpose(inputs, [2, 0, 1, 3])
        outputs = array_ops.reshape(columns, [width, batch * height, depth])
        return utils.collect_named_outputs(outputs_collections, sc, outputs)


@add_arg_scope
def sequence_to_images(inputs, height, output_data_format="channels_last", outputs_collections=None, scope=None):
    """The reverse of images_to_sequence, for images of that height."""
    with ops.name_scope(scope, "SequenceToImages", [inputs]) as sc:
        inputs = ops.convert_to_tensor(inputs)
        width, rows, depth = inputs.get_shape().as_list()
        columns = array_ops.reshape(inputs, [width, -1 if rows is None else rows // height, height, depth])
        first = output_data_format == "channels_first"
        outputs = array_ops.transpose(columns, [1, 3, 2, 0] if first else [1, 2, 0, 3])
        return utils.collect_named_outputs(outputs_collections, sc, outputs)


@add_arg_scope
def spatial_softmax(features, temperature=None, name=None, variables_collections=None, trainable=True,
                    data_format=utils.DATA_FORMAT_NHWC):
    """The expected place, [batch, 2 * channels] in [-1, 1], of each channel's softmax over the image.

    ValueError for an unknown format or number of channels.
    """
    with variable_scope.variable_scope(name, "spatial_softmax"):
        shape = array_ops.shape(features)
        utils.check_image_format(data_format)
        if data_format == utils.DATA_FORMAT_NHWC:
            height, width, channels = shape[1], shape[2], features.shape.dims[3].value
        else:
            channels, height, width = features.shape.dims[1].value, shape[2], shape[3]
        if channels is None:
            raise ValueError("The num_channels dimension of the inputs to `spatial_softmax` should be defined. "
                             "Found `None`.")
        with ops.name_scope("spatial_softmax_op", "spatial_softmax_op", [features]):
            rows, columns = array_ops.meshgrid(gen.lin_space(-1., 1., num=height),
                                               gen.lin_space(-1., 1., num=width), indexing="ij")
            rows = array_ops.reshape(rows, [height * width])
            columns = array_ops.reshape(columns, [height * width])
            initializer = init_ops.ones_initializer() if temperature is None else init_ops.constant_initializer(
                temperature)
            collections = utils.get_variable_collections(variables_collections, "temperature") if trainable else None
            temperature = variables.model_variable("temperature", shape=(), dtype=dtypes.float32,
                                                   initializer=initializer, collections=collections,
                                                   trainable=trainable)
            if data_format == utils.DATA_FORMAT_NHWC:
                features = array_ops.transpose(features, [0, 3, 1, 2])
            attention = nn_activation.softmax(array_ops.reshape(features, [-1, height * width]) / temperature)
            expected = [math_ops.reduce_sum(place * attention, [1], keepdims=True) for place in (rows, columns)]
            keypoints = array_ops.reshape(array_ops.concat(expected, 1), [-1, channels * 2])
            keypoints.set_shape([None, channels * 2])
    return keypoints


@add_arg_scope
def unit_norm(inputs, dim, epsilon=1e-7, scope=None):
    """`inputs` scaled to length 1 along one dimension. ValueError for a dimension that they do not have."""
    with variable_scope.variable_scope(scope, "UnitNorm", [inputs]):
        rank = inputs.get_shape().ndims
        if rank is None:
            raise ValueError("The input rank must be known.")
        if not 0 <= dim < rank:
            raise ValueError("dim must be positive but smaller than the input rank.")
        lengths = math_ops.sqrt(epsilon + math_ops.reduce_sum(math_ops.square(inputs), dim, True))
        multiples = [array_ops.strided_slice(array_ops.shape(inputs), [dim], [dim + 1])]
        if dim > 0:
            multiples.insert(0, array_ops.ones([dim], dtypes.int32))
        if dim < rank - 1:
            multiples.append(array_ops.ones([rank - 1 - dim], dtypes.int32))
        return math_ops.div(inputs, gen.tile(lengths, array_ops.concat(multiples, 0)))


@add_arg_scope
def maxout(inputs, num_units, axis=-1, scope=None):
    """The maxima of `num_units` groups of channels. ValueError if they do not divide evenly."""
    with variable_scope.variable_scope(scope, "MaxOut", [inputs]):
        inputs = ops.convert_to_tensor(inputs)
        shape = inputs.get_shape().as_list()
        channels = shape[axis]
        if channels % num_units:
            raise ValueError("number of features({}) is not a multiple of num_units({})".format(channels, num_units))
        shape[axis] = num_units
        shape.append(channels // num_units)
        known = [array_ops.shape(inputs)[i] if size is None else size for i, size in enumerate(shape)]
        return math_ops.reduce_max(array_ops.reshape(inputs, known), -1, keepdims=False)


def _scaled(op, grad):
    return [grad * op.inputs[1], None]


@defun.Defun(python_grad_func=_scaled, shape_func=lambda op: [op.inputs[0].shape])
def scale_gradient(inputs, gradient_multiplier):
    """`inputs`; their gradient comes back multiplied by `gradient_multiplier`."""
    del gradient_multiplier
    return inputs
