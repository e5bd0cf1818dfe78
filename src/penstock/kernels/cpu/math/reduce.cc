#include "penstock/kernels/cpu/math/reduce.h"

#include <algorithm>
#include <complex>
#include <limits>

#include "penstock/base/behavior.h"
#include "penstock/base/branches.h"

namespace penstock {

ReductionPlan PlanReduction(const Shape& shape, const Tensor& axes) {
  ReductionPlan plan;
  const int rank = shape.rank();
  std::vector<bool> reduced(rank, false);
  for (int64_t i = 0; i < axes.num_elements(); ++i) {
    int64_t axis = axes.IntAt(i);
    if (axis < -rank || axis >= rank) {
      throw InvalidArgument("Invalid reduction dimension (", axis, " for input with ", rank, " dimension(s)");
    }
    if (axis < 0) axis += rank;
    if (reduced[axis] && BehavesAsVersionTwo()) {  // 1.15.5 reduces it once
      throw InvalidArgument("Invalid reduction arguments: Axes contains duplicate dimension: ", axis);
    }
    reduced[axis] = true;
  }
  for (int d = 0; d < rank; ++d) {
    const int64_t size = shape.dim(d);
    plan.out_kept.AddDim(reduced[d] ? 1 : size);
    if (reduced[d]) {
      plan.count *= size;
    } else {
      plan.out.AddDim(size);
    }
    if (size == 1) continue;
    if (!plan.sizes.empty() && plan.reduced.back() == reduced[d]) {
      plan.sizes.back() *= size;
    } else {
      plan.sizes.push_back(size);
      plan.reduced.push_back(reduced[d]);
    }
  }
  return plan;
}

namespace {

constinit BranchTable<2> inner_ways{"reduce/inner", {"rows", "pieces of rows"}};
constinit BranchTable<4> middle_ways{"reduce/middle", {"narrow", "narrow in cuts", "whole columns", "columns in cuts"}};

// Loops for complex numbers, which have no vector form of their own.
template <class T>
struct ComplexSum {
  static T Map(T x) { return x; }
  static T Join(T a, T b) { return a + b; }
  static T Identity() { return T(0); }
};
template <class T>
struct ComplexSumSquares : ComplexSum<T> {
  static T Map(T x) { return T(std::norm(x)); }
};
template <class T>
struct ComplexProd {
  static T Map(T x) { return x; }
  static T Join(T a, T b) { return a * b; }
  static T Identity() { return T(1); }
};
template <class Op, class T>
void Rows(const void* in, int64_t rows, int64_t n, void* out) {
  const T* x = static_cast<const T*>(in);
  for (int64_t r = 0; r < rows; ++r, x += n) {
    // Blocks are summed on their own: the error grows with their number, not with n.
    T total = Op::Identity();
    for (int64_t i = 0; i < n;) {
      T block = Op::Identity();
      for (const int64_t end = std::min(n, i + 256); i < end; ++i) block = Op::Join(block, Op::Map(x[i]));
      total = Op::Join(total, block);
    }
    static_cast<T*>(out)[r] = total;
  }
}
template <class Op, class T>
void Columns(const void* in, int64_t rows, int64_t n, int64_t stride, void* out) {
  const T* x = static_cast<const T*>(in);
  T* acc = static_cast<T*>(out);
  for (int64_t r = 0; r < rows; ++r, x += stride) {
    for (int64_t i = 0; i < n; ++i) acc[i] = Op::Join(acc[i], Op::Map(x[i]));
  }
}
template <class T>
ReduceLoops ComplexLoops(ReduceOp op) {
  switch (op) {
    case ReduceOp::kSum: return {&Rows<ComplexSum<T>, T>, &Columns<ComplexSum<T>, T>};
    case ReduceOp::kSumSquares: return {&Rows<ComplexSumSquares<T>, T>, &Columns<ComplexSumSquares<T>, T>};
    case ReduceOp::kProd: return {&Rows<ComplexProd<T>, T>, &Columns<ComplexProd<T>, T>};
    default: throw Internal("complex numbers have no order");
  }
}

ReduceLoops LoopsFor(ReduceOp op, DataType type) {
  if (type == DT_BOOL) type = DT_UINT8;
  if (type == DT_COMPLEX64) return ComplexLoops<Complex64>(op);
  if (type == DT_COMPLEX128) return ComplexLoops<Complex128>(op);
  return CpuLoops()(op, type);
}

template <class T>
void FillWith(void* out, int64_t n, T value) {
  std::fill_n(static_cast<T*>(out), n, value);
}
template <class T>
void FillIdentityAs(ReduceOp op, void* out, int64_t n) {
  using Limits = std::numeric_limits<T>;
  switch (op) {
    case ReduceOp::kSum:
    case ReduceOp::kSumSquares: return FillWith<T>(out, n, T(0));
    case ReduceOp::kProd: return FillWith<T>(out, n, T(1));
    case ReduceOp::kMax: return FillWith<T>(out, n, Limits::has_infinity ? -Limits::infinity() : Limits::lowest());
    case ReduceOp::kMin: return FillWith<T>(out, n, Limits::has_infinity ? Limits::infinity() : Limits::max());
    default: return;
  }
}
void FillIdentity(ReduceOp op, DataType type, void* out, int64_t n) {
  switch (type) {
    case DT_FLOAT: return FillIdentityAs<float>(op, out, n);
    case DT_DOUBLE: return FillIdentityAs<double>(op, out, n);
    case DT_INT8: return FillIdentityAs<int8_t>(op, out, n);
    case DT_INT16: return FillIdentityAs<int16_t>(op, out, n);
    case DT_INT32: return FillIdentityAs<int32_t>(op, out, n);
    case DT_INT64: return FillIdentityAs<int64_t>(op, out, n);
    case DT_UINT8: return FillIdentityAs<uint8_t>(op, out, n);
    case DT_UINT16: return FillIdentityAs<uint16_t>(op, out, n);
    case DT_UINT32: return FillIdentityAs<uint32_t>(op, out, n);
    case DT_UINT64: return FillIdentityAs<uint64_t>(op, out, n);
    case DT_BOOL: return FillIdentityAs<bool>(op, out, n);  // smallest and largest are false and true
    case DT_COMPLEX64: return FillWith<Complex64>(out, n, Complex64(op == ReduceOp::kProd));
    case DT_COMPLEX128: return FillWith<Complex128>(out, n, Complex128(op == ReduceOp::kProd));
    default: throw Internal("no reduction of ", type);
  }
}

// What joins partial results: the squares are taken already.
ReduceOp Joining(ReduceOp op) { return op == ReduceOp::kSumSquares ? ReduceOp::kSum : op; }

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

class Reducer {
 public:
  Reducer(const KernelContext& k, DataType type)
      : k_(k), type_(type), size_(static_cast<int64_t>(DataTypeSize(type))) {}

