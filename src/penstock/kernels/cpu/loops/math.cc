// Transcendental functions of floats, written without branches so that the compiler turns them into vector code. All
// are within 2 ulp, and right at zero, infinities, NaN, denormals and huge arguments.
#include "penstock/kernels/cpu/loops/elementwise.h"
#include "penstock/kernels/cpu/loops/float_math.h"

namespace penstock::PENSTOCK_ISA {
namespace {

struct Exp { static float f(float x) { return ExpF(x); } };
struct Log { static float f(float x) { return LogF(x); } };
struct Tanh { static float f(float x) { return TanhF(x); } };
struct Sigmoid { static float f(float x) { return SigmoidF(x); } };
struct Log1p { static float f(float x) { return Log1pF(x); } };
struct Expm1 { static float f(float x) { return Expm1F(x); } };
struct Erf { static float f(float x) { return ErfF(x); } };
struct Softplus {
  static float f(float x) {
    // max(x, 0) + log1p(exp(-|x|)): neither part overflows or cancels.
    const float tail = Log1pF(ExpF(-__builtin_fabsf(x)));
    return (x > 0 ? x : 0.0f) + tail + (x != x ? x : 0.0f);
  }
};

// Sine and cosine reduce their argument in three steps, which holds up to kLimit; a block with larger ones goes to
// libm.
template <bool kCosine>
void SinCos(const void* in, void* out, int64_t n) {
  constexpr float kLimit = 8192.0f;
  constexpr int64_t kBlock = 256;
  const float* x = static_cast<const float*>(in);
  float* y = static_cast<float*>(out);
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t end = begin + kBlock < n ? begin + kBlock : n;
    int large = 0;
    for (int64_t i = begin; i < end; ++i) large |= !(__builtin_fabsf(x[i]) < kLimit);
    if (large) {
      for (int64_t i = begin; i < end; ++i) y[i] = kCosine ? __builtin_cosf(x[i]) : __builtin_sinf(x[i]);
    } else {
#pragma GCC ivdep
      for (int64_t i = begin; i < end; ++i) y[i] = SinF<kCosine>(x[i]);
    }
  }
}

}  // namespace

void FillMath(Loops& loops) {
  using F32 = Types<float>;
  FillUnary<Exp>(loops, UnaryOp::kExp, F32{});
  FillUnary<Log>(loops, UnaryOp::kLog, F32{});
  FillUnary<Tanh>(loops, UnaryOp::kTanh, F32{});
  FillUnary<Sigmoid>(loops, UnaryOp::kSigmoid, F32{});
  FillUnary<Log1p>(loops, UnaryOp::kLog1p, F32{});
  FillUnary<Expm1>(loops, UnaryOp::kExpm1, F32{});
  FillUnary<Erf>(loops, UnaryOp::kErf, F32{});
  FillUnary<Softplus>(loops, UnaryOp::kSoftplus, F32{});
  loops.unary[static_cast<int>(UnaryOp::kSin)][DT_FLOAT] = &SinCos<false>;
  loops.unary[static_cast<int>(UnaryOp::kCos)][DT_FLOAT] = &SinCos<true>;
}

}  // namespace penstock::PENSTOCK_ISA
