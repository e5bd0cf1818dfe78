"""Residual networks with normalization and relu before the convolutions (He et al., 2016)."""
from penstock._src.contrib.framework.arg_scope import add_arg_scope
from penstock._src.contrib.framework.arg_scope import arg_scope
from penstock._src.contrib.layers import layers
from penstock._src.contrib.layers import utils
from penstock._src.contrib.layers.pooling import max_pool2d
from penstock._src.contrib.slim.nets import resnet_utils
from penstock._src.graph import gen
from penstock._src.ops.state import variable_scope

resnet_arg_scope = resnet_utils.resnet_arg_scope


@add_arg_scope
def bottleneck(inputs, depth, depth_bottleneck, stride, rate=1, outputs_collections=None, scope=None):
    """Normalization, relu and three convolutions, added to the input (or its projection if the depth changes)."""
    with variable_scope.variable_scope(scope, "bottleneck_v2", [inputs]) as sc:
        depth_in = utils.last_dimension(inputs.get_shape(), min_rank=4)
        preact = layers.batch_norm(inputs, activation_fn=gen.relu, scope="preact")
        if depth == depth_in:
            shortcut = resnet_utils.subsample(inputs, stride, "shortcut")
        else:
            shortcut = layers.conv2d(preact, depth, [1, 1], stride=stride, normalizer_fn=None, activation_fn=None,
                                     scope="shortcut")
        residual = layers.conv2d(preact, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        residual = resnet_utils.conv2d_same(residual, depth_bottleneck, 3, stride, rate=rate, scope="conv2")
        residual = layers.conv2d(residual, depth, [1, 1], stride=1, normalizer_fn=None, activation_fn=None,
                                 scope="conv3")
        return utils.collect_named_outputs(outputs_collections, sc.name, shortcut + residual)


def resnet_v2(inputs, blocks, num_classes=None, is_training=True, global_pool=True, output_stride=None,
              include_root_block=True, reuse=None, scope=None):
    """(net, {name: tensor}) of those blocks. ValueError for an output stride that cannot be reached."""
    with resnet_utils.collecting(inputs, bottleneck, is_training, reuse, scope, "resnet_v2") as collection:
        net = inputs
        if include_root_block:
            output_stride = resnet_utils.root_stride(output_stride)
            with arg_scope([layers.conv2d], activation_fn=None, normalizer_fn=None):
                net = resnet_utils.conv2d_same(net, 64, 7, stride=2, scope="conv1")
            net = max_pool2d(net, [3, 3], stride=2, scope="pool1")
        net = resnet_utils.stack_blocks_dense(net, blocks, output_stride)
        net = layers.batch_norm(net, activation_fn=gen.relu, scope="postnorm")
        return resnet_utils.pooled_logits(net, num_classes, global_pool, collection)


resnet_v2.default_image_size = 224


def resnet_v2_block(scope, base_depth, num_units, stride):
    """A block of bottleneck units."""
    return resnet_utils.block(bottleneck, scope, base_depth, num_units, stride)


resnet_v2_50, resnet_v2_101, resnet_v2_152, resnet_v2_200 = (
    resnet_utils.network(resnet_v2, resnet_v2_block, "resnet_v2_%d" % size, units)
    for size, units in resnet_utils.UNITS.items())
