// Loops in a graph: which nodes run in which frame.
#pragma once

#include <string>
#include <vector>

#include "penstock/graph/graph.h"

namespace penstock {

// Nodes in an order in which each stands behind its inputs (NextIteration -> Merge edges aside), by id among equals;
// but updates of variables come as soon as they can, in the order of ids for each variable. InvalidArgument if there is
// a cycle.
std::vector<Node*> TopologicalOrder(const Graph& graph);

struct FrameTree {
  struct Frame {
    std::string name;
    int parent = -1;
    int num_enters = 0;
    int parallel_iterations = 10;
  };
  std::vector<Frame> frames;  // 0 is the outermost level
  std::vector<int> of;  // by node id: the frame in which the node itself runs (an Exit: the loop, an Enter: around it)
  std::vector<int> entered;  // by node id: the frame that an Enter leads into; -1 for others

  // The frame in which the node's outputs are.
  int OutputFrame(const Node& node) const {
    switch (node.traits().flow) {
      case Flow::kEnter: return entered[node.id()];
      case Flow::kExit: return frames[of[node.id()]].parent;
      default: return of[node.id()];
    }
  }
};

// Walks from the graph's sources through Enter into frames and through Exit back out. InvalidArgument: a node with
// inputs from different frames, an Exit or NextIteration outside any, a NextIteration that leads to another frame.
FrameTree FindFrames(const Graph& graph, const std::vector<Node*>& order);

}  // namespace penstock
