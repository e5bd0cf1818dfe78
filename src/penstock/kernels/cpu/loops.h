// The inner loops that are compiled once for each instruction set (loops/*.cc), as one table of function pointers,
// chosen by what the processor can do. Everything else in kernels/cpu is compiled once and calls through this table.
#pragma once

#include <cstdint>

#include "penstock/tensor/types.h"

namespace penstock {

// y[i] = f(x[i]); y may be x where the element sizes are equal.
using UnaryLoop = void (*)(const void* x, void* y, int64_t n);
// out[i] = f(a[i * sa], b[i * sb]); sa and sb are 0 or 1; out may be a or b where element sizes are equal.
using BinaryLoop = void (*)(const void* a, int64_t sa, const void* b, int64_t sb, void* out, int64_t n);

// Elementwise functions that have such loops. The types that each covers are said where it is filled in.
// clang-format off
enum class UnaryOp : int {
  kNeg, kAbs, kSquare, kSqrt, kRsqrt, kReciprocal, kExp, kLog, kTanh, kSigmoid, kErf, kSin, kCos, kLog1p, kExpm1,
  kFloor, kCeil, kRint, kSoftplus, kSign, kTan, kAsin, kAcos, kAtan, kSinh, kCosh, kAsinh, kAcosh, kAtanh, kErfc,
  kElu, kSelu, kErfinv, kNdtri, kBesselI0e, kBesselI1e, kCount
};
enum class BinaryOp : int {
  kAdd, kSub, kMul, kDiv, kMaximum, kMinimum, kSquaredDifference, kEqual, kNotEqual, kLess, kLessEqual, kGreater,
  kGreaterEqual, kSigmoidGrad, kTanhGrad, kSqrtGrad, kRsqrtGrad, kSoftplusGrad, kAtan2, kPow, kXlogy, kXlog1py,
  kXdivy, kDivNoNan, kFloorDiv, kTruncateDiv, kFloorMod, kTruncateMod, kLeftShift, kRightShift, kCount
};
// clang-format on
enum class ReduceOp : int { kSum, kProd, kMin, kMax, kSumSquares, kCount };

// Reductions keep an accumulator of the element's type (float for half and bfloat16, which are converted on the way).
struct ReduceLoops {
  // out[r] = reduction of x[r * n, (r + 1) * n), for each of `rows` rows. n > 0.
  void (*rows)(const void* x, int64_t rows, int64_t n, void* out) = nullptr;
  // acc[i] = acc[i] op f(x[r * stride + i]) for each of `rows` rows of n elements.
  void (*columns)(const void* x, int64_t rows, int64_t n, int64_t stride, void* acc) = nullptr;
};

inline constexpr int kLoopTypes = 24;  // DataType numbers below this may have loops

// One product of a sum of them: `depth` rows of A and B, which lie `lda` and `ldb` elements apart.
struct GemmPart {
  int64_t depth;
  const void* a;
  int64_t lda;
  const void* b;
  int64_t ldb;
};

// C[m, n] (+)= A[m, k] B[k, n] by tiles; see gemm.h.
struct GemmLoops {
  int mr = 0, nr = 0;  // rows of A and columns of B in one tile
  // c[i * ldc + j] (+)= sum over p of a[i * lda + p] * b[p * ldb + j], for i < rows <= mr, j < columns <= nr; all nr
  // columns of b are read. `turned`: of a[p * lda + i].
  void (*tile)(int64_t k, const void* a, int64_t lda, const void* b, int64_t ldb, void* c, int64_t ldc, int rows,
               int columns, bool accumulate) = nullptr;
  void (*turned)(int64_t k, const void* a, int64_t lda, const void* b, int64_t ldb, void* c, int64_t ldc, int rows,
                 int columns, bool accumulate) = nullptr;
  // c[i * ldc + j] += the sum of several turned products.
  void (*add_turned)(const GemmPart* parts, int count, void* c, int64_t ldc, int rows, int columns) = nullptr;
  // A panel of A (mr wide) or of B (nr wide): to[p * width + i] = x[i * across + p * along], i < count; zero beyond.
  void (*pack_a)(const void* x, int64_t across, int64_t along, int64_t count, int64_t depth, void* to) = nullptr;
  void (*pack_b)(const void* x, int64_t across, int64_t along, int64_t count, int64_t depth, void* to) = nullptr;
  // y[j] += sum over p of x[p] * b[p * ldb + j], for j < n.
  void (*row_times_matrix)(int64_t k, int64_t n, const void* x, const void* b, int64_t ldb, void* y) = nullptr;
};

struct NnLoops;        // nn_loops.h
struct ConvLoops;      // conv_loops.h
struct QuantizeLoops;  // quantize_loops.h
template <class T>
struct FftLoops;  // fft_loops.h

struct Loops {
  const char* isa = "";
  UnaryLoop unary[static_cast<int>(UnaryOp::kCount)][kLoopTypes] = {};
  BinaryLoop binary[static_cast<int>(BinaryOp::kCount)][kLoopTypes] = {};
  UnaryLoop cast[kLoopTypes][kLoopTypes] = {};  // [from][to]; only what is worth it
  ReduceLoops reduce[static_cast<int>(ReduceOp::kCount)][kLoopTypes];
  GemmLoops gemm_f32, gemm_f64, gemm_u32, gemm_u64;
  // out[i] = condition[i] ? a[i * sa] : b[i * sb], by element size 1, 2, 4, 8
  void (*select[9])(const bool* condition, const void* a, int64_t sa, const void* b, int64_t sb, void* out,
                    int64_t n) = {};
  // y[j] += sum over e of weights[e] * b[rows[e * step] * n + j], for j < n.
  void (*weighted_rows_f32)(int64_t entries, const float* weights, const int64_t* rows, int64_t step, const float* b,
                            int64_t n, float* y) = nullptr;
  // y[to[i] * ld + j] += x[rows[i] * ld + j] for i < count where first <= to[i] < last, j < n. rows: null for i itself.
  void (*add_rows_f32)(int64_t count, const int64_t* rows, const int64_t* to, int64_t first, int64_t last,
                       const float* x, float* y, int64_t ld, int64_t n) = nullptr;
  // to[j * ts + i] = from[i * fs + j] for i < n, j < m; elements of 4 and of 8 bytes.
  void (*turn_4)(char* to, int64_t ts, const char* from, int64_t fs, int64_t n, int64_t m) = nullptr;
  void (*turn_8)(char* to, int64_t ts, const char* from, int64_t fs, int64_t n, int64_t m) = nullptr;
  // Index of the largest (smallest) of n floats, the first of equal ones; NaN is never chosen but at 0.
  int64_t (*argmax_f32)(const float* x, int64_t n) = nullptr;
  int64_t (*argmin_f32)(const float* x, int64_t n) = nullptr;

