"""Whole pipelines for files: CSV, records, Examples, SQL."""
import collections

from penstock._src.data.experimental.ops import csv_columns, parsing_ops
from penstock._src.data.ops import dataset_ops
from penstock._src.data.ops import readers as core_readers
from penstock._src.data.ops.dataset_ops import (
    AUTOTUNE, DatasetSource, DatasetV1Adapter, DatasetV2, get_legacy_output_types)
from penstock._src.data.ops.mapping import MapDataset
from penstock._src.data.ops.options import Options
from penstock._src.data.ops.simple import IgnoreErrorsDataset, ShuffleAndRepeatDataset
from penstock._src.data.util import convert, nest
from penstock._src.graph import constant_op, dtypes, gen, ops, tensor_shape, tensor_util
from penstock._src.base import tf2
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.ops.queues import io_ops
from penstock._src.files import gfile

_CSV_BUFFER_SIZE_BYTES = 4 * 1024 * 1024


def _maybe_shuffle_and_repeat(dataset, num_epochs, shuffle, buffer_size, seed):
    if shuffle and num_epochs != 1 and not tf2.enabled():
        return dataset.apply(lambda d: ShuffleAndRepeatDataset(d, buffer_size, num_epochs, seed))
    if shuffle:
        dataset = dataset.shuffle(buffer_size, seed)
    return dataset if num_epochs == 1 else dataset.repeat(num_epochs)


def _interleaved(dataset, reader, num_parallel_reads, sloppy):
    """What a reader gives for each file, several files at a time."""
    if num_parallel_reads != AUTOTUNE:
        return dataset.apply(lambda d: core_readers.ParallelInterleaveDataset(
            d, reader, num_parallel_reads, 1, sloppy, None, None))
    options = Options()
    options.deterministic = not sloppy
    return dataset.interleave(reader, num_parallel_calls=num_parallel_reads).with_options(options)


def make_tf_record_dataset(file_pattern, batch_size, parser_fn=None, num_epochs=None, shuffle=True,
                           shuffle_buffer_size=None, shuffle_seed=None, prefetch_buffer_size=None,
                           num_parallel_reads=None, num_parallel_parser_calls=None, drop_final_batch=False):
    """Batches of the records of files, parsed."""
    files = dataset_ops.dataset_class().list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
    read = core_readers.TFRecordDatasetV2 if tf2.enabled() else core_readers.TFRecordDatasetV1
    dataset = read(files, num_parallel_reads=num_parallel_reads or 24)
    dataset = _maybe_shuffle_and_repeat(dataset, num_epochs, shuffle,
                                        10000 if shuffle_buffer_size is None else shuffle_buffer_size, shuffle_seed)
    if parser_fn is not None:
        dataset = dataset.map(parser_fn, num_parallel_calls=num_parallel_parser_calls or batch_size)
    dataset = dataset.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    if prefetch_buffer_size == 0:
        return dataset
    return dataset.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


# CSV


def _record_defaults(values):
    return [constant_op.constant([], dtype=x) if not tensor_util.is_tensor(x) and _is_type(x) else x for x in values]


def _is_type(x):
    return isinstance(x, (dtypes.DType, type)) and dtypes.as_dtype(x) in csv_columns.ACCEPTABLE_TYPES


class CsvDatasetV2(DatasetSource):
    """The rows of CSV files.

    record_defaults: for each column a type, if it must have a value, or a vector with its default. header: whether the
    first line of each file is none. select_cols: the indices of the columns to read. exclude_cols: those of the others.
    """

    def __init__(self, filenames, record_defaults, compression_type=None, buffer_size=None, header=False,
                 field_delim=",", use_quote_delim=True, na_value="", select_cols=None, exclude_cols=None):
        filenames = ops.convert_to_tensor(filenames, dtype=dtypes.string, name="filenames")
        compression = convert.optional_param_to_tensor("compression_type", compression_type, "", dtypes.string)
        defaults = ops.convert_n_to_tensor(_record_defaults(record_defaults), name="record_defaults")
        size = convert.optional_param_to_tensor("buffer_size", buffer_size, _CSV_BUFFER_SIZE_BYTES)
        header = ops.convert_to_tensor(header, dtype=dtypes.bool, name="header")
        delimiter = ops.convert_to_tensor(field_delim, dtype=dtypes.string, name="field_delim")
        quotes = ops.convert_to_tensor(use_quote_delim, dtype=dtypes.bool, name="use_quote_delim")
        missing = ops.convert_to_tensor(na_value, dtype=dtypes.string, name="na_value")
        selected = convert.optional_param_to_tensor("select_cols", select_cols, [], dtypes.int64)
        self._structure = tuple(TensorSpec([], default.dtype) for default in defaults)
        arguments = dict(filenames=filenames, record_defaults=defaults, buffer_size=size, header=header,
                         output_shapes=self._flat_shapes, field_delim=delimiter, use_quote_delim=quotes,
                         na_value=missing, select_cols=selected, compression_type=compression)
        if exclude_cols is None:
            super().__init__(gen.csv_dataset(**arguments))
        else:
            excluded = convert.optional_param_to_tensor("exclude_cols", exclude_cols, [], dtypes.int64)
            super().__init__(gen.csv_dataset_v2(exclude_cols=excluded, **arguments))

    element_spec = property(lambda self: self._structure, doc="The spec of an element.")


