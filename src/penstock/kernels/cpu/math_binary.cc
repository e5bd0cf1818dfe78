// Elementwise arithmetic of two tensors.
#include <cmath>
#include <complex>
#include <limits>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/elementwise.h"

namespace penstock {
namespace {

using RealFloats = Types<float, double>;
using AllFloats = Concat<Floats, Complexes>;
using FloatsAndInts = Concat<RealFloats, Ints>;

template <class T>
inline constexpr bool kIsComplex = std::is_same_v<T, Complex64> || std::is_same_v<T, Complex128>;

struct Add {
  static constexpr BinaryOp kLoop = BinaryOp::kAdd;
  using InLoop = Concat<FloatsAndInts, Complexes>;
  TString operator()(const TString& x, const TString& y) const {
    TString sum;
    char* to = sum.Resize(x.size() + y.size());
    std::memcpy(to, x.data(), x.size());
    std::memcpy(to + x.size(), y.data(), y.size());
    return sum;
  }
};
struct Sub {
  static constexpr BinaryOp kLoop = BinaryOp::kSub;
  using InLoop = Concat<FloatsAndInts, Complexes>;
};
struct Mul {
  static constexpr BinaryOp kLoop = BinaryOp::kMul;
  using InLoop = Concat<FloatsAndInts, Complexes>;
};
struct Maximum {
  static constexpr BinaryOp kLoop = BinaryOp::kMaximum;
  using InLoop = FloatsAndInts;
};
struct Minimum {
  static constexpr BinaryOp kLoop = BinaryOp::kMinimum;
  using InLoop = FloatsAndInts;
};
struct SquaredDifference {
  static constexpr BinaryOp kLoop = BinaryOp::kSquaredDifference;
  using InLoop = Types<float, double, int32_t, int64_t>;
  template <class T> T operator()(T x, T y) const { return std::conj(x - y) * (x - y); }
};

// Integer division: no zero divisor, and the one overflow (lowest / -1) wraps around.
template <class T>
void CheckDivisor(T y) {
  if (y == 0) [[unlikely]] throw InvalidArgument("Integer division by zero");
}
template <class T>
T Quotient(T x, T y) {
  if constexpr (std::is_signed_v<T>) {
    if (y == T(-1)) return T(0 - static_cast<std::make_unsigned_t<T>>(x));
  }
  return T(x / y);
}
template <class T>
T Remainder(T x, T y) {
  if constexpr (std::is_signed_v<T>) {
    if (y == T(-1)) return 0;
  }
  return T(x % y);
}

struct Div {
  static constexpr BinaryOp kLoop = BinaryOp::kDiv;
  using InLoop = RealFloats;
  template <class T> T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      CheckDivisor(y);
      return Quotient(x, y);
    } else {
      return x / y;
    }
  }
};
struct FloorDiv {
  template <class T> T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      CheckDivisor(y);
      const T q = Quotient(x, y);
      return std::is_signed_v<T> && (x < 0) != (y < 0) && Remainder(x, y) != 0 ? T(q - 1) : q;
    } else {
      return std::floor(x / y);
    }
  }
};
struct TruncateDiv {
  template <class T> T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      CheckDivisor(y);
      return Quotient(x, y);
    } else if constexpr (kIsComplex<T>) {
      return x / y;
    } else {
      return std::trunc(x / y);
    }
  }
};
struct FloorMod {
  template <class T> T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      CheckDivisor(y);
      const T r = Remainder(x, y);
      return r != 0 && (r < 0) != (y < 0) ? T(r + y) : r;
    } else {
      const T r = std::fmod(x, y);
      return r != 0 && (r < 0) != (y < 0) ? r + y : r;
    }
  }
};
struct TruncateMod {
  template <class T> T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      CheckDivisor(y);
      return Remainder(x, y);
    } else {
      return std::fmod(x, y);
    }
  }
};
struct MulNoNan { template <class T> T operator()(T x, T y) const { return y == T(0) ? T(0) : x * y; } };
struct DivNoNan { template <class T> T operator()(T x, T y) const { return y == T(0) ? T(0) : x / y; } };
struct Xlogy { template <class T> T operator()(T x, T y) const { return x == T(0) ? T(0) : x * std::log(y); } };
struct Xdivy { template <class T> T operator()(T x, T y) const { return x == T(0) ? T(0) : x / y; } };
struct Xlog1py {
  template <class T> T operator()(T x, T y) const {
    if constexpr (kIsComplex<T>) {
      return x == T(0) ? T(0) : x * std::log(T(1) + y);
    } else {
      return x == T(0) ? T(0) : x * std::log1p(y);
    }
  }
};
struct Pow {
  template <class T> T operator()(T x, T y) const {
    if constexpr (std::is_integral_v<T>) {
      if (y < 0) throw InvalidArgument("Integers to negative integer powers are not allowed");
      uint64_t result = 1, base = static_cast<uint64_t>(x);  // wraps around, as two's complement does
      for (auto e = static_cast<uint64_t>(y); e; e >>= 1, base *= base) {
        if (e & 1) result *= base;
      }
      return T(result);
    } else if constexpr (kIsComplex<T>) {
      if (y == T(0)) return T(1);
      if (x == T(0)) return T(0);
      return std::pow(x, y);
    } else {
      return std::pow(x, y);
    }
  }
};
struct Atan2 { template <class T> T operator()(T y, T x) const { return std::atan2(y, x); } };
struct NextAfter { template <class T> T operator()(T x, T y) const { return std::nextafter(x, y); } };
struct BitwiseAnd { template <class T> T operator()(T x, T y) const { return T(x & y); } };
struct BitwiseOr { template <class T> T operator()(T x, T y) const { return T(x | y); } };
struct BitwiseXor { template <class T> T operator()(T x, T y) const { return T(x ^ y); } };
// Shifts by more than there are bits, or by less than none, are clamped: the processor would do something else.
template <class T>
int ShiftBy(T y) {
  constexpr int kMost = sizeof(T) * 8 - 1;
  if constexpr (std::is_signed_v<T>) {
    if (y < 0) return 0;
  }
  return y > T(kMost) ? kMost : static_cast<int>(y);
}
struct LeftShift {
  template <class T> T operator()(T x, T y) const { return T(static_cast<uint64_t>(x) << ShiftBy(y)); }
};
struct RightShift { template <class T> T operator()(T x, T y) const { return T(x >> ShiftBy(y)); } };

}  // namespace

