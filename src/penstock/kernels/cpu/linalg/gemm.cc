#include "penstock/kernels/cpu/linalg/gemm.h"

#include <algorithm>
#include <complex>
#include <memory>
#include <type_traits>
#include <vector>

#include "penstock/base/branches.h"
#include "penstock/kernels/cpu/loops.h"
#include "penstock/kernels/cpu/nn/conv_loops.h"
#include "penstock/kernels/cpu/nn/dnn.h"
#include "penstock/kernels/cpu/tiles.h"

namespace penstock {
namespace {

enum class Implementation { kTiny, kSmall, kRows, kColumn, kDots, kTiled };
constinit BranchTable<6> implementations{"gemm/implementation", {"tiny", "small", "rows", "column", "dots", "tiled"}};
constinit BranchTable<4> layouts{"gemm/layout", {"both lie", "A is copied", "B is copied", "both are copied"}};
constinit BranchTable<3> grids{"gemm/grid", {"columns", "two rows", "rows and columns"}};
constinit BranchTable<5> types{"gemm/type", {"float", "float16", "small integer", "integer", "complex"}};
constinit BranchTable<2> libraries{"gemm/library", {"own", "oneDNN"}};

using ParallelFn = FunctionRef<void(int64_t, int64_t, FunctionRef<void(int64_t, int64_t)>)>;

// Of a matrix that each core can keep in its second-level cache, or in the first.
constexpr int64_t kSmallBytes = 1 << 20, kTinyBytes = 32 << 10;
constexpr double kTaskFlops = 1.5e6;  // some microseconds

// Memory for packed panels, aligned for vectors.
template <class T>
class Scratch {
 public:
  explicit Scratch(int64_t n) : bytes_(static_cast<size_t>(std::max<int64_t>(n, 1)) * sizeof(T)) {
    data_ = static_cast<T*>(CpuAllocator()->Allocate(bytes_));
  }
  ~Scratch() { CpuAllocator()->Free(data_, bytes_); }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  T* data() { return data_; }

 private:
  size_t bytes_;
  T* data_;
};

// --- float, double and integers of their sizes: tiles in registers

// One or few rows: each row of B is read once, where it lies.
template <class T>
void RowsTimesMatrix(const GemmLoops& loops, ParallelFn parallel, int64_t m, int64_t n, int64_t depth,
                     const MatrixView& a, const MatrixView& b, T* c, int64_t ldc, bool accumulate,
                     const Epilogue& epilogue) {
  const T *pa = static_cast<const T*>(a.data), *pb = static_cast<const T*>(b.data);
  const int64_t length = n >= 2048 ? 1024 : CeilDiv(n, 4), pieces = CeilDiv(n, length);
  parallel(m * pieces, std::max<int64_t>(1, depth * length / 8), [&](int64_t begin, int64_t end) {
    std::vector<T> row;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t r = i % m, column = i / m * length, columns = std::min(length, n - column);
      const T* x = pa + r * a.row_stride;
      if (a.column_stride != 1) {
        row.resize(depth);
        for (int64_t p = 0; p < depth; ++p) row[p] = x[p * a.column_stride];
        x = row.data();
      }
      T* y = c + r * ldc + column;
      if (!accumulate) std::fill_n(y, columns, T(0));
      loops.row_times_matrix(depth, columns, x, pb + column, b.row_stride, y);
      epilogue.Apply(kTypeOf<T>, y, 1, columns, ldc, column);
    }
  });
}

template <class T>
class TiledGemm {
 public:
  TiledGemm(const GemmLoops& loops, int64_t m, int64_t n, int64_t depth, const MatrixView& a, const MatrixView& b, T* c,
            int64_t ldc, bool accumulate, const Epilogue& epilogue = {})
      : loops_(loops),
        m_(m),
        n_(n),
        depth_(depth),
        a_(a),
        b_(b),
        c_(c),
        ldc_(ldc),
        accumulate_(accumulate),
        epilogue_(epilogue),
        panels_(CeilDiv(n, loops.nr)) {}

