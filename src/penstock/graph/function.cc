#include "penstock/graph/function.h"

#include <algorithm>
#include <map>
#include <set>

#include "penstock/graph/export.h"
#include "penstock/graph/import.h"

namespace penstock {
namespace {

// Lower case, '_' for everything else, from the first letter on.
std::string Normalized(std::string_view name) {
  std::string text;
  for (const char c : name) {
    const auto u = static_cast<unsigned char>(c);
    if (text.empty() && !std::isalpha(u)) continue;
    text.push_back(std::isalnum(u) ? static_cast<char>(std::tolower(u)) : '_');
  }
  return text.empty() ? "unknown" : text;
}

class NameTable {
 public:
  std::string Unique(const std::string& name) {
    std::string candidate = name;
    for (int i = next_[name]; !used_.insert(candidate).second; ++i) {
      candidate = StrCat(name, "_", i);
      next_[name] = i + 1;
    }
    return candidate;
  }

 private:
  std::set<std::string> used_;
  std::map<std::string, int> next_;
};

uint64_t Mix(uint64_t hash, std::string_view bytes) { return Hash64(bytes, hash * 31 + bytes.size()); }

uint64_t HashAttr(uint64_t hash, const AttrValue& value) {
  hash = Mix(hash, value.KindName());
  if (const Tensor* t = value.If<Tensor>(); t && IsPod(t->dtype())) {
    return Mix(Mix(hash, t->shape().ToString()), {static_cast<const char*>(t->raw()), t->bytes()});
  }
  if (const Tensor* t = value.If<Tensor>()) {
    hash = Mix(hash, t->shape().ToString());
    for (int64_t i = 0; i < t->num_elements(); ++i) hash = Mix(hash, t->ElementToString(i));
    return hash;
  }
  if (const FuncRef* f = value.If<FuncRef>()) {
    hash = Mix(hash, f->name);
    for (const auto& [name, attr] : f->attrs) hash = HashAttr(Mix(hash, name), attr);
    return hash;
  }
  return Mix(hash, value.ToString());
}

// Eleven letters and digits.
std::string Fingerprint(const FunctionDef& function) {
  uint64_t hash = Mix(1, function.signature.ToString());
  for (const NodeDef& node : function.nodes) {
    hash = Mix(Mix(Mix(hash, node.name), node.op), node.device);
    for (const std::string& input : node.inputs) hash = Mix(hash, input);
    for (const auto& [name, attr] : node.attrs) hash = HashAttr(Mix(hash, name), attr);
  }
  for (const auto& [name, value] : function.ret) hash = Mix(Mix(hash, name), value);
  for (const auto& [name, value] : function.control_ret) hash = Mix(Mix(hash, name), value);
  for (const auto& [name, attr] : function.attrs) hash = HashAttr(Mix(hash, name), attr);
  std::string text;
  for (int i = 0; i < 11; ++i, hash /= 62) {
    const int digit = static_cast<int>(hash % 62);
    text.push_back(static_cast<char>(digit < 10 ? '0' + digit : digit < 36 ? 'a' + digit - 10 : 'A' + digit - 36));
  }
  return text;
}

// A graph's part becomes a function.
class Writer {
 public:
  Writer(const Graph& graph, const FunctionSpec& spec)
      : graph_(graph), spec_(spec), function_(std::make_shared<FunctionDef>()) {}

  std::shared_ptr<FunctionDef> Run() {
    OpDef& signature = function_->signature;
    signature.name = spec_.name;
    signature.doc = spec_.description;
    function_->attrs = spec_.attrs;
    ChooseBody();
    NameResults();  // before arguments and nodes: results keep their names
    NameArguments();
    for (const Node* node : body_) names_of_nodes_[node] = names_.Unique(node->name());
    for (const Node* node : body_) WriteNode(*node);
    for (size_t i = 0; i < spec_.outputs.size(); ++i) {
      function_->ret[signature.outputs[i].name] = Reference(spec_.outputs[i], [&] {
        return StrCat("Output ", i, ", '", spec_.outputs[i].name(),
                      "', is neither in the function body "
                      "nor among function inputs.");
      });
    }
    WriteControlOutputs();
    if (spec_.append_hash) signature.name = StrCat(spec_.name, "_", Fingerprint(*function_));
    return function_;
  }

