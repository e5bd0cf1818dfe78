// A vector added along the channels.
#include "penstock/graph/gradient.h"
#include "penstock/op/data_format.h"
#include "penstock/op/op_registry.h"
#include "penstock/ops/shape_helpers.h"

namespace penstock {
namespace {

bool ChannelsFirst(const std::string& format) { return format == "NCHW" || format == "NCDHW"; }

void BiasShape(ShapeContext& c) {
  const AttrValue* format = c.FindAttr("data_format");
  const bool first = format && ChannelsFirst(*format->If<std::string>());
  const PartialShape x = c.WithRankAtLeast(0, 2), bias = c.WithRank(1, 1);
  if (!x.known_rank()) return c.out(0, x);
  if (first) ShapeContext::WithRankAtLeast(x, 3);
  PartialShape y = x;
  const int channel = first ? 1 : x.rank() - 1;
  y.set_dim(channel, ShapeContext::MergeDim(x[channel], bias.known_rank() ? bias[0] : -1));
  c.out(0, y);
}

void BiasGradShape(ShapeContext& c) {
  const bool first = ChannelsFirst(c.attr<std::string>("data_format"));
  const PartialShape dy = c.WithRankAtLeast(0, first ? 3 : 2);
  c.out(0, PartialShape({dy.known_rank() ? dy[first ? 1 : dy.rank() - 1] : -1}));
}

void BiasGradGradient(GradContext& g) {  // the bias' gradient stretched over the rest
  const Out x = g.x(0), dz = g.dy(), shape = ShapeOf(x);
  Out line = dz;
  if (ChannelsFirst(g.attr<std::string>("data_format"))) {
    const Out ones = OnesLike(ShapePart(x, 2, -1));
    line = Reshape(dz, ConcatVectors({ConstVector(g.scope(), {1}), ShapeOf(dz), ones}));
  }
  g.Set(0, g.Call("BroadcastTo", {line, shape}));
}

}  // namespace

void RegisterBiasOps(OpRegistry& ops) {
  ops.Add("BiasAdd")
      .Input("value: T")
      .Input("bias: T")
      .Attr("T: numbertype")
      .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .Output("output: T")
      .Shape(BiasShape)
      .Doc("value plus a vector along its channels.")
      .Gradient([](GradContext& g) {
        g.Set(0, g.dy());
        if (g.wanted(1)) g.Set(1, g.Call("BiasAddGrad", {g.dy()}, {{"data_format", g.attr("data_format")}}));
      });
  ops.Add("BiasAddV1")
      .Input("value: T")
      .Input("bias: T")
      .Attr("T: numbertype")
      .Output("output: T")
      .Shape(BiasShape)
      .Doc("value plus a vector along its last dimension.")
      .Gradient([](GradContext& g) {
        g.Set(0, g.dy());
        const PartialShape& shape = g.x(0).shape();
        if (!shape.known_rank()) return g.Set(1, g.Call("BiasAddGrad", {g.dy()}));
        std::vector<int32_t> axes;
        for (int i = 0; i + 1 < shape.rank(); ++i) axes.push_back(i);
        g.Set(1, Sum(g.dy(), axes));
      });
  ops.Add("BiasAddGrad")
      .Input("out_backprop: T")
      .Attr("T: numbertype")
      .Attr("data_format: {'NHWC', 'NCHW'} = 'NHWC'")
      .Output("output: T")
      .Shape(BiasGradShape)
      .Gradient(BiasGradGradient)
      .Doc("out_backprop summed over everything but its channels: the gradient of a bias.");
}

}  // namespace penstock