  void Run(ParallelFn parallel) {
    const int64_t row_tiles = CeilDiv(m_, loops_.mr);
    // Rows of B (columns of A) that lie far apart are read where they are if the core's cache holds them, or if few
    // tiles read them.
    const auto stays = [&](int64_t length) {
      return depth_ <= 64 || row_tiles <= 4 || length * depth_ * static_cast<int64_t>(sizeof(T)) <= kSmallBytes;
    };
    a_lies_ = a_.column_stride == 1 || (a_.row_stride == 1 && stays(m_));
    b_lies_ = b_.column_stride == 1 && stays(n_);
    layouts.Enter((a_lies_ ? 0 : 1) + (b_lies_ ? 0 : 2));
    const double flops = 2.0 * static_cast<double>(m_) * static_cast<double>(n_) * static_cast<double>(depth_);
    // Each task copies for itself: then fewer, longer ones.
    const double task = (a_lies_ ? 1 : 4) * (b_lies_ ? 1 : 4) * kTaskFlops;
    const int64_t wanted =
        std::clamp<int64_t>(static_cast<int64_t>(flops / task), flops < kTaskFlops ? 1 : 2, flops > 1e10 ? 64 : 16);
    // A small B may lie in each core's cache. Then rows are cut as other kernels cut them, so that what the threads
    // wrote before they read again where it is.
    TaskGrid grid{1, std::min(wanted, panels_)};
    if (row_tiles > 4) {
      grid = CutTasks(m_, loops_.mr, panels_, loops_.nr, wanted, a_lies_ ? 1 : 4);
    } else if (row_tiles > 1 && b_lies_ && n_ * depth_ * static_cast<int64_t>(sizeof(T)) <= kSmallBytes) {
      grid = {2, std::clamp<int64_t>(wanted / 2, 1, panels_)};
    }
    grids.Enter(row_tiles > 4 ? 2 : grid.down - 1);
    const int64_t rows = CeilDiv(m_, grid.down), columns = CeilDiv(panels_, grid.across);
    const int64_t tasks = grid.down * grid.across;
    parallel(tasks, std::max<int64_t>(1, static_cast<int64_t>(flops / 80 / static_cast<double>(tasks))),
             [&](int64_t begin, int64_t end) {
               for (int64_t i = begin; i < end; ++i) {
                 const int64_t row = i / grid.across * rows, column = i % grid.across * columns;
                 Task(row, std::min(m_, row + rows), column, std::min(panels_, column + columns));
               }
             });
  }

 private:
  // A block of rows of A, `first` to `last`, is multiplied with one panel of B after the other. What does not lie well
  // is copied here, by the core that reads it.
  void Task(int64_t row, int64_t last_row, int64_t panel, int64_t last_panel) const {
    constexpr int64_t kBlockRows = 20;
    if (row >= last_row || panel >= last_panel) return;
    const int64_t mr = loops_.mr, nr = loops_.nr, most_depth = std::min(depth_, kTileDepth);
    const int64_t tile = a_lies_ ? EvenRows(last_row - row, mr) : mr, block = kBlockRows * tile;
    const bool packs_b = !b_lies_ || last_panel * nr > n_;  // the last panel may be narrow
    Scratch<T> packed_a(a_lies_ ? 0 : std::min(block, last_row - row + mr) * most_depth);
    Scratch<T> packed_b(packs_b ? most_depth * nr : 0);
    for (int64_t first = row; first < last_row; first += block) {
      const int64_t last = std::min(last_row, first + block);
      for (int64_t p = 0; p < depth_; p += kTileDepth) {
        const int64_t depth = std::min(kTileDepth, depth_ - p);
        const bool add = accumulate_ || p > 0;
        for (int64_t i = first; i < last && !a_lies_; i += tile) {
          loops_.pack_a(A(i, p), a_.row_stride, a_.column_stride, std::min(tile, last - i), depth,
                        packed_a.data() + (i - first) * depth);
        }
        for (int64_t j = panel; j < last_panel; ++j) {
          const int64_t columns = std::min(nr, n_ - j * nr);
          const T* b = static_cast<const T*>(b_.data) + p * b_.row_stride + j * nr * b_.column_stride;
          int64_t ldb = b_.row_stride;
          if (!b_lies_ || columns < nr) {
            loops_.pack_b(b, b_.column_stride, b_.row_stride, columns, depth, packed_b.data());
            b = packed_b.data(), ldb = nr;
          }
          for (int64_t i = first; i < last; i += tile) {
            const int rows = static_cast<int>(std::min(tile, last - i));
            T* const c = c_ + i * ldc_ + j * nr;
            if (!a_lies_) {
              loops_.turned(depth, packed_a.data() + (i - first) * depth, mr, b, ldb, c, ldc_, rows, columns, add);
            } else if (a_.column_stride == 1) {
              loops_.tile(depth, A(i, p), a_.row_stride, b, ldb, c, ldc_, rows, columns, add);
            } else {
              loops_.turned(depth, A(i, p), a_.column_stride, b, ldb, c, ldc_, rows, columns, add);
            }
          }
        }
      }
      const int64_t column = panel * nr;
      epilogue_.Apply(kTypeOf<T>, c_ + first * ldc_ + column, last - first, std::min(n_, last_panel * nr) - column,
                      ldc_, column);
    }
  }
  const T* A(int64_t i, int64_t p) const {
    return static_cast<const T*>(a_.data) + i * a_.row_stride + p * a_.column_stride;
  }

