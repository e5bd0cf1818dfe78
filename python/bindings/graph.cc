// The class _core.Graph: nodes and edges by id.
#include <nanobind/stl/string.h>

#include <map>
#include <unordered_map>

#include "bindings.h"
#include "penstock/graph/graph.h"
#include "penstock/io/convert.h"

namespace penstock::python {
namespace {

const OpDef* FindOp(const Graph& graph, const std::string& op, std::shared_ptr<const FunctionDef>* keep) {
  if (const OpDef* def = graph.ops().Find(op)) return def;
  *keep = graph.library()->FindShared(op);
  return *keep ? &(*keep)->signature : nullptr;
}

// (node, output), as opposed to a list of such pairs.
bool IsEndpoint(nb::handle h) {
  return PyTuple_Check(h.ptr()) && nb::len(h) == 2 && PyLong_Check(nb::handle(h[0]).ptr());
}

int AddNode(PyGraph& self, const std::string& op, const std::string& name, nb::handle inputs, nb::handle control_inputs,
            nb::dict attrs, const std::string& device, nb::handle colocate) {
  Graph& graph = *self.graph;
  NodeSpec spec;
  spec.op = op;
  spec.name = name;
  spec.device = device;
  std::shared_ptr<const FunctionDef> keep;
  const OpDef* def = FindOp(graph, op, &keep);
  if (!def) Raise(Status(Code::kNotFound, StrCat("Op type not registered '", op, "'"), name));
  for (auto [key, value] : attrs) {
    const std::string attr = nb::cast<std::string>(key);
    const AttrDef* attr_def = def->FindAttr(attr);
    spec.attrs.Set(attr, AttrFromPython(value, attr_def ? attr_def->kind : ""));
  }
  size_t arg = 0;
  for (nb::handle input : inputs) {
    if (IsEndpoint(input)) {
      spec.inputs.push_back(self.At(input));
    } else {
      std::vector<DataType> types;
      for (nb::handle item : input) {
        spec.inputs.push_back(self.At(item));
        types.push_back(BaseType(spec.inputs.back().type()));
      }
      if (arg < def->inputs.size()) {
        const ArgDef& arg_def = def->inputs[arg];
        if (!arg_def.number_attr.empty() && !spec.attrs.Find(arg_def.number_attr)) {
          spec.attrs.Set(arg_def.number_attr, static_cast<int64_t>(types.size()));
        }
        if (!arg_def.type_list_attr.empty() && !spec.attrs.Find(arg_def.type_list_attr)) {
          spec.attrs.Set(arg_def.type_list_attr, types);
        }
      }
    }
    ++arg;
  }
  for (nb::handle control : control_inputs) spec.control_inputs.push_back(self.At(nb::cast<int>(control)));
  std::vector<std::string> groups;
  for (nb::handle group : colocate) {
    std::string text = nb::cast<std::string>(group);
    groups.push_back(text.starts_with("loc:@") ? text : "loc:@" + text);
  }
  if (!groups.empty()) spec.attrs.Set("_class", groups);
  return Changing(self, [&](Graph& changed) { return changed.AddNode(std::move(spec))->id(); });
}

nb::list Handles(const std::vector<DtypeAndShape>& data) {
  nb::list out;
  for (const DtypeAndShape& d : data) out.append(nb::make_tuple(static_cast<int>(d.dtype), ShapeToPython(d.shape)));
  return out;
}

// The types of a node's outputs, as a tuple, which may be that of an earlier node.
nb::object Types(const Node& node, std::map<std::vector<DataType>, nb::object>* known) {
  nb::object& found = (*known)[node.output_types()];
  if (!found.is_valid()) {
    nb::list types;
    for (const DataType t : node.output_types()) types.append(static_cast<int>(t));
    found = nb::tuple(types);
  }
  return found;
}

// Three lists, of the names, the ops and the output types of all nodes from this id on.
nb::tuple NodesFrom(const PyGraph& g, int first) {
  nb::list names, ops, types;
  std::unordered_map<const OpDef*, nb::object> op_names;
  std::map<std::vector<DataType>, nb::object> tuples;
  for (int id = first; id < g.graph->num_ids(); ++id) {
    const Node& node = *g.At(id);
    nb::object& op = op_names[&node.op()];
    if (!op.is_valid()) op = nb::str(node.op_name().c_str(), node.op_name().size());
    names.append(nb::str(node.name().c_str(), node.name().size()));
    ops.append(op);
    types.append(Types(node, &tuples));
  }
  return nb::make_tuple(names, ops, types);
}

// The ids, from `first` on, of nodes that are colocated with others.
nb::list ColocatedFrom(const PyGraph& g, int first) {
  nb::list out;
  for (int id = first; id < g.graph->num_ids(); ++id) {
    const std::vector<std::string> groups = g.At(id)->ColocationGroups();
    if (!groups.empty() && !(groups.size() == 1 && groups[0] == g.At(id)->name())) out.append(id);
  }
  return out;
}

// Gives each of these nodes the device of the first of its colocation groups that has one, or none; a device of its own
// does not count. Returns the ids of those that have one now.
nb::list FollowColocation(PyGraph& g, nb::list nodes) {
  std::vector<Node*> followers;
  for (nb::handle id : nodes) followers.push_back(g.At(nb::cast<int>(id)));
  std::vector<int> placed;
  Changing(g, [&](Graph& graph) {
    for (Node* node : followers) node->set_device("");
    for (Node* node : followers) {
      for (const std::string& name : node->ColocationGroups()) {
        const Node* group = graph.FindNode(name);
        if (!group || group->device().empty()) continue;
        node->set_device(group->device());
        placed.push_back(node->id());
        break;
      }
    }
  });
  nb::list out;
  for (const int id : placed) out.append(id);
  return out;
}

// The frames of Python above `depth` callers, innermost first: a tuple of code objects, each with the instruction's
// offset behind it.
nb::object CaptureStack(int depth) {
  std::vector<nb::object> items;
  nb::object frame = nb::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame()));
  for (int i = 1; frame.is_valid(); ++i) {
    auto* const at = reinterpret_cast<PyFrameObject*>(frame.ptr());
    if (i >= depth) {
      items.push_back(nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetCode(at))));
#if PY_VERSION_HEX >= 0x030B0000
      items.push_back(nb::steal(PyLong_FromLong(PyFrame_GetLasti(at))));
#else
      items.push_back(frame.attr("f_lasti"));
#endif
    }
    frame = nb::steal(reinterpret_cast<PyObject*>(PyFrame_GetBack(at)));
  }
  nb::object tuple = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(items.size())));
  for (size_t i = 0; i < items.size(); ++i) PyTuple_SET_ITEM(tuple.ptr(), i, items[i].release().ptr());
  return tuple;
}

