// Which elements there are: where, unique, differences of lists, positions in sorted rows.
#include "penstock/ops/shape_helpers.h"

namespace penstock {

namespace {

// Unique along input 1's axes (or of a vector), with `counts` as output 2.
void UniqueShape(ShapeContext& c) {
  for (int i = 2; i < c.num_outputs(); ++i) c.out(i, PartialShape::OfRank(1));
  if (c.num_inputs() == 1) {
    c.WithRank(0, 1);
    c.out(0, PartialShape::OfRank(1));
    c.out(1, c.WithRank(0, 1));
    return;
  }
  c.WithRankAtMost(1, 1);
  const PartialShape& in = c.in(0);
  c.out(1, PartialShape::OfRank(1));
  const Tensor* axes = c.in_value(1);
  if (!axes) return c.out(0, shapes::AnyOfRank(in.rank()));
  if (axes->num_elements() == 0) {
    c.WithRank(0, 1);
    c.out(0, PartialShape::OfRank(1));
    c.out(1, c.WithRank(0, 1));
    return;
  }
  if (axes->num_elements() != 1) throw InvalidArgument("axis does not support input tensors larger than 1 elements");
  if (!in.known_rank()) return;
  const int64_t axis = axes->IntAt(0);
  if (axis < -in.rank() || axis >= in.rank()) {
    throw InvalidArgument("axis expects to be in the range [", -in.rank(), ", ", in.rank(), ") but got ", axis);
  }
  const int a = static_cast<int>(axis < 0 ? axis + in.rank() : axis);
  PartialShape out = in;
  out.set_dim(a, -1);
  c.out(0, out);
  c.out(1, {in[a]});
}

void BoundShape(ShapeContext& c) {
  const PartialShape sorted = c.WithRank(0, 2), values = c.WithRank(1, 2);
  ShapeContext::MergeDim(sorted[0], values[0]);
  c.out(0, values);
}

}  // namespace

void RegisterSelectionOps(OpRegistry& ops) {
  ops.Add("Where")
      .Input("input: T")
      .Output("index: int64")
      .Attr(
          "T: {float, double, int32, uint8, int16, int8, complex64, int64, qint8, quint8, qint32, bfloat16, qint16, "
          "quint16, uint16, complex128, half, uint32, uint64, bool} = DT_BOOL")
      .Shape([](ShapeContext& c) {
        c.out(0, {-1, c.in(0).rank()});
      })
      .Doc("The positions of all elements that are not zero, in row-major order.");

  ops.Add("Unique")
      .Input("x: T")
      .Output("y: T")
      .Output("idx: out_idx")
      .Attr("T: type")
      .Attr("out_idx: {int32, int64} = DT_INT32")
      .Shape(UniqueShape)
      .Doc("The different elements of `x` in order of first occurrence, and for each element where it went.");

  ops.Add("UniqueV2")
      .Input("x: T")
      .Input("axis: Taxis")
      .Output("y: T")
      .Output("idx: out_idx")
      .Attr("T: type")
      .Attr("Taxis: {int32, int64} = DT_INT64")
      .Attr("out_idx: {int32, int64} = DT_INT32")
      .Shape(UniqueShape)
      .Doc("The different slices of `x` along `axis` in order of first occurrence, and for each slice where it went.");

  ops.Add("UniqueWithCounts")
      .Input("x: T")
      .Output("y: T")
      .Output("idx: out_idx")
      .Output("count: out_idx")
      .Attr("T: type")
      .Attr("out_idx: {int32, int64} = DT_INT32")
      .Shape(UniqueShape)
      .Doc("Unique, and how often each element occurs.");

  ops.Add("UniqueWithCountsV2")
      .Input("x: T")
      .Input("axis: Taxis")
      .Output("y: T")
      .Output("idx: out_idx")
      .Output("count: out_idx")
      .Attr("T: type")
      .Attr("Taxis: {int32, int64} = DT_INT64")
      .Attr("out_idx: {int32, int64} = DT_INT32")
      .Shape(UniqueShape)
      .Doc("UniqueV2, and how often each slice occurs.");

  ops.Add("ListDiff")
      .Input("x: T")
      .Input("y: T")
      .Output("out: T")
      .Output("idx: out_idx")
      .Attr("T: type")
      .Attr("out_idx: {int32, int64} = DT_INT32")
      .Shape([](ShapeContext& c) {
        c.WithRank(0, 1);
        c.WithRank(1, 1);
        c.out(0, PartialShape::OfRank(1));
        c.out(1, PartialShape::OfRank(1));
      })
      .Doc("The elements of `x` that are not in `y`, and where they stand in `x`.");

  ops.Add("LowerBound")
      .Input("sorted_inputs: T")
      .Input("values: T")
      .Output("output: out_type")
      .Attr("T: type")
      .Attr("out_type: {int32, int64} = DT_INT32")
      .Shape(BoundShape)
      .Doc("For each value of a row the first position in the sorted row that is not less.");

  ops.Add("UpperBound")
      .Input("sorted_inputs: T")
      .Input("values: T")
      .Output("output: out_type")
      .Attr("T: type")
      .Attr("out_type: {int32, int64} = DT_INT32")
      .Shape(BoundShape)
      .Doc("For each value of a row the first position in the sorted row that is greater.");

  ops.Add("EditDistance")
      .Input("hypothesis_indices: int64")
      .Input("hypothesis_values: T")
      .Input("hypothesis_shape: int64")
      .Input("truth_indices: int64")
      .Input("truth_values: T")
      .Input("truth_shape: int64")
      .Output("output: float")
      .Attr("normalize: bool = true")
      .Attr("T: type")
      .NotDifferentiable()
      .Shape([](ShapeContext& c) {
        for (int i : {0, 3}) c.WithRank(i, 2);
        for (int i : {1, 2, 4, 5}) c.WithRank(i, 1);
        const Tensor *a = c.in_value(2), *b = c.in_value(5);
        if (!a || !b) return;
        if (a->num_elements() != b->num_elements()) {
          throw InvalidArgument("Num elements of hypothesis_shape does not match truth_shape: ", a->num_elements(),
                                " vs. ", b->num_elements());
        }
        const std::vector<int64_t> x = shapes::Integers(*a), y = shapes::Integers(*b);
        std::vector<int64_t> dims;
        for (size_t i = 0; i + 1 < x.size(); ++i) dims.push_back(std::max(x[i], y[i]));
        c.out(0, PartialShape(std::move(dims)));
      })
      .Doc(
          "Levenshtein distance between the sequences in two sparse tensors, divided by the truth's length if "
          "`normalize`.");

  ops.Add("UnravelIndex")
      .Input("indices: Tidx")
      .Input("dims: Tidx")
      .Output("output: Tidx")
      .Attr("Tidx: {int32, int64} = DT_INT32")
      .Shape([](ShapeContext& c) {
        const PartialShape& indices = c.in(0);
        const PartialShape dims = c.WithRank(1, 1);
        if (!indices.known_rank()) return;
        if (indices.rank() == 0) return c.out(0, dims);
        const int64_t n = indices.num_elements();
        c.out(0, {dims[0], n});
      })
      .Doc("Flat positions as positions in an array of shape `dims`, one column for each.");
}

}  // namespace penstock
