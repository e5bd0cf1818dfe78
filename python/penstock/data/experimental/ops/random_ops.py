"""Random numbers as a dataset."""
from penstock.data.ops.sources import RandomDatasetV1, RandomDatasetV2

RandomDataset = RandomDatasetV1
__all__ = ["RandomDataset", "RandomDatasetV1", "RandomDatasetV2"]
