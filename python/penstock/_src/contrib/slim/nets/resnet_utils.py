"""What residual networks of both versions share."""
import collections
import contextlib

from penstock._src.contrib.framework.arg_scope import add_arg_scope
from penstock._src.contrib.framework.arg_scope import arg_scope
from penstock._src.contrib.layers import initializers
from penstock._src.contrib.layers import layers
from penstock._src.contrib.layers import regularizers
from penstock._src.contrib.layers import utils
from penstock._src.contrib.layers.pooling import max_pool2d
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.state import variable_scope


class Block(collections.namedtuple("Block", ["scope", "unit_fn", "args"])):
    """A scope, a function that makes one unit, and the arguments of each unit."""


def subsample(inputs, factor, scope=None):
    """Every `factor`-th pixel in both directions."""
    return inputs if factor == 1 else max_pool2d(inputs, [1, 1], stride=factor, scope=scope)


def conv2d_same(inputs, num_outputs, kernel_size, stride, rate=1, scope=None):
    """A convolution whose padding does not depend on the size of the input, as SAME's does with a stride."""
    if stride == 1:
        return layers.conv2d(inputs, num_outputs, kernel_size, stride=1, rate=rate, padding="SAME", scope=scope)
    total = kernel_size + (kernel_size - 1) * (rate - 1) - 1
    before = total // 2
    inputs = array_ops.pad(inputs, [[0, 0], [before, total - before], [before, total - before], [0, 0]])
    return layers.conv2d(inputs, num_outputs, kernel_size, stride=stride, rate=rate, padding="VALID", scope=scope)


@add_arg_scope
def stack_blocks_dense(net, blocks, output_stride=None, outputs_collections=None):
    """The blocks in a row; from `output_stride` on with dilations in place of strides.

    ValueError if the strides do not lead to that one.
    """
    stride = rate = 1
    for block in blocks:
        with variable_scope.variable_scope(block.scope, "block", [net]) as sc:
            for i, unit in enumerate(block.args):
                if output_stride is not None and stride > output_stride:
                    raise ValueError("The target output_stride cannot be reached.")
                with variable_scope.variable_scope("unit_%d" % (i + 1), values=[net]):
                    if output_stride is not None and stride == output_stride:
                        net = block.unit_fn(net, rate=rate, **dict(unit, stride=1))
                        rate *= unit.get("stride", 1)
                    else:
                        net = block.unit_fn(net, rate=1, **unit)
                        stride *= unit.get("stride", 1)
            net = utils.collect_named_outputs(outputs_collections, sc.name, net)
    if output_stride is not None and stride != output_stride:
        raise ValueError("The target output_stride cannot be reached.")
    return net


def resnet_arg_scope(weight_decay=0.0001, batch_norm_decay=0.997, batch_norm_epsilon=1e-5, batch_norm_scale=True):
    """The arguments with which they are to be built."""
    batch_norm = {"decay": batch_norm_decay, "epsilon": batch_norm_epsilon, "scale": batch_norm_scale,
                  "updates_collections": ops.GraphKeys.UPDATE_OPS}
    with arg_scope([layers.conv2d], weights_regularizer=regularizers.l2_regularizer(weight_decay),
                   weights_initializer=initializers.variance_scaling_initializer(), activation_fn=gen.relu,
                   normalizer_fn=layers.batch_norm, normalizer_params=batch_norm):
        with arg_scope([layers.batch_norm], **batch_norm):
            with arg_scope([max_pool2d], padding="SAME") as scope:
                return scope


@contextlib.contextmanager
def collecting(inputs, unit, is_training, reuse, scope, default_scope):
    """Within it a network is built whose layers' and units' outputs are collected under the name that it gives."""
    with variable_scope.variable_scope(scope, default_scope, [inputs], reuse=reuse) as sc:
        collection = sc.original_name_scope + "_end_points"
        with arg_scope([layers.conv2d, unit, stack_blocks_dense], outputs_collections=collection):
            with arg_scope([layers.batch_norm], is_training=is_training):
                yield collection


def root_stride(output_stride):
    """The stride that is left after the root block's 4. ValueError if 4 does not divide it."""
    if output_stride is None:
        return None
    if output_stride % 4 != 0:
        raise ValueError("The output_stride needs to be a multiple of 4.")
    return output_stride / 4


def pooled_logits(net, num_classes, global_pool, collection):
    """(net, {name: tensor}): averaged over the image if asked, and turned to logits if there are classes."""
    if global_pool:
        net = math_ops.reduce_mean(net, [1, 2], name="pool5", keepdims=True)
    if num_classes is not None:
        net = layers.conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="logits")
    end_points = utils.convert_collection_to_dict(collection)
    if num_classes is not None:
        end_points["predictions"] = layers.softmax(net, scope="predictions")
    return net, end_points


def block(unit_fn, scope, base_depth, num_units, stride):
    """A Block of bottleneck units, the last of which has the stride."""
    def unit(of_stride):
        return {"depth": base_depth * 4, "depth_bottleneck": base_depth, "stride": of_stride}

    return Block(scope, unit_fn, [unit(1)] * (num_units - 1) + [unit(stride)])


def network(resnet, make_block, name, units):
    """The function that builds `resnet` of four blocks with those numbers of units."""

    def function(inputs, num_classes=None, is_training=True, global_pool=True, output_stride=None, reuse=None,
                 scope=name):
        blocks = [make_block("block%d" % (i + 1), base_depth=64 << i, num_units=n, stride=1 if i == 3 else 2)
                  for i, n in enumerate(units)]
        return resnet(inputs, blocks, num_classes, is_training, global_pool, output_stride, include_root_block=True,
                      reuse=reuse, scope=scope)

    function.__name__ = function.__qualname__ = name
    function.__doc__ = "(net, {name: tensor}): the network with %s units in its blocks." % (units,)
    return function


UNITS = {50: [3, 4, 6, 3], 101: [3, 4, 23, 3], 152: [3, 8, 36, 3], 200: [3, 24, 36, 3]}
