"""Lookup tables: from keys to values, filled once or changed as the program runs."""
import collections
import functools
import uuid
import weakref

from penstock._src.graph import constant_op, dtypes, gen, ops, sparse_tensor, tensor_shape, tensor_util
from penstock._src.base import tf2
from penstock._src.graph.conversion import executing_eagerly
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.lookup.tables_initializer import tables_initializer
from penstock._src.ops.state import saveable_object
from penstock._src.ops.state import base
from penstock._src.ops.state import tracking
from penstock._src.base import compat



def initialize_all_tables(name="init_all_tables"):
    """The old name of tables_initializer."""
    return tables_initializer(name)


def _words(version_two, version_one):
    """What the version in use says."""
    return version_two if tf2.enabled() else version_one


def _check_dtypes(table, key_dtype, value_dtype):
    if key_dtype.base_dtype != table.key_dtype:
        raise TypeError(f"Invalid key dtype, expected {table.key_dtype} but got {key_dtype}.")
    if value_dtype.base_dtype != table.value_dtype:
        raise TypeError(f"Invalid value dtype, expected {table.value_dtype} but got {value_dtype}.")


def _within_control_flow():
    return not executing_eagerly() and ops.get_default_graph()._get_control_flow_context() is not None


class LookupInterface(tracking.TrackableResource):
    """What every table has: types, a handle, size and lookup."""

    def __init__(self, key_dtype, value_dtype):
        self._key_dtype = dtypes.as_dtype(key_dtype)
        self._value_dtype = dtypes.as_dtype(value_dtype)
        super().__init__()

    @property
    def key_dtype(self):
        """The type of keys."""
        return self._key_dtype

    @property
    def value_dtype(self):
        """The type of values."""
        return self._value_dtype

    @property
    def name(self):
        """The name of the table."""
        raise NotImplementedError

    def size(self, name=None):
        """The number of entries."""
        raise NotImplementedError

    def lookup(self, keys, name=None):
        """The keys' values."""
        raise NotImplementedError

    def __getitem__(self, keys):
        return self.lookup(keys)

    def _check_key_dtype(self, keys):
        if keys.dtype.base_dtype != self._key_dtype:
            raise TypeError(_words(f"Dtype of argument `keys` must be {self._key_dtype}, received: {keys.dtype}",
                                   f"Signature mismatch. Keys must be dtype {self._key_dtype}, got {keys.dtype}."))


def _is_ragged(keys):
    return hasattr(keys, "with_flat_values")


def _like_keys(keys, values):
    """Values of a sparse or ragged tensor of keys are such a tensor."""
    if isinstance(keys, sparse_tensor.SparseTensor):
        return sparse_tensor.SparseTensor(keys.indices, values, keys.dense_shape)
    return keys.with_flat_values(values) if _is_ragged(keys) else values


def _plain(keys):
    """The keys themselves, without their places."""
    if _is_ragged(keys):
        return keys.flat_values
    return keys.values if isinstance(keys, sparse_tensor.SparseTensor) else keys


class InitializableLookupTableBase(LookupInterface):
    """A table that an initializer fills."""

    def __init__(self, default_value, initializer):
        super().__init__(initializer.key_dtype, initializer.value_dtype)
        self._default_value = ops.convert_to_tensor(default_value, dtype=self._value_dtype)
        self._default_value.get_shape().merge_with(tensor_shape.TensorShape([]))
        self._initializer = self._track_trackable(initializer, "_initializer")
        with ops.init_scope():
            self._resource_handle = self._create_resource()
        if _within_control_flow():
            with ops.init_scope():
                self._init_op = self._initialize()
        else:
            self._init_op = self._initialize()

    def _initialize(self):
        return self._initializer.initialize(self)

    @property
    def default_value(self):
        """What keys have that the table has not."""
        return self._default_value

    def size(self, name=None):
        """The number of entries."""
        with ops.name_scope(name, f"{self.name}_Size", [self.resource_handle]):
            return gen.lookup_table_size_v2(self.resource_handle)

    def lookup(self, keys, name=None):
        """The keys' values, of the keys' kind (dense, sparse, ragged); the default for those that the table has not."""
        if not isinstance(keys, sparse_tensor.SparseTensor):
            keys = ops.convert_to_tensor(keys) if not hasattr(keys, "dtype") else keys
        self._check_key_dtype(keys)
        with ops.name_scope(name, f"{self.name}_Lookup", (self.resource_handle, _plain(keys), self._default_value)):
            values = gen.lookup_table_find_v2(self.resource_handle, _plain(keys), self._default_value)
        values.set_shape(_plain(keys).get_shape())
        return _like_keys(keys, values)


