// Elementwise arithmetic of two tensors.
#include <cmath>
#include <complex>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/math/elementwise.h"

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
  using InLoop = Concat<Types<float, double, int32_t, int64_t>, Complexes>;
};

// Division. The loops trust that no integer divisor is 0.
template <BinaryOp op, class T>
void Divide(const void* a, int64_t sa, const void* b, int64_t sb, void* out, int64_t n) {
  const T* y = static_cast<const T*>(b);
  bool zero = false;
  for (int64_t i = 0, divisors = sb ? n : 1; i < divisors; ++i) zero |= y[i] == 0;
  if (zero) throw InvalidArgument("Integer division by zero");
  CpuLoops()(op, kTypeOf<T>)(a, sa, b, sb, out, n);
}

struct Div {
  static constexpr BinaryOp kLoop = BinaryOp::kDiv;
  using InLoop = Concat<RealFloats, Complexes>;
  template <class T> T operator()(T x, T y) const { return x / y; }
};
struct FloorDiv {
  static constexpr BinaryOp kLoop = BinaryOp::kFloorDiv;
  using InLoop = RealFloats;
};
struct TruncateDiv {
  static constexpr BinaryOp kLoop = BinaryOp::kTruncateDiv;
  using InLoop = RealFloats;
};
struct FloorMod {
  static constexpr BinaryOp kLoop = BinaryOp::kFloorMod;
  using InLoop = Types<float>;
  template <class T> T operator()(T x, T y) const {
    const T r = std::fmod(x, y);
    return r != 0 && (r < 0) != (y < 0) ? r + y : r;
  }
};
struct TruncateMod {
  static constexpr BinaryOp kLoop = BinaryOp::kTruncateMod;
  using InLoop = Types<float>;
  template <class T> T operator()(T x, T y) const { return std::fmod(x, y); }
};
template <class T>
void Power(const void* a, int64_t sa, const void* b, int64_t sb, void* out, int64_t n) {
  const T* y = static_cast<const T*>(b);
  bool negative = false;
  for (int64_t i = 0, exponents = sb ? n : 1; i < exponents; ++i) negative |= y[i] < 0;
  if (negative) throw InvalidArgument("Integers to negative integer powers are not allowed");
  CpuLoops()(BinaryOp::kPow, kTypeOf<T>)(a, sa, b, sb, out, n);
}
// Integer kernels whose loop looks at the second operand first.
template <BinaryOp op, class... Ts>
struct CheckedIntegers : elementwise::BinaryKernel {
  explicit CheckedIntegers(const NodeView& node) : BinaryKernel(node, Pick(node.input_type(0)), 1000) {}
  static BinaryLoop Pick(DataType type) {
    BinaryLoop loop = nullptr;
    ((kTypeOf<Ts> == type ? (loop = op == BinaryOp::kPow ? &Power<Ts> : &Divide<op, Ts>, 0) : 0), ...);
    return loop;
  }
};
template <BinaryOp op, class... Ts>
void AddChecked(KernelRegistry& kernels, std::string_view name, Types<Ts...> types) {
  kernels.Add<CheckedIntegers<op, Ts...>>(name, types);
}

