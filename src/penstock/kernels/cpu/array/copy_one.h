// Single elements, or rows of them, copied inline: for loops in which a call would take longer than the copy.
#pragma once

#include <cstring>

#include "penstock/base/branches.h"
#include "penstock/kernels/cpu/array/copy.h"
#include "penstock/tensor/types.h"

namespace penstock {

extern BranchTable<7> single_copies;  // by bytes, and what is no plain memory

// Calls fn(copy), where copy(to, from) moves `bytes` bytes: a few instructions for the sizes of numbers.
template <class Fn>
void WithCopyOf(size_t bytes, Fn fn) {
  single_copies.Enter(bytes == 1 ? 0 : bytes == 2 ? 1 : bytes == 4 ? 2 : bytes == 8 ? 3 : bytes == 16 ? 4 : 5);
  switch (bytes) {
    case 1: return fn([](void* to, const void* from) { std::memcpy(to, from, 1); });
    case 2: return fn([](void* to, const void* from) { std::memcpy(to, from, 2); });
    case 4: return fn([](void* to, const void* from) { std::memcpy(to, from, 4); });
    case 8: return fn([](void* to, const void* from) { std::memcpy(to, from, 8); });
    case 16: return fn([](void* to, const void* from) { std::memcpy(to, from, 16); });
    default: return fn([bytes](void* to, const void* from) { std::memcpy(to, from, bytes); });
  }
}
// For n elements of a type, of which some have to be copied as what they are.
template <class Fn>
void WithCopyOf(DataType type, int64_t n, Fn fn) {
  if (IsPod(type)) return WithCopyOf(static_cast<size_t>(n) * DataTypeSize(type), fn);
  single_copies.Enter(6);
  fn([type, n](void* to, const void* from) { CopyElements(type, to, from, n); });
}

}  // namespace penstock
