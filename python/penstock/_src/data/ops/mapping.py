"""Datasets that call functions of elements."""
import warnings

from penstock._src.data.ops import debug_mode
from penstock._src.data.ops.batching import determinism
from penstock._src.data.ops.dataset_ops import (
    AUTOTUNE, DatasetSpec, UnaryDataset, UnaryUnchangedStructureDataset, flat_structure)
from penstock._src.data.ops.structured_function import StructuredFunctionWrapper, wrap_until_stable
from penstock._src.data.util import nest, structure
from penstock._src.graph import dtypes, gen, ops
from penstock._src.base import tf2
from penstock._src.graph.tensor_spec import TensorSpec


class _WithFunction(UnaryDataset):
    """A unary dataset that calls `_map_func`."""

    def _wrap(self, func, input_dataset, **options):
        self._map_func = StructuredFunctionWrapper(func, self._transformation_name(), dataset=input_dataset, **options)
        return self._map_func.function

    def _functions(self):
        return [self._map_func]

    element_spec = property(lambda self: self._map_func.output_structure, doc="The spec of an element.")


def map_dataset(dataset, map_func, num_parallel_calls=None, deterministic=None, synchronous=None,
                use_unbounded_threadpool=False, preserve_cardinality=True, use_legacy_function=False, name=None):
    """See Dataset.map."""
    if num_parallel_calls is None or debug_mode.enabled():
        if deterministic is not None and not debug_mode.enabled():
            warnings.warn("The `deterministic` argument has no effect unless the `num_parallel_calls` argument is "
                          "specified.")
        return MapDataset(dataset, map_func, force_synchronous=bool(synchronous),
                          preserve_cardinality=preserve_cardinality, use_legacy_function=use_legacy_function, name=name)
    if synchronous:
        raise ValueError("`synchronous` is not supported with `num_parallel_calls`, but `num_parallel_calls` was set "
                         f"to {num_parallel_calls}")
    return ParallelMapDataset(dataset, map_func, num_parallel_calls, deterministic,
                              preserve_cardinality=preserve_cardinality, use_legacy_function=use_legacy_function,
                              use_unbounded_threadpool=use_unbounded_threadpool, name=name)


class MapDataset(_WithFunction):
    """The function's values."""

    def __init__(self, input_dataset, map_func, use_inter_op_parallelism=True, preserve_cardinality=False,
                 use_legacy_function=False, force_synchronous=False, name=None):
        f = self._wrap(map_func, input_dataset, use_legacy_function=use_legacy_function)
        super().__init__(input_dataset, gen.map_dataset(
            input_dataset._variant_tensor, f.captured_inputs, f=f, use_inter_op_parallelism=use_inter_op_parallelism,
            preserve_cardinality=preserve_cardinality, force_synchronous=force_synchronous,
            **flat_structure(self.element_spec, name)))

    def _transformation_name(self):
        return "Dataset.map()"


class ParallelMapDataset(_WithFunction):
    """The function's values, several at a time, unless its results would hang on that and must not."""

    def __init__(self, input_dataset, map_func, num_parallel_calls, deterministic=None, use_inter_op_parallelism=True,
                 preserve_cardinality=False, use_legacy_function=False, use_unbounded_threadpool=False, name=None):
        f = self._wrap(map_func, input_dataset, use_legacy_function=use_legacy_function)
        arguments = dict(f=f, use_inter_op_parallelism=use_inter_op_parallelism,
                         preserve_cardinality=preserve_cardinality, **flat_structure(self.element_spec, name))
        if self._map_func.must_keep_order():
            variant = gen.map_dataset(input_dataset._variant_tensor, f.captured_inputs, **arguments)
        elif deterministic is None and not use_unbounded_threadpool and not tf2.enabled():
            calls = ops.convert_to_tensor(num_parallel_calls, dtype=dtypes.int32, name="num_parallel_calls")
            variant = gen.parallel_map_dataset(input_dataset._variant_tensor, f.captured_inputs,
                                               num_parallel_calls=calls, **arguments)
        else:
            calls = ops.convert_to_tensor(num_parallel_calls, dtype=dtypes.int64, name="num_parallel_calls")
            variant = gen.parallel_map_dataset_v2(
                input_dataset._variant_tensor, f.captured_inputs, num_parallel_calls=calls,
                deterministic=determinism(deterministic), use_unbounded_threadpool=use_unbounded_threadpool,
                **arguments)
        super().__init__(input_dataset, variant)

    def _transformation_name(self):
        return "Dataset.map()"