class CsvDatasetV1(DatasetV1Adapter):
    """The rows of CSV files, with version 1's methods."""

    __doc__ = CsvDatasetV2.__doc__

    def __init__(self, filenames, record_defaults, compression_type=None, buffer_size=None, header=False,
                 field_delim=",", use_quote_delim=True, na_value="", select_cols=None, exclude_cols=None):
        super().__init__(CsvDatasetV2(filenames, record_defaults, compression_type, buffer_size, header, field_delim,
                                      use_quote_delim, na_value, select_cols, exclude_cols))


def _file_names(file_pattern):
    """The sorted names of the files that match. ValueError if there are none."""
    patterns = file_pattern if isinstance(file_pattern, list) else [file_pattern]
    if not patterns:
        raise ValueError("File pattern is empty.")
    found = sorted(name for pattern in patterns for name in gfile.glob(pattern))
    if not found:
        raise ValueError(f"No files match {file_pattern}.")
    return found


def _columns(files, column_names, column_defaults, select_columns, na_value, num_rows, header):
    """(names of all columns, indices of those to read or None, their defaults)."""
    if column_names is None:
        if not header:
            raise ValueError("Cannot infer column names without a header line.")
        column_names = files().names()
    if len(column_names) != len(set(column_names)):
        raise ValueError("Cannot have duplicate column names.")
    if select_columns is not None:
        select_columns = csv_columns.column_indices(select_columns, column_names)
    if column_defaults is not None:
        column_defaults = _record_defaults(column_defaults)
    else:
        column_defaults = files().defaults(len(column_names), na_value, num_rows, select_columns)
    if select_columns is not None and len(column_defaults) != len(select_columns):
        raise ValueError("If specified, column_defaults and select_columns must have same length.")
    return column_names, select_columns, column_defaults


