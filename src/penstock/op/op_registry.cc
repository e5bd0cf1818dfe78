#include "penstock/op/op_registry.h"

namespace penstock {

OpBuilder OpRegistry::Add(std::string_view name) {
  OpDef& def = defs_.emplace_back();
  def.name = name;
  if (!by_name_.emplace(def.name, &def).second) throw Internal("op ", name, " is defined twice");
  return OpBuilder(&def);
}

const OpDef* OpRegistry::Find(std::string_view name) const {
  const auto it = by_name_.find(name);
  if (it != by_name_.end()) return it->second;
  return known_ ? known_(name) : nullptr;
}

std::vector<const OpDef*> OpRegistry::All() const {
  std::vector<const OpDef*> all;
  for (const OpDef& def : defs_) all.push_back(&def);
  return all;
}

OpRegistry& OpRegistry::Global() {
  static auto* registry = new OpRegistry();
  return *registry;
}

}  // namespace penstock