 private:
  std::string Where() const { return StrCat(" Encountered while creating function '", spec_.name, "'"); }

  void ChooseBody() {
    if (spec_.nodes) {
      std::unordered_set<const Node*> seen;
      for (const Node* node : *spec_.nodes) {
        if (seen.insert(node).second) body_.push_back(node);
      }
      return;
    }
    std::unordered_set<const Node*> inputs;
    for (const Endpoint& input : spec_.inputs) {
      if (input.node->num_outputs() != 1) {
        throw InvalidArgument(
            "Nodes referenced in `inputs` must have a single output when the body is the whole graph. Node ",
            input.node->name(), " has ", input.node->num_outputs(), " outputs.", Where());
      }
      inputs.insert(input.node);
    }
    for (const Node* node : graph_.Nodes()) {
      if (!inputs.contains(node)) body_.push_back(node);
    }
  }

  void RequireValue(const Endpoint& endpoint, std::string_view what) const {
    if (endpoint.index < 0 || endpoint.index >= endpoint.node->num_outputs()) {
      throw OutOfRange("Node '", endpoint.node->name(), "' has ", endpoint.node->num_outputs(), " outputs, none at ",
                       endpoint.index, ".", Where());
    }
    if (IsRef(endpoint.type())) {
      throw InvalidArgument(what, " ", endpoint.index, " of node '", endpoint.node->name(), "' has a reference type ",
                            endpoint.type(), ".", Where());
    }
  }

  void NameResults() {
    if (!spec_.output_names.empty() && spec_.output_names.size() != spec_.outputs.size()) {
      throw InvalidArgument("There are ", spec_.outputs.size(), " outputs but ", spec_.output_names.size(),
                            " names of outputs.", Where());
    }
    std::set<std::string> given;
    for (size_t i = 0; i < spec_.outputs.size(); ++i) {
      RequireValue(spec_.outputs[i], "Output");
      ArgDef& arg = function_->signature.outputs.emplace_back();
      arg.type = spec_.outputs[i].type();
      if (spec_.output_names.empty()) {
        arg.name = names_.Unique(Normalized(spec_.outputs[i].node->name()));
      } else {
        arg.name = spec_.output_names[i];
        if (!given.insert(arg.name).second) {
          throw InvalidArgument("Cannot have duplicate output names. Name '", arg.name,
                                "' appears more than once in 'output_names' array.");
        }
      }
    }
  }

  void NameArguments() {
    function_->arg_attrs.resize(spec_.inputs.size());
    for (size_t i = 0; i < spec_.inputs.size(); ++i) {
      const Endpoint& input = spec_.inputs[i];
      RequireValue(input, "Input");
      ArgDef& arg = function_->signature.inputs.emplace_back();
      arg.name = names_.Unique(Normalized(input.node->name()));
      arg.type = input.type();
      if (!references_.emplace(std::pair(input.node, input.index), arg.name).second) {
        throw InvalidArgument("TF_Output ", input.name(), " appears more than once in the input list.", Where());
      }
      for (const auto& [name, attr] : input.node->attrs()) {
        if (name.starts_with('_')) function_->arg_attrs[i].Set(name, attr);
      }
    }
  }

  // How a body names a value: an argument, or "node:output:position".
  template <class Complaint>
  std::string Reference(const Endpoint& endpoint, Complaint complaint) const {
    const auto it = references_.find({endpoint.node, endpoint.index});
    if (it != references_.end()) return it->second;
    const auto name = names_of_nodes_.find(endpoint.node);
    if (name == names_of_nodes_.end()) throw InvalidArgument(complaint(), Where());
    const OpDef& op = endpoint.node->op();
    for (size_t i = 0; i < op.outputs.size(); ++i) {
      const auto [begin, end] = endpoint.node->OutputRange(static_cast<int>(i));
      if (endpoint.index < end) return StrCat(name->second, ":", op.outputs[i].name, ":", endpoint.index - begin);
    }
    throw Internal("output ", endpoint.name(), " belongs to no declared output");
  }

