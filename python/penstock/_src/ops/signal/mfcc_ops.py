"""Mel-frequency cepstral coefficients."""
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.ops.signal import dct_ops

__all__ = ["mfccs_from_log_mel_spectrograms"]


def mfccs_from_log_mel_spectrograms(log_mel_spectrograms, name=None):
    """The cosine transforms of log-magnitude mel spectrograms."""
    with ops.name_scope(name, "mfccs_from_log_mel_spectrograms", [log_mel_spectrograms]):
        spectrograms = ops.convert_to_tensor(log_mel_spectrograms)
        bins = spectrograms.shape.dims[-1].value if spectrograms.shape.ndims else None
        if bins == 0:
            raise ValueError(f"num_mel_bins must be positive. Got: {spectrograms}")
        if bins is None:
            bins = array_ops.shape(spectrograms)[-1]
        return (dct_ops.dct(spectrograms, type=2)
                * gen.rsqrt(math_ops.cast(bins, spectrograms.dtype) * 2.0))