class _OfDatasets(_WithFunction):
    """A dataset of the elements of the datasets that the function gives."""

    def _wrap(self, func, input_dataset, **options):
        f = super()._wrap(func, input_dataset, **options)
        made = self._map_func.output_structure
        if not isinstance(made, DatasetSpec):
            raise TypeError(f"The `map_func` argument must return a `Dataset` object. Got {type(made)!r}.")
        self._structure = made._element_spec
        return f

    element_spec = property(lambda self: self._structure, doc="The spec of an element.")


class FlatMapDataset(_OfDatasets):
    """One dataset after the other."""

    def __init__(self, input_dataset, map_func, name=None):
        f = self._wrap(map_func, input_dataset)
        super().__init__(input_dataset, gen.flat_map_dataset(input_dataset._variant_tensor, f.captured_inputs, f=f,
                                                             **flat_structure(self.element_spec, name)))

    def _transformation_name(self):
        return "Dataset.flat_map()"


def interleave(dataset, map_func, cycle_length, block_length, num_parallel_calls, deterministic, name=None):
    """See Dataset.interleave."""
    cycle_length = AUTOTUNE if cycle_length is None else cycle_length
    block_length = 1 if block_length is None else block_length
    if num_parallel_calls is None or debug_mode.enabled():
        if deterministic is not None and not debug_mode.enabled():
            warnings.warn("The `deterministic` argument has no effect unless the `num_parallel_calls` argument is "
                          "specified.")
        return InterleaveDataset(dataset, map_func, cycle_length, block_length, name)
    return ParallelInterleaveDataset(dataset, map_func, cycle_length, block_length, num_parallel_calls,
                                     deterministic=deterministic, name=name)


def _cycle(cycle_length, block_length):
    return [ops.convert_to_tensor(cycle_length, dtype=dtypes.int64, name="cycle_length"),
            ops.convert_to_tensor(block_length, dtype=dtypes.int64, name="block_length")]


class InterleaveDataset(_OfDatasets):
    """Some elements of each of several datasets in turn."""

    def __init__(self, input_dataset, map_func, cycle_length, block_length, name=None):
        f = self._wrap(map_func, input_dataset)
        super().__init__(input_dataset, gen.interleave_dataset(
            input_dataset._variant_tensor, f.captured_inputs, *_cycle(cycle_length, block_length), f=f,
            **flat_structure(self.element_spec, name)))

    def _transformation_name(self):
        return "Dataset.interleave()"


class ParallelInterleaveDataset(_OfDatasets):
    """The same, with the datasets read ahead at the same time, unless results would hang on that and must not."""

    def __init__(self, input_dataset, map_func, cycle_length, block_length, num_parallel_calls,
                 buffer_output_elements=AUTOTUNE, prefetch_input_elements=AUTOTUNE, deterministic=None, name=None):
        f = self._wrap(map_func, input_dataset)
        cycle = _cycle(cycle_length, block_length)
        calls = ops.convert_to_tensor(num_parallel_calls, dtype=dtypes.int64, name="num_parallel_calls")
        if self._map_func.must_keep_order():
            variant = gen.interleave_dataset(input_dataset._variant_tensor, f.captured_inputs, *cycle, f=f,
                                             **flat_structure(self.element_spec, name))
        elif deterministic is None and not tf2.enabled():
            variant = gen.parallel_interleave_dataset_v2(input_dataset._variant_tensor, f.captured_inputs, *cycle,
                                                         calls, f=f, **flat_structure(self.element_spec, name))
        else:
            ahead = [ops.convert_to_tensor(value, dtype=dtypes.int64, name=word) for value, word in (
                (buffer_output_elements, "buffer_output_elements"),
                (prefetch_input_elements, "prefetch_input_elements"))]
            variant = gen.parallel_interleave_dataset_v4(
                input_dataset._variant_tensor, f.captured_inputs, *cycle, *ahead, calls, f=f,
                deterministic=determinism(deterministic), **flat_structure(self.element_spec, name))
        super().__init__(input_dataset, variant)

    def _transformation_name(self):
        return "Dataset.interleave()"


