#include "penstock/graph/graph.h"

#include <algorithm>

#include "penstock/base/fork.h"
#include "penstock/graph/constant_values.h"

namespace penstock {
namespace {

std::string Lower(std::string_view s) {
  std::string lower(s);
  for (char& c : lower) c = static_cast<char>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
  return lower;
}

bool Allowed(const AttrDef& def, const AttrValue& value) {
  if (def.allowed.empty()) return true;
  const auto within = [&](const auto& allowed, const auto& x) {
    return std::ranges::find(allowed, x) != allowed.end();
  };
  if (const auto* types = def.allowed.If<std::vector<DataType>>()) {
    if (const auto* t = value.If<DataType>()) return within(*types, *t);
    if (const auto* list = value.If<std::vector<DataType>>()) {
      return std::ranges::all_of(*list, [&](DataType t) { return within(*types, t); });
    }
  }
  if (const auto* strings = def.allowed.If<std::vector<std::string>>()) {
    if (const auto* s = value.If<std::string>()) return within(*strings, *s);
    if (const auto* list = value.If<std::vector<std::string>>()) {
      return std::ranges::all_of(*list, [&](const std::string& s) { return within(*strings, s); });
    }
  }
  return false;
}

int64_t ListLength(const AttrValue& value) {
  return std::visit(
      [](const auto& x) -> int64_t {
        if constexpr (
            requires {
              x.size();
              x.begin();
            } && !requires { x.c_str(); })
          return static_cast<int64_t>(x.size());
        return 0;
      },
      value.v);
}

void CheckType(const Node& node, const AttrDef& def, DataType type) {
  if (DataTypeSize(BaseType(type)) > 0 && !IsRef(type)) return;
  throw InvalidArgument(IsRef(type) ? StrCat("AttrValue must not have reference type value of ", ToString(type))
                                    : "AttrValue has invalid DataType",
                        "\n\t for attr '", def.name, "' of node '", node.name(), "' (op: ", node.op_name(), ")");
}

// A value of the right kind, in the list and not below the minimum. InvalidArgument otherwise.
void CheckAttr(const Node& node, const AttrDef& def, AttrValue* value) {
  const std::string kind = value->KindName();
  if (kind == "placeholder") return;
  if (kind == "list" && def.kind.starts_with("list(")) *value = EmptyListOf(def.kind);
  if (const auto* type = value->If<DataType>()) CheckType(node, def, *type);
  if (const auto* types = value->If<std::vector<DataType>>()) {
    for (const DataType type : *types) CheckType(node, def, type);
  }
  if (kind == "int" && def.kind == "float") *value = static_cast<float>(*value->If<int64_t>());
  if (value->KindName() != def.kind) {
    throw InvalidArgument("AttrValue had value with type '", kind, "' when '", def.kind, "' expected\n\t for attr '",
                          def.name, "' of node '", node.name(), "' (op: ", node.op_name(), ")");
  }
  if (!Allowed(def, *value)) {
    throw InvalidArgument("Value for attr '", def.name, "' of ", *value,
                          " is not in the list of allowed values: ", def.allowed, "\n\t; NodeDef: {{node ", node.name(),
                          "}}; ", node.op());
  }
  if (def.has_minimum) {
    const int64_t* i = value->If<int64_t>();
    const int64_t size = i ? *i : ListLength(*value);
    if (size < def.minimum) {
      throw InvalidArgument(i ? "Value for attr '" : "Length for attr '", def.name, "' of ", size,
                            " must be at least minimum ", def.minimum, "\n\t; NodeDef: {{node ", node.name(), "}}; ",
                            node.op());
    }
  }
}

}  // namespace

std::string Endpoint::name() const { return StrCat(node->name(), ":", index); }

constexpr int kMostArgs = 1 << 20;  // inputs or outputs of one node

// Number of inputs that a declared argument covers, from the node's attributes.
static int ArgLength(const ArgDef& arg, const AttrMap& attrs) {
  if (!arg.number_attr.empty()) {
    const auto* n = attrs.Find(arg.number_attr);
    return n && n->If<int64_t>() ? static_cast<int>(std::clamp<int64_t>(*n->If<int64_t>(), 0, kMostArgs + 1)) : 0;
  }
  if (!arg.type_list_attr.empty()) {
    const auto* types = attrs.Find(arg.type_list_attr);
    return types && types->If<std::vector<DataType>>() ? static_cast<int>(types->If<std::vector<DataType>>()->size())
                                                       : 0;
  }
  return 1;
}

static std::pair<int, int> ArgRange(const std::vector<ArgDef>& args, int arg, const AttrMap& attrs) {
  int at = 0;
  for (int i = 0; i < arg; ++i) at += ArgLength(args[i], attrs);
  return {at, at + ArgLength(args[arg], attrs)};
}

std::pair<int, int> Node::InputRange(int arg) const { return ArgRange(op_->inputs, arg, attrs_); }
std::pair<int, int> Node::OutputRange(int arg) const { return ArgRange(op_->outputs, arg, attrs_); }

std::vector<std::string> Node::ColocationGroups() const {
  std::vector<std::string> groups;
  const AttrValue* value = attrs_.Find("_class");
  if (const auto* list = value ? value->If<std::vector<std::string>>() : nullptr) {
    for (const std::string& item : *list) {
      if (item.starts_with("loc:@")) groups.push_back(item.substr(5));
    }
  }
  return groups;
}

Graph::Graph(const OpRegistry& ops)
    : ops_(&ops), constants_(std::make_unique<ConstantValues>()), library_(std::make_shared<FunctionLibrary>()) {
  HoldDuringFork(&mutex_);
  versions_.producer = kGraphDefVersion;
}
Graph::~Graph() { ForgetAtFork(&mutex_); }

bool Graph::IsValidName(std::string_view name) {
  const auto ok = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '\\' || c == '-' || c == '/' ||
           c == '>';
  };
  return !name.empty() && (std::isalnum(static_cast<unsigned char>(name[0])) || name[0] == '.' || name[0] == '_') &&
         std::ranges::all_of(name, ok);
}

