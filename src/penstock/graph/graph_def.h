// Graphs and functions as they are exchanged: plain structs that io/ reads from and writes to protocol buffers.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "penstock/op/attr_value.h"
#include "penstock/op/op_def.h"

namespace penstock {

struct Versions {
  int producer = 0, min_consumer = 0;
  std::vector<int> bad_consumers;
};

inline constexpr int kGraphDefVersion = 134;  // what TensorFlow 1.15 writes as producer
inline constexpr int kMinConsumer = 0, kMinProducer = 0;
inline constexpr int kNewestProducer = 100000;  // graphs of any later producer are tried

struct NodeDef {
  std::string name, op, device;
  std::vector<std::string> inputs;  // "node", "node:1", "^control"; in functions "arg", "node:out:0"
  AttrMap attrs;
  std::vector<std::string> original_node_names, original_func_names;  // experimental_debug_info
};

struct FunctionDef {
  OpDef signature;
  AttrMap attrs;
  std::vector<AttrMap> arg_attrs;  // by argument; empty where there are none
  std::vector<NodeDef> nodes;
  std::map<std::string, std::string> ret;          // output -> "node:out:0" or an argument
  std::map<std::string, std::string> control_ret;  // control output -> node
};

struct GraphDef {
  std::vector<NodeDef> nodes;
  Versions versions;
  std::vector<std::shared_ptr<const FunctionDef>> functions;
  std::vector<std::pair<std::string, std::string>> gradients;  // function -> its gradient function
};

}  // namespace penstock
