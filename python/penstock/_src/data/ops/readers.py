"""Datasets of the lines and records of files."""
import os

from penstock._src.data.ops.dataset_ops import (
    AUTOTUNE, DatasetSource, DatasetV1Adapter, DatasetV2, get_legacy_output_shapes, get_legacy_output_types)
from penstock._src.data.ops import sources
from penstock._src.data.ops.mapping import _OfDatasets
from penstock._src.data.util import convert
from penstock._src.graph import dtypes, gen, ops, tensor_shape
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.core_ops import array_ops
from penstock._src.base import nest

_DEFAULT_READER_BUFFER_SIZE_BYTES = 256 * 1024


def _filenames_dataset(filenames):
    """A dataset of names. TypeError: it is one of something else."""
    if not isinstance(filenames, DatasetV2):
        filenames = nest.map_structure(lambda f: os.fspath(f) if isinstance(f, os.PathLike) else f, filenames)
        filenames = ops.convert_to_tensor(filenames, dtype_hint=dtypes.string)
        if filenames.dtype != dtypes.string:
            raise TypeError("The `filenames` argument must contain `tf.string` elements. Got "
                            f"`{filenames.dtype!r}` elements.")
        return sources.TensorSliceDataset(array_ops.reshape(filenames, [-1], name="flat_filenames"), is_files=True)
    if get_legacy_output_types(filenames) != dtypes.string:
        raise TypeError("The `filenames` argument must contain `tf.string` elements. Got a dataset of "
                        f"`{get_legacy_output_types(filenames)!r}` elements.")
    if not get_legacy_output_shapes(filenames).is_compatible_with(tensor_shape.TensorShape([])):
        raise TypeError("The `filenames` argument must contain `tf.string` elements of shape [] (i.e. scalars). Got a "
                        f"dataset of element shape {get_legacy_output_shapes(filenames)!r}.")
    return filenames


def _read_all(dataset_creator, filenames, num_parallel_reads):
    """What `dataset_creator(name)` gives for each file: one after the other, or several at a time."""
    def read_one_file(filename):
        return dataset_creator(ops.convert_to_tensor(filename, dtypes.string, name="filename"))

    if num_parallel_reads is None:
        return filenames.flat_map(read_one_file)
    if num_parallel_reads == AUTOTUNE:
        return filenames.interleave(read_one_file, num_parallel_calls=num_parallel_reads)
    return ParallelInterleaveDataset(filenames, read_one_file, cycle_length=num_parallel_reads, block_length=1,
                                     sloppy=False, buffer_output_elements=None, prefetch_input_elements=None)


class _Records(DatasetSource):
    """Strings read from one file."""

    def __init__(self, function, *inputs):
        super().__init__(function(*inputs))

    element_spec = property(lambda self: TensorSpec([], dtypes.string), doc="The spec of an element.")


def _compression(compression_type):
    return convert.optional_param_to_tensor("compression_type", compression_type, "", dtypes.string)


def _buffer_size(buffer_size):
    return convert.optional_param_to_tensor("buffer_size", buffer_size, _DEFAULT_READER_BUFFER_SIZE_BYTES)


class _FilesDataset(DatasetV2):
    """Base of datasets of the strings in several files."""

    def __init__(self, filenames, num_parallel_reads):
        self._filenames = _filenames_dataset(filenames)
        self._num_parallel_reads = num_parallel_reads
        self._impl = _read_all(self._of_one_file, self._filenames, num_parallel_reads)
        super().__init__(self._impl._variant_tensor)

    def _inputs(self):
        return self._impl._inputs()

    def _functions(self):
        return self._impl._functions()

    element_spec = property(lambda self: TensorSpec([], dtypes.string), doc="The spec of an element.")


class TextLineDatasetV2(_FilesDataset):
    """The lines of text files.

    filenames: names, or a dataset of names. compression_type: "", "ZLIB" or "GZIP". buffer_size: how many bytes are
    read at once. num_parallel_reads: how many files are read at the same time; their lines alternate then.
    """

    def __init__(self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None, name=None):
        self._compression_type, self._buffer_size = compression_type, buffer_size
        super().__init__(filenames, num_parallel_reads)

    def _of_one_file(self, filename):
        compression = _compression(self._compression_type)
        return _Records(gen.text_line_dataset, filename, compression, _buffer_size(self._buffer_size))