void RegisterMathBinaryKernels(KernelRegistry& kernels) {
  for (const char* name : {"Add", "AddV2"}) AddBinary<Add>(kernels, name, Numbers{});
  AddBinary<Add>(kernels, "Add", Types<TString>{});
  AddBinary<Sub>(kernels, "Sub", Numbers{});
  AddBinary<Mul>(kernels, "Mul", Numbers{});
  AddBinary<Div>(kernels, "Div", Numbers{});
  AddBinary<Div>(kernels, "RealDiv", AllFloats{});
  AddBinary<Maximum>(kernels, "Maximum", Reals{});
  AddBinary<Minimum>(kernels, "Minimum", Reals{});
  AddBinary<SquaredDifference>(kernels, "SquaredDifference",
                               Concat<AllFloats, Types<int32_t, int64_t>>{});
  AddBinary<FloorDiv>(kernels, "FloorDiv", Reals{});
  AddBinary<TruncateDiv>(kernels, "TruncateDiv", Reals{});
  AddBinary<FloorMod>(kernels, "FloorMod", Reals{});
  for (const char* name : {"TruncateMod", "Mod"}) {
    AddBinary<TruncateMod>(kernels, name, Concat<Floats, Types<int32_t, int64_t>>{});
  }
  AddBinary<MulNoNan>(kernels, "MulNoNan", AllFloats{});
  AddBinary<DivNoNan>(kernels, "DivNoNan", AllFloats{});
  AddBinary<Xlogy>(kernels, "Xlogy", AllFloats{});
  AddBinary<Xdivy>(kernels, "Xdivy", AllFloats{});
  AddBinary<Xlog1py>(kernels, "Xlog1py", AllFloats{});
  AddBinary<Pow>(kernels, "Pow", Concat<AllFloats, SignedInts>{});
  AddBinary<Atan2>(kernels, "Atan2", Floats{});
  AddBinary<NextAfter>(kernels, "NextAfter", RealFloats{});
  AddBinary<BitwiseAnd>(kernels, "BitwiseAnd", Ints{});
  AddBinary<BitwiseOr>(kernels, "BitwiseOr", Ints{});
  AddBinary<BitwiseXor>(kernels, "BitwiseXor", Ints{});
  AddBinary<LeftShift>(kernels, "LeftShift", Ints{});
  AddBinary<RightShift>(kernels, "RightShift", Ints{});
}

}  // namespace penstock
