#include "penstock/io/tensor_bundle.h"

#include <algorithm>
#include <condition_variable>
#include <cstdio>
#include <mutex>
#include <optional>
#include <set>

#include "penstock/base/crc32c.h"
#include "penstock/base/fork.h"
#include "penstock/io/messages.h"
#include "penstock/io/slice_key.h"
#include "penstock/io/table.h"
#include "penstock/tensor/variant.h"
#include "tensorflow/core/protobuf/tensor_bundle.pb.h"

namespace penstock {
namespace {

constexpr int kBundleVersion = 1;
// Elements are written and read in pieces whose checksum is computed while they are in the cache.
constexpr size_t kPiece = 1 << 18;

std::string Encode(const BundleEntry& entry) {
  tensorflow::BundleEntryProto proto;
  proto.set_dtype(static_cast<tensorflow::DataType>(entry.dtype));
  ToProto(PartialShape(entry.shape), proto.mutable_shape());
  proto.set_shard_id(entry.shard);
  proto.set_offset(static_cast<int64_t>(entry.offset));
  proto.set_size(static_cast<int64_t>(entry.size));
  proto.set_crc32c(entry.crc32c);
  for (const TensorSlice& slice : entry.slices) ToProto(slice, proto.add_slices());
  return SerializeMessage(proto);
}

BundleEntry Decode(std::string_view bytes) {
  tensorflow::BundleEntryProto proto;
  ParseMessage(bytes, &proto);
  BundleEntry entry;
  entry.dtype = static_cast<DataType>(proto.dtype());
  entry.shape = FromProto(proto.shape()).AsShape();
  entry.shard = proto.shard_id();
  if (proto.offset() < 0 || proto.size() < 0) throw DataLoss("a checkpoint's entry lies at a negative offset");
  entry.offset = static_cast<uint64_t>(proto.offset());
  entry.size = static_cast<uint64_t>(proto.size());
  entry.crc32c = proto.crc32c();
  for (const auto& message : proto.slices()) {
    TensorSlice slice = FromProto(message);
    slice.Apply(entry.shape);  // checks
    entry.slices.push_back(std::move(slice));
  }
  CheckDisjoint(entry.shape, entry.slices);
  return entry;
}

void WriteIndex(const std::string& prefix, int num_shards, const std::map<std::string, BundleEntry>& entries) {
  OutputFile file(BundleIndexPath(prefix));
  TableWriter table(&file);
  tensorflow::BundleHeaderProto header;
  header.set_num_shards(num_shards);
  header.set_endianness(tensorflow::BundleHeaderProto::LITTLE);
  header.mutable_version()->set_producer(kBundleVersion);
  table.Add("", SerializeMessage(header));
  for (const auto& [key, entry] : entries) table.Add(key, Encode(entry));
  table.Finish();
  file.Commit();
}

// Strings: their lengths, a checksum of these, their bytes. The checksum of all counts a length as the number, not as
// its encoding.
std::string EncodeStrings(const Tensor& tensor, uint32_t* crc) {
  std::string bytes;
  *crc = 0;
  for (const TString& s : tensor.flat<TString>()) {
    AppendVarint(&bytes, s.size());
    std::string number;
    AppendFixed32(&number, static_cast<uint32_t>(s.size()));
    if (s.size() > UINT32_MAX) AppendFixed32(&number, static_cast<uint32_t>(uint64_t{s.size()} >> 32));
    *crc = ExtendCrc32c(*crc, number);
  }
  std::string lengths_crc;
  AppendFixed32(&lengths_crc, MaskCrc32c(*crc));
  *crc = ExtendCrc32c(*crc, lengths_crc);
  bytes += lengths_crc;
  for (const TString& s : tensor.flat<TString>()) {
    *crc = ExtendCrc32c(*crc, s);
    bytes += s.view();
  }
  return bytes;
}

// The reverse. False if the bytes are no such encoding; `crc` is of what was read.
bool DecodeStrings(std::string_view bytes, Tensor* tensor, uint32_t* crc) {
  std::vector<uint64_t> lengths(tensor->num_elements());
  *crc = 0;
  for (uint64_t& length : lengths) {
    if (!TakeVarint(&bytes, &length)) return false;
    std::string number;
    AppendFixed32(&number, static_cast<uint32_t>(length));
    if (length > UINT32_MAX) AppendFixed32(&number, static_cast<uint32_t>(length >> 32));
    *crc = ExtendCrc32c(*crc, number);
  }
  if (bytes.size() < 4 || UnmaskCrc32c(Fixed32At(bytes.data())) != *crc) return false;
  *crc = ExtendCrc32c(*crc, bytes.substr(0, 4));
  bytes.remove_prefix(4);
  for (size_t i = 0; i < lengths.size(); ++i) {
    if (lengths[i] > bytes.size()) return false;
    const std::string_view text = bytes.substr(0, lengths[i]);
    *crc = ExtendCrc32c(*crc, text);
    tensor->mutable_data<TString>()[i] = text;
    bytes.remove_prefix(lengths[i]);
  }
  return bytes.empty();
}

// What an element takes in a data file, at least.
size_t BytesOnDisk(DataType dtype) { return dtype == DT_STRING ? 1 : dtype == DT_VARIANT ? 5 : DataTypeSize(dtype); }

std::string Fixed64(uint64_t number) {
  std::string bytes;
  AppendFixed32(&bytes, static_cast<uint32_t>(number));
  AppendFixed32(&bytes, static_cast<uint32_t>(number >> 32));
  return bytes;
}

// Variants: of each the length, the message, and a checksum of all so far, which goes into the next one.
std::string EncodeVariants(const Tensor& tensor, uint32_t* crc) {
  std::string bytes;
  *crc = 0;
  for (const Variant& variant : tensor.flat<Variant>()) {
    tensorflow::VariantTensorDataProto proto;
    ToProto(variant, &proto);
    const std::string message = SerializeMessage(proto);
    std::string checksum;
    *crc = ExtendCrc32c(ExtendCrc32c(*crc, Fixed64(message.size())), message);
    AppendFixed32(&checksum, MaskCrc32c(*crc));
    *crc = ExtendCrc32c(*crc, checksum);
    AppendVarint(&bytes, message.size());
    bytes += message + checksum;
  }
  return bytes;
}

// The reverse. False if the bytes are no such encoding; `crc` is of what was read.
bool DecodeVariants(std::string_view bytes, Tensor* tensor, uint32_t* crc) {
  *crc = 0;
  for (Variant& variant : tensor->mutable_flat<Variant>()) {
    uint64_t size;
    if (!TakeVarint(&bytes, &size) || bytes.size() < 4 || size > bytes.size() - 4) return false;
    const std::string_view message = bytes.substr(0, size), checksum = bytes.substr(size, 4);
    *crc = ExtendCrc32c(ExtendCrc32c(*crc, Fixed64(size)), message);
    if (UnmaskCrc32c(Fixed32At(checksum.data())) != *crc) return false;
    *crc = ExtendCrc32c(*crc, checksum);
    tensorflow::VariantTensorDataProto proto;
    ParseMessage(message, &proto);
    variant = FromProto(proto);
    bytes.remove_prefix(size + 4);
  }
  return bytes.empty();
}

// How many shards the bundle at `prefix` says to have; 0 if there is none that can be read.
int ShardsOf(const std::string& prefix) {
  const std::string path = BundleIndexPath(prefix);
  if (!FileExists(path)) return 0;
  try {
    const auto table = ReadTable(path);
    tensorflow::BundleHeaderProto header;
    if (!table.empty() && table[0].first.empty()) ParseMessage(table[0].second, &header);
    return header.num_shards();
  } catch (const Error&) {
    return 0;
  }
}

std::string DirectoryFor(const std::string& prefix) {
  const std::string_view directory = DirectoryOf(prefix);
  return directory.empty() ? "." : std::string(directory);
}

// Several may write a bundle of one name at once, in threads or processes, and the last one to finish wins. Each takes
// a number of shards for itself, which is a part of its files' names, and publishes its index alone.
class Publishing {
 public:
  // Alone with the prefix.
  explicit Publishing(const std::string& prefix) : prefix_(prefix) {
    WaitForFiles([&] {
      std::unique_lock<std::mutex> lock(mutex_);
      free_.wait(lock, [&] { return busy_.insert(prefix_).second; });
    });
    lock_ = FileSystemOf(prefix_).LockDirectory(DirectoryFor(prefix_));
  }
  ~Publishing() {
    lock_.reset();
    const std::lock_guard lock(mutex_);
    busy_.erase(prefix_);
    free_.notify_all();
  }
  Publishing(const Publishing&) = delete;

