#include "penstock/graph/import.h"

#include <algorithm>
#include <queue>
#include <set>

#include "penstock/graph/export.h"

namespace penstock {
namespace {

constexpr std::string_view kColocation = "loc:@";

bool IsImportableName(std::string_view name, bool allow_internal = false) {
  return Graph::IsValidName(name) && (allow_internal || name[0] != '_');
}

class Importer {
 public:
  Importer(GraphDef* def, const ImportOptions& options, Graph* graph)
      : defs_(def->nodes), def_(*def), options_(options), graph_(graph) {}

  ImportResults Run() {
    CheckVersions(def_.versions, options_.consumer_version, kMinProducer, "GraphDef", "graph");
    ChoosePrefix();
    BuildIndex();
    const FunctionLibraryPtr library_before = graph_->library();
    const Versions versions_before = graph_->versions();
    try {
      ImportFunctions();
      RequireKnownOps();
      ChooseNames();
      ResolveInputs();
      BuildNodes();
      CloseLoops();
      MergeVersions();
      FindReturned();
    } catch (...) {
      Undo();
      graph_->versions() = versions_before;
      if (graph_->library() != library_before) graph_->set_library(library_before);
      throw;
    }
    FindUnusedKeys();
    return std::move(results_);
  }

 private:
  struct Input {
    int source = -1;    // index of the node's definition, or -1: it exists already
    int output = 0;     // -1: control
    Endpoint existing;  // index -1: control
  };
  struct BackEdge {
    int node, input;
    Endpoint placeholder;  // what the input is until the loop is closed
  };

  // A name is taken if a node has it, or a scope that nodes are in.
  bool NameExists(std::string_view name) {
    if (graph_->FindNode(name)) return true;
    if (!have_prefixes_) {
      for (const Node* node : graph_->Nodes()) AddPrefixes(node->name(), &prefixes_);
      have_prefixes_ = true;
    }
    return prefixes_.contains(std::string(name));
  }

  static void AddPrefixes(std::string_view name, std::unordered_set<std::string>* prefixes) {
    for (size_t at = name.find('/'); at != std::string_view::npos; at = name.find('/', at + 1)) {
      prefixes->emplace(name.substr(0, at));
    }
  }

  void ChoosePrefix() {
    std::string prefix = options_.prefix;
    if (prefix.ends_with('/')) prefix.pop_back();
    if (prefix.empty()) return;
    if (!IsImportableName(prefix)) {
      throw InvalidArgument("Imported node name prefix '", prefix, "/' would lead to invalid node names");
    }
    if (options_.uniquify_prefix && NameExists(prefix)) {
      int n = 1;
      while (NameExists(StrCat(prefix, "_", n))) ++n;
      prefix = StrCat(prefix, "_", n);
    }
    prefix_ = prefix + "/";
  }

  void BuildIndex() {
    index_.reserve(defs_.size());
    for (size_t i = 0; i < defs_.size(); ++i) {
      const NodeDef& def = defs_[i];
      if (!IsImportableName(def.name, options_.allow_internal_names)) {
        throw InvalidArgument("Node '", def.name, "': Node name contains invalid characters");
      }
      if (!index_.emplace(def.name, static_cast<int>(i)).second)
        throw InvalidArgument("Node '", def.name, "' is not unique");
      if (def.op.empty()) throw InvalidArgument("Node '", def.name, "' does not specify an operation");
      bool control = false;
      for (const std::string& input : def.inputs) {
        if (input.starts_with('^')) {
          control = true;
        } else if (control) {
          throw InvalidArgument("Node '", def.name, "': Control dependencies must come after regular dependencies");
        }
      }
    }
  }

  void ImportFunctions() {
    if (def_.functions.empty() && def_.gradients.empty()) return;
    for (const auto& function : def_.functions) {
      const std::string& name = function->signature.name;
      if (graph_->ops().Find(name)) {
        throw InvalidArgument("Cannot add function '", name, "' because an op with the same name already exists.");
      }
    }
    graph_->set_library(graph_->library()->WithAll(def_.functions, def_.gradients));
  }

