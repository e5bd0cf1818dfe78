// Arithmetic identities. Every rule gives the same bits: x + 0 is none for floats (-0 + 0 is +0), x - 0 is.
#include <deque>

#include "penstock/graph/control_flow.h"
#include "penstock/ops/algebra.h"
#include "penstock/optimize/passes.h"
#include "penstock/optimize/rewrite.h"

namespace penstock {
namespace {

// The result of `node` has the shape of `x`, for sure.
bool SameShape(const Node& node, Endpoint x) {
  return x.shape().fully_known() && node.shape(0).fully_known() && x.shape() == node.shape(0);
}

// Broadcasting a constant of this shape against x leaves x's shape.
bool KeepsShape(const Node& node, Endpoint x, const Tensor& constant) {
  return constant.rank() == 0 || SameShape(node, x) ||
         (x.shape().known_rank() && constant.rank() <= x.shape().rank() && constant.num_elements() == 1);
}

bool IsIdentityPermutation(const std::vector<int64_t>& p) {
  for (size_t i = 0; i < p.size(); ++i) {
    if (p[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

// Non-negative, in range and each once.
bool IsPermutation(std::vector<int64_t>* p) {
  std::vector<bool> seen(p->size());
  for (int64_t& d : *p) {
    if (d < 0) d += static_cast<int64_t>(p->size());
    if (d < 0 || d >= static_cast<int64_t>(p->size()) || seen[d]) return false;
    seen[d] = true;
  }
  return true;
}

class Simplifier {
 public:
  explicit Simplifier(Graph& graph) : graph_(graph) {}

  int Run() {
    // A chain of identities moves what waits for its nodes once, not link by link.
    for (const Node* node : InputsFirst(graph_)) {
      if (AlgebraOf(node->op()) != Algebra::kNone || node->traits().aggregate) work_.push_back(node->id());
    }
    while (!work_.empty()) {
      Node* node = graph_.node(work_.front());
      work_.pop_front();
      if (!node || node->num_inputs() == 0 || node->consumers().empty() || !IsPure(graph_, *node)) continue;
      std::vector<int> readers;
      for (const Consumer& c : node->consumers()) readers.push_back(c.node->id());
      if (!Simplify(node)) continue;
      ++changed_;
      for (const int reader : readers) {
        const Node* at = graph_.node(reader);
        if (at && AlgebraOf(at->op()) != Algebra::kNone) work_.push_back(reader);
      }
    }
    return changed_;
  }

 private:
  bool Simplify(Node* node) {
    const Endpoint x = node->input(0);
    switch (AlgebraOf(node->op())) {
      case Algebra::kIdentity: return Bypass(graph_, node, x);
      case Algebra::kAdd: {  // a sum of integers may have the zero on either side; so may a float's, if it is -0
        const double zero = IsFloating(node->output_type(0)) ? -0.0 : 0.0;
        return Neutral(node, 1, zero) || Neutral(node, 0, zero);
      }
      case Algebra::kSubtract: return Neutral(node, 1, 0.0);
      case Algebra::kMultiply: return Neutral(node, 1, 1.0) || Neutral(node, 0, 1.0);
      case Algebra::kDivide: return Neutral(node, 1, 1.0);
      case Algebra::kInvolution: {
        const Node& inner = *x.node;
        return Twice(*node, inner) && Bypass(graph_, node, inner.input(0));
      }
      case Algebra::kIdempotent:
      case Algebra::kRectifier: return Twice(*node, *x.node) && Bypass(graph_, node, x);
      case Algebra::kTranspose: return Transposes(node);
      case Algebra::kReshape: return SameShape(*node, x) ? Bypass(graph_, node, x) : Reshapes(node);
      case Algebra::kCast: return BaseType(x.type()) == node->output_type(0) && Bypass(graph_, node, x);
      default: return node->traits().aggregate && node->num_inputs() == 1 && Bypass(graph_, node, x);
    }
  }

  // Input `side` is a constant that changes nothing.
  bool Neutral(Node* node, int side, double number) {
    const Tensor* constant = ConstantOf(node->input(side));
    if (!constant || !node->input(side).node->control_inputs().empty()) return false;
    const Endpoint x = node->input(1 - side);
    return constant->num_elements() > 0 && KeepsShape(*node, x, *constant) && IsAll(*constant, number) &&
           Bypass(graph_, node, x);
  }

  bool Twice(const Node& outer, const Node& inner) const {
    return &outer.op() == &inner.op() && IsPure(graph_, inner) && inner.control_inputs().empty();
  }

  bool Transposes(Node* node) {
    std::optional<std::vector<int64_t>> outer = IntsOf(node->input(1));
    if (!outer || !IsPermutation(&*outer) || node->input(0).shape().rank() != static_cast<int>(outer->size()))
      return false;
    if (IsIdentityPermutation(*outer)) return Bypass(graph_, node, node->input(0));
    const Node& inner = *node->input(0).node;
    if (!Twice(*node, inner)) return false;
    std::optional<std::vector<int64_t>> first = IntsOf(inner.input(1));
    if (!first || !IsPermutation(&*first) || first->size() != outer->size()) return false;
    // Dimension i of the result is dimension first[outer[i]] of the input.
    for (int64_t& d : *outer) d = (*first)[d];
    if (IsIdentityPermutation(*outer)) return Bypass(graph_, node, inner.input(0));
    const Tensor* old = ConstantOf(node->input(1));
    Tensor permutation(old->dtype(), old->shape());
    for (size_t i = 0; i < outer->size(); ++i) {
      if (old->dtype() == DT_INT32) {
        permutation.mutable_data<int32_t>()[i] = static_cast<int32_t>((*outer)[i]);
      } else {
        permutation.mutable_data<int64_t>()[i] = (*outer)[i];
      }
    }
    Node *before = node->input(0).node, *old_permutation = node->input(1).node;
    const int old_permutation_id = old_permutation->id();
    Node* constant = AddConstant(graph_, *node, std::move(permutation), old_permutation->control_inputs());
    const Endpoint source = inner.input(0);
    graph_.UpdateInput(node, 1, {constant, 0});
    graph_.UpdateInput(node, 0, source);
    RemoveUnused(graph_, before);
    if (Node* left = graph_.node(old_permutation_id)) RemoveUnused(graph_, left);  // both may have read the same one
    return true;
  }

  // The inner one must be sure to succeed: its error may not be lost.
  bool Reshapes(Node* node) {
    Node* inner = node->input(0).node;
    if (node->op().inputs.size() != 2 || inner->num_inputs() == 0 || AlgebraOf(inner->op()) != Algebra::kReshape ||
        !IsPure(graph_, *inner) || !inner->control_inputs().empty()) {
      return false;
    }
    // Squeeze and the like read the shape that they are given; only a shape that is said in full stands for itself.
    const std::optional<std::vector<int64_t>> target = IntsOf(node->input(1));
    if (!target || static_cast<int>(target->size()) != node->shape(0).rank() || &node->op() != ReshapeOp())
      return false;
    if (!inner->shape(0).fully_known() || !inner->input(0).shape().fully_known()) return false;
    if (inner->shape(0).num_elements() != inner->input(0).shape().num_elements()) return false;
    graph_.UpdateInput(node, 0, inner->input(0));
    RemoveUnused(graph_, inner);
    return true;
  }
  const OpDef* ReshapeOp() const { return graph_.ops().Find("Reshape"); }

  Graph& graph_;
  std::deque<int> work_;
  int changed_ = 0;
};

}  // namespace

int SimplifyArithmetic(Graph& graph) { return Simplifier(graph).Run(); }

}  // namespace penstock