std::string Graph::UniqueName(std::string_view name, bool mark_as_used) {
  const std::string key = Lower(name);
  const auto it = used_names_.find(key);
  int i = it == used_names_.end() ? 0 : it->second;
  if (mark_as_used) used_names_[key] = i + 1;
  if (i == 0) return std::string(name);
  std::string candidate;
  do {
    candidate = StrCat(key, "_", i++);
  } while (used_names_.contains(candidate));
  if (mark_as_used) used_names_[candidate] = 1;
  return StrCat(name, "_", i - 1);
}

static Error WrongInputs(const Node& node, size_t given) {
  std::vector<std::string> types;
  for (const ArgDef& arg : node.op().inputs) {
    const AttrValue* list = arg.type_list_attr.empty() ? nullptr : node.attrs().Find(arg.type_list_attr);
    if (const auto* several = list ? list->If<std::vector<DataType>>() : nullptr) {
      for (const DataType t : *several) types.push_back(ToString(t));
      continue;
    }
    const AttrValue* attr = arg.type_attr.empty() ? nullptr : node.attrs().Find(arg.type_attr);
    const auto* type = attr ? attr->If<DataType>() : nullptr;
    const std::string name = type ? ToString(*type) : !arg.type_attr.empty() ? arg.type_attr : ToString(arg.type);
    if (arg.number_attr.empty()) {
      types.push_back(name);
    } else {
      for (int n = std::min(ArgLength(arg, node.attrs()), 100); n > 0; --n) types.push_back(name);
    }
  }
  return InvalidArgument("NodeDef expected inputs '", StrJoin(types, ", "), "' do not match ", given,
                         " inputs specified; ", node.op(), "; NodeDef: {{node ", node.name(), "}}");
}

