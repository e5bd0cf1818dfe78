// Updates of parts of variables: by rows (Scatter...) and by vectors of indices (ScatterNd...).
#include "penstock/op/op_registry.h"
#include "penstock/ops/shape_helpers.h"

namespace penstock {
namespace {

PartialShape VariableOf(ShapeContext& c) {
  if (c.in_type(0) != DT_RESOURCE) return c.in(0);
  return c.in_handle(0).empty() ? PartialShape() : c.in_handle(0)[0].shape;
}

// updates: a scalar, or indices.shape + var.shape[1:].
void RowsShape(ShapeContext& c) {
  const PartialShape var = ShapeContext::WithRankAtLeast(VariableOf(c), 1);
  const PartialShape& updates = c.in(2);
  if (c.in(1).known_rank() && var.known_rank() && !(updates.known_rank() && updates.rank() == 0)) {
    (void)updates.MergeWith(shapes::Concatenate(c.in(1), shapes::Subshape(var, 1, var.rank())));
  }
  if (c.num_outputs() > 0) c.out(0, VariableOf(c));
}

void SlicesShape(ShapeContext& c) {
  const PartialShape var = VariableOf(c);
  if (c.num_outputs() > 0) c.out(0, var);
  shapes::CheckScatter(var, c.in(1), c.in(2), "input");
}

}  // namespace

void RegisterScatterOps(OpRegistry& ops) {
  const auto doc = [](std::string_view change) {
    return StrCat("Changes parts of the variable, named by `indices`, with `updates`: ", change, ".");
  };
  for (const char* change : {"Update", "Add", "Sub", "Mul", "Div", "Min", "Max"}) {
    const std::string_view name = change;
    const bool update = name == "Update", ordered = name == "Min" || name == "Max";
    const char* types = update    ? "T: type"
                        : ordered ? "T: {half, bfloat16, float, double, int32, int64}"
                                  : "T: numbertype";
    OpBuilder ref = ops.Add(StrCat("Scatter", name));
    ref.Input("ref: Ref(T)").Input("indices: Tindices").Input("updates: T").Output("output_ref: Ref(T)");
    ref.Attr(types)
        .Attr("Tindices: {int32, int64}")
        .Attr(update ? "use_locking: bool = true" : "use_locking: bool = false");
    ref.Shape(RowsShape).Doc(doc(name));
    if (!update && !ordered) ref.NotDifferentiable();
    ops.Add(StrCat("ResourceScatter", name))
        .Input("resource: resource").Input("indices: Tindices").Input("updates: dtype")
        .Attr(update ? "dtype: type" : "dtype: numbertype").Attr("Tindices: {int32, int64}").Stateful()
        .Shape(RowsShape).Doc(doc(name));
  }
  for (const char* change : {"Update", "Add", "Sub", "Min", "Max"}) {
    const std::string_view name = change;
    const bool update = name == "Update";
    OpBuilder ref = ops.Add(StrCat("ScatterNd", name));
    ref.Input("ref: Ref(T)").Input("indices: Tindices").Input("updates: T").Output("output_ref: Ref(T)")
        .Attr(update ? "T: type" : "T: numbertype").Attr("Tindices: {int32, int64}")
        .Attr(update ? "use_locking: bool = true" : "use_locking: bool = false").Attr("bad_indices_policy: string = ''")
        .Shape(SlicesShape).Doc(doc(name));
    if (name != "Min" && name != "Max") ref.NotDifferentiable();
    ops.Add(StrCat("ResourceScatterNd", name))
        .Input("ref: resource").Input("indices: Tindices").Input("updates: T").Attr("T: type")
        .Attr("Tindices: {int32, int64}").Attr("use_locking: bool = true").Attr("bad_indices_policy: string = ''")
        .Stateful().Shape(SlicesShape).Doc(doc(name));
  }
}

}  // namespace penstock
