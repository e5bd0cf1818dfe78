"""Dataset: a sequence of elements, described by the ops that make it."""
import functools
import warnings

from penstock._src.data.ops import iterator_ops, saved_dataset
from penstock._src.data.ops.options import AutotuneAlgorithm, Options  # noqa: F401
from penstock._src.data.util import nest, structure
from penstock._src.data.util.structure import (  # noqa: F401
    flat_structure, get_legacy_output_classes, get_legacy_output_shapes, get_legacy_output_types, get_structure, named)
from penstock._src.graph import composite_tensor, dtypes, gen, ops, tensor_shape, tensor_util, type_spec
from penstock._src.base import tf2
from penstock._src.base.mode import mode
from penstock._src.graph.tensor_spec import TensorSpec
from penstock.proto import dataset_options_pb2
from penstock._src.ops.state import base as tracking_base
from penstock._src.base import deprecation
from penstock._src.base import nest as whole_nest
from penstock._src.base.foreign_names import known_as

AUTOTUNE = INFINITE = SHARD_HINT = -1
UNKNOWN = -2
ops.NotDifferentiable("ReduceDataset")


def _shown_name(dataset):
    """The name of its class as version 2 has it, which hides all but those that programs name."""
    kind = type(getattr(dataset, "_dataset", dataset))
    name = kind.__name__.lstrip("_")
    return name if name.endswith("V2") or name in ("CacheDataset", "DatasetV1") or _is_users(kind) else "_" + name


def _is_users(kind):
    return not kind.__module__.startswith(__name__.partition(".")[0] + ".")


