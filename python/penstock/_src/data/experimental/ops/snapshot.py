"""Elements written to files once, and read from there later."""
import multiprocessing

from penstock._src.data.ops.dataset_ops import AUTOTUNE, DatasetSpec, UnaryUnchangedStructureDataset, flat_structure
from penstock._src.data.ops.structured_function import StructuredFunctionWrapper
from penstock._src.graph import dtypes, gen, ops

COMPRESSION_GZIP = "GZIP"
COMPRESSION_SNAPPY = "SNAPPY"
COMPRESSION_NONE = None


class _SnapshotDataset(UnaryUnchangedStructureDataset):
    """The input's elements, with the reader and shard functions wrapped."""

    def __init__(self, input_dataset, path, compression, reader_func, shard_func, name=None):
        if reader_func is None:
            def reader_func(datasets):
                return datasets.interleave(lambda x: x, cycle_length=multiprocessing.cpu_count(),
                                           num_parallel_calls=AUTOTUNE)
        self._reader_func = StructuredFunctionWrapper(
            reader_func, "snapshot()", input_structure=DatasetSpec(DatasetSpec(input_dataset.element_spec)))
        self._shard_func = StructuredFunctionWrapper(shard_func, "snapshot()", dataset=input_dataset)
        made = self._shard_func.output_structure
        if made.shape.rank not in (None, 0) or made.dtype not in (dtypes.int32, dtypes.int64):
            raise TypeError("Invalid `shard_func`. `shard_func` must return `tf.int64` scalar tensor but its return "
                            f"type is {made}.")
        reader, shard = self._reader_func.function, self._shard_func.function
        super().__init__(input_dataset, gen.snapshot_dataset_v2(
            input_dataset._variant_tensor, ops.convert_to_tensor(path, dtype=dtypes.string, name="path"),
            reader.captured_inputs, shard.captured_inputs, reader_func=reader, shard_func=shard,
            compression=compression or "", **flat_structure(input_dataset.element_spec, name)))

    def _functions(self):
        return [self._reader_func, self._shard_func]


def SnapshotDataset(input_dataset, path, compression="AUTO", reader_func=None, shard_func=None, name=None):
    """See Dataset.snapshot."""
    if shard_func is not None:
        return _SnapshotDataset(input_dataset, path, compression, reader_func, shard_func, name)
    cores = multiprocessing.cpu_count()
    numbered = _SnapshotDataset(input_dataset.enumerate(name=name), path, compression, reader_func,
                                lambda index, _: index % cores, name)
    return numbered.map(lambda _, element: element, name=name)


class _LegacySnapshotDataset(UnaryUnchangedStructureDataset):
    """The input's elements, in the files of version 1."""

    def __init__(self, input_dataset, path, **attrs):
        path = ops.convert_to_tensor(path, dtype=dtypes.string, name="path")
        super().__init__(input_dataset, gen.snapshot_dataset(input_dataset._variant_tensor, path=path, **attrs,
                                                             **input_dataset._flat_structure))


def legacy_snapshot(path, compression=None, reader_path_prefix=None, writer_path_prefix=None, shard_size_bytes=None,
                    pending_snapshot_expiry_seconds=None, num_reader_threads=None, reader_buffer_size=None,
                    num_writer_threads=None, writer_buffer_size=None):
    """For Dataset.apply: writes the elements to files in the first iteration, in version 1's format."""
    def number(value):
        return -1 if value is None else value

    return lambda dataset: _LegacySnapshotDataset(
        dataset, path, compression=compression or "", reader_path_prefix=reader_path_prefix or "",
        writer_path_prefix=writer_path_prefix or "", shard_size_bytes=number(shard_size_bytes),
        pending_snapshot_expiry_seconds=number(pending_snapshot_expiry_seconds),
        num_reader_threads=number(num_reader_threads), reader_buffer_size=number(reader_buffer_size),
        num_writer_threads=number(num_writer_threads), writer_buffer_size=number(writer_buffer_size))


def snapshot(path, compression="AUTO", reader_func=None, shard_func=None):
    """For Dataset.apply: writes the elements to files in the first iteration, and reads them from there later."""
    return lambda dataset: dataset.snapshot(path, compression, reader_func, shard_func)
