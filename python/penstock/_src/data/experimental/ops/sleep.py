"""Waiting before each element."""
from penstock._src.data.ops.dataset_ops import UnaryUnchangedStructureDataset
from penstock._src.graph import gen


def sleep(sleep_microseconds):
    """For Dataset.apply: waits before each element."""
    return lambda dataset: _SleepDataset(dataset, sleep_microseconds)


class _SleepDataset(UnaryUnchangedStructureDataset):
    def __init__(self, input_dataset, sleep_microseconds):
        super().__init__(input_dataset, gen.sleep_dataset(input_dataset._variant_tensor, sleep_microseconds,
                                                          **input_dataset._flat_structure))
