// Winograd's convolution: with filters of 3 x 3 taps, tiles of 4 x 4 results take 36 multiplications for each pair of
// channels instead of 144. Channels are the innermost dimension of everything, so transforms are vectors' arithmetic
// and the multiplications are 36 products of matrices.
#include <algorithm>

#include "penstock/base/branches.h"
#include "penstock/kernels/cpu/loops.h"
#include "penstock/kernels/cpu/nn/conv_tiles.h"
#include "penstock/kernels/cpu/nn/packed_filter.h"
#include "penstock/kernels/cpu/tiles.h"

namespace penstock {
namespace {

constinit BranchTable<2> orders{"convolution/winograd", {"tile by tile", "element by element"}};
constinit BranchTable<2> filters{"convolution/winograd/filter", {"output channels side by side", "turned"}};

int64_t Tiles(const Convolution& c, int64_t side) {
  return c.w.batch * CeilDiv(c.w.out[1], side) * CeilDiv(c.w.out[2], side);
}

const WinogradLoops& LoopsOf(int side) { return CpuLoops().conv->winograd[side == 2 ? 0 : 1]; }

// One convolution. Transformed inputs and products of a run of tiles are [element of the tile][tile][channel].
class Winograd {
 public:
  Winograd(const KernelContext& k, const Convolution& c, int side, const float* x, float* y, const Epilogue& epilogue)
      : k_(k),
        c_(c),
        loops_(*CpuLoops().conv),
        transforms_(LoopsOf(side)),
        side_(side),
        size_(side + 2),
        elements_(size_ * size_),
        in_(c.w.channels),
        out_(c.out_channels),
        panels_(out_ / loops_.columns),
        tiles_(Tiles(c, side)),
        x_(x),
        y_(y),
        epilogue_(epilogue),
        in_tiles_(InTiles(epilogue)),
        zeros_(k.Temp(DT_FLOAT, Shape({in_}))) {
    std::fill_n(zeros_.mutable_data<float>(), in_, 0.0f);
  }

  int64_t filter_floats() const { return elements_ * in_ * out_; }

  // [element][panel of output channels][input channel][output channel in the panel]
  void PackFilter(FilterView filter, float* to) const {
    Tensor turned;
    filters.Enter(filter.out == 1 ? 0 : 1);
    if (filter.out != 1) turned = Turn(filter);
    const int64_t width = loops_.columns;
    k_.Parallel(panels_ * in_, elements_ * width / 8, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t panel = i / in_, channel = i % in_;
        transforms_.filter(filter.data + channel * filter.in + panel * width, filter.tap, width, to + i * width,
                           panels_ * in_ * width);
      }
    });
  }

