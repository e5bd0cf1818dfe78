// Loops of neural-network kernels: softmax rows, normalisation over channels, pools, activations.
#include "penstock/kernels/cpu/nn/nn_loops.h"

#include "penstock/kernels/cpu/loops/elementwise.h"
#include "penstock/kernels/cpu/loops/exponential.h"
#include "penstock/kernels/cpu/loops/vector.h"

namespace penstock::PENSTOCK_ISA {
namespace {

using V = Vec<float>;
constexpr int kN = kLanes<float>;

float Total(V v) {
  float sum = 0;
  for (int i = 0; i < kN; ++i) sum += v[i];
  return sum;
}

float RowMax(const float* x, int64_t n) {
  constexpr float kLow = -__builtin_inff();
  V m0 = Splat(kLow), m1 = m0;
  int64_t i = 0;
  for (; i + 2 * kN <= n; i += 2 * kN) {
    const V a = Load(x + i), b = Load(x + i + kN);
    m0 = a > m0 ? a : m0;
    m1 = b > m1 ? b : m1;
  }
  m0 = m1 > m0 ? m1 : m0;
  float largest = kLow;
  for (int j = 0; j < kN; ++j) largest = m0[j] > largest ? m0[j] : largest;
  for (; i < n; ++i) largest = x[i] > largest ? x[i] : largest;
  return largest;
}

// Blocks that stay in the first-level cache: one loop of exponentials, one of additions.
constexpr int64_t kBlock = 512;

float SumOf(const float* x, int64_t n) {
  V s0 = {}, s1 = {};
  int64_t i = 0;
  for (; i + 2 * kN <= n; i += 2 * kN) {
    s0 += Load(x + i);
    s1 += Load(x + i + kN);
  }
  float sum = Total(s0 + s1);
  for (; i < n; ++i) sum += x[i];
  return sum;
}

void ExpBlock(const float* x, float largest, float* y, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = ExpNegative(x[i] - largest);
}

float ExpRow(const float* x, float* y, int64_t n, float* largest) {
  *largest = RowMax(x, n);
  float sum = 0;
  for (int64_t b = 0; b < n; b += kBlock) {
    const int64_t m = n - b < kBlock ? n - b : kBlock;
    ExpBlock(x + b, *largest, y + b, m);
    sum += SumOf(y + b, m);
  }
  return sum;
}

float ExpSum(const float* x, int64_t n, float* largest) {
  *largest = RowMax(x, n);
  float block[kBlock], sum = 0;
  for (int64_t b = 0; b < n; b += kBlock) {
    const int64_t m = n - b < kBlock ? n - b : kBlock;
    ExpBlock(x + b, *largest, block, m);
    sum += SumOf(block, m);
  }
  return sum;
}

void Affine(const float* x, float scale, float shift, float* y, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = x[i] * scale + shift;
}

float XentRow(const float* logits, const float* labels, float constant, float scale, float* backprop, int64_t n) {
  float block[kBlock], sum = 0;
  for (int64_t b = 0; b < n; b += kBlock) {
    const int64_t m = n - b < kBlock ? n - b : kBlock;
    const float* x = logits + b;
    const float* p = labels + b;
    float* dx = backprop + b;
    for (int64_t i = 0; i < m; ++i) block[i] = p[i] * (constant - x[i]);
    for (int64_t i = 0; i < m; ++i) dx[i] = dx[i] * scale - p[i];
    sum += SumOf(block, m);
  }
  return sum;
}

void NormaliseRows(const float* x, const float* mean, const float* scale, const float* shift, float* y, int64_t rows,
                   int64_t n) {
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
#pragma GCC ivdep
    for (int64_t c = 0; c < n; ++c) y[c] = (x[c] - mean[c]) * scale[c] + shift[c];
  }
}

void AddRows(const float* x, const float* bias, float* y, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r, x += n, y += n) {
#pragma GCC ivdep
    for (int64_t c = 0; c < n; ++c) y[c] = x[c] + bias[c];
  }
}

// Channels in strips of four vectors, whose accumulators stay in registers while the rows go by.
template <class Strip, class One>
void OverChannels(int64_t n, Strip strip, One one) {
  int64_t c = 0;
  for (; c + 4 * kN <= n; c += 4 * kN) strip(c, std::integral_constant<int, 4>());
  for (; c + kN <= n; c += kN) strip(c, std::integral_constant<int, 1>());
  for (; c < n; ++c) one(c);
}

void SumRows(const float* x, int64_t rows, int64_t n, float* sum) {
  OverChannels(
      n,
      [=]<int kVectors>(int64_t c, std::integral_constant<int, kVectors>) {
        V s[kVectors];
        for (int v = 0; v < kVectors; ++v) s[v] = Load(sum + c + v * kN);
        for (int64_t r = 0; r < rows; ++r) {
          for (int v = 0; v < kVectors; ++v) s[v] += Load(x + r * n + c + v * kN);
        }
        for (int v = 0; v < kVectors; ++v) Store(sum + c + v * kN, s[v]);
      },
      [=](int64_t c) {
        float s = sum[c];
        for (int64_t r = 0; r < rows; ++r) s += x[r * n + c];
        sum[c] = s;
      });
}

void SquareRows(const float* x, const float* mean, int64_t rows, int64_t n, float* squares) {
  OverChannels(
      n,
      [=]<int kVectors>(int64_t c, std::integral_constant<int, kVectors>) {
        V s[kVectors], m[kVectors];
        for (int v = 0; v < kVectors; ++v) s[v] = Load(squares + c + v * kN), m[v] = Load(mean + c + v * kN);
        for (int64_t r = 0; r < rows; ++r) {
          for (int v = 0; v < kVectors; ++v) {
            const V d = Load(x + r * n + c + v * kN) - m[v];
            s[v] += d * d;
          }
        }
        for (int v = 0; v < kVectors; ++v) Store(squares + c + v * kN, s[v]);
      },
      [=](int64_t c) {
        float s = squares[c];
        for (int64_t r = 0; r < rows; ++r) {
          const float d = x[r * n + c] - mean[c];
          s += d * d;
        }
        squares[c] = s;
      });
}

