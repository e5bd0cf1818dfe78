// What datasets have in common whose elements come from datasets that a function makes.
#pragma once

#include "penstock/data/dataset_kernel.h"

namespace penstock::data {

// An iterator over the dataset that the function makes of `args`, the `index`-th of them.
std::unique_ptr<Iterator> BeginMade(const BoundCall& call, const Element& args, const Place& outer, int64_t index);

inline constexpr int64_t kMostInCycle = 1 << 20;
struct InterleaveSizes {
  int64_t cycle, block;
};
InterleaveSizes InterleaveSizesOf(DatasetArgs& args);

}  // namespace penstock::data
