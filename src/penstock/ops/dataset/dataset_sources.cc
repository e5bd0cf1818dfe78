// Datasets that come from tensors, numbers, files or functions.
#include "penstock/ops/dataset/dataset.h"

namespace penstock {
namespace {

constexpr DatasetOp kSources[] = {
    {"TensorDataset", "components: Toutput_types", "Toutput_types; output_shapes; metadata", "s",
     "One element: the components."},
    {"TensorSliceDataset", "components: Toutput_types",
     "Toutput_types; output_shapes; is_files: bool = false; metadata; replicate_on_split: bool = false", "s",
     "The slices of the components along their first dimension."},
    {"SparseTensorSliceDataset", "indices: int64; values: Tvalues; dense_shape: int64", "Tvalues: type", "s",
     "The slices of a sparse tensor along its first dimension, each as three components."},
    {"ListDataset", "tensors: Tinput_types", "Tinput_types: list(type) >= 1; output_types; output_shapes; metadata",
     "s", "The given tensors, one element after the other."},
    {"RangeDataset", "start: int64; stop: int64; step: int64",
     "output_types; output_shapes; metadata; replicate_on_split: bool = false", "s",
     "start, start + step, ... before stop."},
    {"RandomDataset", "seed: int64; seed2: int64", "output_types; output_shapes; metadata", "sx",
     "Random numbers without end."},
    {"RandomDatasetV2", "seed: int64; seed2: int64; seed_generator: resource",
     "rerandomize_each_iteration: bool = false; output_types; output_shapes; metadata", "s",
     "Random numbers without end, from another seed in each iteration if asked for."},
    {"GeneratorDataset", "init_func_other_args: Tinit_func_args; next_func_other_args: Tnext_func_args; "
     "finalize_func_other_args: Tfinalize_func_args", "init_func: func; next_func: func; finalize_func: func; "
     "Tinit_func_args: list(type) >= 0; Tnext_func_args: list(type) >= 0; Tfinalize_func_args: list(type) >= 0; "
     "output_types; output_shapes; metadata", "s",
     "What `next_func` gives, again and again, until it says OutOfRange."},
    {"TextLineDataset", "filenames: string; compression_type: string; buffer_size: int64", "metadata", "s",
     "The lines of text files."},
    {"FixedLengthRecordDataset",
     "filenames: string; header_bytes: int64; record_bytes: int64; footer_bytes: int64; buffer_size: int64",
     "metadata", "s", "The records of one size of binary files."},
    {"FixedLengthRecordDatasetV2", "filenames: string; header_bytes: int64; record_bytes: int64; footer_bytes: "
     "int64; buffer_size: int64; compression_type: string", "metadata", "s",
     "The records of one size of binary files, which may be compressed."},
    {"TFRecordDataset", "filenames: string; compression_type: string; buffer_size: int64", "metadata", "s",
     "The records of TFRecord files."},
    {"TFRecordDatasetV2", "filenames: string; compression_type: string; buffer_size: int64; byte_offsets: int64",
     "metadata", "s", "The records of TFRecord files from the given offsets on."},
    {"CSVDataset", "filenames: string; compression_type: string; buffer_size: int64; header: bool; field_delim: "
     "string; use_quote_delim: bool; na_value: string; select_cols: int64; record_defaults: output_types",
     "output_types: list({float, double, int32, int64, string}) >= 1; output_shapes", "sx",
     "The lines of CSV files, each field as its column's type."},
    {"CSVDatasetV2", "filenames: string; compression_type: string; buffer_size: int64; header: bool; field_delim: "
     "string; use_quote_delim: bool; na_value: string; select_cols: int64; record_defaults: output_types; "
     "exclude_cols: int64", "output_types: list({float, double, int32, int64, string}) >= 1; output_shapes", "s",
     "As CSVDataset; columns can be named by exclusion."},
    {"MatchingFilesDataset", "patterns: string", "", "sx",
     "The names of the files that match one of the patterns, sorted."},
    {"SqlDataset", "driver_name: string; data_source_name: string; query: string", "output_types; output_shapes",
     "sx", "The rows that a query gives."},
    {"LMDBDataset", "filenames: string", "output_types; output_shapes", "sx", "The keys and values of LMDB files."},
    {"LoadDataset", "path: string; reader_func_other_args: Treader_func_args",
     "output_types; output_shapes; compression: string = ''; reader_func: func; Treader_func_args: list(type) >= 0",
     "s", "The elements that SaveDataset wrote."},
    {"SnapshotDatasetReader", "shard_dir: string; start_index: int64",
     "output_types; output_shapes; compression: string = ''; version: int", "",
     "The elements of one shard of a snapshot."},
    {"SnapshotNestedDatasetReader", "inputs: N * variant", "output_types; output_shapes; N", "",
     "The datasets of a snapshot's shards."},
    {"SnapshotChunkDataset", "chunk_file: string", "output_types; output_shapes; compression: string = ''", "",
     "The elements of a chunk of a distributed snapshot."},
    {"ListSnapshotChunksDataset", "snapshot_path: string", "output_types; output_shapes", "s",
     "The chunks of a distributed snapshot."},
    {"DataServiceDataset", "dataset_id: int64; processing_mode: string; address: string; protocol: string; "
     "job_name: string; max_outstanding_requests: int64; iteration_counter: resource",
     "task_refresh_interval_hint_ms: int = -1; output_types; output_shapes; data_transfer_protocol: string = ''; "
     "target_workers: string = 'AUTO'; cross_trainer_cache_options: string = ''", "s",
     "Elements that a tf.data service makes."},
    {"DataServiceDatasetV2", "dataset_id: int64; processing_mode: string; address: string; protocol: string; "
     "job_name: string; consumer_index: int64; num_consumers: int64; max_outstanding_requests: int64; "
     "iteration_counter: resource", "task_refresh_interval_hint_ms: int = -1; output_types; output_shapes; "
     "data_transfer_protocol: string = ''; target_workers: string = 'AUTO'; cross_trainer_cache_options: string = ''",
     "s", "Elements that a tf.data service makes, for one of several consumers."},
    {"DataServiceDatasetV3", "dataset_id: int64; processing_mode: string; address: string; protocol: string; "
     "job_name: string; consumer_index: int64; num_consumers: int64; max_outstanding_requests: int64; "
     "iteration_counter: resource", "task_refresh_interval_hint_ms: int = -1; output_types; output_shapes; "
     "data_transfer_protocol: string = ''; target_workers: string = 'AUTO'; uncompress: bool = false; "
     "uncompress_fn: func; cross_trainer_cache_options: string = ''", "s",
     "Elements that a tf.data service makes, which a function may uncompress."},
    {"DataServiceDatasetV4", "dataset_id: string; processing_mode: string; address: string; protocol: string; "
     "job_name: string; consumer_index: int64; num_consumers: int64; max_outstanding_requests: int64; "
     "iteration_counter: resource", "task_refresh_interval_hint_ms: int = -1; output_types; output_shapes; "
     "data_transfer_protocol: string = ''; target_workers: string = 'AUTO'; uncompress: bool = false; "
     "uncompress_fn: func; cross_trainer_cache_options: string = ''", "s",
     "As DataServiceDatasetV3, of a dataset that is named by a string."},
    {"DatasetFromGraph", "graph_def: string", "", "", "The dataset that a serialized graph makes."},
};

}  // namespace

void RegisterDatasetSourcesOps(OpRegistry& ops) { AddDatasetOps(ops, kSources); }

}  // namespace penstock
