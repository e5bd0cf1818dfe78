// Sums of products: AddN(a b, c d, other) adds each product to the sum so far where it is made, instead of writing all
// of them and adding them up. So do the gradients of a weight that is used again and again.
#include <algorithm>

#include "penstock/base/branches.h"
#include "penstock/kernel/kernel_registry.h"
#include "penstock/ops/algebra.h"
#include "penstock/optimize/passes.h"
#include "penstock/optimize/rewrite.h"

namespace penstock {
namespace {

constinit BranchTable<2> sum_ways{"accumulation/sum", {"one after the other", "several at once"}};

class Accumulator {
 public:
  explicit Accumulator(Graph& graph) : graph_(graph) {}

  int Run() {
    int sums = 0;
    ForEachNode(graph_, [&](Node* node) {
      if (AlgebraOf(node->op()) == Algebra::kSum && node->output_type(0) == DT_FLOAT && IsPure(graph_, *node))
        sums += Chain(node);
    });
    return sums;
  }

 private:
  // A product that only the sum reads, perhaps through an identity that gradients put there to wait for each other.
  struct Term {
    Node *product, *identity;
  };
  static bool IsPlain(const Node& node) {
    return node.traits().flow == Flow::kNone || node.traits().flow == Flow::kArg;
  }

  bool FindTerm(const Node& sum, Node* input, Term* term) const {
    *term = {input, nullptr};
    const auto read_once = [](const Node& node) {
      return std::ranges::count_if(node.consumers(), [](const Consumer& c) { return c.input >= 0; }) == 1;
    };
    if (AlgebraOf(input->op()) == Algebra::kIdentity && IsPure(graph_, *input) && read_once(*input) &&
        !HasControlConsumers(*input) && input->device() == sum.device()) {
      *term = {input->input(0).node, input};
    }
    // Of matrices: convolutions have no form that adds.
    const Node& product = *term->product;
    if (AlgebraOf(product.op()) != Algebra::kProduct || product.num_outputs() != 1 || product.shape(0).rank() != 2 ||
        !product.control_inputs().empty() || !IsPure(graph_, product) || !read_once(product) ||
        product.device() != sum.device()) {
      return false;
    }
    if (!HasControlConsumers(product)) return true;
    // Who waits for the product will wait for its inputs: that says as well whether they are dead.
    return std::ranges::all_of(product.inputs(), [](const Endpoint& e) { return IsPlain(*e.node); }) &&
           std::ranges::all_of(product.consumers(),
                               [&](const Consumer& c) { return c.input >= 0 || IsPure(graph_, *c.node); });
  }

  // Node ids follow the order in which gradients were made, so that products are added as they become ready.
  bool Chain(Node* sum) {
    std::vector<Term> terms;
    std::vector<Endpoint> others;
    for (const Endpoint& input : sum->inputs()) {
      if (Term term; FindTerm(*sum, input.node, &term)) {
        terms.push_back(term);
      } else {
        others.push_back(input);
      }
    }
    std::ranges::sort(terms, {}, [](const Term& t) { return t.product->id(); });
    if (terms.size() + others.size() < 2 || terms.empty() || others.size() > 1) return false;
    const std::string op = terms[0].product->op_name();
    const OpDef* def = graph_.ops().Find("_Fused" + op);
    if (!def || def->known_by_name_only || !def->FindAttr("num_args")) return false;
    if (!std::ranges::all_of(terms, [&](const Term& t) { return t.product->op_name() == op; })) return false;
    Endpoint so_far = others.empty() ? First(*sum, terms[0]) : others[0];
    const size_t first = others.empty() ? 1 : 0;
    const bool delays = terms.size() - first >= kFewTerms && std::ranges::all_of(terms, IsOfColumns);
    sum_ways.Enter(delays ? 1 : 0);
    if (delays) so_far = {Handle("_ProductSum", *sum, so_far), 0};
    for (size_t i = first; i < terms.size(); ++i) {
      Node* next = delays ? AddLater(terms[i], so_far) : Add(*def, terms[i], so_far);
      if (!next) return false;
      so_far = {next, 0};
    }
    if (delays) {
      so_far = {Handle("_ProductSumValue", *sum, so_far), 0};
      graph_.SetShape(so_far, sum->shape(0));
    }
    for (Node* control : sum->control_inputs()) graph_.AddControlEdge(control, so_far.node);
    Redirect(graph_, {sum, 0}, so_far);
    MoveControlConsumers(graph_, sum, so_far.node);
    RemoveUnused(graph_, sum);
    return true;
  }

  // The first term stays as it is.
  static Endpoint First(const Node& sum, const Term& term) {
    for (const Endpoint& input : sum.inputs()) {
      if (input.node == term.product || input.node == term.identity) return input;
    }
    return {};
  }

  // a^T b, many of which are added several at a time (see loop_sums.cc).
  static constexpr size_t kFewTerms = 4;
  static bool IsOfColumns(const Term& term) {
    return term.product->op_name() == "MatMul" && term.product->attr<bool>("transpose_a") &&
           !term.product->attr<bool>("transpose_b");
  }
  Node* Handle(const char* op, const Node& sum, Endpoint of) {
    AttrMap attrs;
    if (const AttrValue* place = sum.attrs().Find("_class")) attrs.Set("_class", *place);
    return graph_.AddNode({.op = op,
                           .name = graph_.UniqueName(sum.name() + "/products"),
                           .inputs = {of},
                           .control_inputs = {},
                           .attrs = std::move(attrs),
                           .device = sum.device()});
  }
  Node* AddLater(const Term& term, Endpoint so_far) {
    AttrMap attrs;
    if (const AttrValue* place = term.product->attrs().Find("_class")) attrs.Set("_class", *place);
    return Replace(term, "_AddProduct", {so_far, term.product->input(0), term.product->input(1)}, std::move(attrs));
  }

  Node* Add(const OpDef& def, const Term& term, Endpoint so_far) {
    const Node& product = *term.product;
    AttrMap attrs;
    for (const AttrDef& attr : def.attrs) {
      if (const AttrValue* value = product.attrs().Find(attr.name)) attrs.Set(attr.name, *value);
    }
    if (const AttrValue* place = product.attrs().Find("_class")) attrs.Set("_class", *place);
    attrs.Set("num_args", int64_t{1});
    attrs.Set("fused_ops", std::vector<std::string>{"Add"});
    if (!KernelRegistry::Global().Find("CPU", def, attrs)) return nullptr;
    Node* added = Replace(term, def.name, {product.input(0), product.input(1), so_far}, std::move(attrs));
    graph_.SetShape({added, 0}, product.shape(0));
    return added;
  }

  // The op that stands for the product.
  Node* Replace(const Term& term, const std::string& op, std::vector<Endpoint> inputs, AttrMap attrs) {
    Node& product = *term.product;
    const std::vector<Consumer> consumers = product.consumers();
    for (const Consumer& c : consumers) {
      if (c.input >= 0) continue;
      graph_.RemoveControlEdge(&product, c.node);
      for (const Endpoint& input : product.inputs()) graph_.AddControlEdge(input.node, c.node);
    }
    return graph_.AddNode({.op = op,
                           .name = graph_.UniqueName(product.name() + "/added"),
                           .inputs = std::move(inputs),
                           .control_inputs = term.identity ? term.identity->control_inputs() : std::vector<Node*>{},
                           .attrs = std::move(attrs),
                           .device = product.device()});
  }

  Graph& graph_;
};

}  // namespace

int AccumulateProducts(Graph& graph) { return Accumulator(graph).Run(); }

}  // namespace penstock
