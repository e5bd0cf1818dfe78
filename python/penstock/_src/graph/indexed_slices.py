"""IndexedSlices: some slices of a tensor along its first dimension, such as the gradient of a gather."""
import collections

import numpy as np

from penstock._src.graph import conversion
from penstock._src.graph import defaults
from penstock._src.graph import tensor_like
from penstock._src.graph import tensor_shape
from penstock._src.graph.composite_tensor import CompositeTensor
from penstock._src.base import hooks

_generated = hooks.Hook("generated")


class IndexedSlices(tensor_like._TensorLike, CompositeTensor):
    """`values[i]` is slice `indices[i]` of a tensor; slices that occur several times add up."""

    _is_indexed_slices = True
    is_tensor_like = True

    def __init__(self, values, indices, dense_shape=None):
        graphs = {t.graph for t in (values, indices, dense_shape) if t is not None and hasattr(t, "graph")}
        if len(graphs) > 1 and not defaults.get_default_graph().building_function:  # which captures what lies outside
            raise ValueError(f"{indices} must be from the same graph as {values}.")
        self._values = values
        self._indices = indices
        self._dense_shape = dense_shape

    @property
    def values(self):
        """The slices."""
        return self._values

    @property
    def indices(self):
        """Their places along the first dimension."""
        return self._indices

    @property
    def dense_shape(self):
        """The shape of the whole tensor, or None."""
        return self._dense_shape

    @property
    def shape(self):
        """The static shape of the whole tensor."""
        if self._dense_shape is None:
            return tensor_shape.TensorShape(None)
        from penstock._src.graph import tensor_util
        return tensor_util.constant_value_as_shape(self._dense_shape)

    @property
    def name(self):
        """The name of `values`."""
        return self._values.name

    @property
    def device(self):
        """The device of `values`."""
        return self._values.device

    @property
    def op(self):
        """The operation that makes `values`."""
        return self._values.op

    @property
    def dtype(self):
        """The type of the elements."""
        return self._values.dtype

    @property
    def graph(self):
        """The graph of `values`."""
        return self._values.graph

    def __str__(self):
        shape = "" if self._dense_shape is None else f", dense_shape={self._dense_shape!s}"
        return f"IndexedSlices(indices={self._indices!s}, values={self._values!s}{shape})"

    def __neg__(self):
        return IndexedSlices(-self._values, self._indices, self._dense_shape)

    def consumers(self):
        """The operations that take one of its tensors."""
        return self._consumers()

    @property
    def _type_spec(self):
        from penstock._src.graph import type_spec
        return type_spec.type_spec_from_value(self)

    def _shape_invariant_to_type_spec(self, shape):
        """What a loop's shape invariant says: `shape` is that of the values."""
        from penstock._src.graph import composite_spec
        dense = tensor_shape.TensorShape([None]).concatenate(shape[1:])
        dense_type = None if self._dense_shape is None else self._dense_shape.dtype
        return composite_spec.IndexedSlicesSpec(dense, self.dtype, self._indices.dtype, dense_type, shape[:1])


IndexedSlicesValue = collections.namedtuple("IndexedSlicesValue", ["values", "indices", "dense_shape"])


def _to_tensor(value, dtype=None, name=None, as_ref=False):
    """The whole tensor: what is in no slice is 0. ValueError if its shape is unknown."""
    if dtype is not None and not dtype.is_compatible_with(value.dtype):
        raise ValueError(f"Tensor conversion requested dtype {dtype.name} for IndexedSlices with dtype "
                         f"{value.dtype.name}")
    if value.dense_shape is None:
        raise ValueError("Tensor conversion requested for IndexedSlices without dense_shape: "
                         f"{value}")
    gen = _generated.get()
    from penstock._src.graph import tensor_util
    size = tensor_util.constant_value(value.dense_shape)
    if size is None or np.prod(size) >= 100000000:
        import warnings
        warnings.warn("Converting sparse IndexedSlices to a dense Tensor of "
                      f"{'unknown shape' if size is None else f'{int(np.prod(size))} elements'}. This may consume a "
                      "large amount of memory.")
    return gen.unsorted_segment_sum(value.values, value.indices, value.dense_shape[0], name=name)


conversion.register_tensor_conversion_function(IndexedSlices, _to_tensor)
