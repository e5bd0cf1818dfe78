// Datasets that call functions with the elements of others.
#include "penstock/ops/dataset/dataset.h"

namespace penstock {
namespace {

constexpr DatasetOp kFunctions[] = {
    {"MapDataset", "input_dataset; other_arguments", "f; Targuments; output_types; output_shapes; "
     "use_inter_op_parallelism: bool = true; preserve_cardinality: bool = false; force_synchronous: bool = false; "
     "metadata", "x", "`f` of each element."},
    {"ParallelMapDataset", "input_dataset; other_arguments; num_parallel_calls: int32",
     "f; Targuments; output_types; output_shapes; use_inter_op_parallelism: bool = true; sloppy: bool = false; "
     "preserve_cardinality: bool = false; metadata", "", "`f` of each element, several at a time."},
    {"ParallelMapDatasetV2", "input_dataset; other_arguments; num_parallel_calls: int64",
     "f; Targuments; output_types; output_shapes; use_inter_op_parallelism: bool = true; deterministic; "
     "preserve_cardinality: bool = false; use_unbounded_threadpool: bool = false; metadata", "",
     "`f` of each element, several at a time."},
    {"MapAndBatchDataset",
     "input_dataset; other_arguments; batch_size: int64; num_parallel_calls: int64; drop_remainder: bool",
     "f; Targuments; output_types; output_shapes; preserve_cardinality: bool = false; metadata", "x",
     "Batches of `f` of each element."},
    {"FlatMapDataset", "input_dataset; other_arguments", "f; Targuments; output_types; output_shapes; metadata", "",
     "The elements of the datasets that `f` makes of each element."},
    {"InterleaveDataset", "input_dataset; other_arguments; cycle_length: int64; block_length: int64",
     "f; Targuments; output_types; output_shapes; metadata", "",
     "The elements of the datasets that `f` makes, of several datasets in turns."},
    {"ParallelInterleaveDataset", "input_dataset; other_arguments; cycle_length: int64; block_length: int64; "
     "sloppy: bool; buffer_output_elements: int64; prefetch_input_elements: int64",
     "f; Targuments; output_types; output_shapes; metadata", "x", "As InterleaveDataset, read by several threads."},
    {"LegacyParallelInterleaveDatasetV2", "input_dataset; other_arguments; cycle_length: int64; block_length: "
     "int64; buffer_output_elements: int64; prefetch_input_elements: int64",
     "f; deterministic; Targuments; output_types; output_shapes; metadata", "",
     "As InterleaveDataset, read by several threads."},
    {"ParallelInterleaveDatasetV2",
     "input_dataset; other_arguments; cycle_length: int64; block_length: int64; num_parallel_calls: int64",
     "f; Targuments; output_types; output_shapes; sloppy: bool = false; metadata", "",
     "As InterleaveDataset, several datasets at a time."},
    {"ParallelInterleaveDatasetV3",
     "input_dataset; other_arguments; cycle_length: int64; block_length: int64; num_parallel_calls: int64",
     "f; deterministic; Targuments; output_types; output_shapes; metadata", "",
     "As InterleaveDataset, several datasets at a time."},
    {"ParallelInterleaveDatasetV4", "input_dataset; other_arguments; cycle_length: int64; block_length: int64; "
     "buffer_output_elements: int64; prefetch_input_elements: int64; num_parallel_calls: int64",
     "f; deterministic; Targuments; output_types; output_shapes; metadata", "",
     "As InterleaveDataset, several datasets at a time, made ahead of time."},
    {"FilterDataset", "input_dataset; other_arguments",
     "predicate; Targuments; output_types; output_shapes; metadata", "",
     "The elements for which the predicate holds."},
    {"ParallelFilterDataset", "input_dataset; other_arguments; num_parallel_calls: int64",
     "predicate; deterministic; Targuments; output_types; output_shapes; metadata", "",
     "The elements for which the predicate holds, tested several at a time."},
    {"TakeWhileDataset", "input_dataset; other_arguments",
     "predicate; Targuments; output_types; output_shapes; metadata", "x",
     "The elements before the first for which the predicate does not hold."},
    {"ScanDataset", "input_dataset; initial_state: Tstate; other_arguments",
     "f; Tstate: list(type) >= 1; Targuments; output_types; output_shapes; preserve_cardinality: bool = false; "
     "use_default_device: bool = true; metadata", "",
     "What `f` makes of a state and each element, besides the next state."},
    {"ExperimentalScanDataset", "input_dataset; initial_state: Tstate; other_arguments",
     "f; Tstate: list(type) >= 1; Targuments; output_types; output_shapes; preserve_cardinality: bool = false", "",
     "What `f` makes of a state and each element, besides the next state."},
    {"GroupByReducerDataset", "input_dataset; key_func_other_arguments: Tkey_func_other_arguments; "
     "init_func_other_arguments: Tinit_func_other_arguments; reduce_func_other_arguments: "
     "Treduce_func_other_arguments; finalize_func_other_arguments: Tfinalize_func_other_arguments",
     "key_func: func; init_func: func; reduce_func: func; finalize_func: func; Tkey_func_other_arguments: "
     "list(type) >= 0; Tinit_func_other_arguments: list(type) >= 0; Treduce_func_other_arguments: list(type) >= 0; "
     "Tfinalize_func_other_arguments: list(type) >= 0; output_types; output_shapes", "sx",
     "For each key, the elements of that key reduced to one."},
    {"GroupByWindowDataset", "input_dataset; key_func_other_arguments: Tkey_func_other_arguments; "
     "reduce_func_other_arguments: Treduce_func_other_arguments; window_size_func_other_arguments: "
     "Twindow_size_func_other_arguments", "key_func: func; reduce_func: func; window_size_func: func; "
     "Tkey_func_other_arguments: list(type) >= 0; Treduce_func_other_arguments: list(type) >= 0; "
     "Twindow_size_func_other_arguments: list(type) >= 0; output_types; output_shapes; metadata", "x",
     "Windows of elements of one key, each reduced to a dataset."},
    {"IndexFlatMapDataset", "input_dataset; map_func_other_args: Tmap_func_args; index_map_func_other_args: "
     "Tindex_map_func_args; output_cardinality: int64", "map_func: func; index_map_func: func; Tmap_func_args: "
     "list(type) >= 0; Tindex_map_func_args: list(type) >= 0; output_types; output_shapes; metadata", "",
     "As FlatMapDataset, with an index that tells where an element comes from."},
    {"WeightedFlatMapDataset", "input_datasets: N * variant; weights: M * double",
     "N: int >= 2; M: int >= 2; output_types; output_shapes; metadata", "",
     "The elements of several datasets, in proportion to their weights."},
    {"ChooseFastestBranchDataset", "input_dataset; ratio_numerator: int64; ratio_denominator: int64; other_arguments",
     "Targuments; num_elements_per_branch: int >= 1; branches: list(func) >= 1; other_arguments_lengths: list(int) "
     ">= 1; output_types; output_shapes", "", "What the fastest of the branches makes of the input."},
};

}  // namespace

void RegisterDatasetFunctionsOps(OpRegistry& ops) { AddDatasetOps(ops, kFunctions); }

}  // namespace penstock