  void WriteNode(const Node& node) {
    NodeDef& def = function_->nodes.emplace_back();
    def.name = names_of_nodes_[&node];
    def.op = node.op_name();
    def.device = node.device();
    def.attrs = ToNodeDef(node, graph_.versions().producer).attrs;
    for (int i = 0; i < node.num_inputs(); ++i) {
      def.inputs.push_back(Reference(node.input(i), [&] {
        return StrCat(
            "Input ", i, ", '", node.input(i).name(), "', of node '", node.name(), "' in function '", spec_.name,
            "' is not available. You might need to include it in inputs or include its source node in the body.");
      }));
    }
    for (const Node* control : node.control_inputs()) {
      const auto it = names_of_nodes_.find(control);
      const auto argument = references_.lower_bound({control, 0});
      const bool of_argument = argument != references_.end() && argument->first.first == control;
      if (it == names_of_nodes_.end() && !of_argument) {
        throw InvalidArgument("The source of control edge ", control->name(), " -> ", node.name(),
                              " is not in the body.", Where());
      }
      def.inputs.push_back("^" + (of_argument ? argument->second : it->second));
    }
    function_->signature.traits.stateful |= node.traits().stateful;
    MoveColocation(node, &def);
    DeclarePlaceholders(node);
  }

  // Groups lead to nodes of the body, under their new names, or nowhere.
  void MoveColocation(const Node& node, NodeDef* def) const {
    const auto groups = node.ColocationGroups();
    if (groups.empty()) return;
    std::vector<std::string> moved;
    for (const std::string& group : groups) {
      const auto it = names_of_nodes_.find(graph_.FindNode(group));
      if (it != names_of_nodes_.end()) moved.push_back("loc:@" + it->second);
    }
    if (moved.empty()) {
      def->attrs.Erase("_class");
    } else {
      def->attrs.Set("_class", std::move(moved));
    }
  }

  void DeclarePlaceholders(const Node& node) {
    for (const auto& [name, value] : node.attrs()) {
      const auto* placeholder = value.If<AttrPlaceholder>();
      if (!placeholder || function_->signature.FindAttr(placeholder->name)) continue;
      const AttrDef* attr = node.op().FindAttr(name);
      if (!attr) {
        throw Unimplemented("Placeholder value is not supported for attributes not in OpDef. Attribute: ", name,
                            ", OpDef: ", node.op());
      }
      AttrDef& added = function_->signature.attrs.emplace_back(*attr);
      added.name = placeholder->name;
      added.default_value = AttrValue();
    }
  }

  void WriteControlOutputs() {
    const bool named = !spec_.control_output_names.empty();
    if (named && spec_.control_output_names.size() != spec_.control_outputs.size()) {
      throw InvalidArgument("Expected number of control outputs (", spec_.control_outputs.size(),
                            ") and the number of control output names (", spec_.control_output_names.size(),
                            ") to match but they do not.");
    }
    for (size_t i = 0; i < spec_.control_outputs.size(); ++i) {
      const auto it = names_of_nodes_.find(spec_.control_outputs[i]);
      if (it == names_of_nodes_.end()) {
        throw InvalidArgument("Control output '", spec_.control_outputs[i]->name(), "' is not in the body.", Where());
      }
      const std::string name = named ? spec_.control_output_names[i] : it->second;
      if (name.empty()) throw InvalidArgument("Control output name must be not empty");
      if (!function_->control_ret.emplace(name, it->second).second) {
        throw InvalidArgument("Repeated control output name: ", name);
      }
      function_->signature.control_outputs.push_back(name);
    }
  }

