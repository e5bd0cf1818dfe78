"""Interleaving datasets, as functions for Dataset.apply."""
from penstock._src.data.ops import readers
from penstock._src.data.ops.dataset_ops import DatasetV1Adapter, DatasetV2
from penstock._src.base import deprecation


@deprecation.deprecated(None, "Use `tf.data.Dataset.interleave(map_func, cycle_length, block_length, "
                        "num_parallel_calls=tf.data.experimental.AUTOTUNE)` instead. If sloppy execution is desired, "
                        "use `tf.data.Options.experimental_deterministic`.")
def parallel_interleave(map_func, cycle_length, block_length=1, sloppy=False, buffer_output_elements=None,
                        prefetch_input_elements=None):
    """The elements of the datasets that `map_func` gives, `cycle_length` of them read at the same time."""
    def apply(dataset):
        return readers.ParallelInterleaveDataset(dataset, map_func, cycle_length, block_length, sloppy,
                                                 buffer_output_elements, prefetch_input_elements)
    return apply


def sample_from_datasets_v2(datasets, weights=None, seed=None, stop_on_empty_dataset=False):
    """Elements of `datasets`, each taken from a random one, with the probabilities `weights`."""
    return DatasetV2.sample_from_datasets(datasets, weights, seed, stop_on_empty_dataset)


def sample_from_datasets_v1(datasets, weights=None, seed=None, stop_on_empty_dataset=False):
    """Elements of `datasets`, each taken from a random one, with the probabilities `weights`."""
    return DatasetV1Adapter(sample_from_datasets_v2(datasets, weights, seed, stop_on_empty_dataset))


def choose_from_datasets_v2(datasets, choice_dataset, stop_on_empty_dataset=False):
    """Elements of `datasets`, each taken from the one whose index comes next in `choice_dataset`."""
    return DatasetV2.choose_from_datasets(datasets, choice_dataset, stop_on_empty_dataset)


def choose_from_datasets_v1(datasets, choice_dataset, stop_on_empty_dataset=False):
    """Elements of `datasets`, each taken from the one whose index comes next in `choice_dataset`."""
    return DatasetV1Adapter(choose_from_datasets_v2(datasets, choice_dataset, stop_on_empty_dataset))
