// Reductions of rows by segment.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "penstock/base/branches.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/array/row_shares.h"
#include "penstock/kernels/cpu/math/elementwise.h"
#include "penstock/ops/integers.h"
#include "penstock/tensor/elements.h"

namespace penstock {
namespace {

constinit BranchTable<3> segment_rows{"segment/rows", {"narrow", "sums of floats", "others"}};
constinit BranchTable<2> segment_orders{"segment/order", {"ascending", "any"}};

enum class Kind { kSum, kProd, kMax, kMin, kMean, kSqrtN };

BinaryOp JoinOf(Kind kind) {
  switch (kind) {
    case Kind::kProd: return BinaryOp::kMul;
    case Kind::kMax: return BinaryOp::kMaximum;
    case Kind::kMin: return BinaryOp::kMinimum;
    default: return BinaryOp::kAdd;
  }
}

// Calls fn with a value of the C++ type behind `type`.
template <class Fn>
void WithType(DataType type, Fn fn) {
  switch (type) {
    case DT_FLOAT: return fn(float());
    case DT_DOUBLE: return fn(double());
    case DT_INT8: return fn(int8_t());
    case DT_INT16: return fn(int16_t());
    case DT_INT32: return fn(int32_t());
    case DT_INT64: return fn(int64_t());
    case DT_UINT8: return fn(uint8_t());
    case DT_UINT16: return fn(uint16_t());
    case DT_UINT32: return fn(uint32_t());
    case DT_UINT64: return fn(uint64_t());
    case DT_COMPLEX64: return fn(Complex64());
    case DT_COMPLEX128: return fn(Complex128());
    default: throw Internal("no segments of ", type);
  }
}

// What a segment without rows holds. Sorted ones hold 0 as their extreme.
// `original`: the type whose extremes count where half and bfloat16 are computed in float.
void FillEmpty(Kind kind, DataType type, DataType original, bool sorted, void* to, int64_t n) {
  if (elementwise::IsFloat16(original) && !sorted && (kind == Kind::kMax || kind == Kind::kMin)) {
    const float largest = original == DT_HALF ? 65504.0f : 3.38953139e38f;
    std::fill_n(static_cast<float*>(to), n, kind == Kind::kMax ? -largest : largest);
    return;
  }
  WithType(type, [&]<class T>(T) {
    T value = T(0);
    if (kind == Kind::kProd) value = T(1);
    if constexpr (std::is_arithmetic_v<T>) {
      if (kind == Kind::kMax && !sorted) value = std::numeric_limits<T>::lowest();
      if (kind == Kind::kMin && !sorted) value = std::numeric_limits<T>::max();
    }
    std::fill_n(static_cast<T*>(to), n, value);
  });
}
void Divide(DataType type, void* row, int64_t n, double by) {
  WithType(type, [&]<class T>(T) {
    T* y = static_cast<T*>(row);
    for (int64_t i = 0; i < n; ++i) {
      if constexpr (std::is_arithmetic_v<T>) {
        y[i] = static_cast<T>(y[i] / static_cast<T>(by));
      } else {
        y[i] /= static_cast<typename T::value_type>(by);
      }
    }
  });
}

int64_t InnerSize(const Shape& shape, int from) {
  int64_t n = 1;
  for (int d = from; d < shape.rank(); ++d) n *= shape.dim(d);
  return n;
}
Shape RowShape(int64_t rows, const Shape& data, int from) {
  Shape shape({rows});
  for (int d = from; d < data.rank(); ++d) shape.AddDim(data.dim(d));
  return shape;
}

// Rows in a type that loops exist for: half and bfloat16 as floats.
class Work {
 public:
  Work(const KernelContext& k, const Tensor& data) : k_(k), type_(data.dtype()), compute_(type_), in_(data) {
    if (!elementwise::IsFloat16(type_)) return;
    compute_ = DT_FLOAT;
    in_ = k.Temp(DT_FLOAT, data.shape());
    Convert(type_, data.raw(), DT_FLOAT, in_.mutable_raw(), data.num_elements());
  }
  DataType type() const { return compute_; }
  DataType original() const { return type_; }
  int64_t size() const { return static_cast<int64_t>(DataTypeSize(compute_)); }
  const char* in() const { return static_cast<const char*>(in_.raw()); }
  // Where the result is computed: `out` itself, or floats that Finish rounds into it.
  char* Out(Tensor& out) {
    if (compute_ == type_) return static_cast<char*>(out.mutable_raw());
    wide_out_ = k_.Temp(DT_FLOAT, out.shape());
    return static_cast<char*>(wide_out_.mutable_raw());
  }
  void Finish(Tensor& out) {
    if (compute_ != type_) Convert(DT_FLOAT, wide_out_.raw(), type_, out.mutable_raw(), out.num_elements());
  }

