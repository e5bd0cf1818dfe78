// Conversion between types. Frequent pairs have a loop of their own (loops/cast.cc), or one to float or double and one
// from there; every other pair goes through a wide type that holds both (int64, double, complex128). Two steps are
// taken block by block, so that N types need N loops in and N loops out.
//
// Where C++ leaves the result open (NaN or a float beyond the range of the integer) it is what TensorFlow gives on x86:
// the lowest int32 or int64, whose low bits smaller integers take.
#include <bit>
#include <cmath>
#include <vector>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/math/elementwise.h"
#include "penstock/kernels/cpu/quantization/quantized.h"
#include "penstock/tensor/quantized_types.h"

namespace penstock {
namespace {

int32_t ToInt32(double v) { return v > -2147483649.0 && v < 2147483648.0 ? static_cast<int32_t>(v) : INT32_MIN; }
int64_t ToInt64(double v) {
  return v >= -9223372036854775808.0 && v < 9223372036854775808.0 ? static_cast<int64_t>(v) : INT64_MIN;
}
uint32_t ToUint32(double v) {
  return v > -2147483649.0 && v < 4294967296.0 ? static_cast<uint32_t>(static_cast<int64_t>(v)) : 0x80000000u;
}
uint64_t ToUint64(double v) {
  if (v >= 9223372036854775808.0 && v < 18446744073709551616.0) return static_cast<uint64_t>(v);
  return static_cast<uint64_t>(ToInt64(v));
}

// What a type is widened to: 0 int64, 1 uint64, 2 double, 3 complex128.
enum class Wide { kInt, kUint, kDouble, kComplex };

template <class T>
constexpr Wide WideOf() {
  if constexpr (std::is_same_v<T, uint64_t>)
    return Wide::kUint;
  else if constexpr (std::is_integral_v<T>)
    return Wide::kInt;
  else if constexpr (std::is_same_v<T, Complex64> || std::is_same_v<T, Complex128>)
    return Wide::kComplex;
  else
    return Wide::kDouble;
}
Wide WideOf(DataType t) {
  if (t == DT_UINT64) return Wide::kUint;
  if (IsComplex(t)) return Wide::kComplex;
  return IsFloating(t) ? Wide::kDouble : Wide::kInt;
}

// From any T into a wide W.
template <class T, class W>
void Widen(const void* x, void* y, int64_t n) {
  const T* in = static_cast<const T*>(x);
  W* out = static_cast<W*>(y);
  for (int64_t i = 0; i < n; ++i) out[i] = static_cast<W>(in[i]);
}
// From a wide W into any T.
template <class W, class T>
T NarrowOne(W v) {
  if constexpr (std::is_same_v<W, Complex128>) {
    if constexpr (WideOf<T>() == Wide::kComplex)
      return T(v);
    else if constexpr (std::is_same_v<T, bool>)
      return v.real() != 0 || v.imag() != 0;
    else
      return NarrowOne<double, T>(v.real());
  } else if constexpr (std::is_same_v<T, bool>) {
    return v != 0;
  } else if constexpr (std::is_same_v<W, double> && std::is_integral_v<T>) {
    if constexpr (std::is_same_v<T, uint64_t>)
      return ToUint64(v);
    else if constexpr (std::is_same_v<T, int64_t>)
      return ToInt64(v);
    else if constexpr (std::is_same_v<T, uint32_t>)
      return ToUint32(v);
    else
      return static_cast<T>(ToInt32(v));
  } else if constexpr (std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>) {
    // Wide integers and doubles are first rounded to float, as TensorFlow does.
    return T(static_cast<float>(v));
  } else if constexpr (WideOf<T>() == Wide::kComplex) {
    return T(static_cast<typename T::value_type>(v));
  } else {
    return static_cast<T>(v);
  }
}
template <class W, class T>
void Narrow(const void* x, void* y, int64_t n) {
  const W* in = static_cast<const W*>(x);
  T* out = static_cast<T*>(y);
  for (int64_t i = 0; i < n; ++i) out[i] = NarrowOne<W, T>(in[i]);
}

struct Steps {
  UnaryLoop widen = nullptr;  // into the widest form of the source
  UnaryLoop narrow[4] = {};   // from each wide form into the destination
};
template <class T>
Steps StepsOf() {
  Steps s;
  constexpr Wide kWide = WideOf<T>();
  using W = std::conditional_t<kWide == Wide::kInt, int64_t,
                               std::conditional_t<kWide == Wide::kUint, uint64_t,
                                                  std::conditional_t<kWide == Wide::kDouble, double, Complex128>>>;
  s.widen = &Widen<T, W>;
  s.narrow[0] = &Narrow<int64_t, T>;
  s.narrow[1] = &Narrow<uint64_t, T>;
  s.narrow[2] = &Narrow<double, T>;
  s.narrow[3] = &Narrow<Complex128, T>;
  return s;
}
template <class... Ts>
Steps FindSteps(DataType type, Types<Ts...>) {
  Steps s;
  ((kTypeOf<Ts> == type ? (s = StepsOf<Ts>(), 0) : 0), ...);
  return s;
}

// float8: one byte with few bits of exponent and mantissa.
struct Float8Format {
  int exponent_bits, bias;
  bool has_infinity;  // as IEEE; otherwise one NaN only (with or without a sign, "fnuz": -0's pattern)
  bool unsigned_zero;
};
bool Float8FormatOf(DataType t, Float8Format* f) {
  switch (t) {
    case DT_FLOAT8_E5M2: *f = {5, 15, true, false}; return true;
    case DT_FLOAT8_E4M3FN: *f = {4, 7, false, false}; return true;
    case DT_FLOAT8_E4M3FNUZ: *f = {4, 8, false, true}; return true;
    case DT_FLOAT8_E4M3B11FNUZ: *f = {4, 11, false, true}; return true;
    case DT_FLOAT8_E5M2FNUZ: *f = {5, 16, false, true}; return true;
    default: return false;
  }
}
float Float8Value(const Float8Format& f, uint8_t bits) {
  const int mantissa_bits = 7 - f.exponent_bits;
  const int exponent = (bits & 0x7F) >> mantissa_bits, mantissa = bits & ((1 << mantissa_bits) - 1);
  const int top = (1 << f.exponent_bits) - 1;
  const float sign = bits & 0x80 ? -1.0f : 1.0f;
  if (f.has_infinity && exponent == top) return mantissa ? NAN : sign * INFINITY;
  if (f.unsigned_zero ? bits == 0x80 : !f.has_infinity && (bits & 0x7F) == 0x7F) return NAN;
  if (exponent == 0) return sign * std::ldexp(static_cast<float>(mantissa), 1 - f.bias - mantissa_bits);
  return sign * std::ldexp(static_cast<float>(mantissa + (1 << mantissa_bits)), exponent - f.bias - mantissa_bits);
}
uint8_t Float8Bits(const Float8Format& f, float v) {
  const int mantissa_bits = 7 - f.exponent_bits;
  const uint8_t sign = std::signbit(v) ? 0x80 : 0;
  const uint8_t nan = f.unsigned_zero ? 0x80 : f.has_infinity ? 0x7E : 0x7F;
  if (std::isnan(v)) return f.unsigned_zero ? nan : uint8_t(sign | nan);
  const uint8_t overflow = f.has_infinity ? uint8_t(sign | 0x7C) : f.unsigned_zero ? nan : uint8_t(sign | nan);
  if (std::isinf(v)) return overflow;
  // Among the magnitudes, which grow with their bits, the nearest; ties to even.
  const float a = std::fabs(v);
  if (a == 0) return f.unsigned_zero ? 0 : sign;
  const int exponent = std::max(std::ilogb(a), 1 - f.bias);
  const float units = std::nearbyint(std::ldexp(a, mantissa_bits - exponent));
  const int bits = (exponent + f.bias - 1) * (1 << mantissa_bits) + static_cast<int>(units);
  const int largest = f.has_infinity ? 0x7B : f.unsigned_zero ? 0x7F : 0x7E;
  if (bits > largest) return overflow;
  return bits == 0 && f.unsigned_zero ? 0 : uint8_t(sign | bits);
}

// The integers of 4 bits have a byte each: int4 lies there as an int8.
DataType ByteBehind(DataType t) { return t == DT_INT4 ? DT_INT8 : t == DT_UINT4 ? DT_UINT8 : IntegerBehind(t); }
int8_t SignOfNibble(int8_t bits) { return static_cast<int8_t>(static_cast<int8_t>(bits << 4) >> 4); }
bool IsNibble(DataType t) { return t == DT_INT4 || t == DT_UINT4; }

class Cast {
 public:
  explicit Cast(const NodeView& node)
      : from_(ByteBehind(node.input_type(0))),
        to_(ByteBehind(node.output_type(0))),
        nibble_(IsNibble(node.output_type(0)) ? node.output_type(0) : DT_INVALID) {
    from_small_ = Float8FormatOf(from_, &from_format_);
    to_small_ = Float8FormatOf(to_, &to_format_);
    const auto steps = [](DataType t, bool small) { return FindSteps(small ? DT_FLOAT : t, PodTypes{}); };
    if (node.input_type(0) == node.output_type(0)) return;
    const Steps source = steps(from_, from_small_), destination = steps(to_, to_small_);
    const bool of_nibbles = nibble_ != DT_INVALID || IsNibble(node.input_type(0));
    if (!source.widen || !destination.widen || (of_nibbles && !(IsInteger(from_) && IsInteger(to_)))) {
      throw Unimplemented("Cast ", ToString(node.input_type(0)), " to ", ToString(node.output_type(0)),
                          " is not supported");
    }
    widen_ = source.widen;
    narrow_ = destination.narrow[static_cast<int>(WideOf(from_small_ ? DT_FLOAT : from_))];
    if (!from_small_ && !to_small_) FindLoops();
    if (node.attr<bool>("Truncate")) lost_bits_ = LostBits();
  }
  void operator()(KernelContext& k) const {
    if (k.node().input_type(0) == k.node().output_type(0)) return k.SetOutput(0, k.input(0));
    const Tensor& x = k.input(0);
    Tensor& y = k.Output(0, x.shape());
    const char* in = static_cast<const char*>(x.raw());
    std::vector<int8_t> extended;
    if (k.node().input_type(0) == DT_INT4) {  // the upper bits are anything
      extended.assign(in, in + x.num_elements());
      for (int8_t& v : extended) v = SignOfNibble(v);
      in = reinterpret_cast<const char*>(extended.data());
    }
    char* out = static_cast<char*>(y.mutable_raw());
    const size_t in_size = DataTypeSize(from_), out_size = DataTypeSize(to_);
    ParallelElements(k, x.num_elements(), direct_ || half_way_ ? 300 : 2000, [&](int64_t begin, int64_t end) {
      if (lost_bits_ > 0) {
        alignas(64) char cut[kBlock * 16];
        for (int64_t i = begin; i < end; i += kBlock) {
          const int64_t n = std::min(kBlock, end - i);
          CutBits(in + i * in_size, cut, n);
          Convert(cut, out + i * out_size, n);
        }
      } else {
        Convert(in + begin * in_size, out + begin * out_size, end - begin);
      }
      if (nibble_ == DT_INT4) {
        for (int64_t i = begin; i < end; ++i) out[i] = SignOfNibble(out[i]);
      } else if (nibble_ == DT_UINT4) {
        for (int64_t i = begin; i < end; ++i) out[i] &= 15;
      }
    });
  }

