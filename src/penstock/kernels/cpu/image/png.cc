// PNG: its chunks, filters and interlacing; compression is zlib's.
#include <zlib.h>

#include <array>
#include <cstdlib>
#include <cstring>

#include "penstock/base/status.h"
#include "penstock/kernels/cpu/image/codecs.h"

namespace penstock::codecs {
namespace {

constexpr char kSignature[] = "\x89PNG\r\n\x1a\n";

[[noreturn]] void Refuse(std::string_view why) { throw InvalidArgument("Invalid PNG data, ", why); }

uint32_t Big(const uint8_t* p) { return uint32_t{p[0]} << 24 | uint32_t{p[1]} << 16 | uint32_t{p[2]} << 8 | p[3]; }

enum ColorType { kGray = 0, kRgb = 2, kPalette = 3, kGrayAlpha = 4, kRgbAlpha = 6 };

struct Header {
  int64_t width = 0, height = 0;
  int depth = 0, color = 0;
  bool interlaced = false;
  int samples() const {  // of a pixel as it is stored
    return color == kRgb ? 3 : color == kGrayAlpha ? 2 : color == kRgbAlpha ? 4 : 1;
  }
  int64_t RowBytes(int64_t pixels) const { return (pixels * samples() * depth + 7) / 8; }
};

struct File {
  Header header;
  std::vector<std::array<uint8_t, 3>> palette;
  std::vector<uint8_t> alpha;  // of the palette's colours
  bool has_transparent = false;
  std::array<int, 3> transparent{};  // the colour that is, if the pixels have no alpha
  std::string compressed;
};

void ReadHeader(const uint8_t* p, size_t n, Header* header) {
  if (n != 13) Refuse("the header has a wrong size");
  header->width = Big(p), header->height = Big(p + 4), header->depth = p[8], header->color = p[9];
  header->interlaced = p[12] == 1;
  const int d = header->depth;
  bool fits = false;
  switch (header->color) {
    case kGray: fits = d == 1 || d == 2 || d == 4 || d == 8 || d == 16; break;
    case kPalette: fits = d == 1 || d == 2 || d == 4 || d == 8; break;
    case kRgb:
    case kGrayAlpha:
    case kRgbAlpha: fits = d == 8 || d == 16; break;
    default: break;
  }
  if (!fits || p[10] != 0 || p[11] != 0 || p[12] > 1) Refuse("the header is malformed");
  constexpr int64_t kMostSide = 1 << 27;
  if (header->width <= 0 || header->height <= 0 || header->width > kMostSide || header->height > kMostSide ||
      header->width * header->height > kMostElements / 4) {
    Refuse("the image is empty or too large");
  }
}

File ReadFile(std::string_view bytes) {
  File file;
  const auto* p = reinterpret_cast<const uint8_t*>(bytes.data());
  if (bytes.size() < 8 || std::memcmp(p, kSignature, 8) != 0) Refuse("the signature is missing");
  size_t at = 8;
  bool header = false, ended = false;
  while (!ended) {
    if (bytes.size() - at < 12) Refuse("it ends too early");
    const size_t n = Big(p + at);
    if (n > bytes.size() - at - 12) Refuse("it ends too early");
    const std::string_view type = bytes.substr(at + 4, 4);
    const uint8_t* data = p + at + 8;
    if (crc32(0, p + at + 4, static_cast<uInt>(n + 4)) != Big(data + n)) Refuse("a checksum is wrong");
    at += 12 + n;
    if (!header && type != "IHDR") Refuse("the header is missing");
    if (type == "IHDR") {
      if (header) Refuse("there are two headers");
      ReadHeader(data, n, &file.header);
      header = true;
    } else if (type == "PLTE") {
      if (n % 3 != 0 || n > 768) Refuse("the palette is malformed");
      file.palette.clear();
      for (size_t i = 0; i < n; i += 3) file.palette.push_back({data[i], data[i + 1], data[i + 2]});
    } else if (type == "tRNS") {
      if (file.header.color == kPalette) {
        if (n <= file.palette.size()) file.alpha.assign(data, data + n);  // as libpng, which ignores what is too long
      } else if ((file.header.color == kGray && n == 2) || (file.header.color == kRgb && n == 6)) {
        file.has_transparent = true;
        for (size_t i = 0; i < n / 2; ++i) file.transparent[i] = data[2 * i] << 8 | data[2 * i + 1];
      }
    } else if (type == "IDAT") {
      file.compressed.append(reinterpret_cast<const char*>(data), n);
    } else if (type == "IEND") {
      ended = true;
    } else if (!(type[0] & 0x20)) {
      Refuse("it has a critical part of an unknown kind");
    }
  }
  if (file.header.color == kPalette && file.palette.empty()) Refuse("the palette is missing");
  return file;
}

// One of the images of which an interlaced one consists, or the whole.
struct Pass {
  int64_t first_row, first_column, row_step, column_step, rows, columns;
};
std::vector<Pass> Passes(const Header& h) {
  if (!h.interlaced) return {{0, 0, 1, 1, h.height, h.width}};
  constexpr int kSteps[7][4] = {{0, 0, 8, 8}, {0, 4, 8, 8}, {4, 0, 8, 4}, {0, 2, 4, 4},
                                {2, 0, 4, 2}, {0, 1, 2, 2}, {1, 0, 2, 1}};
  std::vector<Pass> passes;
  for (const auto& s : kSteps) {
    const int64_t rows = h.height > s[0] ? (h.height - s[0] + s[2] - 1) / s[2] : 0;
    const int64_t columns = h.width > s[1] ? (h.width - s[1] + s[3] - 1) / s[3] : 0;
    if (rows > 0 && columns > 0) passes.push_back({s[0], s[1], s[2], s[3], rows, columns});
  }
  return passes;
}

// zlib's stream, read line by line.
class Inflater {
 public:
  explicit Inflater(const std::string& compressed) {
    stream_.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(compressed.data()));
    stream_.avail_in = static_cast<uInt>(compressed.size());
    if (compressed.size() > (1u << 30) || inflateInit(&stream_) != Z_OK) Refuse("it cannot be inflated");
  }
  ~Inflater() { inflateEnd(&stream_); }
  void Read(uint8_t* to, size_t n) {
    stream_.next_out = to;
    stream_.avail_out = static_cast<uInt>(n);
    while (stream_.avail_out > 0) {
      const int result = inflate(&stream_, Z_NO_FLUSH);
      if (result == Z_STREAM_END && stream_.avail_out == 0) return;
      if (result != Z_OK) Refuse("it cannot be inflated");
    }
  }

