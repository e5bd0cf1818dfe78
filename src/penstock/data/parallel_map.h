#pragma once

#include "penstock/data/dataset_kernel.h"

namespace penstock::data {

// What a thread of a parallel stage does with an element, in its place; OutOfRange ends the dataset. Thread-safe.
struct Work {
  std::function<void(Element* element)> apply;
  bool may_wait;  // perhaps for another element's
};
using MakeWork = std::function<Work(const Place& place)>;  // for an iterator

// Elements that were worked on, by up to `parallelism` threads (kAutotune: as many as pay). In the order of the input,
// unless `deterministic` is false. `name`: see Dataset.
Ref<Dataset> MakeParallel(std::string name, ElementSpec spec, Ref<const Dataset> input, MakeWork work,
                          int64_t parallelism, std::optional<bool> deterministic);

// The same with f of each element.
Ref<Dataset> MakeParallelMap(std::string name, ElementSpec spec, Ref<const Dataset> input, CapturedFunction function,
                             int64_t parallelism, std::optional<bool> deterministic, bool preserves_cardinality);

}  // namespace penstock::data
