"""Inception v1, GoogLeNet (Szegedy et al., 2014)."""
from penstock._src.contrib.framework.arg_scope import arg_scope
from penstock._src.contrib.layers import layers
from penstock._src.contrib.layers.pooling import avg_pool2d
from penstock._src.contrib.layers.pooling import max_pool2d
from penstock._src.contrib.slim.nets import towers
from penstock._src.contrib.slim.nets.classifiers import trunc_normal
from penstock._src.contrib.slim.nets.towers import conv
from penstock._src.contrib.slim.nets.towers import max_pool
from penstock._src.ops.state import variable_scope


def _mixed(one, three_in, three, five_in, five, pooled, five_scope="Conv2d_0b_3x3"):
    """Four branches of those numbers of channels."""
    return [[conv(one, "Conv2d_0a_1x1")],
            [conv(three_in, "Conv2d_0a_1x1"), conv(three, "Conv2d_0b_3x3")],
            [conv(five_in, "Conv2d_0a_1x1"), conv(five, five_scope)],
            [max_pool("MaxPool_0a_3x3"), conv(pooled, "Conv2d_0b_1x1")]]


_ROWS = [
    ("Conv2d_1a_7x7", conv(64, "Conv2d_1a_7x7", stride=2)),
    ("MaxPool_2a_3x3", max_pool("MaxPool_2a_3x3", stride=2)),
    ("Conv2d_2b_1x1", conv(64, "Conv2d_2b_1x1")),
    ("Conv2d_2c_3x3", conv(192, "Conv2d_2c_3x3")),
    ("MaxPool_3a_3x3", max_pool("MaxPool_3a_3x3", stride=2)),
    ("Mixed_3b", _mixed(64, 96, 128, 16, 32, 32)),
    ("Mixed_3c", _mixed(128, 128, 192, 32, 96, 64)),
    ("MaxPool_4a_3x3", max_pool("MaxPool_4a_3x3", stride=2)),
    ("Mixed_4b", _mixed(192, 96, 208, 16, 48, 64)),
    ("Mixed_4c", _mixed(160, 112, 224, 24, 64, 64)),
    ("Mixed_4d", _mixed(128, 128, 256, 24, 64, 64)),
    ("Mixed_4e", _mixed(112, 144, 288, 32, 64, 64)),
    ("Mixed_4f", _mixed(256, 160, 320, 32, 128, 128)),
    ("MaxPool_5a_2x2", max_pool("MaxPool_5a_2x2", stride=2)),
    ("Mixed_5b", _mixed(256, 160, 320, 32, 128, 128, five_scope="Conv2d_0a_3x3")),
    ("Mixed_5c", _mixed(384, 192, 384, 48, 128, 128)),
]


def inception_v1_base(inputs, final_endpoint="Mixed_5c", scope="InceptionV1"):
    """(net, {name: tensor}) up to an end point. ValueError for an unknown one."""
    end_points = {}
    with variable_scope.variable_scope(scope, "InceptionV1", [inputs]):
        with arg_scope([layers.conv2d, layers.fully_connected], weights_initializer=trunc_normal(0.01)):
            with arg_scope([layers.conv2d, max_pool2d], stride=1, padding="SAME"):
                net, reached = towers.build(inputs, _ROWS, final_endpoint, end_points)
        if not reached:
            raise ValueError("Unknown final endpoint %s" % final_endpoint)
        return net, end_points


def inception_v1(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.8, prediction_fn=layers.softmax,
                 spatial_squeeze=True, reuse=None, scope="InceptionV1"):
    """(logits, {name: tensor}) of images [batch, 224, 224, 3]."""
    with variable_scope.variable_scope(scope, "InceptionV1", [inputs, num_classes], reuse=reuse) as scope:
        with arg_scope([layers.batch_norm, layers.dropout], is_training=is_training):
            net, end_points = inception_v1_base(inputs, scope=scope)
            with variable_scope.variable_scope("Logits"):
                net = avg_pool2d(net, [7, 7], stride=1, scope="MaxPool_0a_7x7")
                net = layers.dropout(net, dropout_keep_prob, scope="Dropout_0b")
                logits = towers.logits_of(net, num_classes, spatial_squeeze, "Conv2d_0c_1x1")
                end_points["Logits"] = logits
                end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


inception_v1.default_image_size = 224


def inception_v1_arg_scope(weight_decay=0.00004, use_batch_norm=True, batch_norm_var_collection="moving_vars"):
    """The arguments with which it is to be built."""
    return towers.arg_scope_of(weight_decay, towers.BATCH_NORM if use_batch_norm else None, batch_norm_var_collection)