 private:
  z_stream stream_{};
};

// Undoes a line's filter; kPixel: bytes of a pixel, of which a line holds whole ones.
template <int kPixel>
void UnfilterPixels(int filter, uint8_t* line, const uint8_t* above, int64_t n) {
  uint8_t left[kPixel] = {}, corner[kPixel] = {};
  const auto for_each = [&](const auto& guess) {
    for (int64_t i = 0; i < n; i += kPixel) {
      for (int j = 0; j < kPixel; ++j) {
        const int up = above[i + j];
        left[j] = line[i + j] = static_cast<uint8_t>(line[i + j] + guess(left[j], up, corner[j]));
        corner[j] = static_cast<uint8_t>(up);
      }
    }
  };
  switch (filter) {
    case 0: return;
    case 1: return for_each([](int left, int, int) { return left; });
    case 2:
      for (int64_t i = 0; i < n; ++i) line[i] = static_cast<uint8_t>(line[i] + above[i]);
      return;
    case 3: return for_each([](int left, int up, int) { return (left + up) / 2; });
    case 4:
      return for_each([](int left, int up, int corner) {
        const int p = left + up - corner;
        const int by_left = std::abs(p - left), by_up = std::abs(p - up), by_corner = std::abs(p - corner);
        const int vertical = by_up <= by_corner ? up : corner;
        return by_left <= by_up && by_left <= by_corner ? left : vertical;
      });
    default: Refuse("a line has an unknown filter");
  }
}
void Unfilter(int filter, uint8_t* line, const uint8_t* above, int64_t n, int64_t pixel) {
  switch (pixel) {
    case 1: return UnfilterPixels<1>(filter, line, above, n);
    case 2: return UnfilterPixels<2>(filter, line, above, n);
    case 3: return UnfilterPixels<3>(filter, line, above, n);
    case 4: return UnfilterPixels<4>(filter, line, above, n);
    case 6: return UnfilterPixels<6>(filter, line, above, n);
    default: return UnfilterPixels<8>(filter, line, above, n);
  }
}

int Sample(const uint8_t* line, int64_t i, int depth) {
  if (depth == 8) return line[i];
  if (depth == 16) return line[2 * i] << 8 | line[2 * i + 1];
  const int64_t bit = i * depth;
  return line[bit / 8] >> (8 - depth - bit % 8) & ((1 << depth) - 1);
}

struct Pixel {
  int color[3];  // red, green, blue; all alike if gray
  int gray, alpha;
};

// Brightness with libpng's weights and rounding, at the depth of the file.
int GrayOf(int r, int g, int b, int depth) {
  if (r == g && g == b) return r;
  const int64_t half = depth == 16 ? 16384 : 0;
  return static_cast<int>((9797 * int64_t{r} + 19234 * int64_t{g} + 3737 * int64_t{b} + half) >> 15);
}

// The pixel in the range of `most`: 255 or 65535.
Pixel PixelAt(const File& file, const uint8_t* line, int64_t column, int most) {
  const Header& h = file.header;
  const int n = h.samples(), full = (1 << h.depth) - 1;
  const auto scaled = [&](int v) {
    if (full == most) return v;
    if (full > most) return v >> 8;
    return v * (most / full);
  };
  const int first = Sample(line, column * n, h.depth);
  if (h.color == kPalette) {
    if (static_cast<size_t>(first) >= file.palette.size()) return {{0, 0, 0}, 0, most};
    const auto& c = file.palette[first];
    const int by = most / 255;
    const int alpha = static_cast<size_t>(first) < file.alpha.size() ? file.alpha[first] : 255;
    return {{c[0] * by, c[1] * by, c[2] * by}, GrayOf(c[0], c[1], c[2], 8) * by, alpha * by};
  }
  Pixel pixel{{scaled(first), scaled(first), scaled(first)}, scaled(first), most};
  bool transparent = file.has_transparent && first == file.transparent[0];
  if (n >= 3) {
    const int green = Sample(line, column * n + 1, h.depth), blue = Sample(line, column * n + 2, h.depth);
    pixel.color[1] = scaled(green), pixel.color[2] = scaled(blue);
    pixel.gray = scaled(GrayOf(first, green, blue, h.depth));
    transparent = transparent && green == file.transparent[1] && blue == file.transparent[2];
  }
  if (n % 2 == 0) pixel.alpha = scaled(Sample(line, column * n + n - 1, h.depth));
  if (transparent) pixel.alpha = 0;
  return pixel;
}

}  // namespace

