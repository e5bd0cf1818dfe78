"""Quantized numbers. Expected values: the formulas of TensorFlow's documentation, or recorded from 2.21."""
import numpy as np
import pytest

import penstock.v1 as tf

PLAIN = {tf.qint8: np.int8, tf.quint8: np.uint8, tf.qint16: np.int16, tf.quint16: np.uint16, tf.qint32: np.int32}
RANDOM = np.random.RandomState(0)
X = np.array([-3.0, -2.5, -1.0, -0.004, 0.0, 0.3, 1.7, 4.0, 9.0], np.float32)


@pytest.fixture
def session():
    with tf.Graph().as_default(), tf.Session() as opened:
        yield opened


def quantized(values, dtype):
    return tf.bitcast(tf.constant(np.asarray(values, PLAIN[dtype])), dtype)


def plain(session, tensors):
    """Values, quantized ones as plain integers."""
    return session.run([tf.bitcast(t, tf.as_dtype(PLAIN[t.dtype])) if t.dtype.is_quantized else t for t in tensors])


@pytest.mark.parametrize("dtype", [tf.qint8, tf.quint8, tf.qint16, tf.quint16])
@pytest.mark.parametrize("mode", ["MIN_COMBINED", "MIN_FIRST", "SCALED"])
def test_there_and_back(session, dtype, mode):
    low = -2.5 if mode != "SCALED" else 0.0 if dtype in (tf.quint8, tf.quint16) else -4.0
    y = tf.quantization.quantize(X, low, 4.0, dtype, mode=mode)
    back = tf.quantization.dequantize(y.output, y.output_min, y.output_max, mode=mode)
    info = np.iinfo(PLAIN[dtype])
    step = (4.0 - low) / (int(info.max) - int(info.min))
    np.testing.assert_allclose(session.run(back), np.clip(X, low, 4.0), atol=step)


def test_values_of_each_mode(session):
    expected = {  # recorded
        "MIN_COMBINED": [0, 0, 59, 98, 98, 110, 165, 255, 255],
        "MIN_FIRST": [0, 0, 59, 98, 98, 110, 165, 255, 255],
        "SCALED": [0, 0, 0, 0, 0, 19, 108, 255, 255],
    }
    for mode, values in expected.items():
        got = plain(session, tf.quantization.quantize(X, -2.5, 4.0, tf.quint8, mode=mode))[0]
        np.testing.assert_array_equal(got, values, err_msg=mode)


def test_a_range_for_each_slice(session):
    x = np.array([[1.0, 2.0, -1.0], [10.0, 20.0, -10.0]], np.float32)
    levels = tf.raw_ops.QuantizeV2(input=x, min_range=[-2.0, -20.0], max_range=[2.0, 20.0], T=tf.qint8, mode="SCALED",
                                   axis=0)
    y, low, high = plain(session, levels)
    np.testing.assert_array_equal(y, [[64, 127, -64], [64, 127, -64]])
    np.testing.assert_allclose(high, [2, 20], rtol=1e-6)
    np.testing.assert_allclose(low, [-2.0157480, -20.157480], rtol=1e-6)


def test_refusals(session):
    with pytest.raises(tf.errors.UnimplementedError, match="MIN_FIRST mode is not implemented for Quantize with axis"):
        session.run(tf.raw_ops.QuantizeV2(input=X[:2], min_range=[0.0] * 2, max_range=[1.0] * 2, T=tf.qint8,
                                          mode="MIN_FIRST", axis=0).output)
    with pytest.raises(tf.errors.InvalidArgumentError, match="must be larger than input_min_range"):
        session.run(tf.quantization.quantize(X, 2.0, 1.0, tf.quint8).output_min)
    with pytest.raises(tf.errors.InvalidArgumentError, match="HALF_TO_EVEN"):
        session.run(tf.quantization.quantize(X, 0.0, 1.0, tf.quint8, round_mode="HALF_TO_EVEN").output_min)
    with pytest.raises(ValueError, match="Dimension 0 in both shapes must be equal"):
        tf.raw_ops.QuantizeV2(input=X[:2], min_range=[0.0] * 3, max_range=[1.0] * 3, T=tf.qint8, axis=0)


