// Record files (TFRecord): each record with its length, and checksums of both.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "penstock/io/files.h"

namespace penstock {

// What stands in a file before a record, its length and the length's checksum, and behind it, its checksum.
constexpr uint64_t kRecordHeader = 12, kRecordFooter = 4;
class RecordEnds {
 public:
  explicit RecordEnds(std::string_view record);
  std::string_view header() const { return {bytes_, kRecordHeader}; }
  std::string_view footer() const { return {bytes_ + kRecordHeader, kRecordFooter}; }

 private:
  char bytes_[kRecordHeader + kRecordFooter];
};
std::string RecordFrame(std::string_view record);  // a record between its ends
// The reverse, for what begins at `offset` of a file: the length that a header tells; then the record out of itself and
// its footer. DataLoss: damaged.
uint64_t RecordLength(std::string_view header, uint64_t offset, std::string_view path);
void TakeRecordFooter(std::string* record, uint64_t offset, std::string_view path);

class RecordReader {
 public:
  explicit RecordReader(std::string path);
  // The next record; false at the end, also if that stands in a header: one may ask again later whether the file has
  // grown. DataLoss: damaged, or cut off behind its header.
  bool Next(std::string* record);
  uint64_t offset() const { return offset_; }  // of the next record

 private:
  bool Has(uint64_t bytes);
  const std::string path_;
  std::unique_ptr<InputFile> file_;
  uint64_t offset_ = 0;
};

}  // namespace penstock
