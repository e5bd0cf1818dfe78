// The one loop that all update rules share: checks, locks, and a pass over the elements of variables and gradient.
//
// A rule is a struct template over the type it computes in:
//   template <class C> struct Rule {
//     static constexpr int kVariables = 2;
//     static constexpr std::array kScalars{"lr", "momentum"};   // names of the scalar inputs
//     Rule(const C* scalars, const RuleAttrs& attrs);
//     void operator()(C* v, C g) const;                         // v[0..kVariables): this element of each variable
//   };
#pragma once

#include <array>
#include <vector>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/state/variables.h"

namespace penstock::training {

struct RuleAttrs {
  bool use_nesterov = false, update_slots = true, multiply_linear_by_lr = false;
  int64_t global_step = 0;
};

// half and bfloat16 are computed in float.
template <class T>
using Compute = std::conditional_t<std::is_same_v<T, Half> || std::is_same_v<T, BFloat16>, float, T>;

// The part that depends on no type.
class ApplyKernel : public Kernel {
 public:
  ApplyKernel(const NodeView& node, int num_variables, std::span<const char* const> scalars);
  void Run(KernelContext& k) final;

 protected:
  // `data`: the variables' elements, `size` of each; dense.
  virtual void Dense(KernelContext& k, void* const* data, const void* grad, int64_t size,
                     const RuleAttrs& attrs) const = 0;
  // Rows `rows[i]` of the variables, `width` elements each, by row i of grad.
  virtual void Sparse(KernelContext& k, void* const* data, const void* grad, std::span<const int64_t> rows,
                      int64_t width, const RuleAttrs& attrs) const = 0;
  std::vector<int> scalars_;  // flat input indices, in the rule's order

 private:
  void CheckVariables(KernelContext& k, const std::vector<Ref<VariableSlot>>& slots) const;
  std::vector<int64_t> CheckIndices(KernelContext& k, const Shape& var) const;
  const int num_variables_;
  int grad_ = -1, indices_ = -1, global_step_ = -1;
  RuleAttrs attrs_;
};

template <template <class> class Rule, class T>
class Apply final : public ApplyKernel {
  using C = Compute<T>;
  using R = Rule<C>;
  static constexpr int kN = R::kVariables;

 public:
  explicit Apply(const NodeView& node) : ApplyKernel(node, kN, R::kScalars) {}

 protected:
  void Dense(KernelContext& k, void* const* data, const void* grad, int64_t size,
             const RuleAttrs& attrs) const override {
    const R rule = Make(k, attrs);
    k.Parallel(size, 2 * kN,
               [&](int64_t begin, int64_t end) { Loop(rule, data, static_cast<const T*>(grad) + begin, begin, end); });
  }
  void Sparse(KernelContext& k, void* const* data, const void* grad, std::span<const int64_t> rows, int64_t width,
              const RuleAttrs& attrs) const override {
    const R rule = Make(k, attrs);
    // One row may occur several times, and then takes part several times, in order: rows are not split among threads,
    // columns are.
    k.Parallel(width, 2 * kN * static_cast<int64_t>(rows.size()), [&](int64_t begin, int64_t end) {
      for (size_t i = 0; i < rows.size(); ++i) {
        const int64_t at = rows[i] * width;
        Loop(rule, data, static_cast<const T*>(grad) + i * width + begin, at + begin, at + end);
      }
    });
  }

 private:
  R Make(KernelContext& k, const RuleAttrs& attrs) const {
    C values[R::kScalars.size() + 1];
    for (size_t i = 0; i < R::kScalars.size(); ++i)
      values[i] = static_cast<C>(*k.input(scalars_[i]).template data<T>());
    return R(values, attrs);
  }
  // Elements [begin, end) of the variables; grad[0] belongs to the first of them.
  static void Loop(const R& rule, void* const* data, const T* grad, int64_t begin, int64_t end) {
    T* p[kN];
    for (int v = 0; v < kN; ++v) p[v] = static_cast<T*>(data[v]);
#pragma GCC ivdep
    for (int64_t i = begin; i < end; ++i) {
      C v[kN];
      for (int j = 0; j < kN; ++j) v[j] = static_cast<C>(p[j][i]);
      rule(v, static_cast<C>(grad[i - begin]));
      for (int j = 0; j < kN; ++j) p[j][i] = T(v[j]);
    }
  }
};

}  // namespace penstock::training
