// oneDNN behind a module that is opened at first use (onednn/onednn_api.h).
#pragma once

#include <memory>
#include <mutex>
#include <vector>

#include "penstock/kernels/cpu/convolve.h"
#include "penstock/kernels/cpu/gemm.h"
#include "penstock/kernels/cpu/onednn/onednn_api.h"

namespace penstock {

// The module's functions; null if it cannot be opened, or PENSTOCK_ONEDNN is 0 in the environment.
const PenstockDnnApi* Dnn();

// A convolution's filter in the library's own layout, kept from run to run as long as the same buffer comes in. It
// holds that buffer, so that nobody writes into it: variables are changed in place only when nobody else holds their
// value. A filter that changes all the same (in training) is not kept any more.
class PackedFilter {
 public:
  struct Kept {
    Tensor plain;
    std::vector<PenstockDnnConv> convs;  // what each of `packed` is for
    std::vector<Tensor> packed;
  };
  // What is kept of this filter; null if nothing. *keep: the caller's packing is worth keeping.
  std::shared_ptr<const Kept> Find(const Tensor& filter, bool* keep);
  void Keep(Kept kept);

 private:
  std::mutex mutex_;
  std::shared_ptr<const Kept> kept_;
  const void* last_seen_ = nullptr;
  bool changes_ = false;
};

// A convolution of floats, or one of its gradients, as convolve.h has them (a and b: x and filter, dy and filter, or x
// and dy), in pieces that depend on its shape only. False if oneDNN is not there or not fast at it; nothing has been
// computed then. The epilogue of a forward convolution follows each piece: oneDNN's own would lose NaNs. `held`, of a
// forward convolution: the tensor that b points into, and where its packed form may be kept.
struct HeldFilter {
  const Tensor& tensor;
  PackedFilter& packed;
};
bool DnnConvolve(const KernelContext& k, PenstockDnnConvKind kind, const Convolution& c, const void* a, const void* b,
                 void* result, const Epilogue& epilogue = {}, const HeldFilter* held = nullptr);

// c = a b as Gemm has it, of large floats or bfloat16, in pieces that depend on the shape only. False as above.
bool DnnGemm(const KernelContext& k, DataType type, int64_t m, int64_t n, int64_t depth, const MatrixView& a,
             const MatrixView& b, void* c, int64_t ldc);

}  // namespace penstock
