// Batch normalisation in one op, its gradient as another, and the gradient of that.
#include "penstock/graph/gradient.h"
#include "penstock/op/data_format.h"
#include "penstock/op/op_registry.h"
#include "penstock/ops/shape_helpers.h"

namespace penstock {
namespace {

PartialShape WithChannels(const PartialShape& x, const DataFormat& format, int64_t channels) {
  PartialShape y = x.known_rank() ? x : PartialShape::OfRank(format.rank());
  y.set_dim(format.channel(), channels);
  return y;
}

void BatchNormShape(ShapeContext& c) {
  const DataFormat format = DataFormat::Parse(c.attr<std::string>("data_format"));
  const PartialShape x = c.WithRank(0, format.rank());
  int64_t channels = x.known_rank() ? x[format.channel()] : -1;
  // In training the running mean and variance may be missing (empty).
  const int vectors = c.attr<bool>("is_training") ? 3 : 5;
  for (int i = 1; i < vectors; ++i) {
    const PartialShape vector = c.WithRank(i, 1);
    channels = ShapeContext::MergeDim(channels, vector.known_rank() ? vector[0] : -1);
  }
  c.out(0, WithChannels(x, format, channels));
  for (int i = 1; i < 5; ++i) c.out(i, PartialShape({channels}));
}

void BatchNormGradShape(ShapeContext& c) {
  const DataFormat format = DataFormat::Parse(c.attr<std::string>("data_format"));
  const PartialShape dy = c.WithRank(0, format.rank()), x = c.WithRank(1, format.rank());
  int64_t channels = dy.known_rank() ? dy[format.channel()] : -1;
  channels = ShapeContext::MergeDim(channels, x.known_rank() ? x[format.channel()] : -1);
  for (int i = 2; i < 5; ++i) {
    const PartialShape vector = c.WithRank(i, 1);
    channels = ShapeContext::MergeDim(channels, vector.known_rank() ? vector[0] : -1);
  }
  c.out(0, WithChannels(dy, format, channels));
  c.out(1, PartialShape({channels}));
  c.out(2, PartialShape({channels}));
  // Outputs that nobody reads: empty, but one version of TensorFlow writes the channels here where it does not train.
  const PartialShape reserved({c.attr<bool>("is_training") ? 0 : -1});
  c.out(3, reserved);
  c.out(4, reserved);
}

// The image of BatchNormWithGlobalNormalization; inputs 1 to `vectors` have an element for each channel.
PartialShape GlobalShape(ShapeContext& c, int vectors) {
  PartialShape x = c.WithRank(0, 4);
  for (int i = 1; i <= vectors; ++i) {
    const PartialShape vector = c.WithRank(i, 1);
    x.set_dim(3, ShapeContext::MergeDim(x[3], vector[0]));
  }
  return x;
}

void BatchNormGradient(GradContext& g) {
  const bool training = g.attr<bool>("is_training"), third = g.op().name.ends_with("V3");
  Outs inputs = {g.dy(0), g.x(0), g.x(1), training ? g.y(3) : g.x(3), training ? g.y(4) : g.x(4)};
  if (third) inputs.push_back(g.y(5));
  const std::string& name = g.op().name;
  const std::string grad = "FusedBatchNormGrad" + name.substr(std::string_view("FusedBatchNorm").size());
  const Outs dx =
      g.CallAll(grad, inputs,
                {{"epsilon", g.attr("epsilon")}, {"data_format", g.attr("data_format")}, {"is_training", training}});
  for (int i = 0; i < 3; ++i) g.Set(i, dx[i]);
}

// The gradient's own gradient, channels last. With n elements a channel, r = 1 / sqrt(variance + epsilon),
// h = (x - mean) r and P(v) = v - mean(v) - h mean(v h), which is linear and its own adjoint:
//   dx = scale r P(dy), dscale = sum(dy h), doffset = sum(dy), and d(h) = r P(d(x)), d(r) = -r^2 mean(h d(x)).
void BatchNormGradGradient(GradContext& g) {
  const DataFormat format = DataFormat::Parse(g.attr<std::string>("data_format"));
  const DataType type = g.x(1).type();
  Scope& scope = g.scope();
  std::vector<int32_t> axes, to_last = {0}, to_first = {0, format.spatial + 1};
  for (int i = 0; i <= format.spatial; ++i) axes.push_back(i);
  for (int i = 0; i < format.spatial; ++i) to_last.push_back(2 + i), to_first.push_back(1 + i);
  to_last.push_back(1);
  const auto last = [&](Out v) {
    return Cast(format.channels_first ? Transpose(v, ConstVector(scope, to_last)) : v, DT_FLOAT);
  };
  const auto back = [&](Out v) {
    const Out t = Cast(v, type);
    return format.channels_first ? Transpose(t, ConstVector(scope, to_first)) : t;
  };
  const auto mean = [&](Out v) { return g.Call("Mean", {v, ConstVector(scope, axes)}); };
  const auto sum = [&](Out v) { return Sum(v, axes); };
  const Out dy = last(g.x(0)), x = last(g.x(1)), scale = g.x(2), gx = last(g.dy(0)), gs = g.dy(1), go = g.dy(2);
  const double epsilon = g.attr<float>("epsilon");
  if (!g.attr<bool>("is_training")) {
    const Out r = g.Call("Rsqrt", {g.x(4) + epsilon}), h = (x - g.x(3)) * r;
    g.Set(0, back(gx * (scale * r) + h * gs + go));
    g.Set(1, back(dy * (gs * r)));
    g.Set(2, sum(gx * dy) * r);
    return;
  }
  const Out centre = mean(x), d = x - centre;
  const Out r = g.Call("Rsqrt", {mean(d * d) + epsilon}), h = d * r;
  const Out a = mean(dy * h), b = mean(gx * h);
  const Out p_dy = dy - mean(dy) - h * a, p_gx = gx - mean(gx) - h * b;
  const Out q = mean(gx * p_dy);  // sum(gx P(dy)) / n
  const Out r2 = r * r;
  g.Set(0, back(p_gx * (scale * r) + h * gs + go));
  g.Set(1, back(-(h * (scale * r2 * q)) - p_gx * (scale * r2 * a) - p_dy * (scale * r2 * b) + p_dy * (gs * r)));
  g.Set(2, sum(gx * p_dy) * r);
}

OpBuilder Attributes(OpBuilder op, bool factor, std::string_view formats) {
  op.Attr("epsilon: float = 0.0001");
  if (factor) op.Attr("exponential_avg_factor: float = 1.0");
  return op.Attr(formats).Attr("is_training: bool = true");
}

}  // namespace

void RegisterBatchNormOps(OpRegistry& ops) {
  constexpr char k2D[] = "data_format: {'NHWC', 'NCHW'} = 'NHWC'";
  constexpr char kAny[] = "data_format: {'NHWC', 'NCHW', 'NDHWC', 'NCDHW'} = 'NHWC'";
  constexpr char kDoc[] =
      "Images normalised channel by channel to a mean of 0 and a variance of 1 (of this batch in training, given "
      "otherwise), "
      "then scaled and shifted.";
  ops.Add("BatchNormWithGlobalNormalization")
      .Input("t: T")
      .Input("m: T")
      .Input("v: T")
      .Input("beta: T")
      .Input("gamma: T")
      .Output("result: T")
      .Attr("T: numbertype")
      .Attr("variance_epsilon: float")
      .Attr("scale_after_normalization: bool")
      .Deprecated(9, "Use tf.nn.batch_normalization()")
      .Doc("Normalised by a given mean and variance, scaled if asked for, and shifted.")
      .Shape([](ShapeContext& c) { c.out(0, GlobalShape(c, 4)); })
      .Gradient([](GradContext& g) {
        const Outs all =
            g.CallAll("BatchNormWithGlobalNormalizationGrad", std::vector<Out>{g.x(0), g.x(1), g.x(2), g.x(4), g.dy()},
                      {{"variance_epsilon", g.attr("variance_epsilon")},
                       {"scale_after_normalization", g.attr("scale_after_normalization")}});
        for (int i = 0; i < 5; ++i) g.Set(i, all[i]);
      });
  ops.Add("BatchNormWithGlobalNormalizationGrad")
      .Input("t: T")
      .Input("m: T")
      .Input("v: T")
      .Input("gamma: T")
      .Input("backprop: T")
      .Output("dx: T")
      .Output("dm: T")
      .Output("dv: T")
      .Output("db: T")
      .Output("dg: T")
      .Attr("T: numbertype")
      .Attr("variance_epsilon: float")
      .Attr("scale_after_normalization: bool")
      .Deprecated(9, "Use tf.nn.batch_normalization()")
      .Doc("The gradients of BatchNormWithGlobalNormalization.")
      .Shape([](ShapeContext& c) {
        const PartialShape dx = shapes::Merge(GlobalShape(c, 3), c.WithRank(4, 4));
        c.out(0, dx);
        for (int i = 1; i < 5; ++i) c.out(i, PartialShape({dx[3]}));
      });
  for (int version = 1; version <= 3; ++version) {
    const std::string suffix = version == 1 ? "" : StrCat("V", version);
    const std::string u = version == 1 ? "T" : "U";
    OpBuilder forward = ops.Add("FusedBatchNorm" + suffix);
    forward.Input("x: T");
    for (const char* name : {"scale", "offset", "mean", "variance"}) forward.Input(StrCat(name, ": ", u));
    forward.Output("y: T");
    for (const char* name : {"batch_mean", "batch_variance", "reserve_space_1", "reserve_space_2"}) {
      forward.Output(StrCat(name, ": ", u));
    }
    if (version == 3) forward.Output("reserve_space_3: U");
    forward.Attr(version == 1 ? "T: {float}" : "T: {half, bfloat16, float}");
    if (version > 1) forward.Attr(version == 2 ? "U: {float}" : "U: {bfloat16, float}");
    Attributes(forward, true, version == 3 ? kAny : k2D).Shape(BatchNormShape).Gradient(BatchNormGradient).Doc(kDoc);

    OpBuilder grad = ops.Add("FusedBatchNormGrad" + suffix);
    grad.Input("y_backprop: T").Input("x: T").Input(version == 1 ? "scale: T" : "scale: float");
    grad.Input(StrCat("reserve_space_1: ", u)).Input(StrCat("reserve_space_2: ", u));
    if (version == 3) grad.Input("reserve_space_3: U");
    grad.Output("x_backprop: T").Output(StrCat("scale_backprop: ", u)).Output(StrCat("offset_backprop: ", u));
    const int reserved = version == 3 ? 4 : 3;
    grad.Output(StrCat("reserve_space_", reserved, ": ", u)).Output(StrCat("reserve_space_", reserved + 1, ": ", u));
    grad.Attr(version == 1 ? "T: {float}" : "T: {half, bfloat16, float}");
    if (version > 1) grad.Attr("U: {float}");
    Attributes(grad, false, version == 3 ? kAny : k2D).Shape(BatchNormGradShape).Gradient(BatchNormGradGradient);
  }
}

}  // namespace penstock
