// Numbers rounded to what few bits can say, kept as floats.
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
    const PartialShape in = c.WithRankAtLeast(0, static_cast<int>(std::min<int64_t>(axis, kMaxRank)) + 1);
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

  ops.Add("QuantizeAndDequantizeV2")
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
      .Shape(RangeShape)
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

  ops.Add("QuantizeAndDequantizeV4")
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
      .Shape(RangeShape)
      .Gradient([](GradContext& g) {
        const Outs dx = g.CallAll("QuantizeAndDequantizeV4Grad", std::vector<Out>{g.dy(), g.x(0), g.x(1), g.x(2)},
                                  Copied(g, {"axis"}));
        for (int i = 0; i < 3; ++i) g.Set(i, dx[i]);
      })
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

  ops.Add("FakeQuantWithMinMaxArgs")
      .Input("inputs: float")
      .Output("outputs: float")
      .Attr("min: float = -6.0")
      .Attr("max: float = 6.0")
      .Attr("num_bits: int = 8")
      .Attr("narrow_range: bool = false")
      .Shape(shapes::SameAsInput0)
      .Gradient([](GradContext& g) {
        g.Set(0, g.Call("FakeQuantWithMinMaxArgsGradient", {g.dy(), g.x(0)},
                        Copied(g, {"min", "max", "num_bits", "narrow_range"})));
      })
      .Elementwise()
      .Doc("`inputs` clamped to [min, max] and rounded to one of 2^num_bits levels.");

  ops.Add("FakeQuantWithMinMaxArgsGradient")
      .Input("gradients: float")
      .Input("inputs: float")
      .Output("backprops: float")
      .Attr("min: float = -6.0")
      .Attr("max: float = 6.0")
      .Attr("num_bits: int = 8")
      .Attr("narrow_range: bool = false")
      .NotDifferentiable()
      .Shape(shapes::SameAsInput0)
      .Elementwise()
      .Doc("The gradient of FakeQuantWithMinMaxArgs: `gradients` where `inputs` lies in the range.");

  ops.Add("FakeQuantWithMinMaxVars")
      .Input("inputs: float")
      .Input("min: float")
      .Input("max: float")
      .Output("outputs: float")
      .Attr("num_bits: int = 8")
      .Attr("narrow_range: bool = false")
      .Shape([](ShapeContext& c) {
        c.WithRank(1, 0);
        c.WithRank(2, 0);
        c.out(0, c.in(0));
      })
      .Gradient([](GradContext& g) {
        const Outs dx = g.CallAll("FakeQuantWithMinMaxVarsGradient", std::vector<Out>{g.dy(), g.x(0), g.x(1), g.x(2)},
                                  Copied(g, {"num_bits", "narrow_range"}));
        for (int i = 0; i < 3; ++i) g.Set(i, dx[i]);
      })
      .Doc("FakeQuantWithMinMaxArgs with the range as tensors.");

  ops.Add("FakeQuantWithMinMaxVarsGradient")
      .Input("gradients: float")
      .Input("inputs: float")
      .Input("min: float")
      .Input("max: float")
      .Output("backprops_wrt_input: float")
      .Output("backprop_wrt_min: float")
      .Output("backprop_wrt_max: float")
      .Attr("num_bits: int = 8")
      .Attr("narrow_range: bool = false")
      .NotDifferentiable()
      .Shape([](ShapeContext& c) {
        c.out(0, shapes::Merge(c.in(0), c.in(1)));
        c.out(1, c.WithRank(2, 0));
        c.out(2, c.WithRank(3, 0));
      })
      .Doc("The gradient of FakeQuantWithMinMaxVars; what lies outside the range goes to its end.");

  ops.Add("FakeQuantWithMinMaxVarsPerChannel")
      .Input("inputs: float")
      .Input("min: float")
      .Input("max: float")
      .Output("outputs: float")
      .Attr("num_bits: int = 8")
      .Attr("narrow_range: bool = false")
      .Shape([](ShapeContext& c) {
        PerChannelShape(c, 0);
        c.out(0, c.in(0));
      })
      .Gradient([](GradContext& g) {
        const Outs dx =
            g.CallAll("FakeQuantWithMinMaxVarsPerChannelGradient", std::vector<Out>{g.dy(), g.x(0), g.x(1), g.x(2)},
                      Copied(g, {"num_bits", "narrow_range"}));
        for (int i = 0; i < 3; ++i) g.Set(i, dx[i]);
      })
      .Doc("FakeQuantWithMinMaxVars with a range for each channel (the last dimension).");

  ops.Add("FakeQuantWithMinMaxVarsPerChannelGradient")
      .Input("gradients: float")
      .Input("inputs: float")
      .Input("min: float")
      .Input("max: float")
      .Output("backprops_wrt_input: float")
      .Output("backprop_wrt_min: float")
      .Output("backprop_wrt_max: float")
      .Attr("num_bits: int = 8")
      .Attr("narrow_range: bool = false")
      .NotDifferentiable()
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
