// Parts of tensors, and values put into parts of tensors.
#include "penstock/base/branches.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/kernels/cpu/array/copy.h"
#include "penstock/ops/array/strided_slice.h"
#include "penstock/ops/integers.h"

namespace penstock {

namespace {

constinit BranchTable<3> slice_ways{"slice/way", {"whole", "shared", "copied"}};
constinit BranchTable<3> strided_ways{"strided_slice/way", {"whole", "shared", "copied"}};

// Elements [begin, begin + shape[0]) along dimension 0 in the input's own memory, if they start at an aligned place.
bool ShareRows(KernelContext& k, const Tensor& in, int64_t begin, const Shape& shape) {
  if (!in.buffer() || shape.num_elements() == 0) return false;
  const int64_t row = in.num_elements() / in.dim(0);
  const size_t at = static_cast<const char*>(At(in, begin * row)) - static_cast<const char*>(in.buffer()->data());
  if (at % kAlignment != 0) return false;
  k.SetOutput(0, Tensor(in.dtype(), shape, in.buffer(), at));
  return true;
}

struct Slice {
  void operator()(KernelContext& k) const {
    const Tensor& in = k.input(0);
    const int rank = in.rank();
    k.Require(k.input(1).rank() == 1 && k.input(2).rank() == 1 && k.input(1).num_elements() == rank &&
                  k.input(2).num_elements() == rank,
              "Expected begin and size arguments to be 1-D tensors of size ", rank, ", but got shapes ", k.shape(1),
              " and ", k.shape(2), " instead.");
    const std::vector<int64_t> begin = shapes::Integers(k.input(1)), from = Strides(in.shape());
    std::vector<int64_t> size = shapes::Integers(k.input(2));
    int64_t offset = 0;
    bool whole = true, rows = true;
    for (int i = 0; i < rank; ++i) {
      const int64_t dim = in.dim(i);
      if (size[i] == -1) size[i] = dim - begin[i];
      if (dim == 0) {
        k.Require(begin[i] == 0 && size[i] == 0, "Expected begin[", i, "] == 0 (got ", begin[i], ") and size[", i,
                  "] == 0 (got ", size[i], ") when input.dim_size(", i, ") == 0");
      } else {
        k.Require(begin[i] >= 0 && begin[i] <= dim, "Expected begin[", i, "] in [0, ", dim, "], but got ", begin[i]);
        k.Require(size[i] >= 0 && size[i] <= dim - begin[i], "Expected size[", i, "] in [0, ", dim - begin[i],
                  "], but got ", size[i]);
      }
      if (size[i] != dim) {
        whole = false;
        if (i > 0) rows = false;
      }
      offset += begin[i] * from[i];
    }
    const Shape shape(size);
    const bool shared = !whole && rows && ShareRows(k, in, begin[0], shape);
    slice_ways.Enter(whole ? 0 : shared ? 1 : 2);
    if (whole) return k.Forward(0, 0);
    if (shared) return;
    Tensor& out = k.Output(0, shape);
    if (shape.num_elements() == 0) return;
    const std::vector<int64_t> to = Strides(shape);
    std::vector<CopyAxis> axes(rank);
    for (int i = 0; i < rank; ++i) axes[i] = {size[i], to[i], from[i]};
    CopyBox(k, in.dtype(), axes, out.mutable_raw(), At(in, offset));
  }
};

// The slice that inputs first, first + 1 and first + 2 describe, of a tensor of shape `shape`.
SlicePlan PlanFrom(KernelContext& k, const SliceMasks& masks, int first, const Shape& shape) {
  const Tensor &begin = k.input(first), &end = k.input(first + 1), &strides = k.input(first + 2);
  k.Require(begin.rank() == 1 && end.shape() == begin.shape() && strides.shape() == begin.shape(),
            "Expected begin, end, and strides to be 1D equal size tensors, but got shapes ", begin.shape(), ", ",
            end.shape(), ", and ", strides.shape(), " instead.");
  const std::vector<int64_t> begins = shapes::Integers(begin), ends = shapes::Integers(end);
  k.Require(begins.size() <= 32, "Expected at most 32 begin, end and strides, but got ", begins.size());
  return PlanSlice(masks, shape, static_cast<int>(begins.size()), &begins, &ends, shapes::Integers(strides));
}

// The elements of the slice within a dense tensor of shape `shape`: where they start, and their steps.
std::vector<int64_t> SliceSteps(const SlicePlan& plan, const Shape& shape, int64_t* offset) {
  std::vector<int64_t> steps = Strides(shape);
  *offset = 0;
  for (int i = 0; i < shape.rank(); ++i) {
    *offset += plan.begin[i] * steps[i];
    steps[i] = plan.size[i] > 1 ? steps[i] * plan.stride[i] : 0;
  }
  return steps;
}

struct StridedSlice {
  SliceMasks masks;

