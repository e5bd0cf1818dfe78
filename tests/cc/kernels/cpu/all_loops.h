// The tables of loops for each instruction set that this machine has.
#pragma once

#include <string_view>
#include <vector>

#include "penstock/kernels/cpu/loops.h"

namespace penstock {

inline std::vector<Loops> AllLoops() {
  std::vector<Loops> all;
  const auto add = [&](const char* isa, auto... fill) {
    all.emplace_back().isa = isa;
    (fill(all.back()), ...);
  };
  add("baseline", baseline::FillArithmetic, baseline::FillMath, baseline::FillSpecial, baseline::FillComplex,
      baseline::FillInteger, baseline::FillQuantize);
#if defined(__x86_64__)
  const std::string_view best = CpuLoops().isa;
  if (best != "baseline")
    add("avx2", avx2::FillArithmetic, avx2::FillMath, avx2::FillSpecial, avx2::FillComplex, avx2::FillInteger,
        avx2::FillQuantize);
  if (best == "avx512")
    add("avx512", avx512::FillArithmetic, avx512::FillMath, avx512::FillSpecial, avx512::FillComplex,
        avx512::FillInteger, avx512::FillQuantize);
#endif
  return all;
}

}  // namespace penstock
