"""tf.contrib.layers: layers as functions, with normalizer and activation, in variable scopes of their own."""
import functools

from penstock._src.contrib.framework import variables
from penstock._src.contrib.framework.arg_scope import add_arg_scope
from penstock._src.contrib.layers import initializers
from penstock._src.contrib.layers import utils
from penstock._src.contrib.layers.batch_norm import batch_norm
from penstock._src.contrib.layers.pooling import (  # noqa: F401  (these and the next: TensorFlow's module has them too)
    avg_pool2d, avg_pool3d, max_pool2d, max_pool3d, pool)
from penstock._src.contrib.layers.reshaping import (  # noqa: F401
    dense_to_sparse, images_to_sequence, maxout, scale_gradient, sequence_to_images, spatial_softmax, unit_norm)
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.layers import convolutional as convolutional_layers
from penstock._src.layers import core as core_layers
from penstock._src.layers.convolutional_separable import SeparableConv2D
from penstock._src.layers.convolutional_transpose import Conv2DTranspose
from penstock._src.layers.convolutional_transpose import Conv3DTranspose
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import init_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.nn import nn_impl
from penstock._src.ops.nn import nn_activation
from penstock._src.ops.state import variable_scope

DATA_FORMAT_NCHW = utils.DATA_FORMAT_NCHW
DATA_FORMAT_NHWC = utils.DATA_FORMAT_NHWC
_RENAMED = {"bias": "biases", "kernel": "weights"}


def _normalized_and_activated(outputs, normalizer_fn, normalizer_params, activation_fn):
    if normalizer_fn is not None:
        outputs = normalizer_fn(outputs, **(normalizer_params or {}))
    return outputs if activation_fn is None else activation_fn(outputs)


@add_arg_scope
def fully_connected(inputs, num_outputs, activation_fn=gen.relu, normalizer_fn=None, normalizer_params=None,
                    weights_initializer=initializers.xavier_initializer(), weights_regularizer=None,
                    biases_initializer=init_ops.zeros_initializer(), biases_regularizer=None, reuse=None,
                    variables_collections=None, outputs_collections=None, trainable=True, scope=None):
    """A dense layer with variables `weights` and `biases`; a normalizer takes the place of the biases."""
    if not isinstance(num_outputs, int):
        raise ValueError("num_outputs type should be one of %s, got %s." % ([int], type(num_outputs)))
    with variable_scope.variable_scope(scope, "fully_connected", [inputs], reuse=reuse,
                                       custom_getter=utils.model_variable_getter(_RENAMED)) as sc:
        inputs = ops.convert_to_tensor(inputs)
        layer = core_layers.Dense(
            units=num_outputs, activation=None, use_bias=not normalizer_fn and biases_initializer,
            kernel_initializer=weights_initializer, bias_initializer=biases_initializer,
            kernel_regularizer=weights_regularizer, bias_regularizer=biases_regularizer, trainable=trainable,
            name=sc.name, dtype=inputs.dtype.base_dtype, _scope=sc, _reuse=reuse)
        outputs = layer.apply(inputs)
        utils.add_variable_to_collections(layer.kernel, variables_collections, "weights")
        if layer.bias is not None:
            utils.add_variable_to_collections(layer.bias, variables_collections, "biases")
        outputs = _normalized_and_activated(outputs, normalizer_fn, normalizer_params, activation_fn)
        return utils.collect_named_outputs(outputs_collections, sc.name, outputs)


