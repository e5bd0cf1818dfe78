"""tf.map_fn over the rows of ragged tensors, and with ragged results."""
from penstock._src.graph import constant_op, dtypes, ops, tensor_shape
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.core_ops import array_ops
from penstock._src.control_flow import tensor_array_ops
from penstock._src.control_flow.functional_ops import Packing, cached_variables
from penstock._src.ops.ragged import ragged_checks
from penstock._src.ops.ragged.ragged_tensor import (
    RaggedTensor, convert_to_tensor_or_ragged_tensor, is_ragged, match_row_splits_dtypes)
from penstock._src.ops.ragged.ragged_tensor_spec import RaggedTensorSpec
from penstock._src.control_flow.while_loop import while_loop
from penstock._src.base import nest


class RaggedTensorType:
    """Says that the results of all rows together are ragged: their type, their ragged rank (one more than that of a
    row's result), and the type of their splits."""

    def __init__(self, dtype, ragged_rank, row_splits_dtype=dtypes.int64):
        self.dtype = dtypes.as_dtype(dtype)
        self.ragged_rank = ragged_rank
        self.row_splits_dtype = dtypes.as_dtype(row_splits_dtype)


def takes_part(elems, dtype):
    """Whether elements or results of a map_fn are ragged."""
    return any(map(is_ragged, nest.flatten(elems))) or \
        any(isinstance(d, (RaggedTensorType, RaggedTensorSpec)) for d in nest.flatten(dtype))


def of_rows(elems):
    """What map_fn's results are unless it is said: like the elements, so ragged where these are."""
    def kind(elem):
        if not isinstance(elem, RaggedTensor):
            return ops.convert_to_tensor(elem).dtype
        return RaggedTensorSpec.from_value(elem)._unbatch()

    return nest.map_structure(kind, elems)


class _Collected:
    """The results of all calls at one place of the structure: a TensorArray for each part of them."""

    def __init__(self, kind, size, infer_shape):
        self.kind = kind
        if isinstance(kind, (RaggedTensorType, RaggedTensorSpec)):
            self.rank = kind.ragged_rank - isinstance(kind, RaggedTensorType)  # of one result
            lengths = [kind.row_splits_dtype] * (self.rank + 1)
            inner = getattr(kind, "shape", None)
            known = None if inner is None or inner.ndims is None else [None, *inner[self.rank + 1:]]
            self.shapes = [known, [], *[[None]] * self.rank]  # of the parts, for no rows at all
            self.arrays = [tensor_array_ops.TensorArray(t, size, infer_shape=False, element_shape=shape)
                           for t, shape in zip([kind.dtype, *lengths], self.shapes)]
        else:
            kind = kind.dtype if isinstance(kind, TensorSpec) else kind
            self.arrays = [tensor_array_ops.TensorArray(dtypes.as_dtype(kind), size, infer_shape=infer_shape)]

    def is_ragged(self):
        return len(self.arrays) > 1

    def parts(self, value):
        """What is written of one result: its values, the number of its rows, the rows' lengths level by level."""
        if not self.is_ragged():
            if is_ragged(value):
                raise self._refusal(value)
            return [value]
        value = convert_to_tensor_or_ragged_tensor(value)
        rank = value.ragged_rank if is_ragged(value) else 0
        if rank != self.rank:
            raise self._refusal(value)
        rows = ragged_checks.nrows_of(value, self.kind.row_splits_dtype)
        if not rank:
            return [value, rows]
        value = value.with_row_splits_dtype(self.kind.row_splits_dtype)
        return [value.flat_values, rows, *value.nested_row_lengths()]

    def _refusal(self, value):
        declared = f"RaggedTensor of ragged rank {self.rank}" if self.is_ragged() else f"Tensor ({self.kind!r})"
        return ValueError(f"Expected `fn` to return a {declared}. But it returned {value!r}. The `fn_output_signature` "
                          "(or `dtype`) of `map_fn` says what it returns.")

    def result(self, arrays, count):
        """`count`: how many calls there were, if that is known."""
        if not self.is_ragged():
            value = arrays[0].stack()
            if isinstance(self.kind, TensorSpec):
                value.set_shape(tensor_shape.TensorShape([None]).concatenate(self.kind.shape))
            return value
        rows, *lengths = arrays[1:]
        value, *lengths = [_joined(*pair) for pair in zip((arrays[0], *lengths), (self.shapes[0], *self.shapes[2:]))]
        if isinstance(self.kind, RaggedTensorSpec) and self.kind.shape.ndims is not None:
            value.set_shape(tensor_shape.TensorShape([None]).concatenate(self.kind.shape[self.rank + 1:]))
        for level in reversed(lengths):
            value = RaggedTensor.from_row_lengths(value, level, validate=False)
        rows = rows.stack()
        rows.set_shape([count])
        return RaggedTensor.from_row_lengths(value, rows, validate=False)


def _joined(array, shape):
    """The elements of a TensorArray, one behind the other."""
    if ops.executing_eagerly() and not int(array.size()):
        return array_ops.zeros([0, *(size or 0 for size in (shape or [None])[1:])], array.dtype)
    return array.concat()


def map_fn(fn, elems, dtype=None, parallel_iterations=None, back_prop=True, swap_memory=False, infer_shape=True,
           name=None):
    """fn(row) for each row of `elems`; `dtype` has a RaggedTensorSpec (or type) where the result is ragged."""
    inputs = Packing(elems)
    outputs = inputs if dtype is None else Packing(dtype)
    with ops.name_scope(name, "map", inputs.flat(elems)), cached_variables():
        flat = match_row_splits_dtypes(*(convert_to_tensor_or_ragged_tensor(e, name="elem")
                                         for e in inputs.flat(elems)))
        n = ragged_checks.nrows_of(flat[0], dtypes.int32)
        kinds = [e.dtype for e in flat] if dtype is None else outputs.flat(dtype)
        collected = [_Collected(kind, n, infer_shape) for kind in kinds]

        def body(i, arrays):
            out = fn(inputs.packed([e[i] for e in flat]))
            parts = [c.parts(value) for c, value in zip(collected, outputs.flat(out))]
            return i + 1, [[a.write(i, p) for a, p in zip(*pair)] for pair in zip(arrays, parts)]

        _, arrays = while_loop(lambda i, _: i < n, body, (constant_op.constant(0), [c.arrays for c in collected]),
                               parallel_iterations=parallel_iterations or (1 if ops.executing_eagerly() else 10),
                               back_prop=back_prop, swap_memory=swap_memory, maximum_iterations=n)
        count = next((size for size in (tensor_shape.dimension_value(e.shape[0]) for e in flat if e.shape.ndims)
                      if size is not None), None)
        return outputs.packed([c.result(a, count) for c, a in zip(collected, arrays)])
