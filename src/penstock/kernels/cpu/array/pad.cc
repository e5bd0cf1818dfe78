// Padding, tiling, one-hot.
#include <algorithm>

#include "penstock/base/branches.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/array/copy.h"
#include "penstock/kernels/cpu/array/copy_one.h"
#include "penstock/kernels/cpu/array/pad.h"
#include "penstock/ops/integers.h"

namespace penstock {

namespace {

constinit BranchTable<4> pad_ways{"pad/way", {"nothing to pad", "filled", "one row", "rows"}};
constinit BranchTable<2> one_hot_ways{"one_hot/way", {"one block", "blocks"}};

// The paddings matrix as pairs, checked.
std::vector<int64_t> Paddings(KernelContext& k) {
  const Tensor& p = k.input(1);
  const int rank = k.input(0).rank();
  k.Require(p.rank() == 2 && p.dim(1) == 2, "paddings must be a matrix with 2 columns: ", p.shape());
  k.Require(p.dim(0) == rank, "The first dimension of paddings must be the rank of inputs", p.shape(), " ", k.shape(0));
  std::vector<int64_t> pads = shapes::Integers(p);
  for (size_t i = 0; i < pads.size(); i += 2) {
    k.Require(pads[i] >= 0 && pads[i + 1] >= 0, "Paddings must be non-negative: ", pads[i], " ", pads[i + 1]);
  }
  return pads;
}

Shape PaddedShape(KernelContext& k, const Shape& in, const std::vector<int64_t>& pads) {
  std::vector<int64_t> dims(in.begin(), in.end());
  for (size_t i = 0; i < dims.size(); ++i) {
    k.Require(!__builtin_add_overflow(dims[i], pads[2 * i], &dims[i]) &&
                  !__builtin_add_overflow(dims[i], pads[2 * i + 1], &dims[i]),
              "padded dimension ", i, " is too large");
  }
  return Shape(dims);
}

struct Pad {
  void operator()(KernelContext& k) const {
    const std::vector<int64_t> pads = Paddings(k);
    const Tensor& in = k.input(0);
    const Shape shape = PaddedShape(k, in.shape(), pads);
    const DataType type = in.dtype();
    Tensor none;
    const Tensor* value = &none;
    if (k.num_inputs() > 2) {
      k.Require(k.input(2).rank() == 0, "constant_values must be a scalar. Found: ", k.shape(2));
      value = &k.input(2);
    } else {
      none = Tensor(type, Shape());
      ZeroElements(type, none.mutable_raw(), 1);
    }
    if (shape == in.shape()) {
      pad_ways.Enter(0);
      return k.Forward(0, 0);
    }
    Tensor& out = k.Output(0, shape);
    if (out.num_elements() == 0) return;
    if (in.num_elements() == 0) {
      pad_ways.Enter(1);
      return FillElements(k, type, out.mutable_raw(), value->raw(), out.num_elements());
    }

    // A dimension without padding belongs to the one before it.
    std::vector<PadAxis> axes;
    for (int i = 0; i < in.rank(); ++i) {
      const PadAxis axis{in.dim(i), pads[2 * i], pads[2 * i + 1]};
      if (!axes.empty() && axis.before == 0 && axis.after == 0) {
        axes.back() = {axes.back().n * axis.n, axes.back().before * axis.n, axes.back().after * axis.n};
      } else {
        axes.push_back(axis);
      }
    }
    const PadAxis row = axes.back();
    axes.pop_back();
    int64_t rows = 1;
    for (const PadAxis& a : axes) rows *= a.out();
    const int64_t size = static_cast<int64_t>(DataTypeSize(type)), width = row.out();
    pad_ways.Enter(rows == 1 ? 2 : 3);
    if (rows == 1) {
      FillElements(k, type, out.mutable_raw(), value->raw(), row.before);
      CopyElements(k, type, At(out, row.before), in.raw(), row.n);
      return FillElements(k, type, At(out, row.before + row.n), value->raw(), row.after);
    }
    k.Parallel(rows, 1 + width * size / 8, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        int64_t rest = r, from = 0, step = 1;
        bool inside = true;
        for (int i = static_cast<int>(axes.size()) - 1; i >= 0 && inside; --i) {
          const int64_t at = rest % axes[i].out() - axes[i].before;
          rest /= axes[i].out();
          inside = at >= 0 && at < axes[i].n;
          from += at * step;
          step *= axes[i].n;
        }
        char* to = static_cast<char*>(At(out, r * width));
        if (inside) {
          FillElements(type, to, value->raw(), row.before);
          CopyElements(type, to + row.before * size, At(in, from * row.n), row.n);
          FillElements(type, to + (row.before + row.n) * size, value->raw(), row.after);
        } else {
          FillElements(type, to, value->raw(), width);
        }
      }
    });
  }
};