@known_as("tensorflow.python.data.ops.dataset_ops.DatasetV2")
class DatasetV2(tracking_base.Trackable, composite_tensor.CompositeTensor):
    """A sequence of elements, perhaps without end. Each method gives a new dataset and leaves this one as it is.

    Elements are tensors (dense, sparse, ragged), datasets, or tuples, dicts and the like of these: `element_spec`.
    Made by `from_tensors`, `from_tensor_slices`, `from_generator`, `range`, `list_files` or a class for files.
    """

    def __init__(self, variant_tensor):
        self._variant_tensor_attr = variant_tensor
        self._graph_attr = ops.get_default_graph()

    _variant_tensor = property(lambda self: self._variant_tensor_attr)

    @_variant_tensor.setter
    def _variant_tensor(self, _):
        raise ValueError("The _variant_tensor property is read-only")

    @property
    def _graph(self):
        return self._graph_attr

    @_graph.setter
    def _graph(self, _):
        raise ValueError("The _graph property is read-only")

    def _inputs(self):
        """The datasets that it is made of."""
        raise NotImplementedError("Dataset._inputs")

    @property
    def element_spec(self):
        """The spec of an element."""
        raise NotImplementedError("Dataset.element_spec")

    def _functions(self):
        """The wrapped functions that it calls."""
        return []

    _list_extra_dependencies_for_serialization = saved_dataset.parts

    @property
    def _flat_shapes(self):
        return structure.get_flat_tensor_shapes(self.element_spec)

    @property
    def _flat_types(self):
        return structure.get_flat_tensor_types(self.element_spec)

    @property
    def _flat_structure(self):
        return flat_structure(self.element_spec)

    @property
    def _type_spec(self):
        return DatasetSpec(self.element_spec)

    def _as_serialized_graph(self, stateful_whitelist=None, strip_device_assignment=None,
                             external_state_policy=None):
        """The GraphDef of this dataset, serialized, as a tensor."""
        if external_state_policy is None:
            return gen.dataset_to_graph(self._variant_tensor, stateful_whitelist=stateful_whitelist)
        return gen.dataset_to_graph_v2(self._variant_tensor, external_state_policy=external_state_policy.value,
                                       strip_device_assignment=strip_device_assignment)

    def _has_captured_ref(self):
        """Whether a function of it, or of what it is made of, uses a reference variable."""
        if ops.executing_eagerly():
            return False

        def is_ref(tensor):
            return tensor.dtype._is_ref_dtype or not tensor._is_eager and any(map(is_ref, tensor.op.inputs))

        return any(is_ref(t) for f in self._functions() for t in f.function.captured_inputs) or any(
            dataset._has_captured_ref() for dataset in self._inputs())

    # Options

    def options(self):
        """What was set with `with_options` for it and for what it is made of."""
        waiting = [self]
        while waiting:  # not by recursion: loops make pipelines of thousands of datasets
            dataset = waiting[-1]
            unknown = [d for d in dataset._options_from() if d._merged_options is None]
            if unknown:
                waiting += unknown
                continue
            options = Options()
            for d in dataset._options_from():
                options = options.merge(d._merged_options)
            options._set_mutable(False)
            dataset._merged_options = options
            waiting.pop()
        return self._merged_options

    _merged_options = None  # once they are known

    def _options(self):
        """The same as a tensor: a serialized message, of what the variant holds."""
        return gen.get_options(self._variant_tensor)

    @staticmethod
    def _options_tensor_to_options(serialized_options):
        """The options that such a tensor, or its value, holds."""
        if isinstance(serialized_options, ops.Tensor):
            serialized_options = tensor_util.constant_value(serialized_options)
        options = Options()
        options._from_proto(dataset_options_pb2.Options.FromString(serialized_options))
        options._set_mutable(False)
        return options

    def _options_from(self):
        """The datasets whose options it has."""
        return self._inputs()

    def with_options(self, options, name=None):
        """This dataset with options."""
        return _simple()._OptionsDataset(self, options, name)

    def _apply_options(self):
        """The dataset with what its options ask for around it, ready to be iterated over."""
        return _tuning().apply_options(self)

    # Iterating

    def __iter__(self):
        graph = ops.get_default_graph()
        if graph._eager or graph._building_function:
            return iterator_ops.OwnedIterator(self)
        raise RuntimeError("__iter__() is only supported inside of tf.function or when eager execution is enabled.")

    def __ag_for_stmt__(self, extra_test, body, get_state, set_state, symbol_names, opts):
        """A loop over it in converted code."""
        iter(self).__ag_for_stmt__(extra_test, body, get_state, set_state, symbol_names, opts)

    def __bool__(self):
        return True

    __nonzero__ = __bool__

    def __len__(self):
        if not ops.executing_eagerly():
            raise TypeError("`tf.data.Dataset` only supports `len` in eager mode. Use `tf.data.Dataset.cardinality()` "
                            "instead.")
        count = int(self.cardinality())
        if count == INFINITE:
            raise TypeError("The dataset is infinite.")
        if count == UNKNOWN:
            raise TypeError("The dataset length is unknown.")
        return count

    def as_numpy_iterator(self):
        """An iterator over elements whose tensors are arrays. RuntimeError unless executing eagerly; TypeError for
        parts that are no arrays."""
        return iterator_ops.numpy_iterator(self)

    def __repr__(self):
        if mode.tensor_shape_v2:
            return f"<{_shown_name(self)} element_spec={self.element_spec}>"
        shapes = str(nest.map_structure(str, get_legacy_output_shapes(self))).replace("'", "")
        types = str(nest.map_structure(repr, get_legacy_output_types(self))).replace("'", "")
        return f"<{type(self).__name__} shapes: {shapes}, types: {types}>"

    __str__ = __repr__

    # Sources

    @staticmethod
    def from_tensors(tensors, name=None):
        """One element: `tensors`."""
        return _sources().TensorDataset(tensors, name)

    @staticmethod
    def from_tensor_slices(tensors, name=None):
        """The rows of `tensors`, which must have as many."""
        return _sources().TensorSliceDataset(tensors, name)

    @staticmethod
    def from_generator(generator, output_types=None, output_shapes=None, args=None, output_signature=None, name=None):
        """What `generator(*args)` yields, anew in each iteration; `args` are tensors and arrive as arrays.

        Either `output_signature`, the spec of an element, or `output_types` and `output_shapes` (unknown if left out).
        """
        from penstock._src.data.ops import from_generator_op
        return from_generator_op.from_generator(generator, output_types, output_shapes, args, output_signature, name)

    @staticmethod
    def range(*args, **kwargs):
        """range(stop), range(start, stop) or range(start, stop, step), of type `output_type`, int64 by default."""
        return _sources().RangeDataset(*args, **kwargs)

    @staticmethod
    def random(seed=None, rerandomize_each_iteration=None, name=None):
        """Random numbers of type int64 without end."""
        return _sources().RandomDataset(seed, rerandomize_each_iteration, name)

    @staticmethod
    def counter(start=0, step=1, dtype=dtypes.int64, name=None):
        """start, start + step, and so on without end."""
        return _sources().counter(start, step, dtype, name)

    @staticmethod
    def list_files(file_pattern, shuffle=None, seed=None, name=None):
        """The names of the files that match a pattern, or one of several; shuffled unless `shuffle` is False."""
        return _sources().list_files(file_pattern, shuffle, seed, name)

    @staticmethod
    def zip(*args, datasets=None, name=None):
        """Elements made of one element of each dataset in a structure of datasets."""
        return _simple().zip_datasets(args, datasets, name)

    @staticmethod
    def sample_from_datasets(datasets, weights=None, seed=None, stop_on_empty_dataset=False,
                             rerandomize_each_iteration=None):
        """Elements of `datasets`, each taken from a random one, with the probabilities `weights`; with
        `rerandomize_each_iteration` from others each time."""
        return _directed().sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset,
                                                rerandomize_each_iteration)

    @staticmethod
    def choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset=True):
        """Elements of `datasets`, each taken from the one whose index comes next in `choice_dataset`."""
        return _directed().choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)

    @staticmethod
    def load(path, element_spec=None, compression=None, reader_func=None, wait=False):
        """The dataset that `save` wrote."""
        from penstock._src.data.experimental.ops import io
        return io.load(path, element_spec, compression, reader_func)

    def save(self, path, compression=None, shard_func=None, checkpoint_args=None):
        """Writes all elements to files."""
        from penstock._src.data.experimental.ops import io
        return io.save(self, path, compression, shard_func, checkpoint_args)

    # Which elements, and in which order

    def concatenate(self, dataset, name=None):
        """The elements of this dataset, then those of another one."""
        return _simple().ConcatenateDataset(self, dataset, name)

    def repeat(self, count=None, name=None):
        """This dataset `count` times; without end for None or -1."""
        return _simple().RepeatDataset(self, count, name)

    def take(self, count, name=None):
        """The first `count` elements; all for -1."""
        return _simple().TakeDataset(self, count, name)

    def skip(self, count, name=None):
        """All but the first `count` elements; none for -1."""
        return _simple().SkipDataset(self, count, name)

    def shard(self, num_shards, index, name=None):
        """Each `num_shards`-th element, from the `index`-th on."""
        return _simple().ShardDataset(self, num_shards, index, name)

    def shuffle(self, buffer_size, seed=None, reshuffle_each_iteration=None, name=None):
        """Each element taken at random from a buffer of the next `buffer_size`; in another order in each iteration
        unless `reshuffle_each_iteration` is False."""
        return _simple().ShuffleDataset(self, buffer_size, seed, reshuffle_each_iteration, name)

    def cache(self, filename="", name=None):
        """Keeps the elements, in files or in memory, so that later iterations need not make them again."""
        return _simple().CacheDataset(self, filename, name)

    def prefetch(self, buffer_size, name=None):
        """Makes up to `buffer_size` elements before they are asked for."""
        return _simple().PrefetchDataset(self, buffer_size, name=name)

    def enumerate(self, start=0, name=None):
        """(number, element) for each, counted from `start`."""
        return DatasetV2.zip((DatasetV2.range(start, 2**63 - 1), self), name=name)

    def unique(self, name=None):
        """Without elements that came before."""
        return _simple().UniqueDataset(self, name)

    def filter(self, predicate, name=None):
        """The elements for which `predicate` is true."""
        return _mapping().FilterDataset(self, predicate, name=name)

    def take_while(self, predicate, name=None):
        """The elements up to the first for which `predicate` is false."""
        return _mapping().TakeWhileDataset(self, predicate, name)

    def ignore_errors(self, log_warning=False, name=None):
        """Without elements that could not be made."""
        return _simple().IgnoreErrorsDataset(self, log_warning, name)

    def rejection_resample(self, class_func, target_dist, initial_dist=None, seed=None, name=None):
        """(class, element), with elements left out so that the classes come as often as `target_dist` says."""
        from penstock._src.data.experimental.ops import resampling
        return resampling.rejection_resample(class_func, target_dist, initial_dist, seed)(self)

    # Batches

    def batch(self, batch_size, drop_remainder=False, num_parallel_calls=None, deterministic=None, name=None):
        """Each `batch_size` elements as one; the last ones may be fewer, unless `drop_remainder`."""
        return _batching().batch(self, batch_size, drop_remainder, num_parallel_calls, deterministic, name)

    def padded_batch(self, batch_size, padded_shapes=None, padding_values=None, drop_remainder=False, name=None):
        """As batch, of elements of different sizes: padded to `padded_shapes`, or to the largest in the batch where
        these are unknown."""
        return _batching().PaddedBatchDataset(self, batch_size, padded_shapes, padding_values, drop_remainder, name)

    def ragged_batch(self, batch_size, drop_remainder=False, row_splits_dtype=dtypes.int64, name=None):
        """As batch, of elements of different sizes, as ragged tensors."""
        return _batching().ragged_batch(self, batch_size, drop_remainder, row_splits_dtype, name)

    def sparse_batch(self, batch_size, row_shape, name=None):
        """As batch, of elements of different sizes, as sparse tensors with rows of `row_shape`."""
        return _batching().DenseToSparseBatchDataset(self, batch_size, row_shape, name)

    def unbatch(self, name=None):
        """The rows of the elements."""
        return _batching().unbatch(self, name)

    def rebatch(self, batch_size, drop_remainder=False, name=None):
        """Batches of another size; of several sizes in turn if `batch_size` is a vector."""
        return _batching().RebatchDataset(self, batch_size, drop_remainder, name)

    def window(self, size, shift=None, stride=1, drop_remainder=False, name=None):
        """Datasets of `size` elements each; a new one begins every `shift` elements, `size` if left out, and takes
        each `stride`-th."""
        return _batching().WindowDataset(self, size, size if shift is None else shift, stride, drop_remainder, name)

    def group_by_window(self, key_func, reduce_func, window_size=None, window_size_func=None, name=None):
        """The elements sorted by `key_func` into datasets of `window_size`; the elements of
        `reduce_func(key, dataset)` for each."""
        from penstock._src.data.experimental.ops import grouping
        return grouping.named_group_by_window(key_func, reduce_func, window_size, window_size_func, name)(self)

    def bucket_by_sequence_length(self, element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes=None,
                                  padding_values=None, pad_to_bucket_boundary=False, no_padding=False,
                                  drop_remainder=False, name=None):
        """Padded batches of elements of about the same length."""
        from penstock._src.data.experimental.ops import grouping
        return grouping.named_bucket_by_sequence_length(
            element_length_func, bucket_boundaries, bucket_batch_sizes, padded_shapes, padding_values,
            pad_to_bucket_boundary, no_padding, drop_remainder, name)(self)

    # Functions of elements

    def map(self, map_func, num_parallel_calls=None, deterministic=None, synchronous=None,
            use_unbounded_threadpool=False, name=None):
        """`map_func` of each element, `num_parallel_calls` at a time; in their order unless `deterministic` is
        False."""
        return _mapping().map_dataset(self, map_func, num_parallel_calls, deterministic, synchronous,
                                      use_unbounded_threadpool, preserve_cardinality=True, name=name)

    def flat_map(self, map_func, name=None):
        """The elements of the datasets that `map_func` gives, one dataset after the other."""
        return _mapping().FlatMapDataset(self, map_func, name)

    def interleave(self, map_func, cycle_length=None, block_length=None, num_parallel_calls=None, deterministic=None,
                   name=None):
        """The elements of the datasets that `map_func` gives, `block_length` of each of `cycle_length` in turn."""
        return _mapping().interleave(self, map_func, cycle_length, block_length, num_parallel_calls, deterministic,
                                     name)

    def scan(self, initial_state, scan_func, name=None):
        """The outputs of `scan_func(state, element)`, which returns (the next state, an output)."""
        return _mapping().ScanDataset(self, initial_state, scan_func, name=name)

    def reduce(self, initial_state, reduce_func, name=None):
        """The last state of `reduce_func(state, element)`, which returns the next one."""
        return _mapping().reduce(self, initial_state, reduce_func, name)

    def apply(self, transformation_func):
        """`transformation_func(self)`, which must be a dataset (TypeError)."""
        dataset = transformation_func(self)
        if not isinstance(dataset, DatasetV2):
            wrong = f"`tf.data.Dataset` object. Got {type(dataset)}" if tf2.enabled() else f"Dataset. Got {dataset}"
            raise TypeError(f"`transformation_func` must return a {wrong}.")
        dataset._input_datasets = [self]
        return dataset

    def snapshot(self, path, compression="AUTO", reader_func=None, shard_func=None, name=None):
        """Writes the elements to files in the first iteration, and reads them from there in all others."""
        from penstock._src.data.experimental.ops import snapshot
        return snapshot.SnapshotDataset(self, path, compression, reader_func, shard_func, name)

    # As a whole

    def cardinality(self):
        """The number of elements; INFINITE_CARDINALITY, or UNKNOWN_CARDINALITY where only iterating would tell."""
        return gen.dataset_cardinality(self._variant_tensor)

    def get_single_element(self, name=None):
        """The one element. An InvalidArgumentError when it runs if there is not exactly one."""
        return structure.from_compatible_tensor_list(self.element_spec, gen.dataset_to_single_element(
            self._variant_tensor, **flat_structure(self.element_spec, name)))

    def fingerprint(self):
        """A uint64 that tells datasets apart: the same for equal pipelines."""
        return gen.dataset_fingerprint(self._variant_tensor)


