"""Convolutions with what graph optimisation joins to them, against the same graph left as it is."""
import numpy as np
import pytest

import penstock.v1 as tf

RANDOM = np.random.RandomState(0)


def _off():
    options = tf.ConfigProto()
    options.graph_options.rewrite_options.remapping = 2
    options.graph_options.rewrite_options.constant_folding = 2
    return options


def _both(build, feeds):
    """The result with and without fusion, and the ops of the optimised graph."""
    with tf.Graph().as_default():
        inputs = [tf.placeholder(value.dtype, value.shape) for value in feeds]
        y = build(*inputs)
        feed = dict(zip(inputs, feeds))
        with tf.Session() as fused, tf.Session(config=_off()) as plain:
            metadata = tf.RunMetadata()
            options = tf.RunOptions(output_partition_graphs=True)
            got = fused.run(y, feed, options=options, run_metadata=metadata)
            ops = {node.op for graph in metadata.partition_graphs for node in graph.node}
            return got, plain.run(y, feed), ops


def _normal(*shape, dtype=np.float32):
    return RANDOM.normal(size=shape).astype(dtype)


@pytest.mark.parametrize("size", [5, 40])  # our own loops, oneDNN
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("after", [lambda y: y, tf.nn.relu, tf.nn.relu6])
def test_bias_and_rectifier(size, dtype, after):
    feeds = [_normal(2, size, size, 8, dtype=dtype), _normal(3, 3, 8, 16, dtype=dtype), _normal(16, dtype=dtype)]
    feeds[0][0, 0, 0, 0] = np.nan

    def build(x, w, b):
        return after(tf.nn.bias_add(tf.nn.conv2d(x, w, [1, 2, 2, 1], "SAME"), b))

    got, plain, ops = _both(build, feeds)
    assert "_FusedConv2D" in ops and "BiasAdd" not in ops
    assert np.isnan(got).any()
    np.testing.assert_allclose(got, plain, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("size", [5, 40])
def test_given_statistics(size):
    variance = (RANDOM.rand(16) + 0.5).astype(np.float32)
    feeds = [_normal(2, size, size, 8), _normal(1, 1, 8, 16), _normal(16), _normal(16), _normal(16), variance]

    def build(x, w, scale, offset, mean, variance):
        y = tf.nn.conv2d(x, w, [1, 1, 1, 1], "VALID")
        return tf.nn.relu(tf.nn.fused_batch_norm(y, scale, offset, mean, variance, epsilon=0.01, is_training=False)[0])

    got, plain, ops = _both(build, feeds)
    assert "_FusedConv2D" in ops and "Relu" not in ops
    np.testing.assert_allclose(got, plain, rtol=1e-4, atol=1e-5)


def test_channels_first_and_depthwise():
    def first(x, w, b):
        y = tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME", data_format="NCHW")
        return tf.nn.relu(tf.nn.bias_add(y, b, data_format="NCHW"))

    got, plain, ops = _both(first, [_normal(2, 3, 6, 6), _normal(3, 3, 3, 4), _normal(4)])
    assert "_FusedConv2D" in ops
    np.testing.assert_allclose(got, plain, rtol=1e-5, atol=1e-5)

    def depthwise(x, w, b):
        return tf.nn.relu6(tf.nn.bias_add(tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME"), b))

    got, plain, ops = _both(depthwise, [_normal(2, 6, 6, 3), _normal(3, 3, 3, 2), _normal(6)])
    assert "_FusedDepthwiseConv2dNative" in ops
    np.testing.assert_allclose(got, plain, rtol=1e-5, atol=1e-5)


def _imported(fused_ops, args, x, w, **attrs):
    """_FusedConv2D as a graph of TensorFlow's optimiser holds it."""
    definition = tf.GraphDef()
    for i, value in enumerate([x, w, *args]):
        node = definition.node.add(name=f"in{i}", op="Const")
        node.attr["dtype"].type = tf.float32.as_datatype_enum
        node.attr["value"].tensor.CopyFrom(tf.make_tensor_proto(value))
    node = definition.node.add(name="y", op="_FusedConv2D", input=[f"in{i}" for i in range(2 + len(args))])
    node.attr["T"].type = tf.float32.as_datatype_enum
    node.attr["TArgs"].list.type.extend([tf.float32.as_datatype_enum] * len(args))
    node.attr["num_args"].i = len(args)
    node.attr["strides"].list.i.extend([1, 1, 1, 1])
    node.attr["padding"].s = b"VALID"
    node.attr["fused_ops"].list.s.extend(fused_ops)
    for name, value in attrs.items():
        node.attr[name].f = value
    with tf.Graph().as_default(), tf.Session() as session:
        tf.import_graph_def(definition, name="")
        return session.run("y:0")


def test_other_activations():
    x, w, b = _normal(1, 3, 3, 2), _normal(1, 1, 2, 4), _normal(4)
    y = x @ w[0, 0] + b
    np.testing.assert_allclose(_imported([b"BiasAdd"], [b], x, w), y, rtol=1e-5, atol=1e-6)
    elu = np.where(y < 0, np.expm1(y), y)
    np.testing.assert_allclose(_imported([b"BiasAdd", b"Elu"], [b], x, w), elu, rtol=1e-5, atol=1e-6)
    leaky = np.where(y < 0, 0.25 * y, y)
    got = _imported([b"BiasAdd", b"LeakyRelu"], [b], x, w, leakyrelu_alpha=0.25)
    np.testing.assert_allclose(got, leaky, rtol=1e-5, atol=1e-6)


def test_fusions_that_are_not_there():
    x, w, b = _normal(1, 3, 3, 2), _normal(1, 1, 2, 4), _normal(4)
    known, others = [b"BiasAdd"], [[b"BiasAdd", b"Sine"], [b"Relu"], [b"FusedBatchNorm"]]
    for fused, args in [(fused, [b]) for fused in others] + [(known, [b, b])]:
        with pytest.raises(tf.errors.UnimplementedError, match="Fusion is not implemented"):
            _imported(fused, args, x, w)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be a vector of 4 elements"):
        _imported([b"BiasAdd"], [b[:2]], x, w)
