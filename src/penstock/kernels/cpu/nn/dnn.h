// oneDNN behind a module that is opened at first use (onednn/onednn_api.h).
#pragma once

#include "penstock/kernels/cpu/linalg/gemm.h"
#include "penstock/kernels/cpu/nn/convolve.h"
#include "penstock/kernels/cpu/nn/packed_filter.h"
#include "penstock/kernels/cpu/onednn/onednn_api.h"

namespace penstock {

// The module's functions; null if it cannot be opened, or PENSTOCK_ONEDNN is 0 in the environment.
const PenstockDnnApi* Dnn();

// A convolution of floats, or one of its gradients, as convolve.h has them (a and b: x and filter, dy and filter, or x
// and dy), in pieces that depend on its shape only. False if oneDNN is not there or not fast at it; nothing has been
// computed then. The epilogue of a forward convolution follows each piece: oneDNN's own would lose NaNs. `held` is of a
// forward convolution.
bool DnnConvolve(const KernelContext& k, PenstockDnnConvKind kind, const Convolution& c, const void* a, const void* b,
                 void* result, const Epilogue& epilogue = {}, const HeldFilter* held = nullptr);

// c = a b as Gemm has it, of large floats or bfloat16, in pieces that depend on the shape only; the epilogue, of
// floats, follows each. False as above.
bool DnnGemm(const KernelContext& k, DataType type, int64_t m, int64_t n, int64_t depth, const MatrixView& a,
             const MatrixView& b, void* c, int64_t ldc, const Epilogue& epilogue = {});

}  // namespace penstock
