"""Histograms of fixed width."""
from penstock._src.graph import dtypes, gen, ops
from penstock._src.base import tf2
from penstock._src.core_ops import array_ops, clip_ops, math_ops
from penstock._src.control_flow import control_flow_ops

__all__ = ["histogram_fixed_width", "histogram_fixed_width_bins"]


def histogram_fixed_width_bins(values, value_range, nbins=100, dtype=dtypes.int32, name=None):
    """The bin of each value; what lies outside of the range goes to the first or last.

    nbins: a scalar above 0 (in version 2 InvalidArgumentError otherwise).
    """
    del dtype
    with ops.name_scope(name, "histogram_fixed_width_bins", [values, value_range, nbins]):
        values = ops.convert_to_tensor(values, name="values")
        shape = array_ops.shape(values)
        values = array_ops.reshape(values, [-1])
        value_range = ops.convert_to_tensor(value_range, name="value_range")
        nbins = ops.convert_to_tensor(nbins, dtype=dtypes.int32, name="nbins")
        if tf2.enabled():
            positive = control_flow_ops.Assert(gen.greater(nbins, 0), [f"nbins {nbins} must > 0"])
            nbins = control_flow_ops.with_dependencies([positive], nbins)
        count = math_ops.cast(nbins, values.dtype)
        scaled = math_ops.truediv(values - value_range[0], value_range[1] - value_range[0], name="scaled_values")
        indices = gen.floor(count * scaled, name="indices")
        indices = math_ops.cast(clip_ops.clip_by_value(indices, 0, count - 1), dtypes.int32)
        return array_ops.reshape(indices, shape)


def histogram_fixed_width(values, value_range, nbins=100, dtype=dtypes.int32, name=None):
    """How many values fall into each of `nbins` equal parts of the range."""
    with ops.name_scope(name, "histogram_fixed_width", [values, value_range, nbins]) as name:
        return gen.histogram_fixed_width(values, value_range, nbins, dtype=dtype, name=name)
