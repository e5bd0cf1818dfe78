"""Batches, as functions for Dataset.apply."""
from penstock._src.data.ops import batching
from penstock._src.data.ops.dataset_ops import UnaryDataset, flat_structure
from penstock._src.data.ops.structured_function import StructuredFunctionWrapper
from penstock._src.graph import dtypes, gen, ops
from penstock._src.base import deprecation


def dense_to_ragged_batch(batch_size, drop_remainder=False, row_splits_dtype=dtypes.int64):
    """Batches of elements of different sizes, as ragged tensors."""
    return lambda dataset: dataset.ragged_batch(batch_size, drop_remainder, row_splits_dtype)


def dense_to_sparse_batch(batch_size, row_shape):
    """Batches of elements of different sizes, as sparse tensors with rows of `row_shape`."""
    return lambda dataset: batching.DenseToSparseBatchDataset(dataset, batch_size, row_shape)


def _parallel_calls(batch_size, num_parallel_batches, num_parallel_calls):
    if num_parallel_calls is None:
        return batch_size if num_parallel_batches is None else batch_size * num_parallel_batches
    if num_parallel_batches is not None:
        raise ValueError("The `num_parallel_batches` and `num_parallel_calls` arguments are mutually exclusive.")
    return num_parallel_calls


@deprecation.deprecated(None, "Use `tf.data.experimental.map_and_batch()")
def map_and_batch_with_legacy_function(map_func, batch_size, num_parallel_batches=None, drop_remainder=False,
                                       num_parallel_calls=None):
    """map_and_batch, with a function made by Defun."""
    calls = _parallel_calls(batch_size, num_parallel_batches, num_parallel_calls)
    return lambda dataset: MapAndBatchDataset(dataset, map_func, batch_size, calls, drop_remainder,
                                              use_legacy_function=True)


@deprecation.deprecated(None, "Use `tf.data.Dataset.map(map_func, num_parallel_calls)` followed by "
                        "`tf.data.Dataset.batch(batch_size, drop_remainder)`. Static tf.data optimizations will take "
                        "care of using the fused implementation.")
def map_and_batch(map_func, batch_size, num_parallel_batches=None, drop_remainder=False, num_parallel_calls=None):
    """Batches of `map_func` of each element, several computed at the same time."""
    calls = _parallel_calls(batch_size, num_parallel_batches, num_parallel_calls)
    return lambda dataset: MapAndBatchDataset(dataset, map_func, batch_size, calls, drop_remainder)


@deprecation.deprecated(None, "Use `tf.data.Dataset.unbatch()`.")
def unbatch():
    """The rows of the elements."""
    return lambda dataset: dataset.unbatch()


class MapAndBatchDataset(UnaryDataset):
    """A function's values, several as one."""

    def __init__(self, input_dataset, map_func, batch_size, num_parallel_calls, drop_remainder,
                 use_legacy_function=False):
        self._map_func = StructuredFunctionWrapper(map_func, "tf.data.experimental.map_and_batch()",
                                                   dataset=input_dataset, use_legacy_function=use_legacy_function)
        f = self._map_func.function
        batch_size = ops.convert_to_tensor(batch_size, dtype=dtypes.int64, name="batch_size")
        calls = ops.convert_to_tensor(1 if self._map_func.must_keep_order() else num_parallel_calls, dtype=dtypes.int64,
                                      name="num_parallel_calls")
        drop_remainder = ops.convert_to_tensor(drop_remainder, dtype=dtypes.bool, name="drop_remainder")
        self._structure = batching.batched_structure(self._map_func.output_structure, batch_size, drop_remainder)
        super().__init__(input_dataset, gen.map_and_batch_dataset(
            input_dataset._variant_tensor, f.captured_inputs, f=f, batch_size=batch_size, num_parallel_calls=calls,
            drop_remainder=drop_remainder, preserve_cardinality=True, **flat_structure(self._structure)))

    def _functions(self):
        return [self._map_func]

    element_spec = property(lambda self: self._structure, doc="The spec of an element.")