// Deduces type and number attributes from the inputs, checks the inputs against the definition, and fills input and
// output types.
void Graph::FillTypes(Node* node) const {
  const OpDef& op = node->op();
  AttrMap& attrs = node->attrs_;
  const auto& inputs = node->inputs_;
  // Lists of unknown length take what the other arguments leave over; more than one such cannot be told apart.
  int fixed = 0, open = 0;
  for (const ArgDef& arg : op.inputs) {
    const bool unknown = (!arg.number_attr.empty() && !attrs.Find(arg.number_attr)) ||
                         (!arg.type_list_attr.empty() && !attrs.Find(arg.type_list_attr));
    if (unknown) {
      ++open;
    } else {
      fixed += ArgLength(arg, attrs);
    }
  }
  int at = 0;
  for (const ArgDef& arg : op.inputs) {
    int length = ArgLength(arg, attrs);
    const bool open_list = (!arg.number_attr.empty() && !attrs.Find(arg.number_attr)) ||
                           (!arg.type_list_attr.empty() && !attrs.Find(arg.type_list_attr));
    if (open_list) {
      length = (static_cast<int>(inputs.size()) - fixed) / std::max(1, open);
      length = std::max(length, 0);
      if (!arg.number_attr.empty()) attrs.Set(arg.number_attr, int64_t{length});
    }
    if (at + length > static_cast<int>(inputs.size())) {
      throw WrongInputs(*node, inputs.size());
    }
    std::vector<DataType> list;
    for (int i = at; i < at + length; ++i) {
      const DataType given = inputs[i].type();
      DataType wanted = arg.type;
      if (!arg.type_attr.empty()) {
        const AttrValue* t = attrs.Find(arg.type_attr);
        if (!t) attrs.Set(arg.type_attr, BaseType(given));
        const DataType* known = attrs.Find(arg.type_attr)->If<DataType>();
        wanted = known ? *known : BaseType(given);
      } else if (!arg.type_list_attr.empty()) {
        const AttrValue* types = attrs.Find(arg.type_list_attr);
        wanted = types && !open_list ? (*types->If<std::vector<DataType>>())[i - at] : BaseType(given);
        list.push_back(BaseType(wanted));
      }
      if (BaseType(wanted) != BaseType(given)) {
        throw InvalidArgument("Input ", i, " of node ", node->name(), " was passed ", ToString(given), " from ",
                              inputs[i].name(), " incompatible with expected ", ToString(wanted), ".");
      }
      if (arg.is_ref && !IsRef(given)) {
        throw InvalidArgument("Input ", i, " of node ", node->name(), " was passed ", ToString(given), " from ",
                              inputs[i].name(), " incompatible with expected ", ToString(RefType(wanted)), ".");
      }
      node->input_types_.push_back(arg.is_ref || IsRef(wanted) ? RefType(wanted) : BaseType(wanted));
    }
    if (open_list && !arg.type_list_attr.empty()) attrs.Set(arg.type_list_attr, list);
    at += length;
  }
  if (at != static_cast<int>(inputs.size())) {
    throw WrongInputs(*node, inputs.size());
  }
}

void Graph::FillDefaults(Node* node) const {
  const OpDef& op = node->op();
  for (const AttrDef& def : op.attrs) {
    const AttrValue* value = node->attrs_.Find(def.name);
    if (!value) {
      if (!def.has_default()) {
        throw InvalidArgument("NodeDef missing attr '", def.name, "' from ", op, "; NodeDef: {{node ", node->name(),
                              "}}");
      }
      node->attrs_.Set(def.name, def.default_value);
    }
    CheckAttr(*node, def, &node->attrs_[def.name]);
  }
  for (const auto& [name, value] : node->attrs_) {
    if (name.empty() || name[0] == '_' || op.FindAttr(name)) continue;
    if (node->own_op_) continue;  // a function call may carry attributes of its own
    throw InvalidArgument(
        "NodeDef mentions attr '", name, "' not in ", op, "; NodeDef: {{node ", node->name(),
        "}}. (Check whether your GraphDef-interpreting binary is up to date with your GraphDef-generating "
        "binary.)");
  }
}

