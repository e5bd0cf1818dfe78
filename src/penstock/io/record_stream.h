// TFRecord files (records.h), compressed or not.
#pragma once

#include <string>
#include <string_view>

#include "penstock/io/byte_stream.h"

namespace penstock {

class RecordStream {
 public:
  RecordStream(const std::string& path, Compression compression)
      : path_(path), stream_(ByteStream::OpenFile(path, compression)) {}
  // The next record and where it begins; false at the end, also if that stands in a header, as in a file that is still
  // written to. DataLoss: damaged, or cut off behind its header.
  bool Next(std::string* record, uint64_t* offset);
  uint64_t offset() const { return stream_.offset(); }       // of the next record
  bool Skip(uint64_t bytes) { return stream_.Skip(bytes); }  // to the beginning of a record

 private:
  const std::string path_;
  BufferedStream stream_;
};

// Writes records; what is not flushed or closed may be lost.
class RecordFile {
 public:
  RecordFile(const std::string& path, Compression compression, int level = -1);
  ~RecordFile();
  RecordFile(const RecordFile&) = delete;
  void Write(std::string_view record);
  bool Fits(std::string_view record) const;  // whether writing it only fills a buffer
  void Flush();                              // all that was written can be read from the file, of a compressed one too
  void Close();

 private:
  enum class Extent { kSome, kFlush, kEnd };  // how much of what was put has to be in the file
  void Put(std::string_view bytes, Extent extent);
  void Deflate(std::string_view bytes, int mode);
  const Compression compression_;
  struct Deflater;
  std::unique_ptr<Deflater> deflater_;
  std::string block_;  // what is not yet a whole block of Snappy's
  std::unique_ptr<OutputFile> file_;
};

}  // namespace penstock
