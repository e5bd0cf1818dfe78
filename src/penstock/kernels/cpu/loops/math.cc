// Transcendental functions, written without branches so that the compiler turns them into vector code. All are within
// 2.5 ulp, erfc within 3.5 (tests/cc/kernels/cpu/accuracy_test.cc), and right at zero, infinities, NaN, denormals and
// huge arguments.
#include "penstock/kernels/cpu/loops/elementwise.h"
#include "penstock/kernels/cpu/loops/error_functions.h"
#include "penstock/kernels/cpu/loops/exponential.h"
#include "penstock/kernels/cpu/loops/trigonometry.h"

namespace penstock::PENSTOCK_ISA {
namespace {

template <class T>
T Elu(T x) {
  return x < T(0) ? Expm1(x) : x;
}
// Constants that keep a mean of 0 and a variance of 1.
template <class T>
T Selu(T x) {
  return x < T(0) ? T(1.7580993408473768599402175208123) * Expm1(x) : T(1.0507009873554804934193349852946) * x;
}
template <class T>
T SoftplusGrad(T dy, T x) {
  return dy / (Exp(-x) + T(1));
}

// In double: the exponential magnifies the error of its argument.
float Pow(float x, float y) {
  const double power = y, size = Exp(power * Log(Abs(double{x})));
  const double whole = __builtin_trunc(power), half = 0.5 * whole;
  const bool fraction = whole != power, odd = (__builtin_trunc(half) != half) & !fraction;
  const bool negative = Bits(x) < 0;
  double result = negative & odd ? -size : size;
  result = negative & fraction & (x < 0.0f) & (x > -kInfinity<float>) ? kNan<double> : result;
  const bool one = (y == 0.0f) | (x == 1.0f) | ((x == -1.0f) & (Abs(y) == kInfinity<float>));
  return static_cast<float>(one ? 1.0 : result);
}

// Blocks all of whose numbers are usual are spared what others need.
template <class T, bool is_usual(T), T usual(T), T any(T)>
[[gnu::flatten]] void ByBlock(const void* in, void* out, int64_t n) {
  constexpr int64_t kBlock = 256;
  const T* x = static_cast<const T*>(in);
  T* y = static_cast<T*>(out);
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = begin + kBlock < n ? begin + kBlock : n;
    BitsOf<T> others = 0;
    for (int64_t i = begin; i < end; ++i) others |= !is_usual(x[i]);
    if (others) {
#pragma GCC ivdep
      for (int64_t i = begin; i < end; ++i) y[i] = any(x[i]);
    } else {
#pragma GCC ivdep
      for (int64_t i = begin; i < end; ++i) y[i] = usual(x[i]);
    }
  }
}
template <class T>
T PlainLog(T x) {
  return LogOfNormal(x);
}
bool HasFewTurns(float angle) { return Abs(angle) < kTurnsLimit; }
float LibmSin(float x) { return __builtin_sinf(x); }
float LibmCos(float x) { return __builtin_cosf(x); }
float LibmTan(float x) { return __builtin_tanf(x); }

template <class T>
void FillFunctions(Loops& loops) {
  const auto unary = [&](UnaryOp op, UnaryLoop loop) { loops.unary[static_cast<int>(op)][kTypeOf<T>] = loop; };
  const auto binary = [&](BinaryOp op, BinaryLoop loop) { loops.binary[static_cast<int>(op)][kTypeOf<T>] = loop; };
  unary(UnaryOp::kExp, kMap<T, Exp<T>>);
  unary(UnaryOp::kExpm1, kMap<T, Expm1<T>>);
  unary(UnaryOp::kLog, &ByBlock<T, IsPositiveNormal<T>, PlainLog<T>, Log<T>>);
  unary(UnaryOp::kLog1p, kMap<T, Log1p<T>>);
  unary(UnaryOp::kSigmoid, kMap<T, Sigmoid<T>>);
  unary(UnaryOp::kSoftplus, kMap<T, Softplus<T>>);
  unary(UnaryOp::kTanh, kMap<T, Tanh<T>>);
  unary(UnaryOp::kSinh, kMap<T, Sinh<T>>);
  unary(UnaryOp::kCosh, kMap<T, Cosh<T>>);
  unary(UnaryOp::kAsinh, kMap<T, Asinh<T>>);
  unary(UnaryOp::kAcosh, kMap<T, Acosh<T>>);
  unary(UnaryOp::kAtanh, kMap<T, Atanh<T>>);
  unary(UnaryOp::kAtan, kMap<T, Atan<T>>);
  unary(UnaryOp::kErf, kMap<T, Erf<T>>);
  unary(UnaryOp::kErfc, kMap<T, Erfc<T>>);
  unary(UnaryOp::kElu, kMap<T, Elu<T>>);
  unary(UnaryOp::kSelu, kMap<T, Selu<T>>);
  binary(BinaryOp::kSoftplusGrad, kMap2<T, SoftplusGrad<T>>);
  binary(BinaryOp::kAtan2, kMap2<T, Atan2<T>>);
  binary(BinaryOp::kXlogy, kMap2<T, Xlogy<T>>);
  binary(BinaryOp::kXlog1py, kMap2<T, Xlog1py<T>>);
}

}  // namespace

void FillMath(Loops& loops) {
  FillFunctions<float>(loops);
  FillFunctions<double>(loops);
  const auto of_float = [&](UnaryOp op, UnaryLoop loop) { loops.unary[static_cast<int>(op)][DT_FLOAT] = loop; };
  loops.binary[static_cast<int>(BinaryOp::kPow)][DT_FLOAT] = kMap2<float, Pow>;
  of_float(UnaryOp::kAsin, kMap<float, Asin>);
  of_float(UnaryOp::kAcos, kMap<float, Acos>);
  of_float(UnaryOp::kSin, &ByBlock<float, HasFewTurns, Sin<false>, LibmSin>);
  of_float(UnaryOp::kCos, &ByBlock<float, HasFewTurns, Sin<true>, LibmCos>);
  of_float(UnaryOp::kTan, &ByBlock<float, HasFewTurns, Tan, LibmTan>);
}

}  // namespace penstock::PENSTOCK_ISA
