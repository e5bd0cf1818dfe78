#include "penstock/runtime/tape.h"

#include <algorithm>
#include <array>
#include <deque>
#include <unordered_map>

namespace penstock {
namespace {

bool Trainable(DataType t) { return IsFloating(t) || IsComplex(t) || t == DT_RESOURCE || t == DT_VARIANT; }

// The Scope that runs ops at once.
class EagerScope final : public Scope {
 public:
  Outs Call(std::string_view op, std::span<const Out> inputs, AttrMap attrs, std::span<const Out>) override {
    if (op == "Const") return {From(EagerValue{*attrs.Find("value")->If<Tensor>(), EagerValue::NewId()})};
    std::vector<EagerValue> values;
    for (const Out& input : inputs) {
      if (!input) throw Internal("op ", op, " is called with a missing tensor");
      values.push_back(At(input));
    }
    Outs outs;
    for (EagerValue& value : RunEagerly(op, values, std::move(attrs))) outs.push_back(From(std::move(value)));
    return outs;
  }
  DataType Type(Out value) const override { return At(value).tensor.dtype(); }
  const PartialShape& Shape(Out value) const override { return held_[value.id].shape; }
  const Tensor* Constant(Out value) override { return value ? &held_[value.id].value.tensor : nullptr; }

  Out From(EagerValue value) {
    if (!value.id) return Out();
    PartialShape shape = value.tensor.shape();
    held_.push_back({std::move(value), std::move(shape)});
    return {this, static_cast<int64_t>(held_.size()) - 1, 0};
  }
  EagerValue At(Out value) const { return value ? held_[value.id].value : EagerValue(); }
  Grad From(const EagerGrad& g) {
    if (g.sparse()) return Grad::Slices(From(g.values), From(g.indices), From(g.dense_shape));
    return Grad(From(g.dense));
  }
  EagerGrad At(const Grad& g) const { return {At(g.dense), At(g.values), At(g.indices), At(g.dense_shape)}; }