class TFRecordDatasetV2(_FilesDataset):
    """The records of TFRecord files. For the arguments see TextLineDataset."""

    def __init__(self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None, name=None):
        self._compression_type, self._buffer_size = compression_type, buffer_size
        super().__init__(filenames, num_parallel_reads)

    def _of_one_file(self, filename):
        compression = _compression(self._compression_type)
        return _Records(gen.tf_record_dataset, filename, compression, _buffer_size(self._buffer_size))

    def _clone(self, filenames=None, compression_type=None, buffer_size=None, num_parallel_reads=None):
        return type(self)(filenames or self._filenames, compression_type or self._compression_type,
                          buffer_size or self._buffer_size, num_parallel_reads or self._num_parallel_reads)


class FixedLengthRecordDatasetV2(_FilesDataset):
    """Pieces of `record_bytes` each, without the first and last bytes of each file. For the other arguments see
    TextLineDataset."""

    def __init__(self, filenames, record_bytes, header_bytes=None, footer_bytes=None, buffer_size=None,
                 compression_type=None, num_parallel_reads=None, name=None):
        self._sizes = record_bytes, header_bytes, footer_bytes
        self._compression_type, self._buffer_size = compression_type, buffer_size
        super().__init__(filenames, num_parallel_reads)

    def _of_one_file(self, filename):
        record, header, footer = self._sizes
        record = ops.convert_to_tensor(record, dtype=dtypes.int64, name="record_bytes")
        header = convert.optional_param_to_tensor("header_bytes", header)
        footer = convert.optional_param_to_tensor("footer_bytes", footer)
        size = _buffer_size(self._buffer_size)
        return _Records(gen.fixed_length_record_dataset_v2, filename, header, record, footer, size,
                        _compression(self._compression_type))


class _FilesDatasetV1(DatasetV1Adapter):
    """Base of the same with version 1's methods."""

    @property
    def _filenames(self):
        return self._dataset._filenames

    @_filenames.setter
    def _filenames(self, value):
        self._dataset._filenames = value


class TextLineDatasetV1(_FilesDatasetV1):
    """The lines of text files, with version 1's methods."""

    __doc__ = TextLineDatasetV2.__doc__

    def __init__(self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None, name=None):
        super().__init__(TextLineDatasetV2(filenames, compression_type, buffer_size, num_parallel_reads))


class TFRecordDatasetV1(_FilesDatasetV1):
    """The records of TFRecord files, with version 1's methods."""

    __doc__ = TFRecordDatasetV2.__doc__

    def __init__(self, filenames, compression_type=None, buffer_size=None, num_parallel_reads=None, name=None):
        super().__init__(TFRecordDatasetV2(filenames, compression_type, buffer_size, num_parallel_reads))

    def _clone(self, filenames=None, compression_type=None, buffer_size=None, num_parallel_reads=None):
        mine = self._dataset
        return type(self)(filenames or mine._filenames, compression_type or mine._compression_type,
                          buffer_size or mine._buffer_size, num_parallel_reads or mine._num_parallel_reads)


class FixedLengthRecordDatasetV1(_FilesDatasetV1):
    """Pieces of files, with version 1's methods."""

    __doc__ = FixedLengthRecordDatasetV2.__doc__

    def __init__(self, filenames, record_bytes, header_bytes=None, footer_bytes=None, buffer_size=None,
                 compression_type=None, num_parallel_reads=None, name=None):
        super().__init__(FixedLengthRecordDatasetV2(filenames, record_bytes, header_bytes, footer_bytes, buffer_size,
                                                    compression_type, num_parallel_reads))


class ParallelInterleaveDataset(_OfDatasets):
    """The elements of several datasets in turn, each read ahead by a thread of its own; with `sloppy`, whichever comes
    first."""

    def __init__(self, input_dataset, map_func, cycle_length, block_length, sloppy, buffer_output_elements,
                 prefetch_input_elements, name=None):
        f = self._wrap(map_func, input_dataset)
        numbers = [ops.convert_to_tensor(cycle_length, dtype=dtypes.int64, name="cycle_length"),
                   ops.convert_to_tensor(block_length, dtype=dtypes.int64, name="block_length"),
                   ops.convert_to_tensor(sloppy, dtype=dtypes.bool, name="sloppy"),
                   convert.optional_param_to_tensor("buffer_output_elements", buffer_output_elements,
                                                    2 * block_length),
                   convert.optional_param_to_tensor("prefetch_input_elements", prefetch_input_elements,
                                                    2 * cycle_length)]
        super().__init__(input_dataset, gen.parallel_interleave_dataset(
            input_dataset._variant_tensor, f.captured_inputs, *numbers, f=f, **self._flat_structure))

    def _transformation_name(self):
        return "tf.data.experimental.parallel_interleave()"
