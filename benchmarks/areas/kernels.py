"""Single kernels and small fusible groups, run by session.run on variables, so that no feed is measured.

KERNELS is shared with the peers: name -> inputs, work, and the TensorFlow expression.
"""

from dataclasses import dataclass
from typing import Callable, Optional

import numpy as np

from areas.graph_util import Weights
from harness import Case, bench


@dataclass
class Kernel:
    inputs: Callable[[], list]              # NumPy arrays
    tf: Callable                            # (tf, *variables) -> tensor
    flops: float = 0
    bytes: Optional[float] = None           # None: all inputs and the output, once
    check: bool = True
    peak: str = "fma_f32_gflops"


KERNELS: dict[str, Kernel] = {}
RNG = np.random.default_rng(0)


def f(*shape):
    return RNG.standard_normal(shape, np.float32)


def add(name, inputs, tf, **work):
    KERNELS[name] = Kernel(inputs, tf, **work)


def make(kernel: Kernel):
    def case(tf):
        global RNG
        RNG = np.random.default_rng(0)
        arrays = kernel.inputs()
        graph = tf.Graph()
        with graph.as_default():
            weights = Weights(tf)
            y = kernel.tf(tf, *[weights.variable(a, trainable=False) for a in arrays])
            outputs = list(y) if isinstance(y, (list, tuple)) else [y]
            sess = tf.Session(graph=graph)
            weights.initialize(sess)
            # One element is fetched: work whose result nobody takes could be left out, all of it would be copied.
            run = sess.make_callable(tf.reshape(outputs[0], [-1])[0])
        values = [np.asarray(v) for v in sess.run(outputs)]
        nbytes = kernel.bytes if kernel.bytes is not None else sum(a.nbytes for a in arrays + values)
        digest = float(np.mean(np.abs(values[0].astype(np.float64))))
        return Case(run, flops=kernel.flops, bytes=nbytes, peak=kernel.peak, close=sess.close,
                    check=(lambda: digest) if kernel.check else None)
    return case


# Matrix products

for n in (256, 1024, 2048):
    add(f"matmul_{n}", lambda n=n: [f(n, n), f(n, n)], lambda tf, a, b: tf.matmul(a, b), flops=2 * n**3)
add("matmul_1024_transposed", lambda: [f(1024, 1024), f(1024, 1024)],
    lambda tf, a, b: tf.matmul(a, b, transpose_b=True), flops=2 * 1024**3)
add("matmul_1024_bf16", lambda: [f(1024, 1024), f(1024, 1024)],
    lambda tf, a, b: tf.matmul(tf.cast(a, tf.bfloat16), tf.cast(b, tf.bfloat16)), flops=2 * 1024**3, check=False,
    peak="dot_bf16_gflops")
add("matvec_4096", lambda: [f(1, 4096), f(4096, 4096)], lambda tf, a, b: tf.matmul(a, b), flops=2 * 4096**2)
add("matmul_skinny_32x1024x1024", lambda: [f(32, 1024), f(1024, 1024)], lambda tf, a, b: tf.matmul(a, b),
    flops=2 * 32 * 1024**2)
add("batch_matmul_64x128x64", lambda: [f(64, 128, 64), f(64, 64, 128)], lambda tf, a, b: tf.matmul(a, b),
    flops=2 * 64 * 128 * 64 * 128)

# Convolutions: (batch, height and width, channels in, channels out, filter, stride), NHWC

CONVS = {"conv7x7_s2_224x3x64": (4, 224, 3, 64, 7, 2), "conv3x3_56x64x64": (8, 56, 64, 64, 3, 1),
         "conv1x1_56x256x64": (8, 56, 256, 64, 1, 1), "conv3x3_14x256x256": (8, 14, 256, 256, 3, 1)}


def conv_inputs(n, hw, ci, co, k, s):
    return [f(n, hw, hw, ci), f(k, k, ci, co) / np.float32(k * np.sqrt(ci))]


