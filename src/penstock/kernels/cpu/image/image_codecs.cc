// Image files: decoding and encoding.
#include <cmath>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/image/codecs.h"

namespace penstock {
namespace {

using codecs::Image;

std::string_view Contents(KernelContext& k) {
  k.Require(k.shape(0).rank() == 0, "contents must be scalar, got shape ", k.shape(0));
  return k.in<TString>(0)[0].view();
}
Shape ShapeOf(const Image& image) { return Shape({image.height, image.width, image.channels}); }

// Memory for the image as output 0.
template <class T>
codecs::Allocate<T> Into(KernelContext& k) {
  return [&k](const Image& image) { return k.out<T>(0, ShapeOf(image)).data(); };
}

int Channels(const NodeView& node, std::initializer_list<int64_t> allowed) {
  const int64_t channels = node.attr<int64_t>("channels");
  for (const int64_t a : allowed) {
    if (a == channels) return static_cast<int>(channels);
  }
  throw InvalidArgument("channels must be 0, 1, 3, or 4, as the format allows, got ", channels);
}

codecs::JpegOptions JpegOptionsOf(const NodeView& node) {
  codecs::JpegOptions options;
  const int64_t ratio = node.attr<int64_t>("ratio");
  KernelContext::Require(ratio == 1 || ratio == 2 || ratio == 4 || ratio == 8, "ratio must be 1, 2, 4, or 8, got ",
                         ratio);
  options.ratio = static_cast<int>(ratio);
  options.fancy_upscaling = node.attr<bool>("fancy_upscaling");
  options.recover_truncated = node.attr<bool>("try_recover_truncated");
  options.acceptable_fraction = node.attr<float>("acceptable_fraction");
  const std::string method = node.attr<std::string>("dct_method");
  KernelContext::Require(method.empty() || method == "INTEGER_FAST" || method == "INTEGER_ACCURATE",
                         "dct_method must be one of {'', 'INTEGER_FAST', 'INTEGER_ACCURATE'}");
  options.accurate = method == "INTEGER_ACCURATE";
  return options;
}

enum class Format { kJpeg, kPng, kGif, kBmp };
constexpr const char* kNames[] = {"JPEG", "PNG", "GIF", "BMP"};

// The format of a file, by its first bytes.
Format FormatOf(std::string_view bytes) {
  KernelContext::Require(!bytes.empty(), "Input is empty.");
  if (bytes.starts_with("\xff\xd8\xff")) return Format::kJpeg;
  if (bytes.starts_with("\x89PN")) return Format::kPng;
  if (bytes.starts_with("GIF8")) return Format::kGif;
  if (bytes.starts_with("BM")) return Format::kBmp;
  throw InvalidArgument("Unknown image file format. One of JPEG, PNG, GIF, BMP required.");
}

struct DecodeAndCropJpeg {
  codecs::JpegOptions options;
  explicit DecodeAndCropJpeg(const NodeView& node) : options(JpegOptionsOf(node)) {
    options.channels = Channels(node, {0, 1, 3});
  }
  void operator()(KernelContext& k) const {
    k.Require(k.shape(1).rank() == 1, "crop_window must be 1-D, got shape ", k.shape(1));
    k.Require(k.shape(1)[0] == 4, "crop_size must have four elements ", k.shape(1));
    const Format format = FormatOf(Contents(k));
    k.Require(format == Format::kJpeg, "DecodeAndCropJpeg operation can run on JPEG only, but detected ",
              kNames[static_cast<int>(format)], ".");
    const std::vector<int64_t> window = k.Ints(1);
    codecs::JpegOptions with_crop = options;
    with_crop.crop = true;
    with_crop.crop_y = window[0], with_crop.crop_x = window[1];
    with_crop.crop_height = window[2], with_crop.crop_width = window[3];
    codecs::DecodeJpeg(Contents(k), with_crop, Into<uint8_t>(k));
  }
};

struct ExtractJpegShape {
  void operator()(KernelContext& k) const {
    const Image image = codecs::JpegShape(Contents(k));
    Tensor& out = k.Output(0, Shape({3}));
    const int64_t sizes[3] = {image.height, image.width, image.channels};
    for (int i = 0; i < 3; ++i) {
      if (out.dtype() == DT_INT32) {
        out.mutable_data<int32_t>()[i] = static_cast<int32_t>(sizes[i]);
      } else {
        out.mutable_data<int64_t>()[i] = sizes[i];
      }
    }
  }
};

// The image in input 0, checked.
Image ImageOf(KernelContext& k) {
  const Shape& shape = k.shape(0);
  k.Require(shape.rank() == 3, "image must be 3-dimensional", shape);
  k.Require(shape.num_elements() <= codecs::kMostElements, "image cannot have >= int32 max elements");
  return {shape[0], shape[1], shape[2]};
}

void StoreContents(KernelContext& k, std::string contents) { k.SetOutput(0, Tensor(TString(std::move(contents)))); }

void EncodeAsJpeg(KernelContext& k, codecs::JpegEncoding encoding, const std::string& format) {
  const Image image = ImageOf(k);
  k.Require(image.channels == 1 || image.channels == 3, "image must have 1 or 3 channels, got ", k.shape(0));
  k.Require(format.empty() || image.channels == (format == "grayscale" ? 1 : 3), "format '", format,
            "' expects another number of channels than the image of shape ", k.shape(0), " has");
  k.Require(image.height > 0 && image.width > 0 && image.height <= 65500 && image.width <= 65500,
            "JPEG cannot hold an image of shape ", k.shape(0));
  k.Require(encoding.quality >= 0 && encoding.quality <= 100, "quality must be in [0,100], got ", encoding.quality);
  StoreContents(k, codecs::EncodeJpeg(k.in<uint8_t>(0).data(), image, encoding));
}

struct EncodeJpeg {
  codecs::JpegEncoding encoding;
  std::string format;
  explicit EncodeJpeg(const NodeView& node) : format(node.attr<std::string>("format")) {
    const int64_t quality = node.attr<int64_t>("quality");
    KernelContext::Require(quality >= 0 && quality <= 100, "quality must be in [0,100], got ", quality);
    encoding.quality = static_cast<int>(quality);
    encoding.progressive = node.attr<bool>("progressive");
    encoding.optimize = node.attr<bool>("optimize_size");
    encoding.chroma_downsampling = node.attr<bool>("chroma_downsampling");
    encoding.per_inch = node.attr<std::string>("density_unit") == "in";
    encoding.x_density = static_cast<uint16_t>(node.attr<int64_t>("x_density"));
    encoding.y_density = static_cast<uint16_t>(node.attr<int64_t>("y_density"));
    encoding.xmp = node.attr<std::string>("xmp_metadata");
  }
  void operator()(KernelContext& k) const { EncodeAsJpeg(k, encoding, format); }
};

struct EncodeJpegVariableQuality {
  void operator()(KernelContext& k) const {
    k.Require(k.shape(1).rank() == 0, "quality must be a scalar: ", k.shape(1));
    codecs::JpegEncoding encoding;
    encoding.quality = k.Scalar<int32_t>(1);
    EncodeAsJpeg(k, encoding, "");
  }
};

template <class T>
struct EncodePng {
  int compression;
  explicit EncodePng(const NodeView& node) {
    const int64_t level = node.attr<int64_t>("compression");
    KernelContext::Require(level >= -1 && level <= 9, "compression should be in [-1,9], got ", level);
    compression = static_cast<int>(level);
  }
  void operator()(KernelContext& k) const {
    const Shape& shape = k.shape(0);
    const int before = shape.rank() - 3;  // dimensions of the batch
    k.Require(before >= 0, "images must be at least rank 3", shape);
    const Image image{shape[before], shape[before + 1], shape[before + 2]};
    k.Require(image.height > 0 && image.width > 0, "image is empty: ", shape);
    k.Require(image.channels >= 1 && image.channels <= 4, "image must have 1, 2, 3, or 4 channels, got ",
              image.channels);
    const int64_t size = image.height * image.width * image.channels;
    k.Require(size <= codecs::kMostElements, "image cannot have >= int32 max elements");
    const T* pixels = k.in<T>(0).data();
    for (TString& contents : k.out<TString>(0, Shape(shape.dims().first(static_cast<size_t>(before))))) {
      contents = TString(codecs::EncodePng<T>(pixels, image, compression));
      pixels += size;
    }
  }
};

// DecodeJpeg, DecodePng, DecodeGif, DecodeBmp, DecodeImage: each reads the others' formats too, as far as its result
// can hold them.
template <class T>
class Decode {
 public:
  explicit Decode(const NodeView& node)
      : op_(node.op().name),
        channels_(op_ == "DecodeGif" ? 3 : Channels(node, {0, 1, 3, 4})),
        expand_(op_ == "DecodeGif" || node.attr_or<bool>("expand_animations", false)) {
    if (op_ == "DecodeJpeg") jpeg_ = JpegOptionsOf(node);
    jpeg_.channels = channels_;
  }

