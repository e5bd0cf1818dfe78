#include "penstock/data/snapshot_files.h"

#include <algorithm>
#include <cctype>
#include <chrono>

#include "penstock/base/random.h"
#include "penstock/data/window.h"
#include "penstock/io/convert.h"
#include "penstock/io/table.h"

namespace penstock::data {
namespace {

constexpr std::string_view kMetadataName = "/snapshot.metadata";

std::string Numbered(int64_t number, std::string_view suffix) {
  const std::string digits = std::to_string(number);
  return StrCat(std::string(digits.size() < 8 ? 8 - digits.size() : 0, '0'), digits, suffix);
}

enum Field : uint64_t { kGraphHash = 1, kRunId, kCreation, kVersion, kTypes, kNumElements, kFinalized = 1000 };
enum WireType : uint64_t { kVarint = 0, kBytes = 2 };

void PutNumber(std::string* out, Field field, int64_t value) {
  AppendVarint(out, field << 3 | kVarint);
  AppendVarint(out, static_cast<uint64_t>(value));
}
void PutBytes(std::string* out, Field field, std::string_view bytes) {
  AppendVarint(out, field << 3 | kBytes);
  AppendVarint(out, bytes.size());
  out->append(bytes);
}

std::string Serialized(const SnapshotMetadata& m) {
  std::string out, types;
  if (!m.graph_hash.empty()) PutBytes(&out, kGraphHash, m.graph_hash);
  PutBytes(&out, kRunId, m.run_id);
  PutNumber(&out, kCreation, m.creation_micros);
  PutNumber(&out, kVersion, m.version);
  for (const DataType type : m.types) AppendVarint(&types, static_cast<uint64_t>(type));
  PutBytes(&out, kTypes, types);
  if (m.num_elements >= 0) PutNumber(&out, kNumElements, m.num_elements);
  if (m.finalized) PutNumber(&out, kFinalized, 1);
  return out;
}

// False if it is no such message.
bool Parse(std::string_view in, SnapshotMetadata* m) {
  while (!in.empty()) {
    uint64_t tag, value;
    if (!TakeVarint(&in, &tag) || !TakeVarint(&in, &value)) return false;
    std::string_view bytes;
    if ((tag & 7) == kBytes) {
      if (value > in.size()) return false;
      bytes = in.substr(0, value);
      in.remove_prefix(value);
    } else if ((tag & 7) != kVarint) {
      return false;
    }
    switch (tag >> 3) {
      case kGraphHash: m->graph_hash = bytes; break;
      case kRunId: m->run_id = bytes; break;
      case kCreation: m->creation_micros = static_cast<int64_t>(value); break;
      case kVersion: m->version = static_cast<int64_t>(value); break;
      case kTypes:
        for (uint64_t type; !bytes.empty() && TakeVarint(&bytes, &type);) {
          m->types.push_back(static_cast<DataType>(type));
        }
        break;
      case kNumElements: m->num_elements = static_cast<int64_t>(value); break;
      case kFinalized: m->finalized = value != 0; break;
      default: break;
    }
  }
  return true;
}

// The elements of one file: so many records each.
class ElementsOfFile final : public FileElements {
 public:
  ElementsOfFile(const std::string& path, Compression compression, std::vector<DataType> types)
      : path_(path), types_(std::move(types)), stream_(path, compression) {}
  bool Next(Element* element) override {
    element->clear();
    uint64_t begin;
    for (const DataType type : types_) {
      if (!stream_.Next(&record_, &begin)) {
        if (element->empty()) return false;
        throw DataLoss("The last element is not whole in ", path_);
      }
      element->push_back(ParseTensor(record_));
      if (element->back().dtype() != type) {
        throw InvalidArgument("A ", type, " was expected but ", element->back().dtype(), " found in ", path_);
      }
    }
    return true;
  }
  uint64_t offset() const override { return stream_.offset(); }
  void Skip(uint64_t bytes) override { stream_.Skip(bytes); }

