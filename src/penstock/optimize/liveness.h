// Which nodes run at the same times: in the same branches, and in the same rounds of the same loops.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "penstock/graph/graph.h"

namespace penstock {

// Nodes with equal numbers are dead or alive together. Others may be, too: what comes out of a Merge has a number of
// its own.
class Liveness {
 public:
  explicit Liveness(const Graph& graph);
  // 0: always alive.
  int Of(const Node& node) const { return of_.empty() ? 0 : of_[static_cast<size_t>(node.id())]; }
  // Whether `other` is alive, for sure, when all data inputs of `node` are.
  bool LivesWithInputs(const Node& other, const Node& node) const;

 private:
  // What a node's life hangs on: outputs of Switches, Merges, loops; sorted.
  using Reasons = std::vector<std::pair<int, int>>;
  void Add(const Node& node);
  Reasons Because(const Node& node, bool controls) const;
  int Number(const Reasons& reasons);

  std::vector<int> of_;           // by node id; empty: nothing in the graph is ever dead
  std::vector<Reasons> reasons_;  // by number
  std::map<Reasons, int> numbers_;
  std::vector<std::string> frames_;
};

}  // namespace penstock
