#include "penstock/kernels/cpu/math/fused_steps.h"

#include <algorithm>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/op/op_registry.h"

namespace penstock {

std::optional<Stretch> StretchTo(const Shape& arg, const Shape& out) {
  const int missing = out.rank() - arg.rank();
  if (missing < 0) return std::nullopt;
  Stretch stretch;
  int last = arg.rank() - 1;
  for (; last >= 0 && arg.dim(last) == 1; --last) stretch.repeat *= out.dim(missing + last);
  int first = 0;
  while (first <= last && arg.dim(first) == 1) ++first;
  for (int d = first; d <= last; ++d) {
    if (arg.dim(d) != out.dim(missing + d)) return std::nullopt;
    stretch.period *= arg.dim(d);
  }
  return stretch;
}

namespace {

std::optional<ReduceOp> ReductionOf(const OpDef& op) {
  if (op.name == "Sum" || op.name == "Mean") return ReduceOp::kSum;
  if (op.name == "Max") return ReduceOp::kMax;
  if (op.name == "Min") return ReduceOp::kMin;
  return std::nullopt;
}

}  // namespace

FusedSteps::FusedSteps(const NodeView& node)
    : type_(node.attr<DataType>("T")), num_args_(node.num_inputs()), last_axis_(DT_INT32, Shape({1})) {
  last_axis_.mutable_data<int32_t>()[0] = -1;
  const auto& ops = node.attr<std::vector<std::string>>("steps");
  const auto& names = node.attr<std::vector<std::string>>("names");
  const auto& operands = node.attr<std::vector<int64_t>>("operands");
  // Sums are of two; reductions keep the dimension.
  attrs_ = std::make_unique<AttrMap>(AttrMap{{"T", type_}, {"N", int64_t{2}}, {"Tidx", DT_INT32}, {"keep_dims", true}});
  types_.assign(4, type_);
  reduction_types_ = {type_, DT_INT32};
  size_t operand = 0;
  last_read_.assign(num_args_ + ops.size(), -1);
  if (names.size() != ops.size()) throw InvalidArgument("as many names as steps are needed");
  for (size_t i = 0; i < ops.size(); ++i) {
    const OpDef* op = OpRegistry::Global().Find(ops[i]);
    const std::optional<ReduceOp> reduction = op ? ReductionOf(*op) : std::nullopt;
    const auto is_of_type = [](const ArgDef& arg) { return arg.type_attr == "T"; };
    if (!op || op->inputs.size() > 4 || op->outputs.size() != 1 || !is_of_type(op->outputs[0]) ||
        (!reduction && !std::ranges::all_of(op->inputs, is_of_type))) {
      throw InvalidArgument("no elementwise op ", ops[i]);
    }
    const size_t inputs = op->inputs.empty() || op->inputs[0].is_list() ? 2 : op->inputs.size();
    Step& step = steps_.emplace_back(NodeView(names[i], *op, *attrs_,
                                              std::span(reduction ? reduction_types_ : types_).first(inputs),
                                              std::span(types_).first(1), node.device()));
    step.kernel = KernelRegistry::Global().Make("CPU", step.view);
    if (reduction) {
      step.reduction = &CpuLoops()(*reduction, type_);
      step.is_mean = op->name == "Mean";
      step.inputs = 1;
    } else {
      step.loop = step.kernel->elementwise();
      step.select = ComparedSelectLoopOf(*op, type_);
      if (!step.loop && !step.select) throw InvalidArgument("the op ", ops[i], " is not elementwise");
      step.inputs = step.select ? 4 : step.loop->unary ? 1 : 2;
    }
    for (int k = 0; k < step.inputs; ++k) {
      if (operand == operands.size() || operands[operand] < 0 || operands[operand] >= num_args_ + static_cast<int>(i))
        throw InvalidArgument("a step reads what is not there yet");
      step.in[k] = static_cast<int>(operands[operand++]);
      last_read_[step.in[k]] = static_cast<int>(i);
    }
    picoseconds_ += step.loop ? step.loop->picoseconds : step.select ? 300 : 125;
  }
}

void FusedSteps::RunEach(KernelContext& k, std::span<Value> values) const {
  Value axis;
  axis.tensor = last_axis_;
  for (size_t i = 0; i < steps_.size(); ++i) {
    const Step& step = steps_[i];
    KernelContext::Input inputs[4] = {{}, {&axis, false}};
    for (int j = 0; j < step.inputs; ++j) inputs[j] = {&values[step.in[j]], false};
    KernelContext one(step.view, std::span(inputs, step.view.num_inputs()), values.subspan(num_args_ + i, 1), k.step(),
                      k.device());
    try {
      step.kernel->Run(one);
    } catch (...) {
      const Status status = CurrentStatus();
      throw Error(Status(status.code(), StrCat(status.message(), "\n\t [[{{node ", step.view.name(), "}}]]"),
                         std::string(step.view.name())));
    }
  }
}

}  // namespace penstock
