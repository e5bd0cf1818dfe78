// Parts of images: crops at another size, glimpses, projective transforms, and boxes drawn on images.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "penstock/base/random.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/array/copy.h"
#include "penstock/kernels/cpu/compute.h"

namespace penstock {
namespace {

// --- crops

// Where the pixels of a crop lie along one axis of the image.
struct CropAxis {
  int64_t image, crop;
  float low, high;  // of the box
  float ratio() const { return crop > 1 ? static_cast<float>(image - 1) / static_cast<float>(crop - 1) : 0.0f; }
  float Place(int64_t i) const {
    const auto last = static_cast<float>(image - 1);
    if (crop <= 1) return 0.5f * (low + high) * last;
    return low * last + static_cast<float>(i) * ((high - low) * last / static_cast<float>(crop - 1));
  }
  bool Inside(float at) const { return at >= 0 && at <= static_cast<float>(image - 1); }
};

struct Corner {  // of bilinear interpolation along one axis
  int64_t low, high;
  float part;
  explicit Corner(float at)
      : low(static_cast<int64_t>(std::floor(at))),
        high(static_cast<int64_t>(std::ceil(at))),
        part(at - static_cast<float>(low)) {}
};

// Boxes (input i) and the image that each is of (input i + 1). Returns how many.
int64_t CheckBoxes(KernelContext& k, int i, int64_t batch) {
  const Shape &boxes = k.shape(i), &index = k.shape(i + 1);
  if (boxes.num_elements() == 0 && index.num_elements() == 0) return 0;
  k.Require(boxes.rank() == 2, "boxes must be 2-D", boxes);
  k.Require(boxes[1] == 4, "boxes must have 4 columns");
  k.Require(index.rank() == 1, "box_index must be 1-D", index);
  k.Require(index[0] == boxes[0], "box_index has incompatible shape");
  for (const int32_t b : k.in<int32_t>(i + 1)) {
    if (b < 0 || b >= batch) throw OutOfRange("box_index has values outside [0, batch_size)");
  }
  for (const float v : k.in<float>(i)) {
    k.Require(std::isfinite(v), "boxes contains at least one element that is not finite");
  }
  return boxes[0];
}
CropAxis Rows(const float* box, int64_t image, int64_t crop) { return {image, crop, box[0], box[2]}; }
CropAxis Columns(const float* box, int64_t image, int64_t crop) { return {image, crop, box[1], box[3]}; }

struct CropAndResize {
  bool bilinear;
  float outside;
  explicit CropAndResize(const NodeView& node)
      : bilinear(node.attr<std::string>("method") == "bilinear"), outside(node.attr<float>("extrapolation_value")) {}
  void operator()(KernelContext& k) const {
    const Shape& in = k.shape(0);
    k.Require(in.rank() == 4, "input image must be 4-D", in);
    k.Require(in[1] > 0 && in[2] > 0, "image dimensions must be positive");
    const int64_t boxes = CheckBoxes(k, 1, in[0]), n = in[3];
    k.Require(k.shape(3).rank() == 1, "crop_size must be 1-D", k.shape(3));
    k.Require(k.shape(3)[0] == 2, "crop_size must have two elements", k.shape(3));
    const std::vector<int64_t> size = k.Ints(3);
    k.Require(size[0] > 0 && size[1] > 0, "crop dimensions must be positive");
    float* y = k.out<float>(0, Shape({boxes, size[0], size[1], n})).data();
    if (boxes == 0 || n == 0) return;
    const ComputeInput<float> x(k, k.input(0));
    const float* box = k.in<float>(1).data();
    const int32_t* index = k.in<int32_t>(2).data();
    k.Parallel(boxes * size[0], std::max<int64_t>(1, size[1] * n * 4), [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const int64_t b = r / size[0];
        const CropAxis rows = Rows(box + 4 * b, in[1], size[0]), columns = Columns(box + 4 * b, in[2], size[1]);
        const float* image = x.data + index[b] * in[1] * in[2] * n;
        const float row = rows.Place(r % size[0]);
        float* to = y + r * size[1] * n;
        for (int64_t c = 0; c < size[1]; ++c, to += n) {
          const float column = columns.Place(c);
          if (!rows.Inside(row) || !columns.Inside(column)) {
            std::fill(to, to + n, outside);
          } else if (bilinear) {
            const Corner v(row), h(column);
            const float *tl = image + (v.low * in[2] + h.low) * n, *tr = image + (v.low * in[2] + h.high) * n;
            const float *bl = image + (v.high * in[2] + h.low) * n, *br = image + (v.high * in[2] + h.high) * n;
            for (int64_t i = 0; i < n; ++i) {
              const float top = tl[i] + (tr[i] - tl[i]) * h.part, bottom = bl[i] + (br[i] - bl[i]) * h.part;
              to[i] = top + (bottom - top) * v.part;
            }
          } else {
            const float* from =
                image + (static_cast<int64_t>(std::round(row)) * in[2] + static_cast<int64_t>(std::round(column))) * n;
            std::copy(from, from + n, to);
          }
        }
      }
    });
  }
};

// Calls fn(box, row, column, axes, place in the image's rows, in its columns, gradient) for each pixel of dy that lies
// inside.
template <class F>
void ForEachCropPixel(const Shape& dy_shape, const float* dy, const float* box, int64_t height, int64_t width,
                      const F& fn) {
  for (int64_t b = 0; b < dy_shape[0]; ++b) {
    const CropAxis rows = Rows(box + 4 * b, height, dy_shape[1]), columns = Columns(box + 4 * b, width, dy_shape[2]);
    for (int64_t r = 0; r < dy_shape[1]; ++r) {
      for (int64_t c = 0; c < dy_shape[2]; ++c, dy += dy_shape[3]) {
        const float row = rows.Place(r), column = columns.Place(c);
        if (rows.Inside(row) && columns.Inside(column)) fn(b, r, c, rows, columns, row, column, dy);
      }
    }
  }
}

template <class C>
struct CropAndResizeGradImage {
  bool bilinear;
  explicit CropAndResizeGradImage(const NodeView& node) : bilinear(node.attr<std::string>("method") == "bilinear") {}
  void operator()(KernelContext& k) const {
    const Shape& dy = k.shape(0);
    k.Require(dy.rank() == 4, "grads image must be 4-D", dy);
    k.Require(dy[1] > 0 && dy[2] > 0, "grads dimensions must be positive");
    k.Require(k.shape(3).rank() == 1, "image_size must be 1-D", k.shape(3));
    k.Require(k.shape(3)[0] == 4, "image_size must have 4 elements", k.shape(3));
    const Shape shape = k.ShapeInput(3);
    const int64_t boxes = CheckBoxes(k, 1, shape[0]), n = shape[3];
    k.Require(dy[0] == boxes, "boxes and grads have incompatible shape");
    k.Require(shape[1] > 0 && shape[2] > 0, "image dimensions must be positive");
    k.Require(dy[3] == n, "image_size and grads are incompatible");
    ComputeOutput<C> out(k, 0, shape);
    ZeroElements(kTypeOf<C>, out.data, shape.num_elements());
    const int32_t* index = k.in<int32_t>(2).data();
    ForEachCropPixel(
        dy, k.in<float>(0).data(), k.in<float>(1).data(), shape[1], shape[2],
        [&](int64_t b, int64_t, int64_t, const CropAxis&, const CropAxis&, float row, float column, const float* g) {
          C* image = out.data + index[b] * shape[1] * shape[2] * n;
          const auto add = [&](int64_t r, int64_t c, float weight) {
            C* to = image + (r * shape[2] + c) * n;
            for (int64_t i = 0; i < n; ++i) to[i] += static_cast<C>(weight * g[i]);
          };
          if (!bilinear) {
            add(static_cast<int64_t>(std::round(row)), static_cast<int64_t>(std::round(column)), 1);
            return;
          }
          const Corner v(row), h(column);
          add(v.low, h.low, (1 - h.part) * (1 - v.part));
          add(v.low, h.high, h.part * (1 - v.part));
          add(v.high, h.low, (1 - h.part) * v.part);
          add(v.high, h.high, h.part * v.part);
        });
    out.Store();
  }
};

struct CropAndResizeGradBoxes {
  void operator()(KernelContext& k) const {
    const Shape &dy = k.shape(0), &in = k.shape(1);
    k.Require(dy.rank() == 4, "grads image must be 4-D", dy);
    k.Require(dy[1] > 0 && dy[2] > 0, "grads dimensions must be positive");
    k.Require(in.rank() == 4, "input image must be 4-D", in);
    k.Require(in[1] > 0 && in[2] > 0, "image dimensions must be positive");
    k.Require(in[3] == dy[3], "image, grads depth differ");
    const int64_t boxes = CheckBoxes(k, 2, in[0]), n = in[3];
    k.Require(dy[0] == boxes, "boxes and grads have incompatible shape");
    const auto out = k.out<float>(0, Shape({boxes, 4}));
    std::fill(out.begin(), out.end(), 0.0f);
    const ComputeInput<float> x(k, k.input(1));
    const int32_t* index = k.in<int32_t>(3).data();
    ForEachCropPixel(
        dy, k.in<float>(0).data(), k.in<float>(2).data(), in[1], in[2],
        [&](int64_t b, int64_t r, int64_t c, const CropAxis& rows, const CropAxis& columns, float row, float column,
            const float* g) {
          const float* image = x.data + index[b] * in[1] * in[2] * n;
          const Corner v(row), h(column);
          const float *tl = image + (v.low * in[2] + h.low) * n, *tr = image + (v.low * in[2] + h.high) * n;
          const float *bl = image + (v.high * in[2] + h.low) * n, *br = image + (v.high * in[2] + h.high) * n;
          float by_row = 0, by_column = 0;
          for (int64_t i = 0; i < n; ++i) {
            by_row += g[i] * ((1 - h.part) * (bl[i] - tl[i]) + h.part * (br[i] - tr[i]));
            by_column += g[i] * ((1 - v.part) * (tr[i] - tl[i]) + v.part * (br[i] - bl[i]));
          }
          const auto add = [&](float* to, const CropAxis& axis, int64_t i, float gradient) {
            const auto last = static_cast<float>(axis.image - 1);
            const float high = axis.crop > 1 ? static_cast<float>(i) * axis.ratio() : 0.5f * last;
            to[0] += gradient * (last - high);
            to[2] += gradient * high;
          };
          add(out.data() + 4 * b, rows, r, by_row);
          add(out.data() + 4 * b + 1, columns, c, by_column);
        });
  }
};

// --- glimpses

template <bool kV2>
struct ExtractGlimpse {
  bool centered, normalized;
  std::string noise;
  explicit ExtractGlimpse(const NodeView& node)
      : centered(node.attr<bool>("centered")),
        normalized(node.attr<bool>("normalized")),
        noise(node.attr<std::string>("noise")) {
    const bool uniform = node.attr<bool>("uniform_noise");
    KernelContext::Require(!uniform || noise.empty() || noise == "uniform",
                           "The uniform_noise and noise could not be specified at the same time");
    if (noise.empty()) noise = uniform ? "uniform" : "gaussian";
    KernelContext::Require(noise == "uniform" || noise == "gaussian" || noise == "zero",
                           "The noise could only be uniform, gaussian, or zero, got", noise);
  }
  // Where the window begins along an axis.
  int64_t Begin(float offset, int64_t size, int64_t window) const {
    const auto whole = static_cast<float>(size), half_window = static_cast<float>(window) / 2;
    float at = normalized ? offset * whole : offset;
    if (!kV2) {
      at = (centered ? at / 2 + whole / 2 : at) - half_window;
    } else if (centered) {
      at = normalized ? at / 2 + whole / 2 - half_window : at + whole / 2;
    }
    // Windows far outside are all alike.
    const auto limit = static_cast<float>(size) + static_cast<float>(window) + 1;
    return at == at ? static_cast<int64_t>(std::clamp(at, -limit, limit)) : size;
  }
  void operator()(KernelContext& k) const {
    const Shape& in = k.shape(0);
    k.Require(in.rank() == 4, "input must be 4-dimensional (batch_size, height, width, depth)", in);
    k.Require(k.shape(1).rank() == 1 && k.shape(1)[0] == 2, "input must be a vector of size 2 (height, width)",
              k.shape(1));
    const std::vector<int64_t> size = k.Ints(1);
    k.Require(size[0] > 0 && size[1] > 0, "input must have positive size, got ", size[0], " x ", size[1]);
    k.Require(k.shape(2).rank() == 2, "input must be a matrix", k.shape(2));
    k.Require(k.shape(2)[0] == in[0], "first dimension should be batch", k.shape(2));
    k.Require(k.shape(2)[1] == 2, "second dimension should be of size 2 (y,x)", k.shape(2));
    const int64_t n = in[3];
    const auto y = k.out<float>(0, Shape({in[0], size[0], size[1], n}));
    const float *x = k.in<float>(0).data(), *offsets = k.in<float>(2).data();
    const Philox start(NondeterministicSeed());
    const int64_t pixels = size[0] * size[1];
    k.Parallel(in[0], (pixels + (noise == "zero" ? 0 : in[1] * in[2])) * n, [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        Philox philox = start;
        philox.Skip(static_cast<uint64_t>(b * pixels * n));
        const int64_t top = Begin(offsets[2 * b], in[1], size[0]), left = Begin(offsets[2 * b + 1], in[2], size[1]);
        const float* image = x + b * in[1] * in[2] * n;
        float* to = y.data() + b * pixels * n;
        const bool inside = top >= 0 && top + size[0] <= in[1] && left >= 0 && left + size[1] <= in[2];
        const std::vector<Range> ranges =
            noise == "zero" || inside ? std::vector<Range>(n) : Ranges(image, in[1] * in[2], n);
        for (int64_t r = top; r < top + size[0]; ++r) {
          for (int64_t c = left; c < left + size[1]; ++c, to += n) {
            if (r >= 0 && r < in[1] && c >= 0 && c < in[2]) {
              std::copy_n(image + (r * in[2] + c) * n, n, to);
            } else if (noise == "zero") {
              std::fill_n(to, n, 0.0f);
            } else {
              for (int64_t i = 0; i < n; ++i) to[i] = Noise(ranges[i], philox());
            }
          }
        }
      }
    });
  }

