// Sliding windows of images and volumes laid out as channels.
#include "penstock/ops/shape_helpers.h"

namespace penstock {

namespace {

// The window along spatial dimension `d` (1 to spatial) as attributes tell.
struct PatchWindow {
  int64_t size, stride, rate;
};

std::vector<PatchWindow> Windows(const AttrMap& attrs, int spatial) {
  const auto list = [&](std::string_view name) {
    const AttrValue* value = attrs.Find(name);
    const auto* items = value ? value->If<std::vector<int64_t>>() : nullptr;
    return items ? *items : std::vector<int64_t>(spatial + 2, 1);
  };
  const std::vector<int64_t> sizes = list("ksizes"), strides = list("strides"), rates = list("rates");
  const size_t n = spatial + 2;
  for (const auto* items : {&sizes, &strides, &rates}) {
    const char* name = items == &sizes ? "ksizes" : items == &strides ? "strides" : "rates";
    if (items->size() != n) {
      throw InvalidArgument("ExtractPatches requires the ", name, " attribute to contain ", n,
                            " values, but got: ", items->size());
    }
    for (int64_t v : *items) {
      if (v <= 0) throw InvalidArgument(name, " must be positive, but got ", v);
    }
    if ((*items)[0] != 1 || (*items)[n - 1] != 1) {
      throw InvalidArgument("Only support ", name, " across space: the first and the last must be 1");
    }
  }
  std::vector<PatchWindow> windows(spatial);
  for (int i = 0; i < spatial; ++i) windows[i] = {sizes[i + 1], strides[i + 1], rates[i + 1]};
  return windows;
}

void PatchShape(ShapeContext& c, int spatial) {
  AttrMap attrs;
  for (const char* name : {"ksizes", "strides", "rates"}) {
    if (const AttrValue* value = c.FindAttr(name)) attrs.Set(name, *value);
  }
  const std::vector<PatchWindow> windows = Windows(attrs, spatial);
  PartialShape shape = c.WithRank(0, spatial + 2);
  int64_t depth = shape[spatial + 1];
  for (int i = 0; i < spatial; ++i) {
    const PatchWindow& w = windows[i];
    shape.set_dim(i + 1,
                  shapes::WindowedOutput(shape[i + 1], w.size, w.rate, w.stride, c.attr<std::string>("padding")).out);
    depth = shapes::MultiplyDims(depth, w.size);
  }
  shape.set_dim(spatial + 1, depth);
  c.out(0, shape);
}

// Patches of the pixels' own numbers (from 1; 0 is padding) tell where each element came from; gradients are added up
// there.
void PatchGradient(GradContext& g, const char* op, int spatial) {
  Scope& scope = g.scope();
  const Out shape = ShapeOf(g.x(0)), dy = g.dy();
  const auto one = [&](int i) { return ConstVector(scope, {i}); };
  const auto part = [&](int begin, int end) { return g.Call("Slice", {shape, one(begin), one(end - begin)}); };
  const auto scalar = [&](Out vector) { return Reshape(vector, ConstVector(scope, {})); };
  const Out batch = part(0, 1), space = part(1, spatial + 1), channels = part(spatial + 1, spatial + 2);
  const Out pixels = g.Call("Prod", {space, one(0)}, {{"keep_dims", true}});
  const Out numbers =
      g.Call("Range", {scope.Scalar<int32_t>(1), scalar(pixels) + scope.Scalar<int32_t>(1), scope.Scalar<int32_t>(1)});
  AttrMap attrs;
  for (const char* name : {"ksizes", "strides", "rates", "padding"}) {
    if (const AttrValue* value = g.attrs().Find(name)) attrs.Set(name, *value);
  }
  const Out from = Reshape(g.Call(op, {Reshape(numbers, ConcatVectors({one(1), space, one(1)}))}, attrs), one(-1));
  const Out places = Reshape(g.Call("Size", {from}), one(1));
  // [batch, places, channels] -> [places, batch, channels] -> sums for each pixel
  const Out rows = Transpose(Reshape(dy, ConcatVectors({batch, places, channels})), ConstVector(scope, {1, 0, 2}));
  const Out sums = g.Call("UnsortedSegmentSum", {rows, from, scalar(pixels) + scope.Scalar<int32_t>(1)});
  const Out real = g.Call("Slice", {sums, ConstVector(scope, {1, 0, 0}), ConstVector(scope, {-1, -1, -1})});
  g.Set(0, Reshape(Transpose(real, ConstVector(scope, {1, 0, 2})), shape));
}

}  // namespace

void RegisterPatchesOps(OpRegistry& ops) {
  ops.Add("ExtractImagePatches")
      .Input("images: T")
      .Output("patches: T")
      .Attr("ksizes: list(int) >= 4")
      .Attr("strides: list(int) >= 4")
      .Attr("rates: list(int) >= 4")
      .Attr(
          "T: {bfloat16, half, float, double, int8, int16, int32, int64, uint8, uint16, uint32, uint64, complex64, "
          "complex128, bool}")
      .Attr("padding: {'SAME', 'VALID'}")
      .Shape([](ShapeContext& c) { PatchShape(c, 2); })
      .Gradient([](GradContext& g) { PatchGradient(g, "ExtractImagePatches", 2); })
      .Doc("For each position of a sliding window the pixels under it as channels.");

  ops.Add("ExtractVolumePatches")
      .Input("input: T")
      .Output("patches: T")
      .Attr("ksizes: list(int) >= 5")
      .Attr("strides: list(int) >= 5")
      .Attr("T: realnumbertype")
      .Attr("padding: {'SAME', 'VALID'}")
      .Shape([](ShapeContext& c) { PatchShape(c, 3); })
      .Gradient([](GradContext& g) { PatchGradient(g, "ExtractVolumePatches", 3); })
      .Doc("For each position of a sliding box the voxels in it as channels.");
}

}  // namespace penstock