  const Graph& graph_;
  const FunctionSpec& spec_;
  std::shared_ptr<FunctionDef> function_;
  NameTable names_;
  std::vector<const Node*> body_;
  std::map<std::pair<const Node*, int>, std::string> references_;  // arguments
  std::unordered_map<const Node*, std::string> names_of_nodes_;
};

// A function becomes a graph: its text with references and placeholders resolved is a GraphDef like any other.
class Reader {
 public:
  Reader(const FunctionDef& function, const AttrMap& attrs, const FunctionLibraryPtr& library)
      : function_(function), attrs_(attrs), graph_(std::make_shared<Graph>()), library_(library) {
    graph_->set_library(library);
    for (const AttrDef& attr : function.signature.attrs) {
      if (attr.has_default() && !attrs_.Find(attr.name)) attrs_.Set(attr.name, attr.default_value);
    }
  }

  FunctionBody Run() {
    for (const NodeDef& node : function_.nodes) names_.Unique(node.name);
    ReadArguments();
    std::vector<NodeDef> nodes = function_.nodes;
    for (NodeDef& node : nodes) {
      try {
        for (const auto& [name, value] : AttrMap(node.attrs)) node.attrs.Set(name, Bind(value));
        DeclareOutputs(node);
      } catch (const Error& e) {
        throw MakeError(e.code(), e.what(), Where(node));
      }
    }
    for (NodeDef& node : nodes) ResolveInputs(&node);
    std::ranges::move(nodes, std::back_inserter(def_.nodes));
    ReadResults();

    ImportOptions options;
    options.allow_internal_names = true;
    options.validate_colocation = false;
    ImportGraphDef(std::move(def_), options, graph_.get());
    graph_->versions().producer = kGraphDefVersion;
    return Finish();
  }

 private:
  // Values that one name stands for.
  struct Item {
    std::vector<std::string> values;  // "node" or "node:1"
  };

  std::string Where(const NodeDef& node) const {
    return StrCat("; in node '", node.name, "' of function '", function_.signature.name, "'");
  }

  AttrValue Bind(const AttrValue& value) const {
    if (const auto* placeholder = value.If<AttrPlaceholder>()) {
      const AttrValue* bound = attrs_.Find(placeholder->name);
      if (!bound || bound->If<AttrPlaceholder>()) {
        throw InvalidArgument("Failed to bind all placeholders: attribute '", placeholder->name, "' of function '",
                              function_.signature.name, "' is not given");
      }
      return *bound;
    }
    if (const auto* function = value.If<FuncRef>()) return BindAll(*function);
    if (const auto* functions = value.If<std::vector<FuncRef>>(); functions && !functions->empty()) {
      std::vector<FuncRef> bound;
      for (const FuncRef& function : *functions) bound.push_back(BindAll(function));
      return bound;
    }
    return value;
  }

  FuncRef BindAll(const FuncRef& function) const {
    FuncRef bound{function.name, {}};
    for (const auto& [name, value] : function.attrs) bound.attrs.Set(name, Bind(value));
    return bound;
  }

  void AddItem(const std::string& name, Item item) {
    if (!items_.emplace(name, std::move(item)).second) {
      throw InvalidArgument("Duplicated node name or output '", name, "' in function '", function_.signature.name, "'");
    }
  }

  void ReadArguments() {
    const OpDef& signature = function_.signature;
    for (size_t i = 0; i < signature.inputs.size(); ++i) {
      const ArgDef& arg = signature.inputs[i];
      const auto types = TypesOfArgument(arg, signature, attrs_);
      const AttrMap none;
      const AttrMap& extra = i < function_.arg_attrs.size() ? function_.arg_attrs[i] : none;
      Item item;
      for (size_t k = 0; k < types.size(); ++k) {
        NodeDef& node = def_.nodes.emplace_back();
        node.op = "_Arg";
        node.name = names_.Unique(types.size() == 1 ? arg.name : StrCat(arg.name, "_", k));
        for (const auto& [name, value] : extra) {
          if (name.starts_with('_')) node.attrs.Set(name, value);
        }
        TakeShape(extra, k, types.size(), &node.attrs);
        node.attrs.Set("T", BaseType(types[k]));
        node.attrs.Set("index", static_cast<int64_t>(arg_names_.size()));
        arg_names_.push_back(node.name);
        item.values.push_back(node.name);
      }
      AddItem(arg.name, std::move(item));
    }
  }

