// Softmax, the losses made of it, and small relatives.
#include "penstock/graph/gradient.h"
#include "penstock/op/op_registry.h"

namespace penstock {
namespace {

constexpr char kFloats[] = "T: {half, bfloat16, float, double}";

void AtLeastVector(ShapeContext& c) { c.out(0, c.WithRankAtLeast(0, 1)); }

Out Column(Out vector) { return Call("ExpandDims", {vector, vector.scope->Scalar(int32_t{-1})}); }

void XentShape(ShapeContext& c) {
  const PartialShape joined = shapes::BroadcastShapes(c.in(0), c.in(1));
  if (joined.known_rank() && joined.rank() != 2) {
    throw InvalidArgument("Shape must be broadcasted with rank 2, but is rank ", joined.rank());
  }
  const PartialShape rows = ShapeContext::WithRank(joined, 2);
  c.out(0, PartialShape({rows.known_rank() ? rows[0] : -1}));
  c.out(1, rows.known_rank() ? rows : PartialShape::OfRank(2));
}

bool IsZeros(GradContext& g, int output) {
  if (!g.has_dy(output)) return true;
  const Tensor* value = g.scope().Constant(g.dy(output));
  if (!value || value->dtype() != DT_FLOAT) return false;
  for (const float v : value->flat<float>()) {
    if (v != 0) return false;
  }
  return true;
}

// By the logits, of the losses and of their gradient, which is softmax - labels.
Out XentLogitsGradient(GradContext& g) {
  const Out dx = Column(g.dy(0)) * g.y(1);
  if (IsZeros(g, 1)) return dx;
  const Out dz = g.dy(1), p = g.Call("Softmax", {g.x(0)});
  const Out product = g.Call("BatchMatMulV2", {g.Call("ExpandDims", {dz, g.scope().Scalar(int32_t{1})}),
                                               g.Call("ExpandDims", {p, g.scope().Scalar(int32_t{2})})});
  return dx + (dz - g.Call("Squeeze", {product}, {{"squeeze_dims", std::vector<int64_t>{1}}})) * p;
}

void XentGradient(GradContext& g) {
  g.Set(0, XentLogitsGradient(g));
  if (g.wanted(1)) g.Set(1, Column(g.dy(0)) * -g.Call("LogSoftmax", {g.x(0)}));
}

void SparseXentShape(ShapeContext& c) {
  const PartialShape x = c.WithRank(0, 2), labels = c.WithRank(1, 1);
  int64_t rows = labels.known_rank() ? labels[0] : -1, classes = -1;
  if (x.known_rank()) {
    rows = ShapeContext::MergeDim(x[0], rows);
    classes = x[1];
  }
  c.out(0, PartialShape({rows}));
  c.out(1, PartialShape({rows, classes}));
}

void InTopKShape(ShapeContext& c) {
  const PartialShape x = c.WithRank(0, 2), targets = c.WithRank(1, 1);
  int64_t rows = targets.known_rank() ? targets[0] : -1;
  if (x.known_rank()) rows = ShapeContext::MergeDim(x[0], rows);
  c.out(0, PartialShape({rows}));
}

}  // namespace

void RegisterSoftmaxOps(OpRegistry& ops) {
  ops.Add("Softmax")
      .Input("logits: T")
      .Output("softmax: T")
      .Attr(kFloats)
      .Shape(AtLeastVector)
      .Doc("exp(logits), scaled to a sum of 1 along the last dimension.")
      .Gradient([](GradContext& g) {
        const Out y = g.y(), dy = g.dy();
        g.Set(0, (dy - Call("Sum", {dy * y, g.scope().Scalar(int32_t{-1})}, {{"keep_dims", true}})) * y);
      });
  ops.Add("LogSoftmax")
      .Input("logits: T")
      .Output("logsoftmax: T")
      .Attr(kFloats)
      .Shape(AtLeastVector)
      .Doc("The logarithm of Softmax.")
      .Gradient([](GradContext& g) {
        const Out dy = g.dy();
        g.Set(0, dy - Call("Sum", {dy, g.scope().Scalar(int32_t{-1})}, {{"keep_dims", true}}) * Exp(g.y()));
      });
  ops.Add("SoftmaxCrossEntropyWithLogits")
      .Input("features: T")
      .Input("labels: T")
      .Output("loss: T")
      .Output("backprop: T")
      .Attr(kFloats)
      .Shape(XentShape)
      .Gradient(XentGradient)
      .Doc("Cross entropy between rows of probabilities and the softmax of rows of logits, with its gradient.");
  ops.Add("SparseSoftmaxCrossEntropyWithLogits")
      .Input("features: T")
      .Input("labels: Tlabels")
      .Output("loss: T")
      .Output("backprop: T")
      .Attr(kFloats)
      .Attr("Tlabels: {int32, int64} = DT_INT64")
      .Shape(SparseXentShape)
      .Doc("Cross entropy of one right class for each row, with its gradient.")
      .Gradient([](GradContext& g) {
        g.Set(0, XentLogitsGradient(g));
      });
  ops.Add("L2Loss")
      .Input("t: T")
      .Output("output: T")
      .Attr(kFloats)
      .Shape(shapes::Scalar)
      .Gradient([](GradContext& g) { g.Set(0, g.x(0) * g.dy()); })
      .Doc("Half the sum of squares.");
  ops.Add("InTopK")
      .Input("predictions: float")
      .Input("targets: T")
      .Output("precision: bool")
      .Attr("k: int")
      .Attr("T: {int32, int64} = DT_INT32")
      .Shape(InTopKShape)
      .Doc("Whether the target of each row is among its k largest predictions.");
  ops.Add("InTopKV2")
      .Input("predictions: float")
      .Input("targets: T")
      .Input("k: T")
      .Output("precision: bool")
      .Attr("T: {int32, int64} = DT_INT32")
      .Shape(InTopKShape)
      .Doc("Whether the target of each row is among its k largest predictions.");
}

}  // namespace penstock
