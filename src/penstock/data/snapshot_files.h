// Elements kept in files, as TensorFlow's snapshots (version 2) have them:
//
//   DIRECTORY/snapshot.metadata                            a SnapshotMetadataRecord
//   DIRECTORY/RUN/00000000.shard/00000000.snapshot         records: the components of each element, as TensorProtos
//
// RUN is a number; a shard's files follow each other.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "penstock/data/file_elements.h"
#include "penstock/io/record_stream.h"

namespace penstock::data {

struct SnapshotMetadata {
  std::string graph_hash, run_id;
  int64_t creation_micros = 0, version = 2;
  std::vector<DataType> types;
  int64_t num_elements = kUnknown;
  bool finalized = false;
};
std::optional<SnapshotMetadata> ReadSnapshotMetadata(const std::string& directory);  // DataLoss if it is damaged
void WriteSnapshotMetadata(const std::string& directory, const SnapshotMetadata& metadata);

int64_t NowMicros();
std::string NewRunId();
bool IsRunId(std::string_view text);  // letters and digits: as the name of a directory it leads to no other
// "", "GZIP", "SNAPPY" or "AUTO", which is the last.
Compression SnapshotCompression(std::string_view name);

// Writes a run's elements.
class SnapshotWriter {
 public:
  SnapshotWriter(std::string run_directory, Compression compression, int64_t first_file = 0)
      : run_directory_(std::move(run_directory)), compression_(compression), file_(first_file) {}
  void Write(int64_t shard, const Element& element);
  // Ends the files; what is written after this goes to new ones, from this number on.
  int64_t NextFiles();

 private:
  const std::string run_directory_;
  const Compression compression_;
  int64_t file_;
  std::map<int64_t, std::unique_ptr<RecordFile>> shards_;
};

// The shards' directories, in order.
std::vector<std::string> SnapshotShards(const std::string& run_directory);
// Removes the files from number `first` on, which were written after what is known of the run was saved.
void RemoveSnapshotFiles(const std::string& run_directory, int64_t first);
// The elements of a shard.
Ref<const Dataset> SnapshotShard(const std::string& shard_directory, const ElementSpec& spec, Compression compression);
// The same of what its variant was encoded as. DataLoss if it is none.
Ref<VariantValue> DecodeSnapshotShard(std::string_view metadata, std::vector<Tensor> tensors);

}  // namespace penstock::data
