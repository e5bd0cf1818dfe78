// Datasets made again from their recipes, with changes.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "penstock/data/dataset_kernel.h"

namespace penstock::data {

// The dataset that a tensor holds; null if it holds none.
const Dataset* AsDataset(const Tensor& input);

// Whether the op is one of these, or one of them with "Experimental" before it.
bool IsOp(std::string_view op, std::span<const std::string_view> ops);

// Makes datasets on behalf of a running kernel.
class Remaker {
 public:
  explicit Remaker(KernelContext& k) : k_(k) {}

  // What the op makes of these inputs. The attributes are those that the op knows of `attrs`, and its defaults; types
  // and shapes are those of `spec`. Throws what the op's kernel throws.
  Ref<const Dataset> Make(const std::string& op, const AttrMap& attrs, const ElementSpec& spec,
                          std::vector<Tensor> inputs, FunctionLibraryPtr library) const;
  // The dataset with these inputs in the place of its own.
  Ref<const Dataset> With(const Dataset& dataset, std::vector<Tensor> inputs) const;

  // The library that the dataset's functions are found in.
  FunctionLibraryPtr LibraryOf(const Dataset& dataset) const;

 private:
  KernelContext& k_;
};

// A dataset that a recipe describes, looked at by the names of its op's inputs.
class RecipeView {
 public:
  explicit RecipeView(const Dataset& dataset) : recipe_(dataset.recipe()) {}
  bool Is(std::span<const std::string_view> ops) const { return recipe_.op && IsOp(recipe_.op->name, ops); }
  bool Is(std::initializer_list<std::string_view> ops) const { return Is(std::span(ops.begin(), ops.size())); }
  bool Has(std::string_view input) const;
  // A list's tensors, or the one.
  std::vector<Tensor> Inputs(std::string_view name) const;
  const Tensor& Input(std::string_view name) const { return recipe_.inputs[Range(name).first]; }
  // A scalar number or truth value.
  int64_t Int(std::string_view name) const { return Input(name).IntAt(0); }
  bool Bool(std::string_view name) const { return *Input(name).data<bool>(); }
  template <class T>
  T attr(std::string_view name, T otherwise = {}) const {
    const AttrValue* value = recipe_.attrs ? recipe_.attrs->Find(name) : nullptr;
    const T* typed = value ? value->If<T>() : nullptr;
    return typed ? *typed : otherwise;
  }
  const AttrMap& attrs() const { return *recipe_.attrs; }

 private:
  std::pair<int, int> Range(std::string_view name) const { return InputRange(*recipe_.op, *recipe_.attrs, name); }
  const Recipe& recipe_;
};

}  // namespace penstock::data
