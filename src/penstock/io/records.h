// Record files (TFRecord): each record with its length, and checksums of both.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "penstock/io/files.h"

namespace penstock {

std::string RecordFrame(std::string_view record);

class RecordReader {
 public:
  explicit RecordReader(std::string path);
  // The next record; false at the end, where one may ask again later whether the file has grown. DataLoss: damaged or
  // cut off.
  bool Next(std::string* record);
  uint64_t offset() const { return offset_; }  // of the next record

 private:
  bool Has(uint64_t bytes);
  const std::string path_;
  std::unique_ptr<InputFile> file_;
  uint64_t offset_ = 0;
};

}  // namespace penstock
