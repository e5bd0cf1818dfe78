// Parts of tensors: Slice, StridedSlice with every mask, and their assignments.
#include "penstock/ops/array/strided_slice.h"
#include "penstock/ops/shape_helpers.h"

namespace penstock {

namespace {

std::optional<int64_t> FirstOf(const Tensor* values) {
  if (!values || values->num_elements() == 0) return std::nullopt;
  return shapes::Integers(*values)[0];
}

void SliceShape(ShapeContext& c) {
  const PartialShape& in = c.in(0);
  const PartialShape begins = shapes::Merge(c.WithRank(1, 1), c.WithRank(2, 1));
  const Tensor *begin = c.in_value(1), *size = c.in_value(2);
  int64_t rank = in.known_rank() ? in.rank() : begins[0];
  if (begin) rank = begin->num_elements();
  if (size) rank = size->num_elements();
  if (rank < 0) return;
  const PartialShape input = shapes::Merge(in, shapes::AnyOfRank(rank));
  if (begins[0] >= 0 && begins[0] != rank) c.WithRank(input, static_cast<int>(begins[0]));
  std::vector<int64_t> dims(rank, -1);
  // -1 in `sizes` is "unknown" or "all that is left"; only a whole constant tells which.
  const PartialShape begin_dims = begin ? PartialShape(shapes::Integers(*begin)) : c.in_as_shape(1);
  const PartialShape sizes = size ? PartialShape(shapes::Integers(*size)) : c.in_as_shape(2);
  if (begin_dims.known_rank() && begin_dims.rank() != rank)
    throw InvalidArgument("Dimension must be ", rank, " but is ", begin_dims.rank());
  for (int i = 0; i < rank; ++i) {
    const int64_t wanted = sizes.known_rank() ? sizes[i] : -1;
    const int64_t from = begin_dims.known_rank() ? begin_dims[i] : -1;
    if (wanted < -1) throw InvalidArgument("size[", i, "] must be >= -1, but is ", wanted);
    if (begin && from < 0) throw InvalidArgument("begin[", i, "] must be >= 0, but is ", from);
    if (wanted >= 0) {
      dims[i] = wanted;  // beyond the end is an error when it runs
    } else if (size && from >= 0) {
      dims[i] = shapes::SubtractDims(input[i], from);
    }
  }
  c.out(0, PartialShape(std::move(dims)));
}

// The result of slicing input 0 by inputs first, first + 1, first + 2 (begin, end, strides).
PartialShape StridedSliceShape(ShapeContext& c, const PartialShape& input, int first) {
  PartialShape spec = c.WithRank(first, 1);
  spec = shapes::Merge(spec, c.WithRank(first + 1, 1));
  spec = shapes::Merge(spec, c.WithRank(first + 2, 1));
  const Tensor* strides = c.in_value(first + 2);
  if (!input.known_rank() || !strides) return {};
  const std::vector<int64_t> steps = shapes::Integers(*strides);
  std::vector<int64_t> begins, ends;
  if (const Tensor* begin = c.in_value(first)) begins = shapes::Integers(*begin);
  if (const Tensor* end = c.in_value(first + 1)) ends = shapes::Integers(*end);
  const bool has_begin = c.in_value(first) && begins.size() == steps.size();
  const bool has_end = c.in_value(first + 1) && ends.size() == steps.size();
  SliceMasks masks;
  masks.begin = c.attr<int64_t>("begin_mask");
  masks.end = c.attr<int64_t>("end_mask");
  masks.ellipsis = c.attr<int64_t>("ellipsis_mask");
  masks.new_axis = c.attr<int64_t>("new_axis_mask");
  masks.shrink_axis = c.attr<int64_t>("shrink_axis_mask");
  return PlanSlice(masks, input, static_cast<int>(steps.size()), has_begin ? &begins : nullptr,
                   has_end ? &ends : nullptr, steps)
      .result;
}

// A part of a vector that holds a shape: a range of it, or one element.
PartialShape SlicedShape(ShapeContext& c) {
  const PartialShape shape = shapes::PerhapsShape(c, 0);
  const Tensor *begin = c.in_value(1), *end = c.in_value(2), *strides = c.in_value(3);
  if (!shape.known_rank() || !begin || !end || !strides || c.in(0).rank() != 1) return {};
  if (c.attr<int64_t>("new_axis_mask") || c.attr<int64_t>("ellipsis_mask")) return {};
  SliceMasks masks;
  masks.begin = c.attr<int64_t>("begin_mask");
  masks.end = c.attr<int64_t>("end_mask");
  masks.shrink_axis = c.attr<int64_t>("shrink_axis_mask");
  const std::vector<int64_t> begins = shapes::Integers(*begin), ends = shapes::Integers(*end);
  const SlicePlan plan = PlanSlice(masks, PartialShape({int64_t{shape.rank()}}), static_cast<int>(begins.size()),
                                   &begins, &ends, shapes::Integers(*strides));
  std::vector<int64_t> dims;
  for (int64_t i = 0; i < plan.size[0]; ++i)
    dims.push_back(shape[static_cast<int>(plan.begin[0] + i * plan.stride[0])]);
  return PartialShape(std::move(dims));
}

Out Slice(Out x, Out begin, Out end, Out strides, const SliceMasks& masks) {
  return Call("StridedSlice", {x, begin, end, strides}, masks.Attrs());
}

// An op of a strided slice of `whole`: its bounds stand between that and a `value`, and it has all masks.
OpBuilder Strided(OpRegistry& ops, std::string_view name, std::string_view whole, std::string_view value,
                  std::string_view output, std::string_view index = "{int32, int64}") {
  OpBuilder op = ops.Add(name);
  op.Input(whole).Input("begin: Index").Input("end: Index").Input("strides: Index");
  if (!value.empty()) op.Input(value);
  if (!output.empty()) op.Output(output);
  op.Attr("T: type").Attr(StrCat("Index: ", index));
  for (const char* mask : {"begin", "end", "ellipsis", "new_axis", "shrink_axis"})
    op.Attr(StrCat(mask, "_mask: int = 0"));
  return op;
}

}  // namespace

void RegisterSliceOps(OpRegistry& ops) {
  ops.Add("Slice")
      .Input("input: T")
      .Input("begin: Index")
      .Input("size: Index")
      .Output("output: T")
      .Attr("T: type")
      .Attr("Index: {int32, int64}")
      .Shape(SliceShape)
      .ShapeValue([](ShapeContext& c) {
        const PartialShape shape = shapes::PerhapsShape(c, 0);
        const std::optional<int64_t> begin = c.in(1).num_elements() == 1 ? FirstOf(c.in_value(1)) : std::nullopt;
        const std::optional<int64_t> size = c.in(2).num_elements() == 1 ? FirstOf(c.in_value(2)) : std::nullopt;
        const int64_t from = begin.value_or(-1), count = size.value_or(-1);
        if (!shape.known_rank() || c.in(0).rank() != 1 || !size || from < 0 || from > shape.rank())
          return PartialShape();
        const int64_t end = count < 0 || count > shape.rank() - from ? shape.rank() : from + count;
        return shapes::Subshape(shape, static_cast<int>(from), static_cast<int>(end));
      })
      .Gradient([](GradContext& g) {
        // The gradient in the middle of zeros: as many before as `begin`, after as much as is missing.
        const Out begin = g.x(1), x = g.x(0);
        const DataType type = begin.type();
        const Out after = ShapeOf(x, type) - ShapeOf(g.y(), type) - begin;
        const Out paddings = CallOp("Pack", std::vector<Out>{begin, after}, {{"axis", 1}})[0];
        g.Set(0, g.Call("Pad", {g.dy(), paddings}));
      })
      .Doc(
          "The box of `input` that starts at `begin` and has `size` elements along each dimension (-1: all that "
          "follow).");

  Strided(ops, "StridedSlice", "input: T", "", "output: T", "{int16, int32, int64}")
      .Shape([](ShapeContext& c) {
        const PartialShape result = StridedSliceShape(c, c.in(0), 1);
        c.out(0, result);
        c.out_handle(0, c.in_handle(0));
      })
      .ShapeValue(SlicedShape)
      .Gradient([](GradContext& g) {
        const DataType type = g.x(1).type();
        // The gradient op knows no int16.
        const DataType index = type == DT_INT16 ? DT_INT32 : type;
        g.Set(0, g.Call("StridedSliceGrad",
                        {ShapeOf(g.x(0), index), Cast(g.x(1), index), Cast(g.x(2), index), Cast(g.x(3), index), g.dy()},
                        SliceMasks(g.attrs()).Attrs()));
      })
      .Doc(
          "NumPy's input[begin:end:strides]. Bit i of a mask concerns entry i: begin_mask and end_mask ignore a bound, "
          "ellipsis_mask stands for all dimensions left, new_axis_mask adds one of size 1, shrink_axis_mask takes a "
          "single "
          "index.");

  Strided(ops, "StridedSliceGrad", "shape: Index", "dy: T", "output: T")
      .Shape([](ShapeContext& c) { shapes::FromShapeInput(c); })
      .Gradient([](GradContext& g) { g.Set(4, Slice(g.dy(), g.x(1), g.x(2), g.x(3), SliceMasks(g.attrs()))); })
      .Doc(
          "The gradient of StridedSlice: `dy` where the slice took elements of a tensor of shape `shape`, zeros "
          "elsewhere.");

  Strided(ops, "StridedSliceAssign", "ref: Ref(T)", "value: T", "output_ref: Ref(T)")
      .Shape(shapes::SameAsInput0)
      .Doc("Assigns `value` to a strided slice of the variable `ref`.");

  Strided(ops, "ResourceStridedSliceAssign", "ref: resource", "value: T", "")
      .Stateful()
      .Shape(shapes::None)
      .Doc("Assigns `value` to a strided slice of the variable behind `ref`.");

  Strided(ops, "TensorStridedSliceUpdate", "input: T", "value: T", "output: T")
      .Shape([](ShapeContext& c) {
        StridedSliceShape(c, c.in(0), 1);
        c.out(0, c.in(0));
      })
      .Gradient([](GradContext& g) {
        const SliceMasks masks(g.attrs());
        const Out begin = g.x(1), end = g.x(2), strides = g.x(3), dy = g.dy();
        const Out zeros = ZerosLike(Slice(dy, begin, end, strides, masks));
        g.Set(0, g.Call("TensorStridedSliceUpdate", {dy, begin, end, strides, zeros}, masks.Attrs()));
        // `value` may have been broadcast to the slice.
        const Out part = Slice(dy, begin, end, strides, masks);
        const Outs axes = g.CallAll("BroadcastGradientArgs", std::vector<Out>{ShapeOf(g.x(4)), ShapeOf(part)});
        g.Set(4, ReshapeLike(Sum(part, axes[0], true), g.x(4)));
      })
      .Doc("`input` with a strided slice of it replaced by `value`.");
}

}  // namespace penstock