 private:
  const std::string path_;
  const std::vector<DataType> types_;
  RecordStream stream_;
  std::string record_;
};

// The elements of a shard's files, as a dataset that the state of an iterator may hold.
class ShardOfFiles final : public Dataset {
 public:
  ShardOfFiles(Ref<const Dataset> files, std::string directory, Compression compression)
      : Dataset("", files->spec(), {files}), directory_(std::move(directory)), compression_(compression) {}
  // A digit for the compression, then the directory.
  void Encode(std::string* metadata, std::vector<Tensor>* tensors) const override {
    *metadata = StrCat(static_cast<int>(compression_), directory_);
    *tensors = EncodeSpec(spec());
  }

 private:
  std::unique_ptr<Iterator> MakeIterator(const Place& place) const override { return input().Begin(place); }
  const std::string directory_;
  const Compression compression_;
};

}  // namespace

bool IsRunId(std::string_view name) {
  return !name.empty() && std::all_of(name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c); });
}

std::optional<SnapshotMetadata> ReadSnapshotMetadata(const std::string& directory) {
  const std::string path = StrCat(directory, kMetadataName);
  if (!FileExists(path)) return std::nullopt;
  SnapshotMetadata metadata;
  if (!Parse(ReadWholeFile(path), &metadata) || !IsRunId(metadata.run_id)) {
    throw DataLoss("The metadata of a snapshot is damaged: ", path);
  }
  return metadata;
}

void WriteSnapshotMetadata(const std::string& directory, const SnapshotMetadata& metadata) {
  MakeDirectories(directory);
  OutputFile file(StrCat(directory, kMetadataName));
  file.Append(Serialized(metadata));
  file.Commit();
}

int64_t NowMicros() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::microseconds>(now).count();
}

std::string NewRunId() { return std::to_string(NondeterministicSeed()); }

Compression SnapshotCompression(std::string_view name) { return CompressionFromName(name == "AUTO" ? "SNAPPY" : name); }

void SnapshotWriter::Write(int64_t shard, const Element& element) {
  std::unique_ptr<RecordFile>& file = shards_[shard];
  if (!file) {
    const std::string directory = StrCat(run_directory_, "/", Numbered(shard, ".shard"));
    MakeDirectories(directory);
    file = std::make_unique<RecordFile>(StrCat(directory, "/", Numbered(file_, ".snapshot")), compression_);
  }
  for (const Tensor& component : element) file->Write(SerializePackedTensor(component));
}

int64_t SnapshotWriter::NextFiles() {
  for (const auto& [shard, file] : shards_) file->Close();
  shards_.clear();
  return ++file_;
}

std::vector<std::string> SnapshotShards(const std::string& run_directory) {
  return MatchingPaths(StrCat(run_directory, "/*.shard"));
}

void RemoveSnapshotFiles(const std::string& run_directory, int64_t first) {
  for (const std::string& shard : SnapshotShards(run_directory)) {
    for (const std::string& path : MatchingPaths(StrCat(shard, "/*.snapshot"))) {
      if (std::string_view(path).substr(shard.size() + 1) >= Numbered(first, ".snapshot")) RemoveFile(path);
    }
  }
}

Ref<const Dataset> SnapshotShard(const std::string& shard_directory, const ElementSpec& spec, Compression compression) {
  Ref<const Dataset> files =
      MakeRef<FilesDataset>("SnapshotDatasetReader", spec, MatchingPaths(StrCat(shard_directory, "/*.snapshot")),
                            [compression, types = spec.types](const std::string& path, size_t) {
                              return std::make_unique<ElementsOfFile>(path, compression, types);
                            });
  return MakeRef<ShardOfFiles>(std::move(files), shard_directory, compression);
}

Ref<VariantValue> DecodeSnapshotShard(std::string_view metadata, std::vector<Tensor> tensors) {
  const auto compression = metadata.empty() ? -1 : metadata[0] - '0';
  if (compression < 0 || compression > static_cast<int>(Compression::kSnappy)) {
    throw DataLoss("The variant does not hold a snapshot's shard");
  }
  const Ref<const Dataset> shard =
      SnapshotShard(std::string(metadata.substr(1)), DecodeSpec(tensors), static_cast<Compression>(compression));
  return ShareRef<VariantValue>(const_cast<Dataset*>(shard.get()));
}

}  // namespace penstock::data
