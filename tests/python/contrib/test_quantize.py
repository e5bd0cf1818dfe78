"""tf.contrib.quantize: nodes and losses are those of TensorFlow 1.15.5."""
import numpy as np
import pytest

import penstock.v1 as tf

slim = tf.contrib.slim
quantize = tf.contrib.quantize


@pytest.fixture(autouse=True)
def graph():
    with tf.Graph().as_default() as graph:
        yield graph


def network(x, training, fused):
    with slim.arg_scope([slim.conv2d, slim.separable_conv2d, slim.fully_connected], normalizer_fn=slim.batch_norm,
                        normalizer_params=dict(is_training=training, fused=fused, scale=True, decay=.9,
                                               updates_collections=None),
                        activation_fn=tf.nn.relu6, weights_initializer=tf.constant_initializer(.1)):
        y = slim.conv2d(x, 4, 3, scope="conv1")
        y = slim.separable_conv2d(y, None, 3, depth_multiplier=1, stride=2, scope="dw")
        y = slim.conv2d(y, 6, 1, scope="pw")
        y = slim.flatten(tf.reduce_mean(y, [1, 2], keepdims=True))
        y = slim.fully_connected(y, 5, scope="fc", normalizer_fn=None)
        return slim.fully_connected(y, 3, scope="logits", normalizer_fn=None, activation_fn=None)


def losses(x, y, steps):
    loss = tf.reduce_mean(tf.square(y - 1.))
    step = tf.train.GradientDescentOptimizer(.1).minimize(loss) if steps > 1 else tf.no_op()
    random = np.random.RandomState(0)
    with tf.Session() as session:
        session.run(tf.global_variables_initializer())
        return [session.run([loss, step], {x: random.uniform(-1, 1, [4, 8, 8, 3])})[0] for _ in range(steps)]


def fake_quants(graph):
    return [op.name for op in graph.get_operations() if op.type == "FakeQuantWithMinMaxVars"]


LAYERS = ["conv1/weights_quant", "conv1/act_quant", "dw/weights_quant", "dw/act_quant", "pw/weights_quant",
          "pw/act_quant", "fc/weights_quant", "fc/act_quant", "logits/weights_quant", "logits/act_quant"]

BRANCHES = ["a/act_quant", "a/before/conv_quant", "a/before/weights_quant", "a/first/act_quant",
            "a/first/weights_quant", "add_2/activation_AddV2_quant", "b/behind/act_quant", "b/behind/weights_quant",
            "c/bare/act_quant", "c/bare/weights_quant", "mul/activation_Mul_quant", "post_activation_bypass_quant"]


@pytest.mark.parametrize("fused, delay, count, expected", [
    (True, 0, 636, [.797796786, .652278662, .516950607, .531215966, .336053461, .278389394]),
    (True, 5, 733, [.798048496, .642793417, .505025387, .487054676, .323522598, .271085083]),
    (False, 0, 624, [.79815501, .652416229, .516606867, .531334221, .335718155, .277807683]),
    (False, 5, 721, [.798048496, .642793357, .505025387, .487054676, .323658735, .270835817]),
])
def test_training(graph, fused, delay, count, expected):
    x = tf.placeholder(tf.float32, [4, 8, 8, 3])
    y = network(x, True, fused)
    quantize.create_training_graph(quant_delay=delay)
    assert sorted(fake_quants(graph)) == sorted(name + "/FakeQuantWithMinMaxVars" for name in LAYERS)
    assert len(graph.get_operations()) == count
    np.testing.assert_allclose(losses(x, y, 6), expected, rtol=1e-4)


@pytest.mark.parametrize("fused", [True, False])
def test_evaluation(graph, fused):
    x = tf.placeholder(tf.float32, [4, 8, 8, 3])
    y = network(x, False, fused)
    quantize.create_eval_graph(graph)
    assert len(graph.get_operations()) == (220 if fused else 223)
    np.testing.assert_allclose(losses(x, y, 1), [.983418286], rtol=1e-5)


@pytest.mark.parametrize("training", [True, False])
def test_sums_of_branches(graph, training):
    x = tf.placeholder(tf.float32, [4, 8, 8, 3])
    with slim.arg_scope([slim.conv2d], weights_initializer=tf.constant_initializer(.1)):
        y = slim.conv2d(x, 4, 3, scope="a/first")
        y = tf.nn.relu(slim.conv2d(y, 4, 3, scope="a/before", activation_fn=None) + y, name="a/out")
        y = slim.conv2d(y, 4, 3, scope="b/behind") + y
        y = slim.conv2d(y, 4, 3, scope="c/bare", activation_fn=None) + y
        y = tf.identity(slim.conv2d(y, 4, 3, scope="d/last", biases_initializer=None, activation_fn=None) * y)
    (quantize.create_training_graph if training else quantize.create_eval_graph)()
    assert sorted(fake_quants(graph)) == sorted(name + "/FakeQuantWithMinMaxVars" for name in BRANCHES)
    np.testing.assert_allclose(losses(x, y, 1), [516624.25] if training else [21.683826], rtol=1e-4)


def test_other_bits_symmetric_ranges_and_frozen_averages(graph):
    x = tf.placeholder(tf.float32, [4, 8, 8, 3])
    y = network(x, True, False)
    quantize.experimental_create_training_graph(weight_bits=4, activation_bits=6, symmetric=True, quant_delay=2,
                                                freeze_bn_delay=3)
    assert len(graph.get_operations()) == 828
    assert {graph.get_operation_by_name(name).get_attr("num_bits") for name in fake_quants(graph)} == {4, 6}
    found, recorded = losses(x, y, 6), [.798048496, .64966005, .738201559, .621347904, .528405666, .433047175]
    np.testing.assert_allclose(found[:2], recorded[:2], rtol=1e-4)
    # With so few bits a last bit's difference, as between two processors, may move a value to the next level.
    np.testing.assert_allclose(found, recorded, rtol=0.1)


def test_only_a_scope_is_quantized(graph):
    x = tf.placeholder(tf.float32, [4, 8, 8, 3])
    network(x, False, True)
    quantize.experimental_create_eval_graph(scope="pw")
    assert fake_quants(graph) == ["pw/weights_quant/FakeQuantWithMinMaxVars", "pw/act_quant/FakeQuantWithMinMaxVars"]


def test_a_graph_that_trains_is_refused():
    w = tf.get_variable("w", [])
    tf.train.GradientDescentOptimizer(.1).minimize(w * w)
    with pytest.raises(ValueError, match="Training op found in graph.*ApplyGradientDescent"):
        quantize.create_training_graph()