  // The shape of one value out of those of the whole argument.
  static void TakeShape(const AttrMap& from, size_t k, size_t n, AttrMap* to) {
    const AttrValue* value = from.Find("_output_shapes");
    const auto* shapes = value ? value->If<std::vector<PartialShape>>() : nullptr;
    to->Erase("_output_shapes");
    if (shapes && shapes->size() == n) to->Set("_output_shapes", std::vector<PartialShape>{(*shapes)[k]});
  }

  void DeclareOutputs(const NodeDef& node) {
    const OpDef* op = graph_->ops().Find(node.op);
    if (!op) {
      const FunctionDef* function = library_->Find(node.op);
      if (!function) throw NotFound("Op type not registered '", node.op, "'");
      op = &function->signature;
    }
    size_t at = 0;
    for (const ArgDef& arg : op->outputs) {
      Item item;
      const size_t n = TypesOfArgument(arg, *op, node.attrs).size();
      for (size_t k = 0; k < n; ++k, ++at) item.values.push_back(at == 0 ? node.name : StrCat(node.name, ":", at));
      AddItem(StrCat(node.name, ":", arg.name), std::move(item));
    }
  }

  // "arg", "node:out", both also with ":index".
  std::vector<std::string> Resolve(const std::string& reference) const {
    if (const auto it = items_.find(reference); it != items_.end()) return it->second.values;
    const size_t colon = reference.rfind(':');
    int64_t index = 0;
    if (colon != std::string::npos && ParseInt64(std::string_view(reference).substr(colon + 1), &index)) {
      const auto it = items_.find(reference.substr(0, colon));
      if (it != items_.end() && index >= 0 && index < static_cast<int64_t>(it->second.values.size())) {
        return {it->second.values[index]};
      }
    }
    throw InvalidArgument("input ", reference, " is not found");
  }

  void ResolveInputs(NodeDef* node) const {
    std::vector<std::string> resolved;
    for (const std::string& input : node->inputs) {
      if (input.starts_with('^')) {
        resolved.push_back(ControlSource(input.substr(1), *node));
        continue;
      }
      try {
        for (std::string& value : Resolve(input)) resolved.push_back(std::move(value));
      } catch (const Error& e) {
        throw MakeError(e.code(), e.what(), Where(*node));
      }
    }
    node->inputs = std::move(resolved);
  }

  // A control edge may come from a node or from an argument.
  std::string ControlSource(const std::string& name, const NodeDef& node) const {
    if (const auto it = items_.find(name); it != items_.end() && !it->second.values.empty())
      return "^" + it->second.values[0];
    if (std::ranges::find(function_.nodes, name, &NodeDef::name) == function_.nodes.end()) {
      throw InvalidArgument("input[^", name, "] is not found", Where(node));
    }
    return "^" + name;
  }

  void ReadResults() {
    const OpDef& signature = function_.signature;
    for (const ArgDef& arg : signature.outputs) {
      const auto it = function_.ret.find(arg.name);
      if (it == function_.ret.end()) {
        throw InvalidArgument("Return ", arg.name, " of function '", signature.name, "' missing.");
      }
      const auto types = TypesOfArgument(arg, signature, attrs_);
      std::vector<std::string> values;
      try {
        values = Resolve(it->second);
      } catch (const Error& e) {
        throw InvalidArgument("Return ", arg.name, " -> ", it->second, " of function '", signature.name,
                              "' is not found: ", e.what());
      }
      if (values.size() != types.size()) {
        throw InvalidArgument("Return ", arg.name, " of function '", signature.name, "' has ", types.size(),
                              " values, but ", it->second, " has ", values.size());
      }
      for (size_t k = 0; k < types.size(); ++k) {
        NodeDef& node = def_.nodes.emplace_back();
        node.op = "_Retval";
        node.name = names_.Unique(types.size() == 1 ? arg.name + "_RetVal" : StrCat(arg.name, "_RetVal_", k));
        node.inputs = {values[k]};
        node.attrs = {{"T", BaseType(types[k])}, {"index", static_cast<int64_t>(ret_names_.size())}};
        ret_names_.push_back(node.name);
      }
    }
  }

