// Rows and slices picked by index.
#include "penstock/kernels/cpu/array/gather.h"

#include <algorithm>

#include "penstock/base/branches.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/array/copy.h"
#include "penstock/kernels/cpu/array/nd_index.h"
#include "penstock/tensor/elements.h"

namespace penstock {
namespace {

constinit BranchTable<10> row_widths{"gather/width",
                                     {"1", "2", "4", "8", "16", "64", "128", "256", "other", "objects"}};

// The position of the first index outside [0, limit), or -1. One comparison without sign covers both ends.
template <class I>
int64_t FirstBad(const I* indices, int64_t n, int64_t limit) {
  bool bad = false;
  for (int64_t i = 0; i < n; ++i)
    bad |= static_cast<uint64_t>(static_cast<int64_t>(indices[i])) >= static_cast<uint64_t>(limit);
  if (!bad) return -1;
  for (int64_t i = 0; i < n; ++i) {
    if (indices[i] < 0 || indices[i] >= limit) return i;
  }
  return -1;
}

int64_t FirstBad(const Tensor& indices, int64_t limit) {
  const int64_t n = indices.num_elements();
  switch (indices.dtype()) {
    case DT_INT16: return FirstBad(indices.data<int16_t>(), n, limit);
    case DT_INT32: return FirstBad(indices.data<int32_t>(), n, limit);
    default: return FirstBad(indices.data<int64_t>(), n, limit);
  }
}

// out[i] = table[index(i)], rows of `width` bytes; one loop for each common width.
template <int kWidth, class I>
void PickRows(char* to, const char* table, const I* indices, int64_t begin, int64_t end, int64_t width) {
  constexpr int64_t kAhead = 16;
  if constexpr (kWidth > 0) width = kWidth;
  for (int64_t i = begin; i < end; ++i) {
    if (i + kAhead < end) {
      const char* next = table + static_cast<int64_t>(indices[i + kAhead]) * width;
      for (int64_t line = 0; line < std::min<int64_t>(width, 512); line += 64) __builtin_prefetch(next + line);
    }
    std::memcpy(to + i * width, table + static_cast<int64_t>(indices[i]) * width, width);
  }
}

// The branch for rows of `width` bytes.
int RowKind(DataType type, int64_t width) {
  constexpr int64_t kWidths[] = {1, 2, 4, 8, 16, 64, 128, 256};
  if (!IsPod(type)) return 9;
  return static_cast<int>(std::find(std::begin(kWidths), std::end(kWidths), width) - std::begin(kWidths));
}

template <class I>
void PickRows(const KernelContext& k, DataType type, char* to, const char* table, const I* indices, int64_t n,
              int64_t row) {
  const int64_t width = row * static_cast<int64_t>(DataTypeSize(type));
  row_widths.Enter(RowKind(type, width));
  k.Parallel(n, 2 + width / 8, [&](int64_t begin, int64_t end) {
    if (!IsPod(type)) {
      for (int64_t i = begin; i < end; ++i) {
        CopyElements(type, to + i * width, table + static_cast<int64_t>(indices[i]) * width, row);
      }
      return;
    }
    switch (width) {
      case 1: return PickRows<1>(to, table, indices, begin, end, width);
      case 2: return PickRows<2>(to, table, indices, begin, end, width);
      case 4: return PickRows<4>(to, table, indices, begin, end, width);
      case 8: return PickRows<8>(to, table, indices, begin, end, width);
      case 16: return PickRows<16>(to, table, indices, begin, end, width);
      case 64: return PickRows<64>(to, table, indices, begin, end, width);
      case 128: return PickRows<128>(to, table, indices, begin, end, width);
      case 256: return PickRows<256>(to, table, indices, begin, end, width);
      default: return PickRows<0>(to, table, indices, begin, end, width);
    }
  });
}

void PickRows(const KernelContext& k, Tensor& out, int64_t out_at, const Tensor& params, int64_t params_at,
              const Tensor& indices, int64_t first, int64_t n, int64_t row) {
  char* to = static_cast<char*>(At(out, out_at));
  const char* table = static_cast<const char*>(At(params, params_at));
  switch (indices.dtype()) {
    case DT_INT16: return PickRows(k, out.dtype(), to, table, indices.data<int16_t>() + first, n, row);
    case DT_INT32: return PickRows(k, out.dtype(), to, table, indices.data<int32_t>() + first, n, row);
    default: return PickRows(k, out.dtype(), to, table, indices.data<int64_t>() + first, n, row);
  }
}

}  // namespace

void GatherInto(const KernelContext& k, const Tensor& params, const Tensor& indices, const GatherSizes& sizes,
                Tensor& out) {
  const int64_t bad = FirstBad(indices, sizes.limit);
  if (bad >= 0) {
    throw InvalidArgument("indices", Position{indices.shape(), bad}, " = ", IndexAt(indices, bad), " is not in [0, ",
                          sizes.limit, ")");
  }
  const int64_t picked = indices.num_elements() / sizes.batches;
  for (int64_t b = 0; b < sizes.batches; ++b) {
    for (int64_t o = 0; o < sizes.outer; ++o) {
      const int64_t part = b * sizes.outer + o;
      PickRows(k, out, part * picked * sizes.inner, params, part * sizes.limit * sizes.inner, indices, b * picked,
               picked, sizes.inner);
    }
  }
}

namespace {

struct Gather {
  int64_t batch_attr = 0;

