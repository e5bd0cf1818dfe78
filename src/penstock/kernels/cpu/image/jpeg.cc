// JPEG through libjpeg. Its errors leave by longjmp, so what runs between is plain C; messages and exit are ours, and
// with them libjpeg's own file that writes to the terminal stays out.
#include <algorithm>
#include <csetjmp>
#include <cstdlib>
#include <cstring>

#include <jpeglib.h>  // after cstdio

#include "penstock/base/status.h"
#include "penstock/kernels/cpu/image/codecs.h"

namespace penstock::codecs {
namespace {

struct Errors {
  jpeg_error_mgr base;
  std::jmp_buf jump;
};

[[noreturn]] void Leave(j_common_ptr info) { std::longjmp(reinterpret_cast<Errors*>(info->err)->jump, 1); }
void Count(j_common_ptr info, int level) {
  if (level < 0) ++info->err->num_warnings;
}
void Silence(j_common_ptr) {}
void NoText(j_common_ptr, char* buffer) { buffer[0] = 0; }
void Reset(j_common_ptr info) { info->err->num_warnings = info->err->msg_code = 0; }

void Prepare(Errors& errors) {
  errors.base = {};
  errors.base.error_exit = Leave;
  errors.base.emit_message = Count;
  errors.base.output_message = Silence;
  errors.base.format_message = NoText;
  errors.base.reset_error_mgr = Reset;
}

// The bytes as libjpeg's source. At their end an end-of-image marker follows, so that decoding ends.
struct Source {
  jpeg_source_mgr base;
  bool ended;
};
constexpr JOCTET kEnd[2] = {0xFF, JPEG_EOI};
boolean Fill(j_decompress_ptr info) {
  auto* source = reinterpret_cast<Source*>(info->src);
  source->ended = true;
  source->base.next_input_byte = kEnd;
  source->base.bytes_in_buffer = 2;
  return TRUE;
}
void Skip(j_decompress_ptr info, long count) {  // NOLINT: libjpeg's type
  jpeg_source_mgr* source = info->src;
  if (count <= 0) return;
  if (static_cast<size_t>(count) > source->bytes_in_buffer) {
    Fill(info);
  } else {
    source->next_input_byte += count;
    source->bytes_in_buffer -= count;
  }
}
void Nothing(j_decompress_ptr) {}

void SetSource(jpeg_decompress_struct& info, Source& source, std::string_view bytes) {
  source = {};
  source.base.init_source = Nothing;
  source.base.fill_input_buffer = Fill;
  source.base.skip_input_data = Skip;
  source.base.resync_to_restart = jpeg_resync_to_restart;
  source.base.term_source = Nothing;
  source.base.next_input_byte = reinterpret_cast<const JOCTET*>(bytes.data());
  source.base.bytes_in_buffer = bytes.size();
  info.src = &source.base;
}

// A few bytes make one more pass over all of an image, however large: passes are limited, the larger it is the more.
void LimitScans(j_common_ptr common) {
  auto* info = reinterpret_cast<j_decompress_ptr>(common);
  constexpr int64_t kFewest = 20, kMost = 500, kPixels = int64_t{1} << 30;
  const int64_t pixels = std::max<int64_t>(1, int64_t{info->image_width} * info->image_height);
  if (info->input_scan_number > std::clamp(kPixels / pixels, kFewest, kMost)) Leave(common);
}

enum class Found { kFine, kMalformed, kTooLarge, kCrop, kTruncated };

struct Decoder {
  jpeg_decompress_struct info{};
  Errors errors{};
  Source source{};
  jpeg_progress_mgr progress{};
  Image out;
  int64_t first_column = 0;  // of the crop within what is decoded
  bool cmyk = false;

  ~Decoder() { jpeg_destroy_decompress(&info); }

  // Up to the sizes of the output.
  Found Start(std::string_view bytes, const JpegOptions& options) {
    Prepare(errors);
    info.err = &errors.base;
    if (setjmp(errors.jump)) return Found::kMalformed;
    jpeg_create_decompress(&info);
    progress.progress_monitor = LimitScans;
    info.progress = &progress;
    SetSource(info, source, bytes);
    jpeg_read_header(&info, TRUE);
    const int channels = options.channels ? options.channels : std::min(info.num_components, 3);
    cmyk = channels == 3 && (info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK);
    if (channels != 1 && channels != 3) return Found::kMalformed;
    info.out_color_space = channels == 1 ? JCS_GRAYSCALE : cmyk ? JCS_CMYK : JCS_RGB;
    info.do_fancy_upsampling = options.fancy_upscaling;
    info.scale_num = 1;
    info.scale_denom = options.ratio;
    info.dct_method = options.accurate ? JDCT_ISLOW : JDCT_IFAST;
    jpeg_calc_output_dimensions(&info);
    const int64_t height = info.output_height, width = info.output_width;
    if (height <= 0 || width <= 0) return Found::kMalformed;
    if (height * width * info.num_components >= kMostElements) return Found::kTooLarge;
    out = {height, width, channels};
    jpeg_start_decompress(&info);
    if (options.crop) {
      const bool inside = options.crop_y >= 0 && options.crop_x >= 0 && options.crop_height > 0 &&
                          options.crop_width > 0 && options.crop_height <= height - options.crop_y &&
                          options.crop_width <= width - options.crop_x;
      if (!inside) return Found::kCrop;
      JDIMENSION x = options.crop_x, columns = options.crop_width;
      jpeg_crop_scanline(&info, &x, &columns);
      first_column = options.crop_x - x;
      jpeg_skip_scanlines(&info, options.crop_y);
      out.height = options.crop_height, out.width = options.crop_width;
    }
    return Found::kFine;
  }

