// GraphDefs in and out, functions.
#include <nanobind/stl/string.h>

#include <optional>

#include "bindings.h"
#include "penstock/graph/export.h"
#include "penstock/graph/function.h"
#include "penstock/graph/function_shapes.h"
#include "penstock/graph/import.h"
#include "penstock/io/convert.h"

namespace penstock::python {
namespace {

std::string_view View(const nb::bytes& b) { return {b.c_str(), b.size()}; }

std::vector<std::string> Strings(nb::handle list) {
  std::vector<std::string> out;
  for (nb::handle item : list) out.push_back(nb::cast<std::string>(item));
  return out;
}

std::vector<Node*> Nodes(const PyGraph& graph, nb::handle list) {
  std::vector<Node*> out;
  for (nb::handle item : list) out.push_back(graph.At(nb::cast<int>(item)));
  return out;
}

nb::list Ids(const std::vector<Node*>& nodes) {
  nb::list out;
  for (const Node* node : nodes) out.append(node->id());
  return out;
}

nb::tuple ImportGraph(PyGraph& self, const nb::bytes& graph_def, const std::string& prefix, nb::dict input_map,
                      nb::dict control_input_map, nb::handle return_tensors, nb::handle return_ops,
                      nb::object device_function, bool uniquify_prefix, bool validate_colocation,
                      nb::handle control_inputs) {
  ImportOptions options;
  options.prefix = prefix;
  options.uniquify_prefix = uniquify_prefix;
  options.validate_colocation = validate_colocation;
  for (auto [key, value] : input_map) options.input_map[nb::cast<std::string>(key)] = self.At(value);
  for (auto [key, value] : control_input_map) {
    options.control_input_map[nb::cast<std::string>(key)] = self.At(nb::cast<int>(value));
  }
  options.return_tensors = Strings(return_tensors);
  options.return_ops = Strings(return_ops);
  options.control_inputs = Nodes(self, control_inputs);
  GraphDef def = Unlocked(graph_def.size(), [bytes = View(graph_def)] { return ParseGraphDef(bytes); });
  const ImportResults results =
      Changing(self, [&](Graph& graph) { return ImportGraphDef(std::move(def), options, &graph); });
  if (!device_function.is_none()) {  // without the lock: it is the caller's code
    for (Node* node : results.nodes) {
      const nb::object device = device_function(ToBytes(SerializeNodeDef(ToNodeDef(*node))));
      Changing(self, [&](Graph&) { node->set_device(nb::cast<std::string>(device)); });
    }
  }
  nb::list tensors, unused, incomplete;
  for (const Endpoint& tensor : results.return_tensors) tensors.append(ToTuple(tensor));
  for (const std::string& key : results.unused_input_map_keys) unused.append(nb::str(key.c_str(), key.size()));
  for (const int node : results.incomplete) incomplete.append(node);
  return nb::make_tuple(incomplete, tensors, Ids(results.return_ops), unused);
}

nb::object ToFunction(PyGraph& self, const std::string& name, nb::object nodes, nb::handle inputs, nb::handle outputs,
                      nb::handle output_names, nb::handle control_outputs, nb::dict attrs,
                      const std::string& description, bool append_hash) {
  FunctionSpec spec;
  spec.name = name;
  spec.append_hash = append_hash;
  spec.description = description;
  if (!nodes.is_none()) spec.nodes = Nodes(self, nodes);
  spec.inputs = Endpoints(self, inputs);
  spec.outputs = Endpoints(self, outputs);
  spec.output_names = Strings(output_names);
  spec.control_outputs = Nodes(self, control_outputs);
  return Guard([&] {
    for (auto [key, value] : attrs) {
      spec.attrs.Set(nb::cast<std::string>(key), ParseAttrValue(View(nb::cast<nb::bytes>(value))));
    }
    const GraphLock lock(*self.graph);
    return ToBytes(SerializeFunctionDef(*GraphToFunction(*self.graph, spec)));
  });
}

void AddFunction(PyGraph& self, const nb::bytes& function_def, const std::string& gradient) {
  Guard([&] {
    std::shared_ptr<FunctionDef> function = ParseFunctionDef(View(function_def));
    const std::string name = function->signature.name;
    Graph& graph = *self.graph;
    if (graph.ops().Find(name)) {
      throw InvalidArgument("Cannot add function '", name, "' because an op with the same name already exists.");
    }
    const GraphLock lock(graph);
    FunctionLibraryPtr library = graph.library()->With(std::move(function));
    if (!gradient.empty()) library = library->WithGradient(name, gradient);
    graph.set_library(std::move(library));
  });
}

}  // namespace

void BindGraphIo(nb::class_<PyGraph>& graph) {
  graph
      .def(
          "node_def",
          [](const PyGraph& g, int id) {
            return Guard([&] { return ToBytes(SerializeNodeDef(ToNodeDef(*g.At(id), g.graph->versions().producer))); });
          })
      .def(
          "graph_def",
          [](const PyGraph& g, int from_node, bool add_shapes) {
            return Guard([&] {
              GraphDef def;
              {
                const GraphLock lock(*g.graph);
                def = ToGraphDef(*g.graph, from_node, add_shapes);
              }
              return ToBytes(Waiting([&] { return SerializeGraphDef(def); }));
            });
          },
          nb::arg("from_node") = 0, nb::arg("add_shapes") = false)
      .def("import_graph_def", &ImportGraph, nb::arg("graph_def"), nb::arg("prefix"), nb::arg("input_map"),
           nb::arg("control_input_map"), nb::arg("return_tensors"), nb::arg("return_ops"),
           nb::arg("device_function").none() = nb::none(), nb::arg("uniquify_prefix") = true,
           nb::arg("validate_colocation") = true, nb::arg("control_inputs") = nb::tuple())
      .def("function_names",
           [](const PyGraph& g) {
             nb::list names;
             for (const std::string& name : g.graph->library()->Names()) names.append(nb::str(name.c_str()));
             return names;
           })
      .def("has_function",
           [](const PyGraph& g, const std::string& name) { return g.graph->library()->Find(name) != nullptr; })
      .def("function_def",
           [](const PyGraph& g, const std::string& name) {
             return Guard([&] {
               const auto function = g.graph->library()->FindShared(name);
               if (!function) throw NotFound("Function '", name, "' is not in the graph");
               return ToBytes(SerializeFunctionDef(*function));
             });
           })
      .def("use_functions_of",
           [](PyGraph& g, const PyGraph& other) {
             FunctionLibraryPtr library;
             {
               const GraphLock lock(*other.graph);
               library = other.graph->library();
             }
             Changing(g, [&](Graph& graph) { graph.set_library(std::move(library)); });
           })
      .def("instantiate",
           [](const PyGraph& g, const std::string& name) {
             return Guard([&] {
               const FunctionLibraryPtr library = g.graph->library();
               const FunctionDef* function = library->Find(name);
               if (!function) throw NotFound("Function '", name, "' is not in the graph");
               FunctionBody body = Instantiate(*function, {}, library);
               nb::list args, rets;
               for (const Node* arg : body.args) args.append(arg->id());
               for (const Node* ret : body.rets) rets.append(ret->id());
               return nb::make_tuple(PyGraph{body.graph}, args, rets, Ids(body.control_rets));
             });
           })
      .def(
          "function_shapes",
          [](const PyGraph& g, const std::string& name, nb::handle shapes, nb::handle values) {
            std::vector<KnownArgument> args;
            for (nb::handle shape : shapes) args.push_back({ShapeFromPython(shape), std::nullopt});
            size_t i = 0;
            for (nb::handle value : values) {
              if (i < args.size() && !value.is_none()) args[i].value = TensorFromHandle(value);
              ++i;
            }
            return Guard([&] {
              nb::list out;
              for (const PartialShape& shape : ResultShapes(g.graph->library(), {name, {}}, args)) {
                out.append(ShapeToPython(shape));
              }
              return out;
            });
          },
          nb::arg("name"), nb::arg("shapes"), nb::arg("values") = nb::tuple())
      .def("add_function", &AddFunction, nb::arg("function_def"), nb::arg("gradient") = "")
      .def("remove_function",
           [](PyGraph& g, const std::string& name) {
             Changing(g, [&](Graph& graph) {
               if (!graph.library()->Find(name)) throw NotFound("Function '", name, "' is not in the graph");
               graph.set_library(graph.library()->Without(name));
             });
           })
      .def("to_function", &ToFunction, nb::arg("name"), nb::arg("nodes").none(), nb::arg("inputs"), nb::arg("outputs"),
           nb::arg("output_names") = nb::tuple(), nb::arg("control_outputs") = nb::tuple(),
           nb::arg("attrs") = nb::dict(), nb::arg("description") = "", nb::arg("append_hash") = false);
}

}  // namespace penstock::python
