// GIF and BMP.
#include <algorithm>
#include <array>
#include <cstring>

#include "penstock/base/status.h"
#include "penstock/kernels/cpu/image/codecs.h"

namespace penstock::codecs {
namespace {

// Bytes read one after the other; InvalidArgument at their end.
class Reader {
 public:
  Reader(std::string_view bytes, const char* kind) : bytes_(bytes), kind_(kind) {}
  [[noreturn]] void Refuse(std::string_view why) const { throw InvalidArgument("Invalid ", kind_, " data, ", why); }
  int Byte() {
    if (at_ >= bytes_.size()) Refuse("it ends too early");
    return static_cast<uint8_t>(bytes_[at_++]);
  }
  int64_t Little(int n) {
    int64_t v = 0;
    for (int i = 0; i < n; ++i) v |= static_cast<int64_t>(Byte()) << (8 * i);
    return v;
  }
  std::string_view Take(size_t n) {
    if (n > bytes_.size() - at_) Refuse("it ends too early");
    at_ += n;
    return bytes_.substr(at_ - n, n);
  }
  void Seek(size_t at) {
    if (at > bytes_.size()) Refuse("it ends too early");
    at_ = at;
  }
  bool done() const { return at_ >= bytes_.size(); }

 private:
  std::string_view bytes_;
  const char* kind_;
  size_t at_ = 0;
};

using Palette = std::vector<std::array<uint8_t, 3>>;

Palette ReadPalette(Reader& in, int flags) {
  Palette palette(size_t{2} << (flags & 7));
  for (auto& color : palette) {
    for (auto& c : color) c = static_cast<uint8_t>(in.Byte());
  }
  return palette;
}

// Blocks of up to 255 bytes, end to end; the last is empty.
std::string ReadBlocks(Reader& in) {
  std::string data;
  while (const int n = in.Byte()) data += in.Take(n);
  return data;
}

// LZW as GIF has it: up to `count` indices.
std::vector<uint8_t> Unpack(const Reader& in, const std::string& data, int bits, size_t count) {
  if (bits < 1 || bits > 8) in.Refuse("a code size is out of range");
  const int clear = 1 << bits, end = clear + 1;
  std::array<int16_t, 4096> prefix{};
  std::array<uint8_t, 4096> suffix{}, first{};
  for (int i = 0; i < clear; ++i) suffix[i] = first[i] = static_cast<uint8_t>(i), prefix[i] = -1;
  std::vector<uint8_t> out;
  out.reserve(std::min<size_t>(count, 1 << 20));
  int width = bits + 1, next = end + 1, before = -1, held = 0;
  uint32_t buffer = 0;
  std::vector<uint8_t> reversed;
  for (const char c : data) {
    buffer |= static_cast<uint32_t>(static_cast<uint8_t>(c)) << held;
    held += 8;
    while (held >= width) {
      const int code = static_cast<int>(buffer & ((1u << width) - 1));
      buffer >>= width, held -= width;
      if (code == clear) {
        width = bits + 1, next = end + 1, before = -1;
        continue;
      }
      if (code == end) return out;
      if (code > next || (code == next && before < 0)) in.Refuse("a code is out of range");
      if (before >= 0 && next < 4096) {
        prefix[next] = static_cast<int16_t>(before);
        first[next] = first[before];
        suffix[next] = code == next ? first[before] : first[code];
        ++next;
        if (next == 1 << width && width < 12) ++width;
      } else if (code >= next) {
        in.Refuse("a code is out of range");
      }
      reversed.clear();
      for (int i = code; i >= 0; i = prefix[i]) reversed.push_back(suffix[i]);
      out.insert(out.end(), reversed.rbegin(), reversed.rend());
      if (out.size() >= count) return out;
      before = code;
    }
  }
  return out;
}

struct Frame {
  int64_t left, top, width, height;
  bool interlaced;
  int transparent;
  Palette palette;
  std::vector<uint8_t> indices;
};

struct Gif {
  int64_t width, height;
  std::vector<Frame> frames;
};

Gif ReadGif(std::string_view bytes) {
  Reader in(bytes, "GIF");
  const std::string_view signature = in.Take(6);
  if (signature != "GIF87a" && signature != "GIF89a") in.Refuse("the signature is missing");
  Gif gif{in.Little(2), in.Little(2), {}};
  const int flags = in.Byte();
  in.Take(2);
  const Palette global = flags & 0x80 ? ReadPalette(in, flags) : Palette();
  int transparent = -1;
  int64_t pixels = 0, indices = 0;
  while (!in.done()) {
    const int kind = in.Byte();
    if (kind == 0x3B) break;
    if (kind == 0x21) {
      const int label = in.Byte();
      const std::string data = ReadBlocks(in);
      if (label == 0xF9 && data.size() >= 4) transparent = data[0] & 1 ? static_cast<uint8_t>(data[3]) : -1;
    } else if (kind == 0x2C) {
      Frame frame{in.Little(2), in.Little(2), in.Little(2), in.Little(2), false, transparent, {}, {}};
      const int local = in.Byte();
      frame.interlaced = local & 0x40;
      frame.palette = local & 0x80 ? ReadPalette(in, local) : global;
      if (frame.palette.empty()) in.Refuse("a frame has no colors");
      const int bits = in.Byte();
      const std::string data = ReadBlocks(in);
      pixels += gif.width * gif.height * 3;
      indices += frame.width * frame.height;
      if (pixels >= kMostElements || indices >= kMostElements) in.Refuse("it is too large");
      frame.indices = Unpack(in, data, bits, frame.width * frame.height);
      gif.frames.push_back(std::move(frame));
      transparent = -1;
    } else {
      in.Refuse("it has a part of an unknown kind");
    }
  }
  if (gif.frames.empty() || gif.width <= 0 || gif.height <= 0) in.Refuse("it has no frames");
  return gif;
}

void Draw(const Frame& frame, const Gif& gif, uint8_t* to) {
  int64_t line = 0;
  const auto draw = [&](int64_t row) {
    // A frame may claim to be much larger than the canvas and than its data.
    const int64_t y = frame.top + row, there = static_cast<int64_t>(frame.indices.size()) - line * frame.width;
    const int64_t columns = y < gif.height ? std::min({frame.width, gif.width - frame.left, there}) : 0;
    for (int64_t c = 0; c < columns; ++c) {
      const int64_t x = frame.left + c;
      const int index = frame.indices[line * frame.width + c];
      if (index == frame.transparent || static_cast<size_t>(index) >= frame.palette.size()) continue;
      std::memcpy(to + (y * gif.width + x) * 3, frame.palette[index].data(), 3);
    }
    ++line;
  };
  if (!frame.interlaced) {
    for (int64_t r = 0; r < frame.height; ++r) draw(r);
    return;
  }
  constexpr int kPasses[4][2] = {{0, 8}, {4, 8}, {2, 4}, {1, 2}};
  for (const auto& [first, step] : kPasses) {
    for (int64_t r = first; r < frame.height; r += step) draw(r);
  }
}

}  // namespace

void DecodeGif(std::string_view bytes, const std::function<uint8_t*(int64_t, const Image&)>& allocate) {
  const Gif gif = ReadGif(bytes);
  const auto count = static_cast<int64_t>(gif.frames.size());
  const int64_t size = gif.width * gif.height * 3;
  uint8_t* to = allocate(count, {gif.height, gif.width, 3});
  for (int64_t i = 0; i < count; ++i, to += size) {
    if (i == 0) {
      std::memset(to, 0, size);
    } else {
      std::memcpy(to, to - size, size);
    }
    Draw(gif.frames[i], gif, to);
  }
}

void DecodeBmp(std::string_view bytes, int channels, const Allocate<uint8_t>& allocate) {
  Reader in(bytes, "BMP");
  if (bytes.size() < 32)
    throw InvalidArgument(
        "Incomplete bmp content, requires at least 32 bytes to find the header "
        "size, width, height, and bpp, got ",
        bytes.size(), " bytes");
  if (in.Take(2) != "BM") in.Refuse("the signature is missing");
  in.Seek(10);
  const auto first = static_cast<uint32_t>(in.Little(4));
  in.Seek(18);
  const auto width = static_cast<int32_t>(in.Little(4)), signed_height = static_cast<int32_t>(in.Little(4));
  in.Seek(28);
  const int64_t bits = in.Little(2);
  if (bits != 8 && bits != 24 && bits != 32) {
    throw InvalidArgument("Number of channels inherent in the image must be 1, 3 or 4, was ", bits / 8);
  }
  const int64_t own = bits / 8, height = std::abs(static_cast<int64_t>(signed_height));
  if (channels == 0) channels = static_cast<int>(own);
  if (width <= 0) throw InvalidArgument("Width must be positive");
  if (height == 0) throw InvalidArgument("Height must be nonzero");
  if (width > kMostElements || height > kMostElements || width * height > kMostElements / own) {
    throw InvalidArgument("Total possible pixel bytes must be less than 2^30");
  }
  const int64_t row = (width * own + 3) / 4 * 4;
  if (first > bytes.size() || row * (height - 1) + width * own > static_cast<int64_t>(bytes.size() - first)) {
    throw InvalidArgument("Incomplete bmp content, requires at least ", first + row * (height - 1) + width * own,
                          " bytes, got ", bytes.size(), " bytes");
  }
  uint8_t* to = allocate({height, width, channels});
  const auto* from = reinterpret_cast<const uint8_t*>(bytes.data()) + first;
  for (int64_t r = 0; r < height; ++r) {
    const uint8_t* line = from + (signed_height > 0 ? height - 1 - r : r) * row;
    for (int64_t c = 0; c < width; ++c, line += own, to += channels) {
      if (channels == 1) {
        to[0] = line[0];
        continue;
      }
      for (int i = 0; i < 3; ++i) to[i] = line[own == 1 ? 0 : 2 - i];  // the file has blue first
      if (channels == 4) to[3] = own == 4 ? line[3] : 255;
    }
  }
}

}  // namespace penstock::codecs
