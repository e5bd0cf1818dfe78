// Graph -> GraphDef.
#pragma once

#include "penstock/graph/graph.h"
#include "penstock/graph/graph_def.h"

namespace penstock {

// The node as it was made: requested device, control inputs in the order in which they came. For a graph of version
// `producer` up to kGraphDefVersion, attributes that TensorFlow 1.15 does not know are left out if they hold their
// default: it would refuse the node.
NodeDef ToNodeDef(const Node& node, int producer = kNewestProducer);
// Tells which those are; set by ops/.
void SetNewerAttrs(bool (*is_newer)(std::string_view op, std::string_view attr));

// The nodes with ids from `from_node` on, with all functions and the versions. A node's device is the assigned one if
// it has one; control inputs are sorted by name. `add_shapes`: nodes with outputs get their shapes as `_output_shapes`.
GraphDef ToGraphDef(const Graph& graph, int from_node = 0, bool add_shapes = false);

// "node" for output 0, "node:1" for others, as a NodeDef's inputs are written.
std::string InputName(const Endpoint& endpoint);

}  // namespace penstock