template <class T>
void DecodePng(std::string_view bytes, int channels, const Allocate<T>& allocate) {
  const File file = ReadFile(bytes);
  const Header& h = file.header;
  if (channels == 0) channels = h.color == kPalette ? (file.alpha.empty() ? 3 : 4) : h.samples();
  constexpr int kMost = sizeof(T) == 1 ? 255 : 65535;
  // Deflate makes at most 1032 bytes of one: what claims more is refused before memory is asked for.
  int64_t inflated = 0;
  for (const Pass& pass : Passes(h)) inflated += pass.rows * (h.RowBytes(pass.columns) + 1);
  if (inflated / 1032 > static_cast<int64_t>(file.compressed.size())) Refuse("it ends too early");
  T* to = allocate({h.height, h.width, channels});
  Inflater inflater(file.compressed);
  const int64_t pixel_bytes = std::max(1, h.samples() * h.depth / 8);
  // Bytes that are samples of the result as they are.
  const bool as_is = h.depth == 8 * sizeof(T) && h.color != kPalette && channels == h.samples() && !h.interlaced;
  for (const Pass& pass : Passes(h)) {
    // Lines are inflated several at a time; before the first of a pass there are zeros.
    const int64_t n = h.RowBytes(pass.columns), step = n + 1;
    const int64_t together = std::clamp<int64_t>(65536 / step, 1, pass.rows);
    std::vector<uint8_t> lines(step * (1 + together), 0);
    for (int64_t first = 0; first < pass.rows; first += together) {
      const int64_t count = std::min(together, pass.rows - first);
      inflater.Read(lines.data() + step, step * count);
      for (int64_t r = 0; r < count; ++r) {
        uint8_t* const line = lines.data() + step * (1 + r) + 1;
        Unfilter(line[-1], line, line - step, n, pixel_bytes);
        T* row = to + (pass.first_row + (first + r) * pass.row_step) * h.width * channels;
        if (as_is) {
          for (int64_t i = 0; i < pass.columns * channels; ++i) {
            row[i] = static_cast<T>(sizeof(T) == 1 ? line[i] : line[2 * i] << 8 | line[2 * i + 1]);
          }
          continue;
        }
        for (int64_t c = 0; c < pass.columns; ++c) {
          const Pixel pixel = PixelAt(file, line, c, kMost);
          T* out = row + (pass.first_column + c * pass.column_step) * channels;
          if (channels < 3) {
            out[0] = static_cast<T>(pixel.gray);
          } else {
            for (int i = 0; i < 3; ++i) out[i] = static_cast<T>(pixel.color[i]);
          }
          if (channels % 2 == 0) out[channels - 1] = static_cast<T>(pixel.alpha);
        }
      }
      std::copy_n(lines.data() + step * count, step, lines.data());
    }
  }
}
template void DecodePng(std::string_view, int, const Allocate<uint8_t>&);
template void DecodePng(std::string_view, int, const Allocate<uint16_t>&);

