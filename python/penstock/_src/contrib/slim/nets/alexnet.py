"""AlexNet v2 (Krizhevsky, 2014: "One weird trick for parallelizing convolutional neural networks")."""
from penstock._src.contrib.framework.arg_scope import arg_scope
from penstock._src.contrib.layers import layers
from penstock._src.contrib.layers.pooling import max_pool2d
from penstock._src.contrib.slim.nets import classifiers
from penstock._src.contrib.slim.nets.classifiers import trunc_normal
from penstock._src.ops.state import init_ops
from penstock._src.ops.state import variable_scope


def alexnet_v2_arg_scope(weight_decay=0.0005):
    """The arguments with which it is to be built."""
    return classifiers.common_arg_scope(weight_decay, init_ops.constant_initializer(0.1), padding="VALID")


def alexnet_v2(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.5, spatial_squeeze=True,
               scope="alexnet_v2"):
    """(logits, {name: tensor}) of images [batch, 224, 224, 3]."""
    with variable_scope.variable_scope(scope, "alexnet_v2", [inputs]) as sc:
        collection = sc.original_name_scope + "_end_points"
        with arg_scope([layers.conv2d, layers.fully_connected, max_pool2d], outputs_collections=[collection]):
            net = layers.conv2d(inputs, 64, [11, 11], 4, padding="VALID", scope="conv1")
            net = max_pool2d(net, [3, 3], 2, scope="pool1")
            net = layers.conv2d(net, 192, [5, 5], scope="conv2")
            net = max_pool2d(net, [3, 3], 2, scope="pool2")
            net = layers.conv2d(net, 384, [3, 3], scope="conv3")
            net = layers.conv2d(net, 384, [3, 3], scope="conv4")
            net = layers.conv2d(net, 256, [3, 3], scope="conv5")
            net = max_pool2d(net, [3, 3], 2, scope="pool5")
            with arg_scope([layers.conv2d], weights_initializer=trunc_normal(0.005),
                           biases_initializer=init_ops.constant_initializer(0.1)):
                net = classifiers.head(net, 4096, [5, 5], num_classes, is_training, dropout_keep_prob,
                                       biases_initializer=init_ops.zeros_initializer())
            return classifiers.with_end_points(net, sc, collection, spatial_squeeze)


alexnet_v2.default_image_size = 224
