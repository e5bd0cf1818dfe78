#include "penstock/io/byte_stream.h"

#include <zlib.h>

#include <algorithm>
#include <cstdlib>

#include "penstock/io/snappy.h"

namespace penstock {
namespace {

constexpr size_t kPiece = size_t{1} << 18;

class FileStream : public ByteStream {
 public:
  explicit FileStream(const std::string& path) : file_(path) {}
  void Read(size_t n, std::string* to) override {
    n = std::min<uint64_t>(n, file_.size() - at_);
    *to += file_.Read(at_, n);
    at_ += n;
  }

 private:
  InputFile file_;
  uint64_t at_ = 0;
};

class TextStream : public ByteStream {
 public:
  explicit TextStream(std::string bytes) : bytes_(std::move(bytes)) {}
  void Read(size_t n, std::string* to) override {
    n = std::min(n, bytes_.size() - at_);
    to->append(bytes_, at_, n);
    at_ += n;
  }

 private:
  const std::string bytes_;
  size_t at_ = 0;
};

// Window bits as zlib wants them: its own format, or gzip's.
int WindowBits(Compression compression) { return compression == Compression::kGzip ? MAX_WBITS + 16 : MAX_WBITS; }

// Gives what there is of a stream that is cut off: a writer may have flushed it without having closed it.
class InflatingStream : public ByteStream {
 public:
  InflatingStream(std::unique_ptr<ByteStream> source, Compression compression)
      : source_(std::move(source)), several_(compression == Compression::kGzip) {
    if (inflateInit2(&zlib_, WindowBits(compression)) != Z_OK) throw ResourceExhausted("inflateInit failed");
  }
  ~InflatingStream() override { inflateEnd(&zlib_); }
  InflatingStream(const InflatingStream&) = delete;

  void Read(size_t n, std::string* to) override {
    n = std::min<size_t>(n, size_t{1} << 30);  // zlib counts in 32 bits; a reader asks again
    const size_t before = to->size();
    to->resize(before + n);
    zlib_.next_out = reinterpret_cast<Bytef*>(to->data() + before);
    zlib_.avail_out = static_cast<uInt>(n);
    while (zlib_.avail_out > 0) {
      if (zlib_.avail_in == 0) {
        input_.clear();
        source_->Read(kPiece, &input_);
        zlib_.next_in = reinterpret_cast<Bytef*>(input_.data());
        zlib_.avail_in = static_cast<uInt>(input_.size());
        if (input_.empty()) break;
      }
      if (ended_) {
        if (!several_) break;
        inflateReset(&zlib_);
        ended_ = false;
      }
      const int result = inflate(&zlib_, Z_NO_FLUSH);
      if (result == Z_STREAM_END) {
        ended_ = true;
      } else if (result != Z_OK && result != Z_BUF_ERROR) {
        throw DataLoss("inflate() failed with error ", result,
                       zlib_.msg ? StrCat(": ", std::string_view(zlib_.msg)) : "");
      }
    }
    to->erase(before + n - zlib_.avail_out);
  }

 private:
  const std::unique_ptr<ByteStream> source_;
  const bool several_;  // whether compressed streams may follow one another
  z_stream zlib_ = {};
  std::string input_;
  bool ended_ = false;
};

// Blocks, each behind the length of what it is compressed to: four bytes, the highest first.
class SnappyStream : public ByteStream {
 public:
  explicit SnappyStream(std::unique_ptr<ByteStream> source) : source_(std::move(source)) {}

  void Read(size_t n, std::string* to) override {
    while (n > 0 && (at_ < block_.size() || NextBlock())) {
      const size_t more = std::min(n, block_.size() - at_);
      to->append(block_, at_, more);
      at_ += more;
      n -= more;
    }
  }

