#include "penstock/kernels/cpu/array/compared_select.h"

#include <algorithm>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/math/elementwise.h"

namespace penstock {
namespace {

template <class T, BinaryOp kOp>
void Loop(const void* const in[4], const int64_t step[4], void* out, int64_t n) {
  constexpr int64_t kBlock = 1024;
  bool holds[kBlock];
  const BinaryLoop compare = CpuLoops()(kOp, kTypeOf<T>);
  const auto select = CpuLoops().select[sizeof(T)];
  for (int64_t i = 0; i < n; i += kBlock) {
    const auto at = [&](int k) { return static_cast<const T*>(in[k]) + i * step[k]; };
    const int64_t some = std::min(kBlock, n - i);
    compare(at(0), step[0], at(1), step[1], holds, some);
    select(holds, at(2), step[2], at(3), step[3], static_cast<T*>(out) + i, some);
  }
}

template <class T>
ComparedSelectLoop LoopOf(std::string_view op) {
  if (op == "_SelectLess") return &Loop<T, BinaryOp::kLess>;
  if (op == "_SelectLessEqual") return &Loop<T, BinaryOp::kLessEqual>;
  if (op == "_SelectEqual") return &Loop<T, BinaryOp::kEqual>;
  if (op == "_SelectNotEqual") return &Loop<T, BinaryOp::kNotEqual>;
  return nullptr;
}

class ComparedSelect {
 public:
  explicit ComparedSelect(const NodeView& node)
      : size_(static_cast<int64_t>(DataTypeSize(node.output_type(0)))),
        loop_(ComparedSelectLoopOf(node.op(), node.output_type(0))) {}
  void operator()(KernelContext& k) const {
    const Shape* const shapes[] = {&k.shape(0), &k.shape(1), &k.shape(2), &k.shape(3)};
    const Broadcast plan = MakeBroadcast(shapes);
    const char* in[4];
    int64_t steps[4];
    for (int i = 0; i < 4; ++i) in[i] = static_cast<const char*>(k.input(i).raw()), steps[i] = plan.strides[i].back();
    Tensor& y = k.OutputLike(0, {0, 1, 2, 3}, plan.out);
    char* const out = static_cast<char*>(y.mutable_raw());
    ParallelElements(k, y.num_elements(), 600, [&](int64_t begin, int64_t end) {
      ForEachRun(plan, begin, end, [&](int64_t at, const int64_t* from, int64_t n) {
        const void* const parts[] = {in[0] + from[0] * size_, in[1] + from[1] * size_, in[2] + from[2] * size_,
                                     in[3] + from[3] * size_};
        loop_(parts, steps, out + at * size_, n);
      });
    });
  }

 private:
  int64_t size_;
  ComparedSelectLoop loop_;
};

}  // namespace

ComparedSelectLoop ComparedSelectLoopOf(const OpDef& op, DataType type) {
  return type == DT_FLOAT ? LoopOf<float>(op.name) : type == DT_DOUBLE ? LoopOf<double>(op.name) : nullptr;
}

void RegisterComparedSelectKernels(KernelRegistry& kernels) {
  for (const char* op : {"_SelectLess", "_SelectLessEqual", "_SelectEqual", "_SelectNotEqual"})
    kernels.Add<ComparedSelect>(op, Types<float, double>{});
}

}  // namespace penstock