class InitializableLookupTableBaseV1(InitializableLookupTableBase):
    """A table of version 1: its initializer is an operation of the graph."""
    @property
    def initializer(self):
        """The operation that fills the table."""
        return self._init_op


# Handles of tables by the names that share them, while they live: eager tables of one file are one table.
_eager_tables = weakref.WeakValueDictionary()


class StaticHashTable(InitializableLookupTableBase):
    """A table that is filled once."""

    def __init__(self, initializer, default_value, name=None, experimental_is_anonymous=False):
        self._initializer = initializer
        self._default_value = default_value
        self._shared_name = initializer._shared_name or f"hash_table_{uuid.uuid4()}"
        self._anonymous = experimental_is_anonymous
        self._name = name or "hash_table"
        self._table_name = None
        super().__init__(default_value, initializer)
        self._value_shape = self._default_value.get_shape()

    def _create_resource(self):
        types = dict(key_dtype=self._initializer.key_dtype, value_dtype=self._initializer.value_dtype, name=self._name)
        if self._anonymous:
            handle = gen.anonymous_hash_table(**types)
        elif executing_eagerly():
            handle = _eager_tables.get(self._shared_name)
            if handle is None:
                handle = _eager_tables[self._shared_name] = gen.hash_table_v2(shared_name="", **types)
        else:
            handle = gen.hash_table_v2(shared_name=self._shared_name, **types)
        self._table_name = None if executing_eagerly() else handle.op.name.split("/")[-1]
        return handle

    @property
    def name(self):
        """The name of the table's operation; None in eager programs."""
        return self._table_name

    def export(self, name=None):
        """All keys and their values."""
        with ops.name_scope(name, f"{self.name}_Export", [self.resource_handle]):
            keys, values = gen.lookup_table_export_v2(self.resource_handle, self._key_dtype, self._value_dtype)
        keys.set_shape([None])
        values.set_shape(keys.get_shape().concatenate(self._value_shape))
        return keys, values


class StaticHashTableV1(StaticHashTable):
    """A table that is filled once, with the operation that does so."""

    @property
    def initializer(self):
        """The operation that fills the table."""
        return self._init_op


class HashTable(StaticHashTableV1):
    """A table whose contents are given once, with version 1's older names."""
    @property
    def init(self):
        """The operation that fills the table."""
        return self.initializer


class TableInitializerBase(base.Trackable):
    """What fills a table."""

    def __init__(self, key_dtype, value_dtype):
        self._key_dtype = dtypes.as_dtype(key_dtype)
        self._value_dtype = dtypes.as_dtype(value_dtype)

    @property
    def key_dtype(self):
        """The type of keys."""
        return self._key_dtype

    @property
    def value_dtype(self):
        """The type of values."""
        return self._value_dtype

    def initialize(self, table):
        """An operation that fills this table."""
        raise NotImplementedError

    @property
    def _shared_name(self):
        return str(ops.uid()) if executing_eagerly() else ""


