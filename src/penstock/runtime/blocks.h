// Which blocks a graph compiles to: the outermost level, and each loop that is a straight line of its own.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "penstock/runtime/loop_shape.h"
#include "penstock/runtime/program.h"

namespace penstock {

// What all blocks of one graph share: the graph's frames, which of them run as nested straight lines, and the kernels.
struct Source {
  const Graph& graph;
  Device* device;
  std::vector<Node*> order;
  FrameTree tree;
  std::vector<std::optional<LoopShape>> shapes;  // by frame; empty: the dataflow executor runs it
  std::vector<int> block;                        // by frame: the loop whose program holds its nodes; 0: the outermost
  std::vector<std::shared_ptr<Kernel>> kernels;  // by node

  Source(const Graph& graph, Device* device, const KernelMaker& make_kernel, bool nest_loops);

  NodeView View(const Node& node) const {
    return NodeView(node.name(), node.op(), node.attrs(), node.input_types(), node.output_types(), device);
  }
  int BlockOf(const Node& node) const { return block[tree.of[node.id()]]; }
  // The loop that the node is an entry of: it and its fellows are one instruction. -1 for others.
  int LoopEntered(const Node& node) const {
    const int frame = tree.entered[node.id()];
    return frame >= 0 && shapes[frame] ? frame : -1;
  }

 private:
  void MakeKernel(const Node& node, const KernelMaker& make_kernel);
  void FindLoops();
  // Whether the condition and all values for the next round exist in every round: conditionals inside end inside.
  bool AlwaysRuns(int frame) const;
};

// Adds up under which outcomes the nodes of a block run, in the given order. Loops within count as one node.
class BlockBranches {
 public:
  explicit BlockBranches(const Source& source) : source_(source), branches_(source.graph.num_ids()) {}

  void Add(const Node& node, int frame);
  const Outcomes& Of(const Node& node) const { return branches_.Of(node); }
  Outcomes At(const Endpoint& endpoint, int frame) const;

 private:
  const Source& source_;
  Branches branches_;
};

}  // namespace penstock
