// A part of a tensor: a range along each dimension, or all of it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "penstock/tensor/tensor.h"

namespace penstock {

struct TensorSlice {
  static constexpr int64_t kFull = -1;
  std::vector<int64_t> start, length;  // by dimension; length kFull (with start 0): everything

  int rank() const { return static_cast<int>(start.size()); }
  static TensorSlice All(int rank) { return {std::vector<int64_t>(rank, 0), std::vector<int64_t>(rank, kFull)}; }
  // "0,2:-" as TensorFlow writes it. InvalidArgument if it is no such text.
  static TensorSlice Parse(std::string_view text);
  std::string ToString() const;
  bool IsFull() const;
  int64_t Length(int d, const Shape& of) const { return length[d] == kFull ? of[d] : length[d]; }
  // The shape of this part of a tensor of shape `of`. InvalidArgument if it is not within it.
  Shape Apply(const Shape& of) const;
  friend bool operator==(const TensorSlice&, const TensorSlice&) = default;
};

// DataLoss if two of the parts of a tensor of shape `of` have an element in common.
void CheckDisjoint(const Shape& of, const std::vector<TensorSlice>& slices);

// "3 4 0,2:-": the whole tensor's shape and the part. InvalidArgument if it is no such text.
void ParseShapeAndSlice(std::string_view text, Shape* shape, TensorSlice* slice);

// Copies what two parts of one tensor of shape `full` have in common from the value of one to that of the other; gives
// the number of elements.
int64_t CopyOverlap(const Shape& full, const TensorSlice& from_slice, const Tensor& from, const TensorSlice& to_slice,
                    Tensor* to);

}  // namespace penstock