class KeyValueTensorInitializer(TableInitializerBase):
    """Fills a table with tensors of keys and values."""

    def __init__(self, keys, values, key_dtype=None, value_dtype=None, name=None):
        if _within_control_flow():
            with ops.init_scope():
                self._convert(keys, values, key_dtype, value_dtype)
        else:
            self._convert(keys, values, key_dtype, value_dtype)
        self._name = "key_value_init" if name is None else name
        if executing_eagerly():
            self._name += str(ops.uid())
        super().__init__(self._keys.dtype, self._values.dtype)

    def _convert(self, keys, values, key_dtype, value_dtype):
        self._keys = ops.convert_to_tensor(keys, dtype=key_dtype, name="keys")
        self._values = ops.convert_to_tensor(values, dtype=value_dtype, name="values")

    def initialize(self, table):
        """An operation that fills this table."""
        _check_dtypes(table, self._keys.dtype, self._values.dtype)
        with ops.name_scope(self._name, values=(table.resource_handle, self._keys, self._values)):
            fill = gen.lookup_table_import_v2(table.resource_handle, self._keys, self._values)
        ops.add_to_collection(ops.GraphKeys.TABLE_INITIALIZERS, fill)
        return fill


class TextFileIndex:
    """What of a line a key or value is, besides its columns."""

    WHOLE_LINE = -2
    LINE_NUMBER = -1


class TextFileInitializer(TableInitializerBase):
    """Fills a table with the lines of a file."""

    def __init__(self, filename, key_dtype, key_index, value_dtype, value_index, vocab_size=None, delimiter="\t",
                 name=None, value_index_offset=0):
        if not isinstance(filename, ops.Tensor) and not filename:
            raise ValueError(_words("`filename` argument required for tf.lookup.TextFileInitializer",
                                    f"Filename required for {name}."))
        key_dtype, value_dtype = dtypes.as_dtype(key_dtype), dtypes.as_dtype(value_dtype)

        for what, index, dtype in ("key", key_index, key_dtype), ("value", value_index, value_dtype):
            if index < -2:
                raise ValueError(_words(f"`{what}_index` should be >= -2, received: {index}.",
                                        f"Invalid {what} index {index}."))
            numbers = index == TextFileIndex.LINE_NUMBER
            # A line is a whole number too, but not as a value in version 1.
            of_line = dtype == dtypes.string or dtype.is_integer and (what == "key" or tf2.enabled())
            if not numbers and index != TextFileIndex.WHOLE_LINE or (dtype == dtypes.int64 if numbers else of_line):
                continue
            older = (f"dtype {dtypes.int64}" if numbers else "integer or string" if what == "key" else
                     f"dtype {dtypes.string}")
            needed = "must be int64" if numbers else "should be either integer or string"
            where = f"if `key_index` is {index}" if what == "key" and numbers else f"for `{what}_index` {index}"
            raise ValueError(_words(
                f"`{what}_dtype` {needed} {where}, received: {dtype}",
                f"Signature mismatch. {what.capitalize()}s must be {older}, got {dtype}."))
        if vocab_size is not None and vocab_size <= 0:
            raise ValueError(_words(f"`vocab_size` should be > 0, received: {vocab_size}",
                                    f"Invalid vocab_size {vocab_size}."))
        self._filename_arg = filename
        self._key_index, self._value_index = key_index, value_index
        self._vocab_size = vocab_size
        self._delimiter = delimiter
        self._name = name
        self._offset = value_index_offset
        # A SavedModel takes the file with it.
        self._filename = self._track_trackable(tracking.TrackableAsset(filename), "_filename")
        super().__init__(key_dtype, value_dtype)

    def initialize(self, table):
        """An operation that fills this table."""
        _check_dtypes(table, self.key_dtype, self.value_dtype)
        with ops.name_scope(self._name, "text_file_init", (table.resource_handle,)):
            filename = ops.convert_to_tensor(self._filename, dtypes.string, name="asset_filepath")
            fill = gen.initialize_table_from_text_file_v2(
                table.resource_handle, filename, self._key_index, self._value_index,
                -1 if self._vocab_size is None else self._vocab_size, self._delimiter, self._offset)
        ops.add_to_collection(ops.GraphKeys.TABLE_INITIALIZERS, fill)
        # A constant name of a file tells exporters which files belong to the graph.
        if not executing_eagerly() and constant_op.is_constant(filename):
            ops.add_to_collection(ops.GraphKeys.ASSET_FILEPATHS, filename)
        return fill

    @property
    def _shared_name(self):
        size = f"_{self._vocab_size}" if self._vocab_size else ""
        offset = f"_{self._offset}" if self._offset else ""
        return f"hash_table_{self._filename_arg}{size}_{self._key_index}_{self._value_index}{offset}"


