#include "penstock/data/remake.h"

#include <algorithm>

#include "penstock/op/op_registry.h"

namespace penstock::data {

const Dataset* AsDataset(const Tensor& input) {
  if (input.dtype() != DT_VARIANT || input.rank() != 0) return nullptr;
  return input.data<Variant>()->as<Dataset>();
}

Ref<const Dataset> Remaker::Make(const std::string& op_name, const AttrMap& attrs, const ElementSpec& spec,
                                 std::vector<Tensor> inputs, FunctionLibraryPtr library) const {
  const OpDef* op = OpRegistry::Global().Find(op_name);
  if (!op) throw Internal("there is no op ", op_name);
  AttrMap known;
  for (const AttrDef& attr : op->attrs) {
    if (attr.name == "output_types" || attr.name == "Toutput_types") {
      known.Set(attr.name, spec.types);
    } else if (attr.name == "output_shapes") {
      known.Set(attr.name, spec.shapes);
    } else if (const AttrValue* value = attrs.Find(attr.name)) {
      known.Set(attr.name, *value);
    } else if (!attr.default_value.empty()) {
      known.Set(attr.name, attr.default_value);
    }
  }
  StepServices step = k_.step();
  std::shared_ptr<FunctionScope> scope;
  if (library) {
    scope = FunctionsOf(k_).NewScope(std::move(library));
    step.functions = &scope->caller();
  }
  std::vector<DataType> input_types;
  std::vector<Value> values;
  for (Tensor& input : inputs) {
    input_types.push_back(input.dtype());
    values.push_back({std::move(input), {}});
  }
  std::vector<KernelContext::Input> arguments;
  for (Value& value : values) arguments.push_back({&value, false});
  const DataType output_type = DT_VARIANT;
  const NodeView node(k_.node().name(), *op, known, input_types, {&output_type, 1}, &k_.device());
  const auto kernel = KernelRegistry::Global().Make(k_.device().type(), node);
  std::vector<Value> outputs(1);
  KernelContext context(node, arguments, outputs, step, k_.device());
  kernel->Run(context);
  return DatasetFrom(outputs[0].tensor);
}

Ref<const Dataset> Remaker::With(const Dataset& dataset, std::vector<Tensor> inputs) const {
  const Recipe& recipe = dataset.recipe();
  return Make(recipe.op->name, *recipe.attrs, dataset.spec(), std::move(inputs), recipe.library);
}

FunctionLibraryPtr Remaker::LibraryOf(const Dataset& dataset) const {
  return dataset.recipe().library ? dataset.recipe().library : FunctionsOf(k_).library();
}

bool IsOp(std::string_view op, std::span<const std::string_view> ops) {
  constexpr std::string_view kOlder = "Experimental";
  if (op.starts_with(kOlder)) op.remove_prefix(kOlder.size());
  return std::find(ops.begin(), ops.end(), op) != ops.end();
}

bool RecipeView::Has(std::string_view input) const { return recipe_.op && recipe_.op->InputIndex(input) >= 0; }

std::vector<Tensor> RecipeView::Inputs(std::string_view name) const {
  const auto [first, count] = Range(name);
  return {recipe_.inputs.begin() + first, recipe_.inputs.begin() + first + count};
}

}  // namespace penstock::data
