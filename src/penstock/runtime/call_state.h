// State of functions that are called within others.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "penstock/graph/graph.h"

namespace penstock {

// Where a call with a state of its own is: the name and the key of the function around all such calls (both empty in
// the program itself), then, for each call, its node and the function that is called.
using CallPath = std::vector<std::string>;

// An attribute of a called function, its CallPath.
inline constexpr std::string_view kCallSiteAttr = "_call_site";

// The path that calls inside of a function begin with.
CallPath PathOf(const FuncRef& function);

// The functions that a cache's entry depends on: it goes when one of them is removed.
struct FunctionNames {
  explicit FunctionNames(const FuncRef& function);
  bool Contain(std::string_view name) const { return own == name || outermost == name; }
  std::string own, outermost;
};

// Marks the calls of functions that draw random numbers, `path` being that of the function whose body `graph` is: as in
// TensorFlow, which inlines such calls, each call draws a sequence of its own, and the program's calls yet another. A
// function that calls itself shares its state.
void GiveCallsTheirState(Graph& graph, CallPath path);

}  // namespace penstock