@add_arg_scope
def convolution(inputs, num_outputs, kernel_size, stride=1, padding="SAME", data_format=None, rate=1,
                activation_fn=gen.relu, normalizer_fn=None, normalizer_params=None,
                weights_initializer=initializers.xavier_initializer(), weights_regularizer=None,
                biases_initializer=init_ops.zeros_initializer(), biases_regularizer=None, reuse=None,
                variables_collections=None, outputs_collections=None, trainable=True, scope=None, conv_dims=None):
    """A convolution of sequences, images or volumes, by the rank of the input."""
    if data_format not in (None, "NWC", "NCW", "NHWC", "NCHW", "NDHWC", "NCDHW"):
        raise ValueError("Invalid data_format: %r" % (data_format,))
    with variable_scope.variable_scope(scope, "Conv", [inputs], reuse=reuse,
                                       custom_getter=utils.model_variable_getter(_RENAMED)) as sc:
        inputs = ops.convert_to_tensor(inputs)
        rank = inputs.get_shape().ndims
        if conv_dims is not None and conv_dims + 2 != rank:
            raise ValueError("Convolution expects input with rank %d, got %d" % (conv_dims + 2, rank))
        kinds = {3: convolutional_layers.Conv1D, 4: convolutional_layers.Conv2D, 5: convolutional_layers.Conv3D}
        if rank not in kinds:
            raise ValueError("Convolution not supported for input with rank", rank)
        layer = kinds[rank](
            filters=num_outputs, kernel_size=kernel_size, strides=stride, padding=padding,
            data_format=utils.keras_format(data_format), dilation_rate=rate, activation=None,
            use_bias=not normalizer_fn and biases_initializer, kernel_initializer=weights_initializer,
            bias_initializer=biases_initializer, kernel_regularizer=weights_regularizer,
            bias_regularizer=biases_regularizer, trainable=trainable, name=sc.name, dtype=inputs.dtype.base_dtype,
            _scope=sc, _reuse=reuse)
        outputs = layer.apply(inputs)
        utils.add_variable_to_collections(layer.kernel, variables_collections, "weights")
        if layer.use_bias:
            utils.add_variable_to_collections(layer.bias, variables_collections, "biases")
        outputs = _normalized_and_activated(outputs, normalizer_fn, normalizer_params, activation_fn)
        return utils.collect_named_outputs(outputs_collections, sc.name, outputs)


def _fixed_rank(name, conv_dims):

    def function(inputs, num_outputs, kernel_size, stride=1, padding="SAME", data_format=None, rate=1,
                 activation_fn=gen.relu, normalizer_fn=None, normalizer_params=None,
                 weights_initializer=initializers.xavier_initializer(), weights_regularizer=None,
                 biases_initializer=init_ops.zeros_initializer(), biases_regularizer=None, reuse=None,
                 variables_collections=None, outputs_collections=None, trainable=True, scope=None):
        return convolution(inputs, num_outputs, kernel_size, stride, padding, data_format, rate, activation_fn,
                           normalizer_fn, normalizer_params, weights_initializer, weights_regularizer,
                           biases_initializer, biases_regularizer, reuse, variables_collections, outputs_collections,
                           trainable, scope, conv_dims=conv_dims)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "`convolution` in %d dimension%s." % (conv_dims, "s" if conv_dims > 1 else "")
    return add_arg_scope(function)


convolution1d = conv1d = _fixed_rank("convolution1d", 1)
convolution2d = conv2d = _fixed_rank("convolution2d", 2)
convolution3d = conv3d = _fixed_rank("convolution3d", 3)


def _transposed(layer_class, name, inputs, num_outputs, kernel_size, stride, padding, data_format, activation_fn,
                normalizer_fn, normalizer_params, weights_initializer, weights_regularizer, biases_initializer,
                biases_regularizer, reuse, variables_collections, outputs_collections, trainable, scope):
    with variable_scope.variable_scope(scope, name, [inputs], reuse=reuse,
                                       custom_getter=utils.model_variable_getter(_RENAMED)) as sc:
        inputs = ops.convert_to_tensor(inputs)
        layer = layer_class(
            filters=num_outputs, kernel_size=kernel_size, strides=stride, padding=padding,
            data_format=utils.keras_format(data_format), activation=None,
            use_bias=not normalizer_fn and biases_initializer, kernel_initializer=weights_initializer,
            bias_initializer=biases_initializer, kernel_regularizer=weights_regularizer,
            bias_regularizer=biases_regularizer, trainable=trainable, name=sc.name, dtype=inputs.dtype.base_dtype,
            _scope=sc, _reuse=reuse)
        outputs = layer.apply(inputs)
        utils.add_variable_to_collections(layer.kernel, variables_collections, "weights")
        if layer.bias is not None:
            utils.add_variable_to_collections(layer.bias, variables_collections, "biases")
        outputs = _normalized_and_activated(outputs, normalizer_fn, normalizer_params, activation_fn)
        return utils.collect_named_outputs(outputs_collections, sc.name, outputs)


