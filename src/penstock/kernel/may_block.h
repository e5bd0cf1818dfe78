// Kernels that may wait, for other threads or for functions of the host language, though they are not asynchronous.
#pragma once

#include "penstock/kernel/kernel_registry.h"

namespace penstock {

// Whoever runs such a kernel holds no lock meanwhile.
class MayBlock {
 public:
  virtual ~MayBlock() = default;
};

// A kernel that is a functor, as FunctorKernel has it.
template <class F>
class BlockingKernel final : public Kernel, public MayBlock {
 public:
  explicit BlockingKernel(const NodeView& node) : kernel_(node) {}
  void Run(KernelContext& k) override { kernel_.Run(k); }

 private:
  FunctorKernel<F> kernel_;
};

}  // namespace penstock
