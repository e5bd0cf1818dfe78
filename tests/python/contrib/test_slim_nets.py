"""tf.contrib.slim.nets: each builds, node for node, the graph that it builds in TensorFlow 1.15.5."""
import hashlib

import pytest

import penstock.v1 as tf
from penstock._src.contrib.slim.nets import alexnet, inception, overfeat, resnet_v1, resnet_v2, vgg

slim = tf.contrib.slim


def digest(values):
    return hashlib.md5(repr(values).encode()).hexdigest()[:8]


# The logits' name, the number of variables, and digests of end points, variables and nodes: recorded from 1.15.5.
@pytest.mark.parametrize("network, arguments, size, options, recorded", [
    (alexnet.alexnet_v2, alexnet.alexnet_v2_arg_scope, 224, {},
     ("alexnet_v2/fc8/squeezed:0", 16, "7e11cfee", "952f2c07", "663503f4")),
    (overfeat.overfeat, overfeat.overfeat_arg_scope, 231, {"num_classes": 10},
     ("overfeat/fc8/squeezed:0", 16, "e3d94679", "737ef951", "2515a5f1")),
    (vgg.vgg_a, vgg.vgg_arg_scope, 224, {}, ("vgg_a/fc8/squeezed:0", 22, "a0f8a4df", "76b0abdd", "c7c94a36")),
    (vgg.vgg_16, vgg.vgg_arg_scope, 256, {"spatial_squeeze": False},
     ("vgg_16/fc8/BiasAdd:0", 32, "ddba3529", "febf0ba2", "c56a212d")),
    (resnet_v1.resnet_v1_50, resnet_v1.resnet_arg_scope, 64, {"num_classes": 7},
     ("resnet_v1_50/logits/BiasAdd:0", 267, "e081bb1e", "61ebb602", "26127afe")),
    (resnet_v1.resnet_v1_50, resnet_v1.resnet_arg_scope, 65, {"output_stride": 8, "global_pool": False},
     ("resnet_v1_50/block4/unit_3/bottleneck_v1/Relu:0", 265, "5617a52a", "80541ce0", "8f1ab7ea")),
    (resnet_v2.resnet_v2_50, resnet_v2.resnet_arg_scope, 64, {"num_classes": 7, "is_training": False},
     ("resnet_v2_50/logits/BiasAdd:0", 272, "7d0ffb5a", "9857d1d3", "ccd76bcf")),
    (inception.inception_v1, inception.inception_v1_arg_scope, 224, {},
     ("InceptionV1/Logits/SpatialSqueeze:0", 230, "422ccae9", "beb7b437", "489851b9")),
    (inception.inception_v2, inception.inception_v2_arg_scope, 224, {},
     ("InceptionV2/Logits/SpatialSqueeze:0", 277, "fd109b56", "ea3448b1", "ff1b181c")),
    (inception.inception_v3, inception.inception_v3_arg_scope, 299, {"depth_multiplier": .5},
     ("InceptionV3/Logits/SpatialSqueeze:0", 388, "68ee1bc7", "651d708b", "82dc11cb")),
], ids=lambda value: getattr(value, "__name__", None))
def test_a_network_is_that_of_tensorflow(network, arguments, size, options, recorded):
    with tf.Graph().as_default() as graph:
        with slim.arg_scope(arguments()):
            logits, end_points = network(tf.zeros([2, size, size, 3]), **options)
        variables = tf.global_variables()
        assert recorded == (
            logits.name, len(variables),
            digest([(k, v.name, v.shape.as_list()) for k, v in sorted(end_points.items())]),
            digest([(v.name, v.shape.as_list()) for v in variables]),
            digest([(node.name, node.op, list(node.input)) for node in graph.as_graph_def().node]))


def test_a_stride_that_cannot_be_reached_and_an_unknown_end_point_are_refused():
    with tf.Graph().as_default():
        image = tf.zeros([1, 65, 65, 3])
        with pytest.raises(ValueError, match="multiple of 4"):
            resnet_v1.resnet_v1_50(image, output_stride=6)
        with pytest.raises(ValueError, match="cannot be reached"):
            resnet_v2.resnet_v2_50(image, output_stride=12)
        with pytest.raises(ValueError, match="Unknown final endpoint Mixed_9z"):
            inception.inception_v2_base(image, final_endpoint="Mixed_9z")
        with pytest.raises(ValueError, match="greater than zero"):
            inception.inception_v3(image, depth_multiplier=0)
