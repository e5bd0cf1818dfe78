#include "penstock/runtime/placer.h"

#include <algorithm>
#include <cstdio>
#include <numeric>

#include "penstock/base/branches.h"
#include "penstock/base/log.h"
#include "penstock/runtime/balance.h"

namespace penstock {
namespace {

constinit BranchTable<3> choices{"placer/device", {"wished", "another of its type", "any"}};
constinit BranchTable<3> spreads{"placer/spread", {"one device", "loops", "balanced"}};

constexpr int64_t kTransferLatency =
    5'000;  // nanoseconds: a message through the rendezvous and another thread's waking
constexpr int64_t kBytesPerNano = 8;

// Groups of nodes that must share a device, as a forest.
class Groups {
 public:
  explicit Groups(int n) : parent_(n), wish_(n) { std::iota(parent_.begin(), parent_.end(), 0); }
  int Find(int i) {
    while (parent_[i] != i) i = parent_[i] = parent_[parent_[i]];
    return i;
  }
  DeviceName& wish(int i) { return wish_[Find(i)]; }
  void Join(const Node& a, const Node& b, bool soft) {
    const int x = Find(a.id()), y = Find(b.id());
    if (x == y) return;
    try {
      wish_[x].MergeFrom(wish_[y], soft);
    } catch (const Error& e) {
      throw InvalidArgument(
          "Cannot colocate nodes {{colocation_node ", a.name(), "}} and {{colocation_node ", b.name(),
          "}} because no device type supports both of those nodes and the other nodes colocated with them, or "
          "their devices contradict each other: ",
          e.what(), "\n\t [[{{node ", a.name(), "}}]]");
    }
    parent_[y] = x;
  }
  // The same for what uses what another node holds: its group gives way where their devices contradict each other.
  void JoinHolder(const Node& holder, const Node& user) {
    DeviceName& wish = wish_[Find(user.id())];
    try {
      DeviceName(wish).MergeFrom(wish_[Find(holder.id())]);
    } catch (const Error&) {
      wish = wish_[Find(holder.id())];
    }
    Join(holder, user, false);
  }

 private:
  std::vector<int> parent_;
  std::vector<DeviceName> wish_;
};

class Placer {
 public:
  Placer(Graph& graph, const std::vector<Device*>& devices, const PlacementOptions& options)
      : graph_(graph), devices_(devices), options_(options), nodes_(graph.Nodes()), groups_(graph.num_ids()) {}

  void Run() {
    ReadWishes();
    Colocate();
    for (Node* node : nodes_) members_[groups_.Find(node->id())].push_back(node);
    for (const Node* node : nodes_) {
      const int group = groups_.Find(node->id());
      if (!chosen_.contains(group)) chosen_[group] = Choose(*node, group);
    }
    if (options_.spread) Spread();
    for (Node* node : nodes_) {
      const Device& device = *chosen_[groups_.Find(node->id())];
      node->set_assigned_device(device.name());
      if (options_.log_device_placement) {
        std::fprintf(stderr, "%s: (%s): %s\n", node->name().c_str(), node->op_name().c_str(), device.name().c_str());
      }
    }
  }

 private:
  void ReadWishes() {
    for (const Node* node : nodes_) {
      if (!DeviceName::TryParse(node->device(), &groups_.wish(node->id()))) {
        throw InvalidArgument("Malformed device specification '", node->device(), "' in node: {{node ", node->name(),
                              "}}");
      }
    }
  }

