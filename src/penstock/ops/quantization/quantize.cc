// Quantized numbers: floats to them and back, and what networks do with them.
#include "penstock/ops/nn/windows.h"
#include "penstock/ops/shape_helpers.h"

namespace penstock {
namespace {

constexpr char kTypes[] = "{qint8, quint8, qint32, qint16, quint16}";

std::string Type(std::string_view name) { return StrCat(name, ": ", kTypes); }

// Ranges are scalars: inputs from `first` on, outputs from 1 on.
void ScalarRanges(ShapeContext& c, int first) {
  for (int i = first; i < c.num_inputs(); ++i) c.WithRank(i, 0);
  for (int i = 1; i < c.num_outputs(); ++i) c.out(i, PartialShape(std::vector<int64_t>{}));
}
void SameWithRanges(ShapeContext& c) {
  ScalarRanges(c, 1);
  c.out(0, c.in(0));
}

// One range, or one for each slice along `axis`.
void QuantizeShape(ShapeContext& c) {
  const int64_t axis = c.attr<int64_t>("axis");
  if (axis < -1) throw InvalidArgument("axis should be at least -1, got ", axis);
  PartialShape range(std::vector<int64_t>{});
  if (axis >= 0) {
    const PartialShape x = c.in(0);
    if (x.known_rank() && axis > x.rank()) {
      throw InvalidArgument("Axis must be less than input dimension(", x.rank(), "), got ", axis);
    }
    if (x.known_rank() && axis == x.rank()) {
      throw InvalidArgument("Shape must be at least rank ", axis + 1, " but is rank ", x.rank());
    }
    range = PartialShape({x.known_rank() ? x[static_cast<int>(axis)] : -1});
  }
  for (const int i : {1, 2}) {
    c.WithRank(i, range.rank());
    range = shapes::Merge(range, c.in(i).known_rank() ? c.in(i) : PartialShape::OfRank(range.rank()));
  }
  c.out(0, c.in(0));
  for (int i = 1; i < c.num_outputs(); ++i) c.out(i, range);
}

// An op of the levels of a range, and the levels of another range that it makes of them.
OpBuilder Levels(OpRegistry& ops, std::string_view name) {
  return ops.Add(name).Input("input: Tinput").Input("input_min: float").Input("input_max: float");
}
OpBuilder Requantized(OpBuilder op) {
  op.Output("output: out_type").Output("output_min: float").Output("output_max: float");
  return op.Attr(Type("Tinput")).Attr(Type("out_type")).Shape(SameWithRanges);
}

}  // namespace

void RegisterQuantizeOps(OpRegistry& ops) {
  ops.Add("QuantizeV2")
      .Input("input: float")
      .Input("min_range: float")
      .Input("max_range: float")
      .Output("output: T")
      .Output("output_min: float")
      .Output("output_max: float")
      .Attr(Type("T"))
      .Attr("mode: {'MIN_COMBINED', 'MIN_FIRST', 'SCALED'} = 'MIN_COMBINED'")
      .Attr("round_mode: {'HALF_AWAY_FROM_ZERO', 'HALF_TO_EVEN'} = 'HALF_AWAY_FROM_ZERO'")
      .Attr("narrow_range: bool = false")
      .Attr("axis: int = -1")
      .Attr("ensure_minimum_range: float = 0.01")
      .Shape(QuantizeShape)
      .Doc("Floats as levels of a range, which is widened so that zero is in it.");
  ops.Add("Dequantize")
      .Input("input: T")
      .Input("min_range: float")
      .Input("max_range: float")
      .Output("output: dtype")
      .Attr(Type("T"))
      .Attr("mode: {'MIN_COMBINED', 'MIN_FIRST', 'SCALED'} = 'MIN_COMBINED'")
      .Attr("narrow_range: bool = false")
      .Attr("axis: int = -1")
      .Attr("dtype: {bfloat16, float} = DT_FLOAT")
      .Shape(QuantizeShape)
      .Doc("The floats that levels of a range stand for.");
  Requantized(Levels(ops, "Requantize").Input("requested_output_min: float").Input("requested_output_max: float"))
      .Doc("Levels of one range as those of another.");
  Levels(ops, "RequantizationRange")
      .Output("output_min: float")
      .Output("output_max: float")
      .Attr(Type("Tinput"))
      .Doc("The range that quantized numbers use, with zero in it.")
      .Shape([](ShapeContext& c) {
        ScalarRanges(c, 1);
        c.out(0, PartialShape(std::vector<int64_t>{}));
      });
  Requantized(Levels(ops, "QuantizeDownAndShrinkRange"))
      .Doc("Quantized numbers as smaller ones, of the range that they use.");

  ops.Add("QuantizedMatMul")
      .Input("a: T1")
      .Input("b: T2")
      .Input("min_a: float")
      .Input("max_a: float")
      .Input("min_b: float")
      .Input("max_b: float")
      .Output("out: Toutput")
      .Output("min_out: float")
      .Output("max_out: float")
      .Attr(Type("T1"))
      .Attr(Type("T2"))
      .Attr(Type("Toutput") + " = DT_QINT32")
      .Attr("transpose_a: bool = false")
      .Attr("transpose_b: bool = false")
      .Attr(Type("Tactivation") + " = DT_QUINT8")
      .Doc("The product of two matrices of quantized numbers.")
      .Shape([](ShapeContext& c) {
        const PartialShape a = c.WithRank(0, 2), b = c.WithRank(1, 2);
        ScalarRanges(c, 2);
        const bool ta = c.attr<bool>("transpose_a"), tb = c.attr<bool>("transpose_b");
        ShapeContext::MergeDim(a[ta ? 0 : 1], b[tb ? 1 : 0]);
        c.out(0, PartialShape({a[ta ? 1 : 0], b[tb ? 0 : 1]}));
      });
  ops.Add("QuantizedConv2D")
      .Input("input: Tinput")
      .Input("filter: Tfilter")
      .Input("min_input: float")
      .Input("max_input: float")
      .Input("min_filter: float")
      .Input("max_filter: float")
      .Output("output: out_type")
      .Output("min_output: float")
      .Output("max_output: float")
      .Attr(Type("Tinput"))
      .Attr(Type("Tfilter"))
      .Attr(Type("out_type") + " = DT_QINT32")
      .Attr("strides: list(int)")
      .Attr("padding: {'SAME', 'VALID'}")
      .Attr("dilations: list(int) = [1, 1, 1, 1]")
      .Doc("A convolution of quantized images.")
      .Shape([](ShapeContext& c) {
        shapes::Conv(c);
        ScalarRanges(c, 2);
      });
  for (const char* name : {"QuantizedRelu", "QuantizedRelu6", "QuantizedReluX"}) {
    OpBuilder op = ops.Add(name);
    op.Input("features: Tinput");
    if (std::string_view(name) == "QuantizedReluX") op.Input("max_value: float");
    op.Input("min_features: float")
        .Input("max_features: float")
        .Output("activations: out_type")
        .Output("min_activations: float")
        .Output("max_activations: float")
        .Attr(Type("Tinput"))
        .Attr(Type("out_type") + " = DT_QUINT8")
        .Shape(SameWithRanges)
        .Doc("A rectifier of quantized numbers.");
  }
  ops.Add("QuantizedBiasAdd")
      .Input("input: T1")
      .Input("bias: T2")
      .Input("min_input: float")
      .Input("max_input: float")
      .Input("min_bias: float")
      .Input("max_bias: float")
      .Output("output: out_type")
      .Output("min_out: float")
      .Output("max_out: float")
      .Attr(Type("T1"))
      .Attr(Type("T2"))
      .Attr(Type("out_type"))
      .Doc("A bias for each channel of quantized numbers.")
      .Shape([](ShapeContext& c) {
        c.WithRank(1, 1);
        ScalarRanges(c, 2);
        c.out(0, c.in(0));
      });
  for (const char* name : {"QuantizedMaxPool", "QuantizedAvgPool"}) {
    ops.Add(name)
        .Input("input: T")
        .Input("min_input: float")
        .Input("max_input: float")
        .Output("output: T")
        .Output("min_output: float")
        .Output("max_output: float")
        .Attr(Type("T"))
        .Attr("ksize: list(int)")
        .Attr("strides: list(int)")
        .Attr("padding: {'SAME', 'VALID'}")
        .Doc("Pools of quantized images.")
        .Shape([](ShapeContext& c) {
          shapes::Pool(c);
          ScalarRanges(c, 1);
        });
  }

  for (const char* name : {"QuantizedAdd", "QuantizedMul"}) {
    ops.Add(name)
        .Input("x: T1")
        .Input("y: T2")
        .Input("min_x: float")
        .Input("max_x: float")
        .Input("min_y: float")
        .Input("max_y: float")
        .Output("z: Toutput")
        .Output("min_z: float")
        .Output("max_z: float")
        .Attr(Type("T1"))
        .Attr(Type("T2"))
        .Attr(Type("Toutput") + " = DT_QINT32")
        .Doc("The sum, or the product, of quantized numbers, stretched to one shape.")
        .Shape([](ShapeContext& c) {
          ScalarRanges(c, 2);
          c.out(0, shapes::BroadcastShapes(c.in(0), c.in(1)));
        });
  }
  ops.Add("QuantizedInstanceNorm")
      .Input("x: T")
      .Input("x_min: float")
      .Input("x_max: float")
      .Output("y: T")
      .Output("y_min: float")
      .Output("y_max: float")
      .Attr(Type("T"))
      .Attr("output_range_given: bool = false")
      .Attr("given_y_min: float = 0")
      .Attr("given_y_max: float = 0")
      .Attr("variance_epsilon: float = 1e-5")
      .Attr("min_separation: float = 1e-3")
      .Doc("Quantized images of which each channel has mean 0 and deviation 1.")
      .Shape([](ShapeContext& c) {
        ScalarRanges(c, 1);
        c.out(0, c.WithRank(0, 4));
      });
  OpBuilder norm = ops.Add("QuantizedBatchNormWithGlobalNormalization");
  for (const char* name : {"t", "m", "v", "beta", "gamma"}) {
    norm.Input(StrCat(name, ": Tinput")).Input(StrCat(name, "_min: float")).Input(StrCat(name, "_max: float"));
  }
  norm.Output("result: out_type")
      .Output("result_min: float")
      .Output("result_max: float")
      .Attr(Type("Tinput"))
      .Attr(Type("out_type"))
      .Attr("variance_epsilon: float")
      .Attr("scale_after_normalization: bool")
      .Doc("Quantized images less `m`, over the root of `v`, times `gamma` if wanted, plus `beta`.")
      .Shape([](ShapeContext& c) {
        const PartialShape images = c.WithRank(0, 4);
        int64_t channels = images.known_rank() ? images[3] : -1;
        for (int i = 0; i < 5; ++i) {
          if (i > 0) {
            const PartialShape vector = c.WithRank(3 * i, 1);
            channels = ShapeContext::MergeDim(channels, vector.known_rank() ? vector[0] : -1);
          }
          c.WithRank(3 * i + 1, 0);
          c.WithRank(3 * i + 2, 0);
        }
        PartialShape out = images.known_rank() ? images : PartialShape::OfRank(4);
        out.set_dim(3, channels);
        c.out(0, out);
        c.out(1, PartialShape(std::vector<int64_t>{}));
        c.out(2, PartialShape(std::vector<int64_t>{}));
      });
}

}  // namespace penstock