  const GemmLoops& loops_;
  const int64_t m_, n_, depth_;
  const MatrixView a_, b_;
  T* const c_;
  const int64_t ldc_;
  const bool accumulate_;
  const Epilogue epilogue_;
  const int64_t panels_;
  bool a_lies_ = false, b_lies_ = false;  // are read where they are
};

// Where B lies by columns, each element of C is a product of two rows in memory: nothing is copied, and the threads
// share no more than what they read.
template <class T>
void DotsGemm(ParallelFn parallel, int64_t m, int64_t n, int64_t depth, const MatrixView& a, const MatrixView& b, T* c,
              int64_t ldc, bool accumulate) {
  const auto dots = [] {
    if constexpr (sizeof(T) == 4)
      return CpuLoops().conv->dots_f32;
    else
      return CpuLoops().conv->dots_f64;
  }();
  constexpr int64_t kDepth = 512, kColumns = 32;
  const T *pa = static_cast<const T*>(a.data), *pb = static_cast<const T*>(b.data);
  const int64_t length = std::min(depth, kDepth);  // of rows, a block of which stays in the first-level cache
  const int64_t most = std::max<int64_t>(4, kTinyBytes / static_cast<int64_t>(sizeof(T)) / length / 4 * 4);
  const int64_t rows = CeilDiv(EvenRows(m, most), 4) * 4, across = CeilDiv(n, kColumns);
  parallel(CeilDiv(m, rows) * across, std::max<int64_t>(1, rows * kColumns * depth / 64),
           [&](int64_t begin, int64_t end) {
             for (int64_t i = begin; i < end; ++i) {
               const int64_t row = i / across * rows, column = i % across * kColumns;
               for (int64_t p = 0; p < depth; p += length) {
                 dots(std::min(length, depth - p), pa + row * a.row_stride + p, a.row_stride,
                      pb + column * b.column_stride + p, b.column_stride, c + row * ldc + column, ldc,
                      std::min(rows, m - row), std::min(kColumns, n - column), accumulate || p > 0);
               }
             }
           });
}

// Products so small that to look for the best way takes longer than to multiply.
bool IsTiny(int64_t m, int64_t n, int64_t depth) { return n <= 8 && m <= 64 && depth <= 64; }
template <class T>
void TinyGemm(int64_t m, int64_t n, int64_t depth, const MatrixView& a, const MatrixView& b, T* c, int64_t ldc,
              bool accumulate) {
  const T *pa = static_cast<const T*>(a.data), *pb = static_cast<const T*>(b.data);
  const auto multiply = [&](auto columns) {
    for (int64_t i = 0; i < m; ++i) {
      T sum[8] = {};
      for (int64_t p = 0; p < depth; ++p) {
        const T x = pa[i * a.row_stride + p * a.column_stride];
        const T* const y = pb + p * b.row_stride;
        for (int64_t j = 0; j < columns; ++j) sum[j] += x * y[j * b.column_stride];
      }
      for (int64_t j = 0; j < columns; ++j) c[i * ldc + j] = accumulate ? c[i * ldc + j] + sum[j] : sum[j];
    }
  };
  switch (n) {
    case 1: return multiply(std::integral_constant<int64_t, 1>());
    case 2: return multiply(std::integral_constant<int64_t, 2>());
    case 3: return multiply(std::integral_constant<int64_t, 3>());
    case 4: return multiply(std::integral_constant<int64_t, 4>());
    case 8: return multiply(std::integral_constant<int64_t, 8>());
    default: return multiply(n);
  }
}

// Those in which a row is a vector or a few: row by row, B's rows laid one after the other if they are not.
bool IsSmall(int64_t m, int64_t n, int64_t depth) { return n <= 32 && m <= 32 && depth <= 32; }
template <class T>
void SmallGemm(const GemmLoops& loops, int64_t m, int64_t n, int64_t depth, const MatrixView& a, const MatrixView& b,
               T* c, int64_t ldc, bool accumulate) {
  T row[32], rows[32 * 32];
  const T *pa = static_cast<const T*>(a.data), *pb = static_cast<const T*>(b.data);
  int64_t ldb = b.row_stride;
  if (b.column_stride != 1) {
    for (int64_t p = 0; p < depth; ++p) {
      for (int64_t j = 0; j < n; ++j) rows[p * n + j] = pb[p * b.row_stride + j * b.column_stride];
    }
    pb = rows, ldb = n;
  }
  for (int64_t i = 0; i < m; ++i) {
    const T* x = pa + i * a.row_stride;
    if (a.column_stride != 1) {
      for (int64_t p = 0; p < depth; ++p) row[p] = x[p * a.column_stride];
      x = row;
    }
    if (!accumulate) std::fill_n(c + i * ldc, n, T(0));
    loops.row_times_matrix(depth, n, x, pb, ldb, c + i * ldc);
  }
}

// T: float, double, or an unsigned integer of their size, which wraps around.
template <class T>
void FloatGemm(const GemmLoops& loops, ParallelFn parallel, int64_t m, int64_t n, int64_t depth, const MatrixView& a,
               const MatrixView& b, T* c, int64_t ldc, bool accumulate, const Epilogue& epilogue = {}) {
  const auto finish = [&] {
    if (!epilogue.bias) return;
    parallel(m, n / 4 + 1,
             [&](int64_t begin, int64_t end) { epilogue.Apply(kTypeOf<T>, c + begin * ldc, end - begin, n, ldc, 0); });
  };
  if (IsTiny(m, n, depth)) {
    implementations.Enter(Implementation::kTiny);
    TinyGemm(m, n, depth, a, b, c, ldc, accumulate);
    return finish();
  }
  if (IsSmall(m, n, depth)) {
    implementations.Enter(Implementation::kSmall);
    SmallGemm(loops, m, n, depth, a, b, c, ldc, accumulate);
    return finish();
  }
  if (m <= 4 && b.column_stride == 1) {
    implementations.Enter(Implementation::kRows);
    return RowsTimesMatrix(loops, parallel, m, n, depth, a, b, c, ldc, accumulate, epilogue);
  }
  // One column of a transposed A: the row of its transpose.
  if (n == 1 && ldc == 1 && a.row_stride == 1 && !epilogue.bias) {
    implementations.Enter(Implementation::kColumn);
    return RowsTimesMatrix(loops, parallel, 1, m, depth, {b.data, 1, b.row_stride}, {a.data, a.column_stride, 1}, c, m,
                           accumulate, {});
  }
  if constexpr (std::is_floating_point_v<T>) {
    if (b.row_stride == 1 && b.column_stride > 1 && m <= 2 * loops.nr && a.column_stride == 1 &&
        depth >= 4 * loops.nr) {
      implementations.Enter(Implementation::kDots);
      DotsGemm(parallel, m, n, depth, a, b, c, ldc, accumulate);
      return finish();
    }
  }
  implementations.Enter(Implementation::kTiled);
  TiledGemm<T>(loops, m, n, depth, a, b, c, ldc, accumulate, epilogue).Run(parallel);
}

// --- integers of one and two bytes: row by row

// Small integers, which wrap around.
template <class T>
void PlainGemm(ParallelFn parallel, int64_t m, int64_t n, int64_t depth, const MatrixView& a, const MatrixView& b, T* c,
               int64_t ldc, bool accumulate) {
  const T* pa = static_cast<const T*>(a.data);
  const T* pb = static_cast<const T*>(b.data);
  parallel(m, std::max<int64_t>(1, n * depth / 4), [&](int64_t begin, int64_t end) {
    std::vector<T> row(b.column_stride == 1 ? 0 : n);
    for (int64_t i = begin; i < end; ++i) {
      T* y = c + i * ldc;
      if (!accumulate) std::fill_n(y, n, T(0));
      for (int64_t p = 0; p < depth; ++p) {
        const unsigned x = pa[i * a.row_stride + p * a.column_stride];
        const T* from = pb + p * b.row_stride;
        if (!row.empty()) {
          for (int64_t j = 0; j < n; ++j) row[j] = from[j * b.column_stride];
          from = row.data();
        }
        for (int64_t j = 0; j < n; ++j) y[j] = static_cast<T>(y[j] + x * from[j]);
      }
    }
  });
}

// --- complex: one product of real numbers, since [re A, im A] [B; i B] = A B, where B and the result lie in memory as
// rows of twice as many real numbers
template <class R>
void ComplexGemm(const GemmLoops& loops, ParallelFn parallel, int64_t m, int64_t n, int64_t depth, const MatrixView& a,
                 const MatrixView& b, std::complex<R>* c, int64_t ldc, bool accumulate) {
  using C = std::complex<R>;
  const C *pa = static_cast<const C*>(a.data), *pb = static_cast<const C*>(b.data);
  const R sign_a = a.conjugate ? R(-1) : R(1), sign_b = b.conjugate ? R(-1) : R(1);
  Scratch<R> real_a(m * 2 * depth), real_b(2 * depth * 2 * n);
  R *const to_a = real_a.data(), *const to_b = real_b.data();
  parallel(m, depth, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      R* const row = to_a + i * 2 * depth;
      for (int64_t p = 0; p < depth; ++p) {
        const C x = pa[i * a.row_stride + p * a.column_stride];
        row[p] = x.real(), row[depth + p] = sign_a * x.imag();
      }
    }
  });
  parallel(depth, n, [&](int64_t begin, int64_t end) {
    for (int64_t p = begin; p < end; ++p) {
      R *const row = to_b + p * 2 * n, *const turned = to_b + (depth + p) * 2 * n;
      for (int64_t j = 0; j < n; ++j) {
        const C x = pb[p * b.row_stride + j * b.column_stride];
        row[2 * j] = x.real(), row[2 * j + 1] = sign_b * x.imag();
        turned[2 * j] = -sign_b * x.imag(), turned[2 * j + 1] = x.real();
      }
    }
  });
  FloatGemm<R>(loops, parallel, m, 2 * n, 2 * depth, {to_a, 2 * depth, 1}, {to_b, 2 * n, 1}, reinterpret_cast<R*>(c),
               2 * ldc, accumulate);
}

