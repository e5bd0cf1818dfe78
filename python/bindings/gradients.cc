// Graph.gradients: differentiation, with gradient functions that live in Python.
#include <nanobind/stl/string.h>

#include <map>
#include <optional>
#include <set>
#include "bindings.h"

#include "penstock/graph/gradient.h"
#include "penstock/graph/split_gradient.h"

namespace penstock::python {
namespace {

nb::object ToPython(const GradEndpoint& g) {
  if (g.none()) return nb::none();
  if (!g.sparse()) return ToTuple(g.dense);
  nb::object shape = g.dense_shape ? nb::object(ToTuple(g.dense_shape)) : nb::object(nb::none());
  return nb::make_tuple(ToTuple(g.values), ToTuple(g.indices), shape);
}

GradEndpoint FromPython(const PyGraph& graph, nb::handle h) {
  GradEndpoint g;
  if (h.is_none()) return g;
  if (nb::len(h) == 2 && PyLong_Check(nb::handle(h[0]).ptr())) {
    g.dense = graph.At(h);
    return g;
  }
  g.values = graph.At(nb::handle(h[0]));
  g.indices = graph.At(nb::handle(h[1]));
  if (!nb::handle(h[2]).is_none()) g.dense_shape = graph.At(nb::handle(h[2]));
  return g;
}

nb::list Gradients(PyGraph& self, nb::handle ys, nb::handle xs, nb::handle grad_ys, nb::handle stop_gradients,
                   const std::string& name_scope, bool zero_unconnected, bool colocate, int gate, int aggregation,
                   nb::object python_gradient, nb::handle python_ops, nb::dict override_map, nb::object visits,
                   int inside, nb::handle loops_without_gradient, nb::object forward) {
  GradientOptions options;
  ForwardChanges changes;
  options.forward = &changes;
  options.name_scope = name_scope;
  options.zero_unconnected = zero_unconnected;
  options.colocate = colocate;
  options.gate = static_cast<GradientOptions::Gate>(gate);
  options.aggregation = aggregation;
  options.stop_gradients = Endpoints(self, stop_gradients);
  if (inside >= 0) options.inside = self.graph->node(inside);
  for (nb::handle loop : loops_without_gradient) options.loops_without_gradient.insert(nb::cast<std::string>(loop));
  std::set<std::string> ops;
  for (nb::handle op : python_ops) ops.insert(nb::cast<std::string>(op));
  std::map<std::string, std::string> overrides;
  for (auto [key, value] : override_map) overrides[nb::cast<std::string>(key)] = nb::cast<std::string>(value);
  std::vector<std::pair<int, int>> visited;
  options.has_override = [&](const Node& node) {
    visited.emplace_back(self.graph->num_ids(), node.id());
    if (node.attrs().Find("_gradient_op_type")) return true;
    return overrides.contains(node.op_name()) || ops.contains(node.op_name());
  };
  size_t told[] = {0, 0};
  const auto tell = [&] {
    if (!visits.is_none()) {
      for (const auto& [ids, node] : visited) visits.attr("append")(nb::make_tuple(ids, node));
    }
    visited.clear();
    if (forward.is_none()) return;
    for (; told[0] < changes.added.size(); ++told[0]) nb::handle(forward[0]).attr("append")(changes.added[told[0]]);
    for (; told[1] < changes.lowered.size(); ++told[1]) nb::handle(forward[1]).attr("append")(changes.lowered[told[1]]);
  };
  std::optional<GraphLock> lock;  // given back while Python works
  options.override_gradient = [&](Node* node, const std::vector<GradEndpoint>& dys, const GradientLoop& loop) {
    const GraphLock::Released released(*lock);
    tell();
    nb::list args;
    for (const GradEndpoint& dy : dys) args.append(ToPython(dy));
    nb::object place = nb::none();
    if (loop.pivot) {
      const auto inside = [&](nb::handle value) {
        const Endpoint end = self.At(value);
        return ToTuple(Changing(self, [&](Graph&) { return loop.inside(end); }));
      };
      place = nb::make_tuple(loop.pivot->id(), nb::cpp_function(inside));
    }
    nb::object result = python_gradient(node->id(), args, place);
    std::vector<GradEndpoint> dxs;
    if (result.is_none()) return dxs;
    for (nb::handle item : result) dxs.push_back(FromPython(self, item));
    return dxs;
  };
  std::vector<GradEndpoint> given;
  for (nb::handle g : grad_ys) given.push_back(FromPython(self, g));
  const std::vector<Endpoint> of = Endpoints(self, ys), by = Endpoints(self, xs);
  std::vector<GradEndpoint> made;
  try {
    lock.emplace(*self.graph);
    made = AddGradients(*self.graph, of, by, given, options);
    lock.reset();
  } catch (const Error& e) {
    lock.reset();
    tell();
    if (e.code() == Code::kNotFound) {
      PyErr_SetString(PyExc_LookupError, e.what());
      throw nb::python_error();
    }
    Raise(e.status());
  }
  tell();
  nb::list out;
  for (const GradEndpoint& g : made) out.append(ToPython(g));
  return out;
}

nb::tuple CarriedOutOfBranches(PyGraph& self, nb::handle backward) {
  std::vector<Node*> nodes;
  for (nb::handle id : backward) nodes.push_back(self.graph->node(nb::cast<int>(id)));
  const CarriedOut added = Changing(self, [&](Graph& graph) { return CarryOutOfBranches(graph, nodes); });
  nb::list forward_ids, backward_ids;
  for (const Node* node : added.forward) forward_ids.append(node->id());
  for (const Node* node : added.backward) backward_ids.append(node->id());
  return nb::make_tuple(forward_ids, backward_ids);
}

}  // namespace

void BindGradients(nb::class_<PyGraph>& graph) {
  graph.def("carry_out_of_branches", &CarriedOutOfBranches, nb::arg("backward"));
  graph.def("gradients", &Gradients, nb::arg("ys"), nb::arg("xs"), nb::arg("grad_ys"), nb::kw_only(),
            nb::arg("stop_gradients") = nb::tuple(), nb::arg("name_scope") = "gradients/",
            nb::arg("zero_unconnected") = false, nb::arg("colocate") = false, nb::arg("gate") = 0,
            nb::arg("aggregation") = 0, nb::arg("python_gradient") = nb::none(), nb::arg("python_ops") = nb::tuple(),
            nb::arg("override_map") = nb::dict(), nb::arg("visits").none() = nb::none(), nb::arg("inside") = -1,
            nb::arg("loops_without_gradient") = nb::tuple(), nb::arg("forward").none() = nb::none());
}

}  // namespace penstock::python
