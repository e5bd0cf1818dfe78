// Shapes as tensors, and reshapes: nothing here touches elements but BroadcastTo.
#include <algorithm>
#include <limits>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/array/copy.h"

namespace penstock {

namespace {

// Writes integers into output i, an int32 or int64 vector; InvalidArgument if one does not fit.
void PutInts(KernelContext& k, int i, const Shape& shape, std::span<const int64_t> values) {
  Tensor& out = k.Output(i, shape);
  if (out.dtype() == DT_INT64) {
    std::copy(values.begin(), values.end(), out.mutable_data<int64_t>());
    return;
  }
  for (size_t j = 0; j < values.size(); ++j) {
    k.Require(values[j] <= std::numeric_limits<int32_t>::max(), "Shape output type is 32-bit  but dim ", j, " is ",
              values[j]);
    out.mutable_data<int32_t>()[j] = static_cast<int32_t>(values[j]);
  }
}

struct ShapeOp {
  void operator()(KernelContext& k) const {
    for (int i = 0; i < k.num_inputs(); ++i) PutInts(k, i, Shape({k.shape(i).rank()}), k.shape(i).dims());
  }
};

struct Size {
  void operator()(KernelContext& k) const {
    const int64_t n = k.input(0).num_elements();
    if (k.node().output_type(0) == DT_INT32) {
      k.Require(n <= std::numeric_limits<int32_t>::max(),
                "Number of elements was larger than representable by 32-bit output type");
    }
    PutInts(k, 0, Shape(), {&n, 1});
  }
};

struct Rank {
  void operator()(KernelContext& k) const { k.SetOutput(0, Tensor(int32_t{k.input(0).rank()})); }
};

struct Reshape {
  void operator()(KernelContext& k) const {
    const Tensor& sizes = k.input(1);
    k.Require(sizes.rank() == 1 || (sizes.rank() == 0 && sizes.num_elements() == 1), "sizes input must be 1-D, not ",
              sizes.shape());
    k.Require(sizes.num_elements() <= kMaxRank, "too many dimensions: ", sizes.num_elements());
    const int64_t elements = k.input(0).num_elements();
    std::vector<int64_t> dims(sizes.num_elements());
    int64_t open = -1, product = 1;
    bool overflow = false, zero = false;
    for (size_t i = 0; i < dims.size(); ++i) {
      const int64_t d = dims[i] = sizes.IntAt(static_cast<int64_t>(i));
      if (d == -1) {
        k.Require(open < 0, "Only one input size may be -1, not both ", open, " and ", i);
        open = static_cast<int64_t>(i);
        continue;
      }
      k.Require(d >= 0, "Size ", i, " must be non-negative, not ", d);
      zero |= d == 0;
      if (d > 0) overflow |= __builtin_mul_overflow(product, d, &product);
    }
    if (overflow) throw InvalidArgument("Shape [", StrJoin(dims, ","), "] has too many elements");
    if (open >= 0) {
      // Where zeros stand on both sides, what is left of them must fit.
      int64_t size = 1;
      bool empty = false;
      for (const int64_t d : k.shape(0)) {
        if (d > 0 || !zero) {
          size *= d;
        } else {
          empty = true;
        }
      }
      dims[open] = size / product;
      k.Require(empty || dims[open] * product == size, "Input to reshape is a tensor with ", size,
                " values, but the requested shape requires a multiple of ", product);
    }
    const Shape shape(dims);
    k.Require(shape.num_elements() == elements, "Input to reshape is a tensor with ", elements,
              " values, but the requested shape has ", shape.num_elements());
    k.SetOutput(0, k.Take(0).Reshaped(shape));
  }
};
struct QuantizedReshape {
  void operator()(KernelContext& k) const {
    Reshape()(k);
    for (const int i : {2, 3}) {
      k.Require(k.input(i).num_elements() == 1, k.node().op().inputs[i].name, " must be a scalar, but has shape ",
                k.shape(i));
      *k.out<float>(i - 1, Shape()).data() = *k.input(i).data<float>();
    }
  }
};

struct ExpandDims {
  void operator()(KernelContext& k) const {
    k.Require(k.input(1).num_elements() == 1, "'dim' must be a tensor with a single value");
    int64_t dim = k.input(1).IntAt(0);
    Shape shape = k.shape(0);
    const int rank = shape.rank();
    k.Require(dim >= -1 - rank && dim <= rank, "Tried to expand dim index ", dim, " for tensor with ", rank,
              " dimensions.");
    shape.InsertDim(static_cast<int>(dim < 0 ? dim + rank + 1 : dim), 1);
    k.SetOutput(0, k.Take(0).Reshaped(shape));
  }
};

struct Squeeze {
  std::vector<int64_t> axes;

