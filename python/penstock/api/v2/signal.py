"""tf.signal."""
FROM = {
    "framework.gen": "fft fft2d fft3d ifft ifft2d ifft3d",
}
