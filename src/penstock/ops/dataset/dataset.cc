#include "penstock/ops/dataset/dataset.h"

#include <algorithm>
#include <string>

namespace penstock {
namespace {

using Pairs = std::span<const std::pair<std::string_view, std::string_view>>;

constexpr std::pair<std::string_view, std::string_view> kInputs[] = {
    {"input_dataset", "variant"},
    {"other_arguments", "Targuments"},
};

constexpr std::pair<std::string_view, std::string_view> kAttrs[] = {
    {"output_types", "list(type) >= 1"},  {"output_shapes", "list(shape) >= 1"},
    {"metadata", "string = ''"},          {"Targuments", "list(type) >= 0"},
    {"Toutput_types", "list(type) >= 1"}, {"f", "func"},
    {"predicate", "func"},                {"N", "int >= 1"},
    {"deterministic", "string = 'default'"},
};

// Calls `add` with each item of the list, in full.
template <class Add>
void ForEach(std::string_view list, Pairs known, Add add) {
  if (list.empty()) return;
  for (const std::string_view item : StrSplit(list, ';')) {
    const std::string_view text = StripSpaces(item);
    const auto it = std::find_if(known.begin(), known.end(), [&](const auto& pair) { return pair.first == text; });
    add(it == known.end() ? std::string(text) : StrCat(text, ": ", it->second));
  }
}

void Add(OpRegistry& ops, const DatasetOp& row, bool experimental) {
  OpBuilder op = ops.Add(StrCat(experimental ? "Experimental" : "", row.name));
  ForEach(row.inputs, kInputs, [&](const std::string& text) { op.Input(text); });
  op.Output("handle: variant");
  ForEach(row.attrs, kAttrs, [&](const std::string& text) {
    if (!experimental || !text.starts_with("metadata:")) op.Attr(text);
  });
  if (std::string_view(row.flags).find('s') != std::string_view::npos) op.Stateful();
  op.Shape(DatasetShape).Doc(row.doc);
}

}  // namespace

void AddDatasetOps(OpRegistry& ops, std::span<const DatasetOp> rows) {
  for (const DatasetOp& row : rows) {
    Add(ops, row, false);
    if (std::string_view(row.flags).find('x') != std::string_view::npos) Add(ops, row, true);
  }
}

void DatasetShape(ShapeContext& c) {
  for (const ArgDef& arg : c.op().inputs) {
    if (arg.name == "record_defaults") {
      const auto [first, count] = c.InputRange(arg.name);
      for (int i = first; i < first + count; ++i) c.WithRankAtMost(i, 1);
    }
    if (arg.is_list() || !arg.type_attr.empty() || arg.type == DT_VARIANT) continue;
    const int i = c.InputRange(arg.name).first;
    const auto is_one_of = [&](std::initializer_list<std::string_view> names) {
      return std::find(names.begin(), names.end(), arg.name) != names.end();
    };
    if (is_one_of({"filenames", "patterns", "batch_sizes"})) {
      c.WithRankAtMost(i, 1);
    } else if (arg.name.starts_with("optimizations") || arg.name.ends_with("_cols") ||
               is_one_of({"transformations", "row_shape", "dense_shape", "byte_offsets"})) {
      c.WithRank(i, 1);
    } else if (arg.name == "indices") {
      c.WithRank(i, 2);
    } else {
      c.WithRank(i, 0);
    }
  }
  shapes::Scalar(c);
}

void ElementShape(ShapeContext& c) {
  const auto& stated = c.attr<std::vector<PartialShape>>("output_shapes");
  if (static_cast<int>(stated.size()) != c.num_outputs()) {
    throw InvalidArgument("`output_shapes` must be the same length as `output_types` (", stated.size(), " vs. ",
                          c.num_outputs(), ")");
  }
  for (int i = 0; i < c.num_outputs(); ++i) c.out(i, stated[i]);
}

}  // namespace penstock
