"""Normalization within each example: of each channel, or of groups of channels."""
from penstock._src.contrib.framework import variables
from penstock._src.contrib.framework.arg_scope import add_arg_scope
from penstock._src.contrib.layers import utils
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.graph import tensor_shape
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import init_ops
from penstock._src.ops.nn import nn_impl
from penstock._src.ops.state import variable_scope as vs

__all__ = ["group_norm", "instance_norm"]


def _parameters(inputs, shape, center, scale, initializers, collections, trainable, broadcast):
    """The variables beta and gamma, reshaped to `broadcast` unless that is None; None for what is not wanted."""
    def parameter(name, wanted, initializer):
        if not wanted:
            return None
        variable = variables.model_variable(
            name, shape=shape, dtype=inputs.dtype.base_dtype, initializer=(initializers or {}).get(name, initializer),
            collections=utils.get_variable_collections(collections, name), trainable=trainable)
        return variable if broadcast is None else array_ops.reshape(variable, broadcast)

    return (parameter("beta", center, init_ops.zeros_initializer()),
            parameter("gamma", scale, init_ops.ones_initializer()))


@add_arg_scope
def instance_norm(inputs, center=True, scale=True, epsilon=1e-6, activation_fn=None, param_initializers=None,
                  reuse=None, variables_collections=None, outputs_collections=None, trainable=True,
                  data_format="NHWC", scope=None):
    """Normalizes each channel of each example over its other axes.

    ValueError for an unknown number of axes or channels, and for formats other than NHWC and NCHW.
    """
    inputs = ops.convert_to_tensor(inputs)
    rank = inputs.shape.ndims
    if rank is None:
        raise ValueError("Inputs %s has undefined rank." % inputs.name)
    if data_format not in ("NCHW", "NHWC"):
        raise ValueError("data_format has to be either NCHW or NHWC.")
    with vs.variable_scope(scope, "InstanceNorm", [inputs], reuse=reuse) as sc:
        channels_axis = 1 if data_format == "NCHW" else rank - 1
        shape = inputs.shape[channels_axis:channels_axis + 1]
        if not shape.is_fully_defined():
            raise ValueError("Inputs %s has undefined channels dimension %s." % (inputs.name, shape))
        broadcast = [1] + shape.as_list() + [1] * (rank - 2) if data_format == "NCHW" else None
        beta, gamma = _parameters(inputs, shape, center, scale, param_initializers, variables_collections, trainable,
                                  broadcast)
        axes = [axis for axis in range(1, rank) if axis != channels_axis]
        mean, variance = nn_impl.moments(inputs, axes, keep_dims=True)
        outputs = nn_impl.batch_normalization(inputs, mean, variance, beta, gamma, epsilon, name="instancenorm")
        outputs = outputs if activation_fn is None else activation_fn(outputs)
        return utils.collect_named_outputs(outputs_collections, sc.name, outputs)


@add_arg_scope
def group_norm(inputs, groups=32, channels_axis=-1, reduction_axes=(-3, -2), center=True, scale=True, epsilon=1e-6,
               activation_fn=None, param_initializers=None, reuse=None, variables_collections=None,
               outputs_collections=None, trainable=True, scope=None, mean_close_to_zero=False):
    """Normalizes groups of channels of each example together, over `reduction_axes` (Wu and He, 2018).

    ValueError for axes that are out of bounds or unknown, and for groups that do not divide the channels.
    """
    inputs = ops.convert_to_tensor(inputs)
    rank = inputs.shape.ndims
    if rank is None:
        raise ValueError("Inputs %s has undefined rank." % inputs.name)
    if channels_axis > rank - 1:
        raise ValueError("Axis is out of bounds.")
    dynamic = array_ops.shape(inputs)
    shape = [dynamic[i] if size is None else size for i, size in enumerate(inputs.shape.as_list())]
    channels_axis %= rank
    channels = tensor_shape.dimension_value(inputs.shape[channels_axis])
    if channels is None:
        raise ValueError("Inputs %s has undefined channel dimension: %d." % (inputs.name, channels_axis))
    axes = [axis + rank if axis < 0 else axis for axis in reduction_axes]
    for axis in axes:
        if axis >= rank:
            raise ValueError("Axis is out of bounds.")
        if tensor_shape.dimension_value(inputs.shape[axis]) is None:
            raise ValueError("Inputs %s has undefined dimensions %d." % (inputs.name, axis))
        if axis == channels_axis:
            raise ValueError("reduction_axis must be mutually exclusive with channels_axis")
    if groups > channels:
        raise ValueError("Invalid groups %d for %d channels." % (groups, channels))
    if channels % groups:
        raise ValueError("%d channels is not commensurate with %d groups." % (channels, groups))
    split = [groups, channels // groups]
    inputs = array_ops.reshape(inputs, shape[:channels_axis] + split + shape[channels_axis + 1:])
    # The channels' axis has become two, which moves those behind it.
    axes = [channels_axis + 1] + [axis + (axis > channels_axis) for axis in axes]
    with vs.variable_scope(scope, "GroupNorm", [inputs], reuse=reuse) as sc:
        broadcast = [1] * channels_axis + split + [1] * (rank - 1 - channels_axis)
        beta, gamma = _parameters(inputs, [channels], center, scale, param_initializers, variables_collections,
                                  trainable, broadcast)
        if mean_close_to_zero:
            counts, sums, squares, _ = nn_impl.sufficient_statistics(inputs, axes, keep_dims=True)
            mean, variance = nn_impl.normalize_moments(counts, sums, squares, shift=None)
        else:
            mean, variance = nn_impl.moments(inputs, axes, keep_dims=True)
        gain = gen.rsqrt(variance + epsilon)
        offset = -mean * gain
        if gamma is not None:
            gain *= gamma
            offset *= gamma
        if beta is not None:
            offset += beta
        outputs = array_ops.reshape(inputs * gain + offset, shape)
        outputs = outputs if activation_fn is None else activation_fn(outputs)
        return utils.collect_named_outputs(outputs_collections, sc.name, outputs)