 private:
  static constexpr size_t kLargest = size_t{1} << 30;
  bool NextBlock() {
    std::string header, compressed;
    if (!source_.Read(sizeof(uint32_t), &header)) {
      if (header.empty()) return false;
      throw DataLoss("the compressed stream ends too early");
    }
    size_t length = 0;
    for (const char byte : header) length = length << 8 | static_cast<uint8_t>(byte);
    at_ = 0;
    if (!source_.Read(length, &compressed)) throw DataLoss("the compressed stream ends too early");
    if (!SnappyUncompress(compressed, kLargest, &block_)) throw DataLoss("Failed to decompress a snappy block");
    return true;
  }
  BufferedStream source_;
  std::string block_;
  size_t at_ = 0;
};

std::unique_ptr<ByteStream> Inflated(std::unique_ptr<ByteStream> stream, Compression compression) {
  if (compression == Compression::kNone) return stream;
  if (compression == Compression::kSnappy) return std::make_unique<SnappyStream>(std::move(stream));
  return std::make_unique<InflatingStream>(std::move(stream), compression);
}

}  // namespace

Compression CompressionFromName(std::string_view name) {
  if (name.empty()) return Compression::kNone;
  if (name == "ZLIB") return Compression::kZlib;
  if (name == "GZIP") return Compression::kGzip;
  if (name == "SNAPPY") return Compression::kSnappy;
  throw InvalidArgument("Only ZLIB, GZIP or NONE are supported compressions, not ", name);
}

std::unique_ptr<ByteStream> ByteStream::OpenFile(const std::string& path, Compression compression) {
  return Inflated(std::make_unique<FileStream>(path), compression);
}

std::unique_ptr<ByteStream> ByteStream::OfBytes(std::string bytes, Compression compression) {
  return Inflated(std::make_unique<TextStream>(std::move(bytes)), compression);
}

bool BufferedStream::Fill() {
  buffer_.erase(0, at_);
  at_ = 0;
  const size_t before = buffer_.size();
  stream_->Read(kPiece, &buffer_);
  return buffer_.size() > before;
}

bool BufferedStream::Read(size_t n, std::string* bytes) {
  bytes->clear();
  while (true) {
    const size_t more = std::min(n - bytes->size(), buffer_.size() - at_);
    bytes->append(buffer_, at_, more);
    at_ += more;
    offset_ += more;
    if (bytes->size() == n) return true;
    if (!Fill()) return false;
  }
}

bool BufferedStream::Skip(uint64_t n) {
  std::string piece;
  while (n > 0) {
    const size_t next = std::min<uint64_t>(n, kPiece);
    if (!Read(next, &piece)) return false;
    n -= next;
  }
  return true;
}

bool BufferedStream::ReadLine(std::string* line) {
  line->clear();
  bool any = false;
  while (at_ < buffer_.size() || Fill()) {
    any = true;
    const size_t end = buffer_.find('\n', at_);
    const size_t stop = std::min(end, buffer_.size());
    line->append(buffer_, at_, stop - at_);
    offset_ += stop - at_ + (end != buffer_.npos);
    at_ = std::min(stop + 1, buffer_.size());
    if (end != buffer_.npos) break;
  }
  std::erase(*line, '\r');
  return any;
}

std::string SnappyFrame(std::string_view bytes) {
  const std::string compressed = SnappyCompress(bytes);
  std::string frame;
  for (int shift = 24; shift >= 0; shift -= 8) frame.push_back(static_cast<char>(compressed.size() >> shift));
  return frame + compressed;
}

int64_t DecompressionLimit::Most() {
  static const int64_t most = [] {
    const char* given = std::getenv("PENSTOCK_MAX_DECOMPRESSED_BYTES");
    return given ? std::strtoll(given, nullptr, 10) : int64_t{1} << 30;
  }();
  return most;
}

void DecompressionLimit::Take(size_t bytes) {
  const auto taken = static_cast<int64_t>(bytes);
  if (left_.fetch_sub(taken) >= taken) return;
  throw ResourceExhausted("More than ", Most(), " bytes come out of what is compressed. ",
                          "The environment's PENSTOCK_MAX_DECOMPRESSED_BYTES allows more.");
}

std::string Decompress(std::string bytes, Compression compression, DecompressionLimit* limit) {
  if (compression == Compression::kNone) return bytes;
  BufferedStream stream(ByteStream::OfBytes(std::move(bytes), compression));
  std::string whole, piece;
  bool more = true;
  while (more) {
    more = stream.Read(kPiece, &piece);
    limit->Take(piece.size());
    whole += piece;
  }
  return whole;
}

}  // namespace penstock
