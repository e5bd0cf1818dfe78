"""Datasets that pass on elements of others as they are: fewer, more, in another order, earlier."""
from penstock._src.data.ops.dataset_ops import (
    DatasetV2, UnaryUnchangedStructureDataset, flat_structure, get_legacy_output_classes, get_legacy_output_shapes,
    get_legacy_output_types)
from penstock._src.data.util import nest, random_seed, structure
from penstock._src.graph import dtypes, gen, ops
from penstock._src.base import tf2
from penstock._src.base.mode import mode


def _int64(value, name):
    return ops.convert_to_tensor(value, dtype=dtypes.int64, name=name)


def _keeps_resources():
    """Whether what belongs to all iterations over a dataset is a resource of its own: version 2, where a dataset is a
    value and iterated over again and again."""
    graph = ops.get_default_graph()
    return mode.v2_behavior and (graph._eager or graph._building_function)


class _Passed(UnaryUnchangedStructureDataset):
    """A dataset made by an op function of (the input dataset, further inputs); `name` is the program's for it."""

    def __init__(self, input_dataset, name, function, *inputs, **attrs):
        super().__init__(input_dataset, function(input_dataset._variant_tensor, *inputs, **attrs,
                                                 **flat_structure(input_dataset.element_spec, name)))


class RepeatDataset(_Passed):
    """The input's elements several times."""

    def __init__(self, input_dataset, count, name=None):
        super().__init__(input_dataset, name, gen.repeat_dataset, _int64(-1 if count is None else count, "count"))


class TakeDataset(_Passed):
    """The first elements."""

    def __init__(self, input_dataset, count, name=None):
        super().__init__(input_dataset, name, gen.take_dataset, _int64(count, "count"))


class SkipDataset(_Passed):
    """All but the first elements."""

    def __init__(self, input_dataset, count, name=None):
        super().__init__(input_dataset, name, gen.skip_dataset, _int64(count, "count"))


class ShardDataset(_Passed):
    """Each n-th element."""

    def __init__(self, input_dataset, num_shards, index, name=None):
        num_shards = _int64(num_shards, "num_shards")
        super().__init__(input_dataset, name, gen.shard_dataset, num_shards, _int64(index, "index"))


class CacheDataset(_Passed):
    """Elements that are kept."""

    def __init__(self, input_dataset, filename, name=None):
        filename = ops.convert_to_tensor(filename, dtype=dtypes.string, name="filename")
        if _keeps_resources():
            handle, self._deleter = gen.anonymous_memory_cache()
            super().__init__(input_dataset, name, gen.cache_dataset_v2, filename, handle)
        else:
            super().__init__(input_dataset, name, gen.cache_dataset, filename)


class ShuffleDataset(_Passed):
    """Elements in a random order."""

    def __init__(self, input_dataset, buffer_size, seed=None, reshuffle_each_iteration=None, name=None):
        buffer_size = _int64(buffer_size, "buffer_size")
        seed, seed2 = random_seed.get_seed(seed)
        reshuffle = True if reshuffle_each_iteration is None else reshuffle_each_iteration
        if _keeps_resources():
            handle, self._deleter = gen.anonymous_seed_generator(seed, seed2, reshuffle)
            super().__init__(input_dataset, name, gen.shuffle_dataset_v3, buffer_size, seed, seed2, handle,
                             reshuffle_each_iteration=reshuffle)
        else:
            super().__init__(input_dataset, name, gen.shuffle_dataset, buffer_size, seed, seed2,
                             reshuffle_each_iteration=reshuffle)


class ShuffleAndRepeatDataset(_Passed):
    """Elements in random orders, several times."""

    def __init__(self, input_dataset, buffer_size, count=None, seed=None, name=None):
        buffer_size = _int64(buffer_size, "buffer_size")
        count = _int64(-1 if count is None else count, "count")
        seed, seed2 = random_seed.get_seed(seed)
        if _keeps_resources():
            handle, self._deleter = gen.anonymous_seed_generator(seed, seed2, True)
            super().__init__(input_dataset, name, gen.shuffle_and_repeat_dataset_v2, buffer_size, seed, seed2, count,
                             handle)
        else:
            super().__init__(input_dataset, name, gen.shuffle_and_repeat_dataset, buffer_size, seed, seed2, count)


class PrefetchDataset(_Passed):
    """Elements made before they are asked for."""

    def __init__(self, input_dataset, buffer_size, slack_period=None, name=None):
        super().__init__(input_dataset, name, gen.prefetch_dataset, _int64(-1 if buffer_size is None else buffer_size,
                                                                     "buffer_size"), slack_period=slack_period)


class IgnoreErrorsDataset(_Passed):
    """Elements that could be made."""

    def __init__(self, input_dataset, log_warning=False, name=None):
        super().__init__(input_dataset, None, gen.ignore_errors_dataset, log_warning=log_warning)