  // The least number of shards, `shards` or more, whose files are neither those of the present bundle, which stays
  // whole until the index is renamed, nor another writer's. A shard without tensors may be missing. Removes first what
  // dead writers left, which would look like a living writer's files.
  int FreshShards(int shards) const {
    const int present = ShardsOf(prefix_);
    RemoveAbandoned(DirectoryFor(prefix_));
    std::vector<DirectoryEntry> around;
    try {
      around = FileSystemOf(prefix_).List(DirectoryFor(prefix_));
    } catch (const Error&) {  // not every file system lists
    }
    while (shards == present || IsTaken(BundleDataPath(prefix_, 0, shards), around)) ++shards;
    return shards;
  }
  static void Take(const std::string& path) {
    const std::lock_guard lock(mutex_);
    taken_.insert(path);
  }
  static void GiveBack(const std::string& path) {
    const std::lock_guard lock(mutex_);
    taken_.erase(path);
  }

 private:
  bool IsTaken(const std::string& path, const std::vector<DirectoryEntry>& around) const {
    {
      const std::lock_guard lock(mutex_);
      if (taken_.contains(path)) return true;
    }
    const size_t slash = path.rfind('/');
    const std::string written = path.substr(slash == path.npos ? 0 : slash + 1) + ".tempstate-";
    const auto is_written = [&](const DirectoryEntry& entry) { return entry.name.starts_with(written); };
    if (std::ranges::any_of(around, is_written)) return true;
    // Elements that came after the index are perhaps those of the next one.
    const auto elements = FileSystemOf(path).Find(path), index = FileSystemOf(path).Find(BundleIndexPath(prefix_));
    return elements && index && elements->modified_ns >= index->modified_ns;
  }
  static inline ForkMutex mutex_;
  static inline std::condition_variable free_;
  static inline std::set<std::string> busy_, taken_;
  const std::string prefix_;
  std::shared_ptr<void> lock_;
};

void RemoveShards(const std::string& prefix, int shards) {
  for (int i = 0; i < std::min(shards, 100000); ++i) {
    const std::string path = BundleDataPath(prefix, i, shards);
    if (FileExists(path)) RemoveFile(path);
  }
}

const std::string& WithDirectory(const std::string& prefix) {
  const std::string_view directory = DirectoryOf(prefix);
  if (!directory.empty()) MakeDirectories(std::string(directory));
  return prefix;
}

}  // namespace

std::string BundleIndexPath(std::string_view prefix) { return StrCat(prefix, ".index"); }

std::string BundleDataPath(std::string_view prefix, int shard, int num_shards) {
  char suffix[48];
  std::snprintf(suffix, sizeof(suffix), ".data-%05d-of-%05d", shard, num_shards);
  return StrCat(prefix, std::string_view(suffix));
}

BundleWriter::BundleWriter(std::string prefix) : prefix_(std::move(prefix)) {
  const Publishing alone(WithDirectory(prefix_));
  shards_ = alone.FreshShards(1);
  const std::string path = BundleDataPath(prefix_, 0, shards_);
  data_ = std::make_unique<OutputFile>(path);
  Publishing::Take(path);
}

BundleWriter::~BundleWriter() { Publishing::GiveBack(BundleDataPath(prefix_, 0, shards_)); }

BundleEntry BundleWriter::Write(const Tensor& tensor) {
  BundleEntry entry;
  entry.dtype = tensor.dtype();
  entry.shape = tensor.shape();
  entry.offset = data_->size();
  uint32_t crc;
  if (tensor.dtype() == DT_STRING) {
    data_->Append(EncodeStrings(tensor, &crc));
  } else if (tensor.dtype() == DT_VARIANT) {
    data_->Append(EncodeVariants(tensor, &crc));
  } else if (IsPod(tensor.dtype())) {
    const std::string_view bytes(static_cast<const char*>(tensor.raw()), tensor.bytes());
    crc = 0;
    for (size_t at = 0; at < bytes.size(); at += kPiece) {
      crc = ExtendCrc32c(crc, bytes.substr(at, kPiece));
      data_->Append(bytes.substr(at, kPiece));
    }
  } else {
    throw Unimplemented("tensors of type ", tensor.dtype(), " in a checkpoint");
  }
  entry.size = data_->size() - entry.offset;
  entry.crc32c = MaskCrc32c(crc);
  return entry;
}

void BundleWriter::Add(std::string_view name, const Tensor& tensor) {
  if (name.empty()) throw InvalidArgument("a tensor in a checkpoint must have a name");
  const auto [it, fresh] = entries_.try_emplace(std::string(name));
  if (!fresh) throw InvalidArgument("Adding duplicate key: ", name);
  it->second = Write(tensor);
}

void BundleWriter::AddSlice(std::string_view name, const Shape& full, const TensorSlice& slice, const Tensor& tensor) {
  if (tensor.shape() != slice.Apply(full)) {
    throw InvalidArgument("the part ", slice.ToString(), " of shape ", full, " of '", name, "' has a value of shape ",
                          tensor.shape());
  }
  // A tensor that is whole needs no parts.
  if (slice.IsFull()) return Add(name, tensor);
  BundleEntry& whole = entries_[std::string(name)];
  if (whole.dtype == DT_INVALID) {
    whole.dtype = tensor.dtype();
    whole.shape = full;
  } else if (whole.slices.empty() || whole.dtype != tensor.dtype() || whole.shape != full) {
    throw InvalidArgument("parts of '", name, "' differ in type or in the shape of the whole");
  }
  const std::string key = SliceKey(name, slice);
  if (entries_.contains(key)) throw InvalidArgument("Adding duplicate slice ", slice.ToString(), " of ", name);
  whole.slices.push_back(slice);
  entries_[key] = Write(tensor);
}

void BundleWriter::Finish() {
  data_->Commit();
  const Publishing alone(prefix_);
  const int present = ShardsOf(prefix_);
  WriteIndex(prefix_, shards_, entries_);
  if (present != shards_) RemoveShards(prefix_, present);
}

BundleReader::BundleReader(std::string prefix) : prefix_(std::move(prefix)) {
  const std::string path = BundleIndexPath(prefix_);
  if (!FileExists(path)) {
    throw NotFound("Unsuccessful TensorSliceReader constructor: Failed to find any matching files for ", prefix_);
  }
  // Another bundle may take the place of this one while its files are opened.
  constexpr int kTries = 100;
  std::string index = ReadWholeFile(path);
  for (int i = 0; i < kTries; ++i) {
    std::optional<Error> failed;
    try {
      Open(path);
    } catch (const Error& e) {
      failed = e;
    }
    std::string now = ReadWholeFile(path);
    if (now == index && failed) throw *failed;
    if (now == index) return;
    index = std::move(now);
  }
  throw Aborted("the checkpoint ", prefix_, " is written again and again while it is opened");
}

void BundleReader::Open(const std::string& path) {
  entries_.clear();
  shards_.clear();
  const auto table = ReadTable(path);
  if (table.empty() || !table[0].first.empty()) throw DataLoss("the checkpoint's index ", path, " has no header");
  tensorflow::BundleHeaderProto header;
  ParseMessage(table[0].second, &header);
  if (header.endianness() != tensorflow::BundleHeaderProto::LITTLE) {
    throw Unimplemented("the checkpoint ", prefix_, " was written on a big-endian machine");
  }
  if (header.version().min_consumer() > kBundleVersion) {
    throw InvalidArgument("the checkpoint ", prefix_, " needs version ", header.version().min_consumer());
  }
  num_shards_ = header.num_shards();
  if (num_shards_ < 0 || num_shards_ > 1000000) throw DataLoss("the checkpoint ", prefix_, " claims bad shards");
  for (size_t i = 1; i < table.size(); ++i) entries_.emplace(table[i].first, Decode(table[i].second));
  for (int i = 0; i < num_shards_; ++i) {
    const std::string data = BundleDataPath(prefix_, i, num_shards_);
    // A shard without any tensor may be missing.
    shards_.push_back(FileExists(data) ? std::make_unique<InputFile>(data) : nullptr);
  }
}

std::vector<std::string> BundleReader::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, entry] : entries_) {
    if (name[0] != '\0') names.push_back(name);  // keys of parts begin with a zero
  }
  return names;
}

