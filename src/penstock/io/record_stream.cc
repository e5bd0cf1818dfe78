#include "penstock/io/record_stream.h"

#include <zlib.h>

#include <algorithm>
#include <utility>

#include "penstock/io/records.h"
#include "penstock/io/snappy.h"

namespace penstock {
namespace {

constexpr size_t kBuffered = size_t{1} << 16;
constexpr size_t kMostAtOnce = size_t{1} << 30;  // zlib counts in 32 bits

}  // namespace

bool RecordStream::Next(std::string* record, uint64_t* offset) {
  *offset = stream_.offset();
  std::string header;
  if (!stream_.Read(kRecordHeader, &header)) return false;
  if (!stream_.Read(RecordLength(header, *offset, path_) + kRecordFooter, record)) {
    throw DataLoss("truncated record at ", *offset, " in ", path_);
  }
  TakeRecordFooter(record, *offset, path_);
  return true;
}

struct RecordFile::Deflater {
  z_stream zlib = {};
  Deflater(Compression compression, int level) {
    const int bits = compression == Compression::kGzip ? MAX_WBITS + 16 : MAX_WBITS;
    if (deflateInit2(&zlib, level, Z_DEFLATED, bits, 8, Z_DEFAULT_STRATEGY) != Z_OK) {
      throw InvalidArgument("compression level ", level, " is not known");
    }
  }
  ~Deflater() { deflateEnd(&zlib); }
};

RecordFile::RecordFile(const std::string& path, Compression compression, int level) : compression_(compression) {
  if (compression_ == Compression::kZlib || compression_ == Compression::kGzip)
    deflater_ = std::make_unique<Deflater>(compression, level);
  file_ = std::make_unique<OutputFile>(path, WriteMode::kReplace);
}

RecordFile::~RecordFile() {
  try {
    Close();
  } catch (const Error&) {  // nobody is left to tell
  }
}

void RecordFile::Put(std::string_view bytes, Extent extent) {
  if (compression_ == Compression::kSnappy) {
    while (!bytes.empty() || (extent != Extent::kSome && !block_.empty())) {
      const std::string_view more = bytes.substr(0, kSnappyBlock - block_.size());
      block_ += more;
      bytes.remove_prefix(more.size());
      if (block_.size() < kSnappyBlock && extent == Extent::kSome) break;
      file_->Append(SnappyFrame(block_));
      block_.clear();
    }
    return;
  }
  if (!deflater_) {
    file_->Append(bytes);
    return;
  }
  for (; bytes.size() > kMostAtOnce; bytes.remove_prefix(kMostAtOnce)) {
    Deflate(bytes.substr(0, kMostAtOnce), Z_NO_FLUSH);
  }
  Deflate(bytes, extent == Extent::kEnd ? Z_FINISH : extent == Extent::kFlush ? Z_PARTIAL_FLUSH : Z_NO_FLUSH);
}

void RecordFile::Deflate(std::string_view bytes, int mode) {
  z_stream& zlib = deflater_->zlib;
  zlib.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
  zlib.avail_in = static_cast<uInt>(bytes.size());
  int result = Z_OK;
  do {
    char piece[kBuffered];
    zlib.next_out = reinterpret_cast<Bytef*>(piece);
    zlib.avail_out = sizeof(piece);
    result = deflate(&zlib, mode);
    file_->Append({piece, sizeof(piece) - zlib.avail_out});
  } while (zlib.avail_out == 0 && result != Z_STREAM_END);
}

void RecordFile::Write(std::string_view record) {
  if (!file_) throw FailedPrecondition("Writer is closed.");
  const RecordEnds ends(record);
  Put(ends.header(), Extent::kSome);
  Put(record, Extent::kSome);
  Put(ends.footer(), Extent::kSome);
}

bool RecordFile::Fits(std::string_view record) const {
  return file_ && compression_ == Compression::kNone && file_->Fits(kRecordHeader + record.size() + kRecordFooter);
}

void RecordFile::Flush() {
  if (!file_) throw FailedPrecondition("Writer is closed.");
  if (compression_ != Compression::kNone) Put({}, Extent::kFlush);
  file_->Flush();
}

void RecordFile::Close() {
  if (!file_) return;
  if (compression_ != Compression::kNone) Put({}, Extent::kEnd);
  std::exchange(file_, nullptr)->Commit();
}

}  // namespace penstock
