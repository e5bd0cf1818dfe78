// Blocks of space moved to the batch or to the channels, and back.
#include "penstock/ops/shape_helpers.h"

namespace penstock {

namespace {

// Shared by SpaceToBatchND (`into` true) and BatchToSpaceND: inputs are the tensor, block shape and paddings or crops.
void BlockShape(ShapeContext& c, const PartialShape& given, PartialShape block_dims, const Tensor* block,
                int cuts_input, bool into) {
  const PartialShape cuts = c.WithRank(cuts_input, 2);
  shapes::RequireDim(cuts[1], 2);
  const int64_t blocks = ShapeContext::MergeDim(block_dims[0], cuts[0]);
  if (blocks < 0) return c.out(0, shapes::AnyOfRank(given.rank()));
  if (given.known_rank() && given.rank() < blocks + 1)
    throw InvalidArgument("Shape must be at least rank ", blocks + 1, " but is rank ", given.rank());
  if (!given.known_rank()) return;
  PartialShape out = given;
  const Tensor* values = c.in_value(cuts_input);
  std::vector<int64_t> sizes, cut;
  if (block) sizes = shapes::Integers(*block);
  if (values) cut = shapes::Integers(*values);
  int64_t batch = given[0];
  for (int i = 0; i < blocks; ++i) {
    if (block && sizes[i] < 1)
      throw InvalidArgument("block_shape must be positive, but block_shape[", i, "] is ", sizes[i]);
    if (values && (cut[2 * i] < 0 || cut[2 * i + 1] < 0))
      throw InvalidArgument(into ? "paddings" : "crops", " cannot be negative");
    if (!block) {
      out.set_dim(i + 1, -1);
      batch = -1;
      continue;
    }
    int64_t dim = given[i + 1];
    if (into) {
      batch = shapes::MultiplyDims(batch, sizes[i]);
      dim = values && dim >= 0 ? shapes::DivideDims(shapes::AddDims(dim, cut[2 * i] + cut[2 * i + 1]), sizes[i]) : -1;
    } else {
      batch = shapes::DivideDims(batch, sizes[i]);
      dim = values && dim >= 0 ? shapes::SubtractDims(shapes::MultiplyDims(dim, sizes[i]), cut[2 * i] + cut[2 * i + 1])
                               : -1;
    }
    out.set_dim(i + 1, dim);
  }
  out.set_dim(0, batch);
  c.out(0, out);
}

void SquareBlockShape(ShapeContext& c, bool into) {
  const PartialShape in = c.WithRank(0, 4);
  const int64_t size = c.attr<int64_t>("block_size");
  const Tensor block = Tensor::Vector(std::vector<int64_t>{size, size});
  BlockShape(c, in, {2}, &block, 1, into);
}

void DepthShape(ShapeContext& c, bool into) {
  const int64_t block = c.attr<int64_t>("block_size");
  const std::string& format = c.attr<std::string>("data_format");
  const bool vect = format == "NCHW_VECT_C";
  PartialShape in = c.WithRank(0, vect ? 5 : 4);
  const int y = format == "NHWC" ? 1 : 2, x = y + 1, channels = format == "NHWC" ? 3 : 1;
  if (block < 2) throw InvalidArgument("Block size should be > 1, but was: ", block);
  PartialShape out = in;
  if (into) {
    for (int d : {y, x}) out.set_dim(d, shapes::DivideDims(in[d], block));
    out.set_dim(channels, shapes::MultiplyDims(in[channels], block * block));
  } else {
    for (int d : {y, x}) out.set_dim(d, shapes::MultiplyDims(in[d], block));
    out.set_dim(channels, shapes::DivideDims(in[channels], block * block));
  }
  c.out(0, out);
}

}  // namespace

void RegisterSpaceOps(OpRegistry& ops) {
  ops.Add("SpaceToBatchND")
      .Input("input: T")
      .Input("block_shape: Tblock_shape")
      .Input("paddings: Tpaddings")
      .Output("output: T")
      .Attr("T: type")
      .Attr("Tblock_shape: {int32, int64} = DT_INT32")
      .Attr("Tpaddings: {int32, int64} = DT_INT32")
      .Shape([](ShapeContext& c) { BlockShape(c, c.in(0), c.WithRank(1, 1), c.in_value(1), 2, true); })
      .Gradient([](GradContext& g) {
        g.Set(0, g.Call("BatchToSpaceND", {g.dy(), g.x(1), g.x(2)}));
      })
      .Doc("Pads the dimensions behind the batch, and deals each out to `block_shape` parts along the batch.");

  ops.Add("BatchToSpaceND")
      .Input("input: T")
      .Input("block_shape: Tblock_shape")
      .Input("crops: Tcrops")
      .Output("output: T")
      .Attr("T: type")
      .Attr("Tblock_shape: {int32, int64} = DT_INT32")
      .Attr("Tcrops: {int32, int64} = DT_INT32")
      .Shape([](ShapeContext& c) { BlockShape(c, c.in(0), c.WithRank(1, 1), c.in_value(1), 2, false); })
      .Gradient([](GradContext& g) {
        g.Set(0, g.Call("SpaceToBatchND", {g.dy(), g.x(1), g.x(2)}));
      })
      .Doc("Interleaves parts along the batch into the dimensions behind it, and crops these.");

  ops.Add("SpaceToBatch")
      .Input("input: T")
      .Input("paddings: Tpaddings")
      .Output("output: T")
      .Attr("T: type")
      .Attr("Tpaddings: {int32, int64} = DT_INT32")
      .Attr("block_size: int >= 2")
      .Shape([](ShapeContext& c) { SquareBlockShape(c, true); })
      .Gradient([](GradContext& g) {
        g.Set(0, g.Call("BatchToSpace", {g.dy(), g.x(1)}, {{"block_size", g.attr("block_size")}}));
      })
      .Doc("SpaceToBatchND of images with square blocks.");

  ops.Add("BatchToSpace")
      .Input("input: T")
      .Input("crops: Tidx")
      .Output("output: T")
      .Attr("T: type")
      .Attr("block_size: int >= 2")
      .Attr("Tidx: {int32, int64} = DT_INT32")
      .Shape([](ShapeContext& c) { SquareBlockShape(c, false); })
      .Gradient([](GradContext& g) {
        g.Set(0, g.Call("SpaceToBatch", {g.dy(), g.x(1)}, {{"block_size", g.attr("block_size")}}));
      })
      .Doc("BatchToSpaceND of images with square blocks.");

  ops.Add("SpaceToDepth")
      .Input("input: T")
      .Output("output: T")
      .Attr("T: type")
      .Attr("block_size: int >= 2")
      .Attr("data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'")
      .Shape([](ShapeContext& c) { DepthShape(c, true); })
      .Gradient([](GradContext& g) {
        g.Set(0, g.Call("DepthToSpace", {g.dy()},
                        {{"block_size", g.attr("block_size")}, {"data_format", g.attr("data_format")}}));
      })
      .Doc("Blocks of an image's pixels as channels of one pixel.");

  ops.Add("DepthToSpace")
      .Input("input: T")
      .Output("output: T")
      .Attr("T: type")
      .Attr("block_size: int >= 2")
      .Attr("data_format: {'NHWC', 'NCHW', 'NCHW_VECT_C'} = 'NHWC'")
      .Shape([](ShapeContext& c) { DepthShape(c, false); })
      .Gradient([](GradContext& g) {
        g.Set(0, g.Call("SpaceToDepth", {g.dy()},
                        {{"block_size", g.attr("block_size")}, {"data_format", g.attr("data_format")}}));
      })
      .Doc("Channels of one pixel as a block of an image's pixels.");
}

}  // namespace penstock
