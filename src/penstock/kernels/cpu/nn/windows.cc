#include "penstock/kernels/cpu/nn/windows.h"

#include "penstock/base/branches.h"
#include "penstock/kernels/cpu/array/copy.h"
#include "penstock/op/shape_inference.h"

namespace penstock {
namespace {

constinit BranchTable<2> orders{"windows/channels", {"last", "first"}};

}  // namespace

WindowAttrs::WindowAttrs(const NodeView& node, int spatial) {
  const auto* name = node.attrs().Find("data_format");
  format = name ? DataFormat::Parse(*name->If<std::string>()) : DataFormat{spatial, false};
  padding = node.attr<std::string>("padding");
  const auto list = [&](std::string_view attr, std::vector<int64_t> otherwise) {
    std::vector<int64_t> values = node.attr_or<std::vector<int64_t>>(attr, std::move(otherwise));
    KernelContext::Require(values.size() == static_cast<size_t>(format.rank()), "Sliding window ", attr,
                           " field must specify ", format.rank(), " dimensions");
    return values;
  };
  const std::vector<int64_t> ones(format.rank(), 1);
  strides = list("strides", ones);
  dilations = list("dilations", ones);
  if (node.attrs().Find("ksize")) ksize = list("ksize", ones);
  for (const int d : {0, format.channel()}) {
    // Pools over channels are the exception; they check their own.
    if (!ksize.empty()) break;
    for (const auto& [what, steps] : {std::pair{"strides", &strides}, std::pair{"dilations", &dilations}}) {
      if ((*steps)[d] == 1) continue;
      throw Unimplemented("Current implementation does not yet support ", what, " in the batch and depth dimensions.");
    }
  }
  for (int i = 0; i < format.spatial; ++i) {
    KernelContext::Require(strides[format.dim(i)] > 0, "Spatial strides should be larger than 0, but got ",
                           strides[format.dim(i)]);
    KernelContext::Require(dilations[format.dim(i)] > 0, "Dilated rates should be larger than 0.");
  }
  explicit_pads.assign(2 * format.rank(), 0);
  const auto pads = node.attr_or<std::vector<int64_t>>("explicit_paddings", {});
  if (padding == "EXPLICIT") {
    KernelContext::Require(pads.size() == explicit_pads.size(), "explicit_paddings attribute must contain ",
                           explicit_pads.size(), " values, but got: ", pads.size());
    for (const int64_t p : pads) {
      KernelContext::Require(p >= 0, "All elements of explicit_paddings must be nonnegative");
    }
    explicit_pads = pads;
  }
}

Windows MakeWindows(const WindowAttrs& attrs, const Shape& input, std::span<const int64_t> filter) {
  Windows w;
  w.batch = input[0];
  w.channels = input[attrs.format.channel()];
  const int spatial = attrs.format.spatial;
  for (int i = 0; i < spatial; ++i) {
    const int d = attrs.format.dim(i), at = 3 - spatial + i;
    KernelContext::Require(
        filter[i] < (int64_t{1} << 31) && input[d] < (int64_t{1} << 31) && attrs.strides[d] < (int64_t{1} << 31),
        "a window of ", filter[i], " over ", input[d], " is too large");
    const shapes::Window along =
        shapes::WindowedOutput(input[d], filter[i], attrs.dilations[d], attrs.strides[d], attrs.padding,
                               attrs.explicit_pads[2 * d], attrs.explicit_pads[2 * d + 1]);
    w.in[at] = input[d];
    w.filter[at] = filter[i];
    w.out[at] = along.out;
    w.stride[at] = attrs.strides[d];
    w.dilation[at] = attrs.dilations[d];
    w.pad[at] = along.pad_before;
    w.pad_after[at] = along.pad_after;
  }
  return w;
}

Shape ImageShape(const DataFormat& format, int64_t batch, const int64_t* spatial, int64_t channels) {
  std::vector<int64_t> dims(format.rank());
  dims[0] = batch;
  dims[format.channel()] = channels;
  for (int i = 0; i < format.spatial; ++i) dims[format.dim(i)] = spatial[3 - format.spatial + i];
  return Shape(dims);
}

Tensor ChannelsLast(const KernelContext& k, const Tensor& t, const DataFormat& format) {
  orders.Enter(format.channels_first ? 1 : 0);
  if (!format.channels_first) return t;
  const int64_t batch = t.dim(0), channels = t.dim(1),
                pixels = channels && batch ? t.num_elements() / batch / channels : 0;
  std::vector<int64_t> dims = {batch};
  for (int i = 2; i < t.rank(); ++i) dims.push_back(t.dim(i));
  dims.push_back(channels);
  Tensor to = k.Temp(t.dtype(), Shape(dims));
  const CopyAxis axes[] = {{batch, pixels * channels, pixels * channels}, {pixels, channels, 1}, {channels, 1, pixels}};
  if (to.num_elements()) CopyBox(k, t.dtype(), axes, to.mutable_raw(), t.raw());
  return to;
}

void FromChannelsLast(const KernelContext& k, const Tensor& from, const DataFormat& format, Tensor& to) {
  const int64_t batch = from.dim(0), channels = from.dim(from.rank() - 1);
  const int64_t pixels = from.num_elements() ? from.num_elements() / batch / channels : 0;
  if (pixels == 0) return;
  const CopyAxis axes[] = {{batch, pixels * channels, pixels * channels}, {channels, pixels, 1}, {pixels, 1, channels}};
  CopyBox(k, from.dtype(), axes, to.mutable_raw(), from.raw());
}

}  // namespace penstock
