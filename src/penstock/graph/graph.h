// Graph: nodes, data and control edges, functions. Every node is checked against its OpDef and has its output types,
// shapes and handle data inferred as it is added.
//
// Not thread-safe by itself: sessions and front ends hold `mutex()` while they read or extend a shared graph.
#pragma once

#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "penstock/graph/function_library.h"
#include "penstock/op/op_registry.h"
#include "penstock/op/shape_inference.h"

namespace penstock {

class ConstantValues;
class Node;

// An output of a node.
struct Endpoint {
  Node* node = nullptr;
  int index = 0;
  explicit operator bool() const { return node != nullptr; }
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
  DataType type() const;
  const PartialShape& shape() const;
  std::string name() const;  // "node:1"
};

struct Consumer {
  Node* node;
  int input;  // -1: control edge
};

class Node {
 public:
  int id() const { return id_; }  // dense, in order of creation; stable for the life of the graph
  const std::string& name() const { return name_; }
  const OpDef& op() const { return *op_; }
  const std::string& op_name() const { return op_->name; }
  const OpTraits& traits() const { return op_->traits; }
  bool calls_function() const { return own_op_ != nullptr; }  // the op is a function of the graph's library

  const std::vector<Endpoint>& inputs() const { return inputs_; }
  Endpoint input(int i) const { return inputs_[i]; }
  int num_inputs() const { return static_cast<int>(inputs_.size()); }
  // Declared type of input i (a reference type if the op takes the variable itself).
  DataType input_type(int i) const { return input_types_[i]; }
  const std::vector<Node*>& control_inputs() const { return control_inputs_; }
  int num_outputs() const { return static_cast<int>(output_types_.size()); }
  DataType output_type(int i) const { return output_types_[i]; }
  const std::vector<DataType>& output_types() const { return output_types_; }
  const std::vector<DataType>& input_types() const { return input_types_; }
  const TensorInfo& info(int output) const { return infos_[output]; }
  const PartialShape& shape(int output) const { return infos_[output].shape; }
  // Every use of any output, control edges included, in order of creation.
  const std::vector<Consumer>& consumers() const { return consumers_; }

  const AttrMap& attrs() const { return attrs_; }
  template <class T>
  const T& attr(std::string_view name) const {
    const AttrValue* value = attrs_.Find(name);
    const T* typed = value ? value->If<T>() : nullptr;
    if (!typed) throw InvalidArgument("node '", name_, "' (", op_->name, ") lacks attribute '", name, "' of that kind");
    return *typed;
  }
  template <class T>
  T attr_or(std::string_view name, T otherwise) const {
    const AttrValue* value = attrs_.Find(name);
    const T* typed = value ? value->If<T>() : nullptr;
    return typed ? *typed : otherwise;
  }
  // [first, last) of the flat inputs (outputs) that the declared argument `arg` covers.
  std::pair<int, int> InputRange(int arg) const;
  std::pair<int, int> OutputRange(int arg) const;

  const std::string& device() const { return device_; }  // as requested; may be partial or empty
  void set_device(std::string device) { device_ = std::move(device); }
  const std::string& assigned_device() const { return assigned_device_; }  // by the placer
  void set_assigned_device(std::string device) { assigned_device_ = std::move(device); }
  std::vector<std::string> ColocationGroups() const;  // names of nodes, from `_class` = "loc:@name"

