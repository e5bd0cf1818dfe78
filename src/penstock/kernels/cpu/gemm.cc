#include "penstock/kernels/cpu/gemm.h"

#include <algorithm>
#include <complex>
#include <memory>
#include <vector>

#include "penstock/kernels/cpu/dnn.h"
#include "penstock/kernels/cpu/loops.h"

namespace penstock {
namespace {

using ParallelFn = FunctionRef<void(int64_t, int64_t, FunctionRef<void(int64_t, int64_t)>)>;

int64_t CeilDiv(int64_t a, int64_t b) { return (a + b - 1) / b; }

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

// --- float and double: packed panels and register tiles

template <class T>
void PackedGemm(const GemmLoops& loops, ParallelFn parallel, int64_t m, int64_t n, int64_t depth, const MatrixView& a,
                const MatrixView& b, T* c, int64_t ldc, bool accumulate) {
  const T* pa = static_cast<const T*>(a.data);
  const T* pb = static_cast<const T*>(b.data);
  // One or few rows: the packing of B would cost more than the product.
  if (m <= 4 && b.column_stride == 1) {
    constexpr int64_t kColumns = 1024;
    parallel(m * CeilDiv(n, kColumns), std::max<int64_t>(1, depth * std::min(n, kColumns) / 8),
             [&](int64_t begin, int64_t end) {
               std::vector<T> row;
               for (int64_t i = begin; i < end; ++i) {
                 const int64_t r = i % m, column = i / m * kColumns, columns = std::min(kColumns, n - column);
                 const T* x = pa + r * a.row_stride;
                 if (a.column_stride != 1) {
                   row.resize(depth);
                   for (int64_t p = 0; p < depth; ++p) row[p] = x[p * a.column_stride];
                   x = row.data();
                 }
                 T* y = c + r * ldc + column;
                 if (!accumulate) std::fill_n(y, columns, T(0));
                 loops.row_times_matrix(depth, columns, x, pb + column, b.row_stride, y);
               }
             });
    return;
  }
  const int64_t mr = loops.mr, nr = loops.nr;
  constexpr int64_t kDepth = 256;                         // a panel of A stays in the first-level cache
  const int64_t row_panels = CeilDiv(m, mr), column_panels = CeilDiv(n, nr);
  const int64_t block_depth = std::min(depth, kDepth);
  // Rows of B that few tiles read are read where they lie; the last columns, if no whole panel, are packed all the
  // same.
  const bool b_lies = b.column_stride == 1 && row_panels <= 4;
  const int64_t first_packed = b_lies ? n / nr : 0;
  Scratch<T> packed_a(row_panels * mr * block_depth), packed_b((column_panels - first_packed) * nr * block_depth);
  // Blocks of C that are one task: of few rows, some panels of B with all rows; else as many panels of B as stay in the
  // second-level cache.
  const bool few_rows = row_panels <= 8;
  const int64_t columns_per_task =
      few_rows ? CeilDiv(column_panels, 8) : std::max<int64_t>(1, std::min<int64_t>(column_panels, 1024 / nr));
  const int64_t rows_per_task =
      few_rows ? row_panels : std::max<int64_t>(1, std::min<int64_t>(CeilDiv(row_panels, 4), 96 / mr));
  const int64_t column_tasks = CeilDiv(column_panels, columns_per_task), row_tasks = CeilDiv(row_panels, rows_per_task);
  for (int64_t p = 0; p < depth; p += block_depth) {
    const int64_t d = std::min(block_depth, depth - p);
    const int64_t panels = row_panels + column_panels - first_packed;
    parallel(panels, std::max<int64_t>(1, d * nr / 16), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        if (i < row_panels) {
          loops.pack_a(pa + p * a.column_stride + i * mr * a.row_stride, a.row_stride, a.column_stride,
                       std::min(mr, m - i * mr), d, packed_a.data() + i * mr * d);
        } else {
          const int64_t at = i - row_panels, j = first_packed + at;
          loops.pack_b(pb + p * b.row_stride + j * nr * b.column_stride, b.column_stride, b.row_stride,
                       std::min(nr, n - j * nr), d, packed_b.data() + at * nr * d);
        }
      }
    });
    const bool add = accumulate || p > 0;
    const int64_t task_cost = std::max<int64_t>(1, rows_per_task * mr * columns_per_task * nr * d / 32);
    parallel(row_tasks * column_tasks, task_cost, [&](int64_t begin, int64_t end) {
      for (int64_t task = begin; task < end; ++task) {
        const int64_t first_row = task / column_tasks * rows_per_task,
                      first_column = task % column_tasks * columns_per_task;
        const int64_t last_row = std::min(row_panels, first_row + rows_per_task);
        const int64_t last_column = std::min(column_panels, first_column + columns_per_task);
        const auto tile = [&](int64_t i, int64_t j) {
          const bool lies = j < first_packed;
          loops.tile(d, packed_a.data() + i * mr * d,
                     lies ? pb + p * b.row_stride + j * nr : packed_b.data() + (j - first_packed) * nr * d,
                     lies ? b.row_stride : nr, c + i * mr * ldc + j * nr, ldc,
                     static_cast<int>(std::min(mr, m - i * mr)), static_cast<int>(std::min(nr, n - j * nr)), add);
        };
        if (few_rows) {
          for (int64_t j = first_column; j < last_column; ++j) {
            for (int64_t i = first_row; i < last_row; ++i) tile(i, j);
          }
        } else {
          for (int64_t i = first_row; i < last_row; ++i) {
            for (int64_t j = first_column; j < last_column; ++j) tile(i, j);
          }
        }
      }
    });
  }
}

