"""Datasets that do not change elements but how they are made: threads, rewriting, autotuning, statistics."""
from penstock._src.data.ops.dataset_ops import UnaryUnchangedStructureDataset, warn_deprecated_ref
from penstock._src.data.ops.options import AutotuneAlgorithm
from penstock._src.graph import dtypes, gen, ops


class _MaxIntraOpParallelismDataset(UnaryUnchangedStructureDataset):
    def __init__(self, input_dataset, max_intra_op_parallelism):
        count = ops.convert_to_tensor(max_intra_op_parallelism, dtype=dtypes.int64, name="max_intra_op_parallelism")
        super().__init__(input_dataset, gen.max_intra_op_parallelism_dataset(
            input_dataset._variant_tensor, count, **input_dataset._flat_structure))


class _PrivateThreadPoolDataset(UnaryUnchangedStructureDataset):
    def __init__(self, input_dataset, num_threads):
        count = ops.convert_to_tensor(num_threads, dtype=dtypes.int64, name="num_threads")
        super().__init__(input_dataset, gen.private_thread_pool_dataset(
            input_dataset._variant_tensor, count, **input_dataset._flat_structure))


class _OptimizeDataset(UnaryUnchangedStructureDataset):
    def __init__(self, input_dataset, optimizations, optimization_configs=None):
        self._optimizations = ops.convert_to_tensor(optimizations or [], dtype=dtypes.string, name="optimizations")
        super().__init__(input_dataset, gen.optimize_dataset(
            input_dataset._variant_tensor, self._optimizations, optimization_configs=optimization_configs or [],
            **input_dataset._flat_structure))


class _ModelDataset(UnaryUnchangedStructureDataset):
    def __init__(self, input_dataset, algorithm=0, cpu_budget=0):
        super().__init__(input_dataset, gen.model_dataset(
            input_dataset._variant_tensor, algorithm=algorithm, cpu_budget=cpu_budget,
            **input_dataset._flat_structure))


class _SetStatsAggregatorDataset(UnaryUnchangedStructureDataset):
    def __init__(self, input_dataset, aggregator, prefix, counter_prefix):
        self._stats_aggregator = aggregator
        super().__init__(input_dataset, gen.set_stats_aggregator_dataset(
            input_dataset._variant_tensor, aggregator._resource, prefix, counter_prefix,
            **input_dataset._flat_structure))


def _autotuning(options):
    """(whether, the algorithm's number, the cores that it may use)."""
    old, new = options.experimental_optimization, options.autotune
    algorithm = new.autotune_algorithm if old.autotune_algorithm is None else old.autotune_algorithm
    if isinstance(algorithm, AutotuneAlgorithm):
        algorithm = max(algorithm.value - 1, 0)  # DEFAULT and HILL_CLIMB are the op's default
    budget = new.cpu_budget if old.autotune_cpu_budget is None else old.autotune_cpu_budget
    return old.autotune is not False and new.enabled is not False, algorithm or 0, budget or 0


def apply_options(dataset):
    """The dataset with what its options ask for around it."""
    original, options = dataset, dataset.options()
    threading = options.threading
    if threading.max_intra_op_parallelism is not None:
        dataset = _MaxIntraOpParallelismDataset(dataset, threading.max_intra_op_parallelism)
    if threading.private_threadpool_size is not None:
        dataset = _PrivateThreadPoolDataset(dataset, threading.private_threadpool_size)
    optimizations = options._static_optimizations()
    if optimizations:
        if original._has_captured_ref():
            warn_deprecated_ref(optimizations)
        else:
            dataset = _OptimizeDataset(dataset, optimizations, options._static_optimization_configs())
    autotune, algorithm, budget = _autotuning(options)
    if autotune:
        dataset = _ModelDataset(dataset, algorithm, budget)
    stats = options.experimental_stats
    if stats.aggregator:
        dataset = _SetStatsAggregatorDataset(dataset, stats.aggregator, stats.prefix, stats.counter_prefix)
    return dataset
