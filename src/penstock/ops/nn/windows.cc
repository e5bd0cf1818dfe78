#include "penstock/ops/nn/windows.h"

#include "penstock/ops/shape_helpers.h"

namespace penstock::shapes {

int64_t WindowsAlong(int64_t in, int64_t filter, int64_t dilation, int64_t stride, std::string_view padding,
                     int64_t before, int64_t after) {
  if (stride <= 0) throw InvalidArgument("Stride must be > 0, but got ", stride);
  if (dilation < 1) throw InvalidArgument("Dilation rate must be >= 1, but got ", dilation);
  if (padding == "SAME") return in < 0 ? -1 : (in + stride - 1) / stride;
  if (in < 0 || filter < 0) return -1;
  const int64_t left = SubtractDims(in + before + after, (filter - 1) * dilation + 1);
  return left / stride + 1;
}

DataFormat FormatOf(ShapeContext& c, int spatial) {
  const AttrValue* format = c.FindAttr("data_format");
  if (!format) return {spatial, false};
  const std::string& name = *format->If<std::string>();
  // Each vector of four channels counts as one more dimension; no kernel here has this format.
  if (name == "NCHW_VECT_C") throw InvalidArgument(c.op().name, " does not support the data format ", name);
  return DataFormat::Parse(name);
}

const std::vector<int64_t>& PerDimension(ShapeContext& c, std::string_view name, const DataFormat& format) {
  const auto& list = c.attr<std::vector<int64_t>>(name);
  if (list.size() != static_cast<size_t>(format.rank())) {
    const std::string_view what = name == "strides" ? "stride" : name == "dilations" ? "dilation" : name;
    throw InvalidArgument(c.op().name, " requires the ", what, " attribute to contain ", format.rank(),
                          " values, but got: ", list.size());
  }
  return list;
}

std::vector<int64_t> ExplicitPaddings(ShapeContext& c, const DataFormat& format) {
  const AttrValue* value = c.FindAttr("explicit_paddings");
  std::vector<int64_t> paddings = value ? *value->If<std::vector<int64_t>>() : std::vector<int64_t>();
  if (c.attr<std::string>("padding") != "EXPLICIT") {
    if (!paddings.empty()) {
      throw InvalidArgument("explicit_paddings attribute must be empty if the padding attribute is not EXPLICIT");
    }
    return std::vector<int64_t>(2 * format.rank());
  }
  if (paddings.size() != 2 * static_cast<size_t>(format.rank())) {
    throw InvalidArgument("explicit_paddings attribute must contain ", 2 * format.rank(),
                          " values, but got: ", paddings.size());
  }
  for (const int64_t p : paddings) {
    if (p < 0) throw InvalidArgument("All elements of explicit_paddings must be nonnegative");
  }
  if (paddings[0] || paddings[1] || paddings[2 * format.channel()] || paddings[2 * format.channel() + 1]) {
    throw InvalidArgument("Nonzero explicit padding in the batch or depth dimensions is not supported");
  }
  return paddings;
}

namespace {

void ConvWith(ShapeContext& c, bool depthwise) {
  const int spatial = c.op().name == "Conv3D" ? 3 : 2;
  const DataFormat format = FormatOf(c, spatial);
  const PartialShape x = c.WithRank(0, format.rank()), w = c.WithRank(1, format.rank());
  const auto& strides = PerDimension(c, "strides", format);
  const auto& dilations = PerDimension(c, "dilations", format);
  const auto& padding = c.attr<std::string>("padding");
  const std::vector<int64_t> pads = ExplicitPaddings(c, format);
  PartialShape y = PartialShape::OfRank(format.rank());
  const auto in = [&](int d) { return x.known_rank() ? x[d] : -1; };
  const auto filter = [&](int d) { return w.known_rank() ? w[d] : -1; };
  y.set_dim(0, in(0));
  const int64_t channels = in(format.channel()), depth = filter(spatial), count = filter(spatial + 1);
  if (depthwise) {
    const int64_t merged = ShapeContext::MergeDim(channels, depth);
    y.set_dim(format.channel(), MultiplyDims(merged, count));
  } else {
    y.set_dim(format.channel(), count);
    if (channels >= 0 && depth >= 0) {
      if (depth == 0) throw InvalidArgument("Depth of filter must not be 0");
      if (channels % depth != 0) {
        throw InvalidArgument("Depth of input (", channels, ") is not a multiple of input depth of filter (", depth,
                              ")");
      }
      const int64_t groups = channels / depth;
      if (groups > 1 && count >= 0 && count % groups != 0) {
        throw InvalidArgument("Depth of output (", count, ") is not a multiple of the number of groups (", groups, ")");
      }
    }
  }
  for (int i = 0; i < spatial; ++i) {
    const int d = format.dim(i);
    y.set_dim(d, WindowsAlong(in(d), filter(i), dilations[d], strides[d], padding, pads[2 * d], pads[2 * d + 1]));
  }
  c.out(0, y);
}

// The shape that is the value of input i, of this rank.
PartialShape SizesInput(ShapeContext& c, int i, int rank) {
  const PartialShape shape = c.in_as_shape(i);
  return shape.known_rank() ? ShapeContext::WithRank(shape, rank) : PartialShape::OfRank(rank);
}

void PoolOf(ShapeContext& c, const DataFormat& format, const PartialShape& x, const std::vector<int64_t>& size,
            const std::vector<int64_t>& strides) {
  const auto& padding = c.attr<std::string>("padding");
  const std::vector<int64_t> pads = ExplicitPaddings(c, format);
  PartialShape y = PartialShape::OfRank(format.rank());
  for (int d = 0; d < format.rank(); ++d) {
    const int64_t in = x.known_rank() ? x[d] : -1;
    if (d == 0 || d == format.channel()) {
      y.set_dim(d, d == 0 || size[d] == 1 ? in : WindowsAlong(in, size[d], 1, strides[d], padding));
    } else {
      if (size[d] <= 0)
        throw InvalidArgument("Sliding window ksize for dimension ", d, " must be positive, but got ", size[d]);
      y.set_dim(d, WindowsAlong(in, size[d], 1, strides[d], padding, pads[2 * d], pads[2 * d + 1]));
    }
  }
  c.out(0, y);
}

}  // namespace

void Conv(ShapeContext& c) { ConvWith(c, false); }
void DepthwiseConv(ShapeContext& c) { ConvWith(c, true); }

void ConvInputGrad(ShapeContext& c) {
  const int rank = c.op().name.starts_with("Conv3D") ? 5 : 4;
  const PartialShape sizes = c.in_as_shape(0);
  c.WithRank(1, rank);
  const PartialShape dy = c.WithRank(2, rank);
  if (rank == 4 && sizes.known_rank() && sizes.rank() == 2) {  // height and width only
    const DataFormat format = FormatOf(c);
    PartialShape x = PartialShape::OfRank(4);
    x.set_dim(format.dim(0), sizes[0]);
    x.set_dim(format.dim(1), sizes[1]);
    if (dy.known_rank()) x.set_dim(0, dy[0]);
    if (c.in(1).known_rank()) x.set_dim(format.channel(), c.in(1)[2]);
    return c.out(0, x);
  }
  c.out(0, SizesInput(c, 0, rank));
}

void ConvFilterGrad(ShapeContext& c) {
  const int rank = c.op().name.starts_with("Conv3D") ? 5 : 4;
  c.WithRank(0, rank);
  c.WithRank(2, rank);
  c.out(0, SizesInput(c, 1, rank));
}

void Pool(ShapeContext& c) {
  const DataFormat format = FormatOf(c, c.op().name.ends_with("3D") ? 3 : 2);
  PoolOf(c, format, c.WithRank(0, format.rank()), PerDimension(c, "ksize", format), PerDimension(c, "strides", format));
}

void PoolV2(ShapeContext& c) {
  const DataFormat format = FormatOf(c);
  const PartialShape x = c.WithRank(0, 4);
  std::vector<int64_t> lists[2];
  for (int i = 0; i < 2; ++i) {
    c.WithRank(1 + i, 1);
    RequireDim(c.in(1 + i).num_elements(), 4);
    const Tensor* value = c.in_value(1 + i);
    if (!value) {
      PartialShape y = PartialShape::OfRank(4);
      if (x.known_rank()) y.set_dim(0, x[0]);
      return c.out(0, y);
    }
    lists[i] = Integers(*value);
    if (lists[i].size() != 4) {
      throw InvalidArgument(c.op().name, " requires the ", i == 0 ? "ksize" : "stride",
                            " argument to contain 4 values, but got: ", lists[i].size());
    }
  }
  PoolOf(c, format, x, lists[0], lists[1]);
}

}  // namespace penstock::shapes

namespace penstock {

AttrMap CopyAttrs(GradContext& g, std::initializer_list<std::string_view> names) {
  AttrMap attrs;
  for (const std::string_view name : names) {
    if (const AttrValue* value = g.attrs().Find(name)) attrs.Set(name, *value);
  }
  return attrs;
}

}  // namespace penstock
