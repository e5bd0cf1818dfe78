"""Datasets saved to files, and loaded."""
import multiprocessing
import os

from google.protobuf import message

from penstock._src.data.ops.dataset_ops import AUTOTUNE, DatasetSource, DatasetSpec, UnaryUnchangedStructureDataset
from penstock._src.data.ops.structured_function import StructuredFunctionWrapper
from penstock._src.graph import dtypes, errors, gen, ops
from penstock._src.files import gfile
from penstock.proto import struct_pb2
from penstock._src.data import nested_structure_coder

SPEC_FILE = "dataset_spec.pb"


def _described(dataset, path, shard_func):
    """Writes what is known of the elements; (the shard function wrapped, whether it counts)."""
    gfile.makedirs(path)
    with gfile.GFile(os.path.join(path, SPEC_FILE), "wb") as f:
        f.write(nested_structure_coder.encode_structure(dataset.element_spec).SerializeToString())
    wrapped = StructuredFunctionWrapper(shard_func or (lambda *x: 0), "save()",
                                        input_structure=dataset.element_spec)
    return wrapped, shard_func is not None


def save(dataset, path, compression=None, shard_func=None, checkpoint_args=None):
    """Writes the elements of a dataset to files below `path`. `shard_func` tells into which; with `checkpoint_args`,
    arguments of a CheckpointManager, saving goes on where it was interrupted."""
    from penstock._src.checkpoint import checkpoint_management
    from penstock._src.checkpoint import util
    if not (ops.executing_eagerly() and checkpoint_args):
        wrapped, used = _described(dataset, path, shard_func)
        return gen.save_dataset(
            dataset._variant_tensor, path=ops.convert_to_tensor(path, dtype=dtypes.string, name="path"),
            shard_func_other_args=wrapped.function.captured_inputs, compression=compression or "",
            shard_func=wrapped.function, use_shard_func=used)
    if "checkpoint" in checkpoint_args:
        raise ValueError("Invalid `checkpoint_args`. `checkpoint_args` are not allowed to include 'checkpoint'.")
    iterator = iter(_SaveDataset(dataset, path, shard_func, compression))
    checkpoint = util.Checkpoint(iterator=iterator)
    manager = checkpoint_management.CheckpointManager(checkpoint=checkpoint, **checkpoint_args)
    checkpoint.restore(manager.latest_checkpoint)
    for _ in iterator:
        if "step_counter" in checkpoint_args:
            checkpoint_args["step_counter"].assign_add(delta=1)
        manager.save(check_interval=True)


class _SaveDataset(UnaryUnchangedStructureDataset):
    """The input's elements, which are written as they come by."""

    def __init__(self, dataset, path, shard_func, compression):
        self._shard_func, used = _described(dataset, path, shard_func)
        f = self._shard_func.function
        super().__init__(dataset, gen.save_dataset_v2(
            dataset._variant_tensor, path=path, shard_func_other_args=f.captured_inputs, shard_func=f,
            use_shard_func=used, compression=compression or "", **dataset._flat_structure))

    def _functions(self):
        return [self._shard_func]


def load(path, element_spec=None, compression=None, reader_func=None):
    """The dataset that `save` wrote. `reader_func(datasets)` puts the files' elements into order. NotFoundError: there
    is none; DataLossError: its files are damaged."""
    if element_spec is None:
        file = os.path.join(path, SPEC_FILE)
        if not gfile.exists(file):
            raise errors.NotFoundError(None, None, f"tf.data snapshot element_spec file not found: {file}.")
        with gfile.GFile(file, "rb") as f:
            try:
                element_spec = nested_structure_coder.decode_proto(struct_pb2.StructuredValue.FromString(f.read()))
            except message.DecodeError as e:
                raise errors.DataLossError(None, None, f"The specification of the elements is damaged: {file}") from e
    return _LoadDataset(path, element_spec, compression, reader_func)


class _LoadDataset(DatasetSource):
    """What was saved."""

    def __init__(self, path, element_spec, compression, reader_func):
        if reader_func is None:
            def reader_func(datasets):
                return datasets.interleave(lambda x: x, cycle_length=multiprocessing.cpu_count(),
                                           num_parallel_calls=AUTOTUNE)
        self._structure = element_spec
        self._reader_func = StructuredFunctionWrapper(
            reader_func, "load()", input_structure=DatasetSpec(DatasetSpec(element_spec)))
        f = self._reader_func.function
        super().__init__(gen.load_dataset(path, reader_func_other_args=f.captured_inputs, reader_func=f,
                                          compression=compression or "", **self._flat_structure))

    def _functions(self):
        return [self._reader_func]

    element_spec = property(lambda self: self._structure, doc="The spec of an element.")
