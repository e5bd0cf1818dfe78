#include "penstock/kernels/cpu/loops.h"

#include <cstdlib>
#include <string_view>

namespace penstock {
namespace {

#define PENSTOCK_FILL(isa_name)        \
  void Fill_##isa_name(Loops& loops) { \
    loops.isa = #isa_name;             \
    isa_name::FillArithmetic(loops);   \
    isa_name::FillCompare(loops);      \
    isa_name::FillMath(loops);         \
    isa_name::FillComplex(loops);      \
    isa_name::FillInteger(loops);      \
    isa_name::FillQuantize(loops);     \
    isa_name::FillSpecial(loops);      \
    isa_name::FillCast(loops);         \
    isa_name::FillReduce(loops);       \
    isa_name::FillGemm(loops);         \
    isa_name::FillMove(loops);         \
    isa_name::FillNn(loops);           \
    isa_name::FillConv(loops);         \
    isa_name::FillFft(loops);          \
    isa_name::FillRandom(loops);       \
  }
PENSTOCK_FILL(baseline)
#if defined(__x86_64__)
PENSTOCK_FILL(avx2)
PENSTOCK_FILL(avx512)
#endif
#undef PENSTOCK_FILL

// 0 baseline, 1 AVX2 with FMA (x86-64-v3), 2 AVX-512 (x86-64-v4).
int DetectIsa() {
  int best = 0;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") && __builtin_cpu_supports("bmi2") &&
      __builtin_cpu_supports("f16c")) {
    best = 1;
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd")) {
      best = 2;
    }
  }
#endif
  const char* wish = std::getenv("PENSTOCK_ISA");
  if (wish && std::string_view(wish) == "baseline") return 0;
  if (wish && std::string_view(wish) == "avx2" && best > 1) return 1;
  return best;
}

Loops* MakeLoops() {
  Loops* loops = new Loops;  // lives as long as the process
  switch (DetectIsa()) {
#if defined(__x86_64__)
    case 2: Fill_avx512(*loops); break;
    case 1: Fill_avx2(*loops); break;
#endif
    default: Fill_baseline(*loops);
  }
  return loops;
}

}  // namespace

const Loops& CpuLoops() {
  static const Loops* const loops = MakeLoops();
  return *loops;
}

}  // namespace penstock
