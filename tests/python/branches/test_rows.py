"""All ways in which rows of a network's activations are computed: softmax and its losses, bias, batch normalisation,
rectified units."""
import numpy as np
from branch_testing import branches

import penstock.v2 as tf


def tolerance(dtype):
    return {"float32": 1e-5, "float64": 1e-12, "float16": 4e-3, "bfloat16": 3e-2}[dtype]


def rounded(x, dtype):
    """`x` as a tensor of the type, and the numbers that it holds."""
    t = tf.cast(tf.constant(x), dtype)
    return t, tf.cast(t, tf.float64).numpy()


@branches("softmax", "log_softmax", "softmax_cross_entropy", "sparse_softmax_cross_entropy")
def test_softmax(case):
    rng = case.random
    # Rows of up to 48 floats are computed together, 64 at a time; longer ones in blocks of 512.
    for n in (1, 2, 7, 16, 47, 48, 49, 50, 63, 65, 511, 512, 513, 1030):
        for dtype in ("float32", "float32", "float64", "float16", "bfloat16"):
            rows = int(rng.choice([1, 2, 63, 64, 65] if n < 60 else [1, 2, 5]))
            logits, x = rounded(rng.standard_normal((rows, n)) * 5, dtype)
            labels, p = rounded(rng.dirichlet(np.ones(n), rows), dtype)
            chosen = rng.integers(0, n, rows)
            log_sum = np.log(np.exp(x - x.max(1, keepdims=True)).sum(1, keepdims=True)) + x.max(1, keepdims=True)
            log_softmax, eps = x - log_sum, tolerance(dtype)
            what, close = str((dtype, rows, n)), case.check

            def value(t):
                return tf.cast(t, tf.float64).numpy()

            close(value(tf.nn.softmax(logits)), np.exp(log_softmax), what, eps, eps)
            close(value(tf.nn.log_softmax(logits)), log_softmax, what, eps, eps * 10)
            loss, dx = tf.raw_ops.SoftmaxCrossEntropyWithLogits(features=logits, labels=labels)
            close(value(loss), -np.sum(p * log_softmax, 1), what, eps * 5, eps * 20)
            close(value(dx), np.exp(log_softmax) * (p.sum(1, keepdims=True) > 0) - p, what, eps, eps)
            loss, dx = tf.raw_ops.SparseSoftmaxCrossEntropyWithLogits(features=logits, labels=tf.constant(chosen))
            close(value(loss), -log_softmax[np.arange(rows), chosen], what, eps * 5, eps * 20)
            close(value(dx), np.exp(log_softmax) - np.eye(n)[chosen], what, eps, eps)


