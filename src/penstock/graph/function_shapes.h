// Static shapes of a function's results for what is known of the arguments of one call.
#pragma once

#include <optional>
#include <vector>

#include "penstock/graph/graph.h"

namespace penstock {

struct KnownArgument {
  PartialShape shape;
  std::optional<Tensor> value;  // of an integer constant
};

// One shape for each result of a call of `callee`, by way of the calls in it; none at all if it has loops.
// NotFound: no such function.
std::vector<PartialShape> ResultShapes(const FunctionLibraryPtr& library, const FuncRef& callee,
                                       const std::vector<KnownArgument>& args);

}  // namespace penstock
