// Products of which only some columns are read: A B^T needs only those rows of B, which lie together in memory. So it
// is with the gradient of a concatenation that is multiplied by a weight, where not all of its parts want one: the
// input and the state of a recurrent cell.
#include <algorithm>
#include <optional>

#include "penstock/base/branches.h"
#include "penstock/optimize/passes.h"
#include "penstock/optimize/rewrite.h"

namespace penstock {
namespace {

constinit BranchTable<3> narrowed_readers{"narrowing/reader", {"SplitV", "Split", "Slice"}};

// Columns [begin, begin + width) of a matrix of `total` columns, as an output of `reader`. `constant` is one of its
// own.
struct Part {
  Node* reader = nullptr;
  int output = 0;
  int64_t begin = 0, width = 0, total = 0;
  const Node* constant = nullptr;
};

// The only output of a node that is read, if nobody waits for it.
std::optional<int> OnlyOutput(const Node& node) {
  std::optional<int> only;
  for (const Consumer& c : node.consumers()) {
    if (c.input < 0) return {};
    const int output = c.node->input(c.input).index;
    if (only && *only != output) return {};
    only = output;
  }
  return only;
}

bool IsColumnAxis(Endpoint axis) {
  const auto at = IntsOf(axis);
  return at && at->size() == 1 && (at->front() == 1 || at->front() == -1);
}

bool FindPart(const Node& product, int64_t columns, Part* part) {
  if (product.consumers().size() != 1 || product.consumers()[0].input < 0) return false;
  Node* reader = product.consumers()[0].node;
  const std::optional<int> output = OnlyOutput(*reader);
  if (!output || !reader->control_inputs().empty() || reader->device() != product.device()) return false;
  *part = {.reader = reader, .output = *output};
  if (reader->op_name() == "SplitV" && IsColumnAxis(reader->input(2))) {
    const auto sizes = IntsOf(reader->input(1));
    if (!sizes || std::ranges::min(*sizes) < 0) return false;
    for (int i = 0; i < *output; ++i) part->begin += (*sizes)[i];
    part->width = (*sizes)[*output];
    for (const int64_t size : *sizes) part->total += size;
    part->constant = reader->input(1).node;
  } else if (reader->op_name() == "Split" && IsColumnAxis(reader->input(0))) {
    part->width = columns / reader->num_outputs();
    part->begin = *output * part->width;
    part->total = part->width * reader->num_outputs();
    part->constant = reader->input(0).node;
  } else if (reader->op_name() == "Slice") {
    const auto begin = IntsOf(reader->input(1)), size = IntsOf(reader->input(2));
    if (!begin || !size || begin->size() != 2 || size->size() != 2) return false;
    if ((*begin)[0] != 0 || ((*size)[0] != -1 && (*size)[0] != product.shape(0).dim(0))) return false;
    part->begin = (*begin)[1];
    part->width = (*size)[1] < 0 ? columns - part->begin : (*size)[1];
    if (part->begin < 0 || part->width < 0 || part->begin + part->width > columns) return false;
    part->total = columns;
    part->constant = reader->input(1).node;
  } else {
    return false;
  }
  return part->total == columns && part->width < columns;
}

bool Narrow(Graph& graph, Node* product) {
  if (product->op_name() != "MatMul" || !product->attr<bool>("transpose_b") || !IsPure(graph, *product)) return false;
  const PartialShape shape = product->shape(0);
  Part part;
  if (shape.rank() != 2 || shape.dim(1) < 0 || !FindPart(*product, shape.dim(1), &part)) return false;
  if (!IsPure(graph, *part.reader)) return false;
  const std::string& reader = part.reader->op_name();
  narrowed_readers.Enter(reader == "SplitV" ? 0 : reader == "Split" ? 1 : 2);
  const auto pair = [&](int64_t first, int64_t second) {
    Tensor value(DT_INT64, Shape({2}));
    value.mutable_data<int64_t>()[0] = first, value.mutable_data<int64_t>()[1] = second;
    return Endpoint{AddConstant(graph, *product, std::move(value), part.constant->control_inputs()), 0};
  };
  const auto add = [&](const std::string& op, std::vector<Endpoint> inputs, AttrMap attrs) {
    if (const AttrValue* place = product->attrs().Find("_class")) attrs.Set("_class", *place);
    return graph.AddNode({.op = op,
                          .name = graph.UniqueName(product->name() + "/part"),
                          .inputs = std::move(inputs),
                          .control_inputs = product->control_inputs(),
                          .attrs = std::move(attrs),
                          .device = product->device()});
  };
  Node* rows = add("Slice", {product->input(1), pair(part.begin, 0), pair(part.width, -1)}, {});
  Node* narrow = add("MatMul", {product->input(0), {rows, 0}}, product->attrs());
  graph.SetShape({narrow, 0}, PartialShape({shape.dim(0), part.width}));
  Redirect(graph, {part.reader, part.output}, {narrow, 0});
  RemoveUnused(graph, part.reader);
  return true;
}

}  // namespace

int NarrowProducts(Graph& graph) {
  int narrowed = 0;
  ForEachNode(graph, [&](Node* node) { narrowed += Narrow(graph, node); });
  return narrowed;
}

}  // namespace penstock
