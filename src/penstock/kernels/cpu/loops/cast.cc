// Conversions between half, bfloat16, float and the common integers.
#include <type_traits>

#include "penstock/kernels/cpu/loops/elementwise.h"

#if defined(__F16C__)
#include <immintrin.h>
#endif

namespace penstock::PENSTOCK_ISA {
namespace {

void BFloat16ToFloat(const void* x, void* y, int64_t n) {
  const uint16_t* in = static_cast<const uint16_t*>(x);
  uint32_t* out = static_cast<uint32_t*>(y);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<uint32_t>(in[i]) << 16;
}

// To nearest even; a NaN stays one.
void FloatToBFloat16(const void* x, void* y, int64_t n) {
  const uint32_t* in = static_cast<const uint32_t*>(x);
  uint16_t* out = static_cast<uint16_t*>(y);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const uint32_t u = in[i];
    const uint32_t rounded = (u + 0x7FFF + ((u >> 16) & 1)) >> 16;
    const uint32_t nan = 0x7FC0 | ((u >> 16) & 0x8000);
    out[i] = static_cast<uint16_t>((u & 0x7FFFFFFF) > 0x7F800000 ? nan : rounded);
  }
}

// Half by integer arithmetic: what processors without F16C, and the ends of rows, use.
uint32_t HalfBitsToFloatBits(uint32_t h) {
  const uint32_t sign = (h & 0x8000) << 16;
  const uint32_t magnitude = h & 0x7FFF;
  // Normal numbers: the exponent is rebased. Infinity and NaN: moved to the top. Denormals: magnitude * 2^-24.
  uint32_t normal = (magnitude << 13) + 0x38000000;
  normal = magnitude >= 0x7C00 ? normal + 0x38000000 : normal;
  const float denormal = static_cast<float>(static_cast<int32_t>(magnitude)) * 5.9604644775390625e-8f;
  return sign | (magnitude < 0x0400 ? __builtin_bit_cast(uint32_t, denormal) : normal);
}
uint32_t FloatBitsToHalfBits(uint32_t u) {
  const uint32_t sign = (u >> 16) & 0x8000;
  const uint32_t magnitude = u & 0x7FFFFFFF;
  const uint32_t odd = (magnitude >> 13) & 1;
  const uint32_t normal = (magnitude - 0x38000000 + 0xFFF + odd) >> 13;
  // Adding 0.5 moves a denormal result's bits to the bottom of the mantissa, rounded.
  const float shifted = __builtin_bit_cast(float, magnitude < 0x38800000 ? magnitude : 0) + 0.5f;
  const uint32_t denormal = __builtin_bit_cast(uint32_t, shifted) - 0x3F000000;
  const uint32_t special = magnitude > 0x7F800000 ? 0x7E00 : 0x7C00;
  return sign | (magnitude >= 0x47800000 ? special : magnitude < 0x38800000 ? denormal : normal);
}

void HalfToFloats(const void* x, void* y, int64_t n) {
  const uint16_t* in = static_cast<const uint16_t*>(x);
  uint32_t* out = static_cast<uint32_t*>(y);
  int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8) {
    const __m128i h = _mm_loadu_si128(reinterpret_cast<const __m128i*>(in + i));
    _mm256_storeu_ps(reinterpret_cast<float*>(out + i), _mm256_cvtph_ps(h));
  }
#endif
  for (; i < n; ++i) out[i] = HalfBitsToFloatBits(in[i]);
}

void FloatsToHalf(const void* x, void* y, int64_t n) {
  const uint32_t* in = static_cast<const uint32_t*>(x);
  uint16_t* out = static_cast<uint16_t*>(y);
  int64_t i = 0;
#if defined(__F16C__)
  for (; i + 8 <= n; i += 8) {
    const __m256 f = _mm256_loadu_ps(reinterpret_cast<const float*>(in + i));
    _mm_storeu_si128(reinterpret_cast<__m128i*>(out + i), _mm256_cvtps_ph(f, _MM_FROUND_TO_NEAREST_INT));
  }
#endif
  for (; i < n; ++i) out[i] = static_cast<uint16_t>(FloatBitsToHalfBits(in[i]));
}

