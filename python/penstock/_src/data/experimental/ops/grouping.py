"""Elements grouped by keys."""
import numpy as np

from penstock._src.data.ops.dataset_ops import DatasetSpec, UnaryDataset, flat_structure, get_legacy_output_shapes
from penstock._src.data.ops.structured_function import StructuredFunctionWrapper, wrap_until_stable
from penstock._src.data.util import nest
from penstock._src.graph import constant_op, dtypes, gen, ops, tensor_shape
from penstock._src.base import tf2
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import check_ops

_KEY = TensorSpec([], dtypes.int64)


def group_by_reducer(key_func, reducer):
    """For Dataset.apply: one element for each key, what `reducer` makes of all elements with that key."""
    return lambda dataset: GroupByReducerDataset(dataset, key_func, reducer)


def group_by_window(key_func, reduce_func, window_size=None, window_size_func=None):
    """For Dataset.apply: the elements sorted by `key_func` into datasets of `window_size`; the elements of
    `reduce_func(key, dataset)` for each. ValueError unless one of the last two arguments is given."""
    return named_group_by_window(key_func, reduce_func, window_size, window_size_func)


def named_group_by_window(key_func, reduce_func, window_size=None, window_size_func=None, name=None):
    """group_by_window with the program's name for it."""
    if (window_size is None) == (not window_size_func):
        raise ValueError("Either the `window_size` argument or the `window_size_func` argument must be specified."
                         if tf2.enabled() else "Must pass either window_size or window_size_func.")
    if window_size is not None:
        def constant_window_func(unused_key):
            return ops.convert_to_tensor(window_size, dtype=dtypes.int64)
        window_size_func = constant_window_func
    return lambda dataset: GroupByWindowDataset(dataset, key_func, reduce_func, window_size_func, name)


def bucket_by_sequence_length(element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes=None,
                              padding_values=None, pad_to_bucket_boundary=False, no_padding=False,
                              drop_remainder=False):
    """For Dataset.apply: padded batches of elements of about the same length, which `element_length_func` tells."""
    return named_bucket_by_sequence_length(
        element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes, padding_values,
        pad_to_bucket_boundary, no_padding, drop_remainder)


def named_bucket_by_sequence_length(element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes,
                                    padding_values, pad_to_bucket_boundary, no_padding, drop_remainder, name=None):
    """bucket_by_sequence_length with the program's name for it."""
    with ops.name_scope("bucket_by_seq_length"):
        if len(bucket_batch_sizes) != len(bucket_boundaries) + 1:
            raise ValueError("`len(bucket_batch_sizes)` must equal `len(bucket_boundaries) + 1` but "
                             f"`len(bucket_batch_sizes)={len(bucket_batch_sizes)}` and "
                             f"`len(bucket_boundaries)={len(bucket_boundaries)}`." if tf2.enabled() else
                             "len(bucket_batch_sizes) must equal len(bucket_boundaries) + 1")
        batch_sizes = constant_op.constant(bucket_batch_sizes, dtype=dtypes.int64)

        def element_to_bucket_id(*args):
            length = element_length_func(*args)
            bounds = list(bucket_boundaries)
            least, most = [np.iinfo(np.int32).min] + bounds, bounds + [np.iinfo(np.int32).max]
            inside = gen.logical_and(gen.less_equal(least, length), gen.less(length, most))
            return math_ops.reduce_min(array_ops.where(inside))

        def window_size_fn(bucket_id):
            return batch_sizes[bucket_id]

        def filled(shapes, filler):
            return nest.pack_sequence_as(shapes, [
                [filler if tensor_shape.dimension_value(d) is None else d for d in tensor_shape.TensorShape(shape)]
                for shape in nest.flatten(shapes)])

        def batching_fn(bucket_id, grouped_dataset):
            batch_size = window_size_fn(bucket_id)
            if no_padding:
                return grouped_dataset.batch(batch_size, drop_remainder=drop_remainder, name=name)
            filler = None
            if pad_to_bucket_boundary:
                known = check_ops.assert_less(
                    bucket_id, constant_op.constant(len(bucket_batch_sizes) - 1, dtype=dtypes.int64),
                    message="When pad_to_bucket_boundary=True, elements must have length < max(bucket_boundaries).")
                with ops.control_dependencies([known]):
                    filler = constant_op.constant(bucket_boundaries, dtype=dtypes.int64)[bucket_id] - 1
            shapes = filled(padded_shapes or get_legacy_output_shapes(grouped_dataset), filler)
            return grouped_dataset.padded_batch(batch_size, shapes, padding_values, drop_remainder=drop_remainder,
                                                name=name)

        def apply(dataset):
            return dataset.apply(named_group_by_window(element_to_bucket_id, batching_fn,
                                                       window_size_func=window_size_fn, name=name))
        return apply


