// Einsum: sums of products over labelled dimensions.
#include <algorithm>
#include <map>

#include "penstock/graph/gradient.h"
#include "penstock/op/op_registry.h"
#include "penstock/ops/linalg/einsum_equation.h"

namespace penstock {
namespace {

using Labels = std::vector<int>;
constexpr int kEllipsis = EinsumEquation::kEllipsis;

bool Has(const Labels& labels, int label) { return std::find(labels.begin(), labels.end(), label) != labels.end(); }

void EinsumShape(ShapeContext& c) {
  const EinsumEquation e = EinsumEquation::Parse(c.attr<std::string>("equation"));
  if (static_cast<int>(e.inputs.size()) != c.num_inputs()) {
    throw InvalidArgument("Expected ", e.inputs.size(), " inputs for equation ", c.attr<std::string>("equation"),
                          " but got: ", c.num_inputs());
  }
  std::map<int, int64_t> sizes;
  int broadcast = 0;
  for (int i = 0; i < c.num_inputs(); ++i) {
    const PartialShape& shape = c.in(i);
    if (!shape.known_rank()) {
      // Named output dimensions are countable only without "...".
      if (EinsumEquation::HasEllipsis(e.output)) return c.out(0, PartialShape());
      continue;
    }
    const Labels labels = EinsumEquation::Expand(e.inputs[i], shape.rank(), i);
    for (size_t d = 0; d < labels.size(); ++d) {
      const auto [at, fresh] = sizes.emplace(labels[d], shape[d]);
      if (labels[d] >= EinsumEquation::kBroadcast)
        broadcast = std::max(broadcast, labels[d] - EinsumEquation::kBroadcast + 1);
      if (fresh) continue;
      if (labels[d] < EinsumEquation::kBroadcast) {
        at->second = ShapeContext::MergeDim(at->second, shape[d]);
      } else {
        at->second = shapes::BroadcastShapes(PartialShape({at->second}), PartialShape({shape[d]}))[0];
      }
    }
  }
  std::vector<int64_t> dims;
  for (const int label : e.ExpandOutput(broadcast)) {
    const auto at = sizes.find(label);
    dims.push_back(at == sizes.end() ? -1 : at->second);
  }
  c.out(0, PartialShape(std::move(dims)));
}

Out Contract(GradContext& g, Outs inputs, const std::string& equation) {
  return g.CallAll("Einsum", inputs, {{"equation", equation}})[0];
}

// The size of a label's dimension in x, as a vector of one.
Out SizeOf(GradContext& g, Out x, const Labels& labels, int label) {
  const auto at = static_cast<int32_t>(std::find(labels.begin(), labels.end(), label) - labels.begin());
  const auto dots = static_cast<int32_t>(std::find(labels.begin(), labels.end(), kEllipsis) - labels.begin());
  // Behind "..." it is counted from the end.
  const int32_t axis = at > dots ? at - static_cast<int32_t>(labels.size()) : at;
  Scope& s = g.scope();
  return g.Call("StridedSlice", {ShapeOf(x), ConstVector(s, {axis}), ConstVector(s, {axis + 1}), ConstVector(s, {1})},
                {{"end_mask", axis == -1 ? 1 : 0}});
}

// What flows back into x, given `partial`, whose labels are "..." (perhaps) and those of x's that partial could give:
// dimensions that were summed over x alone are stretched back, repeated ones become a diagonal, broadcast ones are
// summed.
Out ToInput(GradContext& g, Out x, const Labels& labels, Out partial, Labels have) {
  Labels missing;
  for (const int label : labels) {
    if (label != kEllipsis && !Has(have, label) && !Has(missing, label)) missing.push_back(label);
  }
  if (!missing.empty()) {
    Outs ones = {ShapeOf(partial)}, full = {ShapeOf(partial)};
    for (const int label : missing) {
      ones.push_back(ConstVector(g.scope(), {1}));
      full.push_back(SizeOf(g, x, labels, label));
      have.push_back(label);
    }
    ones.push_back(g.scope().Scalar(int32_t{0}));
    full.push_back(ones.back());
    partial = g.Call("BroadcastTo", {Reshape(partial, g.CallAll("ConcatV2", ones)[0]), g.CallAll("ConcatV2", full)[0]});
  }
  if (!Has(have, kEllipsis)) {
    return have == labels
               ? partial
               : Contract(g, {partial}, StrCat(EinsumEquation::ToString(have), "->", EinsumEquation::ToString(labels)));
  }
  // "..." first, as NumPy broadcasts; then the sum over what was stretched; then x's own order.
  Labels dots_first = {kEllipsis};
  for (const int label : labels) {
    if (label != kEllipsis) dots_first.push_back(label);
  }
  if (have != dots_first) {
    partial =
        Contract(g, {partial}, StrCat(EinsumEquation::ToString(have), "->", EinsumEquation::ToString(dots_first)));
  }
  const bool moved = Has(labels, kEllipsis) && labels.front() != kEllipsis;
  const std::string to_front = StrCat(EinsumEquation::ToString(labels), "->", EinsumEquation::ToString(dots_first));
  const Out shape = ShapeOf(moved ? Contract(g, {x}, to_front) : x);
  const Outs axes = g.CallAll("BroadcastGradientArgs", Outs{shape, ShapeOf(partial)});
  partial = Reshape(Sum(partial, axes[0]), shape);
  if (!moved) return partial;
  return Contract(g, {partial}, StrCat(EinsumEquation::ToString(dots_first), "->", EinsumEquation::ToString(labels)));
}

void EinsumGradient(GradContext& g) {
  const EinsumEquation e = EinsumEquation::Parse(g.attr<std::string>("equation"));
  const int n = g.num_inputs();
  for (int i = 0; i < n; ++i) {
    if (!g.wanted(i)) continue;
    const Labels& labels = e.inputs[i];
    const Labels& other = n == 2 ? e.inputs[1 - i] : labels;
    // The labels that dy (and the other input) can give.
    Labels have;
    if (Has(e.output, kEllipsis)) have.push_back(kEllipsis);
    for (const int label : labels) {
      if (label == kEllipsis || Has(have, label)) continue;
      if (Has(e.output, label) || (n == 2 && Has(other, label))) have.push_back(label);
    }
    Outs inputs = {g.dy()};
    std::string equation = EinsumEquation::ToString(e.output);
    if (n == 2) {
      inputs.push_back(Conj(g.x(1 - i)));
      equation += "," + EinsumEquation::ToString(other);
    }
    const std::string to = EinsumEquation::ToString(have);
    const Out partial = n == 1 && to == equation ? g.dy() : Contract(g, inputs, StrCat(equation, "->", to));
    g.Set(i, ToInput(g, g.x(i), labels, partial, have));
  }
}

}  // namespace

void RegisterEinsumOps(OpRegistry& ops) {
  ops.Add("Einsum")
      .Input("inputs: N * T")
      .Output("output: T")
      .Attr("equation: string")
      .Attr("N: int >= 1")
      .Attr("T: type")
      .Heavy()
      .Shape(EinsumShape)
      .Gradient(EinsumGradient)
      .Doc("Sums of products over labelled dimensions: \"ab,bc->ac\" is the matrix product.");
}

}  // namespace penstock