 private:
  void Convert(DataType from, const void* x, DataType to, void* y, int64_t n) const {
    const UnaryLoop cast = CpuLoops().cast[from][to];
    ParallelElements(k_, n, 300, [&](int64_t begin, int64_t end) {
      cast(static_cast<const char*>(x) + begin * DataTypeSize(from), static_cast<char*>(y) + begin * DataTypeSize(to),
           end - begin);
    });
  }
  const KernelContext& k_;
  DataType type_, compute_;
  Tensor in_, wide_out_;
};

constexpr int64_t kNarrow = 8;  // elements in a row that are joined without a call

template <Kind kKind, class T>
T Joined(T a, T b) {
  if constexpr (kKind == Kind::kProd) return static_cast<T>(a * b);
  if constexpr (std::is_arithmetic_v<T>) {
    if constexpr (kKind == Kind::kMax) return a < b || b != b ? b : a;
    if constexpr (kKind == Kind::kMin) return b < a || b != b ? b : a;
  }
  return static_cast<T>(a + b);
}

// Rows of a few elements: a call for each would take longer than they do. As JoinRows, for ids in [first, last).
template <Kind kKind>
void JoinNarrow(DataType type, const int64_t* ids, int64_t from, int64_t until, const int64_t* rows_of, int64_t inner,
                const char* in, char* out, int64_t first, int64_t last) {
  WithType(type, [&]<class T>(T) {
    // Sums and products of signed integers wrap around.
    using U = typename std::conditional_t<std::is_integral_v<T> && (kKind == Kind::kSum || kKind == Kind::kProd),
                                          std::make_unsigned<T>, std::type_identity<T>>::type;
    const U* const x = reinterpret_cast<const U*>(in);
    U* const y = reinterpret_cast<U*>(out);
    for (int64_t i = from; i < until; ++i) {
      const int64_t id = ids[i];
      if (id < first || id >= last) continue;
      const U* const row = x + (rows_of ? rows_of[i] : i) * inner;
      U* const to = y + id * inner;
      for (int64_t j = 0; j < inner; ++j) to[j] = Joined<kKind>(to[j], row[j]);
    }
  });
}

// Row rows_of[i] (or i) of `in` joins row ids[i] of `out`, in the order of the input whatever the number of threads.
template <Kind kKind>
void JoinRows(const KernelContext& k, DataType type, const std::vector<int64_t>& ids, const int64_t* rows_of,
              const char* in, int64_t inner, char* out, int64_t rows) {
  const bool ascending = std::is_sorted(ids.begin(), ids.end());
  segment_orders.Enter(ascending ? 0 : 1);
  const BinaryLoop join = CpuLoops()(JoinOf(kKind), type);
  const int64_t size = static_cast<int64_t>(DataTypeSize(type)), count = static_cast<int64_t>(ids.size());
  const auto row = [&](int64_t i) { return rows_of ? rows_of[i] : i; };
  const int64_t cost = count * std::max<int64_t>(inner < kNarrow ? 1 : 4, inner / 4);
  const bool float_sums = type == DT_FLOAT && JoinOf(kKind) == BinaryOp::kAdd;
  segment_rows.Enter(inner < kNarrow ? 0 : float_sums ? 1 : 2);
  ShareRows(
      k, rows, inner, static_cast<size_t>(size), cost, [&](int64_t first, int64_t last, int64_t begin, int64_t end) {
        int64_t from = 0, until = count;
        if (ascending) {
          from = std::lower_bound(ids.begin(), ids.end(), first) - ids.begin();
          until = std::lower_bound(ids.begin(), ids.end(), last) - ids.begin();
        }
        if (inner < kNarrow) {
          return JoinNarrow<kKind>(type, ids.data(), from, until, rows_of, inner, in, out, first, last);
        }
        if (float_sums) {
          const float* x = reinterpret_cast<const float*>(in) + begin + (rows_of ? 0 : from * inner);
          return CpuLoops().add_rows_f32(until - from, rows_of ? rows_of + from : nullptr, ids.data() + from, first,
                                         last, x, reinterpret_cast<float*>(out) + begin, inner, end - begin);
        }
        for (int64_t i = from; i < until; ++i) {
          if (i + kPrefetchAhead < until)
            PrefetchRow(in + (row(i + kPrefetchAhead) * inner + begin) * size, (end - begin) * size);
          if (ids[i] < first || ids[i] >= last) continue;
          char* to = out + (ids[i] * inner + begin) * size;
          join(to, 1, in + (row(i) * inner + begin) * size, 1, to, end - begin);
        }
      });
}

// --- ids in ascending order

// How many rows the ids ask for; EachRun looks at them.
int64_t RowsOf(const std::vector<int64_t>& ids) {
  KernelContext::Require(ids.empty() || ids.back() >= 0, "segment ids must be >= 0");
  return ids.empty() ? 0 : ids.back() + 1;
}
// Calls fn(begin, end) for each run of equal ids, which must ascend and lie in [0, rows).
template <class Fn>
void EachRun(const std::vector<int64_t>& ids, int64_t rows, Fn fn) {
  for (size_t begin = 0, end; begin < ids.size(); begin = end) {
    for (end = begin + 1; end < ids.size() && ids[end] == ids[begin];) ++end;
    KernelContext::Require(end == ids.size() || ids[end] > ids[begin], "segment ids are not increasing");
    KernelContext::Require(ids[begin] >= 0 && ids[begin] < rows, "Segment id ", ids[begin], " out of range [0, ", rows,
                           "), possibly because 'segment_ids' input is not sorted.");
    fn(begin, end);
  }
}

template <Kind kKind>
class Segment {
 public:
  void operator()(KernelContext& k) const {
    const Shape &data = k.shape(0), &id_shape = k.shape(1);
    k.Require(id_shape.rank() == 1, "segment_ids should be a vector, but has shape ", id_shape);
    k.Require(data.rank() >= 1, "input must be at least rank 1, but has shape ", data);
    k.Require(data.dim(0) == id_shape.dim(0), "segment_ids should be the same size as dimension 0 of input, but got ",
              id_shape, " for ", data);
    const std::vector<int64_t> ids = shapes::Integers(k.input(1));
    int64_t rows = RowsOf(ids);
    if (k.num_inputs() > 2) {
      const int64_t asked = k.Int(2);
      k.Require(rows <= asked, "segment ids must be < num_segments");
      rows = asked;
    }
    EachRun(ids, rows, [](size_t, size_t) {});
    const int64_t inner = InnerSize(data, 1);
    Work work(k, k.input(0));
    Tensor& y = k.Output(0, RowShape(rows, data, 1));
    char* out = work.Out(y);
    const int64_t row_bytes = inner * work.size();
    FillEmpty(kKind, work.type(), work.original(), true, out, rows * inner);
    // The first row of a segment is copied, the others join it.
    const BinaryLoop join = CpuLoops()(JoinOf(kKind), work.type());
    for (size_t i = 0; i < ids.size();) {
      char* to = out + ids[i] * row_bytes;
      std::memcpy(to, work.in() + i * row_bytes, row_bytes);
      const size_t first = i;
      while (++i < ids.size() && ids[i] == ids[first]) {
        if (inner >= kNarrow) join(to, 1, work.in() + i * row_bytes, 1, to, inner);
      }
      if (inner < kNarrow) {
        JoinNarrow<kKind>(work.type(), ids.data(), static_cast<int64_t>(first) + 1, static_cast<int64_t>(i), nullptr,
                          inner, work.in(), out, 0, rows);
      }
      if (kKind == Kind::kMean) Divide(work.type(), to, inner, static_cast<double>(i - first));
    }
    work.Finish(y);
  }
};

// --- ids in any order

template <Kind kKind>
struct UnsortedSegment {
  void operator()(KernelContext& k) const {
    const Shape &data = k.shape(0), &id_shape = k.shape(1);
    bool prefix = id_shape.rank() <= data.rank();
    for (int d = 0; prefix && d < id_shape.rank(); ++d) prefix = id_shape.dim(d) == data.dim(d);
    k.Require(prefix, "data.shape = ", data, " does not start with segment_ids.shape = ", id_shape);
    k.Require(k.shape(2).rank() == 0, "num_segments should be a scalar, not shape ", k.shape(2));
    const int64_t rows = k.Int(2);
    k.Require(rows >= 0, "Input num_segments == ", rows, " must not be negative.");
    const std::vector<int64_t> ids = shapes::Integers(k.input(1));
    for (size_t i = 0; i < ids.size(); ++i) {
      k.Require(ids[i] < rows, "segment_ids", Position{id_shape, static_cast<int64_t>(i)}, " = ", ids[i],
                " is out of range [0, ", rows, ")");
    }
    const int64_t inner = InnerSize(data, id_shape.rank());
    Work work(k, k.input(0));
    Tensor& y = k.Output(0, RowShape(rows, data, id_shape.rank()));
    char* out = work.Out(y);
    FillEmpty(kKind, work.type(), work.original(), false, out, rows * inner);
    JoinRows<kKind>(k, work.type(), ids, nullptr, work.in(), inner, out, rows);
    work.Finish(y);
  }
};

// --- rows chosen by indices

double Divisor(Kind kind, int64_t count) {
  return kind == Kind::kMean ? static_cast<double>(count) : std::sqrt(static_cast<double>(count));
}

template <Kind kKind>
struct SparseSegment {
  void operator()(KernelContext& k) const {
    const Shape& data = k.shape(0);
    k.Require(data.rank() >= 1, "input must be at least rank 1, but has shape ", data);
    k.Require(k.shape(1).rank() == 1, "indices should be a vector, but has shape ", k.shape(1));
    k.Require(k.shape(2).rank() == 1, "segment_ids should be a vector, but has shape ", k.shape(2));
    k.Require(k.shape(1).dim(0) == k.shape(2).dim(0), "segment_ids and indices should have same size.");
    const std::vector<int64_t> indices = shapes::Integers(k.input(1)), ids = shapes::Integers(k.input(2));
    int64_t rows = RowsOf(ids);
    if (k.num_inputs() > 3) {
      k.Require(k.shape(3).rank() == 0, "num_segments should be a scalar, not shape ", k.shape(3));
      const int64_t asked = k.Int(3);
      k.Require(asked >= 0, "segment ids must be >= 0");
      k.Require(rows <= asked, "segment ids must be < num_segments");
      rows = asked;
    }
    EachRun(ids, rows, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) {
        k.Require(indices[i] >= 0 && indices[i] < data.dim(0), "Bad: indices[", i, "] == ", indices[i],
                  " out of range [0, ", data.dim(0), ")");
      }
    });
    const int64_t inner = InnerSize(data, 1);
    Work work(k, k.input(0));
    Tensor& y = k.Output(0, RowShape(rows, data, 1));
    char* out = work.Out(y);
    FillEmpty(Kind::kSum, work.type(), work.original(), true, out, rows * inner);
    const int64_t row_bytes = inner * work.size();
    JoinRows<Kind::kSum>(k, work.type(), ids, indices.data(), work.in(), inner, out, rows);
    if (kKind != Kind::kSum) {
      for (size_t i = 0; i < ids.size();) {
        const size_t first = i;
        while (i < ids.size() && ids[i] == ids[first]) ++i;
        Divide(work.type(), out + ids[first] * row_bytes, inner, Divisor(kKind, static_cast<int64_t>(i - first)));
      }
    }
    work.Finish(y);
  }
};