class DatasetV1(DatasetV2):
    """Dataset as version 1 has it: its datasets are made by `_as_variant_tensor`, and have iterators of graphs."""

    def __init__(self):
        try:
            variant = self._as_variant_tensor()
        except AttributeError as e:
            if "_as_variant_tensor" in str(e):
                raise AttributeError("Please use _variant_tensor instead of _as_variant_tensor() to obtain the variant "
                                     "associated with a dataset") from None
            raise AttributeError(f"{e}: A likely cause of this error is that the super call for this dataset is not "
                                 "the last line of the __init__ method. The base class causes the _as_variant_tensor "
                                 "call in its constructor and if that uses attributes defined in the __init__ method, "
                                 "those attrs need to be defined before the super call.") from None
        super().__init__(variant)

    def _as_variant_tensor(self):
        raise NotImplementedError("Dataset._as_variant_tensor")

    @deprecation.deprecated(None, "Use `for ... in dataset:`, or `tf.compat.v1.data.make_one_shot_iterator(dataset)`.")
    def make_one_shot_iterator(self):
        """An iterator that needs no initializer, of a dataset without state of its own."""
        return self._make_one_shot_iterator()

    def _make_one_shot_iterator(self):
        return iterator_ops.one_shot_iterator(self)

    @deprecation.deprecated(None, "Use `for ... in dataset:`, or "
                            "`tf.compat.v1.data.make_initializable_iterator(dataset)`.")
    def make_initializable_iterator(self, shared_name=None):
        """An iterator whose `initializer` must run before it is used, and again for another iteration."""
        return self._make_initializable_iterator(shared_name)

    def _make_initializable_iterator(self, shared_name=None):
        return iterator_ops.initializable_iterator(self, shared_name)

    @property
    @deprecation.deprecated(None, "Use `tf.compat.v1.data.get_output_classes(dataset)`.")
    def output_classes(self):
        """The classes of an element's parts."""
        return structure.legacy_classes(self.element_spec)

    @property
    @deprecation.deprecated(None, "Use `tf.compat.v1.data.get_output_shapes(dataset)`.")
    def output_shapes(self):
        """The shapes of an element's parts."""
        return structure.legacy_shapes(self.element_spec)

    @property
    @deprecation.deprecated(None, "Use `tf.compat.v1.data.get_output_types(dataset)`.")
    def output_types(self):
        """The types of an element's parts."""
        return structure.legacy_types(self.element_spec)

    @property
    def element_spec(self):
        """The spec of an element, of classes that define the three properties above."""
        return structure.convert_legacy_structure(self.output_types, self.output_shapes, self.output_classes)

    @staticmethod
    @deprecation.deprecated(None, "Use `tf.data.Dataset.from_tensor_slices()`.")
    def from_sparse_tensor_slices(sparse_tensor):
        """The rows of a sparse tensor as (indices, values, shape)."""
        return DatasetV1Adapter(_sources().SparseTensorSliceDataset(sparse_tensor))

    def map(self, map_func, num_parallel_calls=None, deterministic=None, synchronous=None,
            use_unbounded_threadpool=False, name=None):
        """As in version 2, but it need not keep the number of elements."""
        return DatasetV1Adapter(_mapping().map_dataset(self, map_func, num_parallel_calls, deterministic, synchronous,
                                                       use_unbounded_threadpool, preserve_cardinality=False,
                                                       name=name))

    @deprecation.deprecated(None, "Use `tf.data.Dataset.map()")
    def map_with_legacy_function(self, map_func, num_parallel_calls=None, deterministic=None,
                                 use_unbounded_threadpool=False):
        """map, with a function made by Defun."""
        return DatasetV1Adapter(_mapping().map_dataset(self, map_func, num_parallel_calls, deterministic,
                                                       preserve_cardinality=False, use_legacy_function=True))

    @deprecation.deprecated(None, "Use `tf.data.Dataset.filter()")
    def filter_with_legacy_function(self, predicate):
        """filter, with a function made by Defun."""
        return DatasetV1Adapter(_mapping().FilterDataset(self, predicate, use_legacy_function=True))

    def interleave(self, map_func, cycle_length=None, block_length=None, num_parallel_calls=None, deterministic=None,
                   name=None):
        """As in version 2."""
        return DatasetV1Adapter(super().interleave(map_func, cycle_length, block_length, num_parallel_calls,
                                                   deterministic, name))

    def apply(self, transformation_func):
        """As in version 2."""
        return DatasetV1Adapter(super().apply(transformation_func))


