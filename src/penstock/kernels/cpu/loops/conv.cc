// Convolutions: tiles whose left side lies as it comes and whose right side is packed, Winograd's transforms, and sums
// of products.
#include "penstock/kernels/cpu/nn/conv_loops.h"

#include <array>
#include <cstring>
#include <utility>

#include "penstock/kernels/cpu/loops.h"
#include "penstock/kernels/cpu/loops/square.h"
#include "penstock/kernels/cpu/loops/tile.h"

namespace penstock::PENSTOCK_ISA {
namespace {

using V = Vec<float>;
constexpr int kLane = kLanes<float>;
constexpr int kColumns = kTileColumns<float>;

// The epilogue of one vector of channels.
struct Finish {
  const TileEpilogue* epilogue;
  V mean{}, scale{}, bias{}, least{}, most{};
  Finish(const TileEpilogue* e, int64_t at) : epilogue(e) {
    if (!e) return;
    bias = Load(e->bias + at);
    if (e->scale) mean = Load(e->mean + at), scale = Load(e->scale + at);
    least = Splat(e->least), most = Splat(e->most);
  }
  V operator()(V y) const {
    if (!epilogue) return y;
    y = epilogue->scale ? (y - mean) * scale + bias : y + bias;
    y = y < least ? least : y;
    return y > most ? most : y;
  }
};
float FinishOne(const TileEpilogue& e, int64_t at, float y) {
  y = e.scale ? (y - e.mean[at]) * e.scale[at] + e.bias[at] : y + e.bias[at];
  y = y < e.least ? e.least : y;
  return y > e.most ? e.most : y;
}

template <int kM>
void TileOf(int64_t k, const float* a, int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc, int n, bool add,
            const TileEpilogue* epilogue) {
  V acc[kM][2];
#pragma GCC unroll 16
  for (int i = 0; i < kM; ++i) acc[i][0] = acc[i][1] = V{};
  Accumulate<float, kM, false>(k, a, lda, b, ldb, acc);
  if (n == kColumns) {
    if (add) {
#pragma GCC unroll 16
      for (int i = 0; i < kM; ++i) {
        acc[i][0] += Load(c + i * ldc);
        acc[i][1] += Load(c + i * ldc + kLane);
      }
    }
    if (epilogue) {
      const Finish first(epilogue, 0), second(epilogue, kLane);
#pragma GCC unroll 16
      for (int i = 0; i < kM; ++i) {
        acc[i][0] = first(acc[i][0]);
        acc[i][1] = second(acc[i][1]);
      }
    }
#pragma GCC unroll 16
    for (int i = 0; i < kM; ++i) {
      Store(c + i * ldc, acc[i][0]);
      Store(c + i * ldc + kLane, acc[i][1]);
    }
    return;
  }
  float edge[kM][kColumns];
#pragma GCC unroll 16
  for (int i = 0; i < kM; ++i) {
    Store(edge[i], acc[i][0]);
    Store(edge[i] + kLane, acc[i][1]);
  }
  for (int i = 0; i < kM; ++i) {
    for (int j = 0; j < n; ++j) {
      const float y = add ? c[i * ldc + j] + edge[i][j] : edge[i][j];
      c[i * ldc + j] = epilogue ? FinishOne(*epilogue, j, y) : y;
    }
  }
}

using TileFn = void (*)(int64_t, const float*, int64_t, const float*, int64_t, float*, int64_t, int, bool,
                        const TileEpilogue*);
template <int... kM>
constexpr std::array<TileFn, sizeof...(kM)> TilesOf(std::integer_sequence<int, kM...>) {
  return {&TileOf<kM + 1>...};
}
void Tile(int64_t k, const float* a, int64_t lda, const float* b, int64_t ldb, float* c, int64_t ldc, int m, int n,
          bool add, const TileEpilogue* epilogue) {
  static constexpr auto kTiles = TilesOf(std::make_integer_sequence<int, kTileRows>());
  kTiles[m - 1](k, a, lda, b, ldb, c, ldc, n, add, epilogue);
}

// The transforms of one row or column, by the formula of Toom and Cook for polynomials that are evaluated at 0, some
// points and their negatives, and infinity.

// Points 0, 1, -1, infinity
struct Side2 {
  static constexpr int kSide = 2, kSize = 4;
  static void Filter(const V x[3], V y[4]) {
    const V even = (x[0] + x[2]) * 0.5f, odd = x[1] * 0.5f;
    y[0] = x[0], y[1] = even + odd, y[2] = even - odd, y[3] = x[2];
  }
  static void Input(const V x[4], V y[4]) {
    y[0] = x[0] - x[2], y[1] = x[1] + x[2], y[2] = x[2] - x[1], y[3] = x[3] - x[1];
  }
  static void Output(const V x[4], V y[2]) { y[0] = x[0] + x[1] + x[2], y[1] = x[1] - x[2] + x[3]; }
};

// Points 0, a, -a, b, -b, infinity. These a and b lose least: results differ from the exact ones by about twice as much
// as sums of products do.
struct Side4 {
  static constexpr int kSide = 4, kSize = 6;
  static constexpr float a = 0.625f, b = 1.5f, aa = a * a, bb = b * b;
  static constexpr float at0 = 1 / (aa * bb), at_a = 1 / (2 * aa * (aa - bb)), at_b = 1 / (2 * bb * (bb - aa));
  static void Filter(const V x[3], V y[6]) {
    const V even_a = (x[0] + aa * x[2]) * at_a, odd_a = x[1] * (a * at_a);
    const V even_b = (x[0] + bb * x[2]) * at_b, odd_b = x[1] * (b * at_b);
    y[0] = x[0] * at0;
    y[1] = even_a + odd_a, y[2] = even_a - odd_a;
    y[3] = even_b + odd_b, y[4] = even_b - odd_b;
    y[5] = x[2];
  }
  static void Input(const V x[6], V y[6]) {
    const V even_a = x[4] - bb * x[2], odd_a = a * (x[3] - bb * x[1]);
    const V even_b = x[4] - aa * x[2], odd_b = b * (x[3] - aa * x[1]);
    y[0] = (aa * bb) * x[0] - (aa + bb) * x[2] + x[4];
    y[1] = even_a + odd_a, y[2] = even_a - odd_a;
    y[3] = even_b + odd_b, y[4] = even_b - odd_b;
    y[5] = (aa * bb) * x[1] - (aa + bb) * x[3] + x[5];
  }
  static void Output(const V x[6], V y[4]) {
    const V sum_a = x[1] + x[2], difference_a = x[1] - x[2], sum_b = x[3] + x[4], difference_b = x[3] - x[4];
    y[0] = x[0] + sum_a + sum_b;
    y[1] = a * difference_a + b * difference_b;
    y[2] = aa * sum_a + bb * sum_b;
    y[3] = (a * aa) * difference_a + (b * bb) * difference_b + x[5];
  }
};

template <class T>
void Filter(const float* x, int64_t taps, int64_t n, float* to, int64_t stride) {
  for (int64_t i = 0; i < n; i += kLane, x += kLane, to += kLane) {
    V rows[3][T::kSize], column[3], all[T::kSize];
    for (int r = 0; r < 3; ++r) {
      const V row[3] = {Load(x + 3 * r * taps), Load(x + (3 * r + 1) * taps), Load(x + (3 * r + 2) * taps)};
      T::Filter(row, rows[r]);
    }
    for (int s = 0; s < T::kSize; ++s) {
      for (int r = 0; r < 3; ++r) column[r] = rows[r][s];
      T::Filter(column, all);
      for (int r = 0; r < T::kSize; ++r) Store(to + (r * T::kSize + s) * stride, all[r]);
    }
  }
}

template <class T>
void Input(const float* const* x, int64_t n, float* to, int64_t stride) {
  constexpr int kSize = T::kSize;
  for (int64_t i = 0; i < n; i += kLane) {
    V rows[kSize][kSize], line[kSize], all[kSize];
    for (int r = 0; r < kSize; ++r) {
      for (int s = 0; s < kSize; ++s) line[s] = Load(x[r * kSize + s] + i);
      T::Input(line, rows[r]);
    }
    for (int s = 0; s < kSize; ++s) {
      for (int r = 0; r < kSize; ++r) line[r] = rows[r][s];
      T::Input(line, all);
      for (int r = 0; r < kSize; ++r) Store(to + (r * kSize + s) * stride + i, all[r]);
    }
  }
}

template <class T>
bool Output(const float* x, int64_t stride, int64_t n, const TileEpilogue* epilogue, float* const* y) {
  constexpr int kSize = T::kSize, kSide = T::kSide;
  V poison{};
  for (int64_t i = 0; i < n; i += kLane) {
    V rows[kSize][kSide], line[kSize], results[kSide];
    for (int r = 0; r < kSize; ++r) {
      for (int s = 0; s < kSize; ++s) line[s] = Load(x + (r * kSize + s) * stride + i);
      T::Output(line, rows[r]);
    }
    const Finish finish(epilogue, i);
    for (int s = 0; s < kSide; ++s) {
      for (int r = 0; r < kSize; ++r) line[r] = rows[r][s];
      T::Output(line, results);
      for (int r = 0; r < kSide; ++r) {
        float* const to = y[r * kSide + s];
        if (!to) continue;
        poison += results[r] * 0.0f;  // NaN if one of them is not finite
        Store(to + i, finish(results[r]));
      }
    }
  }
  for (int i = 0; i < kLane; ++i) {
    if (poison[i] != 0) return false;
  }
  return true;
}

// Depthwise windows of a few vectors of pixels and channels.
template <int kVectors>
void TapsOf(const float* x, const int64_t* offsets, int64_t taps, const float* w, float* y) {
  V sum[kVectors] = {};
  for (int64_t t = 0; t < taps; ++t, w += kVectors * kLane) {
    const float* const from = x + offsets[t];
#pragma GCC unroll 8
    for (int v = 0; v < kVectors; ++v) sum[v] += Load(from + v * kLane) * Load(w + v * kLane);
  }
#pragma GCC unroll 8
  for (int v = 0; v < kVectors; ++v) Store(y + v * kLane, sum[v]);
}
void Taps(const float* x, const int64_t* offsets, int64_t taps, const float* w, int64_t n, float* y) {
  switch (n / kLane) {
    case 1: return TapsOf<1>(x, offsets, taps, w, y);
    case 2: return TapsOf<2>(x, offsets, taps, w, y);
    case 3: return TapsOf<3>(x, offsets, taps, w, y);
    case 4: return TapsOf<4>(x, offsets, taps, w, y);
    case 5: return TapsOf<5>(x, offsets, taps, w, y);
    case 6: return TapsOf<6>(x, offsets, taps, w, y);
    case 7: return TapsOf<7>(x, offsets, taps, w, y);
    default: return TapsOf<8>(x, offsets, taps, w, y);
  }
}

// Sums of elementwise products of vectors, some registers' width at a time.
template <class T, int kVectors>
void ProductsOf(int64_t terms, const T* const* a, const T* const* b, int64_t at, T* y, bool add) {
  Vec<T> sum[kVectors] = {};
  if (add) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sum[v] = Load(y + at + v * kLanes<T>);
  }
  for (int64_t t = 0; t < terms; ++t) {
    const T *p = a[t] + at, *q = b[t] + at;
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) sum[v] += Load(p + v * kLanes<T>) * Load(q + v * kLanes<T>);
  }
#pragma GCC unroll 4
  for (int v = 0; v < kVectors; ++v) Store(y + at + v * kLanes<T>, sum[v]);
}
template <class T>
void Products(int64_t terms, const T* const* a, const T* const* b, int64_t n, T* y, bool add) {
  int64_t i = 0;
  for (; i + 4 * kLanes<T> <= n; i += 4 * kLanes<T>) ProductsOf<T, 4>(terms, a, b, i, y, add);
  for (; i + kLanes<T> <= n; i += kLanes<T>) ProductsOf<T, 1>(terms, a, b, i, y, add);
  for (; i < n; ++i) {
    T sum = add ? y[i] : T(0);
    for (int64_t t = 0; t < terms; ++t) sum += a[t][i] * b[t][i];
    y[i] = sum;
  }
}

