#include "penstock/kernels/cpu/nn/conv_tiles.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "penstock/base/branches.h"
#include "penstock/kernels/cpu/loops.h"
#include "penstock/kernels/cpu/nn/dnn.h"
#include "penstock/kernels/cpu/nn/packed_filter.h"
#include "penstock/kernels/cpu/tiles.h"

namespace penstock {
namespace {

enum class Way { kSums, kDilated, kWinograd2, kWinograd4, kNotFinite };
constinit BranchTable<5> ways{"convolution/tiles",
                              {"sums", "dilated", "winograd 2", "winograd 4", "winograd not finite, then sums"}};
enum class Copies { kNone, kAll, kByTile };
constinit BranchTable<3> copies_of{"convolution/tiles/windows", {"read in place", "copied all", "copied by tile"}};
constinit BranchTable<2> filters{"convolution/tiles/filter", {"packed", "read in place"}};
enum class After { kNothing, kInTiles, kByRows };
constinit BranchTable<3> epilogues{"convolution/tiles/epilogue", {"none", "in tiles", "by rows"}};

// A pixel's window as a row of numbers, tap after tap: copied piece by piece, since most of it is contiguous.
class WindowRow {
 public:
  explicit WindowRow(const Convolution& c) : w_(c.w) {
    // Taps beside each other, if nothing lies between them, are one line.
    whole_lines_ = w_.dilation[2] == 1;
    line_ = (whole_lines_ ? w_.filter[2] : 1) * w_.channels;
    line_taps_ = whole_lines_ ? 1 : w_.filter[2];
  }
  // Elements [begin, end) of the row of window `pixel`.
  void Copy(const float* x, int64_t pixel, int64_t begin, int64_t end, float* to) const {
    const int64_t o2 = pixel % w_.out[2], o1 = pixel / w_.out[2] % w_.out[1],
                  o0 = pixel / (w_.out[2] * w_.out[1]) % w_.out[0];
    x += pixel / w_.OutPixels() * w_.InPixels() * w_.channels;
    while (begin < end) {
      const int64_t line = begin / line_, first = line * line_, last = std::min(end, first + line_);
      const int64_t t2 = line % line_taps_, t1 = line / line_taps_ % w_.filter[1],
                    t0 = line / (line_taps_ * w_.filter[1]);
      const int64_t i0 = o0 * w_.stride[0] - w_.pad[0] + t0 * w_.dilation[0];
      const int64_t i1 = o1 * w_.stride[1] - w_.pad[1] + t1 * w_.dilation[1];
      const int64_t i2 = o2 * w_.stride[2] - w_.pad[2] + t2 * w_.dilation[2];
      const int64_t taps = whole_lines_ ? w_.filter[2] : 1;
      int64_t from = begin - first, until = last - first;  // what of the line is asked for
      int64_t inside = std::max<int64_t>(0, -i2) * w_.channels;
      int64_t outside = std::min(taps, w_.in[2] - i2) * w_.channels;
      if (i0 < 0 || i0 >= w_.in[0] || i1 < 0 || i1 >= w_.in[1]) outside = 0;
      inside = std::clamp(inside, from, until);
      outside = std::clamp(outside, inside, until);
      std::fill(to, to + (inside - from), 0.0f);
      if (outside > inside) {
        std::memcpy(to + (inside - from), x + ((i0 * w_.in[1] + i1) * w_.in[2] + i2) * w_.channels + inside,
                    (outside - inside) * sizeof(float));
      }
      std::fill(to + (outside - from), to + (until - from), 0.0f);
      to += until - from;
      begin = last;
    }
  }

