#include "penstock/graph/reread.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "penstock/graph/control_flow.h"

namespace penstock {
namespace {

// The first input that takes a reference, or -1.
int ReferenceInput(const Node& node) {
  const auto& types = node.input_types();
  const auto it = std::ranges::find_if(types, IsRef);
  return it == types.end() ? -1 : static_cast<int>(it - types.begin());
}

// Changes the memory of a variable. An assignment of another shape does not: it gives the variable other memory, and
// what was read before keeps its own.
bool MayUpdate(const Node& node) {
  return ReferenceInput(node) >= 0 && node.traits().flow == Flow::kNone && !node.traits().may_alias_input0 &&
         node.attr_or("validate_shape", true);
}

// Reads a variable: its input is a reference, taken by value.
bool Reads(const Node& node) {
  return node.traits().may_alias_input0 && node.num_inputs() > 0 && IsRef(node.input(0).type()) &&
         !IsRef(node.input_type(0));
}

// Brings a value into a loop, the same for all iterations.
bool IsInvariant(const Node& node) {
  return node.traits().flow == Flow::kEnter && node.attr_or<bool>("is_constant", false);
}

// Hands on the value of the branch that was taken. A loop's Merge is not meant: what it hands on is of each iteration.
bool JoinsBranches(const Node& node) { return node.traits().flow == Flow::kMerge && !ControlFlow::IsLoopMerge(&node); }

// Its outputs are its first input: in TensorFlow, memory of the variable that it reads.
bool Aliases(const Node& node) { return node.traits().may_alias_input0 || node.traits().flow == Flow::kSwitch; }

// Identities and reshapes in a row that are looked through, and conditionals among them: each may double the ways.
constexpr size_t kLongestChain = 100;
constexpr int kMostConditionals = 8;

bool TooManyJoins(const std::vector<Node*>& chain) {
  return std::ranges::count_if(chain, [](const Node* link) { return JoinsBranches(*link); }) >= kMostConditionals;
}

// Node sets by id.
using Marks = std::vector<bool>;

struct ById {
  bool operator()(const Node* a, const Node* b) const { return a->id() < b->id(); }
};

// Variables that a reference may be of: several behind a RefMerge.
using Variables = std::set<const Node*, ById>;

bool Overlap(const Variables& a, const Variables& b) {
  return std::ranges::any_of(a, [&](const Node* variable) { return b.contains(variable); });
}

class Rereader {
 public:
  explicit Rereader(Graph& graph) : graph_(graph) {}

  void Run() {
    for (Node* node : graph_.Nodes()) {
      if (MayUpdate(*node)) updates_[node] = VariablesOf(node->input(ReferenceInput(*node)));
    }
    if (updates_.empty()) return;
    TakeVariablesIntoLoops();
    ReadResultsOfBranches();
    MarkWhatIsInside();
    LetResultsWait();
    follows_.resize(graph_.num_ids());
    for (const auto& [update, variables] : updates_) MarkWhatFollows(update);
    for (Node* node : graph_.Nodes()) {
      if (Reads(*node)) reads_.push_back(node);
    }
    while (!reads_.empty()) {
      Node* read = reads_.back();
      reads_.pop_back();
      variables_ = VariablesOf(read->input(0));
      own_ = UpdatesBefore(read, {});
      fresh_.clear();
      std::vector<Node*> chain = {read};
      Visit(chain);
    }
  }

 private:
  // Where a reference comes from: back through the ops that hand it on.
  static Variables VariablesOf(Endpoint reference) {
    Variables variables;
    std::set<const Node*> seen;
    std::vector<const Node*> stack = {reference.node};
    while (!stack.empty()) {
      const Node* node = stack.back();
      stack.pop_back();
      if (!seen.insert(node).second) continue;
      const int first = ReferenceInput(*node);
      if (first < 0) {
        variables.insert(node);
      } else if (node->traits().flow != Flow::kMerge) {
        stack.push_back(node->input(first).node);
      } else {
        for (const Endpoint& input : node->inputs()) stack.push_back(input.node);
      }
    }
    return variables;
  }

