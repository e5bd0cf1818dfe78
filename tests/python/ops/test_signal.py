"""Fourier and cosine transforms against NumPy, their gradients against differences, frames and spectrograms."""
import numpy as np
import pytest

import penstock.v1 as tf

RNG = np.random.RandomState(0)
NAMES = {1: "", 2: "2d", 3: "3d"}


@pytest.mark.parametrize("rank", NAMES)
@pytest.mark.parametrize("n", [1, 4, 6, 7, 37])  # 37 is a prime beyond the plain transforms
def test_complex(rank, n):
    x = RNG.normal(size=[2, n, 3, 4][:rank + 1]) + 1j * RNG.normal(size=[2, n, 3, 4][:rank + 1])
    axes = range(1, rank + 1)
    with tf.Graph().as_default(), tf.Session() as sess:
        for dtype, tolerance in ((np.complex64, 2e-5), (np.complex128, 1e-12)):
            y = sess.run(getattr(tf.signal, "fft" + NAMES[rank])(tf.constant(x.astype(dtype))))
            np.testing.assert_allclose(y, np.fft.fftn(x, axes=axes), atol=tolerance * n * 10)
            y = sess.run(getattr(tf.signal, "ifft" + NAMES[rank])(tf.constant(x.astype(dtype))))
            np.testing.assert_allclose(y, np.fft.ifftn(x, axes=axes), atol=tolerance)


