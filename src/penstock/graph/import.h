// GraphDef -> nodes of a graph.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "penstock/graph/graph.h"
#include "penstock/graph/graph_def.h"

namespace penstock {

struct ImportOptions {
  std::string prefix;                              // of all new names; a '/' is put behind it
  bool uniquify_prefix = true;                     // "import_1" if the graph has nodes below "import" already
  bool uniquify_names = true;                      // rename nodes whose names are taken; otherwise such are an error
  bool allow_internal_names = false;               // names may begin with '_' (bodies of functions)
  bool validate_colocation = true;                 // `_class` must name nodes of the GraphDef
  std::map<std::string, Endpoint> input_map;       // "name" or "name:1" of the GraphDef -> what to use in its place
  std::map<std::string, Node*> control_input_map;  // "name" or "^name"
  std::vector<Node*> control_inputs;               // of all new nodes (put on those without inputs among the new ones)
  std::vector<std::string> return_tensors, return_ops;
  std::function<std::string(const NodeDef&)> device_function;  // gives each new node its device
  const std::vector<OpDef>* producer_ops = nullptr;  // attributes only they know, with their default value, are dropped
  int consumer_version = kGraphDefVersion;
};

struct ImportResults {
  std::vector<Node*> nodes;  // new ones, in order of creation
  std::vector<Endpoint> return_tensors;
  std::vector<Node*> return_ops;
  std::vector<std::string> unused_input_map_keys;  // that name nothing in the GraphDef
  std::vector<int> incomplete;  // positions in the GraphDef of nodes that lack attributes with defaults
};

// Adds the nodes (and functions) of a GraphDef. On failure the graph is as it was.
// InvalidArgument: a malformed GraphDef or one for other versions, types or shapes that do not fit, unknown names in
// the options. NotFound: ops that nobody knows; the message names them all.
ImportResults ImportGraphDef(GraphDef graph_def, const ImportOptions& options, Graph* graph);

// "name:1" -> {"name", 1}, "name" -> {"name", 0}, "^name" -> {"name", -1}. Anything else is a name as a whole.
struct TensorName {
  std::string_view node;
  int index;
};
TensorName ParseTensorName(std::string_view name);

// InvalidArgument if a graph of these versions cannot be read by a program of version `consumer`. `kind`: "GraphDef".
void CheckVersions(const Versions& versions, int consumer, int min_producer, std::string_view kind,
                   std::string_view what);

}  // namespace penstock