class _Chosen(UnaryUnchangedStructureDataset):
    """Elements that a predicate, `_predicate`, chooses."""

    def _wrap(self, predicate, input_dataset, message, **options):
        self._predicate = StructuredFunctionWrapper(predicate, self._transformation_name(), dataset=input_dataset,
                                                    **options)
        made = self._predicate.output_structure
        if nest.is_sequence(made) or not made.is_compatible_with(TensorSpec([], dtypes.bool)):
            raise ValueError(message.format(made))
        return self._predicate.function

    def _functions(self):
        return [self._predicate]


class FilterDataset(_Chosen):
    """The elements for which a predicate is true."""

    def __init__(self, input_dataset, predicate, use_legacy_function=False, name=None):
        words = ("Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor, but its return type is {}."
                 if tf2.enabled() else
                 "`predicate` return type must be convertible to a scalar boolean tensor. Was {}.")
        f = self._wrap(predicate, input_dataset, words, use_legacy_function=use_legacy_function)
        super().__init__(input_dataset, gen.filter_dataset(
            input_dataset._variant_tensor, other_arguments=f.captured_inputs, predicate=f,
            **flat_structure(input_dataset.element_spec, name)))

    def _transformation_name(self):
        return "Dataset.filter()"


class TakeWhileDataset(_Chosen):
    """The elements up to the first for which a predicate is false."""

    def __init__(self, input_dataset, predicate, name=None):
        words = ("Invalid `predicate`. `predicate` must return a `tf.bool` scalar tensor but its return type is{}."
                 if tf2.enabled() else "`predicate` must return a scalar boolean tensor.")
        f = self._wrap(predicate, input_dataset, words)
        super().__init__(input_dataset, gen.take_while_dataset(
            input_dataset._variant_tensor, other_arguments=f.captured_inputs, predicate=f,
            **flat_structure(input_dataset.element_spec, name)))

    def _transformation_name(self):
        return "tf.data.experimental.take_while()"


class ScanDataset(_WithFunction):
    """The outputs of a function that hands a state on."""

    def __init__(self, input_dataset, initial_state, scan_func, use_default_device=None, name=None):
        state = structure.normalize_element(initial_state)

        def pair(made):
            if not (isinstance(made, tuple) and len(made) == 2):
                raise TypeError(
                    "Invalid `scan_func`. `scan_func` should return a pair consisting of new state and the output "
                    f"value but its return type is {made}." if tf2.enabled() else
                    "The scan function must return a pair comprising the new state and the output value.")
            return made[0]

        self._map_func, spec = wrap_until_stable(scan_func, self._transformation_name(),
                                                 structure.type_spec_from_value(state), input_dataset.element_spec,
                                                 pair)
        f = self._map_func.function
        self._structure = self._map_func.output_structure[1]
        super().__init__(input_dataset, gen.scan_dataset(
            input_dataset._variant_tensor, structure.to_tensor_list(spec, state), f.captured_inputs, f=f,
            preserve_cardinality=True, use_default_device=use_default_device,
            **flat_structure(self.element_spec, name)))

    element_spec = property(lambda self: self._structure, doc="The spec of an element.")

    def _transformation_name(self):
        return "tf.data.experimental.scan()"


def reduce(dataset, initial_state, reduce_func, name=None):
    """See Dataset.reduce."""
    with ops.name_scope("initial_state"):
        state = structure.normalize_element(initial_state)
    wrapped, spec = wrap_until_stable(reduce_func, "reduce()", structure.type_spec_from_value(state),
                                      dataset.element_spec, lambda made: made)
    f = wrapped.function
    return structure.from_compatible_tensor_list(spec, gen.reduce_dataset(
        dataset._variant_tensor, structure.to_tensor_list(spec, state), f.captured_inputs, f=f,
        **flat_structure(spec, name)))