 private:
  const Windows& w_;
  bool whole_lines_;
  int64_t line_, line_taps_;
};

// The epilogue of the channels from this one on.
TileEpilogue From(TileEpilogue e, int64_t channel) {
  e.bias += channel;
  if (e.scale) e.mean += channel, e.scale += channel;
  return e;
}

}  // namespace

std::optional<TileEpilogue> InTiles(const Epilogue& epilogue) {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  const bool relu = epilogue.activation == Epilogue::kRelu, relu6 = epilogue.activation == Epilogue::kRelu6;
  if (!epilogue.bias || (epilogue.activation != Epilogue::kNone && !relu && !relu6)) return std::nullopt;
  return TileEpilogue{static_cast<const float*>(epilogue.bias), static_cast<const float*>(epilogue.mean),
                      static_cast<const float*>(epilogue.scale), relu || relu6 ? 0 : -kInfinity, relu6 ? 6 : kInfinity};
}

void SumConvolve(const KernelContext& k, const Convolution& c, const float* x, const FilterView& filter, float* y,
                 const Epilogue& epilogue, const HeldFilter* held) {
  const Loops& all = CpuLoops();
  const ConvLoops& loops = *all.conv;
  const int64_t rows = c.w.batch * c.w.OutPixels(), n = c.out_channels, channels = c.w.channels;
  const int64_t depth = c.w.Taps() * channels, width = loops.columns, panels = CeilDiv(n, width);
  // Few tiles of rows read the filter as fast as packing would. They go along its rows, some at a time, which
  // processors foresee; in its packed form too, so that sums are the same.
  const bool few = rows <= 4 * loops.rows;
  const int64_t deep = few ? 32 : kTileDepth;
  const bool lies =
      few && n % width == 0 && filter.out == 1 && filter.in == n && (c.w.Taps() == 1 || filter.tap == channels * n);
  const Tensor packed = PackedOrKept(k, held, "tiles", panels * width * depth, rows, lies, [&](float* to) {
    k.Parallel(panels, depth * width / 4, [&](int64_t begin, int64_t end) {
      for (int64_t j = begin; j < end; ++j) {
        for (int64_t t = 0; t < c.w.Taps(); ++t) {
          all.gemm_f32.pack_b(filter.data + t * filter.tap + j * width * filter.out, filter.out, filter.in,
                              std::min(width, n - j * width), channels, to + (j * depth + t * channels) * width);
        }
      }
    });
  });
  filters.Enter(packed.initialized() ? 0 : 1);
  // Element (p, j) of panel i is at b[i * next_panel + p * ldb + j].
  const float* b = packed.initialized() ? packed.data<float>() : filter.data;
  const int64_t ldb = packed.initialized() ? width : n, next_panel = packed.initialized() ? depth * width : width;
  // Windows are laid side by side: all of them if there are few, else those of a tile when it needs them.
  const WindowRow window(c);
  bool copies = !IsProduct(c);
  Tensor unrolled;
  if (copies && rows <= 20 * loops.rows) {
    unrolled = k.Temp(DT_FLOAT, Shape({rows, depth}));
    k.Parallel(rows, std::max<int64_t>(1, depth / 4), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) window.Copy(x, i, 0, depth, unrolled.mutable_data<float>() + i * depth);
    });
    x = unrolled.data<float>();
    copies = false;
  }
  copies_of.Enter(copies ? Copies::kByTile : unrolled.initialized() ? Copies::kAll : Copies::kNone);
  const std::optional<TileEpilogue> in_tiles = InTiles(epilogue);
  epilogues.Enter(!epilogue.bias ? After::kNothing : in_tiles ? After::kInTiles : After::kByRows);
  // With fewer rows than 16, to read the filter takes longer than to multiply.
  const double flops = 2.0 * static_cast<double>(std::max<int64_t>(16, rows)) * static_cast<double>(n * depth);
  const TaskGrid grid = CutTasks(rows, loops.rows, panels, width,
                                 std::clamp<int64_t>(static_cast<int64_t>(flops / 6e6), 1, 64), copies ? 4 : 1);
  const int64_t task_rows = CeilDiv(rows, grid.down), task_panels = CeilDiv(panels, grid.across);
  const int64_t cost = static_cast<int64_t>(flops / 100 / static_cast<double>(grid.down * grid.across));
  k.Parallel(grid.down * grid.across, std::max<int64_t>(1, cost), [&](int64_t begin, int64_t end) {
    constexpr int64_t kMostRows = 12, kBlockRows = 20;
    alignas(64) float copied[kMostRows * (kTileDepth + 16)];
    for (int64_t task = begin; task < end; ++task) {
      const int64_t first = task / grid.across * task_rows, last = std::min(rows, first + task_rows);
      const int64_t first_panel = task % grid.across * task_panels,
                    last_panel = std::min(panels, first_panel + task_panels);
      if (first >= last || first_panel >= last_panel) continue;
      const int64_t tile = EvenRows(last - first, loops.rows), block = kBlockRows * tile;
      const int64_t channel = first_panel * width, count = std::min(n, last_panel * width) - channel;
      for (int64_t from = first; from < last; from += block) {
        for (int64_t p = 0; p < depth; p += deep) {
          const int64_t d = std::min(deep, depth - p);
          for (int64_t i = from; i < std::min(last, from + block); i += tile) {
            const int64_t m = std::min(tile, last - i);
            const float* a = x + i * depth + p;
            int64_t lda = depth;
            if (copies) {
              a = copied, lda = kTileDepth + 16;
              for (int64_t r = 0; r < m; ++r) window.Copy(x, i + r, p, p + d, copied + r * lda);
            }
            const bool complete = p + d == depth;
            for (int64_t j = first_panel; j < last_panel; ++j) {
              TileEpilogue finish;
              if (complete && in_tiles) finish = From(*in_tiles, j * width);
              loops.tile(d, a, lda, b + j * next_panel + p * ldb, ldb, y + i * n + j * width, n, static_cast<int>(m),
                         static_cast<int>(std::min(width, n - j * width)), p > 0,
                         complete && in_tiles ? &finish : nullptr);
            }
            if (complete && !in_tiles) epilogue.Apply(DT_FLOAT, y + i * n + channel, m, count, n, channel);
          }
        }
      }
    }
  });
}

