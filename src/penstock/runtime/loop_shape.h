// Which loops can run as a straight line that is repeated: the form in which while_loop builds them.
//
//   Enter -> Merge -> (condition) -> LoopCond
//              |                        |
//            Switch <-------------------+
//            |    |
//          Exit   (body) -> NextIteration -> Merge
#pragma once

#include <optional>
#include <utility>
#include <vector>

#include "penstock/runtime/frames.h"

namespace penstock {

struct LoopShape {
  const Node* condition = nullptr;  // LoopCond
  struct Variable {
    const Node *enter, *merge, *take, *next;  // take: the Switch
    std::vector<const Node*> exits;
  };
  std::vector<Variable> variables;
  std::vector<const Node*> inputs;  // the Enters: variables first, then what stays the same in all rounds
  std::vector<const Node*> exits;
};

// Null if frame `frame` of the graph is anything else: several conditions, values that leave by another way, transfers
// to other devices.
std::optional<LoopShape> FindLoopShape(const std::vector<Node*>& order, const FrameTree& tree, int frame);

// Under which outcomes of conditionals a node runs: (id of the predicate's node, its output, the branch), sorted.
// Empty: always, as far as its frame's round runs.
struct Outcome {
  int node, output, branch;  // node -1: a Merge that joins something else than the two branches of one predicate
  friend auto operator<=>(const Outcome&, const Outcome&) = default;
};
using Outcomes = std::vector<Outcome>;

// Outcomes of nodes, asked in an order in which each stands behind its inputs.
class Branches {
 public:
  explicit Branches(int num_ids) : of_(num_ids) {}
  // The node runs when all these do; `merges`: it is a Merge of conditionals instead.
  void Add(const Node& node, const std::vector<Endpoint>& inputs, const std::vector<Node*>& controls, bool merges);
  const Outcomes& Of(const Node& node) const { return of_[node.id()]; }
  void Set(const Node& node, Outcomes outcomes) { of_[node.id()] = std::move(outcomes); }
  // Values of an endpoint exist under these.
  Outcomes At(const Endpoint& endpoint) const;

 private:
  std::vector<Outcomes> of_;
};

}  // namespace penstock
