// Kernels whose output is a dataset: each is one function from its inputs and attributes to the dataset.
#pragma once

#include <map>

#include "penstock/data/function.h"
#include "penstock/kernel/kernel_registry.h"

namespace penstock::data {

// The flat inputs that a declared one stands for: the first, and how many.
std::pair<int, int> InputRange(const OpDef& op, const AttrMap& attrs, std::string_view name);

// The functions of the step that the kernel runs in.
FunctionScopes& FunctionsOf(const KernelContext& k);

// "Batch" of "BatchV2".
std::string_view WithoutVersion(std::string_view name);

// What such a function sees. Inputs are asked for by their declared names.
class DatasetArgs {
 public:
  using Functions = std::map<std::string, std::shared_ptr<const FuncRef>, std::less<>>;
  // `number`: which of the datasets of this process it is, for messages.
  DatasetArgs(KernelContext& k, const Functions& functions, int64_t number = 0)
      : k_(k), functions_(functions), number_(number) {}

  KernelContext& kernel() const { return k_; }
  // The types and shapes that the node states.
  ElementSpec spec() const;
  Ref<const Dataset> dataset(std::string_view name = "input_dataset") const {
    return DatasetFrom(k_.input(Index(name)));
  }
  std::vector<Ref<const Dataset>> datasets(std::string_view name) const;
  int64_t Int(std::string_view name) const { return k_.Int(Index(name)); }
  bool Bool(std::string_view name) const { return k_.Scalar<bool>(Index(name)); }
  std::string String(std::string_view name) const { return std::string(k_.Scalar<TString>(Index(name)).view()); }
  std::vector<std::string> Strings(std::string_view name) const;  // a scalar or a vector
  const Tensor& tensor(std::string_view name) const { return k_.input(Index(name)); }
  std::vector<Tensor> tensors(std::string_view name) const;  // of a list
  bool Has(std::string_view input) const { return k_.node().op().InputIndex(input) >= 0; }
  template <class T>
  Ref<T> Resource(std::string_view name) const {
    return k_.Lookup<T>(Index(name));
  }
  FunctionScopes& functions() const;  // that the step has
  // The function of an attribute, with the inputs that it captures.
  CapturedFunction Function(std::string_view attr, std::string_view captured) const;
  template <class T>
  T attr(std::string_view name, T otherwise = {}) const {
    return k_.node().attr_or<T>(name, std::move(otherwise));
  }
  // What iterators are called that have the version of their op in their names: "BatchV2".
  std::string Versioned(std::string_view name) const;
  // What the program calls this dataset, or "MapDataset:1".
  std::string TransformationName() const;
  // Whether parallel stages must keep the order: as the attributes `deterministic` or `sloppy` say; unset: as the
  // options do.
  std::optional<bool> Deterministic() const;
  // How the dataset is made that these arguments are for.
  Recipe MakeRecipe(const OpDef* op, std::shared_ptr<const AttrMap> attrs) const;
  template <class... Parts>
  static void Require(bool ok, const Parts&... parts) {
    KernelContext::Require(ok, parts...);
  }

 private:
  int Index(std::string_view name) const { return Range(name).first; }
  std::pair<int, int> Range(std::string_view name) const { return InputRange(k_.node().op(), k_.node().attrs(), name); }
  KernelContext& k_;
  const Functions& functions_;
  const int64_t number_;
};

// The number of the next dataset without a name.
int64_t NextDatasetNumber();

using MakeDataset = Ref<Dataset> (*)(DatasetArgs&);

template <MakeDataset kMake>
class DatasetKernel final : public Kernel {
 public:
  explicit DatasetKernel(const NodeView& node)
      : op_(&node.op()),
        attrs_(std::make_shared<const AttrMap>(node.attrs())),
        named_(!node.attr_or<std::string>("metadata", "").empty()) {
    for (const AttrDef& attr : node.op().attrs) {
      if (attr.kind == "func") functions_[attr.name] = std::make_shared<const FuncRef>(node.attr<FuncRef>(attr.name));
    }
  }
  void Run(KernelContext& k) override {
    DatasetArgs args(k, functions_, named_ ? 0 : NextDatasetNumber());
    const Ref<Dataset> dataset = kMake(args);
    dataset->set_recipe(args.MakeRecipe(op_, attrs_));
    k.SetOutput(0, ToVariant(dataset));
  }

 private:
  const OpDef* const op_;
  const std::shared_ptr<const AttrMap> attrs_;
  const bool named_;
  DatasetArgs::Functions functions_;
};

// The op's kernel, and that of the op with "Experimental" before its name if there is one.
template <MakeDataset kMake>
void AddDataset(KernelRegistry& kernels, std::string_view op) {
  kernels.Add<DatasetKernel<kMake>>(op);
}
template <MakeDataset kMake>
void AddDatasetAndTwin(KernelRegistry& kernels, std::string_view op) {
  AddDataset<kMake>(kernels, op);
  AddDataset<kMake>(kernels, StrCat("Experimental", op));
}

}  // namespace penstock::data
