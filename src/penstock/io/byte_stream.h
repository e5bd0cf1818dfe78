// Bytes one after the other: of a file, perhaps compressed.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "penstock/io/files.h"

namespace penstock {

enum class Compression { kNone, kZlib, kGzip, kSnappy };
// "", "ZLIB", "GZIP" or "SNAPPY". InvalidArgument for other names.
Compression CompressionFromName(std::string_view name);

class ByteStream {
 public:
  virtual ~ByteStream() = default;
  // Up to n more bytes are appended; fewer at the end only.
  virtual void Read(size_t n, std::string* to) = 0;

  static std::unique_ptr<ByteStream> OpenFile(const std::string& path, Compression compression);
  static std::unique_ptr<ByteStream> OfBytes(std::string bytes, Compression compression);
};

// A stream read piece by piece or line by line, and how far.
class BufferedStream {
 public:
  explicit BufferedStream(std::unique_ptr<ByteStream> stream) : stream_(std::move(stream)) {}
  // Exactly n bytes in place of what `bytes` holds; false, and fewer bytes, if the stream ends before.
  bool Read(size_t n, std::string* bytes);
  // Skips bytes; false if there are not as many.
  bool Skip(uint64_t n);
  // The next line, without its end and without carriage returns; false at the end.
  bool ReadLine(std::string* line);
  uint64_t offset() const { return offset_; }

 private:
  bool Fill();  // false at the end
  const std::unique_ptr<ByteStream> stream_;
  std::string buffer_;
  size_t at_ = 0;
  uint64_t offset_ = 0;
};

// A block of at most kSnappyBlock bytes as streams hold it: compressed, behind its length.
std::string SnappyFrame(std::string_view bytes);

// How many bytes may come out together: a thousand times as many as go in can. The environment's
// PENSTOCK_MAX_DECOMPRESSED_BYTES, or 1 GiB.
class DecompressionLimit {
 public:
  void Take(size_t bytes);  // ResourceExhausted: there are no more of them

 private:
  std::atomic<int64_t> left_{Most()};
  static int64_t Most();
};

// The whole stream, made from what is compressed. DataLoss if that is damaged.
std::string Decompress(std::string bytes, Compression compression, DecompressionLimit* limit);

}  // namespace penstock
