#include "penstock/kernels/cpu/linalg/gemm.h"

#include <algorithm>
#include <complex>
#include <memory>
#include <type_traits>
#include <vector>

#include "penstock/kernels/cpu/loops.h"
#include "penstock/kernels/cpu/nn/conv_loops.h"
#include "penstock/kernels/cpu/nn/dnn.h"
#include "penstock/kernels/cpu/tiles.h"

namespace penstock {
namespace {

using ParallelFn = FunctionRef<void(int64_t, int64_t, FunctionRef<void(int64_t, int64_t)>)>;

// Of a matrix that each core can keep in its second-level cache, or in the first.
constexpr int64_t kSmallBytes = 1 << 20, kTinyBytes = 32 << 10;

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
    // Columns of A that lie far apart, and what has no order, is copied first.
    const bool rows_lie = a_.column_stride == 1, columns_lie = a_.row_stride == 1 && (depth_ <= 64 || row_tiles <= 4);
    const bool pack_a = !rows_lie && !columns_lie;
    // So is B if many tiles read it.
    b_lies_ = b_.column_stride == 1 && (row_tiles <= 4 || depth_ <= 64);
    const bool pack_b = !b_lies_ && row_tiles > 4;
    const int64_t mr = loops_.mr, nr = loops_.nr;
    Scratch<T> packed_a(pack_a ? row_tiles * mr * depth_ : 0), packed_b(pack_b ? panels_ * nr * depth_ : 0);
    const int64_t a_panels = pack_a ? row_tiles : 0, b_panels = pack_b ? panels_ : 0;
    parallel(a_panels + b_panels, std::max<int64_t>(1, depth_ * nr / 8), [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        if (i < a_panels) {
          loops_.pack_a(static_cast<const T*>(a_.data) + i * mr * a_.row_stride, a_.row_stride, a_.column_stride,
                        std::min(mr, m_ - i * mr), depth_, packed_a.data() + i * mr * depth_);
        } else {
          PackPanel(i - a_panels, 0, depth_, packed_b.data() + (i - a_panels) * nr * depth_);
        }
      }
    });
    packed_a_ = pack_a ? packed_a.data() : nullptr;
    packed_b_ = pack_b ? packed_b.data() : nullptr;
    const double flops = 2.0 * static_cast<double>(m_) * static_cast<double>(n_) * static_cast<double>(depth_);
    const int64_t wanted = std::clamp<int64_t>(static_cast<int64_t>(flops / 1.5e6), 1, 64);
    // A small B may lie in each core's cache. Then rows are cut as other kernels cut them, so that what the threads
    // wrote before they read again where it is.
    TaskGrid grid{1, std::min(wanted, panels_)};
    if (row_tiles > 4) {
      grid = CutTasks(m_, mr, panels_, nr, wanted, 1);
    } else if (row_tiles > 1 && b_lies_ && n_ * depth_ * static_cast<int64_t>(sizeof(T)) <= kSmallBytes) {
      grid = {2, std::clamp<int64_t>(wanted / 2, 1, panels_)};
    }
    const int64_t rows = pack_a ? CeilDiv(row_tiles, grid.down) * mr : CeilDiv(m_, grid.down);
    const int64_t columns = CeilDiv(panels_, grid.across);
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
  void PackPanel(int64_t panel, int64_t p, int64_t depth, T* to) const {
    loops_.pack_b(static_cast<const T*>(b_.data) + p * b_.row_stride + panel * loops_.nr * b_.column_stride,
                  b_.column_stride, b_.row_stride, std::min<int64_t>(loops_.nr, n_ - panel * loops_.nr), depth, to);
  }

  void Task(int64_t row, int64_t last_row, int64_t panel, int64_t last_panel) const {
    constexpr int64_t kBlockRows = 20;
    if (row >= last_row || panel >= last_panel) return;
    // Panels of A that are packed begin at multiples of a tile.
    const int64_t tile = packed_a_ ? loops_.mr : EvenRows(last_row - row, loops_.mr), block = kBlockRows * tile;
    const bool packs = !packed_b_ && (!b_lies_ || last_panel * loops_.nr > n_);  // the last panel may be narrow
    Scratch<T> local(packs ? std::min(depth_, kTileDepth) * loops_.nr : 0);
    for (int64_t first = row; first < last_row; first += block) {
      const int64_t last = std::min(last_row, first + block);
      for (int64_t p = 0; p < depth_; p += kTileDepth) {
        const int64_t depth = std::min(kTileDepth, depth_ - p);
        const bool add = accumulate_ || p > 0;
        for (int64_t j = panel; j < last_panel; ++j) {
          const int64_t columns = std::min<int64_t>(loops_.nr, n_ - j * loops_.nr);
          const T* b = nullptr;
          int64_t ldb = loops_.nr;
          if (packed_b_) {
            b = packed_b_ + (j * depth_ + p) * loops_.nr;
          } else if (b_lies_ && columns == loops_.nr) {
            b = static_cast<const T*>(b_.data) + p * b_.row_stride + j * loops_.nr, ldb = b_.row_stride;
          } else {
            PackPanel(j, p, depth, local.data());
            b = local.data();
          }
          for (int64_t i = first; i < last; i += tile) {
            OneTile(i, static_cast<int>(std::min(tile, last - i)), p, depth, b, ldb, j, static_cast<int>(columns), add);
          }
        }
      }
      const int64_t column = panel * loops_.nr;
      epilogue_.Apply(kTypeOf<T>, c_ + first * ldc_ + column, last - first,
                      std::min(n_, last_panel * loops_.nr) - column, ldc_, column);
    }
  }