const BundleEntry* BundleReader::Find(std::string_view name) const {
  const auto it = entries_.find(name);
  return it == entries_.end() || name.empty() ? nullptr : &it->second;
}

const BundleEntry& BundleReader::Get(std::string_view name) const {
  const BundleEntry* entry = Find(name);
  if (!entry) throw NotFound("Key ", name, " not found in checkpoint");
  return *entry;
}

Tensor BundleReader::Read(std::string_view name) const {
  const BundleEntry& entry = Get(name);
  return entry.slices.empty() ? ReadEntry(name, entry) : ReadSlice(name, TensorSlice::All(entry.shape.rank()));
}

Tensor BundleReader::ReadSlice(std::string_view name, const TensorSlice& slice) const {
  const BundleEntry& entry = Get(name);
  const Shape shape = slice.Apply(entry.shape);
  if (entry.slices.empty() && slice.IsFull()) return ReadEntry(name, entry);
  std::vector<std::pair<TensorSlice, const BundleEntry*>> parts;
  if (entry.slices.empty()) parts.emplace_back(TensorSlice::All(entry.shape.rank()), &entry);
  if (entry.dtype == DT_VARIANT) throw DataLoss("tensor '", name, "' of variants in parts");
  for (const TensorSlice& stored : entry.slices) {
    const BundleEntry& part = Get(SliceKey(name, stored));
    if (part.dtype != entry.dtype || part.shape != stored.Apply(entry.shape)) {
      throw DataLoss("the part ", stored.ToString(), " of '", name, "' does not fit the whole");
    }
    parts.emplace_back(stored, &part);
  }
  for (const auto& [stored, part] : parts) FileOf(name, *part);
  // Parts that share their bytes could make much of a small file.
  uint64_t there = 0;
  for (const auto& shard : shards_) there += shard ? shard->size() : 0;
  if (static_cast<uint64_t>(shape.num_elements()) > there / BytesOnDisk(entry.dtype)) {
    throw DataLoss("tensor '", name, "' of shape ", entry.shape, " is larger than the files of ", prefix_);
  }
  Tensor result(entry.dtype, shape);
  int64_t copied = 0;
  for (const auto& [stored, part] : parts) {
    copied += CopyOverlap(entry.shape, stored, ReadEntry(name, *part), slice, &result);
  }
  if (copied < shape.num_elements()) {
    throw NotFound("the checkpoint does not hold all of the part ", slice.ToString(), " of '", name, "'");
  }
  return result;
}