def _of_version_one(method):
    """A method of version 2 whose result is a DatasetV1."""
    @functools.wraps(method)
    def wrapper(*args, **kwargs):
        return DatasetV1Adapter(method(*args, **kwargs))
    return wrapper


for _name in ("from_tensors", "from_tensor_slices", "from_generator", "range", "random", "counter", "list_files", "zip",
              "sample_from_datasets", "choose_from_datasets", "load"):
    setattr(DatasetV1, _name, staticmethod(_of_version_one(getattr(DatasetV2, _name))))
for _name in ("with_options", "concatenate", "repeat", "take", "skip", "shard", "shuffle", "cache", "prefetch",
              "enumerate", "unique", "filter", "take_while", "ignore_errors", "rejection_resample", "batch",
              "padded_batch", "ragged_batch", "sparse_batch", "unbatch", "rebatch", "window", "group_by_window",
              "bucket_by_sequence_length", "flat_map", "scan", "snapshot"):
    setattr(DatasetV1, _name, _of_version_one(getattr(DatasetV2, _name)))


class DatasetV1Adapter(DatasetV1):
    """A DatasetV2 with version 1's methods."""

    def __init__(self, dataset):
        self._dataset = dataset
        super().__init__()

    def _as_variant_tensor(self):
        return self._dataset._variant_tensor

    def _has_captured_ref(self):
        return self._dataset._has_captured_ref()

    def _inputs(self):
        return self._dataset._inputs()

    def _functions(self):
        return self._dataset._functions()

    def _options_from(self):
        return [self._dataset]

    @property
    def element_spec(self):
        """The spec of an element."""
        return self._dataset.element_spec

    def __iter__(self):
        return iter(self._dataset)