 private:
  friend class Graph;
  int id_;
  std::string name_;
  const OpDef* op_;
  std::shared_ptr<const OpDef> own_op_;  // for calls of functions, whose signature is their OpDef
  std::vector<Endpoint> inputs_;
  std::vector<Node*> control_inputs_;
  std::vector<DataType> input_types_, output_types_;
  std::vector<TensorInfo> infos_;
  std::vector<Consumer> consumers_;
  AttrMap attrs_;
  std::string device_, assigned_device_;
};

// The value that a constant holds: a node without inputs, by its attribute "value". Null for other nodes, and for a
// value of another type than the output has: only running such a node fails.
const Tensor* HeldConstant(const Node& node);

// What a new node is made of.
struct NodeSpec {
  std::string op, name;          // name: new and valid
  std::vector<Endpoint> inputs;  // flat, in the order of the definition
  std::vector<Node*> control_inputs;
  AttrMap attrs;  // type and number attributes may be left out where inputs tell; defaults are filled in
  std::string device;
  // A copy out of a body: shapes and values that do not fit are an error when the node runs, which it may never do, and
  // leave its own shapes unknown here.
  bool fails_when_run = false;
};

class Graph {
 public:
  explicit Graph(const OpRegistry& ops = OpRegistry::Global());
  ~Graph();
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  // InvalidArgument: wrong number or types of inputs, bad attributes, incompatible shapes, bad or used name.
  // NotFound: no such op or function. `producer`: version of the graph that the node comes from, for deprecation.
  Node* AddNode(NodeSpec spec, std::optional<int> producer = {});
  // A copy of a node (of any graph) with these inputs, taken as it is: nothing is checked or inferred again.
  Node* CopyNode(const Node& from, std::vector<Endpoint> inputs, const std::vector<Node*>& control_inputs);
  // Gives inputs to a copy that was made without any (so that loops can be copied).
  void SetInputs(Node* node, std::vector<Endpoint> inputs, const std::vector<Node*>& control_inputs);
  void RemoveNode(Node* node);  // which nobody consumes any more
  // Makes the node another op with outputs of the same types, about which the same is known; its name, its consumers
  // and its device stay. `spec.name` and `spec.device` do not count.
  void Become(Node* node, NodeSpec spec);
  void AddControlEdge(Node* from, Node* to);
  void RemoveControlEdges(Node* to);
  void RemoveControlEdge(Node* from, Node* to);
  // Types must fit; shapes downstream are not inferred again. A reference may replace a value of its type.
  void UpdateInput(Node* node, int input, Endpoint value);
  void SetAttr(Node* node, std::string_view name, AttrValue value);
  void ClearAttr(Node* node, std::string_view name);
  void SetShape(Endpoint output, const PartialShape& shape);  // merges; InvalidArgument if incompatible
  void ForgetShape(Endpoint output);                          // nothing is known any more
  void SetHandleData(Endpoint output, std::vector<DtypeAndShape> data);
  void InferShapes(Node* node);

  Node* FindNode(std::string_view name) const;  // null if absent
  Node* node(int id) const { return id >= 0 && id < static_cast<int>(nodes_.size()) ? nodes_[id].get() : nullptr; }
  int num_ids() const { return static_cast<int>(nodes_.size()); }  // one past the largest id; removed ids stay null
  int num_nodes() const { return num_nodes_; }
  std::vector<Node*> Nodes() const;  // in order of creation

  // TensorFlow's rule: name, name_1, name_2, ... ; compared without case.
  std::string UniqueName(std::string_view name, bool mark_as_used = true);
  static bool IsValidName(std::string_view name);

  // The value of an output if it follows from constants alone: constants themselves, and shape arithmetic seen through.
  // Null if not; small tensors only. Valid until the graph changes.
  const Tensor* ConstantValue(Endpoint output);
  // Sets the value of an output that nothing in this graph tells: of a body's argument in one call.
  void SetConstantValue(Endpoint output, const Tensor& value);
  // An output that holds a shape, as far as known (-1 for unknown elements).
  PartialShape ConstantValueAsShape(Endpoint output);

  const FunctionLibraryPtr& library() const { return library_; }
  void set_library(FunctionLibraryPtr library) {
    library_ = std::move(library);
    ++version_;
  }
  Versions& versions() { return versions_; }
  const Versions& versions() const { return versions_; }
  const OpRegistry& ops() const { return *ops_; }
  int64_t version() const { return version_; }  // grows with every change
  std::mutex& mutex() { return mutex_; }

  // Runs a stateless node on known inputs while the graph is built; nullopt if that cannot be done. Set by engine/.
  using Evaluator = std::optional<std::vector<Tensor>> (*)(const Node& node, std::span<const Tensor> inputs);
  static void SetEvaluator(Evaluator evaluator);

 private:
  void Changed(Node* node);
  void FillTypes(Node* node) const;
  void FillDefaults(Node* node) const;
  void Link(Node* node, std::vector<Endpoint> inputs, const std::vector<Node*>& control_inputs);
  static void Unlink(Node* node);
  Node* Insert(std::unique_ptr<Node> node);

  const OpRegistry* ops_;
  std::vector<std::unique_ptr<Node>> nodes_;
  int num_nodes_ = 0;
  std::unordered_map<std::string_view, Node*> by_name_;
  std::unordered_map<std::string, int> used_names_;  // lower case -> next suffix
  const std::unique_ptr<ConstantValues> constants_;
  FunctionLibraryPtr library_;
  Versions versions_;
  int64_t version_ = 0;
  std::mutex mutex_;
};

inline DataType Endpoint::type() const { return node->output_type(index); }
inline const PartialShape& Endpoint::shape() const { return node->shape(index); }

}  // namespace penstock
