// Joining elements along a new first dimension, and taking them apart.
#pragma once

#include "penstock/data/dataset.h"

namespace penstock::data {

// Joins elements as they come: each goes straight to its place in the batch.
class BatchBuilder {
 public:
  // `fused`: errors are worded as those of a map that writes into its batch.
  explicit BatchBuilder(int64_t most, bool fused = false) : most_(most), fused_(fused) {}
  // Leaves strings that only `element` held empty in it. InvalidArgument if the shapes are not those of the first
  // element.
  void Add(Element&& element);
  int64_t size() const { return size_; }
  // The batch of all that was added; the builder is empty again.
  Element Finish();

 private:
  void Grow();
  const int64_t most_;
  const bool fused_;
  int64_t size_ = 0, capacity_ = 0;
  std::vector<Shape> shapes_;
  Element batch_;
};

// Slice `i` along the first dimension as a tensor of its own.
Tensor Row(const Tensor& tensor, int64_t i);
PartialShape WithoutFirstDim(const PartialShape& shape);  // unknown if it has none

}  // namespace penstock::data
