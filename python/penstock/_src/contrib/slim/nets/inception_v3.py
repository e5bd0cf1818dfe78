"""Inception v3 (Szegedy et al., 2015)."""
from penstock._src.contrib.framework.arg_scope import arg_scope
from penstock._src.contrib.layers import layers
from penstock._src.contrib.layers.pooling import avg_pool2d
from penstock._src.contrib.layers.pooling import max_pool2d
from penstock._src.contrib.slim.nets import towers
from penstock._src.contrib.slim.nets.classifiers import trunc_normal
from penstock._src.contrib.slim.nets.towers import avg_pool
from penstock._src.contrib.slim.nets.towers import conv
from penstock._src.contrib.slim.nets.towers import fork
from penstock._src.contrib.slim.nets.towers import max_pool
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import variable_scope

_HALVE = {"stride": 2, "padding": "VALID"}


def _mixed_5(pooled, five_in="Conv2d_0a_1x1", five="Conv2d_0b_5x5"):
    return [[conv(64, "Conv2d_0a_1x1")],
            [conv(48, five_in), conv(64, five)],
            [conv(64, "Conv2d_0a_1x1"), conv(96, "Conv2d_0b_3x3"), conv(96, "Conv2d_0c_3x3")],
            [avg_pool("AvgPool_0a_3x3"), conv(pooled, "Conv2d_0b_1x1")]]


def _mixed_6(inner):
    return [[conv(192, "Conv2d_0a_1x1")],
            [conv(inner, "Conv2d_0a_1x1"), conv(inner, "Conv2d_0b_1x7"), conv(192, "Conv2d_0c_7x1")],
            [conv(inner, "Conv2d_0a_1x1"), conv(inner, "Conv2d_0b_7x1"), conv(inner, "Conv2d_0c_1x7"),
             conv(inner, "Conv2d_0d_7x1"), conv(192, "Conv2d_0e_1x7")],
            [avg_pool("AvgPool_0a_3x3"), conv(192, "Conv2d_0b_1x1")]]


def _mixed_7(second):
    return [[conv(320, "Conv2d_0a_1x1")],
            [conv(384, "Conv2d_0a_1x1"), fork(conv(384, "Conv2d_0b_1x3"), conv(384, second))],
            [conv(448, "Conv2d_0a_1x1"), conv(384, "Conv2d_0b_3x3"),
             fork(conv(384, "Conv2d_0c_1x3"), conv(384, "Conv2d_0d_3x1"))],
            [avg_pool("AvgPool_0a_3x3"), conv(192, "Conv2d_0b_1x1")]]


_VALID_ROWS = [
    ("Conv2d_1a_3x3", conv(32, "Conv2d_1a_3x3", stride=2)),
    ("Conv2d_2a_3x3", conv(32, "Conv2d_2a_3x3")),
    ("Conv2d_2b_3x3", conv(64, "Conv2d_2b_3x3", padding="SAME")),
    ("MaxPool_3a_3x3", max_pool("MaxPool_3a_3x3", stride=2)),
    ("Conv2d_3b_1x1", conv(80, "Conv2d_3b_1x1")),
    ("Conv2d_4a_3x3", conv(192, "Conv2d_4a_3x3")),
    ("MaxPool_5a_3x3", max_pool("MaxPool_5a_3x3", stride=2)),
]
_SAME_ROWS = [
    ("Mixed_5b", _mixed_5(32)),
    ("Mixed_5c", _mixed_5(64, "Conv2d_0b_1x1", "Conv_1_0c_5x5")),
    ("Mixed_5d", _mixed_5(64)),
    ("Mixed_6a", [
        [conv(384, "Conv2d_1a_1x1", kernel=[3, 3], **_HALVE)],
        [conv(64, "Conv2d_0a_1x1"), conv(96, "Conv2d_0b_3x3"), conv(96, "Conv2d_1a_1x1", kernel=[3, 3], **_HALVE)],
        [max_pool("MaxPool_1a_3x3", **_HALVE)]]),
    ("Mixed_6b", _mixed_6(128)),
    ("Mixed_6c", _mixed_6(160)),
    ("Mixed_6d", _mixed_6(160)),
    ("Mixed_6e", _mixed_6(192)),
    ("Mixed_7a", [
        [conv(192, "Conv2d_0a_1x1"), conv(320, "Conv2d_1a_3x3", **_HALVE)],
        [conv(192, "Conv2d_0a_1x1"), conv(192, "Conv2d_0b_1x7"), conv(192, "Conv2d_0c_7x1"),
         conv(192, "Conv2d_1a_3x3", **_HALVE)],
        [max_pool("MaxPool_1a_3x3", **_HALVE)]]),
    ("Mixed_7b", _mixed_7("Conv2d_0b_3x1")),
    ("Mixed_7c", _mixed_7("Conv2d_0c_3x1")),
]
_STRIDED = [layers.conv2d, max_pool2d, avg_pool2d]


