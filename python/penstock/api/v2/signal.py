"""tf.signal, version 2."""
FROM = {
    "ops.signal.dct_ops": "dct idct",
    "ops.signal.fft_ops": """
        fft fft2d fft3d fftnd fftshift ifft ifft2d ifft3d ifftnd ifftshift irfft irfft2d irfft3d irfftnd rfft rfft2d
        rfft3d rfftnd""",
    "ops.signal.mel_ops": "linear_to_mel_weight_matrix",
    "ops.signal.mfcc_ops": "mfccs_from_log_mel_spectrograms",
    "ops.signal.reconstruction_ops": "overlap_and_add",
    "ops.signal.shape_ops": "frame",
    "ops.signal.spectral_ops": "inverse_mdct inverse_stft inverse_stft_window_fn mdct stft",
    "ops.signal.window_ops": """
        hamming_window hann_window kaiser_bessel_derived_window kaiser_window vorbis_window""",
}
