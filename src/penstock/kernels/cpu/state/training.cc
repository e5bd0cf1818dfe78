#include "penstock/kernels/cpu/state/training.h"

namespace penstock::training {

ApplyKernel::ApplyKernel(const NodeView& node, int num_variables, std::span<const char* const> scalars)
    : num_variables_(num_variables) {
  const OpDef& op = node.op();
  for (const char* name : scalars) scalars_.push_back(op.InputIndex(name));
  grad_ = std::max(op.InputIndex("grad"), op.InputIndex("delta"));
  indices_ = op.InputIndex("indices");
  global_step_ = op.InputIndex("global_step");
  attrs_.use_nesterov = node.attr_or("use_nesterov", false);
  attrs_.update_slots = node.attr_or("update_slots", true);
  attrs_.multiply_linear_by_lr = node.attr_or("multiply_linear_by_lr", false);
}

void ApplyKernel::CheckVariables(KernelContext& k, const std::vector<Ref<VariableSlot>>& slots) const {
  const OpDef& op = k.node().op();
  for (int v = 0; v < num_variables_; ++v) {
    if (!slots[v]->value.initialized()) {
      throw FailedPrecondition("Attempting to use uninitialized variables: ", slots[v]->name);
    }
    k.Require(slots[v]->value.dtype() == k.input(grad_).dtype(), "Trying to apply a gradient of type ",
              k.input(grad_).dtype(), " to ", slots[v]->name, " of type ", slots[v]->value.dtype());
    k.Require(slots[v]->value.shape() == slots[0]->value.shape(), "var and ", op.inputs[v].name,
              " do not have the same shape", slots[0]->value.shape(), " ", slots[v]->value.shape());
  }
  for (int i : scalars_) {
    k.Require(k.input(i).num_elements() == 1 && k.input(i).rank() <= 1, op.inputs[i].name,
              " is not a scalar: ", k.shape(i));
  }
  if (indices_ < 0) {
    k.Require(k.shape(grad_) == slots[0]->value.shape(), "var and ", op.inputs[grad_].name,
              " do not have the same shape", slots[0]->value.shape(), " ", k.shape(grad_));
  }
}

std::vector<int64_t> ApplyKernel::CheckIndices(KernelContext& k, const Shape& var) const {
  const Tensor& grad = k.input(grad_);
  const Tensor& indices = k.input(indices_);
  k.Require(var.rank() >= 1, "var must be at least 1 dimensional");
  k.Require(indices.rank() == 1, "indices must be one-dimensional");
  k.Require(grad.rank() == var.rank(), "var and grad must have the same rank, but have shapes ", var, " and ",
            grad.shape());
  for (int d = 1; d < var.rank(); ++d) k.Require(var[d] == grad.dim(d), "var and grad must match in dimension ", d);
  k.Require(grad.dim(0) == indices.dim(0), "grad must be the same size as indices in the first dimension.");
  std::vector<int64_t> rows(indices.num_elements());
  for (size_t i = 0; i < rows.size(); ++i) {
    rows[i] = indices.IntAt(static_cast<int64_t>(i));
    k.Require(rows[i] >= 0 && rows[i] < var[0], "Index ", rows[i], " at offset ", i, " in indices is out of range");
  }
  return rows;
}

void ApplyKernel::Run(KernelContext& k) {
  std::vector<Ref<VariableSlot>> slots;
  for (int v = 0; v < num_variables_; ++v) slots.push_back(VariableInput(k, v));
  {
    SlotLocks locks(slots);
    CheckVariables(k, slots);
    RuleAttrs attrs = attrs_;
    if (global_step_ >= 0) attrs.global_step = k.Scalar<int64_t>(global_step_);
    const Tensor& grad = k.input(grad_);
    std::vector<int64_t> rows;
    if (indices_ >= 0) rows = CheckIndices(k, slots[0]->value.shape());
    std::vector<void*> data;
    for (auto& slot : slots) data.push_back(WritableValue(k, *slot).mutable_raw());
    if (indices_ < 0) {
      Dense(k, data.data(), grad.raw(), grad.num_elements(), attrs);
    } else if (!rows.empty()) {
      Sparse(k, data.data(), grad.raw(), rows, grad.num_elements() / static_cast<int64_t>(rows.size()), attrs);
    }
  }
  if (k.num_outputs() > 0) k.SetRef(0, slots[0]);
}

}  // namespace penstock::training