 private:
  struct Range {
    float low = 0, high = 0;  // smallest and greatest, or mean and deviation
  };
  float Noise(const Range& range, const Philox::Group& bits) const {
    if (noise == "uniform") return range.low + UnitFloat(bits[0]) * (range.high - range.low);
    float a, b;
    NormalPair(bits[0], bits[1], &a, &b);
    return range.low + a * range.high;
  }
  std::vector<Range> Ranges(const float* image, int64_t pixels, int64_t n) const {
    std::vector<Range> ranges(n);
    for (int64_t i = 0; i < n && pixels > 0; ++i) {
      float low = image[i], high = image[i];
      double sum = 0, squares = 0;
      for (int64_t p = 0; p < pixels; ++p) {
        const float v = image[p * n + i];
        low = std::min(low, v), high = std::max(high, v);
        sum += v, squares += static_cast<double>(v) * v;
      }
      const double mean = sum / static_cast<double>(pixels);
      const double variance = std::max(0.0, squares / static_cast<double>(pixels) - mean * mean);
      ranges[i] = noise == "uniform" ? Range{low, high}
                                     : Range{static_cast<float>(mean), static_cast<float>(std::sqrt(variance))};
    }
    return ranges;
  }
};

// --- projective transforms

struct ProjectiveAttrs {
  bool bilinear;
  enum Fill { kConstant, kReflect, kWrap, kNearest } fill;
  explicit ProjectiveAttrs(const NodeView& node) {
    const std::string interpolation = node.attr<std::string>("interpolation");
    const std::string mode = node.attr_or<std::string>("fill_mode", "CONSTANT");
    KernelContext::Require(interpolation == "NEAREST" || interpolation == "BILINEAR", "Invalid interpolation ",
                           interpolation, ". Supported types: NEAREST, BILINEAR");
    bilinear = interpolation == "BILINEAR";
    KernelContext::Require(mode == "CONSTANT" || mode == "REFLECT" || mode == "WRAP" || mode == "NEAREST",
                           "Invalid mode ", mode, ". Supported modes: REFLECT, WRAP, CONSTANT, NEAREST");
    fill = mode == "CONSTANT" ? kConstant : mode == "REFLECT" ? kReflect : mode == "WRAP" ? kWrap : kNearest;
  }
  // A coordinate brought into [0, n - 1], unless outside is to be filled with a constant.
  float Map(float at, int64_t n) const {
    const auto size = static_cast<float>(n);
    float in = at;
    switch (fill) {
      case kConstant: return at;
      case kReflect:
        if (in < 0) {
          if (n <= 1) return 0;
          const float period = 2 * size;
          if (in < -period) in += period * std::floor(-in / period);
          in = in < -size ? in + period : -in - 1;
        } else if (in > size - 1) {
          if (n <= 1) return 0;
          const float period = 2 * size;
          in -= period * std::floor(in / period);
          if (in >= size) in = period - in - 1;
        }
        break;
      case kWrap:  // the period is the size, but counted in sizes less one, as TensorFlow does
        if (in < 0) {
          if (n <= 1) return 0;
          in += size * (std::trunc(-in / (size - 1)) + 1);
        } else if (in > size - 1) {
          if (n <= 1) return 0;
          in -= size * std::trunc(in / (size - 1));
        }
        break;
      case kNearest: break;
    }
    return std::clamp(in, 0.0f, size - 1);
  }
};