const InputFile& BundleReader::FileOf(std::string_view name, const BundleEntry& entry) const {
  if (entry.shard < 0 || entry.shard >= num_shards_ || !shards_[entry.shard]) {
    throw NotFound(BundleDataPath(prefix_, entry.shard, num_shards_), "; No such file or directory");
  }
  const InputFile& file = *shards_[entry.shard];
  if (entry.size > file.size() || entry.offset > file.size() - entry.size) {
    throw DataLoss("tensor '", name, "' ends behind the end of ", file.path(), ": the file is cut off");
  }
  const bool tells_lengths = entry.dtype == DT_STRING || entry.dtype == DT_VARIANT;
  if (!tells_lengths && (!IsPod(entry.dtype) || DataTypeSize(entry.dtype) == 0)) {
    throw Unimplemented("tensor '", name, "' of type ", entry.dtype, " in a checkpoint");
  }
  const auto elements = static_cast<uint64_t>(entry.shape.num_elements());
  const size_t each = BytesOnDisk(entry.dtype);
  if (tells_lengths ? entry.size / each < elements : entry.size / each != elements || entry.size % each != 0) {
    throw DataLoss("tensor '", name, "' of shape ", entry.shape, " has ", entry.size, " bytes");
  }
  return file;
}

Tensor BundleReader::ReadEntry(std::string_view name, const BundleEntry& entry) const {
  const InputFile& file = FileOf(name, entry);
  uint32_t crc;
  bool well_formed = true;
  Tensor tensor(entry.dtype, entry.shape);
  if (entry.dtype == DT_STRING) {
    well_formed = DecodeStrings(file.Read(entry.offset, entry.size), &tensor, &crc);
  } else if (entry.dtype == DT_VARIANT) {
    try {
      well_formed = DecodeVariants(file.Read(entry.offset, entry.size), &tensor, &crc);
    } catch (const Error& e) {
      throw DataLoss("tensor '", name, "' in ", file.path(), " holds a variant that cannot be read: ", e.what());
    }
  } else {
    char* const to = static_cast<char*>(tensor.mutable_raw());
    crc = 0;
    for (uint64_t at = 0; at < entry.size; at += kPiece) {
      const size_t n = std::min<uint64_t>(kPiece, entry.size - at);
      file.Read(entry.offset + at, n, to + at);
      crc = ExtendCrc32c(crc, {to + at, n});
    }
  }
  if (!well_formed || MaskCrc32c(crc) != entry.crc32c) {
    throw DataLoss("Checksum does not match: stored ", UnmaskCrc32c(entry.crc32c),
                   " vs. calculated on the restored bytes ", crc, ", tensor '", name, "' in ", file.path());
  }
  return tensor;
}

