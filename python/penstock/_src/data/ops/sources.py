"""Datasets that are made of no others, files apart."""
from penstock._src.data.ops.dataset_ops import DatasetSource, DatasetV1Adapter, flat_structure, named
from penstock._src.data.util import nest, random_seed, structure
from penstock._src.graph import dtypes, gen, ops, sparse_tensor, tensor_shape
from penstock._src.base import tf2
from penstock._src.graph.tensor_spec import TensorSpec
from penstock._src.core_ops import array_ops, math_ops
from penstock._src.control_flow import control_flow_ops
from penstock._src.ops.strings import string_ops


class TensorDataset(DatasetSource):
    """One element."""

    def __init__(self, element, name=None):
        element = structure.normalize_element(element)
        self._structure = structure.type_spec_from_value(element)
        self._tensors = structure.to_tensor_list(self._structure, element)
        if not self._tensors:
            raise ValueError("Invalid `element`. `element` should not be empty.")
        super().__init__(gen.tensor_dataset(
            self._tensors, output_shapes=structure.get_flat_tensor_shapes(self._structure), **named(name)))

    element_spec = property(lambda self: self._structure, doc="The spec of an element.")


class TensorSliceDataset(DatasetSource):
    """The rows of tensors. `is_files`: they are names of files, which a SavedModel takes with it."""

    def __init__(self, element, name=None, is_files=False):
        element = structure.normalize_element(element)
        batched = structure.type_spec_from_value(element)
        self._tensors = structure.to_batched_tensor_list(batched, element)
        if not self._tensors:
            raise ValueError("Invalid `element`. `element` should not be empty.")
        self._structure = nest.map_structure(lambda spec: spec._unbatch(), batched)
        rows = [tensor_shape.Dimension(tensor_shape.dimension_value(t.get_shape()[0])) for t in self._tensors]
        for other in rows[1:]:
            rows[0].assert_is_compatible_with(other)
        kind = {"is_files": True} if is_files and tf2.enabled() else {}
        super().__init__(gen.tensor_slice_dataset(
            self._tensors, output_shapes=structure.get_flat_tensor_shapes(self._structure), **kind, **named(name)))

    element_spec = property(lambda self: self._structure, doc="The spec of an element.")


class SparseTensorSliceDataset(DatasetSource):
    """The rows of a sparse tensor as (indices, values, shape). TypeError if it is none."""

    def __init__(self, sparse):
        if not isinstance(sparse, sparse_tensor.SparseTensor):
            raise TypeError("Invalid `sparse_tensor`. `sparse_tensor` must be a `tf.sparse.SparseTensor`. Got "
                            f"{type(sparse)}.")
        rank = (sparse.indices.get_shape().dims[1] - 1).merge_with(sparse.dense_shape.get_shape().dims[0] - 1)
        self._structure = (TensorSpec([None, rank], dtypes.int64), TensorSpec([None], sparse.dtype),
                           TensorSpec([rank], dtypes.int64))
        super().__init__(gen.sparse_tensor_slice_dataset(sparse.indices, sparse.values, sparse.dense_shape))

    element_spec = property(lambda self: self._structure, doc="The spec of an element.")


class RangeDataset(DatasetSource):
    """Numbers at equal distances. ValueError: not one to three of them."""

    def __init__(self, *args, output_type=dtypes.int64, name=None):
        if not 1 <= len(args) <= 3:
            raise ValueError(f"Invalid `args`. The length of `args` should be between 1 and 3 but was {len(args)}."
                             if tf2.enabled() else f"Invalid arguments to RangeDataset: {args}")
        start, stop, step = (0, args[0], 1) if len(args) == 1 else (*args, 1)[:3]
        bounds = [ops.convert_to_tensor(value, dtype=dtypes.int64, name=word)
                  for value, word in ((start, "start"), (stop, "stop"), (step, "step"))]
        self._structure = TensorSpec([], output_type)
        super().__init__(gen.range_dataset(*bounds, **flat_structure(self._structure, name)))

    element_spec = property(lambda self: self._structure, doc="The spec of an element.")