template <class C>
struct ProjectiveTransform : ProjectiveAttrs {
  using ProjectiveAttrs::ProjectiveAttrs;
  void operator()(KernelContext& k) const {
    const Shape &in = k.shape(0), &transforms = k.shape(1);
    k.Require(in.rank() == 4, "Input images must have rank 4");
    k.Require(transforms.rank() == 2 && (transforms[0] == in[0] || transforms[0] == 1) && transforms[1] == 8,
              "Input transform should be num_images x 8 or 1 x 8");
    k.Require(k.shape(2).rank() == 1, "output shape must be 1-dimensional", k.shape(2));
    k.Require(k.shape(2)[0] == 2, "output shape must have two elements", k.shape(2));
    const std::vector<int64_t> size = k.Ints(2);
    k.Require(size[0] > 0 && size[1] > 0, "new_height and new_width must be positive, got ", size[0], " and ", size[1]);
    float constant = 0;
    if (k.num_inputs() > 3) {
      k.Require(k.shape(3).rank() == 0, "fill_value must be a scalar", k.shape(3));
      constant = k.Scalar<float>(3);
    }
    const int64_t n = in[3];
    const Shape shape({in[0], size[0], size[1], n});
    ComputeOutput<C> y(k, 0, shape);
    const ComputeInput<C> x(k, k.input(0));
    const float* matrices = k.in<float>(1).data();
    const auto fill_value = static_cast<C>(constant);
    k.Parallel(shape[0] * size[0], std::max<int64_t>(1, size[1] * n * 6), [&](int64_t begin, int64_t end) {
      for (int64_t line = begin; line < end; ++line) {
        const int64_t b = line / size[0];
        const auto row = static_cast<float>(line % size[0]);
        const float* m = matrices + (transforms[0] == 1 ? 0 : b * 8);
        const C* image = x.data + b * in[1] * in[2] * n;
        C* to = y.data + line * size[1] * n;
        const auto pixel = [&](float r, float c, int64_t i) {
          const bool inside = r >= 0 && r < static_cast<float>(in[1]) && c >= 0 && c < static_cast<float>(in[2]);
          return inside ? image[(static_cast<int64_t>(r) * in[2] + static_cast<int64_t>(c)) * n + i] : fill_value;
        };
        for (int64_t column = 0; column < size[1]; ++column, to += n) {
          const auto c = static_cast<float>(column);
          const float scale = m[6] * c + m[7] * row + 1;
          if (scale == 0) {  // a point at infinity
            std::fill_n(to, n, fill_value);
            continue;
          }
          const float at_c = Map((m[0] * c + m[1] * row + m[2]) / scale, in[2]);
          const float at_r = Map((m[3] * c + m[4] * row + m[5]) / scale, in[1]);
          if (!bilinear) {
            for (int64_t i = 0; i < n; ++i) to[i] = pixel(std::round(at_r), std::round(at_c), i);
            continue;
          }
          const float r0 = std::floor(at_r), c0 = std::floor(at_c), r1 = r0 + 1, c1 = c0 + 1;
          for (int64_t i = 0; i < n; ++i) {
            const float top =
                (c1 - at_c) * static_cast<float>(pixel(r0, c0, i)) + (at_c - c0) * static_cast<float>(pixel(r0, c1, i));
            const float bottom =
                (c1 - at_c) * static_cast<float>(pixel(r1, c0, i)) + (at_c - c0) * static_cast<float>(pixel(r1, c1, i));
            to[i] = Rounded((r1 - at_r) * top + (at_r - r0) * bottom);
          }
        }
      }
    });
    y.Store();
  }
  static C Rounded(float v) {
    if constexpr (std::is_integral_v<C>) {
      if (!(v > static_cast<float>(std::numeric_limits<C>::min()))) return std::numeric_limits<C>::min();
      if (v >= static_cast<float>(std::numeric_limits<C>::max())) return std::numeric_limits<C>::max();
    }
    return static_cast<C>(v);
  }
};

