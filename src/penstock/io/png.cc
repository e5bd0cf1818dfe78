#include "penstock/io/png.h"

#include <zlib.h>

#include <cstdlib>

#include "penstock/base/status.h"

namespace penstock {
namespace {

const Bytef* Bytes(std::string_view bytes) { return reinterpret_cast<const Bytef*>(bytes.data()); }

// In zlib's format, at its fastest level: images of summaries are written during training.
std::string Compressed(std::string_view bytes) {
  uLongf size = compressBound(bytes.size());
  std::string result(size, 0);
  if (compress2(reinterpret_cast<Bytef*>(result.data()), &size, Bytes(bytes), bytes.size(), Z_BEST_SPEED) != Z_OK) {
    throw Internal("PNG encoding failed");
  }
  result.resize(size);
  return result;
}

void AppendBig32(std::string* out, uint32_t v) {
  for (int shift = 24; shift >= 0; shift -= 8) out->push_back(static_cast<char>(v >> shift));
}

void AppendChunk(std::string* out, const char* type, std::string_view contents) {
  AppendBig32(out, static_cast<uint32_t>(contents.size()));
  const std::string body = StrCat(type, contents);
  *out += body;
  AppendBig32(out, static_cast<uint32_t>(crc32_z(0, Bytes(body), body.size())));
}

// Each row as the difference to the one above, or to the left, or itself: whichever has the smallest sum.
std::string Filtered(std::span<const uint8_t> pixels, int64_t row_bytes, int64_t height, int channels) {
  std::string out;
  out.reserve((row_bytes + 1) * height);
  std::string rows[3];
  for (int64_t y = 0; y < height; ++y) {
    const uint8_t* row = pixels.data() + y * row_bytes;
    int64_t sums[3] = {};
    for (int kind = 0; kind < 3; ++kind) {
      rows[kind].assign(1, static_cast<char>(kind));
      for (int64_t i = 0; i < row_bytes; ++i) {
        const int left = i >= channels ? row[i - channels] : 0, above = y > 0 ? row[i - row_bytes] : 0;
        const auto v = static_cast<int8_t>(row[i] - (kind == 0 ? 0 : kind == 1 ? left : above));
        sums[kind] += std::abs(v);
        rows[kind].push_back(static_cast<char>(v));
      }
    }
    int best = 0;
    for (int kind = 1; kind < 3; ++kind) {
      if (sums[kind] < sums[best]) best = kind;
    }
    out += rows[best];
  }
  return out;
}

}  // namespace

std::string EncodePng(std::span<const uint8_t> pixels, int64_t width, int64_t height, int channels) {
  if (channels < 1 || channels > 4) throw InvalidArgument("image must have 1, 2, 3, or 4 channels, not ", channels);
  constexpr int64_t kMost = int64_t{1} << 27;
  if (width <= 0 || height <= 0 || width > kMost || height > kMost) {
    throw InvalidArgument("image of ", width, " x ", height, " pixels cannot be encoded");
  }
  if (width * height * channels != static_cast<int64_t>(pixels.size())) {
    throw InvalidArgument("image of ", width, " x ", height, " pixels has ", pixels.size(), " bytes");
  }
  constexpr char kColorType[] = {0, 0, 4, 2, 6};
  std::string png("\x89PNG\r\n\x1a\n", 8), header;
  AppendBig32(&header, static_cast<uint32_t>(width));
  AppendBig32(&header, static_cast<uint32_t>(height));
  header += {8, kColorType[channels], 0, 0, 0};
  AppendChunk(&png, "IHDR", header);
  AppendChunk(&png, "IDAT", Compressed(Filtered(pixels, width * channels, height, channels)));
  AppendChunk(&png, "IEND", "");
  return png;
}

}  // namespace penstock
