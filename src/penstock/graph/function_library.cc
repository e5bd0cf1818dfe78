#include "penstock/graph/function_library.h"

namespace penstock {
namespace {

bool Same(const NodeDef& a, const NodeDef& b) {
  return a.name == b.name && a.op == b.op && a.device == b.device && a.inputs == b.inputs && a.attrs == b.attrs;
}

bool Same(const FunctionDef& a, const FunctionDef& b) {
  if (a.signature.ToString() != b.signature.ToString() || a.ret != b.ret || a.control_ret != b.control_ret ||
      a.nodes.size() != b.nodes.size()) {
    return false;
  }
  for (size_t i = 0; i < a.nodes.size(); ++i) {
    if (!Same(a.nodes[i], b.nodes[i])) return false;
  }
  return true;
}

}  // namespace

const FunctionDef* FunctionLibrary::Find(std::string_view name) const {
  const auto it = functions_.find(name);
  return it == functions_.end() ? nullptr : it->second.get();
}

std::shared_ptr<const FunctionDef> FunctionLibrary::FindShared(std::string_view name) const {
  const auto it = functions_.find(name);
  return it == functions_.end() ? nullptr : it->second;
}

std::string FunctionLibrary::GradientOf(std::string_view name) const {
  const auto it = gradients_.find(name);
  return it == gradients_.end() ? "" : it->second;
}

std::vector<std::string> FunctionLibrary::Names() const {
  std::vector<std::string> names;
  for (const auto& [name, function] : functions_) names.push_back(name);
  return names;
}

void FunctionLibrary::Add(std::shared_ptr<const FunctionDef> function) {
  const std::string& name = function->signature.name;
  const auto [it, added] = functions_.try_emplace(name, function);
  if (!added && it->second != function && !Same(*it->second, *function)) {
    throw InvalidArgument("Cannot add function '", name,
                          "' because a different function with the same name already exists.");
  }
  it->second = std::move(function);
}

void FunctionLibrary::SetGradient(const std::string& function, const std::string& gradient) {
  const auto [it, added] = gradients_.try_emplace(function, gradient);
  if (!added && it->second != gradient) {
    throw InvalidArgument("Cannot assign gradient function '", gradient, "' to '", function,
                          "' because it already has gradient function '", it->second, "'");
  }
}

FunctionLibraryPtr FunctionLibrary::With(std::shared_ptr<const FunctionDef> function) const {
  auto extended = std::make_shared<FunctionLibrary>(*this);
  extended->Add(std::move(function));
  return extended;
}

FunctionLibraryPtr FunctionLibrary::WithGradient(const std::string& function, const std::string& gradient) const {
  auto extended = std::make_shared<FunctionLibrary>(*this);
  extended->SetGradient(function, gradient);
  return extended;
}

FunctionLibraryPtr FunctionLibrary::WithAll(const std::vector<std::shared_ptr<const FunctionDef>>& functions,
                                            const std::vector<std::pair<std::string, std::string>>& gradients) const {
  auto extended = std::make_shared<FunctionLibrary>(*this);
  for (const auto& function : functions) extended->Add(function);
  for (const auto& [function, gradient] : gradients) extended->SetGradient(function, gradient);
  return extended;
}

FunctionLibraryPtr FunctionLibrary::Without(const std::string& function) const {
  auto reduced = std::make_shared<FunctionLibrary>(*this);
  reduced->functions_.erase(function);
  reduced->gradients_.erase(function);
  return reduced;
}

}  // namespace penstock
