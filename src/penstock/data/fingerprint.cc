#include "penstock/data/fingerprint.h"

#include <map>

#include "penstock/data/dataset_kernel.h"
#include "penstock/io/convert.h"

namespace penstock::data {
namespace {

// 64-bit FNV-1a.
class Fingerprinter {
 public:
  void Add(std::string_view bytes) {
    for (const char c : bytes) Mix(static_cast<uint8_t>(c));
    Mix(0xFF);
  }
  uint64_t value() const { return value_; }

  void AddAttrs(const AttrMap& attrs, const FunctionLibraryPtr& library) {
    for (const auto& [name, value] : attrs) {
      if (name == "metadata" || name.starts_with("_")) continue;
      Add(name);
      if (const FuncRef* f = value.If<FuncRef>()) {
        AddFunction(*f, library);
      } else if (const auto* functions = value.If<std::vector<FuncRef>>()) {
        for (const FuncRef& each : *functions) AddFunction(each, library);
      } else {
        Add(SerializeAttrValue(value));
      }
    }
  }

  void AddFunction(const FuncRef& function, const FunctionLibraryPtr& library) {
    const FunctionDef* found = library ? library->Find(function.name) : nullptr;
    if (!found) return Add(function.name);
    const auto [number, is_new] = numbers_.try_emplace(found, numbers_.size());
    if (!is_new) return Add(StrCat("function ", number->second));
    for (const NodeDef& node : found->nodes) {
      if (library->Find(node.op)) {
        AddFunction({node.op, {}}, library);
      } else {
        Add(node.op);
      }
      Add(node.name);
      for (const std::string& input : node.inputs) Add(input);
      AddAttrs(node.attrs, library);
    }
    for (const auto& [result, from] : found->ret) Add(from);
  }

 private:
  void Mix(uint8_t byte) { value_ = (value_ ^ byte) * 0x100000001b3; }
  uint64_t value_ = 0xcbf29ce484222325;
  std::map<const FunctionDef*, size_t> numbers_;  // of the functions that were added; they may call themselves
};

// Programs that give no seed get another one each time, and mean the same pipeline.
bool IsSeedOfShuffle(const Recipe& recipe, const Tensor& input) {
  const auto is = [&](std::string_view name) {
    return recipe.op->InputIndex(name) >= 0 &&
           &recipe.inputs[InputRange(*recipe.op, *recipe.attrs, name).first] == &input;
  };
  return recipe.op->name.starts_with("Shuffle") && (is("seed") || is("seed2"));
}

void AddDataset(const Dataset& dataset, const FunctionLibraryPtr& session_library, Fingerprinter* all) {
  const Recipe& recipe = dataset.recipe();
  if (recipe.op && recipe.op->name == "OptionsDataset") return AddDataset(dataset.input(), session_library, all);
  all->Add(recipe.op ? recipe.op->name : dataset.name());
  if (!recipe.op) return;
  all->AddAttrs(*recipe.attrs, recipe.library ? recipe.library : session_library);
  for (const Tensor& input : recipe.inputs) {
    const bool is_scalar = input.rank() == 0;
    const Dataset* inner = is_scalar && input.dtype() == DT_VARIANT ? input.data<Variant>()->as<Dataset>() : nullptr;
    if (inner) {
      AddDataset(*inner, session_library, all);
    } else if (input.dtype() != DT_RESOURCE && input.dtype() != DT_VARIANT && !IsSeedOfShuffle(recipe, input)) {
      all->Add(SerializeTensor(input));
    }
  }
}

}  // namespace

uint64_t Fingerprint(const Dataset& dataset, const FunctionLibraryPtr& session_library, std::string_view salt) {
  Fingerprinter all;
  all.Add(salt);
  AddDataset(dataset, session_library, &all);
  return all.value();
}

}  // namespace penstock::data
