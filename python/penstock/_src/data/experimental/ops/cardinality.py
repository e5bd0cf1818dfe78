"""How many elements a dataset has."""
import collections.abc

from penstock._src.data.ops.dataset_ops import (  # noqa: F401
    INFINITE, UNKNOWN, DatasetV2, UnaryUnchangedStructureDataset)
from penstock._src.data.util import nest
from penstock._src.graph import dtypes, gen, ops
from penstock._src.core_ops import array_ops


def cardinality(dataset):
    """The number of elements; INFINITE_CARDINALITY, or UNKNOWN_CARDINALITY where only iterating would tell."""
    return gen.dataset_cardinality(dataset._variant_tensor)


def assert_cardinality(expected_cardinality):
    """For Dataset.apply: says how many elements there are. A FailedPreconditionError at the end if that is wrong."""
    return lambda dataset: _AssertCardinalityDataset(dataset, expected_cardinality)


def pad_to_cardinality(cardinality, mask_key="valid"):
    """For Dataset.apply: dicts of zeros behind the elements, which must be dicts, until there are `cardinality`; the
    key `mask_key` tells the elements (True) from these. ValueError: how many elements there are is not known, or more.
    """
    def with_mask(element, value):
        return {**element, mask_key: value}

    def apply(dataset):
        if ops.executing_eagerly():
            count = int(dataset.cardinality())
            if count < 0:
                raise ValueError("The dataset passed into `pad_to_cardinality` must have a known cardinalty, but has "
                                 f"cardinality {count}")
            if count > cardinality:
                raise ValueError("The dataset passed into `pad_to_cardinality` must have a cardinalty less than the "
                                 f"target cardinality ({cardinality}), but has cardinality {count}")
        if not isinstance(dataset.element_spec, collections.abc.Mapping):
            raise ValueError("`pad_to_cardinality` requires its input dataset to be a dictionary.")
        zeros = nest.map_structure(lambda spec: array_ops.zeros(spec.shape, spec.dtype), dataset.element_spec)
        padding = DatasetV2.from_tensors(with_mask(zeros, False)).repeat(cardinality - dataset.cardinality())
        return dataset.map(lambda element: with_mask(element, True)).concatenate(padding)
    return apply


class _AssertCardinalityDataset(UnaryUnchangedStructureDataset):
    def __init__(self, input_dataset, expected_cardinality):
        expected = ops.convert_to_tensor(expected_cardinality, dtype=dtypes.int64, name="expected_cardinality")
        super().__init__(input_dataset, gen.assert_cardinality_dataset(
            input_dataset._variant_tensor, expected, **input_dataset._flat_structure))
