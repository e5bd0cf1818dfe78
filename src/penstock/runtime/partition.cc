#include "penstock/runtime/partition.h"

#include <tuple>

#include "penstock/runtime/control_loops.h"

namespace penstock {
namespace {

class Partitioner {
 public:
  Partitioner(Graph& graph, const PartitionOptions& options) : graph_(graph), options_(options) {
    const std::vector<Node*> nodes = graph.Nodes();
    bool several = false;
    for (const Node* node : nodes) several |= node->assigned_device() != nodes[0]->assigned_device();
    if (several) loops_ = options.add_control_loops ? AddControlLoops(graph) : FindControlLoops(graph);
  }

  std::map<std::string, std::shared_ptr<Graph>> Run() {
    const std::vector<Node*> nodes = graph_.Nodes();
    copies_.resize(graph_.num_ids());
    for (const Node* node : nodes) {
      auto& part = parts_[PartOf(node->assigned_device())];
      if (!part) {
        part = std::make_shared<Graph>(graph_.ops());
        part->set_library(graph_.library());
        part->versions() = graph_.versions();
      }
      copies_[node->id()] = part->CopyNode(*node, {}, {});
    }
    for (const Node* node : nodes) {
      std::vector<Endpoint> inputs;
      for (const Endpoint& input : node->inputs()) inputs.push_back(On(node->assigned_device(), input));
      std::vector<Node*> controls;
      for (const Node* control : node->control_inputs()) {
        controls.push_back(ControlOn(node->assigned_device(), *control));
      }
      parts_[PartOf(node->assigned_device())]->SetInputs(copies_[node->id()], std::move(inputs), controls);
    }
    return std::move(parts_);
  }

 private:
  std::string PartOf(const std::string& device) const { return options_.part_of ? options_.part_of(device) : device; }
  bool InOnePart(const std::string& a, const std::string& b) const { return a == b || PartOf(a) == PartOf(b); }

  // `value` as it is seen on `device`: itself, or the Recv that brings it there.
  Endpoint On(const std::string& device, Endpoint value) {
    Node* copy = copies_[value.node->id()];
    const std::string& home = value.node->assigned_device();
    if (InOnePart(home, device)) return {copy, value.index};
    Node*& recv = received_[{value.node->id(), value.index, device}];
    if (!recv) recv = Transfer(home, device, {copy, value.index}, value.name(), Pivot(*value.node, device));
    return {recv, 0};
  }

  // What tells a Recv of this node's outputs on `device` that an iteration has begun. Nothing outside of loops.
  std::vector<Node*> Pivot(const Node& from, const std::string& device) const {
    const int frame = loops_.frames.OutputFrame(from);
    if (frame <= 0) return {};
    return {copies_[loops_.merges.at({frame, device})->id()]};
  }

  Node* ControlOn(const std::string& device, const Node& from) {
    Node* copy = copies_[from.id()];
    const std::string& home = from.assigned_device();
    if (InOnePart(home, device)) return copy;
    Node*& recv = received_[{from.id(), -1, device}];
    if (!recv) {
      Graph& part = *parts_[PartOf(home)];
      Node* token = part.AddNode({.op = "Const",
                                  .name = part.UniqueName(from.name() + "/_token"),
                                  .inputs = {},
                                  .control_inputs = {copy},
                                  .attrs = {{"value", Tensor(DT_FLOAT, Shape({0}))}, {"dtype", DT_FLOAT}},
                                  .device = home});
      token->set_assigned_device(home);
      recv = Transfer(home, device, {token, 0}, "^" + from.name(), Pivot(from, device));
    }
    return recv;
  }

  Node* Transfer(const std::string& from, const std::string& to, Endpoint value, const std::string& tensor_name,
                 const std::vector<Node*>& recv_controls) {
    const AttrMap attrs = {{"tensor_name", StrCat("edge_", serial_++, "_", tensor_name)},
                           {"send_device", from},
                           {"send_device_incarnation", static_cast<int64_t>(options_.incarnation(from))},
                           {"recv_device", to},
                           {"client_terminated", false}};
    AttrMap send = attrs, recv = attrs;
    send.Set("T", BaseType(value.type()));
    recv.Set("tensor_type", BaseType(value.type()));
    Graph& source = *parts_[PartOf(from)];
    Graph& target = *parts_[PartOf(to)];
    Node* sender = source.AddNode({.op = "_Send",
                                   .name = source.UniqueName(value.node->name() + "/_send"),
                                   .inputs = {value},
                                   .control_inputs = {},
                                   .attrs = std::move(send),
                                   .device = from});
    sender->set_assigned_device(from);
    Node* receiver = target.AddNode({.op = "_Recv",
                                     .name = target.UniqueName(value.node->name() + "/_recv"),
                                     .inputs = {},
                                     .control_inputs = recv_controls,
                                     .attrs = std::move(recv),
                                     .device = to});
    receiver->set_assigned_device(to);
    target.SetShape({receiver, 0}, value.shape());
    return receiver;
  }

  Graph& graph_;
  const PartitionOptions& options_;
  ControlLoops loops_;
  std::map<std::string, std::shared_ptr<Graph>> parts_;
  std::vector<Node*> copies_;
  std::map<std::tuple<int, int, std::string>, Node*> received_;
  int64_t serial_ = 0;
};

}  // namespace

std::map<std::string, std::shared_ptr<Graph>> Partition(Graph& graph, const PartitionOptions& options) {
  return Partitioner(graph, options).Run();
}

}  // namespace penstock