@pytest.mark.parametrize("dtype, tolerance", [(np.complex64, 1e-6), (np.complex128, 1e-14)])
@pytest.mark.parametrize("n", [9, 16, 26, 35, 66, 143, 211, 1024])
def test_many_lines_at_a_time(n, dtype, tolerance):
    """Groups that are full and one that is not, along memory and across it; real and complex; small factors and not."""
    x = (RNG.normal(size=[37, n]) + 1j * RNG.normal(size=[37, n])).astype(dtype)
    real = np.ascontiguousarray(x.real)
    with tf.Graph().as_default(), tf.Session() as sess:
        z, r = tf.constant(x), tf.constant(real)
        got = sess.run([tf.signal.fft(z), tf.signal.ifft2d(z), tf.signal.rfft(r), tf.signal.rfft2d(r),
                        tf.signal.irfft(z[:, :n // 2 + 1], [n])])
    half = x[:, :n // 2 + 1].astype(np.complex128)
    for y, wanted in zip(got, (np.fft.fft(x), np.fft.ifft2(x), np.fft.rfft(real), np.fft.rfft2(real),
                               np.fft.irfft(half, n))):
        assert np.linalg.norm(y - wanted) < tolerance * np.linalg.norm(wanted)


@pytest.mark.parametrize("rank", NAMES)
@pytest.mark.parametrize("length", [[4, 3, 6], [5, 4, 7], [2, 1, 1]])
def test_real(rank, length):
    length = length[-rank:]
    x = RNG.normal(size=[2, 3, 4, 5][-rank - 1:])
    axes = list(range(1, rank + 1))
    with tf.Graph().as_default(), tf.Session() as sess:
        y = getattr(tf.signal, "rfft" + NAMES[rank])(tf.constant(x), length)
        expected = np.fft.rfftn(x, s=length, axes=axes)
        np.testing.assert_allclose(sess.run(y), expected, atol=1e-10)
        back = getattr(tf.signal, "irfft" + NAMES[rank])(y, length)
        np.testing.assert_allclose(sess.run(back), np.fft.irfftn(expected, s=length, axes=axes), atol=1e-10)
        y = getattr(tf.signal, "rfft" + NAMES[rank])(tf.constant(x.astype(np.float32)))
        np.testing.assert_allclose(sess.run(y), np.fft.rfftn(x, axes=axes), atol=1e-4)


@pytest.mark.parametrize("rank", NAMES)
def test_gradients(rank):
    for last in (4, 5):
        shape = [2, 3, 3, last][3 - rank:]
        with tf.Graph().as_default(), tf.Session():
            x = tf.constant(RNG.normal(size=shape))
            y = getattr(tf.signal, "rfft" + NAMES[rank])(x)
            z = getattr(tf.signal, "irfft" + NAMES[rank])(y * tf.cast(tf.reshape(tf.range(
                tf.size(y, out_type=tf.int32)), tf.shape(y)), tf.complex128), shape[1:])
            parts = tf.concat([tf.real(y), tf.imag(y)], -1)
            assert tf.test.compute_gradient_error(x, shape, parts, parts.shape.as_list()) < 1e-6
            assert tf.test.compute_gradient_error(x, shape, z, shape) < 1e-4
            c = getattr(tf.signal, "ifft" + NAMES[rank])(
                getattr(tf.signal, "fft" + NAMES[rank])(tf.complex(x, x * x)) ** 2)
            parts = tf.concat([tf.real(c), tf.imag(c)], -1)
            assert tf.test.compute_gradient_error(x, shape, parts, parts.shape.as_list()) < 1e-4


def test_bad_lengths_are_refused():
    with tf.Graph().as_default(), tf.Session() as sess:
        length = tf.placeholder(tf.int32)
        y = tf.raw_ops.RFFT(input=np.zeros([3, 4], np.float32), fft_length=length)
        for bad, message in ([[-1], ">= 0"], [[5], "at least 5 but got: 4"], [[1, 2], "must have shape"]):
            with pytest.raises(tf.errors.InvalidArgumentError, match=message):
                sess.run(y, {length: bad})


def test_cosine_transforms():
    x = RNG.normal(size=[3, 8])
    k, n = np.arange(8)[:, None], np.arange(8)[None]
    second = 2 * x @ np.cos(np.pi * k * (2 * n + 1) / 16).T
    with tf.Graph().as_default(), tf.Session() as sess:
        np.testing.assert_allclose(sess.run(tf.signal.dct(tf.constant(x))), second, atol=1e-9)
        for kind in (2, 3, 4):
            there = tf.signal.dct(tf.constant(x), kind, norm="ortho")
            np.testing.assert_allclose(sess.run(tf.signal.idct(there, kind, norm="ortho")), x, atol=1e-6)


def test_frames_windows_and_spectrograms():
    x = RNG.normal(size=[2, 50]).astype(np.float32)
    with tf.Graph().as_default(), tf.Session() as sess:
        frames = sess.run(tf.signal.frame(tf.constant(x), 12, 5, pad_end=True))
        padded = np.pad(x, [[0, 0], [0, 20]])
        np.testing.assert_array_equal(frames, np.stack([padded[:, i:i + 12] for i in range(0, 50, 5)], 1))
        whole = sess.run(tf.signal.overlap_and_add(tf.constant(frames[:, :, :10]), 5))
        np.testing.assert_allclose(whole[:, 5:50], 2 * x[:, 5:], atol=1e-6)
        np.testing.assert_allclose(sess.run(tf.signal.hann_window(8)), 0.5 - 0.5 * np.cos(np.arange(8) * np.pi / 4),
                                   atol=1e-6)
        spectra = tf.signal.stft(tf.constant(x), 16, 4)
        windowed = x[0, 4:20] * (0.5 - 0.5 * np.cos(np.arange(16) * np.pi / 8))
        np.testing.assert_allclose(sess.run(spectra)[0, 1], np.fft.rfft(windowed), atol=1e-5)
        back = tf.signal.inverse_stft(spectra, 16, 4, window_fn=tf.signal.inverse_stft_window_fn(4))
        np.testing.assert_allclose(sess.run(back)[:, 16:32], x[:, 16:32], atol=1e-5)
        coded = tf.signal.inverse_mdct(tf.signal.mdct(tf.constant(x[:, :48]), 16))
        np.testing.assert_allclose(sess.run(coded)[:, 8:40], x[:, 8:40], atol=1e-5)
        weights = sess.run(tf.signal.linear_to_mel_weight_matrix())
        assert weights.shape == (129, 20) and weights.min() == 0 and 0.9 < weights.max() <= 1
        shifted = sess.run(tf.signal.ifftshift(tf.signal.fftshift(tf.constant(x))))
        np.testing.assert_array_equal(shifted, x)