def test_requantize(session):
    x = np.array([-(2**28), -(2**20), 0, 2**27, 2**30], np.int64)
    value = x * 200 / 2**32  # over [-100, 100]
    for dtype, low, high in ((tf.qint8, -10.0, 10.0), (tf.quint8, -10.0, 10.0), (tf.quint8, 0.0, 3.0)):
        y = tf.raw_ops.Requantize(input=quantized(x, tf.qint32), input_min=-100.0, input_max=100.0,
                                  requested_output_min=low, requested_output_max=high, out_type=dtype)
        got, least, most = plain(session, y)
        info = np.iinfo(PLAIN[dtype])
        exact = np.clip((value - low) * 255 / (high - low) + info.min, info.min, info.max)
        np.testing.assert_allclose(got, exact, atol=1.01)
        assert (least, most) == (low, high)
    used = session.run(tf.raw_ops.RequantizationRange(input=quantized(x, tf.qint32), input_min=-100.0, input_max=100.0))
    np.testing.assert_allclose(used, [-12.5, 50], rtol=1e-5)


def _steps(low, high):
    return (high - low) / 255


def test_products(session):
    a, b = RANDOM.randint(0, 256, [4, 6]), RANDOM.randint(0, 256, [6, 5])
    za, zb = 85, 0  # the levels of zero in [-1, 2] and [0, 3]
    for ta in (False, True):
        for tb in (False, True):
            y = tf.raw_ops.QuantizedMatMul(
                a=quantized(a.T if ta else a, tf.quint8), b=quantized(b.T if tb else b, tf.quint8), min_a=-1.0,
                max_a=2.0, min_b=0.0, max_b=3.0, transpose_a=ta, transpose_b=tb)
            got, low, high = plain(session, y)
            np.testing.assert_array_equal(got, (a - za) @ (b - zb))
            step = _steps(-1, 2) * _steps(0, 3)
            np.testing.assert_allclose([low, high], [-(2.0**31) * step, 2.0**31 * step], rtol=1e-6)


@pytest.mark.parametrize("dtype, low", [(tf.quint8, 0), (tf.qint8, -128)])
@pytest.mark.parametrize("padding", ["SAME", "VALID"])
def test_convolutions(session, dtype, low, padding):
    x, f = RANDOM.randint(0, 256, [2, 5, 4, 3]), RANDOM.randint(low, low + 256, [3, 2, 3, 4])
    y = tf.raw_ops.QuantizedConv2D(
        input=quantized(x, tf.quint8), filter=quantized(f, dtype), min_input=-1.0, max_input=2.0, min_filter=-2.0,
        max_filter=1.0, strides=[1, 2, 2, 1], padding=padding)
    expected = tf.nn.conv2d(np.float64(x - 85), np.float64(f - (170 + low)), [1, 2, 2, 1], padding)
    np.testing.assert_array_equal(plain(session, y)[0], session.run(expected))


