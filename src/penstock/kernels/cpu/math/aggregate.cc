// Sums of many tensors.

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/math/elementwise.h"
#include "penstock/tensor/variant.h"

namespace penstock {
namespace {

// Block by block, so that the partial sum stays in the cache; half and bfloat16 are added in float and rounded once.
class AddN {
 public:
  explicit AddN(const NodeView& node) : type_(node.output_type(0)) {
    add_ = CpuLoops()(BinaryOp::kAdd, elementwise::IsFloat16(type_) ? DT_FLOAT : type_);
    if (node.num_inputs() == 2 && !elementwise::IsFloat16(type_))
      of_two_ = {.binary = add_, .picoseconds = 300, .stretches = false};
  }
  const ElementwiseLoop* elementwise() const { return of_two_.binary ? &of_two_ : nullptr; }
  void operator()(KernelContext& k) const {
    const int inputs = k.num_inputs();
    for (int i = 1; i < inputs; ++i) {
      k.Require(k.shape(i) == k.shape(0), "Inputs to operation ", k.node().name(), " of type ", k.node().op().name,
                " must have the same size and shape.  Input 0: ", k.shape(0), " != input ", i, ": ", k.shape(i));
    }
    if (inputs == 1) return k.SetOutput(0, k.input(0));
    const Shape shape = k.shape(0);
    std::vector<const char*> in(inputs);
    for (int i = 0; i < inputs; ++i) in[i] = static_cast<const char*>(k.input(i).raw());
    Tensor& y = k.OutputLike(0, {0}, shape);
    char* out = static_cast<char*>(y.mutable_raw());
    const int64_t size = static_cast<int64_t>(DataTypeSize(type_));
    constexpr int64_t kBlock = 1024;
    ParallelElements(k, y.num_elements(), 150 * inputs, [&](int64_t begin, int64_t end) {
      alignas(64) float sum[kBlock], next[kBlock];
      const Loops& loops = CpuLoops();
      for (int64_t at = begin; at < end; at += kBlock) {
        const int64_t n = std::min(kBlock, end - at);
        if (elementwise::IsFloat16(type_)) {
          loops.cast[type_][DT_FLOAT](in[0] + at * size, sum, n);
          for (int i = 1; i < inputs; ++i) {
            loops.cast[type_][DT_FLOAT](in[i] + at * size, next, n);
            add_(sum, 1, next, 1, sum, n);
          }
          loops.cast[DT_FLOAT][type_](sum, out + at * size, n);
        } else {
          add_(in[0] + at * size, 1, in[1] + at * size, 1, out + at * size, n);
          for (int i = 2; i < inputs; ++i) add_(out + at * size, 1, in[i] + at * size, 1, out + at * size, n);
        }
      }
    });
  }

 private:
  DataType type_;
  BinaryLoop add_;
  ElementwiseLoop of_two_;
};

// Variants know how to add themselves. An empty tensor is the value of a branch that did not run, and adds nothing.
struct AddNVariants {
  void operator()(KernelContext& k) const {
    Tensor out = k.input(0);
    Ref<VariantValue> sum;
    for (int i = 0; i < k.num_inputs(); ++i) {
      const Tensor& input = k.input(i);
      if (input.num_elements() == 0) continue;
      k.Require(input.num_elements() == 1, "AddN of variants takes scalars, but input ", i, " has shape ", k.shape(i));
      const Ref<VariantValue>& next = input.data<Variant>()->value();
      if (next) sum = sum ? sum->Add(*next) : next;
      out = Tensor(DT_VARIANT, k.shape(i));
    }
    if (out.num_elements() == 1) *out.mutable_data<Variant>() = Variant(sum);
    k.SetOutput(0, out);
  }
};

}  // namespace

void RegisterAggregateKernels(KernelRegistry& kernels) {
  for (const char* name : {"AddN", "AccumulateNV2"}) kernels.Add<AddN>(name, Numbers{});
  kernels.Add<AddNVariants>("AddN", Types<Variant>{});
}

}  // namespace penstock
