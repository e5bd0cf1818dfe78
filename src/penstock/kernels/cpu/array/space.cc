// Blocks of space moved to the batch or to the channels, and back; sliding windows as channels. All are boxes to copy.
#include <algorithm>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/array/copy.h"
#include "penstock/op/shape_inference.h"
#include "penstock/ops/integers.h"

namespace penstock {

namespace {

int64_t CeilDiv(int64_t a, int64_t b) { return a >= 0 ? (a + b - 1) / b : -(-a / b); }

// SpaceToBatch (into) and BatchToSpace. `cuts` are pairs of paddings or crops.
void MoveBlocks(KernelContext& k, const std::vector<int64_t>& block, const std::vector<int64_t>& cuts, bool into) {
  const Tensor& in = k.input(0);
  const int m = static_cast<int>(block.size());
  k.Require(in.rank() >= m + 1, "input rank should be >= ", m + 1, " instead of ", in.rank());
  int64_t blocks = 1;
  for (int i = 0; i < m; ++i) {
    k.Require(block[i] >= 1, "All values in block_shape must be positive, got value, ", block[i], " at index ", i, ".");
    k.Require(cuts[2 * i] >= 0 && cuts[2 * i + 1] >= 0, into ? "Paddings" : "Crops", " must be non-negative");
    k.Require(!__builtin_mul_overflow(blocks, block[i], &blocks), "Product of block sizes is too large");
  }
  // `space` is the side with larger dimensions, `small` the one with the larger batch.
  Shape shape = in.shape();
  std::vector<int64_t> small(m);
  for (int i = 0; i < m; ++i) {
    if (into) {
      int64_t padded;
      k.Require(!__builtin_add_overflow(in.dim(i + 1), cuts[2 * i], &padded) &&
                    !__builtin_add_overflow(padded, cuts[2 * i + 1], &padded),
                "padded_shape is too large");
      k.Require(padded % block[i] == 0, "padded_shape[", i, "]=", padded, " is not divisible by block_shape[", i,
                "]=", block[i]);
      small[i] = padded / block[i];
      shape.set_dim(i + 1, small[i]);
    } else {
      small[i] = in.dim(i + 1);
      int64_t grown;
      k.Require(!__builtin_mul_overflow(small[i], block[i], &grown), "block_shape is too large");
      grown -= cuts[2 * i] + cuts[2 * i + 1];
      k.Require(grown >= 0, "cropped_shape[", i, "]=", grown, " must be non-negative");
      shape.set_dim(i + 1, grown);
    }
  }
  int64_t batch = in.dim(0);
  if (into) {
    k.Require(!__builtin_mul_overflow(batch, blocks, &batch), "the batch becomes too large");
    shape.set_dim(0, batch);
    batch = in.dim(0);
  } else {
    k.Require(batch % blocks == 0, "Input batch dimension (", batch, ") is not divisible by product of block sizes (",
              blocks, ")");
    batch /= blocks;
    shape.set_dim(0, batch);
  }
  Tensor& out = k.Output(0, shape);
  if (out.num_elements() == 0) return;
  const bool padded = into && std::any_of(cuts.begin(), cuts.end(), [](int64_t c) { return c > 0; });
  if (padded) ZeroElements(k, out.dtype(), out.mutable_raw(), out.num_elements());
  if (in.num_elements() == 0) return;
  const Shape& space = into ? in.shape() : out.shape();
  const std::vector<int64_t> space_steps = Strides(space), small_steps = Strides(into ? out.shape() : in.shape());
  int64_t rest = 1;
  for (int i = m + 1; i < in.rank(); ++i) rest *= in.dim(i);
  for (int64_t b = 0; b < blocks; ++b) {
    int64_t left = b, at_space = 0, at_small = b * batch * small_steps[0];
    std::vector<CopyAxis> axes;
    const auto add = [&](int64_t n, int64_t space_step, int64_t small_step) {
      axes.push_back(into ? CopyAxis{n, small_step, space_step} : CopyAxis{n, space_step, small_step});
    };
    add(batch, space_steps[0], small_steps[0]);
    add(rest, 1, 1);
    bool any = true;
    for (int i = m - 1; i >= 0; --i) {
      // Position j of the small side is j * block + o - cut of the large one.
      const int64_t o = left % block[i], shift = o - cuts[2 * i];
      left /= block[i];
      const int64_t first = std::max<int64_t>(CeilDiv(-shift, block[i]), 0);
      const int64_t last = std::min<int64_t>(CeilDiv(space[i + 1] - shift, block[i]), small[i]);
      any &= last > first;
      add(last - first, space_steps[i + 1] * block[i], small_steps[i + 1]);
      at_space += (first * block[i] + shift) * space_steps[i + 1];
      at_small += first * small_steps[i + 1];
    }
    if (any) CopyBox(k, in.dtype(), axes, At(out, into ? at_small : at_space), At(in, into ? at_space : at_small));
  }
}

std::vector<int64_t> Cuts(KernelContext& k, int i, int64_t blocks) {
  const Tensor& cuts = k.input(i);
  k.Require(cuts.rank() == 2 && cuts.dim(0) == blocks && cuts.dim(1) == 2,
            k.node().op().name.starts_with("Space") ? "paddings" : "crops", " should have shape [", blocks,
            ", 2] instead of ", cuts.shape());
  return shapes::Integers(cuts);
}

template <bool kInto>
struct BlocksNd {
  void operator()(KernelContext& k) const {
    k.Require(k.input(1).rank() == 1, "block_shape rank should be 1 instead of ", k.input(1).rank());
    const std::vector<int64_t> block = shapes::Integers(k.input(1));
    MoveBlocks(k, block, Cuts(k, 2, static_cast<int64_t>(block.size())), kInto);
  }
};

template <bool kInto>
struct SquareBlocks {
  int64_t size;

