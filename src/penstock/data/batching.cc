#include "penstock/data/batching.h"

#include <algorithm>

#include "penstock/tensor/elements.h"

namespace penstock::data {
namespace {

constexpr int64_t kFirstCapacity = 256;  // a batch may be said to be larger than the dataset

Shape WithRows(int64_t rows, const Shape& shape) {
  Shape with = shape;
  with.InsertDim(0, rows);
  return with;
}

}  // namespace

void BatchBuilder::Grow() {
  capacity_ = std::min(most_, 4 * capacity_);
  for (size_t i = 0; i < batch_.size(); ++i) {
    Tensor larger(batch_[i].dtype(), WithRows(capacity_, shapes_[i]));
    MoveElements(&batch_[i], &larger, 0);
    batch_[i] = std::move(larger);
  }
}

void BatchBuilder::Add(Element&& element) {
  if (size_ == 0) {
    capacity_ = std::min(most_, kFirstCapacity);
    batch_.clear();
    shapes_.clear();
    for (const Tensor& t : element) {
      shapes_.push_back(t.shape());
      batch_.emplace_back(t.dtype(), WithRows(capacity_, t.shape()));
    }
  } else if (size_ == capacity_) {
    Grow();
  }
  RequireComponents(element, batch_.size());
  for (size_t i = 0; i < batch_.size(); ++i) {
    Tensor& t = element[i];
    if (t.shape() != shapes_[i] && fused_) {
      throw InvalidArgument("Cannot add tensor to the batch: number of elements does not match. Shapes are: [tensor]: ",
                            t.shape(), ", [batch]: ", shapes_[i]);
    }
    if (t.shape() != shapes_[i]) {
      throw InvalidArgument("Cannot batch tensors with different shapes in component ", i, ". First element had shape ",
                            shapes_[i], " and element ", size_, " had shape ", t.shape(), ".");
    }
    if (t.dtype() != batch_[i].dtype()) {
      throw InvalidArgument("Cannot batch tensors with different types in component ", i, ": ", batch_[i].dtype(),
                            " and ", t.dtype());
    }
    MoveElements(&t, &batch_[i], size_ * t.num_elements());
  }
  ++size_;
}

Element BatchBuilder::Finish() {
  for (Tensor& t : batch_) {
    if (size_ < capacity_) t = size_ * 2 < capacity_ ? t.Slice(0, size_).Clone() : t.Slice(0, size_);
  }
  size_ = 0;
  return std::move(batch_);
}

Tensor Row(const Tensor& tensor, int64_t i) {
  Shape shape = tensor.shape();
  shape.RemoveDim(0);
  const int64_t n = shape.num_elements();
  // Whoever gets a slice of the same buffer may rely on its alignment.
  if (IsPod(tensor.dtype()) && tensor.buffer() && n > 0 && n * DataTypeSize(tensor.dtype()) % 64 == 0) {
    return tensor.Slice(i, i + 1).Reshaped(shape);
  }
  Tensor row(tensor.dtype(), shape);
  CopyElements(tensor, i * n, n, &row, 0);
  return row;
}

PartialShape WithoutFirstDim(const PartialShape& shape) {
  if (shape.rank() < 1) return {};
  return PartialShape(std::vector<int64_t>(shape.dims().begin() + 1, shape.dims().end()));
}

}  // namespace penstock::data
