"""Lookup tables filled from datasets."""
from penstock._src.data.experimental.ops.cardinality import assert_cardinality
from penstock._src.graph import dtypes, gen, ops
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.ops.lookup import lookup_ops
from penstock._src.core_ops import math_ops


def _check_element_spec(spec):
    wanted = ("Datasets used to initialize lookup tables must produce elements in the form (key, value), where the "
              "keys and values are scalar tensors. However, the given dataset produces ")
    if not isinstance(spec, tuple) or len(spec) != 2:
        count = len(spec) if isinstance(spec, tuple) else 1
        raise ValueError(f"{wanted}{count} components instead of two (key, value) components. Full dataset element "
                         f"spec: {spec}.")
    for what, part in zip(("key", "value"), spec):
        if not isinstance(part, TensorSpec):
            raise ValueError(f"{wanted}non-Tensor {what}s of type {type(part)}.")
        if part.shape.rank not in (None, 0):
            raise ValueError(f"{wanted}non-scalar {what} Tensors of rank {part.shape.rank}.")


class DatasetInitializer(lookup_ops.TableInitializerBase):
    """Fills a table with the (key, value) elements of a dataset."""

    def __init__(self, dataset):
        _check_element_spec(dataset.element_spec)
        self.dataset = dataset
        super().__init__(*(spec.dtype for spec in dataset.element_spec))

    def initialize(self, table):
        """The operation that fills it."""
        lookup_ops._check_dtypes(table, self.key_dtype, self.value_dtype)
        filled = gen.initialize_table_from_dataset(table.resource_handle, self.dataset._variant_tensor)
        ops.add_to_collection(ops.GraphKeys.TABLE_INITIALIZERS, filled)
        return filled


def table_from_dataset(dataset=None, num_oov_buckets=0, vocab_size=None, default_value=None,
                       hasher_spec=lookup_ops.FastHashSpec, key_dtype=dtypes.string, name=None):
    """A table of the (key, value) elements of a dataset, with buckets for other keys."""
    _check_element_spec(dataset.element_spec)
    value = dataset.element_spec[1].dtype
    if default_value is None:
        if not (value.is_integer or value.is_floating):
            raise ValueError("`default_value` must be specified when creating a table from a dataset that produces "
                             f"values of type {value}.")
        default_value = -1
    if num_oov_buckets < 0:
        raise ValueError(f"`num_oov_buckets` must be greater than or equal to 0, got {num_oov_buckets}.")
    if vocab_size is not None and not isinstance(vocab_size, ops.Tensor) and vocab_size < 1:
        raise ValueError(f"`vocab_size` must be greater than 0, got {vocab_size}.")
    if not key_dtype.is_integer and key_dtype.base_dtype != dtypes.string:
        raise TypeError(f"`key_dtype` must be either an integer or string type, but got {key_dtype}")
    if vocab_size is not None:
        if isinstance(vocab_size, ops.Tensor):
            vocab_size = math_ops.cast(vocab_size, dtypes.int64)
        dataset = dataset.take(vocab_size).apply(assert_cardinality(vocab_size))
    with ops.name_scope(name, "string_to_index"):
        initializer = DatasetInitializer(dataset)
        with ops.name_scope(None, "hash_table"):
            table = lookup_ops.StaticHashTableV1(initializer, default_value)
            if num_oov_buckets:
                table = lookup_ops.IdTableWithHashBuckets(table, num_oov_buckets=num_oov_buckets,
                                                          hasher_spec=hasher_spec, key_dtype=key_dtype)
            return table


def index_table_from_dataset(dataset=None, num_oov_buckets=0, vocab_size=None, default_value=-1,
                             hasher_spec=lookup_ops.FastHashSpec, key_dtype=dtypes.string, name=None):
    """A table of the elements' numbers, with buckets for other keys."""
    return table_from_dataset(dataset.enumerate().map(lambda number, key: (key, number)), num_oov_buckets, vocab_size,
                              default_value, hasher_spec, key_dtype, name)