class DatasetSource(DatasetV2):
    """Base of datasets that are made of no others."""

    def _inputs(self):
        return []


class UnaryDataset(DatasetV2):
    """Base of datasets that are made of another one."""

    def __init__(self, input_dataset, variant_tensor):
        self._input_dataset = input_dataset
        super().__init__(variant_tensor)

    def _inputs(self):
        return [self._input_dataset]


class UnaryUnchangedStructureDataset(UnaryDataset):
    """Base of those with elements of the same spec as the other's."""

    @property
    def element_spec(self):
        """The spec of an element."""
        return self._input_dataset.element_spec


class _VariantDataset(DatasetV2):
    """A dataset of which only the variant is there."""

    def __init__(self, dataset_variant, element_spec):
        self._element_spec = element_spec
        super().__init__(dataset_variant)

    def _inputs(self):
        return []

    def options(self):
        """What was set for the dataset in the variant."""
        if self._merged_options is None and tf2.enabled() and self._variant_tensor._is_eager:
            self._merged_options = self._options_tensor_to_options(self._options())
        return self._merged_options or super().options()

    element_spec = property(lambda self: self._element_spec, doc="The spec of an element.")


class _NestedVariant(composite_tensor.CompositeTensor):
    """A tensor of datasets."""

    def __init__(self, variant_tensor, element_spec, dataset_shape):
        self._variant_tensor = variant_tensor
        self._element_spec = element_spec
        self._dataset_shape = dataset_shape

    @property
    def _type_spec(self):
        return DatasetSpec(self._element_spec, self._dataset_shape)