std::string Bytes(nb::handle b) { return {PyBytes_AsString(b.ptr()), size_t(PyBytes_Size(b.ptr()))}; }

}  // namespace

Node* PyGraph::At(int id) const {
  Node* node = graph->node(id);
  if (!node) throw nb::index_error(StrCat("the graph has no node ", id).c_str());
  return node;
}

Endpoint PyGraph::At(nb::handle tensor) const { return At(nb::cast<int>(tensor[0]), nb::cast<int>(tensor[1])); }

Endpoint PyGraph::At(int id, int index) const {
  Node* node = At(id);
  if (index < 0 || index >= node->num_outputs()) {
    throw nb::index_error(StrCat("node '", node->name(), "' has no output ", index).c_str());
  }
  return {node, index};
}

std::vector<Endpoint> Endpoints(const PyGraph& graph, nb::handle tensors) {
  std::vector<Endpoint> out;
  for (nb::handle tensor : tensors) out.push_back(graph.At(tensor));
  return out;
}

void BindGraph(nb::module_& m) {
  m.def("capture_stack", &CaptureStack, nb::arg("depth"));
  nb::class_<PyGraph> graph(m, "Graph");
  graph.def(nb::init<>())
      .def_prop_ro("version", [](const PyGraph& g) { return g.graph->version(); })
      .def_prop_ro("num_nodes", [](const PyGraph& g) { return g.graph->num_ids(); })
      .def(
          "unique_name", [](PyGraph& g, const std::string& name, bool mark) { return g.graph->UniqueName(name, mark); },
          nb::arg("name"), nb::arg("mark_as_used") = true)
      .def("add_node", &AddNode, nb::arg("op"), nb::arg("name"), nb::arg("inputs"),
           nb::arg("control_inputs") = nb::tuple(), nb::arg("attrs") = nb::dict(), nb::arg("device") = "",
           nb::arg("colocate") = nb::tuple())
      .def("node_by_name",
           [](const PyGraph& g, const std::string& name) {
             const Node* node = g.graph->FindNode(name);
             return node ? node->id() : -1;
           })
      .def("nodes_from", &NodesFrom, nb::arg("first"))
      .def("colocated_from", &ColocatedFrom, nb::arg("first"))
      .def("follow_colocation", &FollowColocation, nb::arg("nodes"))
      .def("name", [](const PyGraph& g, int id) { return g.At(id)->name(); })
      .def("op", [](const PyGraph& g, int id) { return g.At(id)->op_name(); })
      .def("device", [](const PyGraph& g, int id) { return g.At(id)->device(); })
      .def("set_device", [](PyGraph& g, int id,
                            const std::string& device) { Changing(g, [&](Graph&) { g.At(id)->set_device(device); }); })
      .def("colocation_groups",
           [](const PyGraph& g, int id) {
             nb::list out;
             for (const std::string& name : g.At(id)->ColocationGroups()) out.append(ToBytes("loc:@" + name));
             return out;
           })
      .def("inputs",
           [](const PyGraph& g, int id) {
             nb::list out;
             for (const Endpoint& input : g.At(id)->inputs()) out.append(ToTuple(input));
             return out;
           })
      .def("control_inputs",
           [](const PyGraph& g, int id) {
             nb::list out;
             for (const Node* node : g.At(id)->control_inputs()) out.append(node->id());
             return out;
           })
      .def("control_outputs",
           [](const PyGraph& g, int id) {
             nb::list out;
             for (const Consumer& c : g.At(id)->consumers()) {
               if (c.input < 0) out.append(c.node->id());
             }
             return out;
           })
      .def("consumers",
           [](const PyGraph& g, int id, int output) {
             nb::list out;
             for (const Consumer& c : g.At(id)->consumers()) {
               if (c.input >= 0 && c.node->input(c.input).index == output) out.append(c.node->id());
             }
             return out;
           })
      .def("num_outputs", [](const PyGraph& g, int id) { return g.At(id)->num_outputs(); })
      .def("output_dtypes",
           [](const PyGraph& g, int id) {
             nb::list out;
             for (DataType t : g.At(id)->output_types()) out.append(static_cast<int>(t));
             return out;
           })
      .def("shape", [](const PyGraph& g, int id, int output) { return ShapeToPython(g.At(id, output).shape()); })
      .def(
          "set_shape",
          [](PyGraph& g, int id, int output, nb::handle shape) {
            const Endpoint end = g.At(id, output);
            const PartialShape known = ShapeFromPython(shape);
            Changing(g, [&](Graph& graph) { graph.SetShape(end, known); });
          },
          nb::arg("node"), nb::arg("output"), nb::arg("shape").none())
      .def("handle_data",
           [](const PyGraph& g, int id, int output) -> nb::object {
             const auto& data = g.At(id, output).node->info(output).handle_data;
             if (data.empty()) return nb::none();
             return Handles(data);
           })
      .def("set_handle_data",
           [](PyGraph& g, int id, int output, nb::handle data) {
             std::vector<DtypeAndShape> parts;
             for (nb::handle item : data) parts.push_back({DataType(nb::cast<int>(item[0])), ShapeFromPython(item[1])});
             const Endpoint end = g.At(id, output);
             Changing(g, [&](Graph& graph) { graph.SetHandleData(end, std::move(parts)); });
           })
      .def("attr",
           [](const PyGraph& g, int id, const std::string& name) {
             const AttrValue* value = g.At(id)->attrs().Find(name);
             if (!value) throw nb::key_error(name.c_str());
             return AttrToPython(*value);
           })
      .def("has_attr",
           [](const PyGraph& g, int id, const std::string& name) { return g.At(id)->attrs().Find(name) != nullptr; })
      .def("attr_proto",
           [](const PyGraph& g, int id, const std::string& name) {
             const AttrValue* value = g.At(id)->attrs().Find(name);
             if (!value) throw nb::key_error(name.c_str());
             return ToBytes(SerializeAttrValue(*value));
           })
      .def("set_attr_proto",
           [](PyGraph& g, int id, const std::string& name, nb::bytes value) {
             Changing(g, [&](Graph& graph) { graph.SetAttr(g.At(id), name, ParseAttrValue(Bytes(value))); });
           })
      .def("clear_attr",
           [](PyGraph& g, int id, const std::string& name) {
             Changing(g, [&](Graph& graph) { graph.ClearAttr(g.At(id), name); });
           })
      .def("op_def", [](const PyGraph& g, int id) { return ToBytes(SerializeOpDef(g.At(id)->op())); })
      .def("add_control_input",
           [](PyGraph& g, int id, int control) {
             Changing(g, [&](Graph& graph) { graph.AddControlEdge(g.At(control), g.At(id)); });
           })
      .def("remove_control_inputs",
           [](PyGraph& g, int id) { Changing(g, [&](Graph& graph) { graph.RemoveControlEdges(g.At(id)); }); })
      .def("update_input",
           [](PyGraph& g, int id, int index, nb::handle tensor) {
             const Endpoint value = g.At(tensor);
             Changing(g, [&](Graph& graph) { graph.UpdateInput(g.At(id), index, value); });
           })
      .def("constant_value",
           [](PyGraph& g, int id, int output) -> nb::object {
             const Endpoint end = g.At(id, output);
             const std::optional<Tensor> value = Changing(g, [&](Graph& graph) {
               const Tensor* known = graph.ConstantValue(end);
               return known ? std::optional(*known) : std::nullopt;
             });
             return value ? TensorToHandle(*value) : nb::none();
           })
      .def("constant_value_as_shape",
           [](PyGraph& g, int id, int output) {
             const Endpoint end = g.At(id, output);
             return ShapeToPython(Changing(g, [&](Graph& graph) { return graph.ConstantValueAsShape(end); }));
           })
      .def("versions",
           [](const PyGraph& g) {
             const Versions& v = g.graph->versions();
             nb::list bad;
             for (int b : v.bad_consumers) bad.append(b);
             return nb::make_tuple(v.producer, v.min_consumer, bad);
           })
      .def("set_versions", [](PyGraph& g, int producer, int min_consumer) {
        Changing(g, [&](Graph& graph) {
          graph.versions().producer = producer;
          graph.versions().min_consumer = min_consumer;
        });
      });
  BindGraphIo(graph);
  BindGradients(graph);
}

}  // namespace penstock::python