class TextFileStringTableInitializer(TextFileInitializer):
    """From line numbers to lines."""

    def __init__(self, filename, key_column_index=TextFileIndex.LINE_NUMBER,
                 value_column_index=TextFileIndex.WHOLE_LINE, vocab_size=None, delimiter="\t",
                 name="text_file_string_table_init"):
        super().__init__(filename, dtypes.int64, key_column_index, dtypes.string, value_column_index,
                         vocab_size=vocab_size, delimiter=delimiter, name=name)


class TextFileIdTableInitializer(TextFileInitializer):
    """From lines to line numbers."""

    def __init__(self, filename, key_column_index=TextFileIndex.WHOLE_LINE,
                 value_column_index=TextFileIndex.LINE_NUMBER, vocab_size=None, delimiter="\t",
                 name="text_file_id_table_init", key_dtype=dtypes.string):
        super().__init__(filename, key_dtype, key_column_index, dtypes.int64, value_column_index,
                         vocab_size=vocab_size, delimiter=delimiter, name=name)


class HasherSpec(collections.namedtuple("HasherSpec", ["hasher", "key"])):
    """How keys outside the vocabulary are hashed."""

    __slots__ = ()


FastHashSpec = HasherSpec("fasthash", None)


class StrongHashSpec(HasherSpec):
    """A hash with a key of two integers."""

    __slots__ = ()

    def __new__(cls, key):
        if len(key) != 2:
            raise ValueError(f"key must have size 2, got {len(key)}.")
        if not all(isinstance(part, compat.integral_types) for part in key):
            raise TypeError(f"Invalid key {key}. Must be unsigned integer values.")
        return super().__new__(cls, "stronghash", key)


def _hash_function(spec):
    if not isinstance(spec, HasherSpec):
        raise TypeError(f"hasher_spec must be of type HasherSpec {spec}")
    if spec.hasher == "fasthash":
        return gen.string_to_hash_bucket_fast
    if spec.hasher == "legacy":
        return gen.string_to_hash_bucket
    if spec.hasher == "stronghash":
        return functools.partial(gen.string_to_hash_bucket_strong, key=spec.key)
    raise ValueError(f"Unknown hasher {spec.hasher}")


def _as_string(tensor):
    return tensor if tensor.dtype.base_dtype == dtypes.string else gen.as_string(tensor)


def _check_vocabulary(source, key_dtype):
    """Whether a table or initializer may stand below one that has these keys."""
    supported, words = (dtypes.int64, dtypes.string), _words("`key_dtype`", "key dtype")
    if source.key_dtype not in supported:
        raise TypeError(f"Invalid {words}, expected one of {supported}, but got {source.key_dtype}.")
    if source.key_dtype.is_integer != key_dtype.is_integer:
        expected = "integer" if key_dtype.is_integer else "non-integer"
        raise TypeError(f"Invalid {words}, expected {expected} but got {source.key_dtype}.")
    if source.value_dtype != dtypes.int64:
        words = _words("`value_dtype`", "value dtype")
        raise TypeError(f"Invalid {words}, expected {dtypes.int64} but got {source.value_dtype}.")