static void FillOutputTypes(const Node& node, std::vector<DataType>* types) {
  for (const ArgDef& arg : node.op().outputs) {
    std::vector<DataType> one;
    if (!arg.type_list_attr.empty()) {
      const auto* list = node.attrs().Find(arg.type_list_attr);
      if (list && list->If<std::vector<DataType>>()) one = *list->If<std::vector<DataType>>();
    } else {
      DataType t = arg.type;
      if (!arg.type_attr.empty()) {
        const auto* attr = node.attrs().Find(arg.type_attr);
        if (attr && attr->If<DataType>()) t = *attr->If<DataType>();
      }
      one.assign(ArgLength(arg, node.attrs()), t);
    }
    for (DataType t : one) types->push_back(arg.is_ref ? RefType(t) : t);
    if (types->size() > kMostArgs) {
      throw InvalidArgument("Node '", node.name(), "' (op: ", node.op_name(), ") has more than ", kMostArgs,
                            " outputs");
    }
  }
}

void Graph::Link(Node* node, std::vector<Endpoint> inputs, const std::vector<Node*>& control_inputs) {
  node->inputs_ = std::move(inputs);
  for (int i = 0; i < node->num_inputs(); ++i) node->inputs_[i].node->consumers_.push_back({node, i});
  // A node that waits for many (an initialiser of everything) must not search its list for each.
  std::unordered_set<Node*> known(node->control_inputs_.begin(), node->control_inputs_.end());
  for (Node* control : control_inputs) {
    if (!known.insert(control).second) continue;
    node->control_inputs_.push_back(control);
    control->consumers_.push_back({node, -1});
  }
}

Node* Graph::Insert(std::unique_ptr<Node> node) {
  Node* p = node.get();
  p->id_ = num_ids();
  by_name_.emplace(p->name_, p);
  used_names_.try_emplace(Lower(p->name_), 1);
  nodes_.push_back(std::move(node));
  ++num_nodes_;
  ++version_;
  return p;
}

Node* Graph::AddNode(NodeSpec spec, std::optional<int> producer) {
  if (!IsValidName(spec.name)) throw InvalidArgument("Node name '", spec.name, "' is not valid");
  if (by_name_.contains(spec.name)) throw InvalidArgument("Duplicate node name in graph: '", spec.name, "'");
  auto node = std::make_unique<Node>();
  node->name_ = std::move(spec.name);
  node->op_ = ops_->Find(spec.op);
  if (!node->op_) {
    const auto function = library_->FindShared(spec.op);
    if (!function) throw NotFound("Op type not registered '", spec.op, "' (node '", node->name_, "')");
    node->own_op_ = std::shared_ptr<const OpDef>(function, &function->signature);
    node->op_ = node->own_op_.get();
  }
  if (node->op_->deprecated_since > 0 && producer.value_or(versions_.producer) >= node->op_->deprecated_since) {
    throw Unimplemented("Op ", spec.op, " is not available in GraphDef version ", producer.value_or(versions_.producer),
                        ". It has been removed in version ", node->op_->deprecated_since, ".",
                        node->op_->deprecated_why.empty() ? "" : StrCat(" ", node->op_->deprecated_why, "."));
  }
  node->attrs_ = std::move(spec.attrs);
  node->device_ = std::move(spec.device);
  for (const Endpoint& input : spec.inputs) {
    if (input.index < 0 || input.index >= input.node->num_outputs()) {
      throw InvalidArgument("Node '", node->name_, "' wants output ", input.index, " of '", input.node->name(),
                            "', which has ", input.node->num_outputs(), " outputs");
    }
  }
  node->inputs_ = spec.inputs;
  FillTypes(node.get());
  FillDefaults(node.get());
  FillOutputTypes(*node, &node->output_types_);
  node->infos_.resize(node->num_outputs());
  node->id_ = num_ids();
  try {
    InferShapes(node.get());
  } catch (const Error&) {
    if (!spec.fails_when_run) throw;
  }
  Node* added = Insert(std::move(node));
  added->inputs_.clear();
  Link(added, std::move(spec.inputs), spec.control_inputs);
  return added;
}