struct Tile {
  void operator()(KernelContext& k) const {
    const Tensor& in = k.input(0);
    k.Require(k.input(1).rank() == 1, "Expected multiples to be 1-D, but got shape ", k.shape(1));
    k.Require(k.input(1).num_elements() == in.rank(), "Expected multiples argument to be a vector of length ",
              in.rank(), " but got length ", k.input(1).num_elements());
    const std::vector<int64_t> times = shapes::Integers(k.input(1));
    std::vector<int64_t> dims(in.rank());
    bool once = true;
    for (int i = 0; i < in.rank(); ++i) {
      k.Require(times[i] >= 0, "Expected multiples[", i, "] >= 0, but got ", times[i]);
      k.Require(!__builtin_mul_overflow(in.dim(i), times[i], &dims[i]), "dimension ", i,
                " of the tiled tensor is too large");
      once &= times[i] == 1;
    }
    if (once) return k.Forward(0, 0);
    const Shape shape(dims);
    Tensor& out = k.Output(0, shape);
    if (out.num_elements() == 0) return;
    const std::vector<int64_t> to = Strides(shape), from = Strides(in.shape());
    std::vector<CopyAxis> axes;
    for (int i = 0; i < in.rank(); ++i) {
      axes.push_back({times[i], in.dim(i) * to[i], 0});
      axes.push_back({in.dim(i), to[i], from[i]});
    }
    CopyBox(k, in.dtype(), axes, out.mutable_raw(), in.raw());
  }
};

struct OneHot {
  int64_t axis_attr;

  explicit OneHot(const NodeView& node) : axis_attr(node.attr<int64_t>("axis")) {}
  void operator()(KernelContext& k) const {
    const Tensor& indices = k.input(0);
    const int rank = indices.rank();
    k.Require(axis_attr == -1 || (axis_attr >= 0 && axis_attr <= rank), "Expected axis to be -1 or between [0, ",
              rank + 1, ").  But received: ", axis_attr);
    k.Require(k.input(1).rank() == 0, "depth must be a scalar, but got: ", k.shape(1));
    k.Require(k.input(2).rank() == 0, "on_value must be a scalar, but got: ", k.shape(2));
    k.Require(k.input(3).rank() == 0, "off_value must be a scalar, but got: ", k.shape(3));
    const int64_t depth = k.Int(1);
    k.Require(depth >= 0, "depth must be non-negative, got: ", depth);
    const int axis = axis_attr < 0 ? rank : static_cast<int>(axis_attr);
    int64_t outer = 1;
    for (int i = 0; i < axis; ++i) outer *= indices.dim(i);
    const int64_t inner = outer > 0 ? indices.num_elements() / outer : 0;
    std::vector<int64_t> dims(indices.shape().begin(), indices.shape().end());
    dims.insert(dims.begin() + axis, depth);
    Tensor& out = k.Output(0, Shape(dims));
    if (out.num_elements() == 0) return;
    const void *on = k.input(2).raw(), *off = k.input(3).raw();
    const DataType type = out.dtype();
    const int64_t block = depth * inner, size = static_cast<int64_t>(DataTypeSize(type));
    const auto index = [&](int64_t i) -> int64_t {
      return indices.dtype() == DT_UINT8  ? indices.data<uint8_t>()[i]
             : indices.dtype() == DT_INT8 ? indices.data<int8_t>()[i]
                                          : indices.IntAt(i);
    };
    const auto set = [&](int64_t begin, int64_t end) {
      WithCopyOf(type, 1, [&](auto copy) {
        for (int64_t o = begin; o < end; ++o) {
          for (int64_t i = 0; i < inner; ++i) {
            const int64_t at = index(o * inner + i);
            if (at >= 0 && at < depth) copy(At(out, o * block + at * inner + i), on);
          }
        }
      });
    };
    one_hot_ways.Enter(outer == 1 ? 0 : 1);
    if (outer == 1) {
      FillElements(k, type, out.mutable_raw(), off, out.num_elements());
      return set(0, 1);
    }
    const int64_t at_once = std::max<int64_t>(1, 32768 / (block * size));  // what stays in the cache
    k.Parallel(outer, 1 + block * size / 8, [&](int64_t begin, int64_t end) {
      for (int64_t o = begin; o < end; o += at_once) {
        const int64_t last = std::min(end, o + at_once);
        FillElements(type, At(out, o * block), off, (last - o) * block);
        set(o, last);
      }
    });
  }
};