void NormGradSums(const float* dy, const float* x, const float* mean, int64_t rows, int64_t n, float* sum,
                  float* product) {
  OverChannels(
      n,
      [=]<int kVectors>(int64_t c, std::integral_constant<int, kVectors>) {
        V s[kVectors], p[kVectors], m[kVectors];
        for (int v = 0; v < kVectors; ++v) {
          s[v] = Load(sum + c + v * kN), p[v] = Load(product + c + v * kN), m[v] = Load(mean + c + v * kN);
        }
        for (int64_t r = 0; r < rows; ++r) {
          for (int v = 0; v < kVectors; ++v) {
            const int64_t at = r * n + c + v * kN;
            const V d = Load(dy + at);
            s[v] += d;
            p[v] += d * (Load(x + at) - m[v]);
          }
        }
        for (int v = 0; v < kVectors; ++v) Store(sum + c + v * kN, s[v]), Store(product + c + v * kN, p[v]);
      },
      [=](int64_t c) {
        float s = sum[c], p = product[c];
        for (int64_t r = 0; r < rows; ++r) {
          s += dy[r * n + c];
          p += dy[r * n + c] * (x[r * n + c] - mean[c]);
        }
        sum[c] = s;
        product[c] = p;
      });
}

void NormGradRows(const float* dy, const float* x, const float* mean, const float* a, const float* b, const float* d,
                  float* dx, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r, dy += n, x += n, dx += n) {
#pragma GCC ivdep
    for (int64_t c = 0; c < n; ++c) dx[c] = dy[c] * a[c] + (x[c] - mean[c]) * b[c] + d[c];
  }
}

void MaxOf(const float* const* x, int64_t count, int64_t n, float* y) {
  const auto larger = [](V a, V b) { return ((b > a) | (b != b)) ? b : a; };
  OverChannels(
      n,
      [=]<int kVectors>(int64_t c, std::integral_constant<int, kVectors>) {
        V best[kVectors];
        for (int v = 0; v < kVectors; ++v) best[v] = Load(x[0] + c + v * kN);
        for (int64_t t = 1; t < count; ++t) {
          for (int v = 0; v < kVectors; ++v) best[v] = larger(best[v], Load(x[t] + c + v * kN));
        }
        for (int v = 0; v < kVectors; ++v) Store(y + c + v * kN, best[v]);
      },
      [=](int64_t c) {
        float best = x[0][c];
        for (int64_t t = 1; t < count; ++t) best = x[t][c] > best || x[t][c] != x[t][c] ? x[t][c] : best;
        y[c] = best;
      });
}
void AddInto(float* acc, const float* x, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) acc[i] += x[i];
}
void MulAddInto(float* acc, const float* x, const float* w, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) acc[i] = Fma(x[i], w[i], acc[i]);
}

void Relu(const float* x, float limit, float* y, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    float v = x[i];
    v = v < 0.0f ? 0.0f : v;  // NaN stays
    y[i] = v > limit ? limit : v;
  }
}
void ReluGrad(const float* dy, const float* x, float limit, float* out, int64_t n) {
  if (limit == __builtin_inff()) {
#pragma GCC ivdep
    for (int64_t i = 0; i < n; ++i) out[i] = dy[i] * (x[i] > 0.0f ? 1.0f : 0.0f);
    return;
  }
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const float v = x[i];
    const float above = v > 0.0f ? 1.0f : 0.0f;
    out[i] = dy[i] * (v < limit ? above : 0.0f);
  }
}

void MaxGrad(const float* const* x, int64_t count, int64_t n, const float* dy, float* const* dx) {
  constexpr int kLane = kLanes<float>;
  int64_t i = 0;
  for (; i + kLane <= n; i += kLane) {
    Vec<float> best = Load(x[0] + i);
    Vec<int32_t> largest{};
    for (int64_t p = 1; p < count; ++p) {
      const Vec<float> v = Load(x[p] + i);
      largest = v > best ? Splat(static_cast<int32_t>(p)) : largest;
      best = v > best ? v : best;
    }
    const Vec<float> d = Load(dy + i);
    for (int64_t p = 0; p < count; ++p) {
      Store(dx[p] + i, Load(dx[p] + i) + (largest == Splat(static_cast<int32_t>(p)) ? d : Vec<float>{}));
    }
  }
  for (; i < n; ++i) {
    int64_t largest = 0;
    for (int64_t p = 1; p < count; ++p) largest = x[p][i] > x[largest][i] ? p : largest;
    dx[largest][i] += dy[i];
  }
}

void AddWhereEqual(const float* x, const float* y, const float* dy, int64_t n, float* dx) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) dx[i] += x[i] == y[i] ? dy[i] : 0.0f;
}

constexpr NnLoops kLoops = {&ExpRow,        &ExpSum,     &Affine,       &XentRow,      &NormaliseRows, &AddRows,
                            &SumRows,       &SquareRows, &NormGradSums, &NormGradRows, &MaxOf,         &MaxGrad,
                            &AddWhereEqual, &AddInto,    &MulAddInto,   &Relu,         &ReluGrad};

}  // namespace

void FillNn(Loops& loops) { loops.nn = &kLoops; }

}  // namespace penstock::PENSTOCK_ISA