  void RequireKnownOps() const {
    std::set<std::string> unknown;
    std::string first;
    for (const NodeDef& def : defs_) {
      if (graph_->ops().Find(def.op) || graph_->library()->Find(def.op)) continue;
      if (unknown.empty()) first = StrCat("'", def.op, "' (node '", def.name, "')");
      unknown.insert(def.op);
    }
    if (unknown.empty()) return;
    throw NotFound(
        "Op type not registered ", first,
        unknown.size() == 1 ? "" : StrCat("; ", unknown.size(), " unknown ops in all: ", StrJoin(unknown, ", ")));
  }

  void ChooseNames() {
    names_.reserve(defs_.size());
    std::unordered_set<std::string> renamed, scopes;
    for (const NodeDef& def : defs_) {
      std::string name = prefix_ + def.name;
      if (NameExists(name)) {
        if (!options_.uniquify_names) throw InvalidArgument("Node name '", name, "' already exists in the Graph");
        if (scopes.empty()) {
          for (const NodeDef& other : defs_) AddPrefixes(prefix_ + other.name, &scopes);
        }
        std::string candidate;
        int n = 1;
        do {
          candidate = StrCat(name, "_", n++);
        } while (NameExists(candidate) || scopes.contains(candidate) || renamed.contains(candidate) ||
                 index_.contains(std::string_view(candidate).substr(prefix_.size())));
        renamed.insert(candidate);
        name = std::move(candidate);
      }
      names_.push_back(std::move(name));
    }
  }

  Input Resolve(const NodeDef& def, const std::string& text) {
    const TensorName name = ParseTensorName(text);
    if (name.index >= 0) {
      if (!options_.input_map.empty()) {
        auto it = options_.input_map.find(StrCat(name.node, ":", name.index));
        if (it == options_.input_map.end() && name.index == 0) it = options_.input_map.find(std::string(name.node));
        if (it != options_.input_map.end()) {
          used_keys_.insert(it->first);
          return {-1, name.index, it->second};
        }
      }
    } else if (!options_.control_input_map.empty()) {
      auto it = options_.control_input_map.find(StrCat("^", name.node));
      if (it == options_.control_input_map.end()) it = options_.control_input_map.find(std::string(name.node));
      if (it != options_.control_input_map.end()) {
        used_keys_.insert(it->first);
        return {-1, -1, {it->second, -1}};
      }
    }
    const auto it = index_.find(name.node);
    if (it == index_.end()) throw InvalidArgument("Node '", def.name, "': Unknown input node '", text, "'");
    return {it->second, name.index, {}};
  }

  bool Is(const NodeDef& def, Flow flow) const {
    const OpDef* op = graph_->ops().Find(def.op);
    return op && op->traits.flow == flow;
  }

  // Who waits for whom. A loop's Merge is built as soon as it has one input; its back edges follow when all nodes are
  // there.
  void ResolveInputs() {
    const size_t n = defs_.size();
    inputs_.resize(n);
    pending_.resize(n);
    consumers_.resize(n);
    nodes_.resize(n);
    for (size_t i = 0; i < n; ++i) {
      const NodeDef& def = defs_[i];
      const bool is_merge = Is(def, Flow::kMerge);
      bool closes_loop = false, has_data = false;
      int data = 0, control = 0;
      inputs_[i].reserve(def.inputs.size());
      for (const std::string& text : def.inputs) {
        const Input& input = inputs_[i].emplace_back(Resolve(def, text));
        if (input.source < 0) {
          has_data |= input.output >= 0;
          continue;
        }
        if (is_merge && input.output >= 0 && Is(defs_[input.source], Flow::kNextIteration)) {
          closes_loop = true;
          continue;
        }
        ++(input.output >= 0 ? data : control);
        consumers_[input.source].push_back(static_cast<int>(i));
      }
      // A loop that nothing enters is never built, and reported as a cycle.
      pending_[i] = control + data + (closes_loop && data == 0 && !has_data);
      if (pending_[i] == 0) ready_.push(static_cast<int>(i));
    }
  }

