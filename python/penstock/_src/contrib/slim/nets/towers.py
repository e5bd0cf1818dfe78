"""Inception networks as tables: a row is the name of an end point and what leads to it, one step or some branches."""
import functools

from penstock._src.contrib.framework.arg_scope import arg_scope
from penstock._src.contrib.layers import initializers
from penstock._src.contrib.layers import layers
from penstock._src.contrib.layers import pooling
from penstock._src.contrib.layers import regularizers
from penstock._src.contrib.slim.nets.classifiers import trunc_normal
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import variable_scope


def _kernel(scope):
    """[7, 1] of a scope that ends in 7x1."""
    return [int(size) for size in scope.rpartition("_")[2].split("x")]


def conv(channels, scope, kernel=None, stddev=None, **options):
    """A convolution, of the kernel that its scope tells unless one is given."""

    def step(net, depth):
        chosen = options if stddev is None else dict(options, weights_initializer=trunc_normal(stddev))
        return layers.conv2d(net, depth(channels), kernel or _kernel(scope), scope=scope, **chosen)

    return step


def _pool(function, scope, **options):
    return lambda net, depth: function(net, _kernel(scope), scope=scope, **options)


max_pool = functools.partial(_pool, pooling.max_pool2d)
avg_pool = functools.partial(_pool, pooling.avg_pool2d)


def fork(*steps):
    """The results of several steps side by side."""
    return lambda net, depth: array_ops.concat([step(net, depth) for step in steps], 3)


def _row(net, row, depth):
    if callable(row):
        return row(net, depth)
    results = []
    for i, branch in enumerate(row):
        with variable_scope.variable_scope("Branch_%d" % i):
            result = net
            for step in branch:
                result = step(result, depth)
            results.append(result)
    return array_ops.concat(results, 3)


def build(net, rows, final_endpoint, end_points, depth=lambda channels: channels):
    """Builds row after row into `end_points`; (net, whether the final one has been reached)."""
    for name, row in rows:
        if callable(row):
            net = row(net, depth)
        else:
            with variable_scope.variable_scope(name):
                net = _row(net, row, depth)
        end_points[name] = net
        if name == final_endpoint:
            return net, True
    return net, False


def depths(depth_multiplier, min_depth):
    """The function from a number of channels to the scaled one. ValueError unless the multiplier is positive."""
    if depth_multiplier <= 0:
        raise ValueError("depth_multiplier is not greater than zero.")
    return lambda channels: max(int(channels * depth_multiplier), min_depth)


def reduced_kernel_size(net, kernel_size):
    """`kernel_size`, or the image's size where that is known to be smaller."""
    _, height, width, _ = net.get_shape().as_list()
    if height is None or width is None:
        return kernel_size
    return [min(height, kernel_size[0]), min(width, kernel_size[1])]


def arg_scope_of(weight_decay, batch_norm, batch_norm_var_collection):
    """Regularized weights and, unless `batch_norm` is None, batch normalization with those parameters."""
    if batch_norm is not None:
        moving = [batch_norm_var_collection]
        batch_norm = dict(batch_norm, variables_collections={
            "beta": None, "gamma": None, "moving_mean": moving, "moving_variance": moving})
    with arg_scope([layers.conv2d, layers.fully_connected],
                   weights_regularizer=regularizers.l2_regularizer(weight_decay)):
        with arg_scope([layers.conv2d], weights_initializer=initializers.variance_scaling_initializer(),
                       activation_fn=gen.relu, normalizer_fn=None if batch_norm is None else layers.batch_norm,
                       normalizer_params=batch_norm or {}) as scope:
            return scope


BATCH_NORM = {"decay": 0.9997, "epsilon": 0.001, "updates_collections": ops.GraphKeys.UPDATE_OPS}


def logits_of(net, num_classes, spatial_squeeze, scope):
    """Logits [batch, num_classes], or [batch, height, width, num_classes] unless squeezed."""
    logits = layers.conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope=scope)
    return array_ops.squeeze(logits, [1, 2], name="SpatialSqueeze") if spatial_squeeze else logits