Node* Graph::CopyNode(const Node& from, std::vector<Endpoint> inputs, const std::vector<Node*>& control_inputs) {
  auto node = std::make_unique<Node>();
  node->name_ = from.name_;
  node->op_ = from.op_;
  node->own_op_ = from.own_op_;
  node->input_types_ = from.input_types_;
  node->output_types_ = from.output_types_;
  node->infos_ = from.infos_;
  node->attrs_ = from.attrs_;
  node->device_ = from.device_;
  node->assigned_device_ = from.assigned_device_;
  Node* added = Insert(std::move(node));
  Link(added, std::move(inputs), control_inputs);
  return added;
}

void Graph::SetInputs(Node* node, std::vector<Endpoint> inputs, const std::vector<Node*>& control_inputs) {
  Link(node, std::move(inputs), control_inputs);
  Changed(node);
}

void Graph::Changed(Node* node) {
  constants_->Forget(*node);
  ++version_;
}

void Graph::InferShapes(Node* node) {
  if (!node->op().shape) return;
  NodeInference context(constants_.get(), *node);
  try {
    node->op().shape(context);
  } catch (const Error& e) {
    std::vector<std::string> shapes;
    for (const Endpoint& input : node->inputs_) shapes.push_back(input.shape().ToString());
    throw InvalidArgument(e.what(), " for '{{node ", node->name(), "}} = ", node->op_name(), "' (op: '",
                          node->op_name(), "') with input shapes: ", StrJoin(shapes, ", "), ".");
  }
  node->infos_ = std::move(context.outputs());
  constants_->Forget(*node);
}

void Graph::Unlink(Node* node) {
  for (const Endpoint& input : node->inputs_) {
    std::erase_if(input.node->consumers_, [&](const Consumer& c) { return c.node == node; });
  }
  for (Node* control : node->control_inputs_) {
    std::erase_if(control->consumers_, [&](const Consumer& c) { return c.node == node; });
  }
  node->inputs_.clear();
  node->control_inputs_.clear();
}

void Graph::Become(Node* node, NodeSpec spec) {
  const OpDef* op = ops_->Find(spec.op);
  if (!op) throw NotFound("Op type not registered '", spec.op, "' (node '", node->name_, "')");
  Unlink(node);
  node->op_ = op;
  node->own_op_ = nullptr;
  node->attrs_ = std::move(spec.attrs);
  node->input_types_.clear();
  node->inputs_ = spec.inputs;
  FillTypes(node);
  FillDefaults(node);
  std::vector<DataType> types;
  FillOutputTypes(*node, &types);
  if (types != node->output_types_) throw Internal("node '", node->name_, "' would get outputs of other types");
  node->inputs_.clear();
  Link(node, std::move(spec.inputs), spec.control_inputs);
  Changed(node);
}

void Graph::RemoveNode(Node* node) {
  if (!node->consumers_.empty()) throw Internal("node '", node->name(), "' still has consumers");
  Unlink(node);
  constants_->Erase(*node);
  by_name_.erase(node->name_);
  --num_nodes_;
  ++version_;
  nodes_[node->id_].reset();
}

void Graph::AddControlEdge(Node* from, Node* to) {
  if (std::ranges::find(to->control_inputs_, from) != to->control_inputs_.end()) return;
  to->control_inputs_.push_back(from);
  from->consumers_.push_back({to, -1});
  ++version_;
}