// From a number to a number. Where C++ leaves the result open (NaN, or beyond the integer's range), floats to integers
// get the lowest number of 32 bits, whose low bits smaller integers take, or of 64 bits.
template <class From, class To>
void Convert(const void* x, void* y, int64_t n) {
  const From* in = static_cast<const From*>(x);
  To* out = static_cast<To*>(y);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const From v = in[i];
    if constexpr (std::is_same_v<To, bool>) {
      out[i] = v != From(0);
    } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
      using Whole = std::conditional_t<sizeof(To) <= 4, int32_t, int64_t>;
      constexpr From kLimit = sizeof(To) <= 4 ? From(2147483648.0) : From(9223372036854775808.0);
      const Whole least = sizeof(To) <= 4 ? Whole{INT32_MIN} : static_cast<Whole>(INT64_MIN);
      out[i] = static_cast<To>(v >= -kLimit && v < kLimit ? static_cast<Whole>(v) : least);
    } else {
      out[i] = static_cast<To>(v);
    }
  }
}

// Unsigned integers are those of the same bits as signed ones, where the source has no more.
template <class From, class... To>
void FillFrom(Loops& loops, Types<To...>) {
  ((loops.cast[kTypeOf<From>][kTypeOf<To>] = &Convert<From, To>), ...);
  loops.cast[kTypeOf<From>][DT_UINT8] = &Convert<From, int8_t>;
  loops.cast[kTypeOf<From>][DT_UINT16] = &Convert<From, int16_t>;
  if constexpr (std::is_integral_v<From>) {
    loops.cast[kTypeOf<From>][DT_UINT32] = &Convert<From, int32_t>;
    loops.cast[kTypeOf<From>][DT_UINT64] = &Convert<From, int64_t>;
  }
}

// By their bits: denormal numbers count as zero in arithmetic, but are not.
void BFloat16ToBool(const void* x, void* y, int64_t n) {
  const uint16_t* in = static_cast<const uint16_t*>(x);
  bool* out = static_cast<bool*>(y);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = (in[i] & 0x7FFF) != 0;
}

// Complex numbers: their real part, another precision, and whether they are not zero.
template <class R>
void RealPart(const void* x, void* y, int64_t n) {
  const R* in = static_cast<const R*>(x);
  R* out = static_cast<R*>(y);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = in[2 * i];
}
template <class R>
void MakeComplex(const void* x, void* y, int64_t n) {
  const R* in = static_cast<const R*>(x);
  R* out = static_cast<R*>(y);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[2 * i] = in[i], out[2 * i + 1] = R(0);
}
template <class R>
void ComplexToBool(const void* x, void* y, int64_t n) {
  const R* in = static_cast<const R*>(x);
  bool* out = static_cast<bool*>(y);
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) out[i] = (in[2 * i] != R(0)) | (in[2 * i + 1] != R(0));
}
template <class From, class To>
void ConvertParts(const void* x, void* y, int64_t n) {
  Convert<From, To>(x, y, 2 * n);
}

}  // namespace

void FillCast(Loops& loops) {
  using Targets = Types<int8_t, int16_t, int32_t, int64_t, float, double, bool>;
  FillFrom<float>(loops, Targets{});
  FillFrom<double>(loops, Targets{});
  FillFrom<int8_t>(loops, Targets{});
  FillFrom<uint8_t>(loops, Targets{});
  FillFrom<int16_t>(loops, Targets{});
  FillFrom<uint16_t>(loops, Targets{});
  FillFrom<int32_t>(loops, Targets{});
  FillFrom<uint32_t>(loops, Targets{});
  FillFrom<int64_t>(loops, Targets{});
  FillFrom<uint64_t>(loops, Targets{});
  FillFrom<bool>(loops, Targets{});
  loops.cast[DT_BFLOAT16][DT_FLOAT] = &BFloat16ToFloat;
  loops.cast[DT_FLOAT][DT_BFLOAT16] = &FloatToBFloat16;
  loops.cast[DT_BFLOAT16][DT_BOOL] = &BFloat16ToBool;
  loops.cast[DT_HALF][DT_FLOAT] = &HalfToFloats;
  loops.cast[DT_FLOAT][DT_HALF] = &FloatsToHalf;
  loops.cast[DT_COMPLEX64][DT_FLOAT] = &RealPart<float>;
  loops.cast[DT_COMPLEX128][DT_DOUBLE] = &RealPart<double>;
  loops.cast[DT_FLOAT][DT_COMPLEX64] = &MakeComplex<float>;
  loops.cast[DT_DOUBLE][DT_COMPLEX128] = &MakeComplex<double>;
  loops.cast[DT_COMPLEX64][DT_BOOL] = &ComplexToBool<float>;
  loops.cast[DT_COMPLEX128][DT_BOOL] = &ComplexToBool<double>;
  loops.cast[DT_COMPLEX64][DT_COMPLEX128] = &ConvertParts<float, double>;
  loops.cast[DT_COMPLEX128][DT_COMPLEX64] = &ConvertParts<double, float>;
}

}  // namespace penstock::PENSTOCK_ISA