class _HashBucketTable(LookupInterface):
    """A table, perhaps none, with buckets for the keys that it has not."""

    def __init__(self, table, buckets, hasher_spec, key_dtype, name):
        if not key_dtype.is_integer and key_dtype != dtypes.string:
            words = _words("`key_dtype`", "key_dtype")
            raise TypeError(f"Invalid {words}, expected integer or string, got {key_dtype}.")
        if not isinstance(hasher_spec, HasherSpec):
            raise TypeError(f"hasher_spec must be of type HasherSpec, got {hasher_spec}")
        self._table = None if table is None else self._track_trackable(table, "_table")
        self._num_oov_buckets = buckets
        self._hasher_spec = hasher_spec
        self._table_name = name.split("/")[-1] if name else None
        super().__init__(key_dtype, dtypes.int64)

    def _export_to_saved_model_graph(self, object_map, tensor_map, options):
        return []  # the table below is exported

    def _create_resource(self):
        return None if self._table is None else self._table._create_resource()

    def _initialize(self):
        if self._table is not None:
            return self._table._initialize()
        with ops.name_scope(None, "init"):
            return control_flow_ops.no_op()

    @property
    def initializer(self):
        """The operation that fills the table."""
        if self._table is not None:
            return self._table._init_op
        with ops.name_scope(None, "init"):
            return control_flow_ops.no_op()

    @property
    def resource_handle(self):
        """The handle of the table below, if there is one."""
        return None if self._table is None else self._table.resource_handle

    @property
    def name(self):
        """The name of the table."""
        return self._table_name

    def size(self, name=None):
        """The number of entries and buckets."""
        with ops.name_scope(name, f"{self.name}_Size"):
            entries = self._table.size() if self._table else ops.convert_to_tensor(0, dtype=dtypes.int64)
            return entries + self._num_oov_buckets

    def lookup(self, keys, name=None):
        """The keys' values; a bucket for those that the table has not."""
        self._check_key_dtype(keys)
        values = _plain(keys)
        if self._table and self._table.key_dtype.base_dtype == dtypes.int64:
            values = math_ops.cast(values, dtypes.int64)
        if self._num_oov_buckets == 0:
            return _like_keys(keys, self._table.lookup(values, name=name))
        with ops.name_scope(name, f"{self.name}_Lookup"):
            buckets = _hash_function(self._hasher_spec)(_as_string(values), num_buckets=self._num_oov_buckets,
                                                        name="hash_bucket")
            if self._table:
                ids = self._table.lookup(values)
                buckets = math_ops.add(buckets, self._table.size())
                known = math_ops.not_equal(ids, self._table.default_value)
                ids = array_ops.where_v2(known, ids, buckets)
            else:
                ids = buckets
        return _like_keys(keys, ids)


class IdTableWithHashBuckets(_HashBucketTable):
    """A table of ids, with buckets for the keys that it has not."""

    def __init__(self, table, num_oov_buckets, hasher_spec=FastHashSpec, name=None, key_dtype=None):
        name = name.rstrip("/") if name else name
        if table:
            key_dtype = table.key_dtype if key_dtype is None else key_dtype
            _check_vocabulary(table, key_dtype)
            name = name or table.name
        else:
            if num_oov_buckets <= 0:
                raise ValueError("oov_buckets must be > 0 if no table is supplied.")
            key_dtype = dtypes.string if key_dtype is None else key_dtype
            name = name or "hash_bucket"
        super().__init__(table or None, num_oov_buckets, hasher_spec, key_dtype, name)

    @property
    def init(self):
        """The operation that fills the table."""
        return self.initializer


class StaticVocabularyTable(_HashBucketTable):
    """A vocabulary, with buckets for the words that it has not."""

    def __init__(self, initializer, num_oov_buckets, lookup_key_dtype=None, name=None, experimental_is_anonymous=False):
        if num_oov_buckets <= 0:
            raise ValueError(_words("`num_oov_buckets` must be > 0; use StaticHashTable.", "oov_buckets must be > 0."))
        name = name.rstrip("/") if name else name
        table = None
        if initializer:
            lookup_key_dtype = initializer.key_dtype if lookup_key_dtype is None else lookup_key_dtype
            _check_vocabulary(initializer, lookup_key_dtype)
            table = HashTable(initializer, default_value=-1, experimental_is_anonymous=experimental_is_anonymous)
            name = name or table.name
        else:
            lookup_key_dtype = dtypes.string
            name = name or "hash_bucket"
        super().__init__(table, num_oov_buckets, FastHashSpec, lookup_key_dtype, name)


class StaticVocabularyTableV1(StaticVocabularyTable):
    """The same for version 1."""


def _check_vocabulary_file(vocabulary_file, vocab_size):
    if vocabulary_file is None or (isinstance(vocabulary_file, str) and not vocabulary_file):
        raise ValueError("vocabulary_file must be specified and must not be empty.")
    if vocab_size is not None and vocab_size < 1:
        shown = vocabulary_file
        if isinstance(shown, ops.Tensor):
            shown = tensor_util.constant_value(shown) or "?"
        raise ValueError(f"vocab_size must be greater than 0, got {vocab_size}. vocabulary_file: {shown}")