  // The lines, one after the other into `line` and from there to `to`. Returns how many there were.
  int64_t Read(uint8_t* to, uint8_t* line, const JpegOptions& options) {
    volatile int64_t read = 0;
    if (setjmp(errors.jump)) return read;
    while (read < out.height) {
      JSAMPROW row = line;
      if (jpeg_read_scanlines(&info, &row, 1) == 0 || (source.ended && !options.recover_truncated)) return read;
      Convert(to + read * out.width * out.channels, line);
      read = read + 1;
    }
    return read;
  }

 private:
  void Convert(uint8_t* to, const uint8_t* line) const {
    if (!cmyk) {
      std::memcpy(to, line + first_column * out.channels, out.width * out.channels);
      return;
    }
    for (int64_t i = 0; i < out.width; ++i) {
      const uint8_t* ink = line + 4 * (first_column + i);
      for (int c = 0; c < 3; ++c) {  // Adobe writes ink the other way round
        to[3 * i + c] =
            static_cast<uint8_t>(info.saw_Adobe_marker ? ink[3] * ink[c] / 255 : (255 - ink[3]) * (255 - ink[c]) / 255);
      }
    }
  }
};

[[noreturn]] void Refuse(std::string_view bytes) {
  throw InvalidArgument("Invalid JPEG data or crop window, data size ", bytes.size());
}

}  // namespace

void DecodeJpeg(std::string_view bytes, const JpegOptions& options, const Allocate<uint8_t>& allocate) {
  if (bytes.empty()) Refuse(bytes);
  Decoder decoder;
  if (decoder.Start(bytes, options) != Found::kFine) Refuse(bytes);
  const Image& image = decoder.out;
  uint8_t* to = allocate(image);
  std::vector<uint8_t> line(static_cast<size_t>(decoder.info.output_width) * 4);
  const int64_t read = decoder.Read(to, line.data(), options);
  if (read == image.height) return;
  const auto enough = static_cast<int64_t>(options.acceptable_fraction * static_cast<float>(image.height));
  if (!options.recover_truncated && read < std::max<int64_t>(1, enough)) Refuse(bytes);
  const int64_t stride = image.width * image.channels;
  std::memset(to + read * stride, 128, (image.height - read) * stride);
}

Image JpegShape(std::string_view bytes) {
  Decoder decoder;
  if (bytes.empty() || decoder.Start(bytes, JpegOptions()) != Found::kFine) Refuse(bytes);
  return {decoder.out.height, decoder.out.width, decoder.info.num_components};
}

namespace {

struct Encoder {
  jpeg_compress_struct info{};
  Errors errors{};
  unsigned char* bytes = nullptr;
  unsigned long size = 0;  // NOLINT: libjpeg's type

  ~Encoder() {
    jpeg_destroy_compress(&info);
    std::free(bytes);
  }

  bool Run(const uint8_t* pixels, const Image& image, const JpegEncoding& encoding, const std::string& xmp) {
    Prepare(errors);
    info.err = &errors.base;
    if (setjmp(errors.jump)) return false;
    jpeg_create_compress(&info);
    jpeg_mem_dest(&info, &bytes, &size);
    info.image_width = image.width;
    info.image_height = image.height;
    info.input_components = static_cast<int>(image.channels);
    info.in_color_space = image.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_set_defaults(&info);
    if (encoding.optimize) info.optimize_coding = TRUE;
    info.density_unit = encoding.per_inch ? 1 : 2;
    info.X_density = encoding.x_density;
    info.Y_density = encoding.y_density;
    jpeg_set_quality(&info, encoding.quality, TRUE);
    if (encoding.progressive) jpeg_simple_progression(&info);
    if (!encoding.chroma_downsampling) {
      for (int i = 0; i < info.num_components; ++i) {
        info.comp_info[i].h_samp_factor = info.comp_info[i].v_samp_factor = 1;
      }
    }
    jpeg_start_compress(&info, TRUE);
    if (!xmp.empty()) {
      jpeg_write_marker(&info, JPEG_APP0 + 1, reinterpret_cast<const JOCTET*>(xmp.data()),
                        static_cast<unsigned>(xmp.size()));
    }
    const int64_t stride = image.width * image.channels;
    while (info.next_scanline < info.image_height) {
      JSAMPROW row = const_cast<JSAMPROW>(pixels + info.next_scanline * stride);
      jpeg_write_scanlines(&info, &row, 1);
    }
    jpeg_finish_compress(&info);
    return true;
  }
};

}  // namespace

std::string EncodeJpeg(const uint8_t* pixels, const Image& image, const JpegEncoding& encoding) {
  std::string xmp;
  if (!encoding.xmp.empty()) xmp = std::string("http://ns.adobe.com/xap/1.0/") + '\0' + encoding.xmp;
  if (xmp.size() > 65000) throw InvalidArgument("xmp_metadata is too long: ", encoding.xmp.size(), " bytes");
  Encoder encoder;
  if (!encoder.Run(pixels, image, encoding, xmp)) throw Internal("JPEG encoding failed");
  return std::string(reinterpret_cast<const char*>(encoder.bytes), encoder.size);
}

}  // namespace penstock::codecs

// Asked for by libjpeg's own defaults, which are not used.
extern "C" jpeg_error_mgr* jpeg_std_error(jpeg_error_mgr* errors) {
  *errors = {};
  return errors;
}