 private:
  // Half, bfloat16 and complex64 are floats on the way, and complex128 doubles: nothing is rounded that would not be.
  void FindLoops() {
    const auto& cast = CpuLoops().cast;
    direct_ = cast[from_][to_];
    if (direct_) return;
    const DataType between = from_ == DT_COMPLEX128 || to_ == DT_COMPLEX128 ? DT_DOUBLE : DT_FLOAT;
    if (between == DT_FLOAT && !FitsFloat(from_) && !FitsFloat(to_)) return;
    if (!cast[from_][between] || !cast[between][to_]) return;
    half_way_ = cast[from_][between];
    rest_ = cast[between][to_];
  }
  static bool FitsFloat(DataType t) { return t == DT_HALF || t == DT_BFLOAT16 || t == DT_COMPLEX64; }

  // How many bits of a number's mantissa the result has no room for, if they are dropped and not rounded. Only floats
  // lose them on the way to bfloat16.
  int LostBits() const {
    if (to_ == DT_BFLOAT16 && from_ != DT_FLOAT) return 0;
    const int from = from_small_ ? 7 - from_format_.exponent_bits : MantissaBits(from_);
    const int to = to_small_ ? 7 - to_format_.exponent_bits : MantissaBits(to_);
    return from > 0 && to > 0 ? std::max(from - to, 0) : 0;
  }
  static int MantissaBits(DataType t) {
    switch (t) {
      case DT_DOUBLE:
      case DT_COMPLEX128: return 52;
      case DT_FLOAT:
      case DT_COMPLEX64: return 23;
      case DT_HALF: return 10;
      case DT_BFLOAT16: return 7;
      default: return 0;
    }
  }
  // Sets the bits to zero that are lost, but for those of NaN.
  void CutBits(const char* x, char* y, int64_t n) const {
    switch (from_) {
      case DT_COMPLEX128: return CutBits<uint64_t>(x, y, 2 * n, 0x7FF0000000000000);
      case DT_DOUBLE: return CutBits<uint64_t>(x, y, n, 0x7FF0000000000000);
      case DT_COMPLEX64: return CutBits<uint32_t>(x, y, 2 * n, 0x7F800000);
      case DT_FLOAT: return CutBits<uint32_t>(x, y, n, 0x7F800000);
      case DT_HALF: return CutBits<uint16_t>(x, y, n, 0x7C00);
      case DT_BFLOAT16: return CutBits<uint16_t>(x, y, n, 0x7F80);
      default: return CutBits<uint8_t>(x, y, n, from_format_.has_infinity ? 0x7C : 0x7E);
    }
  }
  template <class U>
  void CutBits(const char* x, char* y, int64_t n, U greatest) const {
    const U *in = reinterpret_cast<const U*>(x), kept = static_cast<U>(~U{0} << lost_bits_);
    U* out = reinterpret_cast<U*>(y);
    for (int64_t i = 0; i < n; ++i) {
      out[i] = (in[i] & static_cast<U>(~U{0} >> 1)) > greatest ? in[i] : static_cast<U>(in[i] & kept);
    }
  }