  void BuildNodes() {
    results_.nodes.reserve(defs_.size());
    size_t built = 0;
    for (; !ready_.empty(); ++built) {
      const int i = ready_.top();
      ready_.pop();
      BuildNode(i);
      for (const int consumer : consumers_[i]) {
        if (--pending_[consumer] == 0) ready_.push(consumer);
      }
    }
    if (built == defs_.size()) return;
    const auto stuck = std::ranges::find(nodes_, nullptr) - nodes_.begin();
    throw InvalidArgument(defs_.size() - built, " nodes in a cycle; one of them is '", defs_[stuck].name, "'");
  }

  void BuildNode(int i) {
    NodeDef& def = defs_[i];
    NodeSpec spec;
    spec.op = def.op;
    spec.name = names_[i];
    spec.device = def.device;
    spec.attrs = std::move(def.attrs);
    std::vector<int> missing;  // positions of back edges
    bool inherits_controls = false;
    for (size_t at = 0; at < inputs_[i].size(); ++at) {
      const Input& input = inputs_[i][at];
      if (input.output < 0) {
        Node* control = input.source < 0 ? input.existing.node : nodes_[input.source];
        spec.control_inputs.push_back(control);
        inherits_controls |= input.source >= 0;
        continue;
      }
      if (input.source < 0) {
        spec.inputs.push_back(input.existing);
      } else if (Node* source = nodes_[input.source]) {
        if (input.output >= source->num_outputs()) {
          throw InvalidArgument("Node '", def.name, "': Connecting to invalid output ", input.output,
                                " of source node ", defs_[input.source].name, " which has ", source->num_outputs(),
                                " outputs.");
        }
        spec.inputs.push_back({source, input.output});
        inherits_controls = true;
      } else {
        missing.push_back(static_cast<int>(at));
        spec.inputs.push_back({});
      }
    }
    for (const int at : missing) {
      spec.inputs[at] = *std::ranges::find_if(spec.inputs, [](const Endpoint& e) { return static_cast<bool>(e); });
      back_edges_.push_back({i, at, spec.inputs[at]});
    }
    if (!inherits_controls) {
      spec.control_inputs.insert(spec.control_inputs.end(), options_.control_inputs.begin(),
                                 options_.control_inputs.end());
    }
    if (!CheckAttrs(def, &spec.attrs)) results_.incomplete.push_back(i);
    MoveColocation(def, &spec.attrs);
    ForgetOldScalar(def, &spec.attrs);
    const AttrValue* shapes_attr = spec.attrs.Find("_output_shapes");
    const AttrValue shapes = shapes_attr ? *shapes_attr : AttrValue();
    spec.attrs.Erase("_output_shapes");
    Node* node = graph_->AddNode(std::move(spec), def_.versions.producer);
    nodes_[i] = node;
    results_.nodes.push_back(node);
    // What comes around the loop may have another shape than what went in.
    if (!missing.empty()) {
      for (int output = 0; output < node->num_outputs(); ++output) graph_->ForgetShape({node, output});
    }
    ApplyShapes(def, shapes, node);
    if (options_.device_function) node->set_device(options_.device_function(ToNodeDef(*node)));
  }

  // Whether all attributes are there; those with defaults may be missing.
  bool CheckAttrs(const NodeDef& def, AttrMap* attrs) const {
    const OpDef* op = graph_->ops().Find(def.op);
    if (!op) return true;  // a function: its attributes are its caller's affair
    bool complete = true;
    for (const AttrDef& attr : op->attrs) {
      if (attrs->Find(attr.name)) continue;
      complete = false;
      if (!attr.has_default()) {
        throw InvalidArgument("NodeDef missing attr '", attr.name, "' from ", *op, "; NodeDef: {{node ", def.name,
                              "}}");
      }
    }
    if (!options_.producer_ops) return complete;
    const auto producer = std::ranges::find(*options_.producer_ops, def.op, &OpDef::name);
    if (producer == options_.producer_ops->end()) return complete;
    for (const AttrDef& attr : producer->attrs) {
      const AttrValue* value = attrs->Find(attr.name);
      if (value && !op->FindAttr(attr.name) && attr.has_default() && *value == attr.default_value)
        attrs->Erase(attr.name);
    }
    return complete;
  }