  explicit StridedSlice(const NodeView& node) : masks(node.attrs()) {}
  void operator()(KernelContext& k) const {
    const Tensor& in = k.input(0);
    const SlicePlan plan = PlanFrom(k, masks, 1, in.shape());
    const Shape shape = plan.result.AsShape();
    const bool shared = !plan.whole && plan.dim0_range && in.rank() > 0 && ShareRows(k, in, plan.begin[0], shape);
    strided_ways.Enter(plan.whole ? 0 : shared ? 1 : 2);
    if (plan.whole) return k.SetOutput(0, k.Take(0).Reshaped(shape));
    if (shared) return;
    Tensor& out = k.Output(0, shape);
    if (shape.num_elements() == 0) return;
    int64_t offset;
    const std::vector<int64_t> from = SliceSteps(plan, in.shape(), &offset);
    std::vector<CopyAxis> axes(in.rank());
    int64_t to = 1;
    for (int i = in.rank() - 1; i >= 0; --i) {
      axes[i] = {plan.size[i], to, from[i]};
      to *= plan.size[i];
    }
    CopyBox(k, in.dtype(), axes, out.mutable_raw(), At(in, offset));
  }
};

// Writes `value`, broadcast to the slice's shape where `broadcast`, into the slice of `out`. An empty slice takes any
// value.
void PutSlice(KernelContext& k, const SlicePlan& plan, Tensor& out, const Tensor& value, bool broadcast) {
  const Shape shape = plan.result.AsShape();
  if (broadcast && shape.num_elements() == 0) return;
  // The value's steps along the dimensions of the result...
  std::vector<int64_t> result_steps(shape.rank());
  const std::vector<int64_t> value_steps = Strides(value.shape());
  const int extra = shape.rank() - value.rank();
  bool fits = broadcast ? extra >= 0 : value.shape() == shape;
  for (int i = 0; fits && i < value.rank(); ++i) {
    fits = value.dim(i) == shape[extra + i] || value.dim(i) == 1;
    result_steps[extra + i] = value.dim(i) == 1 ? 0 : value_steps[i];
  }
  if (!fits) throw InvalidArgument("Incompatible shapes: ", shape, " vs. ", value.shape());
  if (shape.num_elements() == 0) return;
  // ...then along those of the tensor: its dimensions appear in the result in order, but for those of size 1 that
  // shrank.
  int64_t offset;
  const std::vector<int64_t> to = SliceSteps(plan, out.shape(), &offset);
  std::vector<CopyAxis> axes(out.rank());
  for (int i = 0; i < out.rank(); ++i) {
    axes[i] = {plan.size[i], to[i], plan.result_dim[i] < 0 ? 0 : result_steps[plan.result_dim[i]]};
  }
  CopyBox(k, out.dtype(), axes, At(out, offset), value.raw());
}

struct StridedSliceGrad {
  SliceMasks masks;

  explicit StridedSliceGrad(const NodeView& node) : masks(node.attrs()) {}
  void operator()(KernelContext& k) const {
    k.Require(k.input(0).rank() == 1, "shape must be 1-D, got shape.shape = ", k.shape(0));
    const Shape shape = k.ShapeInput(0);
    const SlicePlan plan = PlanFrom(k, masks, 1, shape);
    const Tensor& dy = k.input(4);
    const Shape part = plan.result.AsShape();
    k.Require(dy.shape() == part, "shape of dy was ", dy.shape(), " instead of ", part);
    if (plan.whole && plan.result.IsCompatibleWith(dy.shape())) return k.SetOutput(0, k.Take(4).Reshaped(shape));
    Tensor& out = k.Output(0, shape);
    ZeroElements(k, out.dtype(), out.mutable_raw(), out.num_elements());
    PutSlice(k, plan, out, dy, false);
  }
};

struct TensorStridedSliceUpdate {
  SliceMasks masks;

  explicit TensorStridedSliceUpdate(const NodeView& node) : masks(node.attrs()) {}
  void operator()(KernelContext& k) const {
    const Shape shape = k.shape(0);
    const SlicePlan plan = PlanFrom(k, masks, 1, shape);
    Tensor out = k.CanTake(0) ? k.Take(0) : k.input(0).Clone();
    PutSlice(k, plan, out, k.input(4), true);
    k.SetOutput(0, std::move(out));
  }
};

// Into a variable's value, in place if nobody else holds it.
void AssignSlice(KernelContext& k, VariableSlot& slot, const SliceMasks& masks) {
  std::lock_guard lock(slot.mutex);
  if (!slot.value.initialized()) throw FailedPrecondition("Attempting to use uninitialized value ", slot.name);
  k.Require(slot.value.dtype() == k.input(4).dtype(), "l-value dtype ", slot.value.dtype(),
            " does not match r-value dtype ", k.input(4).dtype());
  const SlicePlan plan = PlanFrom(k, masks, 1, slot.value.shape());
  if (!slot.value.unique()) slot.value = slot.value.Clone();
  PutSlice(k, plan, slot.value, k.input(4), true);
  ++slot.version;
}

struct StridedSliceAssign {
  SliceMasks masks;

  explicit StridedSliceAssign(const NodeView& node) : masks(node.attrs()) {}
  void operator()(KernelContext& k) const {
    AssignSlice(k, k.ref(0), masks);
    k.Forward(0, 0);
  }
};

struct ResourceStridedSliceAssign {
  SliceMasks masks;

  explicit ResourceStridedSliceAssign(const NodeView& node) : masks(node.attrs()) {}
  void operator()(KernelContext& k) const { AssignSlice(k, *k.Lookup<VariableSlot>(0), masks); }
};

}  // namespace

void RegisterSliceKernels(KernelRegistry& kernels) {
  kernels.Add<Slice>("Slice");
  kernels.Add<StridedSlice>("StridedSlice");
  kernels.Add<StridedSliceGrad>("StridedSliceGrad");
  kernels.Add<TensorStridedSliceUpdate>("TensorStridedSliceUpdate");
  kernels.Add<StridedSliceAssign>("StridedSliceAssign");
  kernels.Add<ResourceStridedSliceAssign>("ResourceStridedSliceAssign");
}

}  // namespace penstock