class DatasetSpec(type_spec.BatchableTypeSpec):
    """Of Dataset; of a tensor of datasets, if `dataset_shape` is not that of a scalar."""

    __slots__ = ("_element_spec", "_dataset_shape")
    _is_opaque = True
    value_type = property(lambda self: DatasetV2, doc="The class of datasets.")
    element_spec = property(lambda self: self._element_spec, doc="The spec of an element.")

    def __init__(self, element_spec, dataset_shape=()):
        self._element_spec = element_spec
        self._dataset_shape = tensor_shape.as_shape(dataset_shape)

    def _serialize(self):
        return self._element_spec, self._dataset_shape

    @property
    def _component_specs(self):
        return TensorSpec(self._dataset_shape, dtypes.variant)

    def _to_components(self, value):
        return value._variant_tensor

    def _from_components(self, components):
        if self._dataset_shape.ndims == 0:
            return _VariantDataset(components, self._element_spec)
        return _NestedVariant(components, self._element_spec, self._dataset_shape)

    def _to_tensor_list(self, value):
        return [ops.convert_to_tensor(whole_nest.map_structure(lambda dataset: dataset._variant_tensor, value))]

    @staticmethod
    def from_value(value):
        """The spec of a dataset."""
        return DatasetSpec(value.element_spec)

    def _batch(self, batch_size):
        return DatasetSpec(self._element_spec, tensor_shape.TensorShape([batch_size]).concatenate(self._dataset_shape))

    def _unbatch(self):
        if self._dataset_shape.ndims == 0:
            raise ValueError("Unbatching a dataset is only supported for rank >= 1")
        return DatasetSpec(self._element_spec, self._dataset_shape[1:])

    def _to_batched_tensor_list(self, value):
        if self._dataset_shape.ndims == 0:
            raise ValueError("Unbatching a dataset is only supported for rank >= 1")
        return self._to_tensor_list(value)


