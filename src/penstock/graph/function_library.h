// Named functions. A library is an immutable snapshot: extending it makes a new one, so a step keeps what it compiled
// with.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "penstock/graph/graph_def.h"

namespace penstock {

class FunctionLibrary;
using FunctionLibraryPtr = std::shared_ptr<const FunctionLibrary>;

class FunctionLibrary {
 public:
  const FunctionDef* Find(std::string_view name) const;  // null if absent
  std::shared_ptr<const FunctionDef> FindShared(std::string_view name) const;
  std::string GradientOf(std::string_view name) const;  // "" if none is set
  std::vector<std::string> Names() const;
  const std::map<std::string, std::string, std::less<>>& gradients() const { return gradients_; }
  // A copy with one more. The same name again must mean the same function (InvalidArgument).
  FunctionLibraryPtr With(std::shared_ptr<const FunctionDef> function) const;
  FunctionLibraryPtr WithGradient(const std::string& function, const std::string& gradient) const;
  // All of them at once: one copy of the library.
  FunctionLibraryPtr WithAll(const std::vector<std::shared_ptr<const FunctionDef>>& functions,
                             const std::vector<std::pair<std::string, std::string>>& gradients) const;
  FunctionLibraryPtr Without(const std::string& function) const;

 private:
  void Add(std::shared_ptr<const FunctionDef> function);
  void SetGradient(const std::string& function, const std::string& gradient);
  std::map<std::string, std::shared_ptr<const FunctionDef>, std::less<>> functions_;
  std::map<std::string, std::string, std::less<>> gradients_;
};

}  // namespace penstock
