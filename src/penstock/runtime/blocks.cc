#include "penstock/runtime/blocks.h"

#include <algorithm>

namespace penstock {
namespace {

bool IsVariable(const Node& merge, int frame) {
  if (frame == 0) return false;
  for (const Endpoint& input : merge.inputs()) {
    if (input.node->traits().flow == Flow::kNextIteration) return true;
  }
  return false;
}

bool IsTake(const Node& node, int frame) {
  return frame > 0 && node.traits().flow == Flow::kSwitch && node.input(1).node->traits().flow == Flow::kLoopCond;
}

}  // namespace

void BlockBranches::Add(const Node& node, int frame) {
  const Flow flow = node.traits().flow;
  if (flow == Flow::kMerge && IsVariable(node, frame)) return;
  std::vector<Endpoint> inputs;
  for (const Endpoint& input : node.inputs()) {
    if (!IsTake(*input.node, frame)) inputs.push_back(input);
  }
  branches_.Add(node, inputs, node.control_inputs(), flow == Flow::kMerge);
  // A loop runs if all its entries do, and its results are there then.
  if (const int loop = source_.LoopEntered(node); loop >= 0) {
    const LoopShape& shape = *source_.shapes[loop];
    Outcomes all;
    for (const Node* enter : shape.inputs) {
      Outcomes joined;
      const Outcomes& more = branches_.Of(*enter);
      std::set_union(all.begin(), all.end(), more.begin(), more.end(), std::back_inserter(joined));
      all = std::move(joined);
    }
    for (const Node* exit : shape.exits) branches_.Set(*exit, all);
  }
}

Outcomes BlockBranches::At(const Endpoint& endpoint, int frame) const {
  return IsTake(*endpoint.node, frame) ? Outcomes() : branches_.At(endpoint);
}

Source::Source(const Graph& graph, Device* device, const KernelMaker& make_kernel, bool nest_loops)
    : graph(graph), device(device), order(TopologicalOrder(graph)), tree(FindFrames(graph, order)) {
  kernels.resize(graph.num_ids());
  for (const Node* node : order) MakeKernel(*node, make_kernel);
  shapes.resize(tree.frames.size());
  block.resize(tree.frames.size());
  if (nest_loops) FindLoops();
}

void Source::MakeKernel(const Node& node, const KernelMaker& make_kernel) {
  const Flow flow = node.traits().flow;
  if (flow == Flow::kArg || flow == Flow::kRetval) return;
  try {
    kernels[node.id()] = make_kernel(node, View(node));
  } catch (...) {
    const Status status = CurrentStatus();
    throw Error(Status(status.code(), StrCat(status.message(), "\n\t [[{{node ", node.name(), "}}]]"), node.name()));
  }
}

void Source::FindLoops() {
  const int frames = static_cast<int>(tree.frames.size());
  std::vector<bool> plain(frames, true);  // nothing in it, or in loops within, asks for the dataflow executor
  for (const Node* node : order) {
    if (kernels[node->id()] && kernels[node->id()]->is_async()) plain[tree.of[node->id()]] = false;
  }
  for (int frame = frames - 1; frame > 0; --frame) {
    if (plain[frame]) shapes[frame] = FindLoopShape(order, tree, frame);
    if (shapes[frame] && !AlwaysRuns(frame)) shapes[frame].reset();
    if (!shapes[frame]) plain[tree.frames[frame].parent] = false;
  }
  for (int frame = 1; frame < frames; ++frame) block[frame] = shapes[frame] ? frame : block[tree.frames[frame].parent];
}

bool Source::AlwaysRuns(int frame) const {
  BlockBranches branches(*this);
  // Twice: in the graph's order, a loop within may end before the last of its constants enters.
  for (int pass = 0; pass < 2; ++pass) {
    for (const Node* node : order) {
      if (tree.of[node->id()] == frame && node->traits().flow != Flow::kExit) branches.Add(*node, frame);
    }
  }
  const LoopShape& shape = *shapes[frame];
  if (!branches.Of(*shape.condition).empty()) return false;
  for (const LoopShape::Variable& variable : shape.variables) {
    if (!branches.At(variable.next->input(0), frame).empty()) return false;
  }
  return true;
}

}  // namespace penstock