// --- boxes drawn on images

struct DrawBoundingBoxes {
  void operator()(KernelContext& k) const {
    const Shape &in = k.shape(0), &boxes = k.shape(1);
    k.Require(in.rank() == 4, "The rank of the images should be 4");
    k.Require(boxes.rank() == 3, "The rank of the boxes tensor should be 3");
    k.Require(in[0] == boxes[0], "The batch sizes should be the same");
    k.Require(in[3] == 4 || in[3] == 1 || in[3] == 3, "Channel depth should be either 1 (GRY), 3 (RGB), or 4 (RGBA)");
    k.Require(boxes[2] == 4, "The size of the third dimension of the box must be 4. Received: ", boxes[2]);
    const int64_t n = in[3], height = in[1], width = in[2];
    std::vector<std::array<float, 4>> colors = {{1, 1, 0, 1},     {0, 0, 1, 1},     {1, 0, 0, 1},   {0, 1, 0, 1},
                                                {.5f, 0, .5f, 1}, {.5f, .5f, 0, 1}, {.5f, 0, 0, 1}, {0, 0, .5f, 1},
                                                {0, 1, 1, 1},     {1, 0, 1, 1}};
    if (n == 1) {  // all white unless colours are given
      for (auto& color : colors) color[0] = 1;
    }
    if (k.num_inputs() == 3 && k.shape(2).num_elements() > 0) {
      const Shape& given = k.shape(2);
      k.Require(given.rank() == 2, "colors must be a 2-D matrix", given);
      k.Require(given[1] >= n, "colors must have equal or more channels than the image provided: ", given);
      colors.assign(given[0], {});
      for (int64_t i = 0; i < given[0]; ++i) {
        std::copy_n(k.in<float>(2).data() + i * given[1], std::min<int64_t>(4, given[1]), colors[i].begin());
      }
    }
    const ComputeInput<float> x(k, k.input(0));
    ComputeOutput<float> y(k, 0, in);
    std::copy_n(x.data, in.num_elements(), y.data);
    const float* box = k.in<float>(1).data();
    for (int64_t b = 0; b < in[0] && in.num_elements() > 0; ++b) {
      float* image = y.data + b * height * width * n;
      for (int64_t i = 0; i < boxes[1]; ++i, box += 4) Draw(image, height, width, n, box, colors[i % colors.size()]);
    }
    y.Store();
  }

