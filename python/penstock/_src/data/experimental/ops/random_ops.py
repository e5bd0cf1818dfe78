"""Random numbers as a dataset."""
from penstock._src.data.ops.sources import RandomDatasetV1, RandomDatasetV2
from penstock._src.base import tf2

__getattr__ = tf2.by_version(__name__, RandomDataset=(RandomDatasetV1, RandomDatasetV2))
