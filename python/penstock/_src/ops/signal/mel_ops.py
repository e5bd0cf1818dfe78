"""The mel scale: frequencies as the ear hears them."""
from penstock._src.graph import dtypes, gen, ops, tensor_util
from penstock._src.core_ops import array_ops
from penstock._src.ops.signal import shape_ops

__all__ = ["linear_to_mel_weight_matrix"]
BREAK_HERTZ = 700.0
HIGH_FREQUENCY_Q = 1127.0


def _mel_to_hertz(mel_values, name=None):
    with ops.name_scope(name, "mel_to_hertz", [mel_values]):
        mel_values = ops.convert_to_tensor(mel_values)
        return BREAK_HERTZ * (gen.exp(mel_values / HIGH_FREQUENCY_Q) - 1.0)


def _hertz_to_mel(frequencies_hertz, name=None):
    with ops.name_scope(name, "hertz_to_mel", [frequencies_hertz]):
        frequencies_hertz = ops.convert_to_tensor(frequencies_hertz)
        return HIGH_FREQUENCY_Q * gen.log(1.0 + frequencies_hertz / BREAK_HERTZ)


def _validate(num_mel_bins, sample_rate, lower, upper, dtype):
    if num_mel_bins <= 0:
        raise ValueError(f"num_mel_bins must be positive. Got: {num_mel_bins}")
    if sample_rate <= 0.0:
        raise ValueError(f"sample_rate must be positive. Got: {sample_rate}")
    if lower < 0.0:
        raise ValueError(f"lower_edge_hertz must be non-negative. Got: {lower}")
    if lower >= upper:
        raise ValueError(f"lower_edge_hertz {lower:.1f} >= upper_edge_hertz {upper:.1f}")
    if upper > sample_rate / 2:
        raise ValueError("upper_edge_hertz must not be larger than the Nyquist frequency (sample_rate / 2). "
                         f"Got: {upper} for sample_rate: {sample_rate}")
    if not dtype.is_floating:
        raise ValueError(f"dtype must be a floating point type. Got: {dtype}")


def linear_to_mel_weight_matrix(num_mel_bins=20, num_spectrogram_bins=129, sample_rate=8000, lower_edge_hertz=125.0,
                                upper_edge_hertz=3800.0, dtype=dtypes.float32, name=None):
    """The matrix that takes spectrograms to mel bands: triangles that overlap by half."""
    with ops.name_scope(name, "linear_to_mel_weight_matrix") as name:
        if isinstance(sample_rate, ops.Tensor):
            sample_rate = tensor_util.constant_value(sample_rate)
            if sample_rate is None:
                raise ValueError("`sample_rate` was a non-constant Tensor. Must be a Python float or a constant "
                                 "Tensor.")
        _validate(num_mel_bins, sample_rate, lower_edge_hertz, upper_edge_hertz, dtype)
        sample_rate = ops.convert_to_tensor(sample_rate, dtype, name="sample_rate")
        lower = ops.convert_to_tensor(lower_edge_hertz, dtype, name="lower_edge_hertz")
        upper = ops.convert_to_tensor(upper_edge_hertz, dtype, name="upper_edge_hertz")
        zero = ops.convert_to_tensor(0.0, dtype)
        linear = gen.lin_space(zero, sample_rate / 2.0, num_spectrogram_bins)[1:]  # frequency 0 has no weight
        bins = array_ops.expand_dims(_hertz_to_mel(linear), 1)
        edges = shape_ops.frame(gen.lin_space(_hertz_to_mel(lower), _hertz_to_mel(upper), num_mel_bins + 2),
                                frame_length=3, frame_step=1)
        lower, center, upper = (array_ops.reshape(t, [1, num_mel_bins]) for t in array_ops.split(edges, 3, axis=1))
        rising = (bins - lower) / (center - lower)
        falling = (upper - bins) / (upper - center)
        weights = gen.maximum(zero, gen.minimum(rising, falling))
        return array_ops.pad(weights, [[1, 0], [0, 0]], name=name)
