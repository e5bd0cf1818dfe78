#include "penstock/kernels/cpu/nn/dnn.h"

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>

#include "penstock/base/branches.h"
#include "penstock/kernels/cpu/loops.h"
#include "penstock/kernels/cpu/nn/nn_loops.h"

namespace penstock {
namespace {

enum class Way { kSmall, kNoModule, kNoPlan, kWhole, kImages, kRows };
constinit BranchTable<6> ways{"convolution/onednn",
                              {"too small", "no module", "no plan", "one piece", "pieces of images", "pieces of rows"}};
enum class Layout { kPlain, kOnePacked, kSumOfSame, kSumOfDifferent };
constinit BranchTable<4> layouts{"convolution/onednn/filter_gradient",
                                 {"plain", "packed", "sum of equal pieces", "sum of different pieces"}};

const PenstockDnnApi* Open() {
  const char* wish = std::getenv("PENSTOCK_ONEDNN");
  if (wish && std::string_view(wish) == "0") return nullptr;
  std::string folder;
  if (const char* given = std::getenv("PENSTOCK_NATIVE_DIR")) {
    folder = given;
  } else {
    Dl_info self;
    if (!dladdr(reinterpret_cast<void*>(&Dnn), &self) || !self.dli_fname) return nullptr;
    const std::string path = self.dli_fname;
    const size_t slash = path.rfind('/');
    folder = slash == std::string::npos ? "." : path.substr(0, slash);
  }
  void* module = dlopen((folder + "/libpenstock_onednn.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!module) return nullptr;
  const auto entry = reinterpret_cast<PenstockDnnEntry>(dlsym(module, PENSTOCK_DNN_ENTRY));
  return entry ? entry() : nullptr;
}

struct PlanRelease {
  void operator()(void* plan) const { Dnn()->conv_release(plan); }
};
using PlanPtr = std::unique_ptr<void, PlanRelease>;

// Images [first, first + count) of a batch; of a forward convolution also only some rows of windows.
struct Piece {
  PenstockDnnConv conv;
  int64_t a = 0, b = 0, result = 0;  // where it begins, in elements
  PlanPtr plan;
  int same_as = -1;  // an earlier piece of the same geometry
  Tensor packed;     // its filter
};

PenstockDnnConv Describe(PenstockDnnConvKind kind, const Convolution& c, int64_t batch) {
  PenstockDnnConv d;
  std::memset(&d, 0, sizeof d);
  d.kind = kind;
  d.spatial = c.w.in[0] == 1 && c.w.filter[0] == 1 && c.w.out[0] == 1 && c.w.stride[0] == 1 ? 2 : 3;
  d.batch = batch;
  d.groups = c.groups;
  d.in_channels = c.w.channels;
  d.out_channels = c.out_channels;
  for (int i = 0; i < 3; ++i) {
    d.in[i] = c.w.in[i];
    d.filter[i] = c.w.filter[i];
    d.out[i] = c.w.out[i];
    d.stride[i] = c.w.stride[i];
    d.dilation[i] = c.w.dilation[i];
    d.pad[i] = c.w.pad[i];
  }
  return d;
}

// Rows [begin, end) of windows of one image: the convolution of the rows of pixels that they see.
void CutRows(PenstockDnnConv& d, int64_t begin, int64_t end, int64_t* first_pixel_row) {
  const int at = d.spatial == 2 ? 1 : 0;
  const int64_t from = begin * d.stride[at] - d.pad[at];
  const int64_t to = (end - 1) * d.stride[at] - d.pad[at] + (d.filter[at] - 1) * d.dilation[at] + 1;
  const int64_t first = std::max<int64_t>(0, from), last = std::max(first + 1, std::min(d.in[at], to));
  d.pad[at] = first - from;
  d.in[at] = last - first;
  d.out[at] = end - begin;
  *first_pixel_row = first;
}

std::vector<Piece> Cut(PenstockDnnConvKind kind, const Convolution& c, double flops) {
  const int64_t x_image = c.w.InPixels() * c.w.channels, y_image = c.w.OutPixels() * c.out_channels;
  int64_t wanted = std::clamp<int64_t>(static_cast<int64_t>(flops / 2e7), 1, 32);
  // Each piece of a filter's gradient has a result of its own to add up.
  if (kind == PENSTOCK_DNN_FILTER_GRAD) wanted = std::min<int64_t>(wanted, 4);
  const int64_t images = (c.w.batch + wanted - 1) / wanted;
  std::vector<Piece> pieces;
  for (int64_t b = 0; b < c.w.batch; b += images) {
    const int64_t count = std::min(images, c.w.batch - b);
    const PenstockDnnConv whole = Describe(kind, c, count);
    const int at = whole.spatial == 2 ? 1 : 0;
    // Every window must see some pixels; with wide explicit padding that need not be so.
    const int d = at == 1 ? 1 : 0;
    const int64_t reach = (c.w.filter[d] - 1) * c.w.dilation[d] + 1;
    const bool may_cut = kind == PENSTOCK_DNN_FORWARD && images == 1 && c.w.pad[d] < reach && c.w.pad_after[d] < reach;
    const int64_t parts = may_cut ? std::min(wanted / c.w.batch, c.w.out[d]) : 1;
    if (parts <= 1) {
      Piece p;
      p.conv = whole;
      p.a = b * (kind == PENSTOCK_DNN_INPUT_GRAD ? y_image : x_image);
      p.b = kind == PENSTOCK_DNN_FILTER_GRAD ? b * y_image : 0;
      p.result = kind == PENSTOCK_DNN_FILTER_GRAD ? 0 : b * (kind == PENSTOCK_DNN_FORWARD ? y_image : x_image);
      pieces.push_back(std::move(p));
      continue;
    }
    const int64_t rows = (c.w.out[at] + parts - 1) / parts;
    for (int64_t r = 0; r < c.w.out[at]; r += rows) {
      Piece p;
      p.conv = whole;
      int64_t first;
      CutRows(p.conv, r, std::min(c.w.out[at], r + rows), &first);
      p.a = b * x_image + first * (x_image / c.w.in[at]);
      p.result = b * y_image + r * (y_image / c.w.out[at]);
      pieces.push_back(std::move(p));
    }
  }
  return pieces;
}

void AddInto(const KernelContext& k, float* sum, const float* x, int64_t n) {
  k.Parallel((n + 4095) / 4096, 1000, [&](int64_t begin, int64_t end) {
    const int64_t first = begin * 4096;
    CpuLoops().nn->add_into(sum + first, x + first, std::min(n, end * 4096) - first);
  });
}

// The filters of pieces with plans of their own, in their plans' layouts: from what is kept, or packed now.
bool PackFilters(const KernelContext& k, const PenstockDnnApi* api, std::vector<Piece>& pieces, const void* filter,
                 const HeldFilter* held) {
  bool keep = false;
  std::shared_ptr<const PackedFilter::Kept> kept;
  if (held) kept = held->packed.Find(held->tensor, &keep);
  PackedFilter::Kept fresh;
  size_t next = 0;
  for (Piece& p : pieces) {
    if (p.same_as >= 0) continue;
    const int64_t bytes = static_cast<int64_t>(api->conv_packed_bytes(p.plan.get()));
    if (bytes == 0) continue;
    const std::string key(reinterpret_cast<const char*>(&p.conv), sizeof p.conv);
    if (kept && next < kept->keys.size() && kept->keys[next] == key) {
      p.packed = kept->packed[next++];
      continue;
    }
    kept.reset();
    p.packed = k.Temp(DT_UINT8, Shape({bytes}));
    if (api->conv_pack(p.plan.get(), filter, p.packed.mutable_raw())) return false;
    fresh.keys.push_back(key);
    fresh.packed.push_back(p.packed);
  }
  if (keep && next == 0 && !fresh.packed.empty()) {
    fresh.plain = held->tensor;
    held->packed.Keep(std::move(fresh));
  }
  return true;
}

}  // namespace

const PenstockDnnApi* Dnn() {
  static const PenstockDnnApi* const api = Open();
  return api;
}

bool DnnConvolve(const KernelContext& k, PenstockDnnConvKind kind, const Convolution& c, const void* a, const void* b,
                 void* result, const Epilogue& epilogue, const HeldFilter* held) {
  const int64_t filter = c.w.Taps() * c.GroupIn() * c.out_channels;
  const double flops = 2.0 * static_cast<double>(c.w.batch * c.w.OutPixels()) * static_cast<double>(filter);
  // Small ones are done before a plan is found.
  if (flops < 50000) return ways.Enter(Way::kSmall), false;
  const PenstockDnnApi* api = Dnn();
  if (!api) return ways.Enter(Way::kNoModule), false;
  std::vector<Piece> pieces = Cut(kind, c, flops);
  for (size_t i = 0; i < pieces.size(); ++i) {
    Piece& p = pieces[i];
    for (size_t j = 0; j < i && p.same_as < 0; ++j) {
      if (pieces[j].same_as < 0 && !std::memcmp(&pieces[j].conv, &p.conv, sizeof p.conv))
        p.same_as = static_cast<int>(j);
    }
    if (p.same_as >= 0) continue;
    p.plan.reset(api->conv_plan(&p.conv));
    if (!p.plan) return ways.Enter(Way::kNoPlan), false;
  }
  const bool rows = kind == PENSTOCK_DNN_FORWARD && static_cast<int64_t>(pieces.size()) > c.w.batch;
  ways.Enter(pieces.size() == 1 ? Way::kWhole : rows ? Way::kRows : Way::kImages);
  if (kind != PENSTOCK_DNN_FILTER_GRAD && !PackFilters(k, api, pieces, b, held)) return false;
  const auto origin = [&](const Piece& p) -> const Piece& { return p.same_as < 0 ? p : pieces[p.same_as]; };
  // A filter's gradient: sums of the pieces of one geometry in the plan's layout, then back to the plain one.
  const bool sums = kind == PENSTOCK_DNN_FILTER_GRAD;
  if (sums) {
    for (Piece& p : pieces) {
      const int64_t bytes = static_cast<int64_t>(api->conv_packed_bytes(origin(p).plan.get()));
      if (pieces.size() > 1 || bytes) p.packed = k.Temp(DT_UINT8, Shape({bytes ? bytes : filter * 4}));
    }
  }
  std::atomic<bool> failed = false;
  const int64_t cost = static_cast<int64_t>(flops / 100 / static_cast<double>(pieces.size()));
  k.Parallel(static_cast<int64_t>(pieces.size()), std::max<int64_t>(1, cost), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      Piece& p = pieces[i];
      const Piece& o = origin(p);
      const void* second = kind != PENSTOCK_DNN_FILTER_GRAD && o.packed.initialized()
                               ? o.packed.raw()
                               : static_cast<const float*>(b) + p.b;
      void* to = sums && p.packed.initialized() ? p.packed.mutable_raw() : static_cast<float*>(result) + p.result;
      if (api->conv_run(o.plan.get(), static_cast<const float*>(a) + p.a, second, to)) failed = true;
      const int64_t windows = p.conv.batch * p.conv.out[0] * p.conv.out[1] * p.conv.out[2];
      epilogue.Apply(DT_FLOAT, to, windows, c.out_channels, c.out_channels, 0);
    }
  });
  if (failed) return false;
  if (sums) {
    const bool differ = std::any_of(pieces.begin() + 1, pieces.end(), [](const Piece& p) { return p.same_as < 0; });
    layouts.Enter(!pieces[0].packed.initialized() ? Layout::kPlain
                  : pieces.size() == 1            ? Layout::kOnePacked
                  : differ                        ? Layout::kSumOfDifferent
                                                  : Layout::kSumOfSame);
  }
  if (!sums || !pieces[0].packed.initialized()) return true;
  bool first = true;
  for (Piece& p : pieces) {
    if (p.same_as >= 0) continue;
    for (Piece& other : pieces) {
      if (other.same_as < 0 || &pieces[other.same_as] != &p) continue;
      AddInto(k, p.packed.mutable_data<float>(), other.packed.data<float>(),
              static_cast<int64_t>(p.packed.bytes() / 4));
    }
    Tensor plain;
    float* to = static_cast<float*>(result);
    if (!first) plain = k.Temp(DT_FLOAT, Shape({filter})), to = plain.mutable_data<float>();
    if (api->conv_packed_bytes(p.plan.get()) == 0) {
      std::memcpy(to, p.packed.raw(), filter * sizeof(float));
    } else if (api->conv_unpack(p.plan.get(), p.packed.raw(), to)) {
      return false;
    }
    if (!first) AddInto(k, static_cast<float*>(result), to, filter);
    first = false;
  }
  return true;
}

namespace {

// A matrix that lies by rows or by columns with `ld` between them; false if it lies in another way.
bool Lies(const MatrixView& v, int64_t rows, int64_t columns, int64_t* ld, int* transposed) {
  if (v.conjugate) return false;
  if (v.column_stride == 1 && v.row_stride >= columns) {
    *ld = v.row_stride;
    *transposed = 0;
    return true;
  }
  *ld = v.column_stride;
  *transposed = 1;
  return v.row_stride == 1 && v.column_stride >= rows;
}

// How a product is cut: each piece of C copies its rows of A and its columns of B into the library's own layout, so few
// pieces, near squares, copy least; many keep more cores busy.
struct Grid {
  int64_t down = 1, across = 1;
};

// Multiples of 48 are whole tiles of the library's loops.
int64_t PieceLength(int64_t length, int64_t pieces) { return ((length + pieces - 1) / pieces + 47) / 48 * 48; }

Grid CutProduct(double flops, int64_t m, int64_t n) {
  const int64_t wanted = flops > 1e11 ? 16 : flops > 1e10 ? 8 : flops > 5e7 ? 4 : 2;
  Grid best;
  double least = 0;
  for (int64_t down = 1; down <= wanted; ++down) {
    if (wanted % down) continue;
    const int64_t across = wanted / down;
    // What is copied; a piece narrower than a tile wastes the rest of it.
    const double cost =
        static_cast<double>(across * down) * static_cast<double>(PieceLength(m, down) + PieceLength(n, across));
    if (least == 0 || cost < least) best = {down, across}, least = cost;
  }
  return best;
}

}  // namespace

bool DnnGemm(const KernelContext& k, DataType type, int64_t m, int64_t n, int64_t depth, const MatrixView& a,
             const MatrixView& b, void* c, int64_t ldc, const Epilogue& epilogue) {
  const double flops = 2.0 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(depth);
  // The own kernels are as fast at small products, longer where B lies by rows, and at those of few rows, which only
  // read a matrix once.
  const double least = type == DT_FLOAT && b.column_stride == 1 ? 4e7 : 1e7;
  if ((type != DT_FLOAT && type != DT_BFLOAT16) || flops < least || m < 8 || n < 8) return false;
  int64_t lda, ldb;
  int ta, tb;
  if (!Lies(a, m, depth, &lda, &ta) || !Lies(b, depth, n, &ldb, &tb) || ldc < n) return false;
  const PenstockDnnApi* api = Dnn();
  if (!api) return false;
  const Grid grid = CutProduct(flops, m, n);
  const int64_t pieces = grid.down * grid.across;
  const int64_t rows = PieceLength(m, grid.down), columns = PieceLength(n, grid.across);
  const size_t size = DataTypeSize(type);
  std::atomic<bool> failed = false;
  const int64_t cost = static_cast<int64_t>(flops / 150 / static_cast<double>(pieces));
  k.Parallel(pieces, std::max<int64_t>(1, cost), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i % grid.down * rows, column = i / grid.down * columns;
      if (row >= m || column >= n) continue;
      const auto* pa = static_cast<const char*>(a.data) + row * a.row_stride * size;
      const auto* pb = static_cast<const char*>(b.data) + column * b.column_stride * size;
      auto* pc = static_cast<char*>(c) + (row * ldc + column) * size;
      const int64_t height = std::min(rows, m - row), width = std::min(columns, n - column);
      if (api->matmul(type, height, width, depth, pa, lda, ta, pb, ldb, tb, pc, ldc)) failed = true;
      epilogue.Apply(type, pc, height, width, ldc, column);
    }
  });
  return !failed;
}

}  // namespace penstock