  bool Run(const float* filter) {
    const int64_t fit = (400 << 10) / (elements_ * (in_ + out_) * 4) / loops_.rows * loops_.rows;
    const int64_t most = std::clamp<int64_t>(fit, loops_.rows, 4 * loops_.rows);
    // Few tiles and a large filter: each of its elements is read once, by one core. Else tiles go all the way while
    // they are in a core's cache.
    const bool by_element = tiles_ <= 12 * most && filter_floats() > 1 << 17;
    orders.Enter(by_element ? 1 : 0);
    if (by_element) {
      Tensor v = k_.Temp(DT_FLOAT, Shape({elements_ * tiles_ * InStride()}));
      Tensor m = k_.Temp(DT_FLOAT, Shape({elements_ * tiles_ * OutStride()}));
      k_.Parallel(tiles_, elements_ * in_ / 4, [&](int64_t begin, int64_t end) {
        TransformInput(begin, end, v.mutable_data<float>() + begin * InStride(), tiles_);
      });
      k_.Parallel(elements_ * panels_, std::max<int64_t>(1, tiles_ * in_ * loops_.columns / 50),
                  [&](int64_t begin, int64_t end) {
                    for (int64_t i = begin; i < end; ++i) {
                      Multiply(v.data<float>(), filter, m.mutable_data<float>(), tiles_, i / panels_, i % panels_,
                               i % panels_ + 1);
                    }
                  });
      k_.Parallel(tiles_, elements_ * out_ / 4, [&](int64_t begin, int64_t end) {
        TransformOutput(m.data<float>() + begin * OutStride(), begin, end, tiles_);
      });
      return finite_;
    }
    const int64_t length = CeilDiv(tiles_, CeilDiv(tiles_, most)), blocks = CeilDiv(tiles_, length);
    const int64_t cost = elements_ * length * (in_ * out_ / 50 + (in_ + out_) / 4);
    k_.Parallel(blocks, cost, [&](int64_t begin, int64_t end) {
      Tensor v = k_.Temp(DT_FLOAT, Shape({elements_ * length * InStride()}));
      Tensor m = k_.Temp(DT_FLOAT, Shape({elements_ * length * OutStride()}));
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i * length, last = std::min(tiles_, first + length);
        TransformInput(first, last, v.mutable_data<float>(), length);
        for (int64_t e = 0; e < elements_; ++e) {
          Multiply(v.data<float>(), filter, m.mutable_data<float>(), length, e, 0, panels_, last - first);
        }
        TransformOutput(m.data<float>(), first, last, length);
      }
    });
    return finite_;
  }

 private:
  // A line more than the channels: rows of a tile that lie a page apart would share a cache's set.
  int64_t InStride() const { return in_ + 16; }
  int64_t OutStride() const { return out_ + 16; }

  // The filter with output channels side by side.
  Tensor Turn(FilterView& filter) const {
    Tensor turned = k_.Temp(DT_FLOAT, Shape({9, in_, out_}));
    for (int64_t t = 0; t < 9; ++t) {
      CpuLoops().turn_4(turned.mutable_data<char>() + t * in_ * out_ * 4, out_,
                        reinterpret_cast<const char*>(filter.data + t * filter.tap), filter.out, out_, in_);
    }
    filter = {turned.data<float>(), in_ * out_, out_, 1};
    return turned;
  }

  struct Corner {
    int64_t image, row, column;  // of the first result
  };
  Corner CornerOf(int64_t tile) const {
    const int64_t across = CeilDiv(c_.w.out[2], side_), down = CeilDiv(c_.w.out[1], side_);
    return {tile / (across * down), tile / across % down * side_, tile % across * side_};
  }

  void TransformInput(int64_t first, int64_t last, float* v, int64_t length) const {
    const float* pixels[36];
    for (int64_t tile = first; tile < last; ++tile, v += InStride()) {
      const Corner at = CornerOf(tile);
      const float* image = x_ + at.image * c_.w.InPixels() * in_;
      for (int64_t r = 0; r < size_; ++r) {
        const int64_t row = at.row - c_.w.pad[1] + r;
        for (int64_t s = 0; s < size_; ++s) {
          const int64_t column = at.column - c_.w.pad[2] + s;
          const bool inside = row >= 0 && row < c_.w.in[1] && column >= 0 && column < c_.w.in[2];
          pixels[r * size_ + s] = inside ? image + (row * c_.w.in[2] + column) * in_ : zeros_.data<float>();
        }
      }
      transforms_.input(pixels, in_, v, length * InStride());
    }
  }

  void Multiply(const float* v, const float* filter, float* m, int64_t length, int64_t element, int64_t first_panel,
                int64_t last_panel, int64_t count = -1) const {
    if (count < 0) count = length;
    const int64_t width = loops_.columns, rows = EvenRows(count, loops_.rows);
    v += element * length * InStride();
    m += element * length * OutStride();
    filter += element * panels_ * in_ * width;
    for (int64_t p = 0; p < in_; p += kTileDepth) {
      const int64_t d = std::min(kTileDepth, in_ - p);
      for (int64_t j = first_panel; j < last_panel; ++j) {
        for (int64_t i = 0; i < count; i += rows) {
          loops_.tile(d, v + i * InStride() + p, InStride(), filter + (j * in_ + p) * width, width,
                      m + i * OutStride() + j * width, OutStride(), static_cast<int>(std::min(rows, count - i)),
                      static_cast<int>(width), p > 0, nullptr);
        }
      }
    }
  }

  void TransformOutput(const float* m, int64_t first, int64_t last, int64_t length) {
    float* pixels[16];
    for (int64_t tile = first; tile < last; ++tile, m += OutStride()) {
      const Corner at = CornerOf(tile);
      const int64_t rows = std::min<int64_t>(side_, c_.w.out[1] - at.row),
                    columns = std::min<int64_t>(side_, c_.w.out[2] - at.column);
      float* corner = y_ + ((at.image * c_.w.out[1] + at.row) * c_.w.out[2] + at.column) * out_;
      for (int64_t r = 0; r < side_; ++r) {
        for (int64_t s = 0; s < side_; ++s) {
          pixels[r * side_ + s] = r < rows && s < columns ? corner + (r * c_.w.out[2] + s) * out_ : nullptr;
        }
      }
      if (!transforms_.output(m, length * OutStride(), out_, in_tiles_ ? &*in_tiles_ : nullptr, pixels))
        finite_ = false;
      if (in_tiles_) continue;
      for (int64_t r = 0; r < rows; ++r)
        epilogue_.Apply(DT_FLOAT, corner + r * c_.w.out[2] * out_, columns, out_, out_, 0);
    }
  }

  const KernelContext& k_;
  const Convolution& c_;
  const ConvLoops& loops_;
  const WinogradLoops& transforms_;
  const int64_t side_, size_, elements_, in_, out_, panels_, tiles_;
  const float* x_;
  float* y_;
  const Epilogue& epilogue_;
  const std::optional<TileEpilogue> in_tiles_;
  Tensor zeros_;
  std::atomic<bool> finite_ = true;
};

}  // namespace