  // What a loop takes from outside is the variable's memory, too: if the loop updates the variable, the variable itself
  // enters it, to be read by whoever wants its value in an iteration.
  void TakeVariablesIntoLoops() {
    std::set<std::pair<std::string, const Node*>> updated;  // by loops
    for (const auto& [update, variables] : updates_) {
      for (const Node* node = update; ReferenceInput(*node) >= 0;) {
        node = node->input(ReferenceInput(*node)).node;
        if (node->traits().flow != Flow::kEnter) continue;
        for (const Node* variable : variables) updated.emplace(node->attr<std::string>("frame_name"), variable);
      }
    }
    if (updated.empty()) return;
    for (Node* node : graph_.Nodes()) {
      if (!IsInvariant(*node) || IsRef(node->input_type(0))) continue;
      const std::optional<Endpoint> reference = ReferenceOf(node->input(0));
      if (!reference) continue;
      const auto in_loop = [&, frame = node->attr<std::string>("frame_name")](const Node* variable) {
        return updated.contains({frame, variable});
      };
      if (std::ranges::none_of(VariablesOf(*reference), in_loop)) continue;
      Node* entered = Entered(*node, *reference);
      const std::vector<Consumer> consumers = node->consumers();
      for (const auto& [consumer, input] : consumers) {
        if (input >= 0) graph_.UpdateInput(consumer, input, {entered, 0});
      }
    }
  }

  // A branch that ends with a reference, as an assignment does, gets a read of its own behind it.
  void ReadResultsOfBranches() {
    for (Node* node : graph_.Nodes()) {
      if (!JoinsBranches(*node)) continue;
      for (int i = 0; i < node->num_inputs(); ++i) {
        const Endpoint result = node->input(i);
        if (!IsRef(result.type()) || IsRef(node->input_type(i))) continue;
        Node* read = graph_.AddNode({.op = "Identity",
                                     .name = graph_.UniqueName(StrCat(result.node->name(), "/result")),
                                     .inputs = {result},
                                     .control_inputs = {},
                                     .attrs = {},
                                     .device = result.node->device()});
        graph_.UpdateInput(node, i, {read, 0});
      }
    }
  }

  // The reference that a value is read from, on its way into loops and branches if the value is in one.
  std::optional<Endpoint> ReferenceOf(Endpoint value) {
    for (size_t i = 0; i < kLongestChain; ++i) {
      if (IsRef(value.type())) return value;
      Node& node = *value.node;
      if (IsInvariant(node) || node.traits().flow == Flow::kSwitch) {
        const std::optional<Endpoint> outside = ReferenceOf(node.input(0));
        if (!outside) break;
        return Endpoint{Entered(node, *outside), value.index};
      }
      if (node.op_name() != "Identity") break;
      value = node.input(0);
    }
    return std::nullopt;
  }

  // What brings the reference to where `enter`, an Enter or Switch, brings its value.
  Node* Entered(const Node& enter, Endpoint reference) {
    Node*& made = entered_[&enter];
    if (!made) {
      std::vector<Node*> controls = enter.control_inputs();
      for (const Node* from = enter.input(0).node; from->op_name() == "Identity"; from = from->input(0).node) {
        controls.insert(controls.end(), from->control_inputs().begin(), from->control_inputs().end());
      }
      std::vector<Endpoint> inputs = enter.inputs();
      inputs[0] = reference;
      made = graph_.AddNode({.op = StrCat("Ref", enter.op_name()),
                             .name = graph_.UniqueName(StrCat(enter.name(), "/again")),
                             .inputs = std::move(inputs),
                             .control_inputs = std::move(controls),
                             .attrs = enter.attrs(),
                             .device = enter.device()});
    }
    return made;
  }

  // Marks all nodes that are ordered behind `node`.
  void MarkWhatFollows(Node* node) {
    std::vector<Node*> stack = {node};
    while (!stack.empty()) {
      const Node* at = stack.back();
      stack.pop_back();
      for (const Consumer& consumer : at->consumers()) {
        if (Follows(*consumer.node)) continue;
        follows_[consumer.node->id()] = true;
        stack.push_back(consumer.node);
      }
    }
  }

  // What is new to the graph is a read behind an update.
  bool Follows(const Node& node) const { return node.id() >= static_cast<int>(follows_.size()) || follows_[node.id()]; }

  // The updates of `variables_` that `node` is ordered behind, other than through the nodes of `chain`.
  std::vector<Node*> UpdatesBefore(Node* node, const std::vector<Node*>& chain) const {
    std::vector<Node*> found, stack;
    Marks seen(graph_.num_ids());
    for (const Node* link : chain) seen[link->id()] = true;
    const auto see = [&](Node* before) {
      if (seen[before->id()]) return;
      seen[before->id()] = true;
      const auto update = updates_.find(before);
      if (update != updates_.end() && Overlap(update->second, variables_)) found.push_back(before);
      if (Follows(*before)) stack.push_back(before);
    };
    stack.push_back(node);
    while (!stack.empty()) {
      const Node* at = stack.back();
      stack.pop_back();
      for (const Endpoint& input : at->inputs()) see(input.node);
      for (Node* control : at->control_inputs()) see(control);
    }
    std::ranges::sort(found, {}, [](const Node* update) { return update->id(); });
    return found;
  }