  void operator()(KernelContext& k) const {
    const std::string_view bytes = Contents(k);
    const Format format = FormatOf(bytes);
    if (format == Format::kBmp) return Bmp(k, bytes);
    const char* name = kNames[static_cast<int>(format)];
    k.Require(op_ != "DecodeBmp", "Trying to decode ", name, " format using DecodeBmp op. Use `decode_",
              format == Format::kJpeg  ? "jpeg"
              : format == Format::kPng ? "png"
                                       : "gif",
              "` or `decode_image` instead.");
    if (format == Format::kGif) return Gif(k, bytes);
    if (format == Format::kPng) return Png(k, bytes);
    k.Require(channels_ != 4, "JPEG does not support 4 channels");
    Decode8(k, [&](const auto& to) { codecs::DecodeJpeg(bytes, jpeg_, to); });
  }

 private:
  void Bmp(KernelContext& k, std::string_view bytes) const {
    k.Require(channels_ != 1, "`channels` must be 0, 3 or 4 for BMP, but got 1");
    k.Require(
        op_ == "DecodeBmp" || op_ == "DecodeImage",
        "Trying to decode BMP format using a wrong op. Use `decode_bmp` or `decode_image` instead. Op used: ", op_);
    Decode8(k, [&](const auto& to) { codecs::DecodeBmp(bytes, channels_, to); });
  }
  void Gif(KernelContext& k, std::string_view bytes) const {
    k.Require(channels_ == 0 || channels_ == 3, "channels must be 0 or 3 for GIF, got ", channels_);
    std::vector<uint8_t> pixels;
    int64_t frames = 0;
    Image image;
    codecs::DecodeGif(bytes, [&](int64_t count, const Image& i) {
      frames = count, image = i;
      pixels.resize(count * i.height * i.width * 3);
      return pixels.data();
    });
    k.Require(frames == 1 || expand_ || op_ == "DecodeImage", "Got ", frames,
              " frames, but animated gifs can only be decoded by tf.io.decode_gif or tf.io.decode_image");
    Store(k, pixels, expand_ ? Shape({frames, image.height, image.width, 3}) : ShapeOf(image));
  }
  void Png(KernelContext& k, std::string_view bytes) const {
    if (std::is_same_v<T, uint8_t>) {
      return Decode8(k, [&](const auto& to) { codecs::DecodePng<uint8_t>(bytes, channels_, to); });
    }
    // More than 8 bits are kept if they are wanted.
    std::vector<uint16_t> pixels;
    Image image;
    codecs::DecodePng<uint16_t>(bytes, channels_, [&](const Image& i) {
      image = i;
      pixels.resize(i.height * i.width * i.channels);
      return pixels.data();
    });
    const auto out = k.out<T>(0, ShapeOf(image));
    for (size_t i = 0; i < pixels.size(); ++i) {
      out[i] = std::is_same_v<T, float> ? static_cast<T>(pixels[i] * (1.0f / 65535.0f)) : static_cast<T>(pixels[i]);
    }
  }