def conv_flops(n, hw, ci, co, k, s):
    return 2.0 * n * (hw // s) ** 2 * ci * co * k * k


for name, c in CONVS.items():
    n, hw, ci, co, k, s = c
    strides = [1, s, s, 1]
    add(name, lambda c=c: conv_inputs(*c),
        lambda tf, x, w, s=strides: tf.nn.conv2d(x, w, strides=s, padding="SAME"), flops=conv_flops(*c))
    if k != 3:
        continue
    add(name + "_grad_input", lambda c=c: [f(c[0], c[1], c[1], c[3]), conv_inputs(*c)[1]],
        lambda tf, dy, w, c=c: tf.nn.conv2d_backprop_input([c[0], c[1], c[1], c[2]], w, dy, [1, 1, 1, 1], "SAME"),
        flops=conv_flops(*c))
    add(name + "_grad_filter", lambda c=c: [conv_inputs(*c)[0], f(c[0], c[1], c[1], c[3])],
        lambda tf, x, dy, c=c: tf.nn.conv2d_backprop_filter(x, [c[4], c[4], c[2], c[3]], dy, [1, 1, 1, 1], "SAME"),
        flops=conv_flops(*c))
add("conv3x3_56x64x64_bias_relu", lambda: conv_inputs(8, 56, 64, 64, 3, 1) + [f(64)],
    lambda tf, x, w, b: tf.nn.relu(tf.nn.bias_add(tf.nn.conv2d(x, w, strides=[1] * 4, padding="SAME"), b)),
    flops=conv_flops(8, 56, 64, 64, 3, 1))
add("depthwise3x3_56x128", lambda: [f(8, 56, 56, 128), f(3, 3, 128, 1)],
    lambda tf, x, w: tf.nn.depthwise_conv2d(x, w, [1] * 4, "SAME"), flops=2 * 8 * 56 * 56 * 128 * 9)

# Layers

add("maxpool3x3_s2_112x64", lambda: [f(8, 112, 112, 64)],
    lambda tf, x: tf.nn.max_pool(x, [1, 3, 3, 1], [1, 2, 2, 1], "SAME"))
add("avgpool_7x2048", lambda: [f(32, 7, 7, 2048)], lambda tf, x: tf.reduce_mean(x, [1, 2]))
add("batch_norm_train_56x64", lambda: [f(8, 56, 56, 64), f(64), f(64)],
    lambda tf, x, s, o: tf.nn.fused_batch_norm(x, s, o, is_training=True)[0])
add("batch_norm_infer_56x64", lambda: [f(8, 56, 56, 64), f(64), f(64), f(64), f(64) ** 2],
    lambda tf, x, s, o, m, v: tf.nn.fused_batch_norm(x, s, o, m, v, is_training=False)[0])
add("bias_relu_25mb", lambda: [f(8, 56, 56, 256), f(256)], lambda tf, x, b: tf.nn.relu(tf.nn.bias_add(x, b)))
add("softmax_512x10000", lambda: [f(512, 10000)], lambda tf, x: tf.nn.softmax(x))
add("softmax_xent_512x10000", lambda: [f(512, 10000), np.arange(512)],
    lambda tf, x, y: tf.nn.sparse_softmax_cross_entropy_with_logits(labels=y, logits=x))
add("layer_norm_4096x1024", lambda: [f(4096, 1024), f(1024), f(1024)], lambda tf, x, g, b: layer_norm(tf, x, g, b))


def layer_norm(tf, x, g, b):
    mean, variance = tf.nn.moments(x, [-1], keepdims=True)
    return (x - mean) * tf.rsqrt(variance + 1e-5) * g + b


# Elementwise, 4M floats (16 MB)

M4 = 4 << 20


def chain10(lib, x, a, maximum, minimum):
    y = maximum((x + a) * 0.5, -1.0)
    y = minimum(y - x, 2.0) * y
    return maximum(y * y + a, x) - 0.25


add("elementwise_add_4m", lambda: [f(M4), f(M4)], lambda tf, x, a: x + a)
add("elementwise_chain10_4m", lambda: [f(M4), f(M4)], lambda tf, x, a: chain10(tf, x, a, tf.maximum, tf.minimum))
for name in ("exp", "tanh", "sigmoid", "log"):
    add(f"{name}_4m", lambda: [np.abs(f(M4)) + np.float32(0.1)],
        lambda tf, x, name=name: getattr(tf, name)(x))
add("asin_4m", lambda: [np.tanh(f(M4))], lambda tf, x: tf.asin(x))
add("atan2_4m", lambda: [f(M4), f(M4)], lambda tf, y, x: tf.atan2(y, x))
add("erfc_4m", lambda: [f(M4)], lambda tf, x: tf.math.erfc(x))
for name in ("exp", "tanh"):
    add(f"{name}_f64_4m", lambda: [f(M4).astype(np.float64)], lambda tf, x, name=name: getattr(tf, name)(x))
add("exp_c64_1m", lambda: [(f(1 << 20) + 1j * f(1 << 20)).astype(np.complex64)], lambda tf, x: tf.exp(x), check=False)
add("leaky_relu_4m", lambda: [f(M4)], lambda tf, x: tf.nn.leaky_relu(x))
add("floordiv_i32_4m", lambda: [RNG.integers(-10**6, 10**6, M4, np.int32), RNG.integers(1, 1000, M4, np.int32)],
    lambda tf, x, y: x // y)
add("fake_quant_4m", lambda: [f(M4)], lambda tf, x: tf.quantization.fake_quant_with_min_max_args(x, -3.0, 3.0))
add("quantize_4m", lambda: [f(M4)],
    lambda tf, x: tf.bitcast(tf.quantization.quantize(x, -3.0, 3.0, tf.quint8)[0], tf.uint8))
add("gelu_4m", lambda: [f(M4)],
    lambda tf, x: 0.5 * x * (1.0 + tf.tanh(0.7978845608 * (x + 0.044715 * x * x * x))))
add("select_4m", lambda: [f(M4), f(M4)], lambda tf, x, a: tf.where(x > a, x, a))
add("cast_f32_bf16_4m", lambda: [f(M4)], lambda tf, x: tf.cast(x, tf.bfloat16), bytes=6 * M4, check=False)
add("broadcast_add_4096x1024", lambda: [f(4096, 1), f(1, 1024)], lambda tf, x, a: x + a)

# Reductions, [256, 256, 256] (64 MB)

for axis in (0, 1, 2):
    add(f"reduce_sum_axis{axis}", lambda: [f(256, 256, 256)], lambda tf, x, axis=axis: tf.reduce_sum(x, axis))
add("reduce_max_all", lambda: [f(256, 256, 256)], lambda tf, x: tf.reduce_max(x))
add("argmax_last_axis", lambda: [f(4096, 1024)], lambda tf, x: tf.argmax(x, 1))
add("cumsum_axis0_1024x4096", lambda: [f(1024, 4096)], lambda tf, x: tf.cumsum(x, 0))
add("cumsum_axis1_1024x4096", lambda: [f(1024, 4096)], lambda tf, x: tf.cumsum(x, 1))

# Moving data

add("transpose_4096x4096", lambda: [f(4096, 4096)], lambda tf, x: tf.transpose(x))
add("transpose_nhwc_nchw", lambda: [f(8, 56, 56, 256)], lambda tf, x: tf.transpose(x, [0, 3, 1, 2]))
add("transpose_heads_8x128x8x64", lambda: [f(32, 128, 8, 64)], lambda tf, x: tf.transpose(x, [0, 2, 1, 3]))
add("concat_axis1", lambda: [f(1024, 1024) for _ in range(4)], lambda tf, *x: tf.concat(list(x), 1))
add("split_axis1", lambda: [f(1024, 4096)], lambda tf, x: tf.split(x, 4, 1))
add("strided_slice", lambda: [f(2048, 4096)], lambda tf, x: x[::2, 1:-1:3])
add("pad_2d", lambda: [f(2048, 2048)], lambda tf, x: tf.pad(x, [[1, 1], [3, 3]]))
add("tile", lambda: [f(256, 256)], lambda tf, x: tf.tile(x, [8, 8]))
add("one_hot_4096x1000", lambda: [np.arange(4096) % 1000], lambda tf, i: tf.one_hot(i, 1000))


def ids(n, limit):
    return RNG.integers(0, limit, n)


ROWS = 100_000 * 64 * 4
add("gather_rows_100k_of_200k", lambda: [f(200_000, 64), ids(100_000, 200_000)],
    lambda tf, t, i: tf.gather(t, i), bytes=2 * ROWS)
add("embedding_lookup_100k", lambda: [f(200_000, 64), ids(100_000, 200_000)],
    lambda tf, t, i: tf.nn.embedding_lookup(t, i), bytes=2 * ROWS)
add("scatter_add_100k", lambda: [f(200_000, 64), ids(100_000, 200_000), f(100_000, 64)],
    lambda tf, t, i, u: tf.scatter_add(t, i, u), bytes=3 * ROWS, check=False)
add("unsorted_segment_sum_100k", lambda: [f(100_000, 64), ids(100_000, 1000)],
    lambda tf, u, i: tf.unsorted_segment_sum(u, i, 1000), bytes=ROWS)

# Selection, random numbers, sparse

add("top_k_10_of_10000", lambda: [f(256, 10000)], lambda tf, x: tf.nn.top_k(x, 10)[0])
add("sort_1m", lambda: [f(1 << 20)], lambda tf, x: tf.sort(x))
add("sort_rows_1024x1024", lambda: [f(1024, 1024)], lambda tf, x: tf.sort(x, axis=1))
add("unique_1m", lambda: [ids(1 << 20, 50_000)], lambda tf, x: tf.unique(x)[0])
add("random_normal_4m", lambda: [], lambda tf: tf.random_normal([M4], seed=1), check=False)
add("random_uniform_4m", lambda: [], lambda tf: tf.random_uniform([M4], seed=1), check=False)
add("truncated_normal_4m", lambda: [], lambda tf: tf.truncated_normal([M4], seed=1), check=False)


def sparse_inputs(n=10_000, nnz=1_000_000, k=64):
    flat = np.unique(RNG.integers(0, n * n, nnz))
    return [np.stack([flat // n, flat % n], 1), f(len(flat)), f(n, k)]


add("sparse_dense_matmul_1m_nnz", sparse_inputs,
    lambda tf, i, v, b: tf.sparse_tensor_dense_matmul(tf.SparseTensor(i, v, [10_000, 10_000]), b),
    flops=2 * 995_000 * 64)

# Linear algebra, Fourier transforms, images, text


def definite(n):
    x = f(n, n)
    return x @ x.T + n * np.eye(n, dtype=np.float32)


add("eigh_200", lambda: [definite(200)], lambda tf, x: tf.linalg.eigh(x)[0])
add("svd_100", lambda: [f(100, 100)], lambda tf, x: tf.linalg.svd(x)[0])
add("qr_200", lambda: [f(200, 200)], lambda tf, x: tf.abs(tf.linalg.qr(x)[1]))
add("solve_200", lambda: [definite(200), f(200, 50)], lambda tf, a, b: tf.linalg.solve(a, b))
add("batch_inverse_1000x8", lambda: [f(1000, 8, 8) + 8 * np.eye(8, dtype=np.float32)],
    lambda tf, x: tf.linalg.inv(x))
add("matmul_200_c64", lambda: [f(200, 200) + 1j * f(200, 200)],
    lambda tf, x: tf.abs(tf.matmul(x, x)), flops=8 * 200 ** 3)
add("fft_64x1024", lambda: [f(64, 1024)], lambda tf, x: tf.abs(tf.signal.fft(tf.cast(x, tf.complex64))))
add("fft_64x1009", lambda: [f(64, 1009)], lambda tf, x: tf.abs(tf.signal.fft(tf.cast(x, tf.complex64))))
add("rfft2d_8x128x128", lambda: [f(8, 128, 128)], lambda tf, x: tf.abs(tf.signal.rfft2d(x)))
add("hsv_to_rgb", lambda: [RNG.random((4, 224, 224, 3), np.float32)], lambda tf, x: tf.image.hsv_to_rgb(x))
add("resize_bilinear_224_to_448", lambda: [f(4, 224, 224, 3)],
    lambda tf, x: tf.image.resize_bilinear(x, [448, 448]))
add("png_round_trip_224", lambda: [RNG.integers(0, 255, (224, 224, 3)).astype(np.uint8)],
    lambda tf, x: tf.image.decode_png(tf.image.encode_png(x)))
add("conv3x3_28x64x64_dilated", lambda: [f(8, 28, 28, 64), f(3, 3, 64, 64)],
    lambda tf, x, w: tf.nn.conv2d(x, w, [1, 1, 1, 1], "SAME", dilations=[1, 2, 2, 1]),
    flops=2 * 8 * 28 * 28 * 9 * 64 * 64)
add("depthwise11x11_224x3", lambda: [f(4, 224, 224, 3), f(11, 11, 3, 1)],
    lambda tf, x, w: tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "VALID"), flops=2 * 4 * 214 * 214 * 121 * 3)
add("lrn_28x64", lambda: [f(8, 28, 28, 64)], lambda tf, x: tf.nn.local_response_normalization(x))
add("as_string_20k", lambda: [f(20_000)], lambda tf, x: tf.strings.as_string(x))

for kernel_name, k in KERNELS.items():
    bench("kernels/" + kernel_name, "v1")(make(k))