// --- half and bfloat16: converted to float in whole, the product rounded once

void Float16Gemm(ParallelFn parallel, DataType type, int64_t m, int64_t n, int64_t depth, const MatrixView& a,
                 const MatrixView& b, uint16_t* c, int64_t ldc, bool accumulate) {
  const Loops& loops = CpuLoops();
  const UnaryLoop widen = loops.cast[type][DT_FLOAT], narrow = loops.cast[DT_FLOAT][type];
  // The matrix as floats, dense in the order in which it lies in memory.
  const auto convert = [&](const MatrixView& v, int64_t rows, int64_t columns, float* to) {
    const uint16_t* from = static_cast<const uint16_t*>(v.data);
    if (v.column_stride == 1 || v.row_stride == 1) {
      const bool by_rows = v.column_stride == 1;
      const int64_t lines = by_rows ? rows : columns, length = by_rows ? columns : rows;
      const int64_t stride = by_rows ? v.row_stride : v.column_stride;
      parallel(lines, std::max<int64_t>(1, length / 4), [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) widen(from + i * stride, to + i * length, length);
      });
      return by_rows ? MatrixView{to, columns, 1} : MatrixView{to, 1, rows};
    }
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j)
        widen(from + i * v.row_stride + j * v.column_stride, to + i * columns + j, 1);
    }
    return MatrixView{to, columns, 1};
  };
  Scratch<float> fa(m * depth), fb(depth * n), fc(m * n);
  const MatrixView va = convert(a, m, depth, fa.data()), vb = convert(b, depth, n, fb.data());
  if (accumulate) {
    for (int64_t i = 0; i < m; ++i) widen(c + i * ldc, fc.data() + i * n, n);
  }
  FloatGemm<float>(loops.gemm_f32, parallel, m, n, depth, va, vb, fc.data(), n, accumulate);
  parallel(m, std::max<int64_t>(1, n / 4), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) narrow(fc.data() + i * n, c + i * ldc, n);
  });
}