@add_arg_scope
def convolution2d_transpose(inputs, num_outputs, kernel_size, stride=1, padding="SAME", data_format=DATA_FORMAT_NHWC,
                            activation_fn=gen.relu, normalizer_fn=None, normalizer_params=None,
                            weights_initializer=initializers.xavier_initializer(), weights_regularizer=None,
                            biases_initializer=init_ops.zeros_initializer(), biases_regularizer=None, reuse=None,
                            variables_collections=None, outputs_collections=None, trainable=True, scope=None):
    """A transposed convolution of images."""
    utils.check_image_format(data_format)
    return _transposed(Conv2DTranspose, "Conv2d_transpose", inputs, num_outputs, kernel_size, stride, padding,
                       data_format, activation_fn, normalizer_fn, normalizer_params, weights_initializer,
                       weights_regularizer, biases_initializer, biases_regularizer, reuse, variables_collections,
                       outputs_collections, trainable, scope)


@add_arg_scope
def convolution3d_transpose(inputs, num_outputs, kernel_size, stride=1, padding="SAME", data_format="NDHWC",
                            activation_fn=gen.relu, normalizer_fn=None, normalizer_params=None,
                            weights_initializer=initializers.xavier_initializer(), weights_regularizer=None,
                            biases_initializer=init_ops.zeros_initializer(), biases_regularizer=None, reuse=None,
                            variables_collections=None, outputs_collections=None, trainable=True, scope=None):
    """A transposed convolution of volumes."""
    utils.check_volume_format(data_format)
    return _transposed(Conv3DTranspose, "Conv3d_transpose", inputs, num_outputs, kernel_size, stride, padding,
                       data_format, activation_fn, normalizer_fn, normalizer_params, weights_initializer,
                       weights_regularizer, biases_initializer, biases_regularizer, reuse, variables_collections,
                       outputs_collections, trainable, scope)


conv2d_transpose = convolution2d_transpose
conv3d_transpose = convolution3d_transpose


@add_arg_scope
def separable_convolution2d(inputs, num_outputs, kernel_size, depth_multiplier=1, stride=1, padding="SAME",
                            data_format=DATA_FORMAT_NHWC, rate=1, activation_fn=gen.relu, normalizer_fn=None,
                            normalizer_params=None, weights_initializer=initializers.xavier_initializer(),
                            pointwise_initializer=None, weights_regularizer=None,
                            biases_initializer=init_ops.zeros_initializer(), biases_regularizer=None, reuse=None,
                            variables_collections=None, outputs_collections=None, trainable=True, scope=None):
    """A depthwise convolution, then a mixture of its channels unless `num_outputs` is None."""
    utils.check_image_format(data_format)
    renamed = {"bias": "biases", "depthwise_kernel": "depthwise_weights", "pointwise_kernel": "pointwise_weights"}
    with variable_scope.variable_scope(scope, "SeparableConv2d", [inputs], reuse=reuse,
                                       custom_getter=utils.model_variable_getter(renamed)) as sc:
        inputs = ops.convert_to_tensor(inputs)
        if num_outputs is None:
            outputs = _depthwise(inputs, kernel_size, depth_multiplier, stride, padding, data_format, rate,
                                 normalizer_fn, normalizer_params, weights_initializer, weights_regularizer,
                                 biases_initializer, biases_regularizer, variables_collections, trainable)
            outputs = outputs if activation_fn is None else activation_fn(outputs)
            return utils.collect_named_outputs(outputs_collections, sc.name, outputs)
        layer = SeparableConv2D(
            filters=num_outputs, kernel_size=kernel_size, strides=stride, padding=padding,
            data_format=utils.keras_format(data_format), dilation_rate=utils.two_element_tuple(rate), activation=None,
            depth_multiplier=depth_multiplier, use_bias=not normalizer_fn and biases_initializer,
            depthwise_initializer=weights_initializer,
            pointwise_initializer=weights_initializer if pointwise_initializer is None else pointwise_initializer,
            bias_initializer=biases_initializer, depthwise_regularizer=weights_regularizer,
            pointwise_regularizer=weights_regularizer, bias_regularizer=biases_regularizer, trainable=trainable,
            name=sc.name, dtype=inputs.dtype.base_dtype, _scope=sc, _reuse=reuse)
        outputs = layer.apply(inputs)
        utils.add_variable_to_collections(layer.depthwise_kernel, variables_collections, "weights")
        utils.add_variable_to_collections(layer.pointwise_kernel, variables_collections, "weights")
        if layer.bias is not None:
            utils.add_variable_to_collections(layer.bias, variables_collections, "biases")
        outputs = _normalized_and_activated(outputs, normalizer_fn, normalizer_params, activation_fn)
        return utils.collect_named_outputs(outputs_collections, sc.name, outputs)