def make_one_shot_iterator(dataset):
    """An iterator that needs no initializer, of a dataset without state of its own."""
    return _with_iterators(dataset)._make_one_shot_iterator()


def make_initializable_iterator(dataset, shared_name=None):
    """An iterator whose `initializer` must run before it is used, and again for another iteration."""
    return _with_iterators(dataset)._make_initializable_iterator(shared_name)


def _with_iterators(dataset):
    return dataset if isinstance(dataset, DatasetV1) else DatasetV1Adapter(dataset)


def from_variant(variant, structure):
    """The dataset that a variant holds, with elements of the spec `structure`."""
    return _VariantDataset(variant, structure)


def to_variant(dataset):
    """The variant that holds a dataset."""
    variant = dataset._variant_tensor
    if variant._is_eager:
        variant._dataset = dataset  # whose functions are there as long as it is
    return variant


def warn_deprecated_ref(optimizations):
    """Says which rewriting of a pipeline is off because it reads reference variables."""
    warnings.warn("tf.data static optimizations are not compatible with tf.Variable. The following optimizations will "
                  f"be disabled: {', '.join(optimizations)}. To enable optimizations, use resource variables instead "
                  "by calling `tf.enable_resource_variables()` at the start of the program.")


def dataset_class():
    """The class of datasets that the version in use has."""
    return DatasetV2 if tf2.enabled() else DatasetV1


# The modules of the transformations, which need the classes above.


def _module(name):
    @functools.lru_cache(None)
    def load():
        import importlib
        return importlib.import_module(f"penstock._src.data.ops.{name}")
    return load


_sources, _simple, _batching, _mapping, _directed, _tuning = map(_module, (
    "sources", "simple", "batching", "mapping", "directed_interleave", "tuning"))