class UniqueDataset(_Passed):
    """Elements that are seen for the first time. TypeError unless they are integers or strings; version 2 leaves it to
    the op to refuse several components."""

    def __init__(self, input_dataset, name=None):
        types = get_legacy_output_types(input_dataset)
        allowed = (dtypes.int32, dtypes.int64, dtypes.string)
        if mode.tensor_shape_v2:
            for dtype in nest.flatten(types):
                if dtype not in allowed:
                    raise TypeError(f"`tf.data.Dataset.unique` does not support type {dtype} -- only `tf.int32`, "
                                    "`tf.int64`, and `tf.string` are supported.")
        elif nest.is_sequence(types) or types not in allowed:
            raise TypeError("`tf.data.experimental.unique()` only supports inputs with a single `tf.int32`, "
                            "`tf.int64`, or `tf.string` component.")
        super().__init__(input_dataset, name, gen.unique_dataset)


class _OptionsDataset(UnaryUnchangedStructureDataset):
    """A dataset with options."""

    def __init__(self, input_dataset, options, name=None):
        self._merged_options = input_dataset.options().merge(options)
        self._merged_options._set_mutable(False)
        variant = input_dataset._variant_tensor
        if tf2.enabled():  # where a variant that comes out of a function has its options too
            variant = gen.options_dataset(variant, serialized_options=options._to_proto().SerializeToString(),
                                          **flat_structure(input_dataset.element_spec, name))
        super().__init__(input_dataset, variant)

    def options(self):
        """What was set with `with_options`."""
        return self._merged_options


class _RestructuredDataset(UnaryUnchangedStructureDataset):
    """A dataset whose elements are seen as of another spec."""

    def __init__(self, input_dataset, element_spec):
        self._structure = element_spec
        super().__init__(input_dataset, input_dataset._variant_tensor)

    element_spec = property(lambda self: self._structure, doc="The spec of an element.")


class ZipDataset(DatasetV2):
    """Elements made of one element of each dataset. TypeError: something else is among them."""

    def __init__(self, datasets, name=None):
        for dataset in nest.flatten(datasets):
            if isinstance(dataset, DatasetV2):
                continue
            if tf2.enabled():
                wrong = (". Python `list` is not supported and you should use `tuple` instead."
                         if isinstance(dataset, list) else f" but encountered object of type {type(dataset)}.")
                raise TypeError("Invalid input to `zip`. Inputs are expected to be (nested) structures of "
                                f"`tf.data.Dataset` objects{wrong}")
            lists = " Nested structures do not support Python lists; please use a tuple instead."
            raise TypeError("The argument to `Dataset.zip()` must be a nested structure of `Dataset` objects."
                            + lists * isinstance(dataset, list))
        self._datasets = datasets
        self._structure = nest.pack_sequence_as(datasets, [d.element_spec for d in nest.flatten(datasets)])
        super().__init__(gen.zip_dataset([d._variant_tensor for d in nest.flatten(datasets)],
                                         **flat_structure(self._structure, name)))

    def _inputs(self):
        return nest.flatten(self._datasets)

    element_spec = property(lambda self: self._structure, doc="The spec of an element.")


def zip_datasets(args, datasets, name=None):
    """The zip of a structure, or of several datasets as a tuple."""
    if bool(args) == (datasets is not None):
        raise TypeError("Must pass at least one dataset to `zip`." if not args else
                        "Both `*args` and `datasets` cannot be set.")
    if datasets is None:
        datasets = args[0] if len(args) == 1 else args
    return ZipDataset(datasets, name)


class ConcatenateDataset(DatasetV2):
    """One dataset after the other. TypeError: their elements are of different types or classes."""

    def __init__(self, input_dataset, dataset_to_concatenate, name=None):
        self._parts = [input_dataset, dataset_to_concatenate]
        self._structure = common_structure(self._parts, "concatenate")
        super().__init__(gen.concatenate_dataset(input_dataset._variant_tensor, dataset_to_concatenate._variant_tensor,
                                                 **flat_structure(self._structure, name)))

    def _inputs(self):
        return self._parts

    element_spec = property(lambda self: self._structure, doc="The spec of an element.")


def _common_spec(datasets):
    """The spec of version 2. TypeError: there is none that has all elements."""
    def common(a, b):
        found = a.most_specific_common_supertype([b])
        if found is None:
            raise TypeError(f"No common supertype of {a} and {b}.")
        return found

    spec = datasets[0].element_spec
    for other in datasets[1:]:
        try:
            spec = nest.map_structure(common, spec, other.element_spec)
        except (TypeError, ValueError) as e:
            raise TypeError(f"Incompatible dataset elements:\n  {datasets[0].element_spec} vs.   {other.element_spec}"
                            ) from e
    return spec


def common_structure(datasets, verb):
    """The spec of elements of any of several datasets. TypeError: their types or classes differ."""
    first = datasets[0]
    if tf2.enabled():
        return _common_spec(datasets)
    types, classes = get_legacy_output_types(first), get_legacy_output_classes(first)
    shapes = get_legacy_output_shapes(first)
    for other in datasets[1:]:
        for what, mine, get in (("types", types, get_legacy_output_types),
                                ("classes", classes, get_legacy_output_classes)):
            if mine != get(other):
                raise TypeError(f"Incompatible dataset elements: Two datasets to {verb} have different {what} {mine} "
                                f"and {get(other)}")
        shapes = nest.pack_sequence_as(shapes, [
            a.most_specific_compatible_type(b) if hasattr(a, "most_specific_compatible_type") else
            a.most_specific_compatible_shape(b)
            for a, b in zip(nest.flatten(shapes), nest.flatten(get_legacy_output_shapes(other)))])
    return structure.convert_legacy_structure(types, shapes, classes)