  void Convert(const char* in, char* out, int64_t count) const {
    if (direct_) return direct_(in, out, count);
    const size_t in_size = DataTypeSize(from_), out_size = DataTypeSize(to_);
    alignas(64) char wide[kBlock * 16];
    alignas(64) float floats[kBlock];
    for (int64_t i = 0; i < count; i += kBlock) {
      const int64_t n = std::min(kBlock, count - i);
      const void* source = in + i * in_size;
      void* destination = out + i * out_size;
      if (half_way_) {
        half_way_(source, wide, n);
        rest_(wide, destination, n);
        continue;
      }
      if (from_small_) {
        for (int64_t j = 0; j < n; ++j) floats[j] = Float8Value(from_format_, static_cast<const uint8_t*>(source)[j]);
        source = floats;
      }
      widen_(source, wide, n);
      narrow_(wide, to_small_ ? floats : destination, n);
      if (to_small_) {
        for (int64_t j = 0; j < n; ++j) static_cast<uint8_t*>(destination)[j] = Float8Bits(to_format_, floats[j]);
      }
    }
  }

  static constexpr int64_t kBlock = 256;
  DataType from_, to_;
  DataType nibble_;  // the result's type, if only 4 bits of it are kept
  bool from_small_ = false, to_small_ = false;
  int lost_bits_ = 0;  // of each number, set to zero first
  Float8Format from_format_{}, to_format_{};
  UnaryLoop widen_ = nullptr, narrow_ = nullptr, direct_ = nullptr;
  UnaryLoop half_way_ = nullptr, rest_ = nullptr;  // instead of these: to float or double, and from there
};

struct Bitcast {
  void operator()(KernelContext& k) const {
    const Tensor& x = k.input(0);
    const DataType to = k.node().output_type(0);
    const size_t from_size = DataTypeSize(x.dtype()), to_size = DataTypeSize(to);
    k.Require(from_size && to_size, "Cannot bitcast types ", x.dtype(), " to ", to);
    Shape shape = x.shape();
    if (from_size > to_size) {
      shape.AddDim(static_cast<int64_t>(from_size / to_size));
    } else if (from_size < to_size) {
      const int64_t factor = static_cast<int64_t>(to_size / from_size);
      k.Require(shape.rank() > 0 && shape.dim(shape.rank() - 1) == factor, "Cannot bitcast from ", x.dtype(), " to ",
                to, ": shape ", x.shape());
      shape.RemoveDim(shape.rank() - 1);
    }
    k.SetOutput(0, x.ViewAs(to, shape));
  }
};

}  // namespace

void RegisterCastKernels(KernelRegistry& kernels) {
  kernels.Add<Cast>("Cast");
  kernels.Add<Bitcast>("Bitcast");
}

}  // namespace penstock