 private:
  static void Draw(float* image, int64_t height, int64_t width, int64_t n, const float* box,
                   const std::array<float, 4>& color) {
    const auto place = [](float v, int64_t size) {
      const float at = v * static_cast<float>(size - 1);
      // Beyond the image by more than one pixel is all alike.
      return at == at ? static_cast<int64_t>(std::clamp(at, -2.0f, static_cast<float>(size) + 1)) : int64_t{-1};
    };
    const int64_t top = place(box[0], height), bottom = place(box[2], height);
    const int64_t left = place(box[1], width), right = place(box[3], width);
    if (top > bottom || left > right || top >= height || bottom < 0 || left >= width || right < 0) return;
    const int64_t first_row = std::max<int64_t>(top, 0), last_row = std::min(bottom, height - 1);
    const int64_t first_column = std::max<int64_t>(left, 0), last_column = std::min(right, width - 1);
    const auto paint = [&](int64_t row, int64_t column) {
      std::copy_n(color.begin(), n, image + (row * width + column) * n);
    };
    for (const int64_t row : {top, bottom}) {
      for (int64_t c = first_column; c <= last_column && row >= 0 && row < height; ++c) paint(row, c);
    }
    for (const int64_t column : {left, right}) {
      for (int64_t r = first_row; r <= last_row && column >= 0 && column < width; ++r) paint(r, column);
    }
  }
};

}  // namespace

