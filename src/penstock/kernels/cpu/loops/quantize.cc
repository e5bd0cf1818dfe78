// Floats to small integers, and to floats of few levels.
#include "penstock/kernels/cpu/quantization/quantize_loops.h"

#include "penstock/kernels/cpu/loops/elementwise.h"
#include "penstock/kernels/cpu/loops/scalar.h"

namespace penstock::PENSTOCK_ISA {
namespace {

inline float Floor(float x) { return __builtin_floorf(x); }
inline double Floor(double x) { return __builtin_floor(x); }
inline float ToEven(float x) { return __builtin_rintf(x); }
inline double ToEven(double x) { return __builtin_rint(x); }
inline float AwayFromZero(float x) {
  const float whole = __builtin_truncf(x), step = WithSign(1.0f, x);
  return Abs(x - whole) >= 0.5f ? whole + step : whole;
}

inline float Up(float x) { return Floor(x + 0.5f); }

template <class I, float round(float)>
void QuantizeBy(const Quantizer& q, const float* x, I* y, int64_t n) {
  constexpr float kLow = std::numeric_limits<I>::lowest(), kHigh = std::numeric_limits<I>::max();
  const auto [low, high, offset, scale, before, after, rounding] = q;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const float v = AtLeast(AtMost(x[i], high), low);
    float whole = round((v - offset) * scale - before) - after;
    whole = AtLeast(AtMost(whole, kHigh), kLow);
    whole = whole == whole ? whole : 0.0f;
    const int32_t number = static_cast<int32_t>(whole);
    y[i] = sizeof(I) == 4 && whole == kHigh ? std::numeric_limits<I>::max() : static_cast<I>(number);
  }
}
template <class I>
void Quantize(const Quantizer& q, const float* x, I* y, int64_t n) {
  switch (q.rounding) {
    case Rounding::kAwayFromZero: return QuantizeBy<I, AwayFromZero>(q, x, y, n);
    case Rounding::kToEven: return QuantizeBy<I, ToEven>(q, x, y, n);
    case Rounding::kUp: return QuantizeBy<I, Up>(q, x, y, n);
  }
}

template <bool kUp, class T>
inline T Level(const Leveler<T>& l, T x) {
  const T v = (AtLeast(AtMost(x, l.high), l.low) - l.offset) * l.scale - l.shift;
  return (kUp ? Floor(v + T(0.5)) : ToEven(v)) * l.step;
}
template <bool kUp, class T>
void LevelAll(Leveler<T> l, const T* x, T* y, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) y[i] = Level<kUp>(l, x[i]);
}
template <class T>
void LevelAll(const Leveler<T>& l, bool up, const T* x, T* y, int64_t n) {
  up ? LevelAll<true>(l, x, y, n) : LevelAll<false>(l, x, y, n);
}
template <bool kUp, class T>
void LevelEach(Leveler<const T*> l, const T* x, T* y, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    y[i] = Level<kUp, T>({l.low[i], l.high[i], l.offset[i], l.scale[i], l.shift[i], l.step[i]}, x[i]);
  }
}
template <class T>
void LevelEach(const Leveler<const T*>& l, bool up, const T* x, T* y, int64_t n) {
  up ? LevelEach<true>(l, x, y, n) : LevelEach<false>(l, x, y, n);
}

constexpr QuantizeLoops kLoops = {&Quantize<int8_t>,   &Quantize<uint8_t>, &Quantize<int16_t>,
                                  &Quantize<uint16_t>, &Quantize<int32_t>, &LevelAll<float>,
                                  &LevelAll<double>,   &LevelEach<float>,  &LevelEach<double>};

}  // namespace

void FillQuantize(Loops& loops) { loops.quantize = &kLoops; }

}  // namespace penstock::PENSTOCK_ISA