def inception_v3_base(inputs, final_endpoint="Mixed_7c", min_depth=16, depth_multiplier=1.0, scope=None):
    """(net, {name: tensor}) up to an end point. ValueError for an unknown one."""
    end_points = {}
    depth = towers.depths(depth_multiplier, min_depth)
    with variable_scope.variable_scope(scope, "InceptionV3", [inputs]):
        with arg_scope(_STRIDED, stride=1, padding="VALID"):
            net, reached = towers.build(inputs, _VALID_ROWS, final_endpoint, end_points, depth)
        if not reached:
            with arg_scope(_STRIDED, stride=1, padding="SAME"):
                net, reached = towers.build(net, _SAME_ROWS, final_endpoint, end_points, depth)
        if not reached:
            raise ValueError("Unknown final endpoint %s" % final_endpoint)
        return net, end_points


def _auxiliary_logits(net, num_classes, depth, spatial_squeeze):
    with variable_scope.variable_scope("AuxLogits"):
        net = avg_pool2d(net, [5, 5], stride=3, padding="VALID", scope="AvgPool_1a_5x5")
        net = layers.conv2d(net, depth(128), [1, 1], scope="Conv2d_1b_1x1")
        kernel = towers.reduced_kernel_size(net, [5, 5])
        net = layers.conv2d(net, depth(768), kernel, weights_initializer=trunc_normal(0.01), padding="VALID",
                            scope="Conv2d_2a_{}x{}".format(*kernel))
        net = layers.conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None,
                            weights_initializer=trunc_normal(0.001), scope="Conv2d_2b_1x1")
        return array_ops.squeeze(net, [1, 2], name="SpatialSqueeze") if spatial_squeeze else net


def inception_v3(inputs, num_classes=1000, is_training=True, dropout_keep_prob=0.8, min_depth=16,
                 depth_multiplier=1.0, prediction_fn=layers.softmax, spatial_squeeze=True, reuse=None,
                 scope="InceptionV3"):
    """(logits, {name: tensor}) of images [batch, 299, 299, 3]. ValueError unless the multiplier is positive."""
    depth = towers.depths(depth_multiplier, min_depth)
    with variable_scope.variable_scope(scope, "InceptionV3", [inputs, num_classes], reuse=reuse) as scope:
        with arg_scope([layers.batch_norm, layers.dropout], is_training=is_training):
            net, end_points = inception_v3_base(inputs, scope=scope, min_depth=min_depth,
                                                depth_multiplier=depth_multiplier)
            with arg_scope(_STRIDED, stride=1, padding="SAME"):
                end_points["AuxLogits"] = _auxiliary_logits(end_points["Mixed_6e"], num_classes, depth,
                                                            spatial_squeeze)
            with variable_scope.variable_scope("Logits"):
                kernel = towers.reduced_kernel_size(net, [8, 8])
                net = avg_pool2d(net, kernel, padding="VALID", scope="AvgPool_1a_{}x{}".format(*kernel))
                net = layers.dropout(net, keep_prob=dropout_keep_prob, scope="Dropout_1b")
                end_points["PreLogits"] = net
                logits = towers.logits_of(net, num_classes, spatial_squeeze, "Conv2d_1c_1x1")
            end_points["Logits"] = logits
            end_points["Predictions"] = prediction_fn(logits, scope="Predictions")
    return logits, end_points


inception_v3.default_image_size = 299


def inception_v3_arg_scope(weight_decay=0.00004, batch_norm_var_collection="moving_vars", batch_norm_decay=0.9997,
                           batch_norm_epsilon=0.001, updates_collections=ops.GraphKeys.UPDATE_OPS,
                           use_fused_batchnorm=True):
    """The arguments with which it is to be built."""
    batch_norm = {"decay": batch_norm_decay, "epsilon": batch_norm_epsilon,
                  "updates_collections": updates_collections, "fused": use_fused_batchnorm}
    return towers.arg_scope_of(weight_decay, batch_norm, batch_norm_var_collection)
