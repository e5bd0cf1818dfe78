// Image files: from bytes to pixels and back. Malformed bytes are InvalidArgument, whatever they are.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace penstock::codecs {

// More elements than this are refused: a few bytes may promise an image that fills the memory.
inline constexpr int64_t kMostElements = int64_t{1} << 29;

struct Image {
  int64_t height = 0, width = 0, channels = 0;
};
// Gives the memory for an image of these sizes.
template <class T>
using Allocate = std::function<T*(const Image&)>;

// --- JPEG

struct JpegOptions {
  int channels = 0;  // 0: as many as the file has, 3 for CMYK
  int ratio = 1;     // 1, 2, 4, 8: the image is so much smaller
  bool fancy_upscaling = true, recover_truncated = false, accurate = false;
  float acceptable_fraction = 1;
  bool crop = false;
  int64_t crop_y = 0, crop_x = 0, crop_height = 0, crop_width = 0;
};
void DecodeJpeg(std::string_view bytes, const JpegOptions& options, const Allocate<uint8_t>& allocate);
Image JpegShape(std::string_view bytes);

struct JpegEncoding {
  int quality = 95;
  bool progressive = false, optimize = false, chroma_downsampling = true, per_inch = true;
  int x_density = 300, y_density = 300;
  std::string xmp;
};
std::string EncodeJpeg(const uint8_t* pixels, const Image& image, const JpegEncoding& encoding);

// --- PNG; T is uint8_t or uint16_t

template <class T>
void DecodePng(std::string_view bytes, int channels, const Allocate<T>& allocate);
template <class T>
std::string EncodePng(const T* pixels, const Image& image, int compression);

// --- GIF and BMP

// All frames, three channels; the number of frames is told first.
void DecodeGif(std::string_view bytes, const std::function<uint8_t*(int64_t frames, const Image&)>& allocate);
void DecodeBmp(std::string_view bytes, int channels, const Allocate<uint8_t>& allocate);

}  // namespace penstock::codecs
