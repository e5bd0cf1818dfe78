"""Conditional accumulators: gradients are summed up until somebody takes them; those of an old step are dropped."""
from penstock._src.graph import dtypes, gen, indexed_slices, ops, tensor_shape
from penstock._src.graph.conversion import executing_eagerly
from penstock._src.core_ops import math_ops

__all__ = ["ConditionalAccumulator", "ConditionalAccumulatorBase", "SparseConditionalAccumulator"]


def _step(value):
    return math_ops.cast(ops.convert_to_tensor(value), dtypes.int64)


class ConditionalAccumulatorBase:
    """What all of them have."""

    _kind = "resource_accumulator"

    def __init__(self, dtype, shape, accumulator_ref):
        self._dtype = dtype
        self._shape = tensor_shape.unknown_shape() if shape is None else tensor_shape.TensorShape(shape)
        self._accumulator_ref = accumulator_ref
        self._name = "" if executing_eagerly() else accumulator_ref.op.name.split("/")[-1]

    def _op(self, name):
        return getattr(gen, f"{self._kind}_{name}")

    @property
    def accumulator_ref(self):
        """The tensor that stands for the accumulator."""
        return self._accumulator_ref

    @property
    def name(self):
        """The name of the accumulator's operation."""
        return self._name

    @property
    def dtype(self):
        """The type of gradients."""
        return self._dtype

    def num_accumulated(self, name=None):
        """The number of gradients since the last one was taken."""
        return self._op("num_accumulated")(self._accumulator_ref, name=name or f"{self._name}_NumAccumulated")

    def set_global_step(self, new_global_step, name=None):
        """An operation that sets the step; gradients of earlier steps are dropped."""
        return self._op("set_global_step")(self._accumulator_ref, _step(new_global_step), name=name)


class ConditionalAccumulator(ConditionalAccumulatorBase):
    """Of dense gradients."""

    def __init__(self, dtype, shape=None, shared_name=None, name="conditional_accumulator", reduction_type="MEAN"):
        ref = gen.resource_conditional_accumulator(dtype=dtype, shape=shape, shared_name=shared_name or "", name=name,
                                                   reduction_type=reduction_type)
        super().__init__(dtype, shape, ref)

    def apply_grad(self, grad, local_step=0, name=None):
        """An operation that adds a gradient."""
        grad = ops.convert_to_tensor(grad, self._dtype)
        grad.get_shape().assert_is_compatible_with(self._shape)
        return self._op("apply_gradient")(self._accumulator_ref, local_step=_step(local_step), gradient=grad, name=name)

    def take_grad(self, num_required, name=None):
        """The mean or sum, once there are enough gradients."""
        out = self._op("take_gradient")(self._accumulator_ref, num_required, dtype=self._dtype, name=name)
        out.set_shape(self._shape)
        return out


class SparseConditionalAccumulator(ConditionalAccumulatorBase):
    """Of rows."""

    _kind = "accumulator"

    def __init__(self, dtype, shape=None, shared_name=None, name="sparse_conditional_accumulator",
                 reduction_type="MEAN"):
        ref = gen.sparse_conditional_accumulator(dtype=dtype, shape=shape, shared_name=shared_name or "", name=name,
                                                 reduction_type=reduction_type)
        super().__init__(dtype, shape, ref)

    def apply_indexed_slices_grad(self, grad, local_step=0, name=None):
        """An operation that adds IndexedSlices."""
        return self.apply_grad(grad.indices, grad.values, grad.dense_shape, local_step, name)

    def apply_grad(self, grad_indices, grad_values, grad_shape=None, local_step=0, name=None):
        """An operation that adds rows."""
        step = _step(local_step)
        return gen.sparse_accumulator_apply_gradient(
            self._accumulator_ref, local_step=step, gradient_indices=math_ops.cast(grad_indices, dtypes.int64),
            gradient_values=grad_values,
            gradient_shape=math_ops.cast([] if grad_shape is None else grad_shape, dtypes.int64),
            has_known_shape=grad_shape is not None, name=name)

    def take_grad(self, num_required, name=None):
        """Indices, values and shape of the mean or sum, once there are enough gradients."""
        return gen.sparse_accumulator_take_gradient(self._accumulator_ref, num_required, dtype=self._dtype, name=name)

    def take_indexed_slices_grad(self, num_required, name=None):
        """The mean or sum as IndexedSlices."""
        taken = self.take_grad(num_required, name)
        return indexed_slices.IndexedSlices(indices=taken.indices, values=taken.values, dense_shape=taken.shape)
