"""What only version 2 has among tf.nn's functions: losses of replicas, dropout by other generators, the k greatest
nearly, isotonic regression."""
import functools

import numpy as np

from penstock._src.graph import constant_op, dtypes, gen, ops, tensor_util
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import check_ops
from penstock._src.ops.nn import nn_activation
from penstock._src.ops.random import stateless_random_ops
from penstock._src.ops.nn.nn_activation import noise_shape_of

__all__ = ["approx_max_k", "approx_min_k", "compute_average_loss", "general_dropout", "isotonic_regression",
           "scale_regularization_loss", "stateless_dropout"]


def compute_average_loss(per_example_loss, sample_weight=None, global_batch_size=None):
    """The sum of the losses of examples, each times its weight, over the number of examples of all replicas."""
    loss = ops.convert_to_tensor(per_example_loss)
    if loss.shape.ndims == 0:
        raise ValueError("Invalid value passed for `per_example_loss`. Expected a tensor with at least rank 1.")
    dtype = loss.dtype
    if sample_weight is not None:
        loss = loss * math_ops.cast(sample_weight, dtype)
    if global_batch_size is None:
        global_batch_size = array_ops.shape(loss)[0]
    else:
        size = ops.convert_to_tensor(global_batch_size, name="global_batch_size")
        if size.shape.ndims:
            raise TypeError(f"`global_batch_size` must be scalar but got {global_batch_size}.")
        if not size.dtype.is_integer:
            raise TypeError(f"`global_batch_size` must be an int but got {global_batch_size}.")
        check = check_ops.assert_positive(size, message="global_batch_size must be positive")
        with ops.control_dependencies([] if check is None else [check]):
            global_batch_size = array_ops.identity(size)
    return math_ops.reduce_sum(loss) / math_ops.cast(global_batch_size, dtype)


def scale_regularization_loss(regularization_loss):
    """The sum of a loss over the number of replicas, of which there is one."""
    return math_ops.reduce_sum(ops.convert_to_tensor(regularization_loss))


def general_dropout(x, rate, uniform_sampler, noise_shape=None, name=None):
    """`dropout` by numbers that `uniform_sampler(shape=, dtype=)` gives; a None in `noise_shape` is the size in x."""
    with ops.name_scope(name, "dropout", [x]) as name:
        x = ops.convert_to_tensor(x, name="x")
        if not x.dtype.is_floating:
            raise ValueError("`x.dtype` must be a floating point tensor as `x` will be scaled. Received: "
                             f"x.dtype={x.dtype}")
        if isinstance(rate, (int, float)) and not 0 <= rate < 1:
            raise ValueError(f"`rate` must be a scalar tensor or a float in the range [0, 1). Received: rate={rate}")
        rate = ops.convert_to_tensor(rate, dtype=x.dtype, name="rate")
        if tensor_util.constant_value(rate) == 0:
            return x
        kept = uniform_sampler(shape=noise_shape_of(x, noise_shape), dtype=x.dtype) >= rate
        return array_ops.where_v2(kept, x * (1 / (1 - rate)), array_ops.zeros_like(x))


def stateless_dropout(x, rate, seed, rng_alg=None, noise_shape=None, name=None):
    """`dropout` by a seed of two numbers."""
    sampler = functools.partial(stateless_random_ops.stateless_random_uniform, seed=seed, alg=rng_alg or "auto_select")
    return general_dropout(x, rate, sampler, noise_shape, name)


def _k_along(operand, k, axis, name):
    operand = ops.convert_to_tensor(operand)
    rank = operand.shape.ndims
    axis %= rank
    if axis == rank - 1:
        return nn_activation.top_k(operand, k, name=name)
    order = [i for i in range(rank) if i != axis] + [axis]
    back = np.argsort(order)
    top = nn_activation.top_k(array_ops.transpose(operand, order), k, name=name)
    return [array_ops.transpose(x, back) for x in top]


def approx_max_k(operand, k, reduction_dimension=-1, recall_target=0.95, reduction_input_size_override=-1,
                 aggregate_to_topk=True, name=None):
    """(values, indices) of the k greatest elements along a dimension: all of them, whatever `recall_target` allows."""
    return tuple(_k_along(operand, k, reduction_dimension, name))


def approx_min_k(operand, k, reduction_dimension=-1, recall_target=0.95, reduction_input_size_override=-1,
                 aggregate_to_topk=True, name=None):
    """(values, indices) of the k least elements along a dimension."""
    values, indices = _k_along(-ops.convert_to_tensor(operand), k, reduction_dimension, name)
    return -values, indices


_RESULT_TYPES = {dtypes.float64: dtypes.float64, dtypes.float16: dtypes.float16, dtypes.bfloat16: dtypes.bfloat16,
                 dtypes.int32: dtypes.float64, dtypes.int64: dtypes.float64}


def isotonic_regression(inputs, decreasing=True, axis=-1):
    """(the closest values that do not increase along an axis, the number of the block that each belongs to).

    decreasing: false for values that do not decrease. The gradient of a block is its mean.
    """
    inputs = ops.convert_to_tensor(inputs)
    dtype = _RESULT_TYPES.get(inputs.dtype, dtypes.float32)
    if inputs.shape.ndims is None:
        rank = array_ops.rank(inputs)
        order = array_ops.concat([math_ops.range(axis % rank), math_ops.range(axis % rank + 1, rank), [axis % rank]], 0)
        back = gen.invert_permutation(order)
    else:
        rank = inputs.shape.ndims
        order = [i for i in range(rank) if i != axis % rank] + [axis % rank]
        back = np.argsort(order)
    moved = array_ops.transpose(math_ops.cast(inputs, dtype), order)
    sign = constant_op.constant(1 if decreasing else -1, dtype)
    values, blocks = gen.isotonic_regression(moved * sign, output_dtype=dtype)
    return array_ops.transpose(values * sign, back), array_ops.transpose(blocks, back)
