#include "penstock/kernel/kernel_context.h"

#include "penstock/base/long_work.h"

namespace penstock {
namespace {

constexpr size_t kLargeOutput = size_t{1} << 16;
constexpr double kLongLoop = 5e4;  // nanoseconds

}  // namespace

int64_t KernelContext::Int(int i) const {
  const Tensor& t = input(i);
  Require(t.dtype() == DT_INT32 || t.dtype() == DT_INT64, "input ", i, " must be int32 or int64, but is ", t.dtype());
  Require(t.num_elements() == 1 && t.rank() <= 1, "input ", i, " must be a scalar, but has shape ", t.shape());
  return t.IntAt(0);
}

std::vector<int64_t> KernelContext::Ints(int i) const {
  const Tensor& t = input(i);
  Require(t.dtype() == DT_INT32 || t.dtype() == DT_INT64, "input ", i, " must be int32 or int64, but is ", t.dtype());
  Require(t.rank() <= 1, "input ", i, " must be a scalar or a vector, but has shape ", t.shape());
  std::vector<int64_t> values(t.num_elements());
  for (int64_t j = 0; j < t.num_elements(); ++j) values[j] = t.IntAt(j);
  return values;
}

int KernelContext::Axis(int i, int rank) const {
  const int64_t axis = Int(i);
  Require(axis >= -rank && axis < rank, "Expected dimension in the range [", -rank, ", ", rank, "), but got ", axis);
  return static_cast<int>(axis < 0 ? axis + rank : axis);
}

Shape KernelContext::ShapeInput(int i) const {
  Require(input(i).rank() == 1 || input(i).num_elements() == 1, "shape must be a vector of {int32,int64}, got shape ",
          shape(i));
  return Shape(Ints(i));
}

Tensor& KernelContext::Output(int i, const Shape& shape) { return Output(i, BaseType(node_->output_type(i)), shape); }

Tensor& KernelContext::Output(int i, DataType dtype, const Shape& shape) {
  Tensor& output = outputs_[i].tensor = Tensor(dtype, shape, device_->allocator());
  if (output.bytes() > kLargeOutput) LongWork::Begins();
  return output;
}

Tensor& KernelContext::OutputLike(int i, std::initializer_list<int> candidates, const Shape& shape) {
  const DataType dtype = BaseType(node_->output_type(i));
  for (const int candidate : candidates) {
    if (!CanTake(candidate)) continue;
    const Tensor& t = input(candidate);
    // A small part of a large buffer is not worth keeping the buffer for.
    if (t.dtype() != dtype || t.num_elements() != shape.num_elements() || !t.buffer() ||
        t.buffer()->size() > 2 * t.bytes() + 64) {
      continue;
    }
    return outputs_[i].tensor = t.Reshaped(shape);
  }
  return Output(i, dtype, shape);
}

void KernelContext::Forward(int i, int o) {
  if (is_ref(i) && IsRef(node_->output_type(o))) {
    outputs_[o].ref = inputs_[i].value->ref;
  } else if (inputs_[i].last_use) {
    outputs_[o].tensor = std::move(inputs_[i].value->tensor);
  } else {
    outputs_[o].tensor = input(i);
  }
}

void KernelContext::Parallel(int64_t total, int64_t unit_cost, FunctionRef<void(int64_t, int64_t)> fn) const {
  if (static_cast<double>(total) * static_cast<double>(unit_cost) > kLongLoop) LongWork::Begins();
  if (step_->intra_op) {
    step_->intra_op->ParallelFor(total, unit_cost, fn);
  } else if (total > 0) {
    fn(0, total);
  }
}

std::pair<std::string, std::string> KernelContext::ResourceName() const {
  const std::string name = node_->attr_or<std::string>("shared_name", "");
  return {node_->attr_or<std::string>("container", ""), name.empty() ? std::string(node_->name()) : name};
}

Ref<Resource> KernelContext::LookupAny(int i) const {
  Require(input(i).num_elements() == 1, "input ", i, " must be one resource handle, but has shape ", shape(i));
  const ResourceHandle& h = handle(i);
  if (h.resource) return h.resource;
  Ref<Resource> found = resources().Find(h.container, h.name);
  if (!found) throw NotFound("Resource ", h.container, "/", h.name, "/", h.type_name, " does not exist.");
  return found;
}

}  // namespace penstock
