"""Functions for Dataset.apply that tests of rewriting pipelines use."""
from penstock._src.data.ops.dataset_ops import (
    DatasetSpec, DatasetV2, UnaryDataset, UnaryUnchangedStructureDataset, flat_structure)
from penstock._src.data.ops.structured_function import StructuredFunctionWrapper
from penstock._src.data.ops.tuning import _ModelDataset, _OptimizeDataset
from penstock._src.graph import dtypes, gen, ops


def assert_next(transformations):
    """An InvalidArgumentError unless these transformations, by their ops' names, follow."""
    if transformations is None:
        raise ValueError("At least one transformation should be specified")
    return lambda dataset: _AssertNextDataset(dataset, transformations)


def model():
    """Parallelism is found while the pipeline runs."""
    return _ModelDataset


def non_serializable():
    """A dataset that cannot be serialized."""
    return lambda dataset: _NonSerializableDataset(dataset)


def optimize(optimizations=None):
    """The pipeline rewritten."""
    return lambda dataset: _OptimizeDataset(dataset, optimizations)


class _AssertNextDataset(UnaryUnchangedStructureDataset):
    def __init__(self, input_dataset, transformations):
        names = ops.convert_to_tensor(transformations, dtype=dtypes.string, name="transformations")
        super().__init__(input_dataset, gen.assert_next_dataset(input_dataset._variant_tensor, names,
                                                                **input_dataset._flat_structure))


class _NonSerializableDataset(UnaryUnchangedStructureDataset):
    def __init__(self, input_dataset):
        super().__init__(input_dataset, gen.non_serializable_dataset(input_dataset._variant_tensor,
                                                                     **input_dataset._flat_structure))


class _ChooseFastestDataset(DatasetV2):
    """The fastest of several equal datasets."""

    def __init__(self, datasets, num_experiments=10):
        self._datasets = list(datasets)
        super().__init__(gen.choose_fastest_dataset([d._variant_tensor for d in self._datasets],
                                                    num_experiments=num_experiments, **self._flat_structure))

    def _inputs(self):
        return self._datasets

    element_spec = property(lambda self: self._datasets[0].element_spec, doc="The spec of an element.")


class _ChooseFastestBranchDataset(UnaryDataset):
    """The fastest of several functions of the input that give equal datasets."""

    def __init__(self, input_dataset, functions, ratio_numerator=1, ratio_denominator=1, num_elements_per_branch=None):
        spec = DatasetSpec(input_dataset.element_spec)
        self._funcs = [StructuredFunctionWrapper(f, "ChooseFastestV2", input_structure=spec) for f in functions]
        self._structure = self._funcs[0].output_structure._element_spec
        if ratio_numerator <= 0 or ratio_denominator <= 0:
            raise ValueError("ratio must be positive.")
        captured = [f.function.captured_inputs for f in self._funcs]
        super().__init__(input_dataset, gen.choose_fastest_branch_dataset(
            input_dataset._variant_tensor, ratio_numerator=ratio_numerator, ratio_denominator=ratio_denominator,
            other_arguments=[t for tensors in captured for t in tensors],
            num_elements_per_branch=num_elements_per_branch or 10 * ratio_denominator,
            branches=[f.function for f in self._funcs], other_arguments_lengths=list(map(len, captured)),
            **flat_structure(self._structure)))

    def _functions(self):
        return self._funcs

    element_spec = property(lambda self: self._structure, doc="The spec of an element.")
