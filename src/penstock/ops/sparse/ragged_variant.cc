// Ragged tensors as single variants.
#include "penstock/graph/gradient.h"
#include "penstock/op/op_registry.h"

namespace penstock {
namespace {

void ToVariantShape(ShapeContext& c) {
  const int values = c.num_inputs() - 1;
  if (!c.attr<bool>("batched_input")) return c.out(0, PartialShape(Shape()));
  const PartialShape& outermost = c.in(0);
  const int64_t known = outermost.known_rank() && outermost.rank() > 0 ? outermost.dim(0) : -1;
  c.out(0, PartialShape({values == 0 ? known : known < 0 ? -1 : known - 1}));
}

void FromVariantShape(ShapeContext& c) {
  const int64_t rank = c.attr<int64_t>("output_ragged_rank"), inner = c.attr<int64_t>("input_ragged_rank");
  if (inner >= 0) c.WithRank(0, static_cast<int>(rank - inner));
  for (int i = 0; i < rank; ++i) c.out(i, PartialShape({-1}));
  c.out(static_cast<int>(rank), PartialShape());
}

void ToVariantGradient(GradContext& g) {
  const int values = g.num_inputs() - 1;
  const DataType splits_type = values > 0 ? g.x(0).type() : DT_INT64;
  const Out splits = values > 0 ? g.x(0) : g.scope().Const(Tensor(DT_INT64, Shape({0})));
  g.Set(values, g.Call("RaggedTensorToVariantGradient", {g.dy(), splits, g.Call("Shape", {g.x(values)})},
                       {{"Tvalues", g.x(values).type()}, {"Tsplits", splits_type}}));
}

// Of a vector of variants: the rows of the gradient, with the splits of what was made of them.
void FromVariantGradient(GradContext& g) {
  const int rank = static_cast<int>(g.attr<int64_t>("output_ragged_rank"));
  std::vector<Out> parts;
  for (int i = 0; i < rank; ++i) parts.push_back(g.y(i));
  parts.push_back(g.dy(rank));
  const bool batched = g.attr<int64_t>("input_ragged_rank") != rank;
  g.Set(0, g.CallAll("RaggedTensorToVariant", parts,
                     {{"batched_input", batched}, {"RAGGED_RANK", int64_t{rank}},
                      {"Tsplits", g.attr<DataType>("Tsplits")}})[0]);
}

}  // namespace

void RegisterRaggedVariantOps(OpRegistry& ops) {
  ops.Add("RaggedTensorToVariant").Input("rt_nested_splits: RAGGED_RANK * Tsplits").Input("rt_dense_values: Tvalues")
      .Output("encoded_ragged: variant").Attr("RAGGED_RANK: int >= 0").Attr("Tvalues: type")
      .Attr("Tsplits: {int32, int64} = DT_INT64").Attr("batched_input: bool").Shape(ToVariantShape)
      .Gradient(ToVariantGradient).Doc("A ragged tensor as a variant, or as a vector of variants, one for each row.");
  ops.Add("RaggedTensorFromVariant").Input("encoded_ragged: variant")
      .Output("output_nested_splits: output_ragged_rank * Tsplits").Output("output_dense_values: Tvalues")
      .Attr("input_ragged_rank: int >= -1").Attr("output_ragged_rank: int >= 0").Attr("Tvalues: type")
      .Attr("Tsplits: {int32, int64} = DT_INT64").Shape(FromVariantShape).Gradient(FromVariantGradient)
      .Doc("The ragged tensor that variants hold, stacked along the dimensions of their tensor.");
  ops.Add("RaggedTensorToVariantGradient").Input("encoded_ragged_grad: variant").Input("row_splits: Tsplits")
      .Input("dense_values_shape: int32").Output("dense_values_grad: Tvalues").Attr("Tvalues: type")
      .Attr("Tsplits: {int32, int64} = DT_INT64").Shape([](ShapeContext& c) { c.out(0, c.in_as_shape(2)); })
      .Doc("The gradient of RaggedTensorToVariant with respect to the values.");
}

}  // namespace penstock
