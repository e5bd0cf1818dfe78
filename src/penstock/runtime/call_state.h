// State of functions that are called within others.
#pragma once

#include <string>
#include <string_view>

#include "penstock/graph/graph.h"

namespace penstock {

// An attribute of a called function: whose call it is, where each call has a state of its own.
inline constexpr std::string_view kCallSiteAttr = "_call_site";

// Marks the calls of functions that draw random numbers, `scope` being the key of the function that `graph` is the body
// of: as in TensorFlow, which puts bodies in place of such calls, each call draws a sequence of its own, and what is
// called by the program itself yet another. What calls itself shares its state.
void GiveCallsTheirState(Graph& graph, const std::string& scope);

}  // namespace penstock