struct MulNoNan {
  template <class T> T operator()(T x, T y) const { return y == T(0) ? T(0) : x * y; }
};
struct DivNoNan {
  static constexpr BinaryOp kLoop = BinaryOp::kDivNoNan;
  using InLoop = Complexes;
  template <class T> T operator()(T x, T y) const { return y == T(0) ? T(0) : x / y; }
};
struct Xlogy {
  static constexpr BinaryOp kLoop = BinaryOp::kXlogy;
  using InLoop = Concat<RealFloats, Complexes>;
  template <class T> T operator()(T x, T y) const { return x == T(0) ? T(0) : x * std::log(y); }
};
struct Xdivy {
  static constexpr BinaryOp kLoop = BinaryOp::kXdivy;
  using InLoop = Complexes;
  template <class T> T operator()(T x, T y) const { return x == T(0) ? T(0) : x / y; }
};
struct Xlog1py {
  static constexpr BinaryOp kLoop = BinaryOp::kXlog1py;
  using InLoop = RealFloats;
  template <class T> T operator()(T x, T y) const { return x == T(0) ? T(0) : x * std::log(T(1) + y); }
};
struct Pow {
  static constexpr BinaryOp kLoop = BinaryOp::kPow;
  using InLoop = Types<float>;
  template <class T> T operator()(T x, T y) const {
    if constexpr (kIsComplex<T>) {
      if (y == T(0)) return T(1);
      if (x == T(0)) return T(0);
      return std::pow(x, y);
    } else {
      return std::pow(x, y);
    }
  }
};
struct Atan2 {
  static constexpr BinaryOp kLoop = BinaryOp::kAtan2;
  using InLoop = RealFloats;
};
struct NextAfter {
  template <class T> T operator()(T x, T y) const { return std::nextafter(x, y); }
};
struct BitwiseAnd {
  template <class T> T operator()(T x, T y) const { return T(x & y); }
};
struct BitwiseOr {
  template <class T> T operator()(T x, T y) const { return T(x | y); }
};
struct BitwiseXor {
  template <class T> T operator()(T x, T y) const { return T(x ^ y); }
};
struct LeftShift {
  static constexpr BinaryOp kLoop = BinaryOp::kLeftShift;
  using InLoop = Ints;
};
struct RightShift {
  static constexpr BinaryOp kLoop = BinaryOp::kRightShift;
  using InLoop = Ints;
};

}  // namespace

void RegisterMathBinaryKernels(KernelRegistry& kernels) {
  for (const char* name : {"Add", "AddV2"}) AddBinary<Add>(kernels, name, Numbers{});
  AddBinary<Add>(kernels, "Add", Types<TString>{});
  AddBinary<Sub>(kernels, "Sub", Numbers{});
  AddBinary<Mul>(kernels, "Mul", Numbers{});
  for (const char* name : {"Div", "RealDiv"}) AddBinary<Div>(kernels, name, AllFloats{});
  AddChecked<BinaryOp::kTruncateDiv>(kernels, "Div", Ints{});
  AddBinary<Maximum>(kernels, "Maximum", Reals{});
  AddBinary<Minimum>(kernels, "Minimum", Reals{});
  AddBinary<SquaredDifference>(kernels, "SquaredDifference", Concat<AllFloats, Types<int32_t, int64_t>>{});
  AddBinary<FloorDiv>(kernels, "FloorDiv", Floats{});
  AddChecked<BinaryOp::kFloorDiv>(kernels, "FloorDiv", Ints{});
  AddBinary<TruncateDiv>(kernels, "TruncateDiv", Floats{});
  AddChecked<BinaryOp::kTruncateDiv>(kernels, "TruncateDiv", Ints{});
  AddBinary<FloorMod>(kernels, "FloorMod", Floats{});
  AddChecked<BinaryOp::kFloorMod>(kernels, "FloorMod", Ints{});
  for (const char* name : {"TruncateMod", "Mod"}) {
    AddBinary<TruncateMod>(kernels, name, Floats{});
    AddChecked<BinaryOp::kTruncateMod>(kernels, name, Types<int32_t, int64_t>{});
  }
  AddBinary<MulNoNan>(kernels, "MulNoNan", AllFloats{});
  AddBinary<DivNoNan>(kernels, "DivNoNan", AllFloats{});
  AddBinary<Xlogy>(kernels, "Xlogy", AllFloats{});
  AddBinary<Xdivy>(kernels, "Xdivy", AllFloats{});
  AddBinary<Xlog1py>(kernels, "Xlog1py", AllFloats{});
  AddBinary<Pow>(kernels, "Pow", AllFloats{});
  AddChecked<BinaryOp::kPow>(kernels, "Pow", SignedInts{});
  AddBinary<Atan2>(kernels, "Atan2", Floats{});
  AddBinary<NextAfter>(kernels, "NextAfter", RealFloats{});
  AddBinary<BitwiseAnd>(kernels, "BitwiseAnd", Ints{});
  AddBinary<BitwiseOr>(kernels, "BitwiseOr", Ints{});
  AddBinary<BitwiseXor>(kernels, "BitwiseXor", Ints{});
  AddBinary<LeftShift>(kernels, "LeftShift", Ints{});
  AddBinary<RightShift>(kernels, "RightShift", Ints{});
}

}  // namespace penstock