  // The shape of the result for one image: DecodeGif's has a dimension for frames.
  Shape ResultShape(const Image& image) const {
    return op_ == "DecodeGif" ? Shape({1, image.height, image.width, image.channels}) : ShapeOf(image);
  }
  template <class F>
  void Decode8(KernelContext& k, const F& decode) const {
    if constexpr (std::is_same_v<T, uint8_t>) {
      decode(codecs::Allocate<uint8_t>([&](const Image& i) { return k.out<T>(0, ResultShape(i)).data(); }));
    } else {
      std::vector<uint8_t> pixels;
      Image image;
      decode(codecs::Allocate<uint8_t>([&](const Image& i) {
        image = i;
        pixels.resize(i.height * i.width * i.channels);
        return pixels.data();
      }));
      Store(k, pixels, ResultShape(image));
    }
  }
  static void Store(KernelContext& k, const std::vector<uint8_t>& pixels, const Shape& shape) {
    const auto out = k.out<T>(0, shape);
    for (size_t i = 0; i < out.size(); ++i) {
      if constexpr (std::is_same_v<T, float>) {
        out[i] = static_cast<float>(pixels[i]) * (1.0f / 255.0f);
      } else {
        out[i] = static_cast<T>(std::is_same_v<T, uint16_t> ? pixels[i] * 256 : pixels[i]);
      }
    }
  }

  const std::string op_;
  const int channels_;
  const bool expand_;  // the result has a dimension for frames
  codecs::JpegOptions jpeg_;
};

}  // namespace

void RegisterImageCodecsKernels(KernelRegistry& kernels) {
  for (const char* name : {"DecodeJpeg", "DecodeGif", "DecodeBmp"}) kernels.Add<Decode<uint8_t>>(name);
  kernels.Add<Decode>("DecodePng", Types<uint8_t, uint16_t>{}, "dtype");
  kernels.Add<Decode>("DecodeImage", Types<uint8_t, uint16_t, float>{}, "dtype");
  kernels.Add<DecodeAndCropJpeg>("DecodeAndCropJpeg").HostInput(1);
  kernels.Add<EncodeJpeg>("EncodeJpeg");
  kernels.Add<EncodeJpegVariableQuality>("EncodeJpegVariableQuality").HostInput(1);
  kernels.Add<ExtractJpegShape>("ExtractJpegShape");
  kernels.Add<EncodePng>("EncodePng", Types<uint8_t, uint16_t>{});
}

}  // namespace penstock
