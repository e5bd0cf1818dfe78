"""Inception v2, with batch normalization (Ioffe and Szegedy, 2015)."""
from penstock._src.contrib.framework.arg_scope import arg_scope
from penstock._src.contrib.layers import layers
from penstock._src.contrib.layers.pooling import avg_pool2d
from penstock._src.contrib.layers.pooling import max_pool2d
from penstock._src.contrib.slim.nets import towers
from penstock._src.contrib.slim.nets.classifiers import trunc_normal
from penstock._src.contrib.slim.nets.towers import avg_pool
from penstock._src.contrib.slim.nets.towers import conv
from penstock._src.contrib.slim.nets.towers import max_pool
from penstock._src.ops.state import variable_scope


def _first(net, depth):
    multiplier = min(int(depth(64) / 3), 8)
    return layers.separable_conv2d(net, depth(64), [7, 7], depth_multiplier=multiplier, stride=2,
                                   weights_initializer=trunc_normal(1.0), scope="Conv2d_1a_7x7")


def _mixed(one, three_in, three, double_in, double, pooled, pool=avg_pool("AvgPool_0a_3x3")):
    """Four branches of those numbers of channels."""
    return [[conv(one, "Conv2d_0a_1x1")],
            [conv(three_in, "Conv2d_0a_1x1", stddev=0.09), conv(three, "Conv2d_0b_3x3")],
            [conv(double_in, "Conv2d_0a_1x1", stddev=0.09), conv(double, "Conv2d_0b_3x3"),
             conv(double, "Conv2d_0c_3x3")],
            [pool, conv(pooled, "Conv2d_0b_1x1", stddev=0.1)]]


def _halved(three_in, three, double_in, double):
    """Three branches that halve the image."""
    return [[conv(three_in, "Conv2d_0a_1x1", stddev=0.09), conv(three, "Conv2d_1a_3x3", stride=2)],
            [conv(double_in, "Conv2d_0a_1x1", stddev=0.09), conv(double, "Conv2d_0b_3x3"),
             conv(double, "Conv2d_1a_3x3", stride=2)],
            [max_pool("MaxPool_1a_3x3", stride=2)]]


_ROWS = [
    ("Conv2d_1a_7x7", _first),
    ("MaxPool_2a_3x3", max_pool("MaxPool_2a_3x3", stride=2)),
    ("Conv2d_2b_1x1", conv(64, "Conv2d_2b_1x1", stddev=0.1)),
    ("Conv2d_2c_3x3", conv(192, "Conv2d_2c_3x3")),
    ("MaxPool_3a_3x3", max_pool("MaxPool_3a_3x3", stride=2)),
    ("Mixed_3b", _mixed(64, 64, 64, 64, 96, 32)),
    ("Mixed_3c", _mixed(64, 64, 96, 64, 96, 64)),
    ("Mixed_4a", _halved(128, 160, 64, 96)),
    ("Mixed_4b", _mixed(224, 64, 96, 96, 128, 128)),
    ("Mixed_4c", _mixed(192, 96, 128, 96, 128, 128)),
    ("Mixed_4d", _mixed(160, 128, 160, 128, 160, 96)),
    ("Mixed_4e", _mixed(96, 128, 192, 160, 192, 96)),
    ("Mixed_5a", _halved(128, 192, 192, 256)),
    ("Mixed_5b", _mixed(352, 192, 320, 160, 224, 128)),
    ("Mixed_5c", _mixed(352, 192, 320, 192, 224, 128, pool=max_pool("MaxPool_0a_3x3"))),
]


def inception_v2_base(inputs, final_endpoint="Mixed_5c", min_depth=16, depth_multiplier=1.0, scope=None):
    """(net, {name: tensor}) up to an end point. ValueError for an unknown one."""
    end_points = {}
    depth = towers.depths(depth_multiplier, min_depth)
    with variable_scope.variable_scope(scope, "InceptionV2", [inputs]):
        with arg_scope([layers.conv2d, max_pool2d, avg_pool2d, layers.separable_conv2d], stride=1, padding="SAME"):
            net, reached = towers.build(inputs, _ROWS, final_endpoint, end_points, depth)
        if not reached:
            raise ValueError("Unknown final endpoint %s" % final_endpoint)
        return net, end_points


def inception_v2(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.8, min_depth=16,
                 depth_multiplier=1.0, prediction_fn=layers.softmax, spatial_squeeze=True, reuse=None,
                 scope="InceptionV2"):
    """(logits, {name: tensor}) of images [batch, 224, 224, 3]. ValueError unless the multiplier is positive."""
    towers.depths(depth_multiplier, min_depth)
    with variable_scope.variable_scope(scope, "InceptionV2", [inputs, num_classes], reuse=reuse) as scope:
        with arg_scope([layers.batch_norm, layers.dropout], is_training=is_training):
            net, end_points = inception_v2_base(inputs, scope=scope, min_depth=min_depth,
                                                depth_multiplier=depth_multiplier)
            with variable_scope.variable_scope("Logits"):
                kernel = towers.reduced_kernel_size(net, [7, 7])
                net = avg_pool2d(net, kernel, padding="VALID", scope="AvgPool_1a_{}x{}".format(*kernel))
                net = layers.dropout(net, keep_prob=dropout_keep_prob, scope="Dropout_1b")
                logits = towers.logits_of(net, num_classes, spatial_squeeze, "Conv2d_1c_1x1")
            end_points["Logits"] = logits
            end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


inception_v2.default_image_size = 224


def inception_v2_arg_scope(weight_decay=0.00004, batch_norm_var_collection="moving_vars"):
    """The arguments with which it is to be built."""
    return towers.arg_scope_of(weight_decay, towers.BATCH_NORM, batch_norm_var_collection)