  void Colocate() {
    // A group may be named after a node that is not in this step.
    std::unordered_map<std::string, const Node*> by_group;
    for (const Node* node : nodes_) {
      for (const std::string& name : node->ColocationGroups()) {
        auto [it, fresh] = by_group.try_emplace(name, nullptr);
        if (fresh) it->second = graph_.FindNode(name) ? graph_.FindNode(name) : node;
        if (it->second != node) groups_.Join(*it->second, *node, options_.allow_soft_placement);
      }
      // A reference lives where its variable lives, and a resource where it was made: a function that takes resources
      // of several devices runs on any.
      const bool apart = TakesResourcesOfSeveralDevices(*node);
      for (int i = 0; i < node->num_inputs(); ++i) {
        const bool handle = node->input(i).type() == DT_RESOURCE && node->traits().flow == Flow::kNone;
        if (IsRef(node->input_type(i)) || (handle && !apart)) groups_.JoinHolder(*node->input(i).node, *node);
      }
    }
  }

  bool TakesResourcesOfSeveralDevices(const Node& node) {
    const Node* first = nullptr;
    for (const Endpoint& input : node.inputs()) {
      if (input.type() != DT_RESOURCE) continue;
      if (!first) first = input.node;
      if (groups_.wish(input.node->id()).ToString() != groups_.wish(first->id()).ToString()) return true;
    }
    return false;
  }

  bool Supports(const Device& device, const Node& node) const {
    if (!options_.kernels || !options_.kernels->HasKernel(node.op_name()))
      return true;  // functions; others fail when they run
    if (options_.kernels->Find(device.type(), node.op(), node.attrs())) return true;
    // A kernel that exists nowhere is the compiler's error to report, with the list of those that do.
    return options_.kernels->DevicesFor(node.op(), node.attrs()).empty();
  }
  bool Supports(const Device& device, int group) {
    return std::ranges::all_of(members_[group], [&](const Node* node) { return Supports(device, *node); });
  }

  Device* Choose(const Node& node, int group) {
    const DeviceName& wish = groups_.wish(group);
    const auto first = [&](auto fits) -> Device* {
      const auto it = std::ranges::find_if(devices_, fits);
      return it == devices_.end() ? nullptr : *it;
    };
    bool exists = false;
    Device* device = first([&](const Device* d) {
      const bool matches = wish.Matches(d->parsed_name());
      exists |= matches;
      return matches && Supports(*d, group);
    });
    if (device) return choices.Enter(0), device;
    if (options_.allow_soft_placement) {
      // The nearest that exists: of the wished type if there is one, else any.
      DeviceName type_only;
      type_only.type = wish.type;
      type_only.has_type = wish.has_type;
      device = first([&](const Device* d) { return type_only.Matches(d->parsed_name()) && Supports(*d, group); });
      if (device) return choices.Enter(1), device;
      device = first([&](const Device* d) { return Supports(*d, group); });
      if (device) return choices.Enter(2), device;
    }
    throw InvalidArgument("Cannot assign a device for operation ", node.name(), ": ",
                          exists ? WhyNoKernel(group) : WhyNoDevice(node, wish), "\n\t [[{{node ", node.name(), "}}]]");
  }

  std::string WhyNoDevice(const Node& node, const DeviceName& wish) const {
    std::vector<std::string> names;
    for (const Device* d : devices_) names.push_back(d->name());
    std::ranges::sort(names);
    DeviceName own;
    DeviceName::TryParse(node.device(), &own);
    const bool by_others =
        std::ranges::any_of(devices_, [&](const Device* d) { return own.Matches(d->parsed_name()); });
    if (by_others) {
      return StrCat("Could not satisfy explicit device specification '", node.device(),
                    "' because the node {{colocation_node ", node.name(),
                    "}} was colocated with a group of nodes that required incompatible device '", wish.ToString(),
                    "'. All available devices [", StrJoin(names, ", "), "].");
    }
    return StrCat("{{node ", node.name(), "}} was explicitly assigned to ", node.device(),
                  " but available devices are [ ", StrJoin(names, ", "),
                  " ]. Make sure the device specification refers to a valid device.");
  }