separable_conv2d = separable_convolution2d


def _depthwise(inputs, kernel_size, depth_multiplier, stride, padding, data_format, rate, normalizer_fn,
               normalizer_params, weights_initializer, weights_regularizer, biases_initializer, biases_regularizer,
               variables_collections, trainable):
    dtype = inputs.dtype.base_dtype
    height, width = utils.two_element_tuple(kernel_size)
    stride_h, stride_w = utils.two_element_tuple(stride)
    first = data_format.startswith("NC")
    channels = inputs.get_shape().with_rank_at_least(4).dims[1 if first else -1].value
    weights = variables.model_variable(
        "depthwise_weights", shape=[height, width, channels, depth_multiplier], dtype=dtype,
        initializer=weights_initializer, regularizer=weights_regularizer, trainable=trainable,
        collections=utils.get_variable_collections(variables_collections, "weights"))
    strides = [1, 1, stride_h, stride_w] if first else [1, stride_h, stride_w, 1]
    outputs = nn_impl.depthwise_conv2d(inputs, weights, strides, padding, rate=utils.two_element_tuple(rate),
                                       data_format=data_format)
    if normalizer_fn is not None:
        return normalizer_fn(outputs, **(normalizer_params or {}))
    if biases_initializer is not None:
        biases = variables.model_variable(
            "biases", shape=[depth_multiplier * channels], dtype=dtype, initializer=biases_initializer,
            regularizer=biases_regularizer, trainable=trainable,
            collections=utils.get_variable_collections(variables_collections, "biases"))
        outputs = nn_activation.bias_add(outputs, biases, data_format=data_format)
    return outputs


@add_arg_scope
def convolution2d_in_plane(inputs, kernel_size, stride=1, padding="SAME", activation_fn=gen.relu,
                           normalizer_fn=None, normalizer_params=None,
                           weights_initializer=initializers.xavier_initializer(), weights_regularizer=None,
                           biases_initializer=init_ops.zeros_initializer(), biases_regularizer=None, reuse=None,
                           variables_collections=None, outputs_collections=None, trainable=True, scope=None):
    """One filter of [height, width, 1, 1] weights over each channel of images in NHWC by itself."""
    with variable_scope.variable_scope(scope, "ConvInPlane", [inputs], reuse=reuse) as sc:
        dtype = inputs.dtype.base_dtype
        channels = utils.last_dimension(inputs.get_shape(), min_rank=4)
        stride_h, stride_w = utils.two_element_tuple(stride)
        weights = variables.model_variable(
            "weights", shape=[*utils.two_element_tuple(kernel_size), 1, 1], dtype=dtype,
            initializer=weights_initializer, regularizer=weights_regularizer, trainable=trainable,
            collections=utils.get_variable_collections(variables_collections, "weights"))
        outputs = nn_impl.depthwise_conv2d(inputs, gen.tile(weights, [1, 1, channels, 1]),
                                           [1, stride_h, stride_w, 1], padding)
        if normalizer_fn is None and biases_initializer is not None:
            biases = variables.model_variable(
                "biases", shape=[channels], dtype=dtype, initializer=biases_initializer,
                regularizer=biases_regularizer, trainable=trainable,
                collections=utils.get_variable_collections(variables_collections, "biases"))
            outputs = nn_activation.bias_add(outputs, biases)
        outputs = _normalized_and_activated(outputs, normalizer_fn, normalizer_params, activation_fn)
        return utils.collect_named_outputs(outputs_collections, sc.name, outputs)