class RandomDataset(DatasetSource):
    """Random numbers."""

    def __init__(self, seed=None, rerandomize_each_iteration=None, name=None):
        seed, seed2 = random_seed.get_seed(seed)
        if rerandomize_each_iteration is None:
            variant = gen.random_dataset(seed=seed, seed2=seed2, **flat_structure(self.element_spec, name))
        else:
            variant = gen.random_dataset_v2(
                seed=seed, seed2=seed2, seed_generator=gen.dummy_seed_generator(),
                rerandomize_each_iteration=rerandomize_each_iteration, **flat_structure(self.element_spec, name))
        super().__init__(variant)

    element_spec = property(lambda self: TensorSpec([], dtypes.int64), doc="The spec of an element.")


RandomDatasetV2 = RandomDataset


class RandomDatasetV1(DatasetV1Adapter):
    """Random numbers, with version 1's methods."""

    def __init__(self, seed=None, rerandomize_each_iteration=None, name=None):
        super().__init__(RandomDataset(seed, rerandomize_each_iteration, name))


def counter(start=0, step=1, dtype=dtypes.int64, name=None):
    """start, start + step, and so on without end."""
    with ops.name_scope("counter"):
        start = ops.convert_to_tensor(start, dtype=dtype, name="start")
        step = ops.convert_to_tensor(step, dtype=dtype, name="step")
        return TensorDataset(0, name).repeat(None, name=name).scan(start, lambda state, _: (state + step, state), name)


def list_files(file_pattern, shuffle=None, seed=None, name=None):
    """The names of the files that match a pattern."""
    with ops.name_scope("list_files"):
        file_pattern = ops.convert_to_tensor(file_pattern, dtype=dtypes.string, name="file_pattern")
        files = gen.matching_files(file_pattern)
        some = gen.greater(array_ops.shape(files)[0], 0, name="match_not_empty")
        message = math_ops.add("No files matched pattern: ", string_ops.reduce_join(file_pattern, separator=", "),
                               name="message")
        found = control_flow_ops.Assert(some, [message], summarize=1, name="assert_not_empty")
        with ops.control_dependencies([found]):
            files = array_ops.identity(files)
        dataset = TensorSliceDataset(files, name, is_files=True)
        if shuffle is None or shuffle:
            size = gen.maximum(array_ops.shape(files, out_type=dtypes.int64)[0], 1)
            dataset = dataset.shuffle(size, seed=seed, name=name)
        return dataset


class ListDataset(DatasetSource):
    """The elements of a list, which must be of one structure."""

    def __init__(self, elements, name=None):
        if not elements:
            raise ValueError("Invalid `elements`. `elements` should not be empty. If you want an empty dataset, use "
                             "`tf.data.Dataset.range(0)`.")
        if not isinstance(elements, list):
            raise ValueError("Invalid `elements`. `elements` must be a list.")
        elements = [structure.normalize_element(element) for element in elements]
        specs = [structure.type_spec_from_value(element) for element in elements]
        self._structure = specs[0]
        for spec in specs[1:]:
            self._structure = nest.map_structure(lambda a, b: a.most_specific_compatible_type(b), self._structure,
                                                 spec)
        tensors = [t for element in elements for t in structure.to_tensor_list(self._structure, element)]
        super().__init__(gen.list_dataset(tensors, **flat_structure(self._structure, name)))

    element_spec = property(lambda self: self._structure, doc="The spec of an element.")


def from_list(elements, name=None):
    """A dataset of the elements of a list. TypeError, ValueError: it is none, or empty."""
    return ListDataset(elements, name)


# The names of TensorFlow 2, under which libraries ask what a dataset was made of.
_TensorDataset, _TensorSliceDataset, _RangeDataset = TensorDataset, TensorSliceDataset, RangeDataset
_SparseTensorSliceDataset = SparseTensorSliceDataset
