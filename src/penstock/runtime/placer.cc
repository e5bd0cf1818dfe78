#include "penstock/runtime/placer.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

namespace penstock {
namespace {

// Groups of nodes that must share a device, as a forest.
class Groups {
 public:
  explicit Groups(int n) : parent_(n), wish_(n), node_(n, nullptr) { std::iota(parent_.begin(), parent_.end(), 0); }
  int Find(int i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  DeviceName& wish(int i) { return wish_[Find(i)]; }
  void SetWish(const Node& node, DeviceName wish) {
    wish_[node.id()] = std::move(wish);
    node_[node.id()] = &node;
  }
  void Join(const Node& a, const Node& b, bool soft) {
    const int x = Find(a.id()), y = Find(b.id());
    if (x == y) return;
    try {
      wish_[x].MergeFrom(wish_[y], soft);
    } catch (const Error& e) {
      throw InvalidArgument("Cannot colocate nodes {{colocation_node ", a.name(), "}} and {{colocation_node ", b.name(),
                            "}} because no device type supports both of those nodes and the other nodes colocated with them, or "
                            "their devices contradict each other: ",
                            e.what(), "\n\t [[{{node ", a.name(), "}}]]");
    }
    parent_[y] = x;
  }

 private:
  std::vector<int> parent_;
  std::vector<DeviceName> wish_;
  std::vector<const Node*> node_;
};

}  // namespace

void Place(Graph& graph, const std::vector<Device*>& devices, const PlacementOptions& options) {
  const std::vector<Node*> nodes = graph.Nodes();
  Groups groups(graph.num_ids());
  for (const Node* node : nodes) {
    DeviceName wish;
    if (!DeviceName::TryParse(node->device(), &wish)) {
      throw InvalidArgument("Malformed device specification '", node->device(), "' in node: {{node ", node->name(), "}}");
    }
    groups.SetWish(*node, wish);
  }
  for (const Node* node : nodes) {
    for (const std::string& other : node->ColocationGroups()) {
      const Node* with = graph.FindNode(other);
      if (with && with != node) groups.Join(*with, *node, options.allow_soft_placement);
    }
    // A reference lives where its variable lives.
    for (int i = 0; i < node->num_inputs(); ++i) {
      const bool handle = node->input(i).type() == DT_RESOURCE && node->traits().flow == Flow::kNone;
      if (IsRef(node->input_type(i)) || handle) groups.Join(*node->input(i).node, *node, options.allow_soft_placement);
    }
  }
  std::unordered_map<int, Device*> chosen;
  for (Node* node : nodes) {
    const int group = groups.Find(node->id());
    auto [it, fresh] = chosen.try_emplace(group, nullptr);
    if (fresh) {
      const DeviceName& wish = groups.wish(group);
      const auto fits = [&](const Device* device) { return wish.Matches(device->parsed_name()); };
      auto device = std::ranges::find_if(devices, fits);
      if (device == devices.end() && options.allow_soft_placement) {
        // The nearest that exists: of the wished type if there is one, else any.
        DeviceName type_only;
        type_only.type = wish.type;
        type_only.has_type = wish.has_type;
        device = std::ranges::find_if(devices, [&](const Device* d) { return type_only.Matches(d->parsed_name()); });
        if (device == devices.end()) device = devices.begin();
      }
      if (device == devices.end()) {
        std::vector<std::string> names;
        for (const Device* d : devices) names.push_back(d->name());
        throw InvalidArgument("Cannot assign a device for operation ", node->name(), ": {{node ", node->name(),
                              "}} was explicitly assigned to ", node->device(), " but available devices are [ ",
                              StrJoin(names, ", "), " ]. Make sure the device specification refers to a valid device.\n\t [[{{node ",
                              node->name(), "}}]]");
      }
      it->second = *device;
    }
    node->set_assigned_device(it->second->name());
    if (options.log_device_placement) {
      std::fprintf(stderr, "%s: (%s): %s\n", node->name().c_str(), node->op_name().c_str(), it->second->name().c_str());
    }
  }
}

}  // namespace penstock