  // Old graphs say of a placeholder of any shape what later ones say of a scalar.
  void ForgetOldScalar(const NodeDef& def, AttrMap* attrs) const {
    constexpr int kLastAmbiguous = 21;  // version of the graph
    if (def.op != "Placeholder" || def_.versions.producer > kLastAmbiguous) return;
    const AttrValue* value = attrs->Find("shape");
    const auto* shape = value ? value->If<PartialShape>() : nullptr;
    if (shape && shape->known_rank() && shape->rank() == 0) attrs->Set("shape", PartialShape());
  }

  // Names of colocated nodes follow the nodes.
  void MoveColocation(const NodeDef& def, AttrMap* attrs) const {
    const AttrValue* value = attrs->Find("_class");
    const auto* groups = value ? value->If<std::vector<std::string>>() : nullptr;
    if (!groups) return;
    std::vector<std::string> moved = *groups;
    for (std::string& group : moved) {
      if (!group.starts_with(kColocation)) continue;
      const std::string name = group.substr(kColocation.size());
      const auto it = index_.find(name);
      if (it == index_.end() && options_.validate_colocation) {
        throw InvalidArgument("Node '", def.name, "' expects to be colocated with unknown node '", name, "'");
      }
      group = StrCat(kColocation, it == index_.end() ? prefix_ + name : names_[it->second]);
    }
    attrs->Set("_class", std::move(moved));
  }

  // Shapes that the writer of the GraphDef knew. Those of references and stateful ops may come from a program whose
  // shape functions knew less; what contradicts ours is left out there and an error elsewhere. Shapes beyond the
  // outputs are ignored, as in TensorFlow.
  void ApplyShapes(const NodeDef& def, const AttrValue& value, Node* node) {
    const auto* shapes = value.If<std::vector<PartialShape>>();
    if (!shapes) return;
    if (static_cast<int>(shapes->size()) < node->num_outputs()) {
      throw InvalidArgument("Node '", def.name, "' has ", node->num_outputs(),
                            " outputs but the _output_shapes attribute specifies shapes for ", shapes->size(),
                            " outputs");
    }
    bool tolerant = node->traits().stateful;
    for (const DataType t : node->output_types()) tolerant |= IsRef(t);
    for (const DataType t : node->input_types()) tolerant |= IsRef(t);
    for (int i = 0; i < node->num_outputs(); ++i) {
      try {
        graph_->SetShape({node, i}, (*shapes)[i]);
      } catch (const Error& e) {
        if (tolerant) continue;
        throw InvalidArgument("Node '", def.name,
                              "' has an _output_shapes attribute inconsistent with the GraphDef for output #", i, ": ",
                              e.what());
      }
    }
  }

  void CloseLoops() {
    for (const BackEdge& edge : back_edges_) {
      const Input& input = inputs_[edge.node][edge.input];
      Node* source = nodes_[input.source];
      if (input.output >= source->num_outputs()) {
        throw InvalidArgument("Node '", defs_[edge.node].name, "': Connecting to invalid output ", input.output,
                              " of source node ", defs_[input.source].name, " which has ", source->num_outputs(),
                              " outputs.");
      }
      graph_->UpdateInput(nodes_[edge.node], edge.input, {source, input.output});
    }
  }

  void MergeVersions() {
    Versions& versions = graph_->versions();
    versions.producer = std::min(versions.producer, def_.versions.producer);
    versions.min_consumer = std::max(versions.min_consumer, def_.versions.min_consumer);
    std::set<int> bad(versions.bad_consumers.begin(), versions.bad_consumers.end());
    bad.insert(def_.versions.bad_consumers.begin(), def_.versions.bad_consumers.end());
    versions.bad_consumers.assign(bad.begin(), bad.end());
  }

  void FindReturned() {
    for (const std::string& text : options_.return_tensors) {
      const TensorName name = ParseTensorName(text);
      auto mapped = options_.input_map.find(StrCat(name.node, ":", name.index));
      if (mapped == options_.input_map.end() && name.index == 0)
        mapped = options_.input_map.find(std::string(name.node));
      if (mapped != options_.input_map.end()) {
        used_keys_.insert(mapped->first);
        results_.return_tensors.push_back(mapped->second);
        continue;
      }
      const auto it = index_.find(name.node);
      if (it == index_.end() || name.index < 0) {
        throw InvalidArgument("Requested return tensor '", name.node, ":", name.index, "' not found in graph def");
      }
      Node* node = nodes_[it->second];
      if (name.index >= node->num_outputs()) {
        throw InvalidArgument("Invalid return output ", name.index, " of node '", name.node, "', which has ",
                              node->num_outputs(), " output(s)");
      }
      results_.return_tensors.push_back({node, name.index});
    }
    for (const std::string& name : options_.return_ops) {
      const auto it = index_.find(name);
      if (it == index_.end()) throw InvalidArgument("Requested return node '", name, "' not found in graph def");
      results_.return_ops.push_back(nodes_[it->second]);
    }
  }