def make_csv_dataset_v2(file_pattern, batch_size, column_names=None, column_defaults=None, label_name=None,
                        select_columns=None, field_delim=",", use_quote_delim=True, na_value="", header=True,
                        num_epochs=None, shuffle=True, shuffle_buffer_size=10000, shuffle_seed=None,
                        prefetch_buffer_size=None, num_parallel_reads=None, sloppy=False, num_rows_for_inference=100,
                        compression_type=None, ignore_errors=False, encoding="utf-8"):
    """Batches of the rows of CSV files as ordered dicts, and their labels if `label_name` is given.

    Names, and types or defaults, of the columns are looked for in the files, which are read in an encoding, if they are
    left out.
    """
    filenames = _file_names(file_pattern)
    dataset = DatasetV2.from_tensor_slices(filenames)
    if shuffle:
        dataset = dataset.shuffle(len(filenames), shuffle_seed)

    def files():
        kind = compression_type
        if tensor_util.is_tensor(kind):
            kind = tensor_util.constant_value(kind)
            if kind is None:
                raise ValueError("Received unknown compression_type")
            kind = kind.item().decode() if hasattr(kind, "item") else kind
        return csv_columns.CsvFiles(filenames, field_delim, use_quote_delim, header, kind, encoding)

    column_names, select_columns, column_defaults = _columns(
        files, column_names, column_defaults, select_columns, na_value, num_rows_for_inference, header)
    if select_columns is not None and len(column_names) > len(select_columns):
        column_names = [column_names[i] for i in select_columns]
    if label_name is not None and label_name not in column_names:
        raise ValueError("`label_name` provided must be one of the columns.")

    def filename_to_dataset(filename):
        rows = CsvDatasetV2(filename, record_defaults=column_defaults, field_delim=field_delim,
                          use_quote_delim=use_quote_delim, na_value=na_value, select_cols=select_columns,
                          header=header, compression_type=compression_type)
        return IgnoreErrorsDataset(rows) if ignore_errors else rows

    def map_fn(*columns):
        features = collections.OrderedDict(zip(column_names, columns))
        return features if label_name is None else (features, features.pop(label_name))

    dataset = _interleaved(dataset, filename_to_dataset, num_parallel_reads or 1, sloppy)
    dataset = _maybe_shuffle_and_repeat(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    dataset = dataset.batch(batch_size=batch_size, drop_remainder=num_epochs is None)
    dataset = MapDataset(dataset, map_fn, use_inter_op_parallelism=False)
    return dataset.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def make_csv_dataset_v1(file_pattern, batch_size, column_names=None, column_defaults=None, label_name=None,
                        select_columns=None, field_delim=",", use_quote_delim=True, na_value="", header=True,
                        num_epochs=None, shuffle=True, shuffle_buffer_size=10000, shuffle_seed=None,
                        prefetch_buffer_size=None, num_parallel_reads=None, sloppy=False, num_rows_for_inference=100,
                        compression_type=None, ignore_errors=False, encoding="utf-8"):
    """make_csv_dataset_v2, with version 1's methods."""
    return DatasetV1Adapter(make_csv_dataset_v2(
        file_pattern, batch_size, column_names, column_defaults, label_name, select_columns, field_delim,
        use_quote_delim, na_value, header, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed,
        prefetch_buffer_size, num_parallel_reads, sloppy, num_rows_for_inference, compression_type, ignore_errors,
        encoding))


# Examples


def make_batched_features_dataset_v2(file_pattern, batch_size, features, reader=None, label_key=None, reader_args=None,
                                     num_epochs=None, shuffle=True, shuffle_buffer_size=10000, shuffle_seed=None,
                                     prefetch_buffer_size=None, reader_num_threads=None, parser_num_threads=None,
                                     sloppy_ordering=False, drop_final_batch=False):
    """Batches of the features of Examples in files, and their labels if `label_key` is given."""
    if isinstance(reader, type) and issubclass(reader, io_ops.ReaderBase):
        raise TypeError("The `reader` argument must return a `Dataset` object. `tf.ReaderBase` subclasses are not "
                        "supported. For example, pass `tf.data.TFRecordDataset` instead of `tf.TFRecordReader`.")
    reader = reader or core_readers.TFRecordDatasetV2
    dataset = DatasetV2.list_files(file_pattern, shuffle=shuffle, seed=shuffle_seed)
    dataset = _interleaved(dataset, lambda filename: reader(filename, *(reader_args or [])), reader_num_threads or 1,
                           sloppy_ordering)
    if get_legacy_output_types(dataset) == (dtypes.string, dtypes.string):
        dataset = MapDataset(dataset, lambda _, v: v, use_inter_op_parallelism=False)
    dataset = _maybe_shuffle_and_repeat(dataset, num_epochs, shuffle, shuffle_buffer_size, shuffle_seed)
    dataset = dataset.batch(batch_size, drop_remainder=drop_final_batch or num_epochs is None)
    dataset = dataset.apply(parsing_ops.parse_example_dataset(features, num_parallel_calls=parser_num_threads or 2))
    if label_key:
        if label_key not in features:
            raise ValueError(f"The `label_key` provided ({label_key!r}) must be one of the `features` keys.")
        dataset = dataset.map(lambda x: (x, x.pop(label_key)))
    return dataset.prefetch(AUTOTUNE if prefetch_buffer_size is None else prefetch_buffer_size)


def make_batched_features_dataset_v1(file_pattern, batch_size, features, reader=None, label_key=None, reader_args=None,
                                     num_epochs=None, shuffle=True, shuffle_buffer_size=10000, shuffle_seed=None,
                                     prefetch_buffer_size=None, reader_num_threads=None, parser_num_threads=None,
                                     sloppy_ordering=False, drop_final_batch=False):
    """make_batched_features_dataset_v2, with version 1's methods."""
    return DatasetV1Adapter(make_batched_features_dataset_v2(
        file_pattern, batch_size, features, reader, label_key, reader_args, num_epochs, shuffle, shuffle_buffer_size,
        shuffle_seed, prefetch_buffer_size, reader_num_threads, parser_num_threads, sloppy_ordering, drop_final_batch))


# SQL


class SqlDatasetV2(DatasetSource):
    """The rows of a query's result. `driver_name` is "sqlite", `data_source_name` the database's file."""

    def __init__(self, driver_name, data_source_name, query, output_types):
        strings = [ops.convert_to_tensor(value, dtype=dtypes.string, name=word) for value, word in (
            (driver_name, "driver_name"), (data_source_name, "data_source_name"), (query, "query"))]
        self._structure = nest.map_structure(lambda dtype: TensorSpec(tensor_shape.TensorShape([]), dtype),
                                             output_types)
        super().__init__(gen.sql_dataset(*strings, **self._flat_structure))

    element_spec = property(lambda self: self._structure, doc="The spec of an element.")


class SqlDatasetV1(DatasetV1Adapter):
    """The rows of a query's result, with version 1's methods."""

    def __init__(self, driver_name, data_source_name, query, output_types):
        super().__init__(SqlDatasetV2(driver_name, data_source_name, query, output_types))
