// Moving elements about without knowing their type: the one loop behind slices, joins, pads, tiles and transposes.
#pragma once

#include <span>

#include "penstock/kernel/kernel_context.h"

namespace penstock {

// One axis of a box of elements: its size, and the steps (in elements) of the target and of the source along it. A
// source step of 0 repeats; steps may be negative.
struct CopyAxis {
  int64_t n, to, from;
};

// to[sum i_a * axes[a].to] = from[sum i_a * axes[a].from] for every position in the box; in parallel where it pays.
// Target positions must be distinct, and must not overlap the source. `to` and `from` point at position 0.
void CopyBox(const KernelContext& k, DataType type, std::span<const CopyAxis> axes, void* to, const void* from);

// n elements, one after the other.
void CopyElements(DataType type, void* to, const void* from, int64_t n);
// The same in parallel.
void CopyElements(const KernelContext& k, DataType type, void* to, const void* from, int64_t n);
// n zeros, or empty strings, handles and variants.
void ZeroElements(DataType type, void* to, int64_t n);
void ZeroElements(const KernelContext& k, DataType type, void* to, int64_t n);
// n times *value.
void FillElements(DataType type, void* to, const void* value, int64_t n);
void FillElements(const KernelContext& k, DataType type, void* to, const void* value, int64_t n);

// The address of element i.
inline void* At(Tensor& t, int64_t i) { return static_cast<char*>(t.mutable_raw()) + i * DataTypeSize(t.dtype()); }
inline const void* At(const Tensor& t, int64_t i) {
  return static_cast<const char*>(t.raw()) + i * DataTypeSize(t.dtype());
}

// Step of each dimension of a dense tensor, in elements.
std::vector<int64_t> Strides(const Shape& shape);

}  // namespace penstock