  std::string WhyNoKernel(int group) {
    const DeviceName& wish = groups_.wish(group);
    for (const Node* node : members_[group]) {
      for (const Device* d : devices_) {
        if (!wish.Matches(d->parsed_name()) || Supports(*d, *node)) continue;
        return StrCat("Could not satisfy explicit device specification '", wish.ToString(),
                      "' because no supported kernel for ", d->type(), " devices is available for {{node ",
                      node->name(), "}}.\nOp: ", node->op_name(), "\nRegistered kernels:\n",
                      options_.kernels->DescribeKernels(node->op_name()));
      }
    }
    return "no device runs all of the nodes that are colocated with it";
  }

  // Free groups are pieces of work for the devices of the first one's type. Nodes that cost nothing stay with what they
  // read.
  void Spread() {
    std::vector<Device*> equals;
    for (Device* d : devices_) {
      if (d->type() == devices_[0]->type()) equals.push_back(d);
    }
    if (equals.size() < 2) return spreads.Enter(0);
    // Frames stay together: a loop that is cut pays for each iteration.
    const bool loops = std::ranges::any_of(nodes_, [](const Node* n) { return n->traits().flow == Flow::kEnter; });
    if (loops) return spreads.Enter(1);
    std::unordered_map<int, int> piece_of;
    std::vector<int> group_of;
    std::vector<Work> work;
    for (const Node* node : nodes_) {
      const int group = groups_.Find(node->id());
      auto [it, fresh] = piece_of.try_emplace(group, static_cast<int>(work.size()));
      if (fresh) {
        Work& piece = work.emplace_back();
        group_of.push_back(group);
        const DeviceName& wish = groups_.wish(group);
        const bool fixed = wish.has_job || wish.has_replica || wish.has_task || wish.has_type || wish.has_id;
        const bool pinned = std::ranges::any_of(members_[group], [](const Node* n) {
          return n->traits().stateful || n->traits().flow != Flow::kNone;  // state stays where it was the last time
        });
        if (fixed || pinned) {
          const auto at = std::ranges::find(equals, chosen_[group]);
          if (at == equals.end()) return;  // other kinds of devices take part: leave it to the program
          piece.device = static_cast<int>(at - equals.begin());
        }
      }
      work[it->second].cost_ns += CostOf(*node);
    }
    for (const Node* node : nodes_) {
      const int to = piece_of[groups_.Find(node->id())];
      const auto add = [&](const Node& from, int64_t bytes) {
        const int source = piece_of[groups_.Find(from.id())];
        if (source != to) work[to].inputs.emplace_back(source, kTransferLatency + bytes / kBytesPerNano);
      };
      for (const Endpoint& input : node->inputs()) add(*input.node, EstimateBytes(input));
      for (const Node* control : node->control_inputs()) add(*control, 0);
    }
    spreads.Enter(2);
    const std::vector<int> assignment = Balance(work, static_cast<int>(equals.size()));
    for (size_t i = 0; i < work.size(); ++i) chosen_[group_of[i]] = equals[assignment[i]];
  }

  int64_t CostOf(const Node& node) const {
    if (options_.costs) {
      const auto it = options_.costs->find(node.name());
      if (it != options_.costs->end()) return it->second;
    }
    return EstimateCost(node);
  }

  Graph& graph_;
  const std::vector<Device*>& devices_;
  const PlacementOptions& options_;
  const std::vector<Node*> nodes_;
  Groups groups_;
  std::unordered_map<int, std::vector<const Node*>> members_;  // by group
  std::unordered_map<int, Device*> chosen_;                    // by group
};

}  // namespace

void Place(Graph& graph, const std::vector<Device*>& devices, const PlacementOptions& options) {
  if (devices.empty()) throw FailedPrecondition("No devices are registered");
  Placer(graph, devices, options).Run();
  if (!LogOn(LogSubject::kPlacer)) return;
  for (const Node* node : graph.Nodes()) {
    Log(LogSubject::kPlacer, node->name(), " (", node->op().name, ") on ", node->assigned_device());
  }
}

}  // namespace penstock
