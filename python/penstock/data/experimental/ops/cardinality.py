"""How many elements a dataset has."""
from penstock.data.ops.dataset_ops import INFINITE, UNKNOWN, UnaryUnchangedStructureDataset  # noqa: F401
from penstock.framework import dtypes, gen, ops


def cardinality(dataset):
    """The number of elements; INFINITE_CARDINALITY, or UNKNOWN_CARDINALITY where only iterating would tell."""
    return gen.dataset_cardinality(dataset._variant_tensor)


def assert_cardinality(expected_cardinality):
    """For Dataset.apply: says how many elements there are. A FailedPreconditionError at the end if that is wrong."""
    return lambda dataset: _AssertCardinalityDataset(dataset, expected_cardinality)


class _AssertCardinalityDataset(UnaryUnchangedStructureDataset):
    def __init__(self, input_dataset, expected_cardinality):
        expected = ops.convert_to_tensor(expected_cardinality, dtype=dtypes.int64, name="expected_cardinality")
        super().__init__(input_dataset, gen.assert_cardinality_dataset(
            input_dataset._variant_tensor, expected, **input_dataset._flat_structure))