// Sums over the lanes of as many vectors as there are lanes: each goes into the lane of its number.
template <class T, int w = 1>
Vec<T> SumLanes(Vec<T>* sums) {
  if constexpr (w == kLanes<T>) {
    return sums[0];
  } else {
    typename Square<T>::Indices low, high;
    Square<T>::template Exchange<w>(low, high);
#pragma GCC unroll 16
    for (int r = 0; r < kLanes<T>; r += 2 * w) {
      sums[r] = __builtin_shuffle(sums[r], sums[r + w], low) + __builtin_shuffle(sums[r], sums[r + w], high);
    }
    return SumLanes<T, 2 * w>(sums);
  }
}

// Rows and columns of a tile of dot products: as many as a vector has floats, or twice as many.
constexpr int kDotRows = 4, kDotColumns = kVectorBytes == 64 ? 4 : 2;

// acc[m * kDotColumns + n] += the products of a vector of row m of A and one of column n of B.
template <class T>
inline __attribute__((always_inline)) void AddDots(const T* const (&x)[kDotRows], const T* const (&y)[kDotColumns],
                                                   int64_t p, Vec<T> (&acc)[kDotRows * kDotColumns]) {
  Vec<T> from_b[kDotColumns];
#pragma GCC unroll 4
  for (int n = 0; n < kDotColumns; ++n) from_b[n] = Load(y[n] + p);
#pragma GCC unroll 4
  for (int m = 0; m < kDotRows; ++m) {
    const Vec<T> from_a = Load(x[m] + p);
#pragma GCC unroll 4
    for (int n = 0; n < kDotColumns; ++n) acc[m * kDotColumns + n] += from_a * from_b[n];
  }
}

