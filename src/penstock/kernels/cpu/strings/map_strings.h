// The loop of kernels that make one string of one.
#pragma once

#include "penstock/kernel/kernel_context.h"

namespace penstock {

// fn(input string, output string) for each element of input 0, in parallel; output 0 has its shape.
template <class Fn>
void MapStrings(KernelContext& k, const Fn& fn) {
  const auto in = k.in<TString>(0);
  const auto out = k.out<TString>(0, k.shape(0));
  k.Parallel(static_cast<int64_t>(in.size()), 100, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) fn(in[i].view(), out[i]);
  });
}

}  // namespace penstock
