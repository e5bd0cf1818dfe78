// Image files: decoding and encoding.
#include <cmath>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/codecs.h"

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

struct DecodeJpeg {
  codecs::JpegOptions options;
  explicit DecodeJpeg(const NodeView& node) {
    options.channels = Channels(node, {0, 1, 3});
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
  }
  void operator()(KernelContext& k) const {
    codecs::JpegOptions with_crop = options;
    if (k.num_inputs() == 2) {
      k.Require(k.shape(1).rank() == 1, "crop_window must be 1-D, got shape ", k.shape(1));
      k.Require(k.shape(1)[0] == 4, "crop_size must have four elements ", k.shape(1));
      const std::vector<int64_t> window = k.Ints(1);
      with_crop.crop = true;
      with_crop.crop_y = window[0], with_crop.crop_x = window[1];
      with_crop.crop_height = window[2], with_crop.crop_width = window[3];
    }
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
struct DecodePng {
  int channels;
  explicit DecodePng(const NodeView& node) : channels(Channels(node, {0, 1, 3, 4})) {}
  void operator()(KernelContext& k) const { codecs::DecodePng<T>(Contents(k), channels, Into<T>(k)); }
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

struct DecodeGif {
  void operator()(KernelContext& k) const {
    codecs::DecodeGif(Contents(k), [&](int64_t frames, const Image& image) {
      return k.out<uint8_t>(0, Shape({frames, image.height, image.width, 3})).data();
    });
  }
};

struct DecodeBmp {
  int channels;
  explicit DecodeBmp(const NodeView& node) : channels(Channels(node, {0, 1, 3, 4})) {}
  void operator()(KernelContext& k) const { codecs::DecodeBmp(Contents(k), channels, Into<uint8_t>(k)); }
};

// Any of the formats, told by its first bytes, as any of the types.
template <class T>
struct DecodeImage {
  int channels;
  bool expand;
  explicit DecodeImage(const NodeView& node)
      : channels(Channels(node, {0, 1, 3, 4})), expand(node.attr<bool>("expand_animations")) {}
  void operator()(KernelContext& k) const {
    const std::string_view bytes = Contents(k);
    const auto refuse = [&](bool is, const char* kind) {
      if (is) throw InvalidArgument("channels = ", channels, " is not possible when decoding ", kind, " images");
    };
    if (bytes.starts_with("\x89PNG") || bytes.starts_with("\211PN")) {
      // More than 8 bits are kept if they are wanted.
      std::vector<uint16_t> pixels;
      Image image;
      if (std::is_same_v<T, uint8_t>) {
        return Decode8(k, [&](const auto& to) { codecs::DecodePng<uint8_t>(bytes, channels, to); });
      }
      codecs::DecodePng<uint16_t>(bytes, channels, [&](const Image& i) {
        image = i;
        pixels.resize(i.height * i.width * i.channels);
        return pixels.data();
      });
      const auto out = k.out<T>(0, ShapeOf(image));
      for (size_t i = 0; i < pixels.size(); ++i) {
        out[i] = std::is_same_v<T, float> ? static_cast<T>(pixels[i] / 65535.0f) : static_cast<T>(pixels[i]);
      }
    } else if (bytes.starts_with("\xff\xd8\xff")) {
      refuse(channels == 4, "JPEG");
      codecs::JpegOptions options;
      options.channels = channels;
      Decode8(k, [&](const auto& to) { codecs::DecodeJpeg(bytes, options, to); });
    } else if (bytes.starts_with("GIF")) {
      refuse(channels == 1 || channels == 4, "GIF");
      std::vector<uint8_t> pixels;
      int64_t frames = 0;
      Image image;
      codecs::DecodeGif(bytes, [&](int64_t count, const Image& i) {
        frames = count, image = i;
        pixels.resize(count * i.height * i.width * 3);
        return pixels.data();
      });
      Store(k, pixels, expand ? Shape({frames, image.height, image.width, 3}) : ShapeOf(image));
    } else if (bytes.starts_with("BM")) {
      refuse(channels == 1, "BMP");
      Decode8(k, [&](const auto& to) { codecs::DecodeBmp(bytes, channels, to); });
    } else {
      throw InvalidArgument("Unknown image file format. One of JPEG, PNG, GIF, BMP required.");
    }
  }

 private:
  template <class F>
  static void Decode8(KernelContext& k, const F& decode) {
    std::vector<uint8_t> pixels;
    Image image;
    decode(codecs::Allocate<uint8_t>([&](const Image& i) {
      image = i;
      pixels.resize(i.height * i.width * i.channels);
      return pixels.data();
    }));
    Store(k, pixels, ShapeOf(image));
  }
  static void Store(KernelContext& k, const std::vector<uint8_t>& pixels, const Shape& shape) {
    const auto out = k.out<T>(0, shape);
    for (size_t i = 0; i < out.size(); ++i) {
      if constexpr (std::is_same_v<T, float>) {
        out[i] = static_cast<float>(pixels[i]) / 255.0f;
      } else {
        out[i] = static_cast<T>(std::is_same_v<T, uint16_t> ? pixels[i] * 256 : pixels[i]);
      }
    }
  }
};

}  // namespace

void RegisterImageCodecsKernels(KernelRegistry& kernels) {
  kernels.Add<DecodeJpeg>("DecodeJpeg");
  kernels.Add<DecodeJpeg>("DecodeAndCropJpeg").HostInput(1);
  kernels.Add<EncodeJpeg>("EncodeJpeg");
  kernels.Add<EncodeJpegVariableQuality>("EncodeJpegVariableQuality").HostInput(1);
  kernels.Add<ExtractJpegShape>("ExtractJpegShape");
  kernels.Add<DecodePng>("DecodePng", Types<uint8_t, uint16_t>{}, "dtype");
  kernels.Add<EncodePng>("EncodePng", Types<uint8_t, uint16_t>{});
  kernels.Add<DecodeGif>("DecodeGif");
  kernels.Add<DecodeBmp>("DecodeBmp");
  kernels.Add<DecodeImage>("DecodeImage", Types<uint8_t, uint16_t, float>{}, "dtype");
}

}  // namespace penstock