  FunctionBody Finish() {
    FunctionBody body;
    body.graph = graph_;
    for (const std::string& name : arg_names_) {
      Node* node = graph_->FindNode(name);
      SetHandleData(node);
      body.args.push_back(node);
      body.arg_types.push_back(node->output_type(0));
    }
    for (const std::string& name : ret_names_) {
      body.rets.push_back(graph_->FindNode(name));
      body.ret_types.push_back(body.rets.back()->input_type(0));
    }
    for (const auto& [name, target] : function_.control_ret) {
      Node* node = graph_->FindNode(target);
      if (!node) {
        throw InvalidArgument("Control return ", name, " -> ", target, " of function '", function_.signature.name,
                              "' is not found");
      }
      body.control_rets.push_back(node);
    }
    return body;
  }

  void SetHandleData(Node* arg) {
    const auto types = arg->attr_or<std::vector<DataType>>("_handle_dtypes", {});
    const auto shapes = arg->attr_or<std::vector<PartialShape>>("_handle_shapes", {});
    if (types.empty() || types.size() != shapes.size()) return;
    std::vector<DtypeAndShape> data;
    for (size_t i = 0; i < types.size(); ++i) data.push_back({types[i], shapes[i]});
    graph_->SetHandleData({arg, 0}, std::move(data));
  }

  const FunctionDef& function_;
  AttrMap attrs_;
  std::shared_ptr<Graph> graph_;
  FunctionLibraryPtr library_;
  GraphDef def_;
  NameTable names_;
  std::unordered_map<std::string, Item> items_;
  std::vector<std::string> arg_names_, ret_names_;
};

}  // namespace

std::vector<DataType> TypesOfArgument(const ArgDef& arg, const OpDef& op, const AttrMap& attrs) {
  const auto find = [&](const std::string& name) -> const AttrValue& {
    if (const AttrValue* value = attrs.Find(name)) return *value;
    if (const AttrDef* attr = op.FindAttr(name); attr && attr->has_default()) return attr->default_value;
    throw InvalidArgument("attribute '", name, "' of '", op.name, "' is not given");
  };
  const auto require = [&](auto* value, const std::string& name) {
    if (!value) throw InvalidArgument("attribute '", name, "' of '", op.name, "' is of the wrong kind");
    return *value;
  };
  if (!arg.type_list_attr.empty()) {
    return require(find(arg.type_list_attr).If<std::vector<DataType>>(), arg.type_list_attr);
  }
  const DataType type = arg.type_attr.empty() ? arg.type : require(find(arg.type_attr).If<DataType>(), arg.type_attr);
  int64_t n = 1;
  if (!arg.number_attr.empty()) n = require(find(arg.number_attr).If<int64_t>(), arg.number_attr);
  if (n < 0 || n > 1 << 20) throw InvalidArgument("attribute '", arg.number_attr, "' of '", op.name, "' is ", n);
  return std::vector<DataType>(n, type);
}

std::shared_ptr<FunctionDef> GraphToFunction(const Graph& graph, const FunctionSpec& spec) {
  return Writer(graph, spec).Run();
}

FunctionBody Instantiate(const FunctionDef& function, const AttrMap& attrs, const FunctionLibraryPtr& library) {
  return Reader(function, attrs, library).Run();
}

}  // namespace penstock