  // A key that no node used is fine as long as it names something.
  void FindUnusedKeys() {
    for (const auto& [key, value] : options_.input_map) {
      if (used_keys_.contains(key)) continue;
      const TensorName name = ParseTensorName(key);
      const auto it = index_.find(name.node);
      if (it == index_.end() || name.index >= nodes_[it->second]->num_outputs())
        results_.unused_input_map_keys.push_back(key);
    }
    for (const auto& [key, value] : options_.control_input_map) {
      if (!used_keys_.contains(key) && !index_.contains(ParseTensorName(key).node)) {
        results_.unused_input_map_keys.push_back(key);
      }
    }
  }

  void Undo() {
    for (const BackEdge& edge : back_edges_) {
      if (nodes_[edge.node]) graph_->UpdateInput(nodes_[edge.node], edge.input, edge.placeholder);
    }
    for (auto it = results_.nodes.rbegin(); it != results_.nodes.rend(); ++it) graph_->RemoveNode(*it);
  }

  std::vector<NodeDef>& defs_;
  const GraphDef& def_;
  const ImportOptions& options_;
  Graph* graph_;
  std::string prefix_;                               // "" or ends in '/'
  std::unordered_map<std::string_view, int> index_;  // name -> position in defs_
  std::vector<std::string> names_;                   // new names
  std::vector<std::vector<Input>> inputs_;
  std::vector<std::vector<int>> consumers_;
  std::vector<int> pending_;
  std::vector<Node*> nodes_;
  std::priority_queue<int, std::vector<int>, std::greater<int>>
      ready_;  // nodes come in the GraphDef's order where they can
  std::vector<BackEdge> back_edges_;
  std::unordered_set<std::string> prefixes_;  // scopes of the graph's nodes
  bool have_prefixes_ = false;
  std::set<std::string> used_keys_;
  ImportResults results_;
};

}  // namespace

TensorName ParseTensorName(std::string_view name) {
  if (name.starts_with('^')) return {name.substr(1), -1};
  const size_t colon = name.rfind(':');
  if (colon == std::string_view::npos || colon == 0 || colon + 1 == name.size()) return {name, 0};
  int64_t index = 0;
  const std::string_view digits = name.substr(colon + 1);
  if (digits.find_first_not_of("0123456789") != std::string_view::npos || !ParseInt64(digits, &index) ||
      index > INT32_MAX) {
    return {name, 0};
  }
  return {name.substr(0, colon), static_cast<int>(index)};
}

void CheckVersions(const Versions& versions, int consumer, int min_producer, std::string_view kind,
                   std::string_view what) {
  const std::string_view release = consumer <= kGraphDefVersion ? "1.15.5" : "2.21.0";
  if (versions.producer < min_producer) {
    throw InvalidArgument(kind, " producer version ", versions.producer, " below min producer ", min_producer,
                          " supported by TensorFlow ", release, ".  Please regenerate your ", what, ".");
  }
  if (versions.min_consumer > consumer) {
    throw InvalidArgument(kind, " min consumer version ", versions.min_consumer, " above current version ", consumer,
                          " for TensorFlow ", release, ".  Please upgrade TensorFlow.");
  }
  if (std::ranges::find(versions.bad_consumers, consumer) != versions.bad_consumers.end()) {
    throw InvalidArgument(kind, " disallows consumer version ", consumer,
                          ".  Please upgrade TensorFlow: this version is likely buggy.");
  }
}

ImportResults ImportGraphDef(GraphDef graph_def, const ImportOptions& options, Graph* graph) {
  return Importer(&graph_def, options, graph).Run();
}

}  // namespace penstock