namespace {

void AppendBig(std::string* to, uint32_t v) {
  for (int shift = 24; shift >= 0; shift -= 8) to->push_back(static_cast<char>(v >> shift & 255));
}
void AppendChunk(std::string* to, std::string_view type, std::string_view data) {
  AppendBig(to, static_cast<uint32_t>(data.size()));
  const size_t at = to->size();
  to->append(type);
  to->append(data);
  AppendBig(to, static_cast<uint32_t>(
                    crc32(0, reinterpret_cast<const Bytef*>(to->data() + at), static_cast<uInt>(to->size() - at))));
}

// The line as differences to its left neighbour or to the line above, whichever are smaller.
void AppendFiltered(std::string* to, const std::string& line, const std::string& above, size_t pixel) {
  const auto size = static_cast<int64_t>(line.size()), step = static_cast<int64_t>(pixel);
  const auto distance = [](char a, char b) { return std::abs(static_cast<signed char>(a - b)); };
  int64_t by_left = 0, by_above = 0;
  for (int64_t i = 0; i < std::min(step, size); ++i) by_left += distance(line[i], 0);
  for (int64_t i = step; i < size; ++i) by_left += distance(line[i], line[i - step]);
  for (int64_t i = 0; i < size; ++i) by_above += distance(line[i], above[i]);
  const bool use_above = by_above < by_left;
  to->push_back(static_cast<char>(use_above ? 2 : 1));
  for (int64_t i = 0; i < size; ++i) {
    to->push_back(static_cast<char>(line[i] - (use_above ? above[i] : i >= step ? line[i - step] : 0)));
  }
}

}  // namespace

template <class T>
std::string EncodePng(const T* pixels, const Image& image, int compression) {
  constexpr int kColors[5] = {0, kGray, kGrayAlpha, kRgb, kRgbAlpha};
  std::string header;
  AppendBig(&header, static_cast<uint32_t>(image.width));
  AppendBig(&header, static_cast<uint32_t>(image.height));
  header += {static_cast<char>(sizeof(T) * 8), static_cast<char>(kColors[image.channels]), 0, 0, 0};
  const size_t pixel = image.channels * sizeof(T), row = image.width * pixel;
  std::string filtered, line(row, 0), above(row, 0);
  for (int64_t r = 0; r < image.height; ++r) {
    for (int64_t i = 0; i < image.width * image.channels; ++i) {
      const T v = *pixels++;
      if (sizeof(T) == 2) line[2 * i] = static_cast<char>(v >> 8);
      line[sizeof(T) * i + sizeof(T) - 1] = static_cast<char>(v & 255);
    }
    AppendFiltered(&filtered, line, above, pixel);
    std::swap(line, above);
  }
  uLongf size = compressBound(filtered.size());
  std::string compressed(size, 0);
  if (compress2(reinterpret_cast<Bytef*>(compressed.data()), &size, reinterpret_cast<const Bytef*>(filtered.data()),
                filtered.size(), compression) != Z_OK) {
    throw Internal("PNG encoding failed");
  }
  compressed.resize(size);
  std::string file(kSignature, 8);
  AppendChunk(&file, "IHDR", header);
  AppendChunk(&file, "IDAT", compressed);
  AppendChunk(&file, "IEND", "");
  return file;
}
template std::string EncodePng(const uint8_t*, const Image&, int);
template std::string EncodePng(const uint16_t*, const Image&, int);

}  // namespace penstock::codecs