  // [m, n] -> [m]
  void Inner(ReduceOp op, const char* x, int64_t m, int64_t n, char* out) const {
    constexpr int64_t kChunk = 1 << 15;
    const ReduceLoops loops = LoopsFor(op, type_);
    const int64_t chunks = CeilDiv(n, kChunk);
    const bool whole = m >= 8 || chunks == 1;
    inner_ways.Enter(whole ? 0 : 1);
    if (whole) {
      // Rows are handed out in groups of about 1000 elements.
      const int64_t group = std::max<int64_t>(1, 1024 / n);
      k_.Parallel(CeilDiv(m, group), std::max<int64_t>(1, group * n / 8), [&](int64_t begin, int64_t end) {
        const int64_t first = begin * group, last = std::min(m, end * group);
        loops.rows(x + first * n * size_, last - first, n, out + first * size_);
      });
      return;
    }
    // Few long rows: chunks of each, then their results.
    Tensor partial = k_.Temp(type_, Shape({m, chunks}));
    char* parts = static_cast<char*>(partial.mutable_raw());
    k_.Parallel(m * chunks, kChunk / 8, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t row = i / chunks, from = i % chunks * kChunk;
        loops.rows(x + (row * n + from) * size_, 1, std::min(kChunk, n - from), parts + i * size_);
      }
    });
    LoopsFor(Joining(op), type_).rows(parts, m, chunks, out);
  }

