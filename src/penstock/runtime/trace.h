// What ran when, for RunMetadata.
#pragma once

#include <map>
#include <mutex>

#include "penstock/io/config.h"
#include "penstock/runtime/executor.h"

namespace penstock {

class StepTrace final : public StepRecorder {
 public:
  void Ran(const Node& node, const Device& device, int64_t start_ns, int64_t end_ns,
           std::span<const Value> outputs) override;
  void Fill(RunMetadata* metadata) const;
  void Clear();

 private:
  mutable std::mutex mutex_;
  std::map<std::string, std::vector<NodeStats>> stats_;  // by device
};

}  // namespace penstock