 private:
  struct Held {
    EagerValue value;
    PartialShape shape;
  };
  std::deque<Held> held_;
};

class CallGradient final : public GradContext {
 public:
  CallGradient(EagerScope* scope, const EagerOp& call, std::span<const EagerValue> inputs,
               std::span<const EagerValue> outputs, std::vector<Grad> dys, std::vector<bool> wanted) {
    scope_ = scope;
    op_ = &call.op();
    attrs_ = &call.attrs();
    for (const EagerValue& input : inputs) x_.push_back(scope->From(input));
    for (const EagerValue& output : outputs) y_.push_back(scope->From(output));
    dy_ = std::move(dys);
    dx_.resize(inputs.size());
    wanted_ = std::move(wanted);
    for (size_t i = 0; i < op_->inputs.size(); ++i)
      input_ranges_.push_back(call.node().InputRange(static_cast<int>(i)));
    for (size_t i = 0; i < op_->outputs.size(); ++i)
      output_ranges_.push_back(call.node().OutputRange(static_cast<int>(i)));
  }
};

// A call of a function by its name as op type.
std::vector<Grad> FunctionGradient(EagerScope& scope, const EagerOp& call, std::span<const EagerValue> inputs,
                                   std::span<const EagerValue> outputs, const std::vector<Grad>& dys) {
  Outs args;
  std::vector<DataType> in_types, out_types;
  for (const EagerValue& input : inputs) {
    args.push_back(scope.From(input));
    in_types.push_back(input.tensor.dtype());
    out_types.push_back(input.tensor.dtype());
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    args.push_back(dys[i].none() ? ZerosLike(scope.From(outputs[i])) : DenseGrad(dys[i]));
    in_types.push_back(outputs[i].tensor.dtype());
  }
  FuncRef f{call.op().name, {}};
  for (const auto& [name, value] : call.attrs()) {
    if (!name.starts_with("_")) f.attrs.Set(name, value);
  }
  std::vector<Grad> dxs;
  for (const Out& dx : scope.Call("SymbolicGradient", args, {{"Tin", in_types}, {"Tout", out_types}, {"f", f}}, {})) {
    dxs.push_back(dx);
  }
  return dxs;
}

}  // namespace

std::vector<std::shared_ptr<Tape>>& Tape::Active() {
  thread_local std::vector<std::shared_ptr<Tape>> active;
  return active;
}

void Tape::Record(std::shared_ptr<const EagerOp> op, std::span<const EagerValue> inputs,
                  std::span<const EagerValue> outputs, BackwardFunction backward) {
  const std::lock_guard lock(mutex_);
  const auto watched = [&](const EagerValue& v) { return Trainable(v.tensor.dtype()) && watched_.contains(v.id); };
  if (std::ranges::none_of(inputs, watched)) return;
  for (const EagerValue& output : outputs) {
    if (Trainable(output.tensor.dtype())) watched_.insert(output.id);
  }
  entries_.push_back(std::make_shared<Entry>(
      Entry{std::move(op), {inputs.begin(), inputs.end()}, {outputs.begin(), outputs.end()}, std::move(backward)}));
}

std::vector<EagerGrad> Tape::Gradient(const std::vector<EagerValue>& targets, const std::vector<EagerValue>& sources,
                                      const std::vector<EagerGrad>& flowing) {
  EagerScope scope;
  const auto entries = this->entries();  // a persistent tape may record its own walk
  std::unordered_set<int64_t> reached;
  for (const EagerValue& source : sources) reached.insert(source.id);
  const auto counts = [&](const EagerValue& v) { return Trainable(v.tensor.dtype()) && reached.contains(v.id); };
  std::vector<bool> on_path(entries.size());
  for (size_t e = 0; e < entries.size(); ++e) {
    on_path[e] = std::ranges::any_of(entries[e]->inputs, counts);
    if (!on_path[e]) continue;
    for (const EagerValue& output : entries[e]->outputs) {
      if (Trainable(output.tensor.dtype())) reached.insert(output.id);
    }
  }
  std::unordered_map<int64_t, std::vector<Grad>> grads;
  for (size_t i = 0; i < targets.size(); ++i) {
    if (!counts(targets[i])) continue;
    const EagerGrad given = i < flowing.size() ? flowing[i] : EagerGrad();
    grads[targets[i].id].push_back(given.none() ? Grad(OnesLike(scope.From(targets[i]))) : scope.From(given));
  }
  for (size_t e = entries.size(); e-- > 0;) {
    if (!on_path[e]) continue;
    const Entry& entry = *entries[e];
    std::vector<Grad> dys;
    bool any = false;
    for (const EagerValue& output : entry.outputs) {
      const auto it = grads.find(output.id);
      if (it != grads.end()) it->second = {AggregateGrads(it->second)};
      dys.push_back(it == grads.end() ? Grad() : it->second[0]);
      any |= !dys.back().none();
    }
    if (!any) continue;
    std::vector<bool> wanted;
    for (const EagerValue& input : entry.inputs) wanted.push_back(counts(input));
    std::vector<Grad> dxs;
    if (entry.backward) {
      std::vector<EagerGrad> in;
      for (const Grad& dy : dys) in.push_back(scope.At(dy));
      for (const EagerGrad& g : entry.backward(in)) dxs.push_back(scope.From(g));
    } else if (entry.op->op().gradient) {
      CallGradient context(&scope, *entry.op, entry.inputs, entry.outputs, std::move(dys), wanted);
      entry.op->op().gradient(context);
      dxs = std::move(context.dx());
    } else if (entry.op->node().calls_function()) {
      dxs = FunctionGradient(scope, *entry.op, entry.inputs, entry.outputs, dys);
    } else {
      throw NotFound("No gradient defined for operation '", entry.op->op().name, "' (op type: ", entry.op->op().name,
                     ")");
    }
    for (size_t i = 0; i < entry.inputs.size() && i < dxs.size(); ++i) {
      if (wanted[i] && !dxs[i].none()) grads[entry.inputs[i].id].push_back(dxs[i]);
    }
  }
  std::vector<EagerGrad> result;
  for (const EagerValue& source : sources) {
    std::vector<Grad>& received = grads[source.id];
    const Grad sum = AggregateGrads(received);
    received = {sum};
    result.push_back(scope.At(sum));
  }
  return result;
}

std::vector<EagerValue> RunEagerly(const std::shared_ptr<const EagerOp>& op, std::span<const EagerValue> inputs,
                                   bool record) {
  const size_t num_outputs = static_cast<size_t>(op->node().num_outputs());
  std::vector<EagerValue> outputs;
  outputs.reserve(num_outputs);
  if (inputs.size() + num_outputs <= EagerContext::kFew) {
    std::array<const Tensor*, EagerContext::kFew> in;
    std::array<Tensor, EagerContext::kFew> out;
    for (size_t i = 0; i < inputs.size(); ++i) in[i] = &inputs[i].tensor;
    EagerContext::Global().Run(*op, {in.data(), inputs.size()}, {out.data(), num_outputs});
    for (size_t i = 0; i < num_outputs; ++i) outputs.push_back({std::move(out[i]), EagerValue::NewId(), op->device()});
  } else {
    std::vector<Tensor> tensors;
    tensors.reserve(inputs.size());
    for (const EagerValue& input : inputs) tensors.push_back(input.tensor);
    for (Tensor& output : EagerContext::Global().Run(*op, tensors)) {
      outputs.push_back({std::move(output), EagerValue::NewId(), op->device()});
    }
  }
  if (record && op->op().traits.differentiable) {
    for (const auto& tape : Tape::Active()) tape->Record(op, inputs, outputs);
  }
  return outputs;
}

std::vector<EagerValue> RunEagerly(std::string_view op, std::span<const EagerValue> inputs, AttrMap attrs, bool record,
                                   int device) {
  std::vector<DataType> types;
  types.reserve(inputs.size());
  for (const EagerValue& input : inputs) types.push_back(input.tensor.dtype());
  return RunEagerly(EagerContext::Global().Prepare(op, types, std::move(attrs), device), inputs, record);
}

}  // namespace penstock