void MergeBundles(const std::vector<std::string>& prefixes, const std::string& merged, bool allow_missing) {
  std::map<std::string, BundleEntry> all;
  std::vector<std::string> data_files;
  for (const std::string& prefix : prefixes) {
    if (allow_missing && !FileExists(BundleIndexPath(prefix))) continue;
    const BundleReader reader(prefix);
    const int first = static_cast<int>(data_files.size());
    for (const auto& [key, entry] : reader.entries_) {
      const auto [it, fresh] = all.try_emplace(key, entry);
      if (fresh) {
        it->second.shard = entry.slices.empty() ? entry.shard + first : 0;
      } else if (entry.slices.empty() || it->second.slices.empty() || it->second.dtype != entry.dtype ||
                 it->second.shape != entry.shape) {
        throw InvalidArgument("Duplicate tensor keyed by ", key, " encountered, when merging prefix: ", prefix);
      } else {
        it->second.slices.insert(it->second.slices.end(), entry.slices.begin(), entry.slices.end());
      }
    }
    for (int i = 0; i < reader.num_shards(); ++i) data_files.push_back(BundleDataPath(prefix, i, reader.num_shards()));
  }
  if (data_files.empty()) throw InvalidArgument("no checkpoints to merge into ", merged);
  const Publishing alone(WithDirectory(merged));
  const int present = ShardsOf(merged), total = alone.FreshShards(static_cast<int>(data_files.size()));
  for (size_t i = 0; i < data_files.size(); ++i) {
    if (FileExists(data_files[i])) RenameFile(data_files[i], BundleDataPath(merged, static_cast<int>(i), total));
  }
  WriteIndex(merged, total, all);
  if (present != total) RemoveShards(merged, present);
  for (const std::string& prefix : prefixes) {
    if (prefix != merged && FileExists(BundleIndexPath(prefix))) RemoveFile(BundleIndexPath(prefix));
  }
}

}  // namespace penstock
