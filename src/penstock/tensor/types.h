// DataType (TensorFlow's numbers) and the C++ type behind each.
#pragma once

#include <bit>
#include <complex>
#include <cstdint>
#include <string>
#include <string_view>

namespace penstock {

enum DataType : int {
  DT_INVALID = 0,
  DT_FLOAT = 1,
  DT_DOUBLE = 2,
  DT_INT32 = 3,
  DT_UINT8 = 4,
  DT_INT16 = 5,
  DT_INT8 = 6,
  DT_STRING = 7,
  DT_COMPLEX64 = 8,
  DT_INT64 = 9,
  DT_BOOL = 10,
  DT_QINT8 = 11,
  DT_QUINT8 = 12,
  DT_QINT32 = 13,
  DT_BFLOAT16 = 14,
  DT_QINT16 = 15,
  DT_QUINT16 = 16,
  DT_UINT16 = 17,
  DT_COMPLEX128 = 18,
  DT_HALF = 19,
  DT_RESOURCE = 20,
  DT_VARIANT = 21,
  DT_UINT32 = 22,
  DT_UINT64 = 23,
  DT_FLOAT8_E5M2 = 24,
  DT_FLOAT8_E4M3FN = 25,
  DT_FLOAT8_E4M3FNUZ = 26,
  DT_FLOAT8_E4M3B11FNUZ = 27,
  DT_FLOAT8_E5M2FNUZ = 28,
  DT_INT4 = 29,
  DT_UINT4 = 30,
  DT_INT2 = 31,
  DT_UINT2 = 32,
};
inline constexpr int kRefOffset = 100;  // a reference type's number is its base type's plus this

constexpr DataType BaseType(DataType t) { return t > kRefOffset ? DataType(t - kRefOffset) : t; }
constexpr DataType RefType(DataType t) { return t > kRefOffset ? t : DataType(t + kRefOffset); }
constexpr bool IsRef(DataType t) { return t > kRefOffset; }

std::string ToString(DataType t);                  // "float", "int32_ref": as TensorFlow's DataTypeString
DataType DataTypeFromName(std::string_view name);  // "float", "float32", "DT_FLOAT", "int32_ref"; DT_INVALID if none
size_t DataTypeSize(DataType t);                   // bytes of an element in memory; 0 for DT_INVALID
bool IsFloating(DataType t);                       // half, bfloat16, float, double, float8
bool IsComplex(DataType t);
bool IsInteger(DataType t);  // signed or unsigned, not quantised
bool IsQuantized(DataType t);
bool IsPod(DataType t);  // everything but string, resource, variant
bool IsNumber(DataType t);

// IEEE half precision and bfloat16. Arithmetic is done in float, each operation rounded to nearest even.
float HalfToFloat(uint16_t bits);
uint16_t FloatToHalf(float f);

struct Half {
  uint16_t bits = 0;
  Half() = default;
  template <class A>
    requires std::is_arithmetic_v<A>
  explicit Half(A v) : bits(FloatToHalf(static_cast<float>(v))) {}
  operator float() const { return HalfToFloat(bits); }  // NOLINT: behaves as a number
};

struct BFloat16 {
  uint16_t bits = 0;
  BFloat16() = default;
  template <class A>
    requires std::is_arithmetic_v<A>
  explicit BFloat16(A v) : bits(Round(static_cast<float>(v))) {}
  operator float() const { return std::bit_cast<float>(uint32_t(bits) << 16); }  // NOLINT: behaves as a number
  static uint16_t Round(float f) {
    uint32_t u = std::bit_cast<uint32_t>(f);
    if (f != f) return 0x7FC0 | uint16_t((u >> 16) & 0x8000);
    return uint16_t((u + 0x7FFF + ((u >> 16) & 1)) >> 16);
  }
};

#define PENSTOCK_FLOAT16_OPERATORS(F)                               \
  inline F operator+(F a, F b) { return F(float(a) + float(b)); }   \
  inline F operator-(F a, F b) { return F(float(a) - float(b)); }   \
  inline F operator*(F a, F b) { return F(float(a) * float(b)); }   \
  inline F operator/(F a, F b) { return F(float(a) / float(b)); }   \
  inline F operator-(F a) {                                         \
    F r;                                                            \
    r.bits = a.bits ^ 0x8000;                                       \
    return r;                                                       \
  }                                                                 \
  inline F& operator+=(F& a, F b) { return a = a + b; }             \
  inline F& operator-=(F& a, F b) { return a = a - b; }             \
  inline F& operator*=(F& a, F b) { return a = a * b; }             \
  inline F& operator/=(F& a, F b) { return a = a / b; }             \
  inline bool operator==(F a, F b) { return float(a) == float(b); } \
  inline bool operator!=(F a, F b) { return float(a) != float(b); } \
  inline bool operator<(F a, F b) { return float(a) < float(b); }   \
  inline bool operator>(F a, F b) { return float(a) > float(b); }   \
  inline bool operator<=(F a, F b) { return float(a) <= float(b); } \
  inline bool operator>=(F a, F b) { return float(a) >= float(b); }
PENSTOCK_FLOAT16_OPERATORS(Half)
PENSTOCK_FLOAT16_OPERATORS(BFloat16)
#undef PENSTOCK_FLOAT16_OPERATORS

// Quantised integers are distinct types around their integer.
template <class I, DataType kType>
struct Quantized {
  I value = 0;
};
using QInt8 = Quantized<int8_t, DT_QINT8>;
using QUInt8 = Quantized<uint8_t, DT_QUINT8>;
using QInt16 = Quantized<int16_t, DT_QINT16>;
using QUInt16 = Quantized<uint16_t, DT_QUINT16>;
using QInt32 = Quantized<int32_t, DT_QINT32>;
// Types that are only stored and cast here: one byte each.
template <DataType kType>
struct Byte {
  uint8_t bits = 0;
};

using Complex64 = std::complex<float>;
using Complex128 = std::complex<double>;

class TString;         // tstring.h
class ResourceHandle;  // resource_handle.h
class Variant;         // variant.h

template <class T>
struct TypeOf;
#define PENSTOCK_TYPE(T, DT)              \
  template <>                             \
  struct TypeOf<T> {                      \
    static constexpr DataType value = DT; \
  };
PENSTOCK_TYPE(float, DT_FLOAT)
PENSTOCK_TYPE(double, DT_DOUBLE)
PENSTOCK_TYPE(int32_t, DT_INT32)
PENSTOCK_TYPE(uint8_t, DT_UINT8)
PENSTOCK_TYPE(int16_t, DT_INT16)
PENSTOCK_TYPE(int8_t, DT_INT8)
PENSTOCK_TYPE(TString, DT_STRING)
PENSTOCK_TYPE(Complex64, DT_COMPLEX64)
PENSTOCK_TYPE(int64_t, DT_INT64)
PENSTOCK_TYPE(bool, DT_BOOL)
PENSTOCK_TYPE(QInt8, DT_QINT8)
PENSTOCK_TYPE(QUInt8, DT_QUINT8)
PENSTOCK_TYPE(QInt16, DT_QINT16)
PENSTOCK_TYPE(QUInt16, DT_QUINT16)
PENSTOCK_TYPE(QInt32, DT_QINT32)
PENSTOCK_TYPE(BFloat16, DT_BFLOAT16)
PENSTOCK_TYPE(uint16_t, DT_UINT16)
PENSTOCK_TYPE(Complex128, DT_COMPLEX128)
PENSTOCK_TYPE(Half, DT_HALF)
PENSTOCK_TYPE(ResourceHandle, DT_RESOURCE)
PENSTOCK_TYPE(Variant, DT_VARIANT)
PENSTOCK_TYPE(uint32_t, DT_UINT32)
PENSTOCK_TYPE(uint64_t, DT_UINT64)
#undef PENSTOCK_TYPE
template <class T>
inline constexpr DataType kTypeOf = TypeOf<T>::value;

// Lists of types: what a kernel is instantiated for, what an attribute allows.
template <class... Ts>
struct Types {};
template <class A, class B>
struct ConcatTypes;
template <class... A, class... B>
struct ConcatTypes<Types<A...>, Types<B...>> {
  using type = Types<A..., B...>;
};
template <class A, class B>
using Concat = typename ConcatTypes<A, B>::type;

using Floats = Types<Half, BFloat16, float, double>;
using Complexes = Types<Complex64, Complex128>;
using SignedInts = Types<int8_t, int16_t, int32_t, int64_t>;
using UnsignedInts = Types<uint8_t, uint16_t, uint32_t, uint64_t>;
using Ints = Concat<SignedInts, UnsignedInts>;
using Reals = Concat<Floats, Ints>;        // TensorFlow's realnumbertype
using Numbers = Concat<Reals, Complexes>;  // TensorFlow's numbertype without the quantised
using Indices = Types<int32_t, int64_t>;
using Quantizeds = Types<QInt8, QUInt8, QInt16, QUInt16, QInt32>;
using PodTypes = Concat<Numbers, Types<bool>>;
using AllTypes = Concat<PodTypes, Types<TString, ResourceHandle, Variant>>;

}  // namespace penstock
