"""Counting without end."""
from penstock._src.data.ops import sources
from penstock._src.data.ops.dataset_ops import DatasetV1Adapter
from penstock._src.graph import dtypes


def CounterV2(start=0, step=1, dtype=dtypes.int64):
    """start, start + step, and so on without end."""
    return sources.counter(start, step, dtype)


def CounterV1(start=0, step=1, dtype=dtypes.int64):
    """start, start + step, and so on without end."""
    return DatasetV1Adapter(CounterV2(start, step, dtype))