  explicit Gather(const NodeView& node) : batch_attr(node.attr_or<int64_t>("batch_dims", 0)) {}
  void operator()(KernelContext& k) const {
    const Tensor &params = k.input(0), &indices = k.input(1);
    k.Require(params.rank() >= 1, "params must be at least 1 dimensional");
    int64_t axis = 0;
    if (k.num_inputs() > 2) {
      k.Require(k.input(2).rank() == 0, "axis must be scalar");
      axis = k.Int(2);
      k.Require(axis >= -params.rank() && axis < params.rank(), "Expected axis in the range [", -params.rank(), ", ",
                params.rank(), "), but got ", axis);
      if (axis < 0) axis += params.rank();
    }
    int64_t batch = batch_attr;
    if (batch != 0) {
      k.Require(batch >= -indices.rank() && batch <= indices.rank(), "Expected batch_dims in the range [",
                -indices.rank(), ", ", indices.rank(), "], but got ", batch);
      if (batch < 0) batch += indices.rank();
      k.Require(batch < params.rank(), "batch_dims (", batch, ") must be less than rank(params) (", params.rank(),
                ").");
      k.Require(axis >= batch, "batch_dims (", batch, ") must be less than or equal to axis (", axis, ").");
      for (int i = 0; i < batch; ++i) {
        k.Require(params.dim(i) == indices.dim(i), "params.shape[", i, "]: ", params.dim(i),
                  " should be equal to indices.shape[", i, "]: ", indices.dim(i));
      }
    }
    int64_t batches = 1, outer = 1, inner = 1;
    std::vector<int64_t> dims;
    for (int i = 0; i < axis; ++i) {
      (i < batch ? batches : outer) *= params.dim(i);
      dims.push_back(params.dim(i));
    }
    for (int i = static_cast<int>(batch); i < indices.rank(); ++i) dims.push_back(indices.dim(i));
    for (int i = static_cast<int>(axis) + 1; i < params.rank(); ++i) {
      inner *= params.dim(i);
      dims.push_back(params.dim(i));
    }
    const int64_t limit = params.dim(static_cast<int>(axis));
    Tensor& out = k.Output(0, Shape(dims));
    if (out.num_elements() == 0) return;
    GatherInto(k, params, indices, {.batches = batches, .outer = outer, .limit = limit, .inner = inner}, out);
  }
};

struct GatherNd {
  bool ignore_bad;

  explicit GatherNd(const NodeView& node) : ignore_bad(IgnoresBad(node)) {}
  void operator()(KernelContext& k) const {
    const Tensor &params = k.input(0), &indices = k.input(1);
    k.Require(params.rank() >= 1, "params must be at least a vector");
    k.Require(indices.rank() >= 1, "indices must be at least a vector");
    const int64_t depth = indices.dim(indices.rank() - 1);
    k.Require(depth <= params.rank(), "index innermost dimension length must be <= params rank; saw: ", depth, " vs. ",
              params.rank());
    std::vector<int64_t> dims(indices.shape().begin(), indices.shape().end() - 1);
    int64_t n = 1, row = 1;
    for (const int64_t d : dims) n *= d;
    for (int i = static_cast<int>(depth); i < params.rank(); ++i) {
      dims.push_back(params.dim(i));
      row *= params.dim(i);
    }
    Tensor& out = k.Output(0, Shape(dims));
    if (out.num_elements() == 0) return;
    k.Require(params.num_elements() > 0,
              "Requested more than 0 entries, but params is empty.  Params shape: ", params.shape());
    std::vector<int64_t> rows = RowNumbers(indices, params.shape(), "param shape", ignore_bad), absent;
    for (int64_t i = 0; i < n; ++i) {
      if (rows[i] >= 0) continue;
      absent.push_back(i);
      rows[i] = 0;
    }
    PickRows(k, params.dtype(), static_cast<char*>(out.mutable_raw()), static_cast<const char*>(params.raw()),
             rows.data(), n, row);
    for (const int64_t i : absent) ZeroElements(k, out.dtype(), At(out, i * row), row);
  }
};

}  // namespace

void RegisterGatherKernels(KernelRegistry& kernels) {
  kernels.Add<Gather>("Gather");
  kernels.Add<Gather>("GatherV2");
  kernels.Add<GatherNd>("GatherNd");
}

}  // namespace penstock
