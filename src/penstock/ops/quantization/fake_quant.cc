// Numbers rounded to what few bits can say, kept as floats.
#include <limits>

#include "penstock/ops/shape_helpers.h"

namespace penstock {

namespace {

void StraightThrough(GradContext& g) { g.Set(0, g.dy()); }

AttrMap Copied(GradContext& g, std::initializer_list<const char*> names) {
  AttrMap attrs;
  for (const char* name : names) attrs.Set(name, g.attr(name));
  return attrs;
}

// Shape of a tensor and of a range for each of its slices along `axis` (or one range).
void RangeShape(ShapeContext& c) {
  const int64_t axis = c.attr<int64_t>("axis");
  if (axis < -1) throw InvalidArgument("axis should be at least -1, got ", axis);
  if (axis == -1) {
    c.WithRank(1, 0);
    c.WithRank(2, 0);
  } else {
    if (axis >= std::numeric_limits<int32_t>::max()) {
      throw InvalidArgument("Axis cannot be >= kint32max value, got ", axis);
    }
    const PartialShape in = c.in(0);
    if (in.known_rank() && axis >= in.rank()) {
      throw InvalidArgument("Shape must be at least rank ", axis + 1, " but is rank ", in.rank());
    }
    const PartialShape low = c.WithRank(1, 1), high = c.WithRank(2, 1);
    ShapeContext::MergeDim(low[0], high[0]);
    if (in.known_rank()) ShapeContext::MergeDim(low[0], in[static_cast<int>(axis)]);
  }
  c.out(0, c.in(0));
}

void PerChannelShape(ShapeContext& c, int input) {
  const PartialShape in = c.WithRankAtLeast(input, 1);
  const PartialShape low = c.WithRank(input + 1, 1), high = c.WithRank(input + 2, 1);
  const int64_t channels = ShapeContext::MergeDim(low[0], high[0]);
  if (in.known_rank()) ShapeContext::MergeDim(in[in.rank() - 1], channels);
}

// The gradient by a tensor and by the two ends of its range, each from an output of op `name`.
void GradientWithRange(GradContext& g, std::string_view name, std::initializer_list<const char*> attributes) {
  const Outs dx = g.CallAll(name, std::vector<Out>{g.dy(), g.x(0), g.x(1), g.x(2)}, Copied(g, attributes));
  for (int i = 0; i < 3; ++i) g.Set(i, dx[i]);
}

OpBuilder QuantizeAndDequantizeOfAttributes(OpRegistry& ops, std::string_view name) {
  return ops.Add(name)
      .Input("input: T")
      .Input("input_min: T")
      .Input("input_max: T")
      .Output("output: T")
      .Attr("signed_input: bool = true")
      .Attr("num_bits: int = 8")
      .Attr("range_given: bool = false")
      .Attr("T: {bfloat16, half, float, double}")
      .Attr("round_mode: {'HALF_TO_EVEN', 'HALF_UP'} = 'HALF_TO_EVEN'")
      .Attr("narrow_range: bool = false")
      .Attr("axis: int = -1")
      .Shape(RangeShape);
}
OpBuilder Bits(OpBuilder op) { return op.Attr("num_bits: int = 8").Attr("narrow_range: bool = false"); }
OpBuilder FakeQuantOfRange(OpRegistry& ops, std::string_view name) {
  return Bits(ops.Add(name).Input("inputs: float").Input("min: float").Input("max: float").Output("outputs: float"));
}
OpBuilder FakeQuantOfRangeGradient(OpRegistry& ops, std::string_view name) {
  OpBuilder op = ops.Add(name);
  op.Input("gradients: float").Input("inputs: float").Input("min: float").Input("max: float");
  op.Output("backprops_wrt_input: float").Output("backprop_wrt_min: float").Output("backprop_wrt_max: float");
  return Bits(op).NotDifferentiable();
}
OpBuilder FakeQuantOfAttributes(OpBuilder op) {
  return Bits(op.Attr("min: float = -6.0").Attr("max: float = 6.0")).Shape(shapes::SameAsInput0).Elementwise();
}

}  // namespace

void RegisterFakeQuantOps(OpRegistry& ops) {
  ops.Add("QuantizeAndDequantize")
      .Input("input: T")
      .Output("output: T")
      .Attr("signed_input: bool = true")
      .Attr("num_bits: int = 8")
      .Attr("range_given: bool = false")
      .Attr("input_min: float = 0.0")
      .Attr("input_max: float = 0.0")
      .Attr("T: {bfloat16, half, float, double}")
      .Deprecated(22, "")
      .Shape(shapes::SameAsInput0)
      .Gradient(StraightThrough)
      .Doc("`input` rounded to `num_bits` bits in a range that is given or its own.");

  QuantizeAndDequantizeOfAttributes(ops, "QuantizeAndDequantizeV2")
      .Gradient(StraightThrough)
      .Doc("`input` rounded to `num_bits` bits in a range that is given or its own, for each slice along `axis`.");

  ops.Add("QuantizeAndDequantizeV3")
      .Input("input: T")
      .Input("input_min: T")
      .Input("input_max: T")
      .Input("num_bits: int32")
      .Output("output: T")
      .Attr("signed_input: bool = true")
      .Attr("range_given: bool = true")
      .Attr("T: {bfloat16, half, float, double}")
      .Attr("narrow_range: bool = false")
      .Attr("axis: int = -1")
      .Shape([](ShapeContext& c) {
        c.WithRank(3, 0);
        RangeShape(c);
      })
      .Gradient(StraightThrough)
      .Doc("QuantizeAndDequantizeV2 with the number of bits as a tensor.");

  QuantizeAndDequantizeOfAttributes(ops, "QuantizeAndDequantizeV4")
      .Gradient([](GradContext& g) { GradientWithRange(g, "QuantizeAndDequantizeV4Grad", {"axis"}); })
      .Doc("QuantizeAndDequantizeV2 whose gradient ends outside the range.");

  ops.Add("QuantizeAndDequantizeV4Grad")
      .Input("gradients: T")
      .Input("input: T")
      .Input("input_min: T")
      .Input("input_max: T")
      .Output("input_backprop: T")
      .Output("input_min_backprop: T")
      .Output("input_max_backprop: T")
      .Attr("T: {bfloat16, half, float, double}")
      .Attr("axis: int = -1")
      .Shape([](ShapeContext& c) {
        const int rank = c.attr<int64_t>("axis") == -1 ? 0 : 1;
        c.out(0, shapes::Merge(c.in(0), c.in(1)));
        c.out(1, c.WithRank(2, rank));
        c.out(2, c.WithRank(3, rank));
      })
      .Gradient(StraightThrough)
      .Doc("The gradient of QuantizeAndDequantizeV4.");

  FakeQuantOfAttributes(ops.Add("FakeQuantWithMinMaxArgs").Input("inputs: float").Output("outputs: float"))
      .Gradient([](GradContext& g) {
        g.Set(0, g.Call("FakeQuantWithMinMaxArgsGradient", {g.dy(), g.x(0)},
                        Copied(g, {"min", "max", "num_bits", "narrow_range"})));
      })
      .Doc("`inputs` clamped to [min, max] and rounded to one of 2^num_bits levels.");

  FakeQuantOfAttributes(ops.Add("FakeQuantWithMinMaxArgsGradient")
                            .Input("gradients: float")
                            .Input("inputs: float")
                            .Output("backprops: float"))
      .NotDifferentiable()
      .Doc("The gradient of FakeQuantWithMinMaxArgs: `gradients` where `inputs` lies in the range.");

  FakeQuantOfRange(ops, "FakeQuantWithMinMaxVars")
      .Shape([](ShapeContext& c) {
        c.WithRank(1, 0);
        c.WithRank(2, 0);
        c.out(0, c.in(0));
      })
      .Gradient([](GradContext& g) {
        GradientWithRange(g, "FakeQuantWithMinMaxVarsGradient", {"num_bits", "narrow_range"});
      })
      .Doc("FakeQuantWithMinMaxArgs with the range as tensors.");

  FakeQuantOfRangeGradient(ops, "FakeQuantWithMinMaxVarsGradient")
      .Shape([](ShapeContext& c) {
        c.out(0, shapes::Merge(c.in(0), c.in(1)));
        c.out(1, c.WithRank(2, 0));
        c.out(2, c.WithRank(3, 0));
      })
      .Doc("The gradient of FakeQuantWithMinMaxVars; what lies outside the range goes to its end.");

  FakeQuantOfRange(ops, "FakeQuantWithMinMaxVarsPerChannel")
      .Shape([](ShapeContext& c) {
        PerChannelShape(c, 0);
        c.out(0, c.in(0));
      })
      .Gradient([](GradContext& g) {
        GradientWithRange(g, "FakeQuantWithMinMaxVarsPerChannelGradient", {"num_bits", "narrow_range"});
      })
      .Doc("FakeQuantWithMinMaxVars with a range for each channel (the last dimension).");

  FakeQuantOfRangeGradient(ops, "FakeQuantWithMinMaxVarsPerChannelGradient")
      .Shape([](ShapeContext& c) {
        PerChannelShape(c, 1);
        const PartialShape inputs = shapes::Merge(c.in(0), c.in(1)), low = c.WithRank(2, 1), high = c.WithRank(3, 1);
        int64_t channels = ShapeContext::MergeDim(low[0], high[0]);
        if (inputs.known_rank()) channels = ShapeContext::MergeDim(inputs[inputs.rank() - 1], channels);
        c.out(0, inputs);
        c.out(1, {channels});
        c.out(2, {channels});
      })
      .Doc("The gradient of FakeQuantWithMinMaxVarsPerChannel.");
}

}  // namespace penstock