conv2d_in_plane = convolution2d_in_plane


@add_arg_scope
def flatten(inputs, outputs_collections=None, scope=None):
    """[batch, everything else]."""
    with ops.name_scope(scope, "Flatten", [inputs]) as sc:
        inputs = ops.convert_to_tensor(inputs)
        return utils.collect_named_outputs(outputs_collections, sc, core_layers.flatten(inputs))


@add_arg_scope
def dropout(inputs, keep_prob=0.5, noise_shape=None, is_training=True, outputs_collections=None, scope=None,
            seed=None):
    """In training, keeps elements with probability `keep_prob` and scales them up."""
    with variable_scope.variable_scope(scope, "Dropout", [inputs],
                                       custom_getter=utils.model_variable_getter()) as sc:
        inputs = ops.convert_to_tensor(inputs)
        layer = core_layers.Dropout(rate=1 - keep_prob, noise_shape=noise_shape, seed=seed, name=sc.name, _scope=sc)
        outputs = layer.apply(inputs, training=is_training)
        return utils.collect_named_outputs(outputs_collections, sc.name, outputs)


@add_arg_scope
def bias_add(inputs, activation_fn=None, initializer=init_ops.zeros_initializer(), regularizer=None, reuse=None,
             variables_collections=None, outputs_collections=None, trainable=True, data_format=DATA_FORMAT_NHWC,
             scope=None):
    """Adds a variable `biases` to the channels."""
    utils.check_image_format(data_format)
    with variable_scope.variable_scope(scope, "BiasAdd", [inputs], reuse=reuse) as sc:
        inputs = ops.convert_to_tensor(inputs)
        shape = inputs.get_shape()
        if shape.ndims is None:
            raise ValueError("Dims of shape must be known but is None")
        if shape.ndims != 4 and data_format == DATA_FORMAT_NCHW:
            raise ValueError("Data format NCHW only supports 4D Tensor")
        features = shape.dims[1 if data_format == DATA_FORMAT_NCHW else -1].value
        if features is None:
            raise ValueError("`C` dimension must be known but is None")
        biases = variables.model_variable(
            "biases", shape=[features], dtype=inputs.dtype.base_dtype, initializer=initializer,
            regularizer=regularizer, trainable=trainable,
            collections=utils.get_variable_collections(variables_collections, "biases"))
        outputs = nn_activation.bias_add(inputs, biases, data_format=data_format)
        outputs = outputs if activation_fn is None else activation_fn(outputs)
        return utils.collect_named_outputs(outputs_collections, sc.name, outputs)