void Dispatch(ParallelFn parallel, DataType type, int64_t m, int64_t n, int64_t depth, const MatrixView& a,
              const MatrixView& b, void* c, int64_t ldc, bool accumulate, const Epilogue& epilogue = {}) {
  if (m == 0 || n == 0) return;
  if (depth == 0) {
    const size_t size = DataTypeSize(type);
    for (int64_t i = 0; i < m && !accumulate; ++i) std::memset(static_cast<char*>(c) + i * ldc * size, 0, n * size);
    return epilogue.Apply(type, c, m, n, ldc, 0);
  }
  const Loops& loops = CpuLoops();
  const auto plain = [&]<class T>(T) {
    PlainGemm<T>(parallel, m, n, depth, a, b, static_cast<T*>(c), ldc, accumulate);
  };
  switch (type) {
    case DT_FLOAT:
      types.Enter(0);
      return FloatGemm(loops.gemm_f32, parallel, m, n, depth, a, b, static_cast<float*>(c), ldc, accumulate, epilogue);
    case DT_DOUBLE:
      types.Enter(0);
      return FloatGemm(loops.gemm_f64, parallel, m, n, depth, a, b, static_cast<double*>(c), ldc, accumulate, epilogue);
    case DT_HALF:
    case DT_BFLOAT16:
      types.Enter(1);
      return Float16Gemm(parallel, type, m, n, depth, a, b, static_cast<uint16_t*>(c), ldc, accumulate);
    case DT_INT8:
    case DT_UINT8: types.Enter(2); return plain(uint8_t());
    case DT_INT16:
    case DT_UINT16: types.Enter(2); return plain(uint16_t());
    case DT_INT32:
    case DT_UINT32:
      types.Enter(3);
      return FloatGemm(loops.gemm_u32, parallel, m, n, depth, a, b, static_cast<uint32_t*>(c), ldc, accumulate);
    case DT_INT64:
    case DT_UINT64:
      types.Enter(3);
      return FloatGemm(loops.gemm_u64, parallel, m, n, depth, a, b, static_cast<uint64_t*>(c), ldc, accumulate);
    case DT_COMPLEX64:
      types.Enter(4);
      return ComplexGemm(loops.gemm_f32, parallel, m, n, depth, a, b, static_cast<Complex64*>(c), ldc, accumulate);
    case DT_COMPLEX128:
      types.Enter(4);
      return ComplexGemm(loops.gemm_f64, parallel, m, n, depth, a, b, static_cast<Complex128*>(c), ldc, accumulate);
    default: throw Internal("no matrix product of ", type);
  }
}

}  // namespace

