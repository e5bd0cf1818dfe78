#include "penstock/graph/gradient.h"

#include <algorithm>

#include "penstock/graph/differentiator.h"

namespace penstock {

Grad Grad::Slices(Out values, Out indices, Out dense_shape) {
  Grad grad;
  grad.values = values;
  grad.indices = indices;
  grad.dense_shape = dense_shape;
  return grad;
}

Out DenseGrad(const Grad& grad) {
  if (!grad.sparse()) return grad.dense;
  if (!grad.dense_shape) {
    throw InvalidArgument("Tensor conversion requested for IndexedSlices without dense_shape");
  }
  const Out rows = Call("StridedSlice",
                        {grad.dense_shape, ConstVector(*grad.values.scope, {0}), ConstVector(*grad.values.scope, {1}),
                         ConstVector(*grad.values.scope, {1})},
                        {{"shrink_axis_mask", 1}});
  return Call("UnsortedSegmentSum", {grad.values, grad.indices, rows});
}

Grad AggregateGrads(std::vector<Grad> grads) {
  std::erase_if(grads, [](const Grad& g) { return g.none(); });
  if (grads.empty()) return Grad();
  if (grads.size() == 1) return grads[0];
  if (std::ranges::all_of(grads, [](const Grad& g) { return g.sparse(); })) {
    Outs values, indices;
    const bool wide = std::ranges::any_of(grads, [](const Grad& g) { return g.indices.type() == DT_INT64; });
    for (const Grad& g : grads) {
      values.push_back(g.values);
      indices.push_back(wide ? Cast(g.indices, DT_INT64) : g.indices);
    }
    const Out axis = values[0].scope->Scalar<int32_t>(0);
    values.push_back(axis);
    indices.push_back(axis);
    const auto n = static_cast<int64_t>(grads.size());
    Out shape;
    for (const Grad& g : grads) shape = shape ? shape : g.dense_shape;
    return Grad::Slices(CallOp("ConcatV2", values, {{"N", n}})[0], CallOp("ConcatV2", indices, {{"N", n}})[0], shape);
  }
  Outs dense;
  for (const Grad& g : grads) dense.push_back(DenseGrad(g));
  return CallOp("AddN", dense)[0];
}

Out GradContext::dy(int i) {
  if (dy_[i].none()) {
    if (!Trainable(y_[i].type())) return Out();
    dy_[i] = Grad(ZerosLike(y_[i]));
  } else if (dy_[i].sparse()) {
    dy_[i] = Grad(DenseGrad(dy_[i]));
  }
  return dy_[i].dense;
}

const AttrValue& GradContext::attr(std::string_view name) const {
  const AttrValue* value = attrs_->Find(name);
  if (!value) throw Internal("gradient of ", op_->name, " asks for attribute ", name, ", which there is not");
  return *value;
}

std::pair<int, int> GradContext::InputRange(std::string_view arg) const { return input_ranges_[op_->InputIndex(arg)]; }
std::pair<int, int> GradContext::OutputRange(std::string_view arg) const {
  return output_ranges_[op_->OutputIndex(arg)];
}

Out GradContext::Call(std::string_view op, std::initializer_list<Out> inputs, AttrMap attrs) {
  return scope_->Call(op, std::span<const Out>(inputs.begin(), inputs.size()), std::move(attrs))[0];
}

Outs GradContext::CallAll(std::string_view op, std::span<const Out> inputs, AttrMap attrs) {
  return scope_->Call(op, inputs, std::move(attrs));
}

void GradContext::SetBroadcast(int i, Out grad, int other) {
  if (other < 0) other = i == 0 ? 1 : 0;
  const PartialShape &mine = x_[i].shape(), &theirs = x_[other].shape();
  if (mine.fully_known() && theirs.fully_known()) {
    if (mine == theirs) {
      // What came in from outside may have dimensions of size 1 more than the result.
      const bool fits = !grad.shape().fully_known() || grad.shape() == mine;
      return Set(i, fits ? grad : Reshape(grad, ShapeOf(x_[i])));
    }
    const int rank = std::max(mine.rank(), theirs.rank());
    std::vector<int32_t> axes;
    for (int axis = 0; axis < rank; ++axis) {
      const int at = axis - (rank - mine.rank()), their_at = axis - (rank - theirs.rank());
      const int64_t size = at < 0 ? 1 : mine[at], result = their_at < 0 ? 1 : theirs[their_at];
      if (at < 0 || (size == 1 && result != 1)) axes.push_back(axis);
    }
    if (axes.empty()) return Set(i, grad);
    grad = Sum(grad, std::move(axes));
    return Set(i, Reshape(grad, ShapeOf(x_[i])));
  }
  const Out shape = ShapeOf(x_[i]);
  const Outs axes = CallAll("BroadcastGradientArgs", std::vector<Out>{shape, ShapeOf(x_[other])});
  Set(i, Reshape(Sum(grad, axes[0]), shape));
}

}  // namespace penstock