  explicit SquareBlocks(const NodeView& node) : size(node.attr<int64_t>("block_size")) {}
  void operator()(KernelContext& k) const {
    k.Require(k.input(0).rank() == 4, "Input rank should be: 4 instead of: ", k.input(0).rank());
    MoveBlocks(k, {size, size}, Cuts(k, 1, 2), kInto);
  }
};

// SpaceToDepth and DepthToSpace.
template <bool kInto>
struct Depth {
  int64_t block;
  std::string format;

  explicit Depth(const NodeView& node)
      : block(node.attr<int64_t>("block_size")), format(node.attr<std::string>("data_format")) {
    if (block < 2) throw InvalidArgument("Block size should be > 1, but was: ", block);
  }
  void operator()(KernelContext& k) const {
    const Tensor& in = k.input(0);
    const bool vect = format == "NCHW_VECT_C";
    k.Require(in.rank() == (vect ? 5 : 4), "Input rank should be: ", vect ? 5 : 4, " instead of: ", in.rank());
    const int y = format == "NHWC" ? 1 : 2, x = y + 1, c = format == "NHWC" ? 3 : 1;
    Shape shape = in.shape();
    int64_t channels;
    if constexpr (kInto) {
      k.Require(in.dim(y) % block == 0 && in.dim(x) % block == 0, "Image width ", in.dim(x), " and height ", in.dim(y),
                " should be divisible by block_size: ", block);
      channels = in.dim(c);
      shape.set_dim(y, in.dim(y) / block);
      shape.set_dim(x, in.dim(x) / block);
      shape.set_dim(c, channels * block * block);
    } else {
      k.Require(in.dim(c) % (block * block) == 0, "Input depth dimension ", in.dim(c),
                " should be divisible by: ", block * block);
      channels = in.dim(c) / (block * block);
      shape.set_dim(y, in.dim(y) * block);
      shape.set_dim(x, in.dim(x) * block);
      shape.set_dim(c, channels);
    }
    Tensor& out = k.Output(0, shape);
    if (out.num_elements() == 0) return;
    const std::vector<int64_t> to = Strides(shape), from = Strides(in.shape());
    // Steps on the side of space and on the side of depth.
    const std::vector<int64_t>&s = kInto ? from : to, &d = kInto ? to : from;
    const Shape& deep = kInto ? shape : in.shape();
    std::vector<CopyAxis> axes;
    const auto add = [&](int64_t n, int64_t space, int64_t depth) {
      axes.push_back(kInto ? CopyAxis{n, depth, space} : CopyAxis{n, space, depth});
    };
    add(in.dim(0), s[0], d[0]);
    add(deep[y], s[y] * block, d[y]);
    add(deep[x], s[x] * block, d[x]);
    add(block, s[y], d[c] * channels * block);
    add(block, s[x], d[c] * channels);
    add(channels, s[c], d[c]);
    if (vect) add(in.dim(4), 1, 1);
    CopyBox(k, in.dtype(), axes, out.mutable_raw(), in.raw());
  }
};

// ExtractImagePatches and ExtractVolumePatches: each tap of the window is a strided box of the image.
struct Patches {
  std::vector<int64_t> sizes, strides, rates;
  std::string padding;

