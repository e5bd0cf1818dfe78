"""VGG with 11, 16 and 19 layers (Simonyan and Zisserman, 2014)."""
from penstock._src.contrib.framework.arg_scope import arg_scope
from penstock._src.contrib.layers import layers
from penstock._src.contrib.layers.pooling import max_pool2d
from penstock._src.contrib.slim.nets import classifiers
from penstock._src.ops.state import init_ops
from penstock._src.ops.state import variable_scope


def vgg_arg_scope(weight_decay=0.0005):
    """The arguments with which they are to be built."""
    return classifiers.common_arg_scope(weight_decay, init_ops.zeros_initializer())


def _vgg(repetitions, default_scope):

    def function(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.5, spatial_squeeze=True,
                 scope=default_scope):
        with variable_scope.variable_scope(scope, default_scope, [inputs]) as sc:
            collection = sc.original_name_scope + "_end_points"
            with arg_scope([layers.conv2d, layers.fully_connected, max_pool2d], outputs_collections=collection):
                net = inputs
                for i, (times, depth) in enumerate(zip(repetitions, [64, 128, 256, 512, 512]), 1):
                    net = layers.repeat(net, times, layers.conv2d, depth, [3, 3], scope="conv%d" % i)
                    net = max_pool2d(net, [2, 2], scope="pool%d" % i)
                net = classifiers.head(net, 4096, [7, 7], num_classes, is_training, dropout_keep_prob)
                return classifiers.with_end_points(net, sc, collection, spatial_squeeze)

    function.__name__ = function.__qualname__ = default_scope
    function.__doc__ = "(logits, {name: tensor}) of images [batch, 224, 224, 3]; %s convolutions in five groups." % (
        repetitions,)
    function.default_image_size = 224
    return function


vgg_a = _vgg([1, 1, 2, 2, 2], "vgg_a")
vgg_d = vgg_16 = _vgg([2, 2, 3, 3, 3], "vgg_16")
vgg_e = vgg_19 = _vgg([2, 2, 4, 4, 4], "vgg_19")