@branches("bias_add", "bias_add_gradient")
def test_bias(case):
    rng = case.random
    for channels in (1, 3, 15, 16, 17, 64, 65, 130):
        # The gradient has a sum of its own for every 65,536 elements, in runs of 256 rows.
        for rows in (1, 7, 255, 256, 257, -(-65536 // channels) * 2 - 1, -(-65536 // channels) * 2 + 1):
            dtype = str(rng.choice(["float32", "float32", "float64", "float16", "bfloat16", "int32"]))
            shape = (rows, channels)
            if rows * channels > 65536 * 2 - 200 and dtype.endswith("16"):
                dtype = "float32"
            x, b = rng.integers(-3, 4, shape).astype(float), rng.integers(-3, 4, channels).astype(float)
            y = tf.nn.bias_add(tf.cast(tf.constant(x), dtype), tf.cast(tf.constant(b), dtype))
            case.check(tf.cast(y, tf.float64).numpy(), x + b, str((dtype, shape)), 0, 0)
            db = tf.cast(tf.raw_ops.BiasAddGrad(out_backprop=tf.cast(tf.constant(x), dtype)), tf.float64).numpy()
            case.check(db, x.sum(0), str((dtype, shape)), 1e-2 if dtype.endswith("16") else 0, 0)
    for inner in (1, 7, 8, 9, 31):
        x, b = rng.integers(-3, 4, (2, 5, inner, 2)).astype(float), rng.integers(-3, 4, 5).astype(float)
        y = tf.nn.bias_add(tf.constant(x, tf.float32), tf.constant(b, tf.float32), "NCHW")
        case.check(y, x + b[:, None, None], str(inner))
        db = tf.raw_ops.BiasAddGrad(out_backprop=tf.constant(x, tf.float32), data_format="NCHW")
        case.check(db, x.sum((0, 2, 3)), str(inner))


@branches("batch_norm/moments", "batch_norm/gradient", "windows/channels")
def test_batch_norm(case):
    rng = case.random
    epsilon = 1e-3
    for channels in (1, 3, 15, 16, 17, 64, 65, 100):
        # One piece of the rows for each 65,536 elements; blocks of 8,192.
        for pixels in (2, 8192 // channels, 8192 // channels + 1, 131072 // channels - 1, 131072 // channels + 1):
            dtype = str(rng.choice(["float32", "float32", "float16"]))
            order = "NCHW" if rng.random() < 0.3 else "NHWC"
            x, values = rounded(rng.standard_normal((2, pixels // 2, 1, channels)) + 3, dtype)
            dy, gradient = rounded(rng.standard_normal(values.shape), dtype)
            scale, offset = rng.standard_normal((2, channels)).astype(np.float32)
            mean, variance = values.mean((0, 1, 2)), values.var((0, 1, 2))
            h = (values - mean) / np.sqrt(variance + epsilon)
            what, eps = str((dtype, order, values.shape)), tolerance(dtype)

            def ordered(t):
                return tf.transpose(t, [0, 3, 1, 2]) if order == "NCHW" else t

            def value(t):
                t = tf.cast(t, tf.float64).numpy()
                return np.moveaxis(t, 1, -1) if order == "NCHW" else t

            out = tf.raw_ops.FusedBatchNormV3(x=ordered(x), scale=scale, offset=offset, mean=[], variance=[],
                                              epsilon=epsilon, data_format=order, is_training=True)
            case.check(value(out.y), h * scale + offset, what, eps, 10 * eps)
            case.check(out.reserve_space_1, mean, what, 1e-5, 1e-5)
            case.check(out.reserve_space_2, variance, what, 1e-5, 1e-5)
            dx, dscale, doffset, *_ = tf.raw_ops.FusedBatchNormGradV3(
                y_backprop=ordered(dy), x=ordered(x), scale=scale, reserve_space_1=out.reserve_space_1,
                reserve_space_2=out.reserve_space_2, reserve_space_3=[], epsilon=epsilon, data_format=order)
            n = values[..., 0].size
            sums = gradient.sum((0, 1, 2)), (gradient * h).sum((0, 1, 2))
            expected = scale / np.sqrt(variance + epsilon) * (gradient - sums[0] / n - h * sums[1] / n)
            case.check(value(dx), expected, what, 10 * eps, 30 * eps)
            case.check(doffset, sums[0], what, 1e-4, 2e-3)
            case.check(dscale, sums[1], what, 1e-4, 2e-3)


@branches("relu_gradient")
def test_gradients_of_rectified_units(case):
    rng = case.random
    for n in (1, 3, 4, 7, 8, 15, 16, 17, 33, 1000):
        for dtype in ("float32", "float64", "float16", "bfloat16", "int32", "int8"):
            x, dy = rng.integers(-9, 10, n).astype(float), rng.integers(-9, 10, n).astype(float)
            if "float" in dtype:
                dy[rng.random(n) < 0.1] = rng.choice([np.inf, np.nan, -np.inf])
                x[rng.random(n) < 0.1] = np.nan
            with np.errstate(invalid="ignore"):
                wanted = dy * (x > 0), dy * ((x > 0) & (x < 6))
            x, dy = tf.cast(tf.constant(x), dtype), tf.cast(tf.constant(dy), dtype)
            for op, expected in zip((tf.raw_ops.ReluGrad, tf.raw_ops.Relu6Grad), wanted):
                case.check(tf.cast(op(gradients=dy, features=x), tf.float64).numpy(), expected, str((dtype, n)))
                fused = tf.function(lambda dy, x, op=op: tf.abs(op(gradients=tf.negative(dy), features=x)))
                case.check(tf.cast(fused(dy, x), tf.float64).numpy(), np.abs(expected), str((dtype, n, "fused")))
    # In a fused expression one gradient may be repeated for all elements.
    fused = tf.function(lambda dy, x: tf.raw_ops.ReluGrad(gradients=tf.fill(tf.shape(x), dy), features=x * 2) + x)
    x = rng.integers(-9, 10, 100).astype(np.float32)
    case.check(fused(tf.constant(3.0), tf.constant(x)), 3 * (x > 0) + x, "repeated")