class _Grouped(UnaryDataset):
    """Base: datasets with several functions."""

    element_spec = property(lambda self: self._structure, doc="The spec of an element.")

    def _functions(self):
        return self._wrapped

    def _wrap(self, func, input_structure):
        return StructuredFunctionWrapper(func, self._transformation_name(), input_structure=input_structure)


def _check_key(spec, message):
    if nest.is_sequence(spec) or not spec.is_compatible_with(_KEY):
        raise ValueError(message)


class GroupByReducerDataset(_Grouped):
    """One element for each key."""

    def __init__(self, input_dataset, key_func, reducer):
        spec = input_dataset.element_spec
        key = self._wrap(key_func, spec)
        _check_key(key.output_structure, "`key_func` must return a single tf.int64 tensor. Got type="
                   f"{key.output_types} and shape={key.output_shapes}")
        init = self._wrap(reducer.init_func, _KEY)
        reduce, state = wrap_until_stable(reducer.reduce_func, self._transformation_name(), init.output_structure,
                                          spec, lambda made: made)
        finalize = self._wrap(reducer.finalize_func, state)
        self._wrapped = [key, init, reduce, finalize]
        self._structure = finalize.output_structure
        super().__init__(input_dataset, gen.experimental_group_by_reducer_dataset(
            input_dataset._variant_tensor, *(w.function.captured_inputs for w in self._wrapped), key_func=key.function,
            init_func=init.function, reduce_func=reduce.function, finalize_func=finalize.function,
            **flat_structure(self._structure)))

    def _transformation_name(self):
        return "tf.data.experimental.group_by_reducer()"


class GroupByWindowDataset(_Grouped):
    """The elements of datasets made of elements with the same key."""

    def __init__(self, input_dataset, key_func, reduce_func, window_size_func, name=None):
        def key_func_wrapper(*args):
            return ops.convert_to_tensor(key_func(*args), dtype=dtypes.int64)

        def window_size_func_wrapper(key):
            return ops.convert_to_tensor(window_size_func(key), dtype=dtypes.int64)

        spec = input_dataset.element_spec
        key = self._wrap(key_func_wrapper, spec)
        _check_key(key.output_structure, "`key_func` must return a single tf.int64 scalar tensor.")
        reduce = self._wrap(reduce_func, (_KEY, DatasetSpec(spec)))
        if not isinstance(reduce.output_structure, DatasetSpec):
            raise TypeError("`reduce_func` must return a `Dataset` object.")
        size = self._wrap(window_size_func_wrapper, _KEY)
        _check_key(size.output_structure, "`window_size_func` must return a single tf.int64 scalar tensor.")
        self._wrapped = [key, reduce, size]
        self._structure = reduce.output_structure._element_spec
        super().__init__(input_dataset, gen.group_by_window_dataset(
            input_dataset._variant_tensor, *(w.function.captured_inputs for w in self._wrapped), key_func=key.function,
            reduce_func=reduce.function, window_size_func=size.function,
            **flat_structure(self._structure, name)))

    def _transformation_name(self):
        return "tf.data.experimental.group_by_window()"


class Reducer:
    """How the elements of a group become one: init_func(key) is the first state, reduce_func(state, element) the next,
    finalize_func(state) the element."""

    def __init__(self, init_func, reduce_func, finalize_func):
        self._init_func, self._reduce_func, self._finalize_func = init_func, reduce_func, finalize_func

    init_func = property(lambda self: self._init_func, doc="The first state of a key.")
    reduce_func = property(lambda self: self._reduce_func, doc="The next state.")
    finalize_func = property(lambda self: self._finalize_func, doc="The element of the last state.")
