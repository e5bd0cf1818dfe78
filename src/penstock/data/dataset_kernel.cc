#include "penstock/data/dataset_kernel.h"

#include <atomic>

namespace penstock::data {

FunctionScopes& FunctionsOf(const KernelContext& k) {
  auto* functions = dynamic_cast<FunctionScopes*>(k.step().functions);
  if (!functions) throw Internal("this step cannot call functions");
  return *functions;
}

std::pair<int, int> InputRange(const OpDef& op, const AttrMap& attrs, std::string_view name) {
  int at = 0;
  for (const ArgDef& arg : op.inputs) {
    int count = 1;
    if (!arg.number_attr.empty()) count = static_cast<int>(*attrs.Find(arg.number_attr)->If<int64_t>());
    if (!arg.type_list_attr.empty()) {
      count = static_cast<int>(attrs.Find(arg.type_list_attr)->If<std::vector<DataType>>()->size());
    }
    if (arg.name == name) return {at, count};
    at += count;
  }
  throw Internal("op ", op.name, " has no input ", name);
}

ElementSpec DatasetArgs::spec() const {
  const NodeView& node = k_.node();
  const bool named_types = node.op().FindAttr("output_types") != nullptr;
  return {node.attr<std::vector<DataType>>(named_types ? "output_types" : "Toutput_types"),
          node.attr<std::vector<PartialShape>>("output_shapes")};
}

std::vector<Ref<const Dataset>> DatasetArgs::datasets(std::string_view name) const {
  const auto [first, count] = Range(name);
  std::vector<Ref<const Dataset>> all;
  for (int i = first; i < first + count; ++i) all.push_back(DatasetFrom(k_.input(i)));
  return all;
}

std::vector<std::string> DatasetArgs::Strings(std::string_view name) const {
  const Tensor& t = tensor(name);
  Require(t.dtype() == DT_STRING && t.rank() <= 1, "`", name, "` must be a scalar or a vector.");
  std::vector<std::string> all;
  for (const TString& s : t.flat<TString>()) all.emplace_back(s.view());
  return all;
}

std::vector<Tensor> DatasetArgs::tensors(std::string_view name) const {
  const auto [first, count] = Range(name);
  std::vector<Tensor> all;
  for (int i = first; i < first + count; ++i) all.push_back(k_.input(i));
  return all;
}

CapturedFunction DatasetArgs::Function(std::string_view attr, std::string_view captured) const {
  const auto it = functions_.find(attr);
  if (it == functions_.end()) throw Internal("op ", k_.node().op().name, " has no function ", attr);
  return {it->second, captured.empty() ? std::vector<Tensor>() : tensors(captured), TransformationName(),
          functions().own_library()};
}

FunctionScopes& DatasetArgs::functions() const { return FunctionsOf(k_); }

Recipe DatasetArgs::MakeRecipe(const OpDef* op, std::shared_ptr<const AttrMap> attrs) const {
  const auto* functions = dynamic_cast<FunctionScopes*>(k_.step().functions);  // none where constants are folded
  Recipe recipe{op, std::move(attrs), {}, functions ? functions->own_library() : nullptr};
  for (int i = 0; i < k_.num_inputs(); ++i) recipe.inputs.push_back(k_.input(i));
  return recipe;
}

std::string_view WithoutVersion(std::string_view name) {
  const size_t last = name.find_last_not_of("0123456789");
  return last != std::string_view::npos && name[last] == 'V' && last + 1 < name.size() ? name.substr(0, last) : name;
}

std::string DatasetArgs::Versioned(std::string_view name) const {
  const std::string& op = k_.node().op().name;
  return StrCat(name, op.substr(WithoutVersion(op).size()));
}

std::string DatasetArgs::TransformationName() const {
  // The attribute is a message tensorflow.data.Metadata, whose field 1 is the name.
  const std::string metadata = attr<std::string>("metadata");
  if (metadata.size() > 2 && metadata[0] == 0x0A && metadata.size() >= 2u + static_cast<uint8_t>(metadata[1])) {
    return metadata.substr(2, static_cast<uint8_t>(metadata[1]));
  }
  return StrCat(k_.node().op().name, ":", number_);
}

int64_t NextDatasetNumber() {
  static std::atomic<int64_t> next{0};
  return next.fetch_add(1);
}

std::optional<bool> DatasetArgs::Deterministic() const {
  if (k_.node().op().FindAttr("sloppy")) return attr<bool>("sloppy") ? std::optional(false) : std::nullopt;
  const std::string text = attr<std::string>("deterministic", "default");
  Require(text == "default" || text == "true" || text == "false", "Unrecognized determinism policy: ", text);
  if (text == "default") return std::nullopt;
  return text == "true";
}

}  // namespace penstock::data