def _check_buckets(num_oov_buckets):
    if num_oov_buckets < 0:
        raise ValueError(f"num_oov_buckets must be greater or equal than 0, got {num_oov_buckets}.")


def index_table_from_file(vocabulary_file=None, num_oov_buckets=0, vocab_size=None, default_value=-1,
                          hasher_spec=FastHashSpec, key_dtype=dtypes.string, name=None,
                          key_column_index=TextFileIndex.WHOLE_LINE, value_column_index=TextFileIndex.LINE_NUMBER,
                          delimiter="\t"):
    """A table from the words of a file to their numbers."""
    _check_vocabulary_file(vocabulary_file, None)
    _check_buckets(num_oov_buckets)
    _check_vocabulary_file(vocabulary_file, vocab_size)
    if not key_dtype.is_integer and key_dtype.base_dtype != dtypes.string:
        raise TypeError("Only integer and string keys are supported.")
    with ops.name_scope(name, "string_to_index"):
        with ops.name_scope(None, "hash_table"):
            initializer = TextFileIdTableInitializer(
                vocabulary_file, vocab_size=vocab_size, key_dtype=dtypes.int64 if key_dtype.is_integer else key_dtype,
                name="table_init", key_column_index=key_column_index, value_column_index=value_column_index,
                delimiter=delimiter)
            table = StaticHashTableV1(initializer, default_value)
        if num_oov_buckets:
            table = IdTableWithHashBuckets(table, num_oov_buckets=num_oov_buckets, hasher_spec=hasher_spec,
                                           key_dtype=key_dtype)
        return table


def index_table_from_tensor(vocabulary_list, num_oov_buckets=0, default_value=-1, hasher_spec=FastHashSpec,
                            dtype=dtypes.string, name=None):
    """A table from words to their places in a list."""
    if vocabulary_list is None:
        raise ValueError("vocabulary_list must be specified.")
    _check_buckets(num_oov_buckets)
    if not dtype.is_integer and dtype.base_dtype != dtypes.string:
        raise TypeError("Only integer and string keys are supported.")
    with ops.name_scope(name, "string_to_index"):
        keys = ops.convert_to_tensor(vocabulary_list)
        if keys.dtype.is_integer != dtype.is_integer:
            expected = "integer" if dtype.is_integer else "non-integer"
            raise ValueError(f"Expected {expected}, got {keys.dtype}.")
        if not dtype.is_integer and keys.dtype.base_dtype != dtype:
            raise ValueError(f"Expected {dtype}, got {keys.dtype}.")
        count = array_ops.size(keys)
        values = math_ops.cast(math_ops.range(count), dtypes.int64)
        with ops.name_scope(None, "hash_table"):
            table_keys = math_ops.cast(keys, dtypes.int64) if keys.dtype.is_integer else keys
            initializer = KeyValueTensorInitializer(table_keys, values, table_keys.dtype.base_dtype, dtypes.int64,
                                                    name="table_init")
            table = StaticHashTableV1(initializer, default_value)
        if num_oov_buckets:
            table = IdTableWithHashBuckets(table, num_oov_buckets=num_oov_buckets, hasher_spec=hasher_spec,
                                           key_dtype=dtype)
        return table


def index_to_string_table_from_file(vocabulary_file, vocab_size=None, default_value="UNK", name=None,
                                    key_column_index=TextFileIndex.LINE_NUMBER,
                                    value_column_index=TextFileIndex.WHOLE_LINE, delimiter="\t"):
    """A table from numbers to the words of a file."""
    _check_vocabulary_file(vocabulary_file, vocab_size)
    with ops.name_scope(name, "index_to_string"):
        initializer = TextFileStringTableInitializer(
            vocabulary_file, vocab_size=vocab_size, name="table_init", key_column_index=key_column_index,
            value_column_index=value_column_index, delimiter=delimiter)
        return StaticHashTableV1(initializer, default_value)