  // `groups` groups of four random words (base/random.h): of every `stride`-th counter value from this one on.
  void (*philox)(const uint32_t counter[4], const uint32_t key[2], int64_t groups, uint32_t stride,
                 uint32_t* out) = nullptr;
  // Two normal numbers of each two words, as base/random.h's NormalPair.
  void (*normal_pairs)(const uint32_t* words, int64_t pairs, float* out) = nullptr;
  const NnLoops* nn = nullptr;
  const ConvLoops* conv = nullptr;
  const FftLoops<float>* fft_f32 = nullptr;
  const FftLoops<double>* fft_f64 = nullptr;
  const QuantizeLoops* quantize = nullptr;

  UnaryLoop operator()(UnaryOp op, DataType type) const { return unary[static_cast<int>(op)][type]; }
  BinaryLoop operator()(BinaryOp op, DataType type) const { return binary[static_cast<int>(op)][type]; }
  const ReduceLoops& operator()(ReduceOp op, DataType type) const { return reduce[static_cast<int>(op)][type]; }
};

// The table for this machine. PENSTOCK_ISA=baseline|avx2|avx512 in the environment lowers the choice (for tests).
const Loops& CpuLoops();

// What each loops/*.cc adds, once for each instruction set.
#define PENSTOCK_LOOPS(isa)          \
  namespace isa {                    \
  void FillArithmetic(Loops& loops); \
  void FillCompare(Loops& loops);    \
  void FillMath(Loops& loops);       \
  void FillComplex(Loops& loops);    \
  void FillInteger(Loops& loops);    \
  void FillQuantize(Loops& loops);   \
  void FillSpecial(Loops& loops);    \
  void FillCast(Loops& loops);       \
  void FillReduce(Loops& loops);     \
  void FillGemm(Loops& loops);       \
  void FillMove(Loops& loops);       \
  void FillNn(Loops& loops);         \
  void FillConv(Loops& loops);       \
  void FillFft(Loops& loops);        \
  void FillRandom(Loops& loops);     \
  }
PENSTOCK_LOOPS(baseline)
PENSTOCK_LOOPS(avx2)
PENSTOCK_LOOPS(avx512)
#undef PENSTOCK_LOOPS

}  // namespace penstock
