"""tf.spectral"""
FROM = {
    "ops.signal.dct_ops": "dct idct",
    "ops.signal.fft_ops": "fft fft2d fft3d ifft ifft2d ifft3d irfft irfft2d irfft3d rfft rfft2d rfft3d",
}