int WinogradSide(const Convolution& c) {
  const Windows& w = c.w;
  if (c.groups != 1 || w.in[0] != 1 || w.out[0] != 1 || w.filter[0] != 1 || w.filter[1] != 3 || w.filter[2] != 3)
    return 0;
  if (w.pad[0] != 0 || w.stride[1] != 1 || w.stride[2] != 1 || w.dilation[1] != 1 || w.dilation[2] != 1) return 0;
  if (w.channels < 32 || w.channels % 16 != 0 || c.out_channels % CpuLoops().conv->columns != 0) return 0;
  // Nanoseconds of one core: multiplications, reading the filter, transforms.
  const double in = static_cast<double>(w.channels), out = static_cast<double>(c.out_channels);
  const auto cost = [&](double tiles, double elements, double transform) {
    return tiles * elements * in * out / 55 + elements * in * out * 4 / 15 + tiles * elements * (in + out) * transform;
  };
  double least = cost(static_cast<double>(w.batch * w.OutPixels()), 9, 0);
  int best = 0;
  for (const int side : {2, 4}) {
    const double needed = cost(static_cast<double>(Tiles(c, side)), (side + 2) * (side + 2), 0.4);
    if (needed < least) best = side, least = needed;
  }
  return best;
}

bool WinogradConvolve(const KernelContext& k, const Convolution& c, int side, const float* x, const FilterView& filter,
                      float* y, const Epilogue& epilogue, const HeldFilter* held) {
  Winograd winograd(k, c, side, x, y, epilogue);
  const Tensor packed = PackedOrKept(k, held, side == 2 ? "winograd 2" : "winograd 4", winograd.filter_floats(),
                                     Tiles(c, side), false, [&](float* to) { winograd.PackFilter(filter, to); });
  return winograd.Run(packed.data<float>());
}

}  // namespace penstock
