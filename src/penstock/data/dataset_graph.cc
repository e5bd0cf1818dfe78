#include "penstock/data/dataset_graph.h"

#include <algorithm>
#include <map>
#include <set>

#include "penstock/base/random.h"
#include "penstock/data/fused_function.h"
#include "penstock/data/written_resource.h"
#include "penstock/graph/import.h"
#include "penstock/io/convert.h"
#include "penstock/kernel/anonymous.h"

namespace penstock::data {
namespace {

constexpr std::string_view kResult = "_Retval";
constexpr std::string_view kGraphKey = "/graph";  // ends the keys of graphs that stand for datasets in a state

// Whether all elements are datasets that ops made.
bool HoldsDatasets(const Tensor& t) {
  if (t.dtype() != DT_VARIANT || t.num_elements() == 0) return false;
  return std::ranges::all_of(t.flat<Variant>(), [](const Variant& v) {
    const auto* dataset = v.as<Dataset>();
    return dataset && dataset->recipe().op;
  });
}

class GraphWriter {
 public:
  GraphWriter(FunctionLibraryPtr session_library, StatePolicy policy)
      : session_library_(std::move(session_library)), policy_(policy) {
    graph_.versions.producer = kGraphDefVersion;
  }

  GraphDef Write(const Dataset& dataset) {
    const std::string name = AddDataset(dataset);
    graph_.nodes.push_back({"dataset", std::string(kResult), "", {name}, {{"T", DT_VARIANT}, {"index", 0}}, {}, {}});
    return std::move(graph_);
  }

 private:
  std::string AddDataset(const Dataset& dataset) {
    const auto it = names_.find(&dataset);
    if (it != names_.end()) return it->second;
    const Recipe& recipe = dataset.recipe();
    if (!recipe.op) throw Unimplemented(dataset.name(), "Dataset cannot be written as a graph");
    const FunctionLibraryPtr& library = recipe.library ? recipe.library : session_library_;
    AddFunctions(*recipe.attrs, library);
    std::vector<std::string> inputs;
    for (const Tensor& input : recipe.inputs) inputs.push_back(AddInput(input, recipe));
    return names_[&dataset] = AddNode(recipe.op->name, std::move(inputs), *recipe.attrs);
  }

  std::string AddInput(const Tensor& input, const Recipe& recipe) {
    if (const Dataset* dataset = AsDataset(input); dataset && dataset->recipe().op) return AddDataset(*dataset);
    if (HoldsDatasets(input) && input.rank() == 1) {
      std::vector<std::string> datasets;
      for (const Variant& v : input.flat<Variant>()) datasets.push_back(AddDataset(*v.as<Dataset>()));
      return AddNode("Pack", std::move(datasets), {{"N", input.dim(0)}, {"T", DT_VARIANT}, {"axis", 0}});
    }
    if (input.dtype() != DT_RESOURCE) return AddConst(input);
    // What iterators share and nothing else uses.
    if (IsInput(input, recipe, "seed_generator")) return AddNode("DummySeedGenerator", {}, {});
    if (IsInput(input, recipe, "cache")) return AddNode("DummyMemoryCache", {}, {});
    const ResourceHandle* handle = input.num_elements() == 1 ? input.data<ResourceHandle>() : nullptr;
    const std::string added = handle ? AddResource(handle->resource.get()) : "";
    if (!added.empty()) return added;
    throw FailedPrecondition(recipe.op->name, " cannot be written as a graph: it uses the resource ",
                             handle ? handle->name : "");
  }

  // Another resource like this one; "" if there is no way to make it.
  std::string AddResource(Resource* resource) {
    if (!resource) return "";
    std::string& added = resources_[resource];
    if (!added.empty()) return added;
    WrittenResource written;
    if (auto* slot = dynamic_cast<VariableSlot*>(resource)) {
      std::lock_guard lock(slot->mutex);
      written = {"VarHandleOp",
                 {{"dtype", slot->dtype}, {"shape", slot->shape}, {"shared_name", std::string(kAnonymousName)}},
                 "AssignVariableOp",
                 {{"dtype", slot->dtype}},
                 {slot->value}};
      if (!slot->value.initialized()) written.fill_op.clear();
    } else if (const auto* writable = dynamic_cast<const WritableResource*>(resource)) {
      written = writable->Write();
    }
    if (written.op.empty()) return "";
    // A name that no other resource has, as the resource may be named after its node.
    const std::string name = StrCat(written.op, "/", NondeterministicSeed());
    graph_.nodes.push_back({name, written.op, "", {}, std::move(written.attrs), {}, {}});
    if (written.fill_op.empty()) return added = name;
    std::vector<std::string> inputs = {name};
    for (const Tensor& part : written.contents) inputs.push_back(AddConst(part));
    const std::string fill = AddNode(written.fill_op, std::move(inputs), std::move(written.fill_attrs));
    return added = AddNode("Identity", {name, "^" + fill}, {{"T", DT_RESOURCE}});
  }