// --- other types: row by row

// Integers wrap around.
template <class T>
T MulAdd(T sum, T x, T y) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(static_cast<uint64_t>(sum) + static_cast<uint64_t>(x) * static_cast<uint64_t>(y));
  } else {
    return T(sum.real() + (x.real() * y.real() - x.imag() * y.imag()),
             sum.imag() + (x.real() * y.imag() + x.imag() * y.real()));
  }
}

template <class T>
void PlainGemm(ParallelFn parallel, int64_t m, int64_t n, int64_t depth, const MatrixView& a, const MatrixView& b, T* c,
               int64_t ldc, bool accumulate) {
  const T* pa = static_cast<const T*>(a.data);
  const T* pb = static_cast<const T*>(b.data);
  const auto element = [](const T* data, const MatrixView& view, int64_t i, int64_t j) {
    const T v = data[i * view.row_stride + j * view.column_stride];
    if constexpr (std::is_integral_v<T>) {
      return v;
    } else {
      return view.conjugate ? std::conj(v) : v;
    }
  };
  parallel(m, std::max<int64_t>(1, n * depth), [&](int64_t begin, int64_t end) {
    std::vector<T> row(b.column_stride == 1 && !b.conjugate ? 0 : n);
    for (int64_t i = begin; i < end; ++i) {
      T* y = c + i * ldc;
      if (!accumulate) std::fill_n(y, n, T(0));
      for (int64_t p = 0; p < depth; ++p) {
        const T x = element(pa, a, i, p);
        const T* from = pb + p * b.row_stride;
        if (!row.empty()) {
          for (int64_t j = 0; j < n; ++j) row[j] = element(pb, b, p, j);
          from = row.data();
        }
        for (int64_t j = 0; j < n; ++j) y[j] = MulAdd(y[j], x, from[j]);
      }
    }
  });
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
  PackedGemm<float>(loops.gemm_f32, parallel, m, n, depth, va, vb, fc.data(), n, accumulate);
  parallel(m, std::max<int64_t>(1, n / 4), [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) narrow(fc.data() + i * n, c + i * ldc, n);
  });
}

void Dispatch(ParallelFn parallel, DataType type, int64_t m, int64_t n, int64_t depth, const MatrixView& a,
              const MatrixView& b, void* c, int64_t ldc, bool accumulate) {
  if (m == 0 || n == 0) return;
  if (depth == 0) {
    if (accumulate) return;
    const size_t size = DataTypeSize(type);
    for (int64_t i = 0; i < m; ++i) std::memset(static_cast<char*>(c) + i * ldc * size, 0, n * size);
    return;
  }
  const Loops& loops = CpuLoops();
  const auto plain = [&]<class T>(T) {
    PlainGemm<T>(parallel, m, n, depth, a, b, static_cast<T*>(c), ldc, accumulate);
  };
  switch (type) {
    case DT_FLOAT:
      return PackedGemm(loops.gemm_f32, parallel, m, n, depth, a, b, static_cast<float*>(c), ldc, accumulate);
    case DT_DOUBLE:
      return PackedGemm(loops.gemm_f64, parallel, m, n, depth, a, b, static_cast<double*>(c), ldc, accumulate);
    case DT_HALF:
    case DT_BFLOAT16: return Float16Gemm(parallel, type, m, n, depth, a, b, static_cast<uint16_t*>(c), ldc, accumulate);
    case DT_INT8:
    case DT_UINT8: return plain(uint8_t());
    case DT_INT16:
    case DT_UINT16: return plain(uint16_t());
    case DT_INT32:
    case DT_UINT32: return plain(uint32_t());
    case DT_INT64:
    case DT_UINT64: return plain(uint64_t());
    case DT_COMPLEX64: return plain(Complex64());
    case DT_COMPLEX128: return plain(Complex128());
    default: throw Internal("no matrix product of ", type);
  }
}

}  // namespace

bool GemmSupports(DataType type) {
  return IsFloating(type) ? DataTypeSize(type) > 1 : IsInteger(type) || IsComplex(type);
}

void Gemm(const KernelContext& k, DataType type, int64_t m, int64_t n, int64_t depth, const MatrixView& a,
          const MatrixView& b, void* c, int64_t ldc, bool accumulate) {
  if (!accumulate && DnnGemm(k, type, m, n, depth, a, b, c, ldc)) return;
  const auto parallel = [&k](int64_t total, int64_t cost, FunctionRef<void(int64_t, int64_t)> fn) {
    k.Parallel(total, cost, fn);
  };
  Dispatch(parallel, type, m, n, depth, a, b, c, ldc, accumulate);
}

void GemmSerial(DataType type, int64_t m, int64_t n, int64_t depth, const MatrixView& a, const MatrixView& b, void* c,
                int64_t ldc, bool accumulate) {
  const auto serial = [](int64_t total, int64_t, FunctionRef<void(int64_t, int64_t)> fn) { fn(0, total); };
  Dispatch(serial, type, m, n, depth, a, b, c, ldc, accumulate);
}

}  // namespace penstock
