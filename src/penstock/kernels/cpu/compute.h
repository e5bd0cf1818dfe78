// Tensors in the type that a kernel computes in: half and bfloat16 become float on the way in and are rounded on the
// way out.
#pragma once

#include "penstock/kernel/kernel_context.h"
#include "penstock/kernels/cpu/math/convert.h"
#include "penstock/kernels/cpu/math/elementwise.h"

namespace penstock {

// Converts n elements on the calling thread's pool.
inline void ConvertElements(const KernelContext& k, UnaryLoop loop, const void* from, size_t from_size, void* to,
                            size_t to_size, int64_t n) {
  ParallelElements(k, n, 300, [&](int64_t begin, int64_t end) {
    loop(static_cast<const char*>(from) + begin * from_size, static_cast<char*>(to) + begin * to_size, end - begin);
  });
}

// A tensor's elements as C: its own memory if it has that type.
template <class C>
class ComputeInput {
 public:
  ComputeInput(const KernelContext& k, const Tensor& t) : tensor_(t) {
    if (t.dtype() != kTypeOf<C>) {
      tensor_ = k.Temp(kTypeOf<C>, t.shape());
      ConvertElements(k, ConversionLoop(t.dtype(), kTypeOf<C>), t.raw(), DataTypeSize(t.dtype()), tensor_.mutable_raw(),
                      sizeof(C), t.num_elements());
    }
    data = tensor_.template data<C>();
  }
  const C* data;

 private:
  Tensor tensor_;
};

// Output i, to be filled with C; Store() rounds it to the output's type.
template <class C>
class ComputeOutput {
 public:
  ComputeOutput(KernelContext& k, int i, const Shape& shape) : k_(k), out_(k.Output(i, shape)) {
    if (out_.dtype() != kTypeOf<C>) temp_ = k.Temp(kTypeOf<C>, shape);
    data = (temp_.initialized() ? temp_ : out_).template mutable_data<C>();
  }
  void Store() {
    if (!temp_.initialized()) return;
    ConvertElements(k_, ConversionLoop(kTypeOf<C>, out_.dtype()), temp_.raw(), sizeof(C), out_.mutable_raw(),
                    DataTypeSize(out_.dtype()), out_.num_elements());
  }
  C* data;

 private:
  KernelContext& k_;
  Tensor& out_;
  Tensor temp_;
};

// half, bfloat16 and float, which are all computed in float.
using FloatComputed = Types<Half, BFloat16, float>;

}  // namespace penstock
