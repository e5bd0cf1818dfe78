"""Residual networks (He et al., 2015)."""
from penstock._src.contrib.framework.arg_scope import add_arg_scope
from penstock._src.contrib.layers import layers
from penstock._src.contrib.layers import utils
from penstock._src.contrib.layers.pooling import max_pool2d
from penstock._src.contrib.slim.nets import resnet_utils
from penstock._src.graph import gen
from penstock._src.ops.state import variable_scope

resnet_arg_scope = resnet_utils.resnet_arg_scope


@add_arg_scope
def bottleneck(inputs, depth, depth_bottleneck, stride, rate=1, outputs_collections=None, scope=None):
    """Three convolutions, added to their input (or its projection if the depth changes), then relu."""
    with variable_scope.variable_scope(scope, "bottleneck_v1", [inputs]) as sc:
        if depth == utils.last_dimension(inputs.get_shape(), min_rank=4):
            shortcut = resnet_utils.subsample(inputs, stride, "shortcut")
        else:
            shortcut = layers.conv2d(inputs, depth, [1, 1], stride=stride, activation_fn=None, scope="shortcut")
        residual = layers.conv2d(inputs, depth_bottleneck, [1, 1], stride=1, scope="conv1")
        residual = resnet_utils.conv2d_same(residual, depth_bottleneck, 3, stride, rate=rate, scope="conv2")
        residual = layers.conv2d(residual, depth, [1, 1], stride=1, activation_fn=None, scope="conv3")
        return utils.collect_named_outputs(outputs_collections, sc.name, gen.relu(shortcut + residual))


def resnet_v1(inputs, blocks, num_classes=None, is_training=True, global_pool=True, output_stride=None,
              include_root_block=True, reuse=None, scope=None):
    """(net, {name: tensor}) of those blocks. ValueError for an output stride that cannot be reached."""
    with resnet_utils.collecting(inputs, bottleneck, is_training, reuse, scope, "resnet_v1") as collection:
        net = inputs
        if include_root_block:
            output_stride = resnet_utils.root_stride(output_stride)
            net = resnet_utils.conv2d_same(net, 64, 7, stride=2, scope="conv1")
            net = max_pool2d(net, [3, 3], stride=2, scope="pool1")
        net = resnet_utils.stack_blocks_dense(net, blocks, output_stride)
        return resnet_utils.pooled_logits(net, num_classes, global_pool, collection)


resnet_v1.default_image_size = 224


def resnet_v1_block(scope, base_depth, num_units, stride):
    """A block of bottleneck units."""
    return resnet_utils.block(bottleneck, scope, base_depth, num_units, stride)


resnet_v1_50, resnet_v1_101, resnet_v1_152, resnet_v1_200 = (
    resnet_utils.network(resnet_v1, resnet_v1_block, "resnet_v1_%d" % size, units)
    for size, units in resnet_utils.UNITS.items())
