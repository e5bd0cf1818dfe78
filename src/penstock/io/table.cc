#include "penstock/io/table.h"

#include <algorithm>

#include "penstock/base/crc32c.h"
#include "penstock/io/snappy.h"

namespace penstock {
namespace {

constexpr size_t kBlockSize = 262144;
constexpr size_t kTrailerSize = 5;  // kind of compression, checksum
constexpr size_t kFooterSize = 48;
constexpr size_t kLargestBlock = size_t{1} << 31;
constexpr char kUncompressed = 0, kSnappy = 1;
constexpr uint64_t kMagic = 0xdb4775248b80fb57u;

// The shortest key that is >= start and < limit, as far as cutting and raising one byte goes.
std::string Separator(std::string start, std::string_view limit) {
  const size_t n = std::min(start.size(), limit.size());
  size_t i = 0;
  while (i < n && start[i] == limit[i]) ++i;
  if (i >= n) return start;
  const auto byte = static_cast<uint8_t>(start[i]);
  if (byte < 0xff && byte + 1 < static_cast<uint8_t>(limit[i])) {
    start[i] = static_cast<char>(byte + 1);
    start.resize(i + 1);
  }
  return start;
}

// A short key that is >= key.
std::string Successor(std::string key) {
  for (size_t i = 0; i < key.size(); ++i) {
    if (static_cast<uint8_t>(key[i]) == 0xff) continue;
    ++key[i];
    key.resize(i + 1);
    break;
  }
  return key;
}

struct Handle {
  uint64_t offset = 0, size = 0;
};

Error Damaged(const std::string& path, std::string_view what) {
  return DataLoss("not an sstable or damaged (", what, "): ", path);
}

Handle TakeHandle(std::string_view* in, const std::string& path) {
  Handle handle;
  if (!TakeVarint(in, &handle.offset) || !TakeVarint(in, &handle.size)) throw Damaged(path, "bad block handle");
  return handle;
}

std::string ReadBlock(const InputFile& file, Handle handle) {
  if (handle.size > file.size() || handle.offset > file.size() - handle.size) {
    throw Damaged(file.path(), "block beyond the end of the file");
  }
  std::string bytes = file.Read(handle.offset, handle.size + kTrailerSize);
  const uint32_t stored = UnmaskCrc32c(Fixed32At(bytes.data() + handle.size + 1));
  if (Crc32c(std::string_view(bytes).substr(0, handle.size + 1)) != stored) {
    throw Damaged(file.path(), "block checksum mismatch");
  }
  const char kind = bytes[handle.size];
  bytes.resize(handle.size);
  if (kind == kSnappy) {
    std::string whole;
    if (!SnappyUncompress(bytes, kLargestBlock, &whole)) throw Damaged(file.path(), "bad compressed block");
    return whole;
  }
  if (kind != kUncompressed) {
    throw Unimplemented("blocks compressed in way ", static_cast<int>(kind), " in ", file.path());
  }
  return bytes;
}

template <class F>
void ForEachEntry(const std::string& block, const std::string& path, F visit) {
  if (block.size() < 4) throw Damaged(path, "block too short");
  const uint64_t restarts = Fixed32At(block.data() + block.size() - 4);
  if (restarts > (block.size() - 4) / 4) throw Damaged(path, "bad number of restarts");
  std::string_view in(block.data(), block.size() - 4 - 4 * restarts);
  std::string key;
  while (!in.empty()) {
    uint64_t shared, rest, value;
    if (!TakeVarint(&in, &shared) || !TakeVarint(&in, &rest) || !TakeVarint(&in, &value) || shared > key.size() ||
        rest > in.size() || value > in.size() - rest) {
      throw Damaged(path, "bad entry");
    }
    key.resize(shared);
    key.append(in.substr(0, rest));
    visit(key, in.substr(rest, value));
    in.remove_prefix(rest + value);
  }
}

}  // namespace

void AppendVarint(std::string* out, uint64_t v) {
  for (; v >= 0x80; v >>= 7) out->push_back(static_cast<char>(v | 0x80));
  out->push_back(static_cast<char>(v));
}

bool TakeVarint(std::string_view* in, uint64_t* v) {
  *v = 0;
  for (int shift = 0; shift < 64 && !in->empty(); shift += 7) {
    const auto byte = static_cast<uint8_t>(in->front());
    in->remove_prefix(1);
    *v |= uint64_t{byte & 0x7fu} << shift;
    if (byte < 0x80) return true;
  }
  return false;
}

void PutFixed32(char* out, uint32_t v) {
  for (int i = 0; i < 4; ++i) out[i] = static_cast<char>(v >> (8 * i));
}

void AppendFixed32(std::string* out, uint32_t v) {
  char bytes[4];
  PutFixed32(bytes, v);
  out->append(bytes, sizeof(bytes));
}

uint32_t Fixed32At(const char* p) {
  uint32_t v = 0;
  for (int i = 0; i < 4; ++i) v |= uint32_t{static_cast<uint8_t>(p[i])} << (8 * i);
  return v;
}

void TableWriter::Block::Add(std::string_view key, std::string_view value) {
  size_t shared = 0;
  if (since_restart_ < interval_) {
    const size_t n = std::min(last_key_.size(), key.size());
    while (shared < n && last_key_[shared] == key[shared]) ++shared;
  } else {
    restarts_.push_back(static_cast<uint32_t>(bytes_.size()));
    since_restart_ = 0;
  }
  AppendVarint(&bytes_, shared);
  AppendVarint(&bytes_, key.size() - shared);
  AppendVarint(&bytes_, value.size());
  bytes_.append(key.substr(shared));
  bytes_.append(value);
  last_key_ = key;
  ++since_restart_;
}

std::string TableWriter::Block::Finish() {
  for (const uint32_t restart : restarts_) AppendFixed32(&bytes_, restart);
  AppendFixed32(&bytes_, static_cast<uint32_t>(restarts_.size()));
  std::string contents = std::move(bytes_);
  bytes_.clear();
  last_key_.clear();
  restarts_ = {0};
  since_restart_ = 0;
  return contents;
}

std::string TableWriter::WriteBlock(const std::string& contents) {
  std::string handle;
  AppendVarint(&handle, file_->size());
  AppendVarint(&handle, contents.size());
  std::string trailer(1, kUncompressed);
  AppendFixed32(&trailer, MaskCrc32c(ExtendCrc32c(Crc32c(contents), trailer)));
  file_->Append(contents);
  file_->Append(trailer);
  return handle;
}

void TableWriter::FlushData() {
  if (!data_.empty()) pending_handle_ = WriteBlock(data_.Finish());
}

void TableWriter::Add(std::string_view key, std::string_view value) {
  if (!pending_handle_.empty()) {
    index_.Add(Separator(last_key_, key), pending_handle_);
    pending_handle_.clear();
  }
  last_key_ = key;
  data_.Add(key, value);
  if (data_.SizeEstimate() >= kBlockSize) FlushData();
}

void TableWriter::Finish() {
  FlushData();
  std::string footer = WriteBlock(Block(16).Finish());  // there are no meta blocks
  if (!pending_handle_.empty()) index_.Add(Successor(last_key_), pending_handle_);
  footer += WriteBlock(index_.Finish());
  footer.resize(kFooterSize - 8);
  AppendFixed32(&footer, static_cast<uint32_t>(kMagic));
  AppendFixed32(&footer, static_cast<uint32_t>(kMagic >> 32));
  file_->Append(footer);
}

std::vector<std::pair<std::string, std::string>> ReadTable(const std::string& path) {
  const InputFile file(path);
  if (file.size() < kFooterSize) throw Damaged(path, "file too short");
  const std::string footer = file.Read(file.size() - kFooterSize, kFooterSize);
  const uint64_t magic = Fixed32At(&footer[kFooterSize - 8]) | uint64_t{Fixed32At(&footer[kFooterSize - 4])} << 32;
  if (magic != kMagic) throw Damaged(path, "bad magic number");
  std::string_view handles = footer;
  TakeHandle(&handles, path);  // of the meta index
  std::vector<std::pair<std::string, std::string>> entries;
  ForEachEntry(ReadBlock(file, TakeHandle(&handles, path)), path, [&](const std::string&, std::string_view handle) {
    ForEachEntry(ReadBlock(file, TakeHandle(&handle, path)), path, [&](const std::string& key, std::string_view value) {
      // A forged index could name one block again and again, and a small file fill the memory.
      if (!entries.empty() && key <= entries.back().first) throw Damaged(path, "keys out of order");
      entries.emplace_back(key, value);
    });
  });
  return entries;
}

}  // namespace penstock