// Row ids[i] of the gradient, scaled as forward, goes to row indices[i]; V2 leaves rows without any out.
template <Kind kKind, bool kCompact>
struct SparseSegmentGrad {
  void operator()(KernelContext& k) const {
    const Shape& grad = k.shape(0);
    k.Require(grad.rank() >= 1, "grad must be at least rank 1, but has shape ", grad);
    k.Require(k.shape(1).rank() == 1, "indices should be a vector, but has shape ", k.shape(1));
    k.Require(k.shape(2).rank() == 1, "segment_ids should be a vector, but has shape ", k.shape(2));
    k.Require(k.shape(1).dim(0) == k.shape(2).dim(0), "segment_ids and indices should have same size.");
    k.Require(k.shape(3).rank() == 0, "output_dim0 should be a scalar, not shape ", k.shape(3));
    std::vector<int64_t> indices = shapes::Integers(k.input(1));
    const std::vector<int64_t> ids = shapes::Integers(k.input(2));
    const int64_t dense_rows = k.Int(3);
    k.Require(dense_rows >= 0, "output_dim0 must be non-negative, but is ", dense_rows);
    std::vector<int64_t> counts(grad.dim(0), 0);
    k.Require(ids.empty() || ids.back() < grad.dim(0), "Invalid number of segments");
    for (size_t i = 0; i < ids.size(); ++i) {
      k.Require(ids[i] >= 0 && ids[i] < grad.dim(0), "Segment id ", ids[i], " out of range [0, ", grad.dim(0), ").");
      k.Require(indices[i] >= 0 && indices[i] < dense_rows, "Index ", indices[i], " out of range [0, ", dense_rows,
                ").");
      ++counts[ids[i]];
    }
    int64_t rows = dense_rows;
    if (kCompact) {
      std::vector<int64_t> used = indices;
      std::sort(used.begin(), used.end());
      used.erase(std::unique(used.begin(), used.end()), used.end());
      rows = static_cast<int64_t>(used.size());
      Tensor& unique = k.Output(1, Shape({rows}));
      for (int64_t i = 0; i < rows; ++i) {
        if (unique.dtype() == DT_INT32) {
          unique.mutable_data<int32_t>()[i] = static_cast<int32_t>(used[i]);
        } else {
          unique.mutable_data<int64_t>()[i] = used[i];
        }
      }
      for (int64_t& index : indices) index = std::lower_bound(used.begin(), used.end(), index) - used.begin();
    }
    const int64_t inner = InnerSize(grad, 1);
    Work work(k, k.input(0));
    const int64_t row_bytes = inner * work.size();
    // The gradient's rows are scaled once.
    Tensor scaled = k.Temp(work.type(), grad);
    char* from = static_cast<char*>(scaled.mutable_raw());
    std::memcpy(from, work.in(), grad.dim(0) * row_bytes);
    for (int64_t i = 0; kKind != Kind::kSum && i < grad.dim(0); ++i) {
      if (counts[i] > 0) Divide(work.type(), from + i * row_bytes, inner, Divisor(kKind, counts[i]));
    }
    Tensor& y = k.Output(0, RowShape(rows, grad, 1));
    char* out = work.Out(y);
    FillEmpty(Kind::kSum, work.type(), work.original(), true, out, rows * inner);
    JoinRows<Kind::kSum>(k, work.type(), indices, ids.data(), from, inner, out, rows);
    work.Finish(y);
  }
};

