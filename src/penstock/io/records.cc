#include "penstock/io/records.h"

#include "penstock/base/crc32c.h"
#include "penstock/io/table.h"

namespace penstock {

RecordEnds::RecordEnds(std::string_view record) {
  PutFixed32(bytes_, static_cast<uint32_t>(record.size()));
  PutFixed32(bytes_ + 4, static_cast<uint32_t>(uint64_t{record.size()} >> 32));
  PutFixed32(bytes_ + 8, MaskCrc32c(Crc32c({bytes_, 8})));
  PutFixed32(bytes_ + kRecordHeader, MaskCrc32c(Crc32c(record)));
}

std::string RecordFrame(std::string_view record) {
  const RecordEnds ends(record);
  std::string frame;
  frame.reserve(kRecordHeader + record.size() + kRecordFooter);
  frame.append(ends.header()).append(record).append(ends.footer());
  return frame;
}

uint64_t RecordLength(std::string_view header, uint64_t offset, std::string_view path) {
  if (UnmaskCrc32c(Fixed32At(&header[8])) != Crc32c(header.substr(0, 8))) {
    throw DataLoss("corrupted record at ", offset, offset == 0 ? " (Is this even a TFRecord file?)" : "", " in ", path);
  }
  const uint64_t size = Fixed32At(&header[0]) | uint64_t{Fixed32At(&header[4])} << 32;
  if (size > UINT64_MAX - kRecordHeader - kRecordFooter) {
    throw DataLoss("truncated record at ", offset, " in ", path);
  }
  return size;
}

void TakeRecordFooter(std::string* record, uint64_t offset, std::string_view path) {
  const size_t size = record->size() - kRecordFooter;
  const uint32_t stored = UnmaskCrc32c(Fixed32At(record->data() + size));
  record->resize(size);
  if (Crc32c(*record) != stored) throw DataLoss("corrupted record at ", offset, " in ", path);
}

RecordReader::RecordReader(std::string path) : path_(std::move(path)), file_(std::make_unique<InputFile>(path_)) {}

// Whether that many bytes follow; looks at the file again if not.
bool RecordReader::Has(uint64_t bytes) {
  const auto enough = [&] { return file_->size() >= offset_ && file_->size() - offset_ >= bytes; };
  if (!enough()) file_ = std::make_unique<InputFile>(path_);
  return enough();
}

bool RecordReader::Next(std::string* record) {
  if (!Has(kRecordHeader)) return false;
  const uint64_t size = RecordLength(file_->Read(offset_, kRecordHeader), offset_, path_);
  if (!Has(kRecordHeader + size + kRecordFooter)) throw DataLoss("truncated record at ", offset_, " in ", path_);
  std::string bytes = file_->Read(offset_ + kRecordHeader, size + kRecordFooter);
  TakeRecordFooter(&bytes, offset_, path_);
  offset_ += kRecordHeader + size + kRecordFooter;
  *record = std::move(bytes);
  return true;
}

}  // namespace penstock