// Where both matrices lie along the sum. A tile at the edge computes its last row and column again instead of those
// that there are not.
template <class T>
void Dots(int64_t k, const T* a, int64_t lda, const T* b, int64_t ldb, T* c_block, int64_t ldc, int64_t rows,
          int64_t columns, bool add) {
  constexpr int kCount = kDotRows * kDotColumns;
  const int64_t whole = k / kLanes<T> * kLanes<T>;
  T rest_a[kDotRows][kLanes<T>] = {}, rest_b[kDotColumns][kLanes<T>] = {};  // what is behind the last whole vector
  for (int64_t j = 0; j < columns; j += kDotColumns) {
    const T *y[kDotColumns], *rest_y[kDotColumns];
    for (int64_t n = 0; n < kDotColumns; ++n) {
      y[n] = b + (j + n < columns ? j + n : columns - 1) * ldb, rest_y[n] = rest_b[n];
      for (int64_t p = whole; p < k; ++p) rest_b[n][p - whole] = y[n][p];
    }
    for (int64_t i = 0; i < rows; i += kDotRows) {
      const T *x[kDotRows], *rest_x[kDotRows];
      for (int64_t m = 0; m < kDotRows; ++m) x[m] = a + (i + m < rows ? i + m : rows - 1) * lda, rest_x[m] = rest_a[m];
      Vec<T> acc[kCount];
#pragma GCC unroll 16
      for (Vec<T>& v : acc) v = Vec<T>{};
      for (int64_t p = 0; p < whole; p += kLanes<T>) AddDots<T>(x, y, p, acc);
      if (whole < k) {
        for (int64_t m = 0; m < kDotRows; ++m) {
          for (int64_t p = whole; p < k; ++p) rest_a[m][p - whole] = x[m][p];
        }
        AddDots<T>(rest_x, rest_y, 0, acc);
      }
      T sums[kCount];
#pragma GCC unroll 4
      for (int g = 0; g < kCount; g += kLanes<T>) Store(sums + g, SumLanes<T>(acc + g));
      T* const c = c_block + i * ldc + j;
      const bool full = i + kDotRows <= rows && j + kDotColumns <= columns;
      if (full && !add) {
        for (int m = 0; m < kDotRows; ++m) std::memcpy(c + m * ldc, sums + m * kDotColumns, kDotColumns * sizeof(T));
        continue;
      }
      for (int64_t m = 0; m < kDotRows && i + m < rows; ++m) {
        for (int64_t n = 0; n < kDotColumns && j + n < columns; ++n) {
          const T sum = sums[m * kDotColumns + n];
          c[m * ldc + n] = add ? c[m * ldc + n] + sum : sum;
        }
      }
    }
  }
}

template <class T>
constexpr WinogradLoops kWinograd = {T::kSide, &Filter<T>, &Input<T>, &Output<T>};
constexpr ConvLoops kLoops = {
    kTileRows,         kColumns,     &Tile,        {kWinograd<Side2>, kWinograd<Side4>}, kLane, &Taps, &Products<float>,
    &Products<double>, &Dots<float>, &Dots<double>};

}  // namespace

void FillConv(Loops& loops) { loops.conv = &kLoops; }

}  // namespace penstock::PENSTOCK_ISA
