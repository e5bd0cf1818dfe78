// Fusion: a product (MatMul, Conv2D), the bias or the normalisation by known statistics behind it, and a rectifier
// become one node, if somebody registered a kernel for it.
#include <algorithm>

#include "penstock/kernel/kernel_registry.h"
#include "penstock/ops/algebra.h"
#include "penstock/optimize/passes.h"
#include "penstock/optimize/rewrite.h"

namespace penstock {
namespace {

// The only reader of the node's only output; null if there are others, or somebody waits for the node.
Node* OnlyReader(const Node& node) {
  if (node.num_outputs() != 1 || node.consumers().size() != 1 || node.consumers()[0].input < 0) return nullptr;
  return node.consumers()[0].node;
}

// `node` adds a vector along the last dimension of `product`'s result (or along the channels): that vector.
Endpoint BiasOf(const Node& node, const Node& product) {
  const auto same_format = [&] {
    const std::string* mine =
        node.attrs().Find("data_format") ? node.attrs().Find("data_format")->If<std::string>() : nullptr;
    const AttrValue* theirs = product.attrs().Find("data_format");
    return !theirs || (mine && *theirs->If<std::string>() == *mine);
  };
  switch (AlgebraOf(node.op())) {
    case Algebra::kAddBias: return node.input(0).node == &product && same_format() ? node.input(1) : Endpoint();
    case Algebra::kAdd: {
      const int side = node.input(0).node == &product ? 1 : 0;
      const Endpoint bias = node.input(side);
      const PartialShape &x = node.input(1 - side).shape(), &b = bias.shape();
      if (product.attrs().Find("data_format") || x.rank() != 2 || b.rank() != 1 || b[0] <= 0 || b[0] != x[1]) return {};
      return bias;
    }
    default: return {};
  }
}

// `node` normalises `product`'s result with statistics that it is given, and nobody reads its other outputs.
bool Normalises(const Node& node, const Node& product) {
  if (AlgebraOf(node.op()) != Algebra::kNormalize || node.num_inputs() != 5 ||
      node.attr_or<bool>("is_training", true) || node.input(0).node != &product ||
      node.input(1).type() != product.output_type(0)) {
    return false;
  }
  const std::string format = product.attr_or<std::string>("data_format", "");
  return !format.empty() && format == node.attr_or<std::string>("data_format", "NHWC") &&
         std::ranges::all_of(node.consumers(),
                             [&](const Consumer& c) { return c.input >= 0 && c.node->input(c.input).index == 0; });
}

class Fuser {
 public:
  explicit Fuser(Graph& graph) : graph_(graph) {}

  int Run() {
    int fused = 0;
    ForEachNode(graph_, [&](Node* node) {
      if (AlgebraOf(node->op()) == Algebra::kProduct && IsPure(graph_, *node)) fused += Fuse(node);
    });
    return fused;
  }

 private:
  // Whether `next` may run together with `node`.
  bool Follows(const Node& node, const Node* next) const {
    return next && IsPure(graph_, *next) && next->control_inputs().empty() && SamePlace(node, *next);
  }
  // The rectifier that alone reads output 0 of `node`; null if it is something else.
  Node* RectifierOf(const Node& product, const Node& node) const {
    if (node.consumers().size() != 1 || node.consumers()[0].input < 0) return nullptr;
    Node* next = node.consumers()[0].node;
    return Follows(product, next) && AlgebraOf(next->op()) == Algebra::kRectifier ? next : nullptr;
  }

  bool Fuse(Node* product) {
    Node* next = OnlyReader(*product);
    if (!Follows(*product, next)) return false;
    std::vector<Endpoint> args;
    std::string name = "BiasAdd";
    if (Normalises(*next, *product)) {
      name = "FusedBatchNorm";
      for (int i = 1; i < 5; ++i) args.push_back(next->input(i));
    } else if (const Endpoint bias = BiasOf(*next, *product); bias && next->num_outputs() == 1) {
      args = {bias};
    } else {
      return false;
    }
    if (std::ranges::any_of(args, [&](const Endpoint& arg) { return arg.node == product; })) return false;
    Node* rectifier = RectifierOf(*product, *next);
    return (rectifier && Replace(product, args, *next, rectifier, {name, rectifier->op_name()})) ||
           Replace(product, args, *next, next, {name});
  }

  bool Replace(Node* product, const std::vector<Endpoint>& args, const Node& next, Node* last,
               std::vector<std::string> names) {
    const std::string op = "_Fused" + product->op_name();
    const OpDef* def = graph_.ops().Find(op);
    if (!def || def->known_by_name_only) return false;
    AttrMap attrs;
    for (const AttrDef& attr : def->attrs) {
      if (const AttrValue* value = product->attrs().Find(attr.name)) attrs.Set(attr.name, *value);
    }
    if (const AttrValue* place = product->attrs().Find("_class")) attrs.Set("_class", *place);
    std::vector<DataType> types;
    for (const Endpoint& arg : args) types.push_back(BaseType(arg.type()));
    if (def->FindAttr("num_args")) attrs.Set("num_args", static_cast<int64_t>(args.size()));
    if (def->FindAttr("TArgs")) attrs.Set("TArgs", std::move(types));
    if (names[0] == "FusedBatchNorm") attrs.Set("epsilon", next.attr_or<float>("epsilon", 1e-4f));
    attrs.Set("fused_ops", std::move(names));
    if (!KernelRegistry::Global().Find("CPU", *def, attrs)) return false;
    std::vector<Endpoint> inputs = product->inputs();
    inputs.insert(inputs.end(), args.begin(), args.end());
    Node* fused;
    try {
      fused = graph_.AddNode({.op = op,
                              .name = graph_.UniqueName(last->name() + "/fused"),
                              .inputs = std::move(inputs),
                              .control_inputs = product->control_inputs(),
                              .attrs = std::move(attrs),
                              .device = product->device()});
    } catch (const Error&) {
      return false;  // a type or a format that the fused op has not
    }
    graph_.SetShape({fused, 0}, last->shape(0));
    Redirect(graph_, {last, 0}, {fused, 0});
    MoveControlConsumers(graph_, last, fused);
    RemoveUnused(graph_, last);
    return true;
  }

  Graph& graph_;
};

}  // namespace

int FuseProducts(Graph& graph) { return Fuser(graph).Run(); }

}  // namespace penstock
