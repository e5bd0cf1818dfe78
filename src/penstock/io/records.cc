#include "penstock/io/records.h"

#include "penstock/base/crc32c.h"
#include "penstock/io/table.h"

namespace penstock {
namespace {

constexpr uint64_t kHeader = 12, kFooter = 4;

}  // namespace

std::string RecordFrame(std::string_view record) {
  std::string length;
  AppendFixed32(&length, static_cast<uint32_t>(record.size()));
  AppendFixed32(&length, static_cast<uint32_t>(uint64_t{record.size()} >> 32));
  std::string frame = length;
  frame.reserve(record.size() + 16);
  AppendFixed32(&frame, MaskCrc32c(Crc32c(length)));
  frame += record;
  AppendFixed32(&frame, MaskCrc32c(Crc32c(record)));
  return frame;
}

RecordReader::RecordReader(std::string path)
    : path_(std::move(path)), file_(std::make_unique<InputFile>(path_)) {}

// Whether that many bytes follow; looks at the file again if not.
bool RecordReader::Has(uint64_t bytes) {
  const auto enough = [&] { return file_->size() >= offset_ && file_->size() - offset_ >= bytes; };
  if (!enough()) file_ = std::make_unique<InputFile>(path_);
  return enough();
}

bool RecordReader::Next(std::string* record) {
  if (!Has(1)) return false;
  if (!Has(kHeader)) throw DataLoss("truncated record at ", offset_, " in ", path_);
  const std::string header = file_->Read(offset_, kHeader);
  if (UnmaskCrc32c(Fixed32At(&header[8])) != Crc32c(std::string_view(header).substr(0, 8))) {
    throw DataLoss("corrupted record at ", offset_, " in ", path_);
  }
  const uint64_t size = Fixed32At(&header[0]) | uint64_t{Fixed32At(&header[4])} << 32;
  if (size > UINT64_MAX - kHeader - kFooter || !Has(kHeader + size + kFooter)) {
    throw DataLoss("truncated record at ", offset_, " in ", path_);
  }
  std::string bytes = file_->Read(offset_ + kHeader, size + kFooter);
  const uint32_t stored = UnmaskCrc32c(Fixed32At(&bytes[size]));
  bytes.resize(size);
  if (Crc32c(bytes) != stored) throw DataLoss("corrupted record at ", offset_, " in ", path_);
  offset_ += kHeader + size + kFooter;
  *record = std::move(bytes);
  return true;
}

}  // namespace penstock
