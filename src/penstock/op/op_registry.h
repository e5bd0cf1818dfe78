// All op definitions, by name. Filled once (engine/), then read by any thread without a lock.
#pragma once

#include <deque>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "penstock/op/op_def.h"

namespace penstock {

class OpRegistry {
 public:
  // Starts a definition. Internal if the name is taken.
  OpBuilder Add(std::string_view name);
  // Null if there is none.
  const OpDef* Find(std::string_view name) const;
  std::vector<const OpDef*> All() const;  // in order of definition

  // Ops that TensorFlow has and we do not: found by Find after all others. Set once, before the first Find.
  void SetKnownOps(const OpDef* (*find)(std::string_view)) { known_ = find; }

  // The registry of this process; filled by engine/.
  static OpRegistry& Global();

 private:
  std::deque<OpDef> defs_;
  std::unordered_map<std::string_view, const OpDef*> by_name_;
  const OpDef* (*known_)(std::string_view) = nullptr;
};

}  // namespace penstock