@add_arg_scope
def layer_norm(inputs, center=True, scale=True, activation_fn=None, reuse=None, variables_collections=None,
               outputs_collections=None, trainable=True, begin_norm_axis=1, begin_params_axis=-1, scope=None):
    """Normalizes each example over the axes from `begin_norm_axis` on (Ba et al., 2016)."""
    with variable_scope.variable_scope(scope, "LayerNorm", [inputs], reuse=reuse) as sc:
        inputs = ops.convert_to_tensor(inputs)
        shape = inputs.get_shape()
        if shape.ndims is None:
            raise ValueError("Inputs %s has undefined rank." % inputs.name)
        if begin_norm_axis < 0:
            begin_norm_axis += shape.ndims
        if begin_params_axis >= shape.ndims or begin_norm_axis >= shape.ndims:
            raise ValueError("begin_params_axis (%d) and begin_norm_axis (%d) must be < rank(inputs) (%d)" %
                             (begin_params_axis, begin_norm_axis, shape.ndims))
        dtype = inputs.dtype.base_dtype
        params_shape = shape[begin_params_axis:]
        if not params_shape.is_fully_defined():
            raise ValueError("Inputs %s: shape(inputs)[%s:] is not fully defined: %s" %
                             (inputs.name, begin_params_axis, shape))

        def parameter(name, initializer):
            return variables.model_variable(
                name, shape=params_shape, dtype=dtype, initializer=initializer, trainable=trainable,
                collections=utils.get_variable_collections(variables_collections, name))

        beta = parameter("beta", init_ops.zeros_initializer()) if center else None
        gamma = parameter("gamma", init_ops.ones_initializer()) if scale else None
        mean, variance = nn_impl.moments(inputs, list(range(begin_norm_axis, shape.ndims)), keep_dims=True)
        epsilon = 1e-3 if dtype == dtypes.float16 else 1e-12
        outputs = nn_impl.batch_normalization(inputs, mean, variance, offset=beta, scale=gamma,
                                              variance_epsilon=epsilon)
        outputs.set_shape(shape)
        outputs = outputs if activation_fn is None else activation_fn(outputs)
        return utils.collect_named_outputs(outputs_collections, sc.name, outputs)


@add_arg_scope
def one_hot_encoding(labels, num_classes, on_value=1.0, off_value=0.0, outputs_collections=None, scope=None):
    """tf.one_hot as a layer."""
    with ops.name_scope(scope, "OneHotEncoding", [labels, num_classes]) as sc:
        labels = ops.convert_to_tensor(labels)
        if labels.dtype == dtypes.int32:
            labels = math_ops.to_int64(labels)
        outputs = array_ops.one_hot(labels, num_classes, on_value=on_value, off_value=off_value)
        return utils.collect_named_outputs(outputs_collections, sc, outputs)


@add_arg_scope
def softmax(logits, scope=None):
    """The softmax over the last dimension."""
    with variable_scope.variable_scope(scope, "softmax", [logits]):
        flat = array_ops.reshape(logits, [-1, utils.last_dimension(logits.get_shape(), min_rank=2)])
        predictions = array_ops.reshape(nn_activation.softmax(flat), array_ops.shape(logits))
        predictions.set_shape(logits.get_shape())
        return predictions


def _name_of(layer, default):
    return getattr(layer, "__name__", None) or getattr(getattr(layer, "func", None), "__name__", None) or default


def repeat(inputs, repetitions, layer, *args, **kwargs):
    """Applies a layer function again and again, in scopes scope_1, scope_2, ..."""
    scope = kwargs.pop("scope", None)
    with variable_scope.variable_scope(scope, "Repeat", [inputs]):
        outputs = ops.convert_to_tensor(inputs)
        name = _name_of(layer, "repeat") if scope is None else scope
        for i in range(repetitions):
            kwargs["scope"] = "%s_%d" % (name, i + 1)
            outputs = layer(outputs, *args, **kwargs)
        return outputs


def stack(inputs, layer, stack_args, **kwargs):
    """Applies a layer function with each of `stack_args` in turn, in scopes scope_1, scope_2, ..."""
    scope = kwargs.pop("scope", None)
    if not isinstance(stack_args, (list, tuple)):
        raise ValueError("stack_args need to be a list or tuple")
    with variable_scope.variable_scope(scope, "Stack", [inputs]):
        outputs = ops.convert_to_tensor(inputs)
        name = _name_of(layer, "stack") if scope is None else scope
        for i, arguments in enumerate(stack_args):
            kwargs["scope"] = "%s_%d" % (name, i + 1)
            arguments = arguments if isinstance(arguments, (list, tuple)) else [arguments]
            outputs = layer(outputs, *arguments, **kwargs)
        return outputs


elu = functools.partial(fully_connected, activation_fn=gen.elu)
relu = functools.partial(fully_connected, activation_fn=gen.relu)
relu6 = functools.partial(fully_connected, activation_fn=nn_activation.relu6)
linear = functools.partial(fully_connected, activation_fn=None)