  // Marks what is in a loop or in a branch: nodes outside cannot wait for it alone.
  void MarkWhatIsInside() {
    inside_.resize(graph_.num_ids());
    std::vector<Node*> stack;
    for (Node* node : graph_.Nodes()) {
      const Flow flow = node->traits().flow;
      if (flow == Flow::kSwitch || flow == Flow::kEnter) stack.push_back(node);
    }
    while (!stack.empty()) {
      const Node* at = stack.back();
      stack.pop_back();
      for (const Consumer& consumer : at->consumers()) {
        const Flow flow = consumer.node->traits().flow;
        if (inside_[consumer.node->id()] || flow == Flow::kMerge || flow == Flow::kExit) continue;
        inside_[consumer.node->id()] = true;
        stack.push_back(consumer.node);
      }
    }
  }

  // A result that is a variable's memory is looked at when all is done: it waits for the variable's updates, be they in
  // branches, taken or not, or in loops.
  void LetResultsWait() {
    for (Node* node : graph_.Nodes()) {
      if (node->traits().flow != Flow::kRetval || inside_[node->id()]) continue;
      std::set<Node*, ById> ends;
      for (const Node* variable : VariablesBehind(node->input(0))) {
        ends.merge(std::set<Node*, ById>(EndsOfUpdates(variable)));
      }
      for (Node* end : ends) graph_.AddControlEdge(end, node);
    }
    inside_.resize(graph_.num_ids());
  }

  // What is run when all updates of a variable are over, those aside that are inside of a loop without results.
  const std::set<Node*, ById>& EndsOfUpdates(const Node* variable) {
    const auto [it, fresh] = ends_.try_emplace(variable);
    if (!fresh) return it->second;
    std::set<Node*, ById> hidden;
    for (const auto& [update, updated] : updates_) {
      if (!updated.contains(variable)) continue;
      if (inside_[update->id()]) {
        hidden.merge(OutOfLoops(update));
      } else {
        it->second.insert(update);
      }
    }
    if (!hidden.empty()) {  // it runs even when what it waits for is dead
      it->second.insert(graph_.AddNode({.op = "ControlTrigger",
                                        .name = graph_.UniqueName(StrCat(variable->name(), "/updated")),
                                        .inputs = {},
                                        .control_inputs = {hidden.begin(), hidden.end()},
                                        .attrs = {},
                                        .device = variable->device()}));
    }
    return it->second;
  }

  // The node, or the exits of the outermost loop that it is in.
  std::set<Node*, ById> OutOfLoops(Node* node) {
    if (!control_flow_) control_flow_.emplace(graph_);
    const ControlContext* loop = nullptr;
    for (const ControlContext* at = control_flow_->Of(node); at; at = at->parent) {
      if (at->is_loop) loop = at;
    }
    if (!loop) return {node};
    std::set<Node*, ById> exits;
    for (const ControlContext::Variable& variable : loop->variables) {
      if (variable.exit) exits.insert(variable.exit);
    }
    return exits;
  }

  // The variables whose memory a value may be: several if it is the result of a conditional.
  static Variables VariablesBehind(Endpoint result) {
    Variables variables;
    std::set<const Node*> seen;
    std::vector<Endpoint> stack = {result};
    while (!stack.empty()) {
      const Endpoint value = stack.back();
      stack.pop_back();
      const Node& node = *value.node;
      if (IsRef(value.type())) {
        variables.merge(VariablesOf(value));
      } else if (!seen.insert(&node).second) {
        continue;
      } else if (JoinsBranches(node)) {
        if (value.index == 0) stack.insert(stack.end(), node.inputs().begin(), node.inputs().end());
      } else if (Aliases(node) && node.num_inputs() > 0) {
        stack.push_back(node.input(0));
      }
    }
    return variables;
  }

  // Goes on from the end of a chain that begins with a read and whose links are not behind any other update.
  void Visit(std::vector<Node*>& chain) {
    const std::vector<Consumer> consumers = chain.back()->consumers();
    const bool is_result = JoinsBranches(*chain.back());
    for (const auto& [node, input] : consumers) {
      const Flow flow = node->traits().flow;
      const bool joins = JoinsBranches(*node);
      if (input < 0 || (is_result && node->input(input).index > 0)) continue;  // a Merge also says which input it took
      if (!joins && flow != Flow::kNone && flow != Flow::kSwitch && flow != Flow::kEnter && flow != Flow::kRetval) {
        continue;
      }
      // A branch is not behind the updates of another one, though the Merge is.
      if (!joins && Follows(*node)) {
        std::vector<Node*> updates = UpdatesBefore(node, chain);
        std::erase_if(updates, [&](Node* update) { return std::ranges::find(own_, update) != own_.end(); });
        if (!updates.empty()) {
          ReadAgain(chain, std::move(updates), node, input);
          continue;
        }
      }
      if (joins ? TooManyJoins(chain) : input != 0 || !Aliases(*node)) continue;
      if (chain.size() >= kLongestChain) continue;
      chain.push_back(node);
      Visit(chain);
      chain.pop_back();
    }
  }