  explicit Squeeze(const NodeView& node) : axes(node.attr<std::vector<int64_t>>("squeeze_dims")) {}
  void operator()(KernelContext& k) const {
    const Shape& in = k.shape(0);
    std::vector<bool> squeezed(in.rank());
    for (const int64_t axis : axes) {
      k.Require(axis >= -in.rank() && axis < in.rank(), "Tried to squeeze dim index ", axis, " for tensor with ",
                in.rank(), " dimensions.");
      const int64_t a = axis < 0 ? axis + in.rank() : axis;
      k.Require(in[static_cast<int>(a)] == 1, "Can not squeeze dim[", a, "], expected a dimension of 1, got ",
                in[static_cast<int>(a)]);
      squeezed[a] = true;
    }
    std::vector<int64_t> dims;
    for (int i = 0; i < in.rank(); ++i) {
      if (axes.empty() ? in[i] != 1 : !squeezed[i]) dims.push_back(in[i]);
    }
    k.SetOutput(0, k.Take(0).Reshaped(Shape(dims)));
  }
};

struct BroadcastTo {
  void operator()(KernelContext& k) const {
    k.Require(k.shape(1).rank() == 1, "shape must be a vector of {int32,int64}, got shape ", k.shape(1));
    const Shape to = k.ShapeInput(1);
    const Tensor& x = k.input(0);
    if (x.shape() == to) return k.Forward(0, 0);
    k.Require(x.rank() <= to.rank(), "Rank of input (", x.rank(), ") must be no greater than rank of output shape (",
              to.rank(), ").");
    const std::vector<int64_t> to_step = Strides(to), from_step = Strides(x.shape());
    std::vector<CopyAxis> axes;
    const int extra = to.rank() - x.rank();
    for (int i = 0; i < to.rank(); ++i) {
      const int64_t n = i < extra ? 1 : x.dim(i - extra);
      k.Require(n == to[i] || n == 1, "Unable to broadcast tensor of shape ", x.shape(), " to tensor of shape ", to);
      axes.push_back({to[i], to_step[i], n == 1 ? 0 : from_step[i - extra]});
    }
    Tensor& out = k.Output(0, to);
    if (out.num_elements() > 0) CopyBox(k, out.dtype(), axes, out.mutable_raw(), x.raw());
  }
};

struct BroadcastArgs {
  void operator()(KernelContext& k) const {
    for (int i = 0; i < 2; ++i) k.Require(k.shape(i).rank() == 1, "In[", i, "] must be a vector.", k.shape(i));
    std::vector<int64_t> a = k.Ints(0), b = k.Ints(1);
    if (a.size() < b.size()) std::swap(a, b);
    const size_t extra = a.size() - b.size();
    for (size_t i = 0; i < b.size(); ++i) {
      int64_t& to = a[extra + i];
      if (to != b[i] && to != 1 && b[i] != 1) {
        throw InvalidArgument("Incompatible shapes: [", StrJoin(k.Ints(0), ","), "] vs. [", StrJoin(k.Ints(1), ","),
                              "]");
      }
      if (to == 1) to = b[i];
    }
    PutInts(k, 0, Shape({static_cast<int64_t>(a.size())}), a);
  }
};

struct BroadcastGradientArgs {
  void operator()(KernelContext& k) const {
    const std::vector<int64_t> a = k.Ints(0), b = k.Ints(1);
    const int64_t rank = static_cast<int64_t>(std::max(a.size(), b.size()));
    std::vector<int64_t> over_a, over_b;
    for (int64_t i = 0; i < rank; ++i) {
      const int64_t at_a = i - rank + static_cast<int64_t>(a.size()), at_b = i - rank + static_cast<int64_t>(b.size());
      const int64_t na = at_a < 0 ? 1 : a[at_a], nb = at_b < 0 ? 1 : b[at_b];
      if (na != nb && na != 1 && nb != 1)
        throw InvalidArgument("Incompatible shapes: [", StrJoin(a, ","), "] vs. [", StrJoin(b, ","), "]");
      // Where both have size 1 either may sum; a missing dimension must.
      if (na == 1 && (nb != 1 || at_a < 0 || at_b < 0)) over_a.push_back(i);
      if (nb == 1 && (na != 1 || at_a < 0 || at_b < 0)) over_b.push_back(i);
    }
    PutInts(k, 0, Shape({static_cast<int64_t>(over_a.size())}), over_a);
    PutInts(k, 1, Shape({static_cast<int64_t>(over_b.size())}), over_b);
  }
};

}  // namespace

void RegisterShapeOfKernels(KernelRegistry& kernels) {
  kernels.Add<ShapeOp>("Shape");
  kernels.Add<ShapeOp>("ShapeN");
  kernels.Add<Size>("Size");
  kernels.Add<Rank>("Rank");
  kernels.Add<Reshape>("Reshape");
  kernels.Add<QuantizedReshape>("QuantizedReshape").HostInput(1);
  kernels.Add<ExpandDims>("ExpandDims");
  kernels.Add<Squeeze>("Squeeze");
  kernels.Add<BroadcastTo>("BroadcastTo");
  kernels.Add<BroadcastArgs>("BroadcastArgs");
  kernels.Add<BroadcastGradientArgs>("BroadcastGradientArgs");
}

}  // namespace penstock
