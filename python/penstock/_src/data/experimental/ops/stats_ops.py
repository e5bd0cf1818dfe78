"""Counting what a pipeline does, as functions for Dataset.apply."""
from penstock._src.data.ops.dataset_ops import UnaryUnchangedStructureDataset
from penstock._src.data.ops.tuning import _SetStatsAggregatorDataset
from penstock._src.graph import dtypes, gen, ops
from penstock._src.base import deprecation


@deprecation.deprecated(None, "Use `tf.data.experimental.StatsOptions`.")
def set_stats_aggregator(stats_aggregator, prefix="", counter_prefix=""):
    """What is counted goes to `stats_aggregator`."""
    return lambda dataset: _SetStatsAggregatorDataset(dataset, stats_aggregator, prefix, counter_prefix)


def bytes_produced_stats(tag):
    """Counts the bytes of the elements, under a name."""
    return lambda dataset: _StatsDataset(dataset, gen.bytes_produced_stats_dataset, tag)


def latency_stats(tag):
    """Measures how long each element takes, under a name."""
    return lambda dataset: _StatsDataset(dataset, gen.latency_stats_dataset, tag)


class _StatsDataset(UnaryUnchangedStructureDataset):
    def __init__(self, input_dataset, op_function, tag):
        tag = ops.convert_to_tensor(tag, dtype=dtypes.string)
        super().__init__(input_dataset, op_function(input_dataset._variant_tensor, tag,
                                                    **input_dataset._flat_structure))