def index_to_string_table_from_tensor(vocabulary_list, default_value="UNK", name=None):
    """A table from places in a list to its words."""
    if vocabulary_list is None:
        raise ValueError("vocabulary_list must be specified.")
    with ops.name_scope(name, "index_to_string"):
        words = ops.convert_to_tensor(vocabulary_list, dtypes.string)
        keys = math_ops.cast(math_ops.range(array_ops.size(words)), dtypes.int64)
        initializer = KeyValueTensorInitializer(keys, words, dtypes.int64, dtypes.string, name="table_init")
        return StaticHashTableV1(initializer, default_value)


class _MutableTable(LookupInterface):
    """What tables have that change as the program runs. Checkpoints hold their entries."""

    def __init__(self, key_dtype, value_dtype, name, checkpoint):
        self._checkpoint = checkpoint
        self._name = name
        self._shared_name = f"table_{ops.uid()}" if executing_eagerly() else None
        self._table_name = None
        super().__init__(key_dtype, value_dtype)
        self._resource_handle = self._create_resource()
        self._table_name = None if executing_eagerly() else self._resource_handle.op.name.split("/")[-1]
        if checkpoint and not executing_eagerly():
            ops.add_to_collection(ops.GraphKeys.SAVEABLE_OBJECTS, _TableSaveable(self, name))

    def _sharing(self):
        shared_name = "" if executing_eagerly() else self._shared_name  # an eager table ends with its handle
        return dict(shared_name=shared_name or "",
                    use_node_name_sharing=self._checkpoint and self._shared_name is None,
                    value_dtype=self._value_dtype, name=self._name)

    @property
    def name(self):
        """The name of the table's operation; None in eager programs."""
        return self._table_name

    def size(self, name=None):
        """The number of entries."""
        with ops.name_scope(name, f"{self.name}_Size", [self.resource_handle]), \
                ops.colocate_with(self.resource_handle):
            return gen.lookup_table_size_v2(self.resource_handle)

    def remove(self, keys, name=None):
        """An operation that removes entries."""
        if keys.dtype != self._key_dtype:
            raise TypeError(f"Signature mismatch. Keys must be dtype {self._key_dtype}, got {keys.dtype}.")
        with ops.name_scope(name, f"{self.name}_lookup_table_remove",
                            (self.resource_handle, keys, self._default_value)):
            return gen.lookup_table_remove_v2(self.resource_handle, keys)

    def lookup(self, keys, dynamic_default_values=None, name=None):
        """The keys' values; a default for those that the table has not."""
        if isinstance(dynamic_default_values, str):  # version 1's second argument is the name
            dynamic_default_values, name = None, dynamic_default_values
        with ops.name_scope(name, f"{self.name}_lookup_table_find", [self.resource_handle, keys]):
            plain = ops.convert_to_tensor(_plain(keys), dtype=self._key_dtype, name="keys")
            default = self._default_value if dynamic_default_values is None else dynamic_default_values
            with ops.colocate_with(self.resource_handle):
                return _like_keys(keys, gen.lookup_table_find_v2(self.resource_handle, plain, default))

    def insert(self, keys, values, name=None):
        """An operation that adds or replaces entries."""
        with ops.name_scope(name, f"{self.name}_lookup_table_insert", [self.resource_handle, keys, values]):
            keys = ops.convert_to_tensor(keys, dtype=self._key_dtype, name="keys")
            values = ops.convert_to_tensor(values, dtype=self._value_dtype, name="values")
            with ops.colocate_with(self.resource_handle):
                return gen.lookup_table_insert_v2(self.resource_handle, keys, values)

    def export(self, name=None):
        """All keys and their values."""
        with ops.name_scope(name, f"{self.name}_lookup_table_export_values", [self.resource_handle]), \
                ops.colocate_with(self.resource_handle):
            keys, values = gen.lookup_table_export_v2(self.resource_handle, self._key_dtype, self._value_dtype)
        return keys, values

    def _gather_saveables_for_checkpoint(self):
        return {"table": functools.partial(_TableSaveable, table=self, name=self._name, when_saved=True)}


