// Inner loops of quantization, compiled for each instruction set; CpuLoops().quantize has this machine's.
#pragma once

#include <cstdint>

namespace penstock {

enum class Rounding { kAwayFromZero, kToEven, kUp };  // of halves; kUp: towards infinity

// Floats to whole numbers: round((x - offset) * scale - before) - after, where x is first limited to low ... high, and
// the result to what its type holds. NaN becomes 0.
struct Quantizer {
  float low, high, offset, scale, before, after;
  Rounding rounding;
};

// Floats to floats of few levels: round((x - offset) * scale - shift) * step, where x is first limited to low ... high.
// Halves are rounded to even, or up. T: a float, or a pointer to one for each element.
template <class T>
struct Leveler {
  T low, high, offset, scale, shift, step;
};

struct QuantizeLoops {
  void (*to_int8)(const Quantizer& q, const float* x, int8_t* y, int64_t n) = nullptr;
  void (*to_uint8)(const Quantizer& q, const float* x, uint8_t* y, int64_t n) = nullptr;
  void (*to_int16)(const Quantizer& q, const float* x, int16_t* y, int64_t n) = nullptr;
  void (*to_uint16)(const Quantizer& q, const float* x, uint16_t* y, int64_t n) = nullptr;
  void (*to_int32)(const Quantizer& q, const float* x, int32_t* y, int64_t n) = nullptr;

  void (*level_f32)(const Leveler<float>& l, bool up, const float* x, float* y, int64_t n) = nullptr;
  void (*level_f64)(const Leveler<double>& l, bool up, const double* x, double* y, int64_t n) = nullptr;
  void (*level_each_f32)(const Leveler<const float*>& l, bool up, const float* x, float* y, int64_t n) = nullptr;
  void (*level_each_f64)(const Leveler<const double*>& l, bool up, const double* x, double* y, int64_t n) = nullptr;

  void operator()(const Quantizer& q, const float* x, int8_t* y, int64_t n) const { to_int8(q, x, y, n); }
  void operator()(const Quantizer& q, const float* x, uint8_t* y, int64_t n) const { to_uint8(q, x, y, n); }
  void operator()(const Quantizer& q, const float* x, int16_t* y, int64_t n) const { to_int16(q, x, y, n); }
  void operator()(const Quantizer& q, const float* x, uint16_t* y, int64_t n) const { to_uint16(q, x, y, n); }
  void operator()(const Quantizer& q, const float* x, int32_t* y, int64_t n) const { to_int32(q, x, y, n); }
  void operator()(const Leveler<float>& l, bool up, const float* x, float* y, int64_t n) const {
    level_f32(l, up, x, y, n);
  }
  void operator()(const Leveler<double>& l, bool up, const double* x, double* y, int64_t n) const {
    level_f64(l, up, x, y, n);
  }
  void operator()(const Leveler<const float*>& l, bool up, const float* x, float* y, int64_t n) const {
    level_each_f32(l, up, x, y, n);
  }
  void operator()(const Leveler<const double*>& l, bool up, const double* x, double* y, int64_t n) const {
    level_each_f64(l, up, x, y, n);
  }
};

}  // namespace penstock
