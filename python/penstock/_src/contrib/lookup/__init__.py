"""tf.contrib.lookup: its own tables, and `mapping` for the list of words; the rest is ops/lookup/lookup_ops.py."""
from penstock._src.graph import dtypes
from penstock._src.graph import gen
from penstock._src.graph.conversion import executing_eagerly
from penstock._src.ops.lookup import lookup_ops


class HashTable(lookup_ops.InitializableLookupTableBaseV1):
    """A table that is filled once."""

    def __init__(self, initializer, default_value, shared_name=None, name="hash_table"):
        self._shared_name = shared_name or ""
        self._name = name or "hash_table"
        self._table_name = None
        super().__init__(default_value, initializer)
        self._value_shape = self._default_value.get_shape()

    def _create_resource(self):
        handle = gen.hash_table_v2(shared_name=self._shared_name, key_dtype=self._initializer.key_dtype,
                                   value_dtype=self._initializer.value_dtype, name=self._name)
        self._table_name = None if executing_eagerly() else handle.op.name.split("/")[-1]
        return handle

    @property
    def init(self):
        """The operation that fills the table."""
        return self.initializer

    @property
    def name(self):
        """The name of the table's operation."""
        return self._table_name

    export = lookup_ops.StaticHashTable.export


class MutableDenseHashTable(lookup_ops.DenseHashTable):
    """A table whose keys may be vectors."""

    def __init__(self, key_dtype, value_dtype, default_value, empty_key, deleted_key, initial_num_buckets=None,
                 name="MutableDenseHashTable", checkpoint=True, shared_name=None):
        self._given_name = shared_name
        super().__init__(key_dtype, value_dtype, default_value, empty_key, deleted_key, initial_num_buckets, name,
                         checkpoint)

    def _sharing(self):
        sharing = super()._sharing()
        if self._given_name:
            sharing.update(shared_name=self._given_name, use_node_name_sharing=False)
        return sharing


def index_table_from_tensor(mapping, num_oov_buckets=0, default_value=-1, hasher_spec=lookup_ops.FastHashSpec,
                            dtype=dtypes.string, name=None):
    """A table from words to their places in `mapping`."""
    if mapping is None:
        raise ValueError("mapping must be specified.")
    return lookup_ops.index_table_from_tensor(mapping, num_oov_buckets, default_value, hasher_spec, dtype, name)


def index_to_string_table_from_tensor(mapping, default_value="UNK", name=None):
    """A table from places in `mapping` to its words."""
    if mapping is None:
        raise ValueError("mapping must be specified.")
    return lookup_ops.index_to_string_table_from_tensor(mapping, default_value, name)