  std::string AddConst(const Tensor& value) {
    return AddNode("Const", {}, {{"dtype", value.dtype()}, {"value", value}});
  }

  static bool IsInput(const Tensor& input, const Recipe& recipe, std::string_view name) {
    return recipe.op->InputIndex(name) >= 0 &&
           &recipe.inputs[InputRange(*recipe.op, *recipe.attrs, name).first] == &input;
  }

  std::string AddNode(const std::string& op, std::vector<std::string> inputs, AttrMap attrs) {
    std::string name = StrCat(op, "/_", graph_.nodes.size());
    graph_.nodes.push_back({name, op, "", std::move(inputs), std::move(attrs), {}, {}});
    return name;
  }

  void AddFunctions(const AttrMap& attrs, const FunctionLibraryPtr& library) {
    for (const auto& [name, value] : attrs) {
      if (const FuncRef* f = value.If<FuncRef>()) AddFunction(*f, library);
      if (const auto* functions = value.If<std::vector<FuncRef>>()) {
        for (const FuncRef& f : *functions) AddFunction(f, library);
      }
    }
  }

  void AddFunction(const FuncRef& function, const FunctionLibraryPtr& library) {
    if (!library || !library->Find(function.name)) return;
    bool all_found;
    for (auto& reached : ReachedFunctions(function, library, &all_found)) {
      if (policy_ == StatePolicy::kFail) RequireNoStateIn(reached->signature.name, library);
      if (functions_.insert(reached->signature.name).second) graph_.functions.push_back(std::move(reached));
    }
  }

  static void RequireNoStateIn(const std::string& function, const FunctionLibraryPtr& library) {
    try {
      RequireNoState({function, {}}, library);
    } catch (const Error& error) {
      throw Error(
          Status(error.code(), StrCat("Failed to serialize the input pipeline graph: ", error.status().message())));
    }
  }

  const FunctionLibraryPtr session_library_;
  const StatePolicy policy_;
  GraphDef graph_;
  std::map<const Dataset*, std::string> names_;
  std::map<const Resource*, std::string> resources_;
  std::set<std::string> functions_;
};

}  // namespace

GraphDef GraphOf(const Dataset& dataset, const FunctionLibraryPtr& session_library, StatePolicy policy) {
  return GraphWriter(session_library, policy).Write(dataset);
}

Ref<const Dataset> DatasetOf(KernelContext& k, GraphDef graph_def) {
  std::string result;
  std::erase_if(graph_def.nodes, [&](const NodeDef& node) {
    if (node.op != kResult) return false;
    if (!node.inputs.empty()) result = node.inputs[0];
    return true;
  });
  if (result.empty()) throw InvalidArgument("The graph of a dataset has no node ", kResult);
  Graph graph;
  ImportOptions options;
  options.return_tensors = {result};
  const ImportResults imported = ImportGraphDef(std::move(graph_def), options, &graph);
  FunctionSpec spec;
  spec.name = "dataset_graph";
  spec.append_hash = true;
  spec.outputs = imported.return_tensors;
  spec.output_names = {"dataset"};
  const std::shared_ptr<FunctionDef> function = GraphToFunction(graph, spec);
  const auto scope = FunctionsOf(k).NewScope(graph.library()->With(function));
  Element made;
  scope->Bind({function->signature.name, {}})->Call({}, k.step().cancellation, k.step().interrupts_seen, &made);
  RequireComponents(made, 1);
  return DatasetFrom(made[0]);
}

Ref<SavedState> WithGraphs(KernelContext& k, Ref<SavedState> state) {
  std::map<std::string, Tensor, std::less<>> values;
  for (auto& [key, value] : state->values) {
    if (!HoldsDatasets(value)) {
      values[key] = std::move(value);
      continue;
    }
    try {
      Tensor graphs(DT_STRING, value.shape());
      TString* graph = graphs.mutable_data<TString>();
      for (const Variant& v : value.flat<Variant>()) {
        *graph++ = TString(SerializeGraphDef(GraphOf(*v.as<Dataset>(), FunctionsOf(k).library(), StatePolicy::kAllow)));
      }
      values[StrCat(key, kGraphKey)] = std::move(graphs);
    } catch (const Error&) {
      values[key] = std::move(value);
    }
  }
  state->values = std::move(values);
  return state;
}

Ref<const SavedState> WithDatasets(KernelContext& k, Ref<const SavedState> state) {
  auto made = MakeRef<SavedState>();
  for (const auto& [key, value] : state->values) {
    if (!key.ends_with(kGraphKey) || value.dtype() != DT_STRING) {
      made->values[key] = value;
      continue;
    }
    Tensor datasets(DT_VARIANT, value.shape());
    Variant* v = datasets.mutable_data<Variant>();
    for (const TString& graph : value.flat<TString>()) {
      *v++ = *ToVariant(DatasetOf(k, ParseGraphDef(graph.view()))).data<Variant>();
    }
    made->values[key.substr(0, key.size() - kGraphKey.size())] = std::move(datasets);
  }
  return made;
}

}  // namespace penstock::data