bool TileConvolve(const KernelContext& k, const Convolution& c, const float* x, const FilterView& filter, float* y,
                  const Epilogue& epilogue, const HeldFilter* held) {
  const int64_t n = c.out_channels, depth = c.w.Taps() * c.w.channels;
  if (c.groups != 1 || depth < 16) return false;
  // Pieces of windows are too short to copy.
  if (!IsProduct(c) && c.w.channels < 16) return false;
  // Many taps: copying the windows takes too much of the time, and taps outside of the image are zeros to multiply.
  // oneDNN leaves them out, but wants whole vectors of channels.
  const bool whole = c.w.channels % 16 == 0 && n % 16 == 0;
  if (c.w.Taps() >= 16 && (c.w.channels <= 64 || whole) && Dnn()) return false;
  const ConvLoops& loops = *CpuLoops().conv;
  // The last tile of columns would be mostly empty.
  if (CeilDiv(n, loops.columns) * loops.columns * 4 > n * 5) return false;
  if (const int side = WinogradSide(c); side > 0) {
    const bool finite = WinogradConvolve(k, c, side, x, filter, y, epilogue, held);
    ways.Enter(!finite ? Way::kNotFinite : side == 2 ? Way::kWinograd2 : Way::kWinograd4);
    if (finite) return true;
    held = nullptr;
  } else if (c.w.dilation[1] > 1 || c.w.dilation[2] > 1) {
    if (const Convolution plain = WithoutDilation(c); plain.w.batch > 0 && WinogradSide(plain) > 0) {
      ways.Enter(Way::kDilated);
      return DilatedConvolve(k, c, plain, x, filter, y, epilogue, held);
    }
  }
  ways.Enter(Way::kSums);
  SumConvolve(k, c, x, filter, y, epilogue, held);
  return true;
}

}  // namespace penstock