void Gemm(const KernelContext& k, DataType type, int64_t m, int64_t n, int64_t depth, const MatrixView& a,
          const MatrixView& b, void* c, int64_t ldc, bool accumulate, const Epilogue* epilogue) {
  const Epilogue none;
  if (!epilogue) epilogue = &none;
  const bool done = !accumulate && DnnGemm(k, type, m, n, depth, a, b, c, ldc, *epilogue);
  libraries.Enter(done ? 1 : 0);
  if (done) return;
  const auto parallel = [&k](int64_t total, int64_t cost, FunctionRef<void(int64_t, int64_t)> fn) {
    k.Parallel(total, cost, fn);
  };
  Dispatch(parallel, type, m, n, depth, a, b, c, ldc, accumulate, *epilogue);
}

void GemmSerial(DataType type, int64_t m, int64_t n, int64_t depth, const MatrixView& a, const MatrixView& b, void* c,
                int64_t ldc, bool accumulate) {
  const auto serial = [](int64_t total, int64_t, FunctionRef<void(int64_t, int64_t)> fn) { fn(0, total); };
  Dispatch(serial, type, m, n, depth, a, b, c, ldc, accumulate);
}

void AddProducts(const KernelContext& k, int64_t m, int64_t n, std::span<const GemmTerm> terms, float* c) {
  if (m == 0 || n == 0) return;
  const GemmLoops& loops = CpuLoops().gemm_f32;
  const int64_t nr = loops.nr, panels = CeilDiv(n, nr);
  int64_t depth = 0;
  for (const GemmTerm& term : terms) depth += term.depth;
  k.Parallel(panels, std::max<int64_t>(1, m * nr * depth / 40), [&](int64_t begin, int64_t end) {
    std::vector<GemmPart> parts(terms.size());
    Scratch<float> packed(depth * nr);  // rows of B lie far apart, and are read for each tile
    const int64_t tile = EvenRows(m, loops.mr);
    for (int64_t j = begin * nr; j < std::min(n, end * nr); j += nr) {
      const int64_t columns = std::min(nr, n - j);
      float* to = packed.data();
      for (size_t t = 0; t < terms.size(); to += terms[t++].depth * nr) {
        loops.pack_b(terms[t].b + j, 1, n, columns, terms[t].depth, to);
        parts[t] = {terms[t].depth, terms[t].a, m, to, nr};
      }
      for (int64_t i = 0; i < m; i += tile) {
        for (size_t t = 0; t < terms.size(); ++t) parts[t].a = terms[t].a + i;
        loops.add_turned(parts.data(), static_cast<int>(parts.size()), c + i * n + j, n,
                         static_cast<int>(std::min(tile, m - i)), static_cast<int>(columns));
      }
    }
  });
}

}  // namespace penstock