def test_layers(session):
    x = RANDOM.randint(0, 256, [2, 5, 4, 3])
    q = quantized(x, tf.quint8)
    relu = tf.raw_ops.QuantizedRelu(features=q, min_features=-1.0, max_features=2.0)
    np.testing.assert_array_equal(plain(session, relu)[0], np.maximum(x, 85))
    six = tf.raw_ops.QuantizedRelu6(features=q, min_features=0.0, max_features=8.0)
    np.testing.assert_array_equal(plain(session, six)[0], np.minimum(x, 191))
    most = tf.nn.quantized_max_pool(q, -1.0, 2.0, [1, 3, 2, 1], [1, 2, 1, 1], "SAME")
    np.testing.assert_array_equal(plain(session, most)[0],
                                  session.run(tf.nn.max_pool(np.float32(x), [1, 3, 2, 1], [1, 2, 1, 1], "SAME")))
    mean = tf.nn.quantized_avg_pool(q, -1.0, 2.0, [1, 2, 2, 1], [1, 2, 2, 1], "VALID")
    np.testing.assert_array_equal(plain(session, mean)[0],
                                  session.run(tf.nn.avg_pool(np.float64(x), [1, 2, 2, 1], [1, 2, 2, 1], "VALID")) // 1)
    bias = RANDOM.randint(0, 256, [3])
    sums = tf.raw_ops.QuantizedBiasAdd(input=q, bias=quantized(bias, tf.quint8), min_input=-1.0, max_input=2.0,
                                       min_bias=-0.5, max_bias=4.0, out_type=tf.qint32)
    y, low, high = plain(session, sums)
    exact = x * _steps(-1, 2) - 1 + bias * _steps(-0.5, 4) - 0.5
    np.testing.assert_allclose(y * (float(high) - float(low)) / 2.0**32, exact, atol=0.02)


# Ranges that hold zero as a level: nothing is moved.
LOWS = np.array([-2, -1, -4], np.float32)
HIGHS = np.array([127, 127, 127], np.float32) / np.array([64, 128, 32], np.float32)


def test_channels_are_rounded_as_tensors_of_their_own(session):
    x = RANDOM.randn(1001, 3).astype(np.float32) * 2
    together = tf.quantization.fake_quant_with_min_max_vars_per_channel(x, LOWS, HIGHS)
    alone = [tf.quantization.fake_quant_with_min_max_vars(x[:, c], LOWS[c], HIGHS[c]) for c in range(3)]
    np.testing.assert_array_equal(session.run(together), np.stack(session.run(alone), 1))
    step = (HIGHS - LOWS) / 255
    np.testing.assert_allclose(session.run(together), np.floor(np.clip(x, LOWS, HIGHS) / step + 0.5) * step, atol=1e-6)

    together = tf.raw_ops.QuantizeAndDequantizeV3(input=x, input_min=LOWS, input_max=HIGHS, num_bits=8, axis=1)
    across = tf.raw_ops.QuantizeAndDequantizeV3(input=x.T, input_min=LOWS, input_max=HIGHS, num_bits=8, axis=0)
    alone = [tf.raw_ops.QuantizeAndDequantizeV3(input=x[:, c], input_min=LOWS[c], input_max=HIGHS[c], num_bits=8)
             for c in range(3)]
    expected = np.stack(session.run(alone), 1)
    np.testing.assert_array_equal(session.run(together), expected)
    np.testing.assert_array_equal(session.run(across), expected.T)


def test_found_ranges_of_long_tensors(session):
    x = RANDOM.randn(50021).astype(np.float32)
    found = tf.raw_ops.QuantizeAndDequantizeV3(input=x, input_min=0.0, input_max=0.0, num_bits=8, range_given=False)
    given = tf.raw_ops.QuantizeAndDequantizeV3(input=x, input_min=x.min(), input_max=x.max(), num_bits=8)
    np.testing.assert_array_equal(*session.run([found, given]))


def test_gradients_of_ranges(session):
    x, dy = (RANDOM.randn(70001, 3).astype(np.float32) * 2 for _ in range(2))
    dx, dlow, dhigh = session.run(tf.raw_ops.FakeQuantWithMinMaxVarsPerChannelGradient(
        gradients=dy, inputs=x, min=LOWS, max=HIGHS))
    np.testing.assert_array_equal(dx, np.where((x >= LOWS) & (x <= HIGHS), dy, 0))
    np.testing.assert_allclose(dlow, np.where(x < LOWS, dy, 0).sum(0, np.float64), rtol=1e-5, atol=1e-3)
    np.testing.assert_allclose(dhigh, np.where(x > HIGHS, dy, 0).sum(0, np.float64), rtol=1e-5, atol=1e-3)

    dx, dlow, dhigh = session.run(tf.raw_ops.FakeQuantWithMinMaxVarsGradient(
        gradients=dy, inputs=x, min=LOWS[0], max=HIGHS[0]))
    np.testing.assert_array_equal(dx, np.where((x >= LOWS[0]) & (x <= HIGHS[0]), dy, 0))
    np.testing.assert_allclose(dlow, np.where(x < LOWS[0], dy, 0).sum(dtype=np.float64), rtol=1e-5, atol=1e-3)
    np.testing.assert_allclose(dhigh, np.where(x > HIGHS[0], dy, 0).sum(dtype=np.float64), rtol=1e-5, atol=1e-3)
    passed = tf.raw_ops.FakeQuantWithMinMaxVarsGradient(gradients=dy, inputs=x * np.nan, min=0.0, max=0.0)
    np.testing.assert_array_equal(session.run(passed[0]), dy)  # a range of nothing is no range


@pytest.mark.parametrize("axis", [1, 2, 2**31 - 2, 2**31 - 1, 2**40, 2**63 - 1])
def test_axes_beyond_the_input_are_refused(axis):
    with tf.Graph().as_default():
        levels = tf.placeholder(tf.qint32, [2])
        for make in (lambda: tf.raw_ops.Dequantize(input=levels, min_range=[0.0], max_range=[1.0], axis=axis),
                     lambda: tf.raw_ops.QuantizeV2(input=[1.0], min_range=[0.0], max_range=[1.0], T=tf.qint8,
                                                   axis=axis),
                     lambda: tf.raw_ops.QuantizeAndDequantizeV4(input=[1.0], input_min=[0.0], input_max=[1.0],
                                                                axis=axis)):
            with pytest.raises(ValueError, match="(?i)axis|at least rank"):
                make()


def test_pools_over_more_than_the_image_end(session):
    x = quantized(np.arange(12).reshape(1, 3, 4, 1), tf.quint8)
    how = dict(min_input=0.0, max_input=1.0, ksize=[1, 2**31 - 1, 1, 1], strides=[1, 1, 1, 1], padding="SAME")
    largest, mean = plain(session, [tf.raw_ops.QuantizedMaxPool(input=x, **how)[0],
                                    tf.raw_ops.QuantizedAvgPool(input=x, **how)[0]])
    assert largest[0, ..., 0].tolist() == [[8, 9, 10, 11]] * 3
    assert mean[0, ..., 0].tolist() == [[4, 5, 6, 7]] * 3


LEVELS = np.arange(0, 256, 17)


def test_sums_and_products(session):
    x, zero, y = quantized(LEVELS, tf.quint8), quantized(0, tf.quint8), quantized(LEVELS[:, None], tf.quint8)
    ranges = {"min_x": -1.0, "max_x": 2.0, "min_y": 0.0, "max_y": 1.0}
    total, low, high = plain(session, tf.raw_ops.QuantizedAdd(x=x, y=zero, **ranges))
    assert total.tolist() == [  # recorded, as the next one
        -65536, -52429, -39322, -26215, -13108, -1, 13106, 26213, 39320, 52427, 65534, 78641, 91748, 104855, 117962,
        131069]
    assert (low, high) == (-32768, 32768)
    assert plain(session, tf.raw_ops.QuantizedAdd(x=x, y=x, **ranges))[0].tolist() == [
        -65536, -48060, -30584, -13108, 4368, 21844, 39320, 56796, 74272, 91748, 109224, 126700, 144176, 161652,
        179128, 196604]
    product, low, high = plain(session, tf.raw_ops.QuantizedMul(x=x, y=y, **ranges))
    np.testing.assert_array_equal(product, (LEVELS - 85) * LEVELS[:, None])
    values = (LEVELS / 85 - 1) * (LEVELS / 255)[:, None]
    np.testing.assert_allclose(product * (high - low) / 2**32, values, atol=1e-6)
    for op in (tf.raw_ops.QuantizedAdd, tf.raw_ops.QuantizedMul):
        with pytest.raises(tf.errors.InvalidArgumentError, match="must be larger than min_x"):
            session.run(op(x=x, y=zero, **dict(ranges, max_x=-1.0))[0])


def test_joined_in_one_range(session):
    x = quantized(LEVELS[::3], tf.quint8)
    for op, axis in ((tf.raw_ops.QuantizedConcat, "concat_dim"), (tf.raw_ops.QuantizedConcatV2, "axis")):
        joined, low, high = plain(session, op(values=[x, x], input_mins=[1.0, 0.0], input_maxes=[2.0, 2.0],
                                              **{axis: 0}))
        assert joined.tolist() == [128, 153, 179, 204, 230, 255] + LEVELS[::3].tolist() and (low, high) == (0, 2)
    with pytest.raises(tf.errors.InvalidArgumentError, match=r"in the range \[0, 1\), but got 1"):
        session.run(tf.raw_ops.QuantizedConcat(concat_dim=tf.placeholder_with_default(1, []), values=[x, x],
                                               input_mins=[0.0, 0.0], input_maxes=[1.0, 1.0])[0])
    shaped = plain(session, tf.raw_ops.QuantizedReshape(tensor=x, shape=[-1, 2], input_min=0.5, input_max=2.0))
    np.testing.assert_array_equal(shaped[0], LEVELS[::3].reshape(3, 2))
    assert shaped[1:] == [0.5, 2.0]


def test_normalised_images(session):
    levels = RANDOM.randint(0, 256, [2, 3, 5, 4])
    x = levels * (4 / 255) - 1
    normal = (x - x.mean((1, 2), keepdims=True)) / np.sqrt(x.var((1, 2), keepdims=True) + 1e-5)
    got, low, high = plain(session, tf.raw_ops.QuantizedInstanceNorm(x=quantized(levels, tf.quint8), x_min=-1.0,
                                                                     x_max=3.0))
    np.testing.assert_allclose([low, high], [normal.min(), normal.max()], rtol=1e-5)
    np.testing.assert_allclose(low + got * (high - low) / 255, normal, atol=(high - low) / 255)
    given = tf.raw_ops.QuantizedInstanceNorm(x=quantized(levels, tf.quint8), x_min=-1.0, x_max=3.0, given_y_min=-2.0,
                                             given_y_max=2.0, output_range_given=True)
    assert plain(session, given)[1:] == [-2, 2]
    with pytest.raises(tf.errors.InvalidArgumentError, match="input_min must be less than input_max"):
        session.run(tf.raw_ops.QuantizedInstanceNorm(x=quantized(levels, tf.quint8), x_min=1.0, x_max=1.0)[1])

    channel = RANDOM.randint(100, 256, [4])
    one = {f"{n}{e}": v for n in ("t", "m", "v", "beta", "gamma") for e, v in (("_min", -2.0), ("_max", 2.0))}
    vector = quantized(channel, tf.quint8)
    for scaled in (False, True):
        total, low, high = plain(session, tf.raw_ops.QuantizedBatchNormWithGlobalNormalization(
            t=quantized(levels, tf.quint8), m=vector, v=quantized([255] * 4, tf.quint8), beta=vector, gamma=vector,
            out_type=tf.qint32, variance_epsilon=0.001, scale_after_normalization=scaled, **one))
        t, c = levels * (4 / 255) - 2, channel * (4 / 255) - 2
        expected = (t - c) / np.sqrt(2.001) * (c if scaled else 1) + c
        np.testing.assert_allclose(total * ((high - low) / 2**32), expected, atol=0.02)