  // Gives `node` a copy of the chain that is ordered behind the updates, or behind what else the node waits for if some
  // of them cannot be waited for from outside.
  void ReadAgain(const std::vector<Node*>& chain, std::vector<Node*> updates, Node* node, int input) {
    const bool inside = std::ranges::any_of(updates, [&](const Node* update) { return inside_[update->id()]; });
    if (inside) updates = OrderedBefore(node, chain.back());
    Node *before = nullptr, *last = nullptr;
    std::vector<Node*> links;
    for (Node* link : chain) {
      links.push_back(link);
      Node* unshared = nullptr;
      Node*& copy = inside ? unshared : fresh_[{links, updates}];
      if (!copy) {
        copy = Copy(*link, before, last, updates);
        inside_.resize(graph_.num_ids());
        inside_[copy->id()] = inside || inside_[link->id()];
        if (!last) {
          reads_.push_back(copy);
          if (!inside_[copy->id()]) PutBeforeOtherUpdates(copy);
        }
      }
      before = link;
      last = copy;
    }
    graph_.UpdateInput(node, input, {last, node->input(input).index});
  }

  // Other updates come behind the read: else one that the program's gradients make, and that the old read, being ready
  // at once, always preceded, might come before it.
  void PutBeforeOtherUpdates(Node* read) {
    const std::vector<Node*> before = UpdatesBefore(read, {});
    for (const auto& [update, variables] : updates_) {
      if (!Overlap(variables, variables_) || inside_[update->id()]) continue;
      if (std::ranges::find(before, update) != before.end()) continue;
      graph_.AddControlEdge(read, update);
      MarkWhatFollows(read);
    }
  }

  // What `node` waits for, other than `link`, and is behind an update or one itself.
  std::vector<Node*> OrderedBefore(const Node* node, const Node* link) const {
    std::vector<Node*> ordered = node->control_inputs();
    for (const Endpoint& input : node->inputs()) {
      if (input.node != link) ordered.push_back(input.node);
    }
    std::erase_if(ordered, [&](Node* before) { return !Follows(*before) && !updates_.contains(before); });
    return ordered;
  }

  // A copy of a link: of the first, behind the updates; of another, with `last` in place of the link `before`.
  Node* Copy(const Node& link, const Node* before, Node* last, const std::vector<Node*>& updates) {
    std::vector<Endpoint> inputs = link.inputs();
    std::vector<Node*> controls = link.control_inputs();
    if (JoinsBranches(link)) {
      for (Endpoint& input : inputs) {
        if (input.node == before) input.node = last;
      }
    } else if (last) {
      inputs[0].node = last;
    } else {
      controls.insert(controls.end(), updates.begin(), updates.end());
      std::ranges::sort(controls, {}, [](const Node* before) { return before->id(); });
      controls.erase(std::ranges::unique(controls).begin(), controls.end());
    }
    return graph_.AddNode({.op = link.op_name(),
                           .name = graph_.UniqueName(StrCat(link.name(), "/again")),
                           .inputs = std::move(inputs),
                           .control_inputs = std::move(controls),
                           .attrs = link.attrs(),
                           .device = link.device()});
  }

  Graph& graph_;
  std::map<Node*, Variables, ById> updates_;  // to the variable that each updates
  std::map<const Node*, Node*> entered_;      // what brings a value into a loop or branch: to what brings the variable
  Marks follows_, inside_;
  std::optional<ControlFlow> control_flow_;
  std::map<const Node*, std::set<Node*, ById>> ends_;  // of each variable's updates
  std::vector<Node*> reads_;                           // yet to be looked at
  // Of the read that is looked at: its variables, the updates that it is itself behind, and the copies of chains that
  // begin with it, by the updates that they are behind.
  Variables variables_;
  std::vector<Node*> own_;
  std::map<std::pair<std::vector<Node*>, std::vector<Node*>>, Node*> fresh_;
};

}  // namespace

void RereadVariables(Graph& graph) { Rereader(graph).Run(); }

}  // namespace penstock
