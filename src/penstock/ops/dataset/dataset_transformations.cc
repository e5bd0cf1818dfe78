// Datasets that are made of others without calling functions.
#include "penstock/ops/dataset/dataset.h"

namespace penstock {
namespace {

constexpr DatasetOp kTransformations[] = {
    {"TakeDataset", "input_dataset; count: int64", "output_types; output_shapes; metadata", "",
     "The first `count` elements; all if it is negative."},
    {"SkipDataset", "input_dataset; count: int64", "output_types; output_shapes; metadata", "",
     "All but the first `count` elements; none if it is negative."},
    {"RepeatDataset", "input_dataset; count: int64", "output_types; output_shapes; metadata", "",
     "The elements again and again, `count` times; without end if it is negative."},
    {"ShardDataset", "input_dataset; num_shards: int64; index: int64",
     "require_non_empty: bool = false; output_types; output_shapes; metadata", "",
     "Every `num_shards`-th element from `index` on."},
    {"ConcatenateDataset", "input_dataset; another_dataset: variant", "output_types; output_shapes; metadata", "",
     "The elements of the first dataset, then those of the second."},
    {"ZipDataset", "input_datasets: N * variant", "output_types; output_shapes; N; metadata", "",
     "Elements of which each has one of every input's."},
    {"BatchDataset", "input_dataset; batch_size: int64", "output_types; output_shapes; metadata", "",
     "Elements joined along a new first dimension."},
    {"BatchDatasetV2", "input_dataset; batch_size: int64; drop_remainder: bool",
     "parallel_copy: bool = false; output_types; output_shapes; metadata", "",
     "Elements joined along a new first dimension; a smaller rest can be dropped."},
    {"ParallelBatchDataset", "input_dataset; batch_size: int64; num_parallel_calls: int64; drop_remainder: bool",
     "parallel_copy: bool = false; output_types; output_shapes; deterministic; metadata", "",
     "As BatchDatasetV2, with several batches in the making."},
    {"PaddedBatchDataset",
     "input_dataset; batch_size: int64; padded_shapes: N * int64; padding_values: Toutput_types",
     "Toutput_types; output_shapes; N; metadata", "", "Elements of different sizes, padded and joined."},
    {"PaddedBatchDatasetV2", "input_dataset; batch_size: int64; padded_shapes: N * int64; padding_values: "
     "Toutput_types; drop_remainder: bool", "parallel_copy: bool = false; Toutput_types; output_shapes; N; metadata",
     "", "Elements of different sizes, padded and joined; a smaller rest can be dropped."},
    {"DenseToSparseBatchDataset", "input_dataset; batch_size: int64; row_shape: int64", "output_types; output_shapes",
     "x", "Elements of different sizes joined as a sparse tensor."},
    {"UnbatchDataset", "input_dataset", "output_types; output_shapes; metadata", "x",
     "The slices of each element along the first dimension."},
    {"WindowDataset", "input_dataset; size: int64; shift: int64; stride: int64; drop_remainder: bool",
     "output_types; output_shapes; metadata", "",
     "Datasets of `size` elements, each `shift` elements after the one before."},
    {"SlidingWindowDataset", "input_dataset; window_size: int64; window_shift: int64; window_stride: int64",
     "drop_remainder: bool = true; output_types; output_shapes", "",
     "Batches of elements that windows over the input hold."},
    {"ExperimentalSlidingWindowDataset",
     "input_dataset; window_size: int64; window_shift: int64; window_stride: int64", "output_types; output_shapes",
     "", "Batches of elements that windows over the input hold."},
    {"RebatchDataset", "input_dataset; num_replicas: int64", "output_types; output_shapes; use_fallback: bool = true",
     "x", "Batches cut into as many parts as there are replicas."},
    {"RebatchDatasetV2", "input_dataset; batch_sizes: int64; drop_remainder: bool", "output_types; output_shapes", "",
     "Batches joined and cut into ones of the given sizes, in turns."},
    {"ShuffleDataset", "input_dataset; buffer_size: int64; seed: int64; seed2: int64",
     "reshuffle_each_iteration: bool = true; output_types; output_shapes; metadata", "",
     "The elements in a random order: one of the `buffer_size` next each time."},
    {"ShuffleDatasetV2", "input_dataset; buffer_size: int64; seed_generator: resource",
     "output_types; output_shapes; metadata", "s", "As ShuffleDataset, with seeds from a resource."},
    {"ShuffleDatasetV3", "input_dataset; buffer_size: int64; seed: int64; seed2: int64; seed_generator: resource",
     "reshuffle_each_iteration: bool = true; output_types; output_shapes; metadata", "s",
     "As ShuffleDataset, with seeds from a resource that all iterations share."},
    {"ShuffleAndRepeatDataset", "input_dataset; buffer_size: int64; seed: int64; seed2: int64; count: int64",
     "output_types; output_shapes; reshuffle_each_iteration: bool = true; metadata", "",
     "The elements shuffled anew in each of `count` rounds."},
    {"ShuffleAndRepeatDatasetV2",
     "input_dataset; buffer_size: int64; seed: int64; seed2: int64; count: int64; seed_generator: resource",
     "reshuffle_each_iteration: bool = true; output_types; output_shapes; metadata", "s",
     "As ShuffleAndRepeatDataset, with seeds from a resource that all iterations share."},
    {"GlobalShuffleDataset", "input_dataset; seed: int64; seed2: int64; seed_generator: resource",
     "reshuffle_each_iteration: bool = true; output_types; output_shapes; metadata", "s",
     "The elements of a dataset of random access in a random order."},
    {"CacheDataset", "input_dataset; filename: string", "output_types; output_shapes; metadata", "",
     "The elements, kept in memory or a file after the first iteration."},
    {"CacheDatasetV2", "input_dataset; filename: string; cache: resource", "output_types; output_shapes; metadata",
     "s", "As CacheDataset, in the memory that a resource holds."},
    {"PrefetchDataset", "input_dataset; buffer_size: int64", "output_types; output_shapes; slack_period: int = 0; "
     "legacy_autotune: bool = true; buffer_size_min: int = 0; metadata", "", "The elements, made ahead of time."},
    {"UniqueDataset", "input_dataset", "output_types; output_shapes; metadata", "x",
     "Each element the first time that it comes."},
    {"IgnoreErrorsDataset", "input_dataset", "output_types; output_shapes; log_warning: bool = false", "x",
     "The elements that can be made; errors are passed over."},
    {"AssertNextDataset", "input_dataset; transformations: string", "output_types; output_shapes", "x",
     "Fails unless these transformations follow."},
    {"AssertPrevDataset", "input_dataset; transformations: string", "output_types; output_shapes", "",
     "Fails unless these transformations come before."},
    {"AssertCardinalityDataset", "input_dataset; cardinality: int64", "output_types; output_shapes", "",
     "Fails unless there are as many elements."},
    {"SamplingDataset", "input_dataset; rate: float; seed: int64; seed2: int64", "output_types; output_shapes", "",
     "Each element with the probability `rate`."},
    {"DirectedInterleaveDataset", "selector_input_dataset: variant; data_input_datasets: N * variant",
     "output_types; output_shapes; N; stop_on_empty_dataset: bool = false", "",
     "Elements of the data datasets in the order that the selector gives."},
    {"ExperimentalDirectedInterleaveDataset", "selector_input_dataset: variant; data_input_datasets: N * variant",
     "output_types; output_shapes; N", "", "Elements of the data datasets in the order that the selector gives."},
    {"ParseExampleDataset", "input_dataset; num_parallel_calls: int64; dense_defaults: Tdense",
     "sparse_keys: list(string) >= 0; dense_keys: list(string) >= 0; sparse_types: list({float, int64, string}) >= "
     "0; Tdense: list({float, int64, string}) >= 0; dense_shapes: list(shape) >= 0; output_types; output_shapes; "
     "sloppy: bool = false; ragged_keys: list(string) >= 0 = []; ragged_value_types: list({float, int64, string}) "
     ">= 0 = []; ragged_split_types: list({int32, int64}) >= 0 = []", "", "Batches of serialized Examples, parsed."},
    {"ParseExampleDatasetV2", "input_dataset; num_parallel_calls: int64; dense_defaults: Tdense",
     "sparse_keys: list(string) >= 0; dense_keys: list(string) >= 0; sparse_types: list({float, int64, string}) >= "
     "0; Tdense: list({float, int64, string}) >= 0; dense_shapes: list(shape) >= 0; output_types; output_shapes; "
     "deterministic; ragged_keys: list(string) >= 0 = []; ragged_value_types: list({float, int64, string}) >= 0 = "
     "[]; ragged_split_types: list({int32, int64}) >= 0 = []", "", "Batches of serialized Examples, parsed."},
    {"ExperimentalParseExampleDataset", "input_dataset; num_parallel_calls: int64; dense_defaults: Tdense",
     "sparse_keys: list(string) >= 0; dense_keys: list(string) >= 0; sparse_types: list({float, int64, string}) >= "
     "0; Tdense: list({float, int64, string}) >= 0; dense_shapes: list(shape) >= 0; output_types; output_shapes; "
     "sloppy: bool = false", "", "Batches of serialized Examples, parsed."},
    {"SnapshotDataset", "input_dataset; path: string", "output_types; output_shapes; compression: string = ''; "
     "reader_path_prefix: string = ''; writer_path_prefix: string = ''; shard_size_bytes: int = 10737418240; "
     "pending_snapshot_expiry_seconds: int = 86400; num_reader_threads: int = 1; reader_buffer_size: int = 1; "
     "num_writer_threads: int = 1; writer_buffer_size: int = 1; shuffle_on_read: bool = false; seed: int = 0; "
     "seed2: int = 0; mode: string = 'auto'; snapshot_name: string = ''", "",
     "The elements, written to files the first time and read the next."},
    {"SnapshotDatasetV2", "input_dataset; path: string; reader_func_other_args: Treader_func_args; "
     "shard_func_other_args: Tshard_func_args", "output_types; output_shapes; compression: string = ''; "
     "reader_prefix: string = ''; writer_prefix: string = ''; hash_valid: bool = false; hash: int = 0; "
     "reader_func: func; shard_func: func; Treader_func_args: list(type) >= 0; Tshard_func_args: list(type) >= 0; "
     "metadata", "", "The elements, written to files the first time and read the next; functions choose shards."},
    {"SaveDatasetV2", "input_dataset; path: string; shard_func_other_args: Tshard_func_args",
     "compression: string = ''; shard_func: func; use_shard_func: bool = true; Tshard_func_args: list(type) >= 0; "
     "output_types; output_shapes", "s", "Writes the elements to files as they pass."},
    {"SetStatsAggregatorDataset", "input_dataset; stats_aggregator: resource; tag: string; counter_prefix: string",
     "output_types; output_shapes", "sx", "Hands the aggregator to the input, which gives it its statistics."},
    {"LatencyStatsDataset", "input_dataset; tag: string", "output_types; output_shapes", "x",
     "Notes how long each element takes to make."},
    {"BytesProducedStatsDataset", "input_dataset; tag: string", "output_types; output_shapes", "x",
     "Notes how many bytes each element has."},
    {"SleepDataset", "input_dataset; sleep_microseconds: int64", "output_types; output_shapes", "x",
     "Waits before each element."},
    {"AutoShardDataset", "input_dataset; num_workers: int64; index: int64",
     "auto_shard_policy: int = 0; output_types; output_shapes; num_replicas: int = 0", "",
     "The part of the elements that is one worker's."},
    {"ExperimentalAutoShardDataset", "input_dataset; num_workers: int64; index: int64",
     "auto_shard_policy: int = 0; output_types; output_shapes", "", "The part of the elements that is one worker's."},
    {"OptionsDataset", "input_dataset", "serialized_options: string; output_types; output_shapes; metadata", "",
     "Sets options for the dataset."},
    {"ModelDataset", "input_dataset",
     "algorithm: int = 0; cpu_budget: int = 0; ram_budget: int = 0; output_types; output_shapes", "",
     "Adapts parallelism and buffer sizes that are left to choose."},
    {"OptimizeDataset", "input_dataset; optimizations: string",
     "output_types; output_shapes; optimization_configs: list(string) = []", "",
     "Rewrites the dataset to an equal one that is faster."},
    {"OptimizeDatasetV2",
     "input_dataset; optimizations_enabled: string; optimizations_disabled: string; optimizations_default: string",
     "output_types; output_shapes; optimization_configs: list(string) = []", "",
     "Rewrites the dataset to an equal one that is faster."},
    {"FinalizeDataset", "input_dataset", "has_captured_ref: bool = false; output_types; output_shapes", "",
     "Applies the options that were set."},
    {"RewriteDataset", "input_dataset; rewrite_name: string", "output_types; output_shapes", "",
     "Applies one named rewrite."},
    {"NonSerializableDataset", "input_dataset", "output_types; output_shapes", "x",
     "The elements of a dataset that cannot be written as a graph."},
    {"MaxIntraOpParallelismDataset", "input_dataset; max_intra_op_parallelism: int64", "output_types; output_shapes",
     "x", "Limits how many threads a kernel of the input's functions uses."},
    {"PrivateThreadPoolDataset", "input_dataset; num_threads: int64", "output_types; output_shapes", "x",
     "Runs the input's functions on threads of its own."},
    {"ThreadPoolDataset", "input_dataset; thread_pool: resource", "output_types; output_shapes", "sx",
     "Runs the input's functions on the given threads."},
    {"ChooseFastestDataset", "input_datasets: N * variant",
     "N: int >= 2; num_experiments: int; output_types; output_shapes", "x", "The input that gives elements fastest."},
};

}  // namespace

void RegisterDatasetTransformationsOps(OpRegistry& ops) { AddDatasetOps(ops, kTransformations); }

}  // namespace penstock