namespace PENSTOCK_ISA {
void RegisterImageCropKernels(KernelRegistry& kernels) {
  kernels.Add<CropAndResize>("CropAndResize", Reals{}).HostInput(3);
  kernels.Add<CropAndResizeGradImage<float>>("CropAndResizeGradImage", Types<Half, float>{}).HostInput(3);
  kernels.Add<CropAndResizeGradImage<double>>("CropAndResizeGradImage", Types<double>{}).HostInput(3);
  kernels.Add<CropAndResizeGradBoxes>("CropAndResizeGradBoxes", Reals{});
  kernels.Add<ExtractGlimpse<false>>("ExtractGlimpse").HostInput(1);
  kernels.Add<ExtractGlimpse<true>>("ExtractGlimpseV2").HostInput(1);
  for (const char* op : {"ImageProjectiveTransformV2", "ImageProjectiveTransformV3"}) {
    kernels.Add<ProjectiveTransform<float>>(op, FloatComputed{}, "dtype").HostInput(2);
    kernels.Add<ProjectiveTransform<double>>(op, Types<double>{}, "dtype").HostInput(2);
    kernels.Add<ProjectiveTransform>(op, Types<uint8_t, int32_t, int64_t>{}, "dtype").HostInput(2);
  }
  kernels.Add<DrawBoundingBoxes>("DrawBoundingBoxes", Types<Half, float>{});
  kernels.Add<DrawBoundingBoxes>("DrawBoundingBoxesV2", Types<Half, float>{});
}
}  // namespace PENSTOCK_ISA

}  // namespace penstock
