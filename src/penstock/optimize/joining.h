// What passes share that make one node of several: which nodes are steps of such a node, and which go together.
#pragma once

#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "penstock/graph/graph.h"

namespace penstock {

// Where the node is asked to be: its device, and those of the nodes beside which it is to stand.
std::vector<std::string> PlacesOf(const Graph& graph, const Node& node);

// Tells which nodes compute elements of one result from those of inputs of the same type.
class ElementwiseSteps {
 public:
  explicit ElementwiseSteps(const Graph& graph) : graph_(graph) {}
  // The op that computes one step of a pure node of floats or doubles which waits for nobody: its own, or additions if
  // it is a sum in another form. Null: there is none.
  const OpDef* Of(const Node& node);

 private:
  bool IsStep(const OpDef& op, DataType type);

  const Graph& graph_;
  std::map<std::pair<const OpDef*, DataType>, bool> is_step_;
};

// Nodes of one kind (kind: by id; -1 never joins) that hang together and can run as one node without a cycle, each
// group in the order of `order`, which has inputs first.
//
// Each node gets a phase, which grows wherever a path leaves the nodes that might be joined. So a path from one node of
// a phase to another never leads through anything else.
std::vector<std::vector<Node*>> JoinedGroups(const Graph& graph, const std::vector<Node*>& order,
                                             const std::vector<int>& kind);

// Nodes that become one, and what they take from others.
struct Part {
  std::vector<Node*> nodes;
  std::vector<Endpoint> args;
};
// The nodes of a group from `first` on that are not too many for one node: their tiles have to fit into the first-level
// cache. Earlier parts may have been replaced meanwhile.
Part NextPart(const std::vector<Node*>& group, size_t first);

// Sums, means and extremes along the axes in input 1.
bool IsReduction(const OpDef& op);
// A choice by a comparison, of four inputs.
bool IsComparedSelect(const OpDef& op);
// What the node computes its elements from: all its inputs, but for the axes of a reduction.
std::span<const Endpoint> OperandsOf(const Node& node);

// What the ops _FusedElementwise and _FusedRows are told of their steps.
struct Program {
  using Steps = std::map<const Node*, int64_t>;
  std::vector<std::string> steps, names;
  std::vector<int64_t> operands;
  Steps last_step;  // that gives the node's value
};
Program ProgramOf(const Part& part, ElementwiseSteps& steps);
// The attributes that both ops have, but for `results`.
AttrMap AttrsOf(const Part& part, Program program, size_t num_results);

// A new node that takes the place of `nodes`, named after the last of them.
Node* AddJoined(Graph& graph, const std::vector<Node*>& nodes, std::string_view op, std::vector<Endpoint> inputs,
                AttrMap attrs);
// Whoever reads output 0 of an output's node reads that output of `joined`; the nodes stay.
void GiveOutputs(Graph& graph, const std::vector<Node*>& outputs, Node* joined);
// The nodes go; who waited for them waits for `joined`.
void RemoveJoined(Graph& graph, const std::vector<Node*>& nodes, Node* joined);

}  // namespace penstock
