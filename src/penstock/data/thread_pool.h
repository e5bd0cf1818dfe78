// Threads that a program sets apart for a dataset.
#pragma once

#include "penstock/tensor/resource_handle.h"

namespace penstock::data {

// How many threads each stage of a pipeline has, what ThreadPoolDataset takes. The threads belong to the stages.
class ThreadPoolSize final : public Resource {
 public:
  explicit ThreadPoolSize(int64_t threads) : threads_(threads) {}
  int64_t threads() const { return threads_; }
  std::string DebugString() const override { return "ThreadPool resource"; }

 private:
  const int64_t threads_;
};

}  // namespace penstock::data
