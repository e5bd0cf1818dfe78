"""OverFeat, its fast form (Sermanet et al., 2014)."""
from penstock._src.contrib.framework.arg_scope import arg_scope
from penstock._src.contrib.layers import layers
from penstock._src.contrib.layers.pooling import max_pool2d
from penstock._src.contrib.slim.nets import classifiers
from penstock._src.contrib.slim.nets.classifiers import trunc_normal
from penstock._src.ops.state import init_ops
from penstock._src.ops.state import variable_scope


def overfeat_arg_scope(weight_decay=0.0005):
    """The arguments with which it is to be built."""
    return classifiers.common_arg_scope(weight_decay, init_ops.zeros_initializer(), padding="VALID")


def overfeat(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.5, spatial_squeeze=True,
             scope="overfeat"):
    """(logits, {name: tensor}) of images [batch, 231, 231, 3]."""
    with variable_scope.variable_scope(scope, "overfeat", [inputs]) as sc:
        collection = sc.name + "_end_points"
        with arg_scope([layers.conv2d, layers.fully_connected, max_pool2d], outputs_collections=collection):
            net = layers.conv2d(inputs, 64, [11, 11], 4, padding="VALID", scope="conv1")
            net = max_pool2d(net, [2, 2], scope="pool1")
            net = layers.conv2d(net, 256, [5, 5], padding="VALID", scope="conv2")
            net = max_pool2d(net, [2, 2], scope="pool2")
            net = layers.conv2d(net, 512, [3, 3], scope="conv3")
            net = layers.conv2d(net, 1024, [3, 3], scope="conv4")
            net = layers.conv2d(net, 1024, [3, 3], scope="conv5")
            net = max_pool2d(net, [2, 2], scope="pool5")
            with arg_scope([layers.conv2d], weights_initializer=trunc_normal(0.005),
                           biases_initializer=init_ops.constant_initializer(0.1)):
                net = classifiers.head(net, 3072, [6, 6], num_classes, is_training, dropout_keep_prob,
                                       biases_initializer=init_ops.zeros_initializer())
            return classifiers.with_end_points(net, sc, collection, spatial_squeeze)


overfeat.default_image_size = 231
