#include "penstock/kernel/kernel_registry.h"

#include <algorithm>

namespace penstock {
namespace {

bool Fits(const KernelDef& def, const AttrMap& attrs) {
  for (const auto& [name, types] : def.constraints) {
    const AttrValue* value = attrs.Find(name);
    const auto allowed = [&](DataType t) { return std::ranges::find(types, t) != types.end(); };
    if (!value) return false;
    if (const auto* t = value->If<DataType>()) {
      if (!allowed(*t)) return false;
    } else if (const auto* list = value->If<std::vector<DataType>>()) {
      if (!std::ranges::all_of(*list, allowed)) return false;
    } else {
      return false;
    }
  }
  return true;
}

}  // namespace

KernelBuilder& KernelBuilder::HostInput(int arg) {
  for (KernelDef* def : defs_) def->host_inputs.push_back(arg);
  return *this;
}
KernelBuilder& KernelBuilder::HostOutput(int arg) {
  for (KernelDef* def : defs_) def->host_outputs.push_back(arg);
  return *this;
}
KernelBuilder& KernelBuilder::Priority(int priority) {
  for (KernelDef* def : defs_) def->priority = priority;
  return *this;
}
KernelBuilder& KernelBuilder::Only(std::string_view type_attr, std::vector<DataType> types) {
  for (KernelDef* def : defs_) def->constraints.emplace_back(type_attr, types);
  return *this;
}

KernelDef* KernelRegistry::AddDef(std::string_view op,
                                  std::vector<std::pair<std::string, std::vector<DataType>>> constraints,
                                  std::unique_ptr<Kernel> (*make)(const NodeView&)) {
  auto def = std::make_unique<KernelDef>();
  def->op = op;
  def->device_type = device_type_;
  def->constraints = std::move(constraints);
  def->make = make;
  return by_op_[def->op].emplace_back(std::move(def)).get();
}

const KernelDef* KernelRegistry::Find(std::string_view device_type, const OpDef& op, const AttrMap& attrs) const {
  const auto it = by_op_.find(op.name);
  if (it == by_op_.end()) return nullptr;
  const KernelDef* best = nullptr;
  for (const auto& def : it->second) {
    if (def->device_type == device_type && Fits(*def, attrs) && (!best || def->priority > best->priority))
      best = def.get();
  }
  return best;
}

std::unique_ptr<Kernel> KernelRegistry::Make(std::string_view device_type, const NodeView& node) const {
  if (const KernelDef* def = Find(device_type, node.op(), node.attrs())) return def->make(node);
  if (node.op().known_by_name_only) {
    throw Unimplemented("Op '", node.op().name, "' of TensorFlow is recognised but has no kernel in Penstock");
  }
  throw InvalidArgument("No OpKernel was registered to support Op '", node.op().name, "' used by {{node ", node.name(),
                        "}} with these attrs: ", DescribeAttrs(node.attrs()), "\nRegistered devices: [", device_type,
                        "]\nRegistered kernels:\n", DescribeKernels(node.op().name));
}

std::string KernelRegistry::DescribeAttrs(const AttrMap& attrs) {
  std::vector<std::string> parts;
  for (const auto& [name, value] : attrs) parts.push_back(StrCat(name, "=", value));
  return StrCat("[", StrJoin(parts, ", "), "]");
}

std::string KernelRegistry::DescribeKernels(std::string_view op) const {
  const auto it = by_op_.find(op);
  if (it == by_op_.end()) return "  <no registered kernels>\n";
  std::string text;
  for (const auto& def : it->second) {
    text += StrCat("  device='", def->device_type, "'");
    for (const auto& [name, types] : def->constraints) text += StrCat("; ", name, " in ", AttrValue(types));
    text += "\n";
  }
  return text;
}

std::vector<std::string> KernelRegistry::DevicesFor(const OpDef& op, const AttrMap& attrs) const {
  std::vector<std::string> devices;
  const auto it = by_op_.find(op.name);
  if (it == by_op_.end()) return devices;
  for (const auto& def : it->second) {
    if (Fits(*def, attrs) && std::ranges::find(devices, def->device_type) == devices.end())
      devices.push_back(def->device_type);
  }
  return devices;
}

std::vector<const KernelDef*> KernelRegistry::All() const {
  std::vector<const KernelDef*> all;
  for (const auto& [op, defs] : by_op_) {
    for (const auto& def : defs) all.push_back(def.get());
  }
  return all;
}

KernelRegistry& KernelRegistry::Global() {
  static auto* registry = new KernelRegistry();
  return *registry;
}

}  // namespace penstock