  void OneTile(int64_t i, int rows, int64_t p, int64_t depth, const T* b, int64_t ldb, int64_t j, int columns,
               bool add) const {
    T* const c = c_ + i * ldc_ + j * loops_.nr;
    const T* const a = static_cast<const T*>(a_.data) + i * a_.row_stride + p * a_.column_stride;
    if (packed_a_) {
      loops_.turned(depth, packed_a_ + i * depth_ + p * loops_.mr, loops_.mr, b, ldb, c, ldc_, rows, columns, add);
    } else if (a_.column_stride == 1) {
      loops_.tile(depth, a, a_.row_stride, b, ldb, c, ldc_, rows, columns, add);
    } else {
      loops_.turned(depth, a, a_.column_stride, b, ldb, c, ldc_, rows, columns, add);
    }
  }

  const GemmLoops& loops_;
  const int64_t m_, n_, depth_;
  const MatrixView a_, b_;
  T* const c_;
  const int64_t ldc_;
  const bool accumulate_;
  const Epilogue epilogue_;
  const int64_t panels_;
  bool b_lies_ = false;
  const T *packed_a_ = nullptr, *packed_b_ = nullptr;
};

// C^T = B^T A^T: where B is large and lies by columns, packing A and turning C is less than packing B.
template <class T>
void TurnedGemm(const GemmLoops& loops, ParallelFn parallel, int64_t m, int64_t n, int64_t depth, const MatrixView& a,
                const MatrixView& b, T* c, int64_t ldc) {
  const auto turned = [](const MatrixView& v) { return MatrixView{v.data, v.column_stride, v.row_stride}; };
  Scratch<T> product(n * m);
  TiledGemm<T>(loops, n, m, depth, turned(b), turned(a), product.data(), m, false).Run(parallel);
  const auto turn = sizeof(T) == 4 ? CpuLoops().turn_4 : CpuLoops().turn_8;
  turn(reinterpret_cast<char*>(c), ldc, reinterpret_cast<const char*>(product.data()), m, n, m);
}

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
    TinyGemm(m, n, depth, a, b, c, ldc, accumulate);
    return finish();
  }
  if (IsSmall(m, n, depth)) {
    SmallGemm(loops, m, n, depth, a, b, c, ldc, accumulate);
    return finish();
  }
  if (m <= 4 && b.column_stride == 1)
    return RowsTimesMatrix(loops, parallel, m, n, depth, a, b, c, ldc, accumulate, epilogue);
  if (b.row_stride == 1 && b.column_stride > 1 && m <= 2 * loops.nr) {
    // A large B is read once from far away, and then takes longer than what is copied.
    const bool large = n * depth * static_cast<int64_t>(sizeof(T)) > kSmallBytes;
    const bool turns = !accumulate && m >= loops.nr / 2 && 4 * m <= n;
    if constexpr (std::is_floating_point_v<T>) {
      if (a.column_stride == 1 && depth >= 4 * loops.nr && !(large && turns)) {
        DotsGemm(parallel, m, n, depth, a, b, c, ldc, accumulate);
        return finish();
      }
    }
    if (turns) {
      TurnedGemm(loops, parallel, m, n, depth, a, b, c, ldc);
      return finish();
    }
  }
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
      return FloatGemm(loops.gemm_f32, parallel, m, n, depth, a, b, static_cast<float*>(c), ldc, accumulate, epilogue);
    case DT_DOUBLE:
      return FloatGemm(loops.gemm_f64, parallel, m, n, depth, a, b, static_cast<double*>(c), ldc, accumulate, epilogue);
    case DT_HALF:
    case DT_BFLOAT16: return Float16Gemm(parallel, type, m, n, depth, a, b, static_cast<uint16_t*>(c), ldc, accumulate);
    case DT_INT8:
    case DT_UINT8: return plain(uint8_t());
    case DT_INT16:
    case DT_UINT16: return plain(uint16_t());
    case DT_INT32:
    case DT_UINT32:
      return FloatGemm(loops.gemm_u32, parallel, m, n, depth, a, b, static_cast<uint32_t*>(c), ldc, accumulate);
    case DT_INT64:
    case DT_UINT64:
      return FloatGemm(loops.gemm_u64, parallel, m, n, depth, a, b, static_cast<uint64_t*>(c), ldc, accumulate);
    case DT_COMPLEX64:
      return ComplexGemm(loops.gemm_f32, parallel, m, n, depth, a, b, static_cast<Complex64*>(c), ldc, accumulate);
    case DT_COMPLEX128:
      return ComplexGemm(loops.gemm_f64, parallel, m, n, depth, a, b, static_cast<Complex128*>(c), ldc, accumulate);
    default: throw Internal("no matrix product of ", type);
  }
}

}  // namespace

void Gemm(const KernelContext& k, DataType type, int64_t m, int64_t n, int64_t depth, const MatrixView& a,
          const MatrixView& b, void* c, int64_t ldc, bool accumulate, const Epilogue* epilogue) {
  const Epilogue none;
  if (!epilogue) epilogue = &none;
  if (!accumulate && DnnGemm(k, type, m, n, depth, a, b, c, ldc, *epilogue)) return;
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

}  // namespace penstock