  explicit Patches(const NodeView& node)
      : sizes(node.attr<std::vector<int64_t>>("ksizes")),
        strides(node.attr<std::vector<int64_t>>("strides")),
        rates(node.attr_or<std::vector<int64_t>>("rates", std::vector<int64_t>(sizes.size(), 1))),
        padding(node.attr<std::string>("padding")) {}
  void operator()(KernelContext& k) const {
    const Tensor& in = k.input(0);
    const int rank = in.rank(), spatial = rank - 2;
    k.Require(rank == (k.node().op().name == "ExtractVolumePatches" ? 5 : 4), "input must be ",
              k.node().op().name == "ExtractVolumePatches" ? 5 : 4, "-dimensional: ", in.shape());
    Shape shape = in.shape();
    std::vector<shapes::Window> windows(spatial);
    int64_t taps = 1;
    for (int i = 0; i < spatial; ++i) {
      windows[i] = shapes::WindowedOutput(in.dim(i + 1), sizes[i + 1], rates[i + 1], strides[i + 1], padding);
      shape.set_dim(i + 1, windows[i].out);
      taps *= sizes[i + 1];
    }
    const int64_t channels = in.dim(rank - 1);
    shape.set_dim(rank - 1, taps * channels);
    Tensor& out = k.Output(0, shape);
    if (out.num_elements() == 0) return;
    const std::vector<int64_t> to = Strides(shape), from = Strides(in.shape());
    if (padding == "SAME") ZeroElements(k, out.dtype(), out.mutable_raw(), out.num_elements());
    for (int64_t tap = 0; tap < taps; ++tap) {
      std::vector<CopyAxis> axes{{in.dim(0), to[0], from[0]}, {channels, 1, 1}};
      int64_t rest = tap, at_to = tap * channels, at_from = 0;
      bool any = true;
      for (int i = spatial - 1; i >= 0; --i) {
        const int64_t stride = strides[i + 1], shift = rest % sizes[i + 1] * rates[i + 1] - windows[i].pad_before;
        rest /= sizes[i + 1];
        const int64_t first = std::max<int64_t>(CeilDiv(-shift, stride), 0);
        const int64_t last = std::min<int64_t>(CeilDiv(in.dim(i + 1) - shift, stride), windows[i].out);
        any &= last > first;
        axes.push_back({last - first, to[i + 1], from[i + 1] * stride});
        at_to += first * to[i + 1];
        at_from += (first * stride + shift) * from[i + 1];
      }
      if (any) CopyBox(k, in.dtype(), axes, At(out, at_to), At(in, at_from));
    }
  }
};

}  // namespace

void RegisterSpaceKernels(KernelRegistry& kernels) {
  kernels.Add<BlocksNd<true>>("SpaceToBatchND");
  kernels.Add<BlocksNd<false>>("BatchToSpaceND");
  kernels.Add<SquareBlocks<true>>("SpaceToBatch");
  kernels.Add<SquareBlocks<false>>("BatchToSpace");
  kernels.Add<Depth<true>>("SpaceToDepth");
  kernels.Add<Depth<false>>("DepthToSpace");
  kernels.Add<Patches>("ExtractImagePatches");
  kernels.Add<Patches>("ExtractVolumePatches");
}

}  // namespace penstock