// `kind`: what the messages call the dimensions of `inner`.
std::vector<PadAxis> MirrorAxes(const Shape& inner, const std::vector<int64_t>& pads, int64_t skip, const char* kind) {
  std::vector<PadAxis> axes(inner.rank());
  for (int i = 0; i < inner.rank(); ++i) {
    axes[i] = {inner[i], pads[2 * i], pads[2 * i + 1]};
    axes[i].RequireMirrored(skip, kind);
  }
  return axes;
}

struct MirrorPad {
  int64_t skip;

  explicit MirrorPad(const NodeView& node) : skip(node.attr<std::string>("mode") == "REFLECT" ? 1 : 0) {}
  void operator()(KernelContext& k) const {
    const std::vector<int64_t> pads = Paddings(k);
    const Tensor& in = k.input(0);
    if (in.rank() == 0) return k.Forward(0, 0);
    const std::vector<PadAxis> axes = MirrorAxes(in.shape(), pads, skip, "");
    Tensor& out = k.Output(0, PaddedShape(k, in.shape(), pads));
    if (out.num_elements() == 0) return;
    const PadAxis row = axes.back();
    const int64_t width = row.out(), rows = out.num_elements() / width;
    const std::vector<int64_t> steps = Strides(in.shape());
    k.Parallel(rows, 1 + width * static_cast<int64_t>(DataTypeSize(in.dtype())) / 4, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        int64_t rest = r, from = 0;
        for (int i = static_cast<int>(axes.size()) - 2; i >= 0; --i) {
          from += Mirrored(rest % axes[i].out(), axes[i], skip) * steps[i];
          rest /= axes[i].out();
        }
        const int64_t to = r * width;
        for (int64_t i = 0; i < row.before; ++i)
          CopyElements(in.dtype(), At(out, to + i), At(in, from + Mirrored(i, row, skip)), 1);
        CopyElements(in.dtype(), At(out, to + row.before), At(in, from), row.n);
        for (int64_t i = row.before + row.n; i < width; ++i) {
          CopyElements(in.dtype(), At(out, to + i), At(in, from + Mirrored(i, row, skip)), 1);
        }
      }
    });
  }
};

template <class T>
struct MirrorPadGrad {
  int64_t skip;

  explicit MirrorPadGrad(const NodeView& node) : skip(node.attr<std::string>("mode") == "REFLECT" ? 1 : 0) {}
  void operator()(KernelContext& k) const {
    const std::vector<int64_t> pads = Paddings(k);
    const Tensor& in = k.input(0);
    Shape shape = in.shape();
    for (int i = 0; i < in.rank(); ++i) {
      const int64_t n = in.dim(i), before = pads[2 * i], after = pads[2 * i + 1];
      // TensorFlow refuses empty dimensions without padding too, which have a gradient.
      k.Require((before < n && after < n - before) || (before == 0 && after == 0),
                "Total paddings must be less than the input dimension size: ", before + after, " was not less than ",
                n);
      shape.set_dim(i, n - before - after);
    }
    if (in.rank() == 0) return k.Forward(0, 0);
    const std::vector<PadAxis> axes = MirrorAxes(shape, pads, skip, "output ");
    auto dx = k.out<T>(0, shape);
    std::fill(dx.begin(), dx.end(), T());
    const auto dy = k.in<T>(0);
    if (dy.empty() || dx.empty()) return;
    const PadAxis row = axes.back();
    const int64_t width = row.out(), rows = static_cast<int64_t>(dy.size()) / width;
    const std::vector<int64_t> steps = Strides(shape);
    for (int64_t r = 0; r < rows; ++r) {
      int64_t rest = r, to = 0;
      for (int i = static_cast<int>(axes.size()) - 2; i >= 0; --i) {
        to += Mirrored(rest % axes[i].out(), axes[i], skip) * steps[i];
        rest /= axes[i].out();
      }
      for (int64_t i = 0; i < width; ++i) dx[to + Mirrored(i, row, skip)] += dy[r * width + i];
    }
  }
};

}  // namespace

void RegisterPadKernels(KernelRegistry& kernels) {
  kernels.Add<Pad>("Pad");
  kernels.Add<Pad>("PadV2");
  kernels.Add<MirrorPad>("MirrorPad");
  kernels.Add<MirrorPadGrad>("MirrorPadGrad", Numbers{});
  kernels.Add<Tile>("Tile");
  kernels.Add<OneHot>("OneHot");
}

}  // namespace penstock