template <Kind kKind>
void AddSparse(KernelRegistry& kernels, const std::string& name) {
  kernels.Add<SparseSegment<kKind>>(name, Reals{});
  kernels.Add<SparseSegment<kKind>>(name + "WithNumSegments", Reals{}).HostInput(3);
  kernels.Add<SparseSegmentGrad<kKind, false>>(name + "Grad", Floats{}).HostInput(3);
  kernels.Add<SparseSegmentGrad<kKind, true>>(name + "GradV2", Floats{}).HostInput(3);
}

}  // namespace

void RegisterSegmentKernels(KernelRegistry& kernels) {
  for (const char* suffix : {"", "V2"}) {
    kernels.Add<Segment<Kind::kSum>>(StrCat("SegmentSum", suffix), Numbers{});
    kernels.Add<Segment<Kind::kProd>>(StrCat("SegmentProd", suffix), Numbers{});
    kernels.Add<Segment<Kind::kMax>>(StrCat("SegmentMax", suffix), Reals{});
    kernels.Add<Segment<Kind::kMin>>(StrCat("SegmentMin", suffix), Reals{});
  }
  kernels.Add<Segment<Kind::kMean>>("SegmentMean", Numbers{});
  kernels.Add<UnsortedSegment<Kind::kSum>>("UnsortedSegmentSum", Numbers{}).HostInput(2);
  kernels.Add<UnsortedSegment<Kind::kProd>>("UnsortedSegmentProd", Numbers{}).HostInput(2);
  kernels.Add<UnsortedSegment<Kind::kMax>>("UnsortedSegmentMax", Reals{}).HostInput(2);
  kernels.Add<UnsortedSegment<Kind::kMin>>("UnsortedSegmentMin", Reals{}).HostInput(2);
  AddSparse<Kind::kSum>(kernels, "SparseSegmentSum");
  AddSparse<Kind::kMean>(kernels, "SparseSegmentMean");
  AddSparse<Kind::kSqrtN>(kernels, "SparseSegmentSqrtN");
}

}  // namespace penstock
