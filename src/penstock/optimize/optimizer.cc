#include "penstock/optimize/optimizer.h"

#include <algorithm>
#include <cstdlib>

#include "penstock/base/log.h"
#include "penstock/optimize/passes.h"

namespace penstock {
namespace {

constexpr int kSmallestGraph = 4;  // nodes; below it nothing can be won

bool On(Toggle toggle) { return toggle != Toggle::kOff; }

// A list of names in the options replaces the toggles.
bool Wanted(const GraphRewriteOptions& rewrite, Toggle toggle, std::string_view name) {
  if (rewrite.optimizers.empty()) return On(toggle);
  for (const std::string& wanted : rewrite.optimizers) {
    if (wanted == name) return true;
  }
  return false;
}

}  // namespace

void Optimize(Graph& graph, const SessionOptions& options, NodeEvaluator evaluate) {
  const GraphOptions& o = options.graph;
  const GraphRewriteOptions& rewrite = o.rewrite;
  const int smallest = rewrite.min_graph_nodes == 0 ? kSmallestGraph : rewrite.min_graph_nodes;
  if (o.opt_level < 0 || rewrite.disable_meta_optimizer) return;
  // Passes gain nothing in small graphs, but a Python function without state is called once there too.
  const bool small = graph.num_nodes() < smallest;
  if (small && std::ranges::none_of(graph.Nodes(), [](const Node* node) { return IsPyFunction(*node); })) return;

  bool verify = std::getenv("PENSTOCK_VERIFY_GRAPH") != nullptr;
  if (verify) {
    try {
      VerifyGraph(graph);
    } catch (const Error&) {
      verify = false;  // it came so; compiling it will say what is wrong
    }
  }
  const auto run = [&](Toggle toggle, std::string_view name, auto pass) {
    if (!Wanted(rewrite, toggle, name)) return;
    const int before = graph.num_nodes();
    pass();
    Log(LogSubject::kOptimize, name, ": ", before, " nodes became ", graph.num_nodes());
    if (!verify) return;
    try {
      VerifyGraph(graph);
    } catch (const Error& e) {
      throw Internal("after the pass '", name, "': ", e.what());
    }
  };
  run(rewrite.constant_folding, "constfold", [&] { FoldConstants(graph, evaluate); });
  if (small) return;
  run(rewrite.common_subgraph_elimination, "cse", [&] { MergeCommonSubexpressions(graph); });
  run(rewrite.dependency, "dependency", [&] { RelaxOrder(graph); });
  run(rewrite.arithmetic, "arithmetic", [&] { SimplifyArithmetic(graph); });
  run(rewrite.remapping, "remap", [&] {
    FoldBatchNormalization(graph);
    NarrowProducts(graph);
    FuseProducts(graph);
    AccumulateProducts(graph);
    DelayProducts(graph);
  });
  run(rewrite.dependency, "dependency", [&] { PruneDependencies(graph); });
  run(rewrite.remapping, "remap", [&] {
    JoinSelections(graph);
    FuseRows(graph);
    FuseElementwise(graph);
  });
}

void VerifyGraph(const Graph& graph) {
  std::vector<int> waiting(graph.num_ids());
  std::vector<const Node*> ready;
  const std::vector<Node*> nodes = graph.Nodes();
  const auto back = [](const Node* from, const Node* to) {
    return from->traits().flow == Flow::kNextIteration && to->traits().flow == Flow::kMerge;
  };
  for (const Node* node : nodes) {
    int& count = waiting[node->id()];
    for (int i = 0; i < node->num_inputs(); ++i) {
      const Endpoint from = node->input(i);
      if (graph.node(from.node->id()) != from.node)
        throw Internal("input ", i, " of ", node->name(), " is not in the graph");
      if (from.index >= from.node->num_outputs()) throw Internal("input ", i, " of ", node->name(), " does not exist");
      if (BaseType(from.type()) != BaseType(node->input_type(i)))
        throw Internal("type of input ", i, " of ", node->name());
      count += !back(from.node, node);
    }
    for (const Node* control : node->control_inputs()) {
      if (graph.node(control->id()) != control)
        throw Internal("a control input of ", node->name(), " is not in the graph");
    }
    count += static_cast<int>(node->control_inputs().size());
    if (count == 0) ready.push_back(node);
  }
  size_t seen = 0;
  while (!ready.empty()) {
    const Node* node = ready.back();
    ready.pop_back();
    ++seen;
    for (const Consumer& consumer : node->consumers()) {
      if (consumer.input >= 0 && back(node, consumer.node)) continue;
      if (--waiting[consumer.node->id()] == 0) ready.push_back(consumer.node);
    }
  }
  if (seen != nodes.size()) throw Internal(nodes.size() - seen, " nodes are in or behind a cycle");
}

}  // namespace penstock