void Graph::RemoveControlEdge(Node* from, Node* to) {
  std::erase(to->control_inputs_, from);
  std::erase_if(from->consumers_, [&](const Consumer& c) { return c.node == to && c.input == -1; });
  ++version_;
}

void Graph::RemoveControlEdges(Node* to) {
  for (Node* from : std::vector<Node*>(to->control_inputs_)) RemoveControlEdge(from, to);
}

void Graph::UpdateInput(Node* node, int input, Endpoint value) {
  if (input < 0 || input >= node->num_inputs()) {
    throw OutOfRange("Cannot update edge. Input index [", input, "] is greater than the number of total inputs [",
                     node->num_inputs(), "].");
  }
  if (BaseType(value.type()) != BaseType(node->input_type(input)) ||
      (IsRef(node->input_type(input)) && !IsRef(value.type()))) {
    throw InvalidArgument("Input ", input, " of node ", node->name(), " was passed ", ToString(value.type()), " from ",
                          value.name(), " incompatible with expected ", ToString(node->input_type(input)), ".");
  }
  auto& consumers = node->inputs_[input].node->consumers_;
  std::erase_if(consumers, [&](const Consumer& c) { return c.node == node && c.input == input; });
  node->inputs_[input] = value;
  value.node->consumers_.push_back({node, input});
  Changed(node);
}

void Graph::SetAttr(Node* node, std::string_view name, AttrValue value) {
  node->attrs_.Set(name, std::move(value));
  Changed(node);
  // A list of output types may grow: a call whose function has come to give more results.
  for (const ArgDef& output : node->op_->outputs) {
    const auto* types = output.type_list_attr == name ? node->attrs_.Find(name)->If<std::vector<DataType>>() : nullptr;
    if (!types || node->op_->outputs.size() != 1 || types->size() <= node->output_types_.size()) continue;
    node->output_types_ = *types;
    node->infos_.resize(types->size());
  }
}

void Graph::ClearAttr(Node* node, std::string_view name) {
  node->attrs_.Erase(name);
  Changed(node);
}

void Graph::SetShape(Endpoint output, const PartialShape& shape) {
  PartialShape& known = output.node->infos_[output.index].shape;
  try {
    PartialShape merged = known.MergeWith(shape);
    if (merged == known) return;
    known = std::move(merged);
    constants_->Forget(*output.node);
  } catch (const Error& e) {
    throw InvalidArgument("Tensor '", output.name(), "' has shape ", known, ", which is incompatible with ", shape,
                          ": ", e.what());
  }
}

void Graph::ForgetShape(Endpoint output) {
  output.node->infos_[output.index].shape = PartialShape();
  Changed(output.node);
}

void Graph::SetHandleData(Endpoint output, std::vector<DtypeAndShape> data) {
  output.node->infos_[output.index].handle_data = std::move(data);
}

Node* Graph::FindNode(std::string_view name) const {
  const auto it = by_name_.find(name);
  return it == by_name_.end() ? nullptr : it->second;
}

std::vector<Node*> Graph::Nodes() const {
  std::vector<Node*> nodes;
  nodes.reserve(num_nodes_);
  for (const auto& node : nodes_) {
    if (node) nodes.push_back(node.get());
  }
  return nodes;
}

const Tensor* HeldConstant(const Node& node) {
  if (!node.op().inputs.empty() || node.num_outputs() != 1) return nullptr;
  const AttrValue* held = node.attrs().Find("value");
  const Tensor* value = held ? held->If<Tensor>() : nullptr;
  return value && value->dtype() == node.output_type(0) ? value : nullptr;
}

const Tensor* Graph::ConstantValue(Endpoint output) { return constants_->Value(output); }
void Graph::SetConstantValue(Endpoint output, const Tensor& value) { constants_->Give(output, value); }
PartialShape Graph::ConstantValueAsShape(Endpoint output) { return constants_->AsShape(output); }

}  // namespace penstock
