#include "penstock/data/fused_function.h"

#include <algorithm>
#include <set>

namespace penstock::data {

DatasetFunction DatasetFunction::Of(const RecipeView& d, std::string_view attr, std::string_view input) {
  return {d.attr<FuncRef>(attr), d.Inputs(input)};
}

FunctionBuilder::FunctionBuilder(FunctionLibraryPtr library) : library_(std::move(library)) {
  graph_.set_library(library_);
}

Endpoint FunctionBuilder::Argument(const std::string& name, DataType dtype, const PartialShape& shape) {
  NodeSpec spec{"Placeholder", graph_.UniqueName(name), {}, {}, {{"dtype", dtype}, {"shape", shape}}, ""};
  return {graph_.AddNode(std::move(spec)), 0};
}

std::vector<Endpoint> FunctionBuilder::Arguments(const ElementSpec& element) {
  for (size_t i = 0; i < element.types.size(); ++i) {
    elements_.push_back(Argument("element", element.types[i], element.shapes[i]));
  }
  return elements_;
}

void FunctionBuilder::Capture(const std::vector<Tensor>& values, std::vector<Endpoint>* args) {
  for (const Tensor& value : values) {
    captures_.push_back(Argument("captured", value.dtype(), PartialShape(value.shape())));
    captured_.push_back(value);
    args->push_back(captures_.back());
  }
}

std::vector<Endpoint> FunctionBuilder::Call(const DatasetFunction& function, std::vector<Endpoint> args) {
  Capture(function.captured, &args);
  return Outputs(function.function.name, std::move(args), function.function.attrs);
}

Endpoint FunctionBuilder::Conditional(Endpoint condition, const FuncRef& yes, const FuncRef& no,
                                      std::vector<Endpoint> args, const std::vector<Tensor>& captured, DataType type) {
  Capture(captured, &args);
  args.insert(args.begin(), condition);
  return Op("If", std::move(args), {{"then_branch", yes}, {"else_branch", no}, {"Tout", std::vector<DataType>{type}}});
}

std::vector<Endpoint> FunctionBuilder::Outputs(const std::string& op, std::vector<Endpoint> inputs, AttrMap attrs) {
  Node* node = graph_.AddNode({op, graph_.UniqueName(op), std::move(inputs), {}, std::move(attrs), ""});
  std::vector<Endpoint> outputs;
  for (int i = 0; i < node->num_outputs(); ++i) outputs.push_back({node, i});
  return outputs;
}

Endpoint FunctionBuilder::Constant(Tensor value) {
  const DataType type = value.dtype();
  return Op("Const", {}, {{"dtype", type}, {"value", std::move(value)}});
}

FuncRef FunctionBuilder::Finish(const std::string& name, std::vector<Endpoint> results) {
  FunctionSpec spec;
  spec.name = name;
  spec.append_hash = true;
  spec.inputs = elements_;
  spec.inputs.insert(spec.inputs.end(), captures_.begin(), captures_.end());
  spec.outputs = std::move(results);
  for (size_t i = 0; i < spec.outputs.size(); ++i) spec.output_names.push_back(StrCat("result_", i));
  const std::shared_ptr<FunctionDef> function = GraphToFunction(graph_, spec);
  library_ = library_->With(function);
  return {function->signature.name, {}};
}

std::vector<std::shared_ptr<const FunctionDef>> ReachedFunctions(const FuncRef& function,
                                                                 const FunctionLibraryPtr& library, bool* all_found) {
  std::vector<std::shared_ptr<const FunctionDef>> reached;
  std::set<std::string> seen;
  const auto reach = [&](const std::string& name) {
    if (!seen.insert(name).second) return;
    auto found = library ? library->FindShared(name) : nullptr;
    if (!found) {
      *all_found = false;
    } else {
      reached.push_back(std::move(found));
    }
  };
  *all_found = true;
  reach(function.name);
  for (size_t i = 0; i < reached.size(); ++i) {
    const std::shared_ptr<const FunctionDef> from = reached[i];
    for (const NodeDef& node : from->nodes) {
      if (!OpRegistry::Global().Find(node.op)) reach(node.op);
      for (const auto& [name, value] : node.attrs) {
        if (const FuncRef* called = value.If<FuncRef>()) reach(called->name);
        if (const auto* all = value.If<std::vector<FuncRef>>()) {
          for (const FuncRef& each : *all) reach(each.name);
        }
      }
    }
  }
  return reached;
}

// Whether its state is that of functions which its attributes name.
static bool CallsFunctions(const OpDef& op) {
  return std::ranges::any_of(op.attrs, [](const AttrDef& attr) { return attr.kind == "func"; });
}

// Whether it has effects of which no state needs to be saved, or a state that is not the iterator's.
static bool StateNeedsNoSaving(const OpDef& op) {
  static constexpr std::string_view kOps[] = {"Assert", "LookupTableFindV2", "LookupTableSize", "LookupTableSizeV2",
                                              "Print",  "PrintV2",           "Timestamp"};
  return std::ranges::find(kOps, op.name) != std::end(kOps);
}

void RequireNoState(const FuncRef& function, const FunctionLibraryPtr& library) {
  std::vector<std::string> names = {function.name};
  for (size_t i = 0; i < names.size(); ++i) {
    const std::shared_ptr<const FunctionDef> found = library ? library->FindShared(names[i]) : nullptr;
    if (!found) continue;
    const auto look_at = [&](const std::string& name) {
      if (std::ranges::find(names, name) == names.end()) names.push_back(name);
    };
    for (const NodeDef& node : found->nodes) {
      const OpDef* op = OpRegistry::Global().Find(node.op);
      if (!op) look_at(node.op);
      if (!op || !op->traits.stateful || StateNeedsNoSaving(*op)) continue;
      if (op->outputs.size() == 1 && op->outputs[0].type == DT_VARIANT) continue;  // a dataset
      if (op->name != "If" && op->name != "While") throw FailedPrecondition(op->name, " is stateful.");
      for (const auto& [name, value] : node.attrs) {
        if (const FuncRef* branch = value.If<FuncRef>()) look_at(branch->name);
      }
    }
  }
}

bool IsStateful(const FuncRef& function, const FunctionLibraryPtr& library) {
  bool all_found;
  const auto reached = ReachedFunctions(function, library, &all_found);
  return !all_found || std::ranges::any_of(reached, [](const auto& each) {
    return std::ranges::any_of(each->nodes, [](const NodeDef& node) {
      const OpDef* op = OpRegistry::Global().Find(node.op);
      return op && op->traits.stateful && op->name != "Assert" && !CallsFunctions(*op);
    });
  });
}

}  // namespace penstock::data
