// Graph <-> function: a graph's part as a FunctionDef, and a FunctionDef as a graph with _Arg and _Retval nodes.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "penstock/graph/graph.h"
#include "penstock/graph/graph_def.h"

namespace penstock {

// What part of a graph becomes a function.
struct FunctionSpec {
  std::string name;
  bool append_hash = false;                 // "name_" and eleven characters that tell bodies apart
  std::optional<std::vector<Node*>> nodes;  // the body; unset: all nodes but those of the inputs
  std::vector<Endpoint> inputs;             // become arguments
  std::vector<Endpoint> outputs;
  std::vector<std::string> output_names;          // of the results; empty: made from their nodes' names
  std::vector<Node*> control_outputs;             // run with every call
  std::vector<std::string> control_output_names;  // empty: their nodes' names
  AttrMap attrs;
  std::string description;
};

// Arguments are named after their nodes in lower case, what is no letter or digit becoming '_'; nodes keep their names
// unless an argument or result has it. Attributes that are placeholders become attributes of the function.
// InvalidArgument: inputs twice or of reference type, duplicate names of results, values from outside the body.
std::shared_ptr<FunctionDef> GraphToFunction(const Graph& graph, const FunctionSpec& spec);

// A function with types and other attributes filled in. Its stateful nodes run with every call, as do control_rets,
// whether or not a result depends on them; the rest runs for the results.
struct FunctionBody {
  std::shared_ptr<Graph> graph;
  std::vector<Node*> args, rets;  // _Arg and _Retval nodes in order of their `index`
  std::vector<Node*> control_rets;
  std::vector<DataType> arg_types, ret_types;
};

// `attrs`: of the call; defaults come from the function. InvalidArgument: unbound placeholders, unknown or wrong
// references.
FunctionBody Instantiate(const FunctionDef& function, const AttrMap& attrs, const FunctionLibraryPtr& library);

// Types of the values of a declared argument or result of an op or function with these attributes.
std::vector<DataType> TypesOfArgument(const ArgDef& arg, const OpDef& op, const AttrMap& attrs);

// SymbolicGradient: (arguments..., gradients of results...) -> gradients of arguments, zeros where there is none. The
// gradient function that the library names for `function`, or one made by differentiating its body.
// NotFound: no such function, or an op in it has no gradient.
FunctionBody InstantiateGradient(const FuncRef& function, const FunctionLibraryPtr& library);

}  // namespace penstock