  // [m, r, n] -> [m, n]
  void Middle(ReduceOp op, const char* x, int64_t m, int64_t r, int64_t n, char* out) const {
    if (n < 64 && r >= 16) return NarrowMiddle(op, x, m, r, n, out);
    const ReduceLoops loops = LoopsFor(op, type_);
    constexpr int64_t kColumns = 4096;  // an accumulator that stays in the first-level cache
    const int64_t blocks = CeilDiv(n, kColumns);
    // Few outputs: the r rows are cut too, which also bounds how many numbers are added one after another.
    int64_t rows = r;
    if (r > 64 && m * blocks < 16) rows = std::max<int64_t>(64, r / 16);
    rows = std::min<int64_t>(rows, 4096);
    const int64_t cuts = CeilDiv(r, rows);
    middle_ways.Enter(cuts > 1 ? 3 : 2);
    Tensor partial;
    char* to = out;
    if (cuts > 1) {
      partial = k_.Temp(type_, Shape({m, cuts, n}));
      to = static_cast<char*>(partial.mutable_raw());
    }
    const int64_t width = std::min(n, kColumns);
    k_.Parallel(m * cuts * blocks, std::max<int64_t>(1, rows * width / 8), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t column = i % blocks * kColumns, cut = i / blocks % cuts, stack = i / blocks / cuts;
        const int64_t first = cut * rows, columns = std::min(kColumns, n - column);
        char* acc = to + ((stack * cuts + cut) * n + column) * size_;
        FillIdentity(op, type_, acc, columns);
        loops.columns(x + ((stack * r + first) * n + column) * size_, std::min(rows, r - first), columns, n, acc);
      }
    });
    if (cuts > 1) Middle(Joining(op), to, m, cuts, n, out);
  }

 private:
  // Rows too short for vectors: several are joined to one, and the wide result is folded.
  void NarrowMiddle(ReduceOp op, const char* x, int64_t m, int64_t r, int64_t n, char* out) const {
    const ReduceLoops loops = LoopsFor(op, type_), join = LoopsFor(Joining(op), type_);
    const int64_t fold = std::min<int64_t>(r, CeilDiv(256, n)), width = fold * n;
    const int64_t wide_rows = r / fold, rest = r % fold;
    const int64_t cuts = CeilDiv(wide_rows, 1024);
    middle_ways.Enter(cuts > 1 ? 1 : 0);
    Tensor partial = k_.Temp(type_, Shape({m, cuts, n}));
    char* parts = static_cast<char*>(partial.mutable_raw());
    k_.Parallel(m * cuts, std::max<int64_t>(1, std::min<int64_t>(wide_rows, 1024) * width / 8),
                [&](int64_t begin, int64_t end) {
                  alignas(64) char wide[320 * 16];
                  for (int64_t i = begin; i < end; ++i) {
                    const int64_t cut = i % cuts, first = cut * 1024, rows = std::min<int64_t>(1024, wide_rows - first);
                    const char* from = x + (i / cuts * r * n + first * width) * size_;
                    FillIdentity(op, type_, wide, width);
                    loops.columns(from, rows, width, width, wide);
                    char* acc = parts + i * n * size_;
                    FillIdentity(op, type_, acc, n);
                    join.columns(wide, fold, n, n, acc);
                    if (cut == cuts - 1) loops.columns(from + rows * width * size_, rest, n, n, acc);
                  }
                });
    for (int64_t i = 0; i < m; ++i) {
      FillIdentity(op, type_, out + i * n * size_, n);
      join.columns(parts + i * cuts * n * size_, cuts, n, n, out + i * n * size_);
    }
  }

  const KernelContext& k_;
  const DataType type_;
  const int64_t size_;
};

}  // namespace

void Reduce(const KernelContext& k, ReduceOp op, DataType type, const ReductionPlan& plan, const void* x, void* out) {
  const int64_t results = plan.out.num_elements();
  if (results == 0) return;
  if (plan.count == 0) return FillIdentity(op, type, out, results);
  std::vector<int64_t> sizes = plan.sizes;
  std::vector<bool> reduced = plan.reduced;
  if (std::find(reduced.begin(), reduced.end(), true) == reduced.end()) {
    // Nothing but sizes of 1: each element is a row of its own.
    sizes = {results, 1};
    reduced = {false, true};
  }
  const Reducer reducer(k, type);
  const char* from = static_cast<const char*>(x);
  Tensor temp;
  // The innermost reduced axis first; each pass leaves one less.
  for (int remaining = static_cast<int>(std::count(reduced.begin(), reduced.end(), true)); remaining > 0; --remaining) {
    int axis = static_cast<int>(sizes.size()) - 1;
    if (!reduced[axis]) --axis;
    int64_t outer = 1, inner = 1;
    for (int d = 0; d < axis; ++d) outer *= sizes[d];
    for (int d = axis + 1; d < static_cast<int>(sizes.size()); ++d) inner *= sizes[d];
    Tensor next;
    char* to = static_cast<char*>(out);
    if (remaining > 1) {
      next = k.Temp(type, Shape({outer * inner}));
      to = static_cast<char*>(next.mutable_raw());
    }
    if (inner == 1) {
      reducer.Inner(op, from, outer, sizes[axis], to);
    } else {
      reducer.Middle(op, from, outer, sizes[axis], inner, to);
    }
    // What stood on both sides of the axis is one kept axis now.
    sizes.erase(sizes.begin() + axis);
    reduced.erase(reduced.begin() + axis);
    if (axis > 0 && axis < static_cast<int>(sizes.size())) {
      sizes[axis - 1] *= sizes[axis];
      sizes.erase(sizes.begin() + axis);
      reduced.erase(reduced.begin() + axis);
    }
    op = Joining(op);
    temp = std::move(next);
    from = remaining > 1 ? static_cast<const char*>(temp.raw()) : nullptr;
  }
}

}  // namespace penstock