class _TableSaveable(saveable_object.SaveableObject):
    """A table's entries in a checkpoint. `when_saved`: they are exported by who saves, not by who restores."""

    def __init__(self, table, name, when_saved=False):
        export = functools.cache(table.export) if when_saved else None
        keys, values = (lambda: export()[0], lambda: export()[1]) if when_saved else table.export()
        device = table.resource_handle.device
        specs = [saveable_object.SaveSpec(keys, "", name + "-keys", table.key_dtype, device),
                 saveable_object.SaveSpec(values, "", name + "-values", table.value_dtype, device)]
        super().__init__(table, specs, name)

    def restore(self, restored_tensors, restored_shapes, name=None):
        """An operation that puts what was saved into the table."""
        handle = self.op.resource_handle
        with ops.name_scope(name, f"{self.op._name}_table_restore"), ops.colocate_with(handle):
            return gen.lookup_table_import_v2(handle, restored_tensors[0], restored_tensors[1])


class MutableHashTable(_MutableTable):
    """A table whose entries come and go."""

    def __init__(self, key_dtype, value_dtype, default_value, name="MutableHashTable", checkpoint=True,
                 experimental_is_anonymous=False):
        self._default_value = ops.convert_to_tensor(default_value, dtype=value_dtype)
        self._value_shape = self._default_value.get_shape()
        self._anonymous = experimental_is_anonymous
        super().__init__(key_dtype, value_dtype, name, checkpoint)

    def _create_resource(self):
        if self._anonymous:
            types = dict(key_dtype=self._key_dtype, value_dtype=self._value_dtype, name=self._name)
            if self._value_shape.ndims == 0:
                return gen.anonymous_mutable_hash_table(**types)
            return gen.anonymous_mutable_hash_table_of_tensors(value_shape=self._value_shape, **types)
        if self._value_shape.ndims == 0:
            return gen.mutable_hash_table_v2(key_dtype=self._key_dtype, **self._sharing())
        return gen.mutable_hash_table_of_tensors_v2(key_dtype=self._key_dtype, value_shape=self._value_shape,
                                                    **self._sharing())

    def export(self, name=None):
        """All keys and their values."""
        keys, values = super().export(name)
        keys.set_shape([None])
        values.set_shape(keys.shape.concatenate(self._value_shape))
        return keys, values


class DenseHashTable(_MutableTable):
    """A table whose keys may be vectors; two of them mark what is empty and what was removed."""

    def __init__(self, key_dtype, value_dtype, default_value, empty_key, deleted_key, initial_num_buckets=None,
                 name="MutableDenseHashTable", checkpoint=True, experimental_is_anonymous=False):
        self._default_value = ops.convert_to_tensor(default_value, dtype=value_dtype, name="default_value")
        self._value_shape = self._default_value.get_shape()
        self._empty_key = ops.convert_to_tensor(empty_key, dtype=key_dtype, name="empty_key")
        self._deleted_key = ops.convert_to_tensor(deleted_key, dtype=key_dtype, name="deleted_key")
        self._buckets = {} if initial_num_buckets is None else dict(initial_num_buckets=initial_num_buckets)
        self._anonymous = experimental_is_anonymous
        super().__init__(key_dtype, value_dtype, name, checkpoint)

    def _create_resource(self):
        # In a graph that a SavedModel is written from, eager keys are constants.
        special = {name: constant_op.constant(key.numpy(), key.dtype) if key._is_eager else key
                   for name, key in (("empty_key", self._empty_key), ("deleted_key", self._deleted_key))}
        keys = dict(special, value_shape=self._value_shape, **self._buckets)
        if self._anonymous:
            return gen.anonymous_mutable_dense_hash_table(value_dtype=self._value_dtype, name=self._name, **keys)
        return gen.mutable_dense_hash_table_v2(**keys, **self._sharing())

    def insert_or_assign(self, keys, values, name=None):
        """An operation that adds or replaces entries."""
        return self.insert(keys, values, name)

    def erase(self, keys, name=None):
        """An operation that removes entries."""
        return self.remove(keys, name)
