"""Quantization of a tensor to a range that is learned: that of the last batch, or a moving average."""
from penstock._src.graph import gen
from penstock._src.graph import ops
from penstock._src.ops.state import init_ops
from penstock._src.core_ops import math_ops
from penstock._src.ops.state import state_ops
from penstock._src.ops.state import variable_scope
from penstock._src.training import moving_averages

_REDUCED = {1: None, 2: [0], 4: [0, 1, 2]}  # axes of a tensor with that many, for a range of each channel


def LastValueQuantize(inputs, per_channel=False, init_min=-6.0, init_max=6.0, vars_collection=None,  # noqa: N802
                      name_prefix="LastValueQuant", reuse=None, is_training=True, num_bits=8, narrow_range=False,
                      symmetric=False):
    """`inputs` as of `num_bits` bits between two variables, `min` and `max`, which training sets to the batch's range.

    per_channel: whether each element of the last axis has a range (of 1, 2 or 4 axes). narrow_range: whether the lowest
    number is left out. symmetric: whether the range is the same on both sides of 0.
    """
    return _quantize(inputs, per_channel, init_min, init_max, vars_collection, name_prefix, reuse, is_training,
                     num_bits, narrow_range, symmetric,
                     lambda variable, value, which: state_ops.assign(variable, value, name="Assign%sLast" % which))


def MovingAvgQuantize(inputs, per_channel=False, init_min=-6.0, init_max=6.0, ema_decay=0.999,  # noqa: N802
                      vars_collection=ops.GraphKeys.MOVING_AVERAGE_VARIABLES, name_prefix="MovingAvgQuantize",
                      reuse=None, is_training=True, num_bits=8, narrow_range=False, symmetric=False):
    """As LastValueQuantize, with moving averages of the batches' ranges."""
    return _quantize(inputs, per_channel, init_min, init_max, vars_collection, name_prefix, reuse, is_training,
                     num_bits, narrow_range, symmetric,
                     lambda variable, value, which: moving_averages.assign_moving_average(
                         variable, value, ema_decay, name="Assign%sEma" % which))


def _quantize(inputs, per_channel, init_min, init_max, vars_collection, name_prefix, reuse, is_training, num_bits,
              narrow_range, symmetric, update):
    with variable_scope.variable_scope(None, default_name=name_prefix, values=[inputs], reuse=reuse) as scope:
        scope.set_partitioner(None)
        rank = inputs.get_shape().ndims
        assert not per_channel or rank in _REDUCED, "Expected 1D, 2D or 4D input, was: %s in  scope: %s" % (
            inputs.get_shape(), name_prefix)
        collections = [vars_collection] if vars_collection else []
        low, high = (
            variable_scope.get_variable(
                name, shape=[inputs.get_shape()[-1]] if per_channel else [],
                initializer=init_ops.constant_initializer(init), trainable=False,
                collections=[*collections, ops.GraphKeys.GLOBAL_VARIABLES],
                aggregation=variable_scope.VariableAggregation.MEAN)
            for name, init in (("min", init_min), ("max", init_max)))
        if is_training:
            lowest = _over_batch(math_ops.reduce_min, inputs, per_channel, "BatchMin")
            highest = _over_batch(math_ops.reduce_max, inputs, per_channel, "BatchMax")
            if symmetric:
                ratio = -1 if narrow_range else -((1 << num_bits) - 2) / (1 << num_bits)
                range_low = gen.minimum(lowest, highest / ratio)
                range_high = gen.maximum(highest, lowest * ratio)
            else:
                range_low = gen.minimum(lowest, 0.0)
                range_high = gen.maximum(highest, 0.0)
            low, high = update(low, range_low, "Min"), update(high, range_high, "Max")
        fake_quant = gen.fake_quant_with_min_max_vars_per_channel if per_channel else gen.fake_quant_with_min_max_vars
        return fake_quant(inputs, low, high, num_bits=num_bits, narrow_range=narrow_range)


def _over_batch(reduce, inputs, per_channel, name):
    if not per_channel:
        return reduce(inputs, name=name)
    axes = _REDUCED[inputs.get_shape().ndims]
    return inputs if axes is None else reduce(inputs, axis=axes, name=name)
