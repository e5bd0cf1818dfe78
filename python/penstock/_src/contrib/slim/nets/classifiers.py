"""What AlexNet, OverFeat and VGG share: convolutions all the way, dropout between the last three."""
from penstock._src.contrib.framework.arg_scope import arg_scope
from penstock._src.contrib.layers import layers
from penstock._src.contrib.layers import regularizers
from penstock._src.contrib.layers import utils
from penstock._src.contrib.layers.pooling import max_pool2d
from penstock._src.graph import gen
from penstock._src.core_ops import array_ops
from penstock._src.ops.state import init_ops


def trunc_normal(stddev):
    """Truncated normal initial values around 0."""
    return init_ops.truncated_normal_initializer(0.0, stddev)


def common_arg_scope(weight_decay, bias, **pooling):
    """Relu, regularized weights, SAME convolutions, biases that begin at `bias`; options of the pooling if any."""
    with arg_scope([layers.conv2d, layers.fully_connected], activation_fn=gen.relu, biases_initializer=bias,
                   weights_regularizer=regularizers.l2_regularizer(weight_decay)):
        with arg_scope([layers.conv2d], padding="SAME") as scope:
            if not pooling:
                return scope
        with arg_scope(scope), arg_scope([max_pool2d], **pooling) as scope:
            return scope


def head(net, depth, kernel_size, num_classes, is_training, dropout_keep_prob, **last):
    """The three last convolutions, fc6 to fc8: logits [batch, height, width, num_classes]."""
    net = layers.conv2d(net, depth, kernel_size, padding="VALID", scope="fc6")
    net = layers.dropout(net, dropout_keep_prob, is_training=is_training, scope="dropout6")
    net = layers.conv2d(net, 4096, [1, 1], scope="fc7")
    net = layers.dropout(net, dropout_keep_prob, is_training=is_training, scope="dropout7")
    return layers.conv2d(net, num_classes, [1, 1], activation_fn=None, normalizer_fn=None, scope="fc8", **last)


def with_end_points(net, scope, collection, spatial_squeeze):
    """(logits, {name: tensor}); with `spatial_squeeze`, logits [batch, num_classes]."""
    end_points = utils.convert_collection_to_dict(collection)
    if spatial_squeeze:
        net = array_ops.squeeze(net, [1, 2], name="fc8/squeezed")
        end_points[scope.name + "/fc8"] = net
    return net, end_points
