"""tf.contrib.signal."""
FROM = {
    "ops.signal.dct_ops": "dct idct",
    "ops.signal.mel_ops": "linear_to_mel_weight_matrix",
    "ops.signal.mfcc_ops": "mfccs_from_log_mel_spectrograms",
    "ops.signal.reconstruction_ops": "overlap_and_add",
    "ops.signal.shape_ops": "frame",
    "ops.signal.spectral_ops": "inverse_stft inverse_stft_window_fn stft",
    "ops.signal.window_ops": "hamming_window hann_window",
}
